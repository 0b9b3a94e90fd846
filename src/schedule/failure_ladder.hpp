// One controller for everything that happens after a failure: quick confirmations, then an open
// breaker with single probes, then a dead letter that asks for attention. The delays are the task's
// only timer; breaker and dead letter are labels on it, so nothing can be in two queues.
//
// Profiles: `ladder` is ours; `pulse` and `opsconductor` keep the numbers of systems that people
// come from (pulse: breaker delays by its shift rule, dead letter at five or at once when
// permanent, 30 minutes; opsconductor: three retries, then the normal interval).
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "model/run.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"
#include "schedule/budget_pool.hpp"
#include "schedule/pulse_breaker.hpp"

namespace pollux::schedule {

struct FailureState {
    std::uint32_t consecutive = 0;
    std::uint32_t permanent_streak = 0;
    std::uint32_t interruptions = 0;
    std::uint32_t dead_letter_entries = 0;
    model::BreakerState breaker = model::BreakerState::kClosed;
    model::DeadLetterReason dead_letter = model::DeadLetterReason::kNone;
    base::BootTime first_failure;
    base::BootTime breaker_since;
    base::BootTime dead_letter_since;
    base::BootTime last_attempt;
    bool half_open_told = false;  // an operator let it try; a probe by itself is not news
    Picohertz down_rate = 0;      // what its probes cost, while the breaker is not closed
    PulseBreakerMemory pulse;
};

struct LadderInput {
    model::FailureProfile profile = model::FailureProfile::kLadder;
    model::Outcome outcome = model::Outcome::kTransient;
    base::BootTime now;
    base::Duration policy_interval{};  // what a healthy task would wait
    base::Duration bound{};            // staleness bound
    base::Duration max{};              // longest interval of the task
    double cap_stretch = 1;            // > 1 while down tasks would take too much of their class
    double unit = 0.5;                 // [0, 1), for the jitter
};

struct LadderDecision {
    base::Duration delay{};
    model::Trigger trigger = model::Trigger::kConfirm;
    bool fresh_login = false;
    base::Duration usual{};  // the delay without the stretch: what its probes would like to cost
};

inline constexpr std::uint32_t kBreakerAt = 3;
inline constexpr std::uint32_t kDeadLetterAt = 5;

// Takes in one failure (or interruption) and says when to ask again.
LadderDecision next_attempt(FailureState& state, const LadderInput& input);

// The state that was told last: that a probe of an open breaker runs is not told.
inline model::BreakerState told_state(const FailureState& state) {
    const bool quiet = state.breaker == model::BreakerState::kHalfOpen && !state.half_open_told;
    return quiet ? model::BreakerState::kOpen : state.breaker;
}

// The probe of an open breaker starts.
void begin_probe(FailureState& state, base::BootTime now);

// An operator wipes the slate: the history stays, the labels go.
void reset_labels(FailureState& state);

}  // namespace pollux::schedule
