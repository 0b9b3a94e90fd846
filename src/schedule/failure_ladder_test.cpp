#include "schedule/failure_ladder.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pollux::schedule {
namespace {

using base::BootTime;
using base::Duration;
using model::BreakerState;
using model::DeadLetterReason;
using model::FailureProfile;
using model::Outcome;
using model::Trigger;
using namespace std::chrono_literals;

// A task with a base of 60 s and the bound of twice that: nothing is fast, nothing is stretched.
LadderInput input(Outcome outcome = Outcome::kTransient) {
    LadderInput in;
    in.outcome = outcome;
    in.now = BootTime{} + 1000s;
    in.policy_interval = 60s;
    in.bound = 120s;
    in.max = 60s;
    in.unit = 0.5;  // no jitter
    return in;
}

struct Attempt {
    LadderDecision decision;
    FailureState after;
};

// The decisions after `count` failures in a row.
std::vector<Attempt> climb(LadderInput in, int count) {
    FailureState state;
    std::vector<Attempt> all;
    for (int i = 0; i < count; ++i) {
        begin_probe(state, in.now);
        const LadderDecision decision = next_attempt(state, in);
        all.push_back({decision, state});
        in.now += decision.delay;
    }
    return all;
}

std::vector<double> delays(const std::vector<Attempt>& attempts) {
    std::vector<double> all;
    for (const Attempt& one : attempts) all.push_back(base::to_seconds(one.decision.delay));
    return all;
}

TEST(FailureLadder, TransientDelaysDoubleUpToTheCap) {
    EXPECT_EQ(delays(climb(input(), 8)), (std::vector<double>{5, 10, 20, 40, 60, 60, 60, 60}));
}

TEST(FailureLadder, JitterIsTwentyPercentToBothSides) {
    LadderInput in = input();
    in.unit = 0;
    EXPECT_EQ(delays(climb(in, 4)), (std::vector<double>{4, 8, 16, 32}));
    in.unit = 0.999999999;
    const auto late = delays(climb(in, 3));
    EXPECT_NEAR(late[0], 6, 1e-6);
    EXPECT_NEAR(late[1], 12, 1e-6);
    EXPECT_NEAR(late[2], 24, 1e-6);
}

TEST(FailureLadder, BreakerAtThreeDeadLetterAtFive) {
    const auto steps = climb(input(), 6);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const FailureState& state = steps[i].after;
        EXPECT_EQ(state.consecutive, i + 1);
        EXPECT_EQ(state.breaker, i + 1 >= 3 ? BreakerState::kOpen : BreakerState::kClosed) << i + 1;
        EXPECT_EQ(state.dead_letter,
                  i + 1 >= 5 ? DeadLetterReason::kMaxRetryAttempts : DeadLetterReason::kNone)
            << i + 1;
        EXPECT_EQ(steps[i].decision.trigger, i + 1 >= 3 ? Trigger::kProbe : Trigger::kConfirm);
        EXPECT_FALSE(steps[i].decision.fresh_login);
    }
    EXPECT_EQ(steps[0].after.first_failure, BootTime{} + 1000s);
    EXPECT_EQ(steps[5].after.first_failure, BootTime{} + 1000s) << "the first one is remembered";
    EXPECT_EQ(steps[2].after.breaker_since, BootTime{} + 1015s);
    EXPECT_EQ(steps[4].after.dead_letter_since, BootTime{} + 1075s);
    EXPECT_EQ(steps[5].after.dead_letter_since, BootTime{} + 1075s);
    EXPECT_EQ(steps[5].after.dead_letter_entries, 2u) << "each failure as a dead letter counts";
}

TEST(FailureLadder, TheCapIsThePolicyWithinTwentySecondsAndTheBound) {
    const auto cap = [](Duration policy, Duration bound) {
        LadderInput in = input();
        in.policy_interval = policy;
        in.bound = bound;
        return delays(climb(in, 12)).back();
    };
    EXPECT_EQ(cap(5s, 60s), 20) << "at least 20 s";
    EXPECT_EQ(cap(20s, 60s), 20);
    EXPECT_EQ(cap(45s, 60s), 45) << "what the policy would choose";
    EXPECT_EQ(cap(300s, 60s), 60) << "at most 60 s";
    EXPECT_EQ(cap(300s, 10s), 60) << "a bound below 60 s does not lower it";
    EXPECT_EQ(cap(300s, 200s), 200) << "at most the bound";
    EXPECT_EQ(cap(300s, 600s), 300);
}

TEST(FailureLadder, TheCapStretchesTowardsFiveMinutesWhileManyAreDown) {
    const auto last = [](double stretch, Duration bound = 60s, Duration policy = 60s) {
        LadderInput in = input();
        in.cap_stretch = stretch;
        in.bound = bound;
        in.policy_interval = policy;
        return climb(in, 20).back().decision;
    };
    EXPECT_EQ(last(0.5).delay, 60s) << "below the share nothing changes";
    EXPECT_EQ(last(1).delay, 60s);
    EXPECT_EQ(last(2).delay, 120s);
    EXPECT_EQ(last(4.5).delay, 270s);
    EXPECT_EQ(last(100).delay, 300s) << "never beyond 5 min";
    EXPECT_EQ(last(100, 600s, 600s).delay, 600s) << "nor below what it would be without";
    EXPECT_EQ(last(4).usual, 60s) << "what it would like to cost does not depend on the others";
}

// Tasks whose longest interval is 15 s or less live faster.
TEST(FailureLadder, FastMode) {
    LadderInput in = input();
    in.max = 15s;
    in.policy_interval = 5s;
    EXPECT_EQ(delays(climb(in, 6)), (std::vector<double>{0.75, 1.5, 3, 4, 4, 4}));
    EXPECT_EQ(climb(in, 5).back().after.dead_letter, DeadLetterReason::kMaxRetryAttempts);
    in.max = 15s + 1ns;
    EXPECT_EQ(delays(climb(in, 2)), (std::vector<double>{5, 10}));
}

TEST(FailureLadder, PermanentIsConfirmedOnceThenADeadLetter) {
    const auto steps = climb(input(Outcome::kPermanent), 7);
    EXPECT_EQ(delays(steps), (std::vector<double>{30, 300, 600, 1200, 1800, 1800, 1800}));
    EXPECT_EQ(steps[0].decision.trigger, Trigger::kConfirm);
    EXPECT_EQ(steps[0].after.dead_letter, DeadLetterReason::kNone);
    EXPECT_EQ(steps[1].after.dead_letter, DeadLetterReason::kPermanentFailure);
    for (const Attempt& one : steps) EXPECT_TRUE(one.decision.fresh_login) << "no cached session";
    for (std::size_t i = 1; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].decision.trigger, Trigger::kProbe);
    }
    EXPECT_EQ(steps[2].after.breaker, BreakerState::kOpen);
}

TEST(FailureLadder, ATransientFailureBetweenAsksForANewConfirmation) {
    FailureState state;
    LadderInput in = input(Outcome::kPermanent);
    EXPECT_EQ(next_attempt(state, in).delay, 30s);
    in.outcome = Outcome::kTransient;
    EXPECT_EQ(next_attempt(state, in).delay, 10s) << "the second failure in a row";
    EXPECT_EQ(state.permanent_streak, 0u);
    in.outcome = Outcome::kPermanent;
    EXPECT_EQ(next_attempt(state, in).delay, 30s);
    EXPECT_EQ(state.dead_letter, DeadLetterReason::kNone);
    EXPECT_EQ(next_attempt(state, in).delay, 300s);
    EXPECT_EQ(state.dead_letter, DeadLetterReason::kPermanentFailure);
}

TEST(FailureLadder, APermanentFailureAfterFourTransientOnesIsBoth) {
    FailureState state = climb(input(), 4).back().after;
    const LadderDecision decision = next_attempt(state, input(Outcome::kPermanent));
    EXPECT_EQ(decision.delay, 30s);
    EXPECT_EQ(decision.trigger, Trigger::kProbe);
    EXPECT_EQ(state.dead_letter, DeadLetterReason::kMaxRetryAttempts);
    next_attempt(state, input(Outcome::kPermanent));
    EXPECT_EQ(state.dead_letter, DeadLetterReason::kPermanentFailure);
}

TEST(FailureLadder, InterruptedNeverCountsAsAFailure) {
    const auto steps = climb(input(Outcome::kInterrupted), 4);
    EXPECT_EQ(delays(steps), (std::vector<double>{1, 2, 4, 8}));
    for (const Attempt& one : steps) {
        EXPECT_EQ(one.after.consecutive, 0u);
        EXPECT_EQ(one.after.breaker, BreakerState::kClosed);
        EXPECT_EQ(one.after.dead_letter, DeadLetterReason::kNone);
    }
    LadderInput in = input(Outcome::kInterrupted);
    in.unit = 0;
    EXPECT_EQ(delays(climb(in, 2)), (std::vector<double>{0.5, 1})) << "half to both sides";
    in.unit = 0.5;
    in.policy_interval = 3s;
    EXPECT_EQ(delays(climb(in, 4)), (std::vector<double>{1, 2, 3, 3})) << "never over the interval";
}

// A task that takes its worker down again and again is set aside.
TEST(FailureLadder, FiveInterruptionsInARowMakeADeadLetter) {
    const auto steps = climb(input(Outcome::kInterrupted), 6);
    EXPECT_EQ(steps[4].decision.delay, 300s);
    EXPECT_EQ(steps[4].decision.trigger, Trigger::kProbe);
    EXPECT_EQ(steps[4].after.dead_letter, DeadLetterReason::kRepeatedInterruption);
    EXPECT_EQ(steps[4].after.consecutive, 0u);
    EXPECT_EQ(steps[5].decision.delay, 300s);
    FailureState state = steps[3].after;
    next_attempt(state, input());
    EXPECT_EQ(state.interruptions, 0u) << "an answer ends the row";
}

TEST(FailureLadder, AnInterruptedProbeLeavesTheBreakerOpen) {
    FailureState state = climb(input(), 3).back().after;
    begin_probe(state, BootTime{} + 2000s);
    EXPECT_EQ(state.breaker, BreakerState::kHalfOpen);
    EXPECT_EQ(state.breaker_since, BootTime{} + 2000s);
    const LadderDecision decision = next_attempt(state, input(Outcome::kInterrupted));
    EXPECT_EQ(state.breaker, BreakerState::kOpen);
    EXPECT_EQ(state.consecutive, 3u);
    EXPECT_EQ(decision.trigger, Trigger::kProbe);
}

TEST(FailureLadder, BeginProbeOnlyTouchesAnOpenBreaker) {
    FailureState state;
    begin_probe(state, BootTime{} + 5s);
    EXPECT_EQ(state.breaker, BreakerState::kClosed);
    EXPECT_EQ(state.breaker_since, BootTime{});
}

// The numbers of the profile: 40 s, then 300 s until a success; dead letter at five, 30 min.
TEST(FailureLadder, ProfilePulse) {
    LadderInput in = input();
    in.profile = FailureProfile::kPulse;
    const auto steps = climb(in, 7);
    EXPECT_EQ(delays(steps), (std::vector<double>{5, 10, 40, 300, 1800, 1800, 1800}));
    EXPECT_EQ(steps[1].after.breaker, BreakerState::kClosed);
    EXPECT_EQ(steps[2].after.breaker, BreakerState::kOpen);
    EXPECT_EQ(steps[3].after.dead_letter, DeadLetterReason::kNone);
    EXPECT_EQ(steps[4].after.dead_letter, DeadLetterReason::kMaxRetryAttempts);
    EXPECT_EQ(steps[1].decision.trigger, Trigger::kConfirm);
    EXPECT_EQ(steps[2].decision.trigger, Trigger::kProbe);
}

TEST(FailureLadder, ProfilePulsePermanentIsADeadLetterAtOnce) {
    LadderInput in = input(Outcome::kPermanent);
    in.profile = FailureProfile::kPulse;
    const Attempt first = climb(in, 1).front();
    EXPECT_EQ(first.decision.delay, 30min);
    EXPECT_EQ(first.decision.trigger, Trigger::kProbe);
    EXPECT_TRUE(first.decision.fresh_login);
    EXPECT_EQ(first.after.dead_letter, DeadLetterReason::kPermanentFailure);
}

TEST(FailureLadder, ProfilePulseFast) {
    LadderInput in = input();
    in.profile = FailureProfile::kPulse;
    in.max = 15s;
    EXPECT_EQ(delays(climb(in, 4)), (std::vector<double>{0.75, 1.5, 10, 10}));
}

TEST(FailureLadder, ProfileOpsconductor) {
    LadderInput in = input();
    in.profile = FailureProfile::kOpsconductor;
    in.policy_interval = 90s;
    const auto steps = climb(in, 6);
    EXPECT_EQ(delays(steps), (std::vector<double>{30, 60, 120, 90, 90, 90}));
    EXPECT_EQ(steps[2].decision.trigger, Trigger::kConfirm);
    EXPECT_EQ(steps[3].decision.trigger, Trigger::kSchedule) << "back to the normal interval";
    EXPECT_EQ(steps[5].after.breaker, BreakerState::kClosed) << "it knows no breaker";
    EXPECT_EQ(steps[5].after.dead_letter, DeadLetterReason::kNone);
}

TEST(FailureLadder, DelaysSaturateOverAMillionFailures) {
    for (const auto profile :
         {FailureProfile::kLadder, FailureProfile::kPulse, FailureProfile::kOpsconductor}) {
        for (const auto outcome : {Outcome::kTransient, Outcome::kPermanent}) {
            LadderInput in = input(outcome);
            in.profile = profile;
            FailureState state;
            Duration longest{};
            Duration shortest = Duration::max();
            const auto fail = [&](int times) {
                for (int i = 0; i < times; ++i) {
                    const Duration delay = next_attempt(state, in).delay;
                    longest = std::max(longest, delay);
                    shortest = std::min(shortest, delay);
                }
            };
            fail(1000);
            // The way up to a million changes nothing but these counts.
            state.consecutive = 999'995;
            state.permanent_streak = std::min(state.permanent_streak, 1U) * 999'995;
            state.pulse.failures = 999'995;
            fail(10);
            EXPECT_GE(shortest, 5s) << "profile " << static_cast<int>(profile);
            EXPECT_LE(longest, 30min) << "profile " << static_cast<int>(profile);
            EXPECT_EQ(state.consecutive, 1'000'000u) << "counting saturates";
            EXPECT_LE(state.permanent_streak, 1'000'000u);
        }
    }
}

TEST(FailureLadder, ResetLabelsKeepsOnlyTheHistory) {
    FailureState state = climb(input(), 6).back().after;
    const BootTime first = state.first_failure;
    const BootTime last = state.last_attempt;
    reset_labels(state);
    EXPECT_EQ(state.consecutive, 0u);
    EXPECT_EQ(state.breaker, BreakerState::kClosed);
    EXPECT_EQ(state.dead_letter, DeadLetterReason::kNone);
    EXPECT_EQ(state.first_failure, first);
    EXPECT_EQ(state.last_attempt, last);
    EXPECT_EQ(next_attempt(state, input()).delay, 5s) << "the ladder begins anew";
}

}  // namespace
}  // namespace pollux::schedule
