// The hot record of one task: what every decision about it reads and writes. Kept small on purpose
// (a million of them must stay cheap), so rare facts live in side tables and are named by index.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "model/run.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"

namespace pollux::schedule {

// A task is in exactly one place, and the place says what wakes it.
enum class Place : std::uint8_t {
    kFree,           // the slot is not in use
    kDisabled,       // an operator or a file enables it
    kScheduled,      // timing wheel: next_due comes
    kWaitsForNeeds,  // a parent completes or becomes healthy
    kReady,          // the picker's turn
    kDeviceRate,     // timing wheel: the device's rate budget refills
    kDeviceQueue,    // a run on the device ends, or its rate opens
    kRegionQueue,    // the region gets credit
    kResourceQueue,  // a named resource is given back
    kRunning,        // the run finishes, or its lease ends
    kEnded,          // a job that completed, failed or was cancelled
    kFaulted,        // a decision failed; an operator or an edit tries again
};

// Due, needs met, not running yet: it waits for its turn or for room.
constexpr bool is_due_and_waiting(Place place) {
    return place == Place::kReady || place == Place::kDeviceRate || place == Place::kDeviceQueue ||
           place == Place::kRegionQueue || place == Place::kResourceQueue;
}

enum TaskFlag : std::uint16_t {
    kFlagEnabled = 1U << 0U,
    kFlagAdaptive = 1U << 1U,  // the spec allows adaptive intervals
    kFlagInPool = 1U << 2U,    // counted by a budget pool
    kFlagHasDigest = 1U << 3U,
    kFlagUp = 1U << 4U,           // the last counted outcome was a success, or none came yet
    kFlagPokePending = 1U << 5U,  // poked while running: due again as soon as that run ends
    kFlagDirty = 1U << 6U,        // a write-behind is already asked for
    kFlagFreshLogin = 1U << 7U,
    kFlagSlow = 1U << 8U,  // a parent is down: ask at the slowest rate
    kFlagReserves = 1U << 9U,
    kFlagAnswered = 1U << 10U,  // at least one counted outcome
    kFlagJoined = 1U << 11U,    // known to the interval planner
};

// The wait line that a task stands in, or that it was called from while it is ready.
enum LineOf : std::uint8_t {
    kNoLine,
    kLineOfDevice,
    kLineOfRegion,
    kLineOfResource,  // of the first resource in its demand; the others follow
};

struct TaskSlot {
    std::uint64_t key_hash = 0;
    base::BootTime next_due;  // the only timer of a task; while running, what it was planned for
    base::BootTime last_success = base::BootTime::min();
    base::BootTime last_error = base::BootTime::min();
    base::BootTime last_mutation = base::BootTime::min();
    base::BootTime ready_since;
    std::uint64_t digest = 0;
    std::uint32_t interval_ms = 0;  // decided last; what next_due was computed from
    std::uint32_t timing = 0;       // in the timing table: min, base, max, bound, timeout
    std::uint32_t wheel_tick = 0;   // or its ticket, while it is ready or stands in a line
    std::uint32_t generation = 0;
    std::uint32_t device = model::kNoIndex;
    std::uint32_t failure = model::kNoIndex;
    std::uint32_t node = model::kNoIndex;  // in the needs graph
    std::uint32_t run = model::kNoIndex;   // in the lease table
    std::uint32_t attempt = 0;
    std::uint32_t version = 0;
    std::uint16_t class_index = 0;
    std::uint16_t region = 0;
    std::uint16_t demand = 0;  // 0: one slot, nothing else
    std::uint16_t flags = 0;
    Place place = Place::kFree;
    model::Tier tier = model::Tier::kNormal;
    model::Tier run_tier = model::Tier::kNormal;  // of the attempt that is due or running
    model::Trigger trigger = model::Trigger::kSchedule;
    model::CadenceKind cadence = model::CadenceKind::kFixed;
    model::FailureProfile profile = model::FailureProfile::kLadder;
    model::JobState job = model::JobState::kNotAJob;
    std::uint8_t line = kNoLine;

    bool has(TaskFlag flag) const { return (flags & flag) != 0; }
    void set(TaskFlag flag, bool on) {
        flags = static_cast<std::uint16_t>(on ? flags | flag : flags & ~flag);
    }
    base::BootTime last_answer() const { return std::max(last_success, last_error); }
    bool recurring() const { return cadence != model::CadenceKind::kOnce; }
};

static_assert(sizeof(TaskSlot) <= 112, "a million of these must stay cheap");

}  // namespace pollux::schedule
