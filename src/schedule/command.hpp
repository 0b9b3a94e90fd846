// What comes out of the core: a list for each kind of command, in the order of decision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/run.hpp"
#include "model/task_record.hpp"

namespace pollux::schedule {

struct StartRun {
    model::TaskHandle task;
    model::RunId run;
    base::BootTime due;       // when it was planned for; start lag is counted from here
    base::BootTime deadline;  // the answer must be in by then
    std::uint32_t attempt = 0;
    model::Trigger trigger = model::Trigger::kSchedule;
    bool fresh_login = false;  // confirming a permanent failure: no cached session or ticket
};

struct CancelRun {
    model::TaskHandle task;
    model::RunId run;
};

enum class Durability : std::uint8_t {
    kWriteBehind,  // within seconds; the last ones may be lost and are learned again
    kBeforeSeen,   // committed before anybody may see the change
};

struct PersistTask {
    model::TaskHandle task;
    Durability durability = Durability::kWriteBehind;
};

struct ForgetTask {
    model::TaskHandle task;
    std::string key;
};

enum class ChangeKind : std::uint8_t {
    kBreaker,     // from/to: model::BreakerState
    kDeadLetter,  // from/to: model::DeadLetterReason
    kHealth,      // from/to: 1 up, 0 down; equal at the first answer: nobody knew before
    kEnabled,     // from/to: 1 enabled, 0 disabled
    kJob,         // from/to: model::JobState
    kFaulted,     // to 1: a decision about this task failed, it is parked
    kBudget,      // to 1: the staleness bounds need more than the cap allows; task is empty
};

struct Change {
    model::TaskHandle task;
    ChangeKind kind = ChangeKind::kHealth;
    std::uint8_t from = 0;
    std::uint8_t to = 0;
    std::uint32_t failures = 0;
    base::BootTime next_due;
};

struct Rejection {
    std::uint64_t correlation = 0;
    base::Error error;
};

// What an action about many tasks was done to: an answer to who asked, no command.
struct Acted {
    struct Before {
        model::BreakerState breaker = model::BreakerState::kClosed;
        base::BootTime next_due;
    };
    std::uint64_t correlation = 0;
    std::vector<model::TaskHandle> tasks;  // the most urgent first
    std::vector<Before> before;            // of each of them
};

struct Commands {
    std::vector<StartRun> starts;
    std::vector<CancelRun> cancels;
    std::vector<PersistTask> persists;
    std::vector<ForgetTask> forgets;
    std::vector<Change> changes;
    std::vector<Rejection> rejections;
    std::vector<Acted> acted;
    base::BootTime wake_at = base::BootTime::max();  // step again then, at the latest

    void clear() {
        starts.clear();
        cancels.clear();
        persists.clear();
        forgets.clear();
        changes.clear();
        rejections.clear();
        acted.clear();
        wake_at = base::BootTime::max();
    }
};

}  // namespace pollux::schedule
