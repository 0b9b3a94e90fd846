#include "schedule/failure_ladder.hpp"

#include <algorithm>
#include <array>

#include "schedule/backoff.hpp"

namespace pollux::schedule {
namespace {

using base::Duration;
using model::BreakerState;
using model::DeadLetterReason;
using model::FailureProfile;
using model::Outcome;
using model::Trigger;
using namespace std::chrono_literals;

constexpr Duration kFirstDelay = 5s;
constexpr Duration kLeastCap = 20s;
constexpr Duration kUsualCap = 60s;
constexpr Duration kStretchedCap = 300s;
constexpr Duration kFastFirstDelay = 750ms;
constexpr Duration kFastCap = 4s;
constexpr Duration kFastMax = 15s;  // tasks whose longest interval is this short live faster
constexpr double kJitter = 0.2;
constexpr double kProbeJitter = 0.05;
constexpr Duration kConfirmPermanent = 30s;
constexpr std::array<Duration, 4> kPermanentProbes = {5min, 10min, 20min, 30min};
constexpr Duration kPulseDeadLetter = 30min;
constexpr Duration kOpsconductorFirst = 30s;
constexpr std::uint32_t kOpsconductorRetries = 3;
constexpr std::uint32_t kInterruptionsAllowed = 5;
constexpr Duration kInterruptedFirst = 1s;
constexpr Duration kInterruptedDeadLetter = 5min;

Duration doubled(Duration first, std::uint32_t times, Duration cap) {
    Duration delay = first;
    for (std::uint32_t i = 0; i < times && delay < cap; ++i) delay *= 2;
    return std::min(delay, cap);
}

Duration jittered(Duration delay, double share, double unit) {
    return base::from_seconds(base::to_seconds(delay) * (1 + (2 * unit - 1) * share));
}

Duration usual_cap(const LadderInput& input) {
    if (input.max <= kFastMax) return kFastCap;
    return std::clamp(input.policy_interval, kLeastCap, std::max(kUsualCap, input.bound));
}

Duration stretched_cap(Duration usual, const LadderInput& input) {
    if (input.cap_stretch <= 1) return usual;
    const Duration stretched = base::from_seconds(base::to_seconds(usual) * input.cap_stretch);
    return std::max(usual, std::min(stretched, kStretchedCap));
}

void enter_dead_letter(FailureState& state, DeadLetterReason reason, base::BootTime now) {
    if (state.dead_letter == DeadLetterReason::kNone) state.dead_letter_since = now;
    state.dead_letter = reason;
    ++state.dead_letter_entries;
}

void set_breaker(FailureState& state, BreakerState to, base::BootTime now) {
    if (state.breaker == to) return;
    state.breaker = to;
    state.breaker_since = now;
}

LadderDecision after_interruption(FailureState& state, const LadderInput& input) {
    ++state.interruptions;
    if (state.breaker == BreakerState::kHalfOpen)
        set_breaker(state, BreakerState::kOpen, input.now);
    const Trigger trigger = state.consecutive >= kBreakerAt ? Trigger::kProbe : Trigger::kConfirm;
    if (state.interruptions >= kInterruptionsAllowed) {
        enter_dead_letter(state, DeadLetterReason::kRepeatedInterruption, input.now);
        return {jittered(kInterruptedDeadLetter, kJitter, input.unit), Trigger::kProbe, false};
    }
    const Duration limit = std::max(kInterruptedFirst, input.policy_interval);
    const Duration delay = doubled(kInterruptedFirst, state.interruptions - 1, limit);
    return {jittered(delay, 0.5, input.unit), trigger, false};
}

LadderDecision our_ladder(FailureState& state, const LadderInput& input) {
    if (state.consecutive >= kBreakerAt) set_breaker(state, BreakerState::kOpen, input.now);
    const bool permanent = input.outcome == Outcome::kPermanent;
    if (permanent && state.permanent_streak >= 2) {
        enter_dead_letter(state, DeadLetterReason::kPermanentFailure, input.now);
        const auto step =
            std::min<std::size_t>(state.permanent_streak - 2, kPermanentProbes.size() - 1);
        return {jittered(kPermanentProbes[step], kProbeJitter, input.unit), Trigger::kProbe, true};
    }
    if (state.consecutive >= kDeadLetterAt) {
        enter_dead_letter(state, DeadLetterReason::kMaxRetryAttempts, input.now);
    }
    const Trigger trigger = state.consecutive >= kBreakerAt ? Trigger::kProbe : Trigger::kConfirm;
    if (permanent) return {jittered(kConfirmPermanent, kProbeJitter, input.unit), trigger, true};
    const Duration first = input.max <= kFastMax ? kFastFirstDelay : kFirstDelay;
    const Duration usual = usual_cap(input);
    const Duration delay = doubled(first, state.consecutive - 1, stretched_cap(usual, input));
    return {jittered(delay, kJitter, input.unit), trigger, false, usual};
}

LadderDecision pulse_ladder(FailureState& state, const LadderInput& input) {
    const bool fast = input.max <= kFastMax;
    PulseBreaker breaker(pulse_breaker_config(fast), state.pulse);
    breaker.failure(input.now);
    state.pulse = breaker.memory();
    set_breaker(state, breaker.state(), input.now);
    const Trigger trigger =
        breaker.state() == BreakerState::kClosed ? Trigger::kConfirm : Trigger::kProbe;
    const bool permanent = input.outcome == Outcome::kPermanent;
    if (permanent || state.consecutive >= kDeadLetterAt) {
        enter_dead_letter(
            state,
            permanent ? DeadLetterReason::kPermanentFailure : DeadLetterReason::kMaxRetryAttempts,
            input.now);
        return {kPulseDeadLetter, Trigger::kProbe, permanent};
    }
    Duration delay = backoff_delay(pulse_backoff(fast), state.consecutive - 1, input.unit);
    if (const auto retry_at = breaker.retry_at()) delay = std::max(delay, *retry_at - input.now);
    return {delay, trigger, false};
}

LadderDecision opsconductor_ladder(const FailureState& state, const LadderInput& input) {
    if (state.consecutive > kOpsconductorRetries) {
        return {input.policy_interval, Trigger::kSchedule, false};
    }
    return {doubled(kOpsconductorFirst, state.consecutive - 1, Duration::max()), Trigger::kConfirm,
            false};
}

}  // namespace

LadderDecision next_attempt(FailureState& state, const LadderInput& input) {
    state.last_attempt = input.now;
    if (input.outcome == Outcome::kInterrupted) return after_interruption(state, input);
    if (state.consecutive == 0) state.first_failure = input.now;
    if (state.consecutive < 1'000'000) ++state.consecutive;
    state.permanent_streak =
        input.outcome == Outcome::kPermanent ? std::min(state.permanent_streak + 1, 1'000'000U) : 0;
    state.interruptions = 0;
    switch (input.profile) {
        case FailureProfile::kPulse: return pulse_ladder(state, input);
        case FailureProfile::kOpsconductor: return opsconductor_ladder(state, input);
        case FailureProfile::kLadder: break;
    }
    return our_ladder(state, input);
}

void begin_probe(FailureState& state, base::BootTime now) {
    if (state.breaker != BreakerState::kOpen) return;
    set_breaker(state, BreakerState::kHalfOpen, now);
    if (state.pulse.state == BreakerState::kOpen) {
        state.pulse.state = BreakerState::kHalfOpen;
        state.pulse.last_attempt = now;
    }
}

void reset_labels(FailureState& state) {
    const auto first_failure = state.first_failure;
    const auto last_attempt = state.last_attempt;
    state = FailureState{};
    state.first_failure = first_failure;
    state.last_attempt = last_attempt;
}

}  // namespace pollux::schedule
