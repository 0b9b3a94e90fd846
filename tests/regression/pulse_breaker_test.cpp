// Defects of Pulse, a predecessor, in its circuit breakers.
#include "schedule/pulse_breaker.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/regression/core_driver.hpp"

namespace pollux::tests {
namespace {

using model::BreakerState;
using model::FailureProfile;
using model::Outcome;
using schedule::OperatorVerb;
using namespace std::chrono_literals;

model::TaskSpec with_profile(model::TaskSpec spec, FailureProfile profile) {
    spec.failure_profile = profile;
    return spec;
}

// The delay was shifted left by the number of failures: from the 25th on it was negative, then
// zero, and a dead target was asked without any delay until it came back. Here it saturates.
TEST(PulseDefect, TheBreakerDelayOverflows) {
    for (const bool fast : {false, true}) {
        const auto config = schedule::pulse_breaker_config(fast);
        base::BootTime now{1'000'000'000};
        schedule::PulseBreaker breaker(config, now);
        for (int failures = 1; failures <= 300; ++failures) {
            ASSERT_TRUE(breaker.allow(now)) << failures;
            breaker.failure(now);
            if (failures < config.open_threshold) continue;
            ASSERT_GT(breaker.retry_interval(), 0s) << failures;
            ASSERT_LE(breaker.retry_interval(), config.max_delay) << failures;
            ASSERT_FALSE(breaker.allow(now)) << failures;
            now = breaker.retry_at().value();
        }
        EXPECT_EQ(breaker.retry_interval(), config.max_delay);
    }
}

// The same through the core, over days: a dead target is never asked at once, nor shown a next
// attempt in the past.
TEST(PulseDefect, ATargetDownForDaysIsAskedWithoutDelay) {
    for (const auto profile : {FailureProfile::kPulse, FailureProfile::kLadder}) {
        CoreDriver driver(roomy_settings());
        driver.add(with_profile(fixed_task("c::x", 60s), profile));
        for (int failures = 1; failures <= 200; ++failures) {
            driver.fail("c::x", 1);
            ASSERT_GE(driver.wait_s("c::x"), 4) << failures;
            ASSERT_LE(driver.wait_s("c::x"), 1800.001) << failures;
        }
    }
}

// A success while the breaker was closed left the count as it was: the threshold counted all
// failures ever, not those in a row (v4.25).
TEST(PulseDefect, TheThresholdCountsAllFailuresEver) {
    for (const auto profile : {FailureProfile::kPulse, FailureProfile::kLadder}) {
        CoreDriver driver(roomy_settings());
        driver.add(with_profile(fixed_task("c::x", 60s), profile));
        for (int spell = 0; spell < 10; ++spell) {
            driver.fail("c::x", 2);
            ASSERT_EQ(driver.failure("c::x").breaker, BreakerState::kClosed);
            ASSERT_TRUE(driver.run_to_start("c::x"));
            driver.finish("c::x");
            ASSERT_EQ(driver.failure("c::x").consecutive, 0U);
        }
    }
}

// Closing the breaker kept the grown delay, so the next outage began with the longest one (v4.25).
TEST(PulseDefect, TheSecondOutageStartsWithTheGrownDelay) {
    CoreDriver driver(roomy_settings());
    driver.add(with_profile(fixed_task("c::x", 60s), FailureProfile::kPulse));
    for (int outage = 0; outage < 3; ++outage) {
        driver.fail("c::x", 3);
        EXPECT_NEAR(driver.wait_s("c::x"), 40, 0.001) << outage;
        driver.fail("c::x", 1);
        EXPECT_NEAR(driver.wait_s("c::x"), 300, 0.001) << outage;
        ASSERT_TRUE(driver.run_to_start("c::x"));
        driver.finish("c::x");
    }
}

// A run that the breaker refused was handled like one that had failed once more. Here an open
// breaker makes no runs, and looking at it changes nothing.
TEST(PulseDefect, ARefusedRunIsRescheduledAsIfItHadRun) {
    CoreDriver driver(roomy_settings());
    const auto spec = fixed_task("c::x", 60s);
    driver.add(spec);
    driver.fail("c::x", 3);
    const double due = driver.next_due_s("c::x");
    while (driver.now_s() + 1 < due) {
        driver.run_for(1);
        driver.add(spec);
        ASSERT_EQ(driver.failure("c::x").consecutive, 3U);
        ASSERT_EQ(driver.failure("c::x").breaker, BreakerState::kOpen);
        ASSERT_EQ(driver.next_due_s("c::x"), due);
        ASSERT_EQ(driver.starts().size(), 3U);
    }
    driver.run_until(due + 0.01);
    EXPECT_TRUE(driver.runs("c::x"));
}

// A half-open breaker let another probe in when the first had not answered for 30 s, though it was
// still under way.
TEST(PulseDefect, AHalfOpenBreakerStartsASecondProbeBesideTheFirst) {
    CoreDriver driver(roomy_settings());
    auto spec = with_profile(fixed_task("c::x", 60s), FailureProfile::kPulse);
    spec.timeout = 120s;
    driver.add(spec);
    driver.fail("c::x", 3);
    ASSERT_TRUE(driver.run_to_start("c::x"));
    ASSERT_EQ(driver.failure("c::x").breaker, BreakerState::kHalfOpen);
    driver.run_for(100);
    EXPECT_EQ(driver.starts().size(), 4U);
    driver.finish("c::x");
    EXPECT_EQ(driver.failure("c::x").breaker, BreakerState::kClosed);
}

// A probe that never reported left the breaker half-open, with nobody to end that but the window.
// Here the end of its lease does: the breaker is open again, and the loss counts as no failure.
TEST(PulseDefect, ALostProbeLeavesTheBreakerHalfOpen) {
    for (const auto profile : {FailureProfile::kPulse, FailureProfile::kLadder}) {
        CoreDriver driver(roomy_settings());
        driver.add(with_profile(fixed_task("c::x", 60s), profile));
        driver.fail("c::x", 3);
        ASSERT_TRUE(driver.run_to_start("c::x"));
        driver.run_for(32.1);
        EXPECT_FALSE(driver.runs("c::x"));
        EXPECT_EQ(driver.failure("c::x").breaker, BreakerState::kOpen);
        EXPECT_EQ(driver.failure("c::x").consecutive, 3U);
        ASSERT_TRUE(driver.run_to_start("c::x", 2));
        driver.finish("c::x");
        EXPECT_EQ(driver.failure("c::x").breaker, BreakerState::kClosed);
    }
}

// Breaker delays had no jitter: what failed together was asked again together, for ever.
TEST(PulseDefect, TheBreakersOfAFleetProbeInStep) {
    CoreDriver driver(roomy_settings());
    auto spec = fixed_task("", 60s);
    spec.timeout = 10min;
    driver.add_all(fleet("c", 100, spec));
    driver.run_for(60);
    for (const double longest_delay : {6.1, 12.1, 0.0}) {
        ASSERT_EQ(driver.running(), 100U);
        driver.finish_all(Outcome::kTransient);
        driver.run_for(longest_delay);
    }
    driver.forget_starts();
    driver.run_for(25);
    EXPECT_EQ(driver.starts().size(), 100U);
    EXPECT_LE(driver.most_starts_within(1), 35U);
    EXPECT_GE(driver.starts().back().at_s - driver.starts().front().at_s, 6);  // 20 s +- 20 %
}

// From the second trip on the delay was five minutes: so long a device that had come back went
// unseen. Here the distance of the probes stays near a minute.
TEST(PulseDefect, ARecoveryIsSeenFiveMinutesLate) {
    constexpr double kBackAt = 3 * 3600.0;
    CoreDriver driver(roomy_settings());
    driver.set_worker([](const std::string&, double now_s) {
        return Reply{.outcome = now_s < kBackAt ? Outcome::kTransient : Outcome::kOk};
    });
    driver.add(fixed_task("c::x", 10s));
    driver.run_until(kBackAt);
    ASSERT_EQ(driver.failure("c::x").breaker, BreakerState::kOpen);
    driver.run_for(72);
    EXPECT_EQ(driver.failure("c::x").breaker, BreakerState::kClosed);
}

// A failing check was asked more often than its interval, for as long as it failed. Here it is
// confirmed quickly, and then asked no more often than a healthy one.
TEST(PulseDefect, AFailingCheckIgnoresItsInterval) {
    CoreDriver driver(roomy_settings());
    driver.set_worker([](const std::string& key, double) {
        return Reply{.outcome = key == "c::down" ? Outcome::kTransient : Outcome::kOk};
    });
    driver.add_all(fleet("c", 20, fixed_task("", 60s)));
    driver.add(fixed_task("c::down", 60s));
    driver.run_until(300);
    driver.forget_starts();
    driver.run_until(300 + 10 * 3600);
    EXPECT_LE(driver.starts_of("c::down").size(), 620U);
    EXPECT_GE(driver.starts_of("c::down").size(), 580U);
}

// The breaker of a target that was taken out of the configuration lived on for a day, and met the
// one that was added again under the same name.
TEST(PulseDefect, ARemovedTargetKeepsItsBreaker) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 60s));
    driver.fail("c::x", 6);
    driver.remove("c::x");
    driver.add(fixed_task("c::x", 60s));
    EXPECT_TRUE(driver.runs("c::x"));
    EXPECT_EQ(driver.failure("c::x").consecutive, 0U);
    EXPECT_EQ(driver.failure("c::x").breaker, BreakerState::kClosed);
    EXPECT_EQ(driver.failure("c::x").dead_letter, model::DeadLetterReason::kNone);
}

// An open breaker could be looked at but not reset. Here a person may ask for a probe now; it is
// one more attempt of the same story, and a success ends that.
TEST(PulseDefect, NobodyCanResetABreaker) {
    CoreDriver driver(roomy_settings());
    for (const char* key : {"c::one", "c::two"}) {
        driver.add(fixed_task(key, 60s));
        driver.fail(key, 3);
    }
    driver.fail("c::one", 1);
    driver.operate(OperatorVerb::kResetBreaker, "c::one");
    driver.run_for(0.01);
    ASSERT_TRUE(driver.runs("c::one"));
    EXPECT_EQ(driver.starts().back().trigger, model::Trigger::kProbe);
    driver.finish("c::one", Outcome::kTransient);
    EXPECT_EQ(driver.failure("c::one").consecutive, 5U);
    EXPECT_EQ(driver.failure("c::one").breaker, BreakerState::kOpen);
    driver.operate(OperatorVerb::kResetAllBreakers);
    driver.run_for(2);
    ASSERT_EQ(driver.running(), 2U);
    driver.finish_all();
    for (const char* key : {"c::one", "c::two"}) {
        EXPECT_EQ(driver.failure(key).breaker, BreakerState::kClosed) << key;
    }
    EXPECT_TRUE(driver.rejections().empty());
}

// With the delays of Pulse a probe that fails trips the breaker again, 300 s after the fourth
// failure. One that a person asked for does not: the delay does not grow.
TEST(CoreDefects, AFailedProbeAfterAResetDoesNotTripThePulseBreaker) {
    CoreDriver driver(roomy_settings());
    driver.add(with_profile(fixed_task("c::x", 60s), FailureProfile::kPulse));
    driver.fail("c::x", 3);
    driver.operate(OperatorVerb::kResetBreaker, "c::x");
    driver.fail("c::x", 1);
    EXPECT_NEAR(driver.wait_s("c::x"), 300, 0.001);
}

// A restart forgot how far the delay had grown. Here the outage goes on where it was.
TEST(PulseDefect, ARestartForgetsTheGrownDelay) {
    CoreDriver driver(roomy_settings());
    driver.add(with_profile(fixed_task("c::x", 60s), FailureProfile::kPulse));
    driver.fail("c::x", 3);
    const double due = driver.next_due_s("c::x");
    driver.restart(5);
    EXPECT_NEAR(driver.next_due_s("c::x"), due, 0.001);
    driver.fail("c::x", 1);
    EXPECT_NEAR(driver.wait_s("c::x"), 300, 0.001);
}

}  // namespace
}  // namespace pollux::tests
