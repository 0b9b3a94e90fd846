// Defects of Pulse, a predecessor, in how long a healthy task waits and how fresh its data is said
// to be.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/regression/core_driver.hpp"

namespace pollux::tests {
namespace {

using model::AdaptiveMode;
using model::Outcome;
using model::PolicyKind;
using model::Preset;
using namespace std::chrono_literals;

model::CoreSettings adaptive_settings(PolicyKind policy, Preset preset = Preset::kBalanced) {
    auto settings = roomy_settings();
    settings.mode = AdaptiveMode::kOn;
    settings.classes[0].policy = policy;
    settings.classes[0].preset = preset;
    return settings;
}

// "c::busy" answers something new each time, all others never do.
Reply busy_or_quiet(const std::string& key, double now_s) {
    return {.digest = key == "c::busy" ? static_cast<std::uint64_t>(now_s * 1000) : 1};
}

double longest(const std::vector<double>& gaps) { return *std::ranges::max_element(gaps); }

double wished_s(const CoreDriver& driver, const std::string& key) {
    return base::to_seconds(driver.explain(key).interval.wished);
}

// The base only seeded the smoothing: a healthy task drifted to the maximum, thirty times slower
// than people thought. Here a quiet task waits a small multiple of its base.
TEST(PulseDefect, AHealthyTaskEndsAtTheMaximum) {
    CoreDriver driver(adaptive_settings(PolicyKind::kOptimal));
    driver.set_worker(CoreDriver::always({.digest = 1}));
    driver.add(adaptive_task("c::x", 5s, 10s, 300s));
    driver.run_until(4 * 3600);
    EXPECT_LE(longest(driver.gaps("c::x")), 15 * 1.05);
}

// The score was taken right after the answer, when everything is fresh: it always said "slow down".
// Here it is taken just before the answer, also under the formula that Pulse used.
TEST(PulseDefect, StalenessIsMeasuredRightAfterTheAnswer) {
    CoreDriver driver(adaptive_settings(PolicyKind::kClassic));
    driver.set_worker(CoreDriver::always({.digest = 1}));
    driver.add(adaptive_task("c::x", 5s, 10s, 300s));
    driver.run_until(3600);
    driver.forget_starts();
    driver.run_until(4 * 3600);
    EXPECT_LE(longest(driver.gaps("c::x")), 150);
}

// The goal was data younger than a minute, the longest interval five. Here the bound is a limit of
// the interval.
TEST(PulseDefect, TheMaximumIntervalBreaksTheFreshnessGoal) {
    CoreDriver driver(adaptive_settings(PolicyKind::kOptimal, Preset::kEconomy));
    driver.set_worker(CoreDriver::always({.digest = 1}));
    driver.add(adaptive_task("c::x", 5s, 20s, 300s));
    driver.run_until(4 * 3600);
    EXPECT_GT(longest(driver.gaps("c::x")), 50) << "it does use what the bound leaves";
    EXPECT_LE(longest(driver.gaps("c::x")), 60);
}

// Every pass worked on the smoothed interval, so it depended on how often somebody looked. Here
// only answers do.
TEST(PulseDefect, EveryPassMovesTheSmoothedInterval) {
    const auto spec = adaptive_task("c::x", 5s, 10s, 300s);
    std::vector<std::vector<double>> times;
    for (const bool looked_at : {false, true}) {
        CoreDriver driver(adaptive_settings(PolicyKind::kClassic));
        driver.set_worker(CoreDriver::always({.digest = 1}));
        driver.add(spec);
        for (int i = 0; i < 3600; ++i) {
            driver.run_for(1);
            if (looked_at) driver.add(spec);
        }
        times.push_back(driver.start_times("c::x"));
    }
    ASSERT_GT(times[0].size(), 20U);
    EXPECT_EQ(times[0], times[1]);
}

// The queue depth that stretches intervals counted every planned task: two thousand idle ones
// pinned all of them at the maximum. Here only work that is ready and waits counts.
TEST(PulseDefect, FutureTasksCountAsLoad) {
    for (const int others : {0, 400}) {
        CoreDriver driver(adaptive_settings(PolicyKind::kClassic));
        driver.add(adaptive_task("c::first", 5s, 10s, 300s));
        driver.finish("c::first");
        driver.add_all(fleet("c", others, fixed_task("", 600s)));
        ASSERT_TRUE(driver.run_to_start("c::first"));
        driver.finish("c::first");
        EXPECT_DOUBLE_EQ(wished_s(driver, "c::first"), 5) << others;  // it was stale: the minimum
    }
}

// What a pass had planned already was added to the depth, so that whoever came last in the
// inventory was stretched most. Here tasks alike are treated alike.
TEST(PulseDefect, TheLastOfTheInventoryIsStretchedMost) {
    CoreDriver driver(adaptive_settings(PolicyKind::kClassic));
    auto spec = adaptive_task("", 5s, 10s, 300s);
    spec.timeout = 1h;
    driver.add_all(fleet("c", 200, spec));
    driver.run_for(11);
    ASSERT_EQ(driver.running(), 200U);
    driver.finish_all();
    driver.run_for(200);
    ASSERT_EQ(driver.running(), 200U);
    driver.finish_all();
    for (int i = 0; i < 200; ++i) {
        EXPECT_DOUBLE_EQ(wished_s(driver, "c::" + std::to_string(i)), 5) << i;
    }
}

// The number of errors was a term of the formula that nobody ever filled in. Here the streak that a
// success ends shortens the interval after it.
TEST(PulseDefect, TheErrorCountNeverReachesTheInterval) {
    CoreDriver driver(adaptive_settings(PolicyKind::kClassic));
    auto spec = adaptive_task("c::x", 5s, 60s, 300s);
    spec.staleness_bound = 1h;
    driver.add(spec);
    driver.finish("c::x");
    driver.fail("c::x", 2);
    ASSERT_TRUE(driver.run_to_start("c::x"));
    const double without_errors = 5 + 295 * (1 - driver.freshness("c::x").score);
    driver.finish("c::x");
    EXPECT_NEAR(wished_s(driver, "c::x"), without_errors / (1 + 0.6 * 2), 0.01);
}

// A hash of the answer travelled with the task and was never looked at. Here what changes is asked
// more often than what does not.
TEST(PulseDefect, TheChangeHashIsReadByNobody) {
    CoreDriver driver(adaptive_settings(PolicyKind::kOptimal, Preset::kFresh));
    driver.set_worker(busy_or_quiet);
    for (const char* key : {"c::busy", "c::quiet-1", "c::quiet-2", "c::quiet-3"}) {
        driver.add(adaptive_task(key, 5s, 20s, 300s));
    }
    driver.run_until(3600);
    EXPECT_GT(driver.starts_of("c::busy").size(), 2 * driver.starts_of("c::quiet-1").size());
}

// Each answer counted as a change, the same or not.
TEST(PulseDefect, LastMutatedMovesWithoutAChange) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 60s));
    driver.finish("c::x", Reply{.digest = 7});
    const base::BootTime first = driver.freshness("c::x").last_mutation;
    ASSERT_EQ(first, driver.now().boot);
    ASSERT_TRUE(driver.run_to_start("c::x"));
    driver.finish("c::x", Reply{.digest = 7});
    EXPECT_EQ(driver.freshness("c::x").last_mutation, first);
    ASSERT_TRUE(driver.run_to_start("c::x"));
    driver.finish("c::x", Reply{.digest = 8});
    EXPECT_EQ(driver.freshness("c::x").last_mutation, driver.now().boot);
}

// A success without a payload wiped out the hash, so the next answer had nothing to be compared to.
TEST(PulseDefect, ASuccessWithoutPayloadForgetsTheChangeHash) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 60s));
    driver.finish("c::x", Reply{.digest = 7});
    const base::BootTime first = driver.freshness("c::x").last_mutation;
    ASSERT_TRUE(driver.run_to_start("c::x"));
    driver.finish("c::x");
    EXPECT_TRUE(driver.freshness("c::x").has_digest);
    EXPECT_EQ(driver.freshness("c::x").digest, 7U);
    EXPECT_EQ(driver.freshness("c::x").last_mutation, first);
    ASSERT_TRUE(driver.run_to_start("c::x"));
    driver.finish("c::x", Reply{.digest = 8});
    EXPECT_EQ(driver.freshness("c::x").last_mutation, driver.now().boot);
}

// The age of the data was only written when a poll ended, so it stood still exactly while nothing
// was polled. Here it is counted when somebody asks: with an open breaker, and with a run that
// hangs.
TEST(PulseDefect, TheStalenessGaugeStandsStillBetweenPolls) {
    CoreDriver driver(roomy_settings());
    auto spec = fixed_task("c::x", 60s);
    spec.timeout = 10min;
    driver.add(spec);
    driver.finish("c::x");
    const double success_s = driver.now_s();
    const auto age_s = [&] { return base::to_seconds(driver.freshness("c::x").age); };
    driver.fail("c::x", 3);
    EXPECT_NEAR(age_s(), driver.now_s() - success_s, 1e-6);
    driver.run_for(10);
    ASSERT_EQ(driver.failure("c::x").breaker, model::BreakerState::kOpen);
    EXPECT_NEAR(age_s(), driver.now_s() - success_s, 1e-6);
    ASSERT_TRUE(driver.run_to_start("c::x"));
    driver.run_for(300);
    ASSERT_TRUE(driver.runs("c::x"));
    EXPECT_NEAR(age_s(), driver.now_s() - success_s, 1e-6);
    EXPECT_EQ(driver.freshness("c::x").score, 1);
}

// Data was stale after a fixed time, so a task with a long interval was "degraded" between any two
// polls. Here the bound follows the interval.
TEST(PulseDefect, ALongIntervalMakesHealthyDataLookStale) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.add(fixed_task("c::x", 10min));
    for (int minute = 1; minute < 120; ++minute) {
        driver.run_until(60.0 * minute);
        ASSERT_LE(driver.freshness("c::x").score, 0.51) << minute;
    }
}

// A task that was never polled had the score of a fresh one. Here it is said that nothing is known,
// and it is polled within its base, not within the maximum that fresh data would allow.
TEST(PulseDefect, ATaskNeverPolledLooksFresh) {
    CoreDriver driver(adaptive_settings(PolicyKind::kClassic));
    driver.add_all(fleet("c", 100, adaptive_task("", 5s, 10s, 300s)));
    driver.apply(schedule::Tick{});
    for (int i = 0; i < 100; ++i) {
        const auto fresh = driver.freshness("c::" + std::to_string(i));
        EXPECT_FALSE(fresh.known);
        EXPECT_EQ(fresh.age, base::Duration::max());
    }
    driver.run_until(10.1);
    EXPECT_EQ(driver.starts().size(), 100U);
}

// Switching adaptive polling on or off took a restart, which forgot everything. Here it holds from
// the next answer on, and what was learned is still known when it is switched on again.
TEST(PulseDefect, SwitchingAdaptivePollingTakesARestart) {
    const auto on = adaptive_settings(PolicyKind::kOptimal, Preset::kFresh);
    auto off = on;
    off.mode = AdaptiveMode::kOff;
    CoreDriver driver(off);
    driver.set_worker(busy_or_quiet);
    for (const char* key : {"c::busy", "c::quiet-1", "c::quiet-2", "c::quiet-3"}) {
        driver.add(adaptive_task(key, 5s, 20s, 300s));
    }
    const auto interval = [&](const std::string& key) {
        return driver.explain(key).interval.in_force;
    };
    driver.run_until(3590);
    EXPECT_EQ(driver.starts_of("c::busy").size(), 180U);
    driver.change_settings(on);
    driver.run_until(7200);
    EXPECT_LT(2 * interval("c::busy"), interval("c::quiet-1"));
    const double rate = driver.explain("c::busy").interval.believed_rate;
    driver.change_settings(off);
    driver.run_for(120);
    EXPECT_EQ(interval("c::busy"), 20s);
    EXPECT_EQ(interval("c::quiet-1"), 20s);
    driver.change_settings(on);
    EXPECT_DOUBLE_EQ(driver.explain("c::busy").interval.believed_rate, rate);
    driver.run_for(45);
    EXPECT_LT(2 * interval("c::busy"), interval("c::quiet-1"));
}

}  // namespace
}  // namespace pollux::tests
