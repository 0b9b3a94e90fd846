// Answers about one task: why it is not running now, what wakes it, and how its interval came
// about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/run.hpp"
#include "model/settings.hpp"
#include "model/task_record.hpp"
#include "schedule/interval_planner.hpp"
#include "schedule/task_slot.hpp"

namespace pollux::schedule {

enum class GateKind : std::uint8_t { kEnabled, kDue, kNeeds, kBreaker, kInFlight, kAdmission };

inline constexpr std::size_t kGateCount = 6;

std::string_view to_string(GateKind gate);
std::string_view to_string(Place place);
std::string_view to_string(LimitedBy limit);

struct Gate {
    GateKind kind = GateKind::kEnabled;
    bool open = true;
    base::BootTime until = base::BootTime::max();  // closed until then; max: until the event below
    std::string reason;                            // closed: why, and what opens it
};

// Age of the data. One record feeds metrics, health, explain and pages.
struct Freshness {
    base::BootTime last_success = base::BootTime::min();  // min: never
    base::BootTime last_error = base::BootTime::min();
    base::BootTime last_mutation = base::BootTime::min();
    std::uint64_t digest = 0;
    bool has_digest = false;
    bool known = false;             // an answer came at least once
    double score = 0;               // 0 fresh .. 1 stale: age against the staleness bound
    base::Duration age{};           // since the last success, or since it was added
    base::Duration expected_age{};  // the interval in force: what the age should not exceed much
    base::Duration bound{};

    bool has_data() const { return last_success != base::BootTime::min(); }
};

struct IntervalStory {
    model::PolicyKind policy = model::PolicyKind::kFixed;
    bool shadow = false;        // computed, but the base decides
    double believed_rate = 0;   // changes per second
    double weight = 1;          // of the tier
    double multiplier = 0;      // of the budget pool
    base::Duration wished{};    // before limits
    base::Duration chosen{};    // by the policy, inside the limits
    base::Duration in_force{};  // what the next due was computed from
    double idle_drift = 0;      // 0..1
    LimitedBy limited_by = LimitedBy::kFixed;
    double pool_budget = 0;  // polls per second of the whole pool
    double pool_planned = 0;
};

struct FailureStory {
    std::uint32_t consecutive = 0;
    model::BreakerState breaker = model::BreakerState::kClosed;
    base::BootTime breaker_since;
    model::DeadLetterReason dead_letter = model::DeadLetterReason::kNone;
    base::BootTime dead_letter_since;
    std::uint32_t dead_letter_entries = 0;
    base::BootTime first_failure;
    base::BootTime last_attempt;
    bool permanent = false;  // the last failure will not go away by itself
};

struct Explanation {
    std::string key;
    Place place = Place::kFree;
    std::string verdict;  // one sentence: the first closed gate and what opens it
    std::vector<Gate> gates;
    base::BootTime next_due;
    base::BootTime wakes_at = base::BootTime::max();  // max: an event wakes it
    bool ready = false;
    std::size_t place_in_line = 0;  // ready tasks that go first
    Freshness freshness;
    IntervalStory interval;
    FailureStory failure;
    std::uint32_t attempts = 0;
};

struct PlanEntry {
    model::TaskHandle task;
    base::BootTime due;
};

struct ClassDepth {
    std::string class_name;
    std::size_t tasks = 0;
    std::size_t ready = 0;
};

struct QueueSnapshot {
    std::size_t depth = 0;     // tasks that wait for their time or their turn
    std::size_t due_soon = 0;  // due within 12 s, overdue ones included
    std::vector<ClassDepth> per_class;
};

}  // namespace pollux::schedule
