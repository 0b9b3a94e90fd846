// Defects of OpsConductor, a predecessor, in how targets were dispatched: a query once a minute for
// all that was due, and a queue of workers behind it. Each test is named after what went wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/regression/core_driver.hpp"

namespace pollux::tests {
namespace {

using model::FailureProfile;
using model::Outcome;
using model::Trigger;
using schedule::OperatorVerb;
using namespace std::chrono_literals;

constexpr double kBeat = 60;

std::vector<std::string> keys_of(const std::vector<model::TaskSpec>& specs) {
    std::vector<std::string> keys;
    for (const auto& spec : specs) keys.push_back(spec.key);
    return keys;
}

// What was due was looked for once a minute, so 300 s meant up to 360 s and nothing was possible
// below 60 s. Here a task starts in the millisecond it is due.
TEST(OpsConductorDefect, IntervalsAreRoundedUpToTheBeat) {
    for (const int seconds : {45, 61, 300}) {
        CoreDriver driver(roomy_settings());
        driver.set_worker(CoreDriver::always({.after = 2s}));
        driver.run_for(7.5);  // off the beat
        driver.add(fixed_task("c::x", std::chrono::seconds(seconds)));
        driver.run_until(3600);
        const auto starts = driver.starts_of("c::x");
        ASSERT_EQ(starts.size(), 3592U / static_cast<unsigned>(seconds) + 1);
        for (std::size_t i = 0; i < starts.size(); ++i) {
            EXPECT_NEAR(starts[i].at_s, 7.5 + seconds * static_cast<double>(i), 0.001);
        }
    }
}

// Only a finished poll moved a target out of the way of the next query: with a backlog of more than
// a minute each target was queued again at every beat. Here a task is in one place only.
TEST(OpsConductorDefect, ABacklogQueuesATargetAgainAndAgain) {
    auto settings = roomy_settings();
    settings.global_slots = 1;
    CoreDriver driver(settings);
    driver.set_worker(CoreDriver::always({.after = 10s}));
    const auto specs = fleet("c", 20, fixed_task("", 60s));
    driver.add_all(specs);
    for (int beat = 1; beat <= 20; ++beat) {
        driver.run_until(beat * kBeat);
        ASSERT_LE(driver.core().queue_snapshot(driver.now().boot).depth, 20U);
    }
    EXPECT_EQ(driver.most_at_once(), 1U);
    EXPECT_GE(driver.starts().size(), 119U) << "the worker is never idle";
    for (const auto& key : keys_of(specs)) {
        const std::size_t runs = driver.starts_of(key).size();
        EXPECT_TRUE(runs >= 5 && runs <= 7) << key << " ran " << runs << " times";
    }
}

// A target that always ended in an error never counted as polled and was dispatched at every beat.
TEST(OpsConductorDefect, AFailingTargetIsDispatchedAtEveryBeat) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({.outcome = Outcome::kTransient}));
    auto spec = fixed_task("c::x", 300s);
    spec.failure_profile = FailureProfile::kOpsconductor;
    driver.add(spec);
    for (int beat = 1; beat <= 60; ++beat) {
        driver.apply(schedule::Tick{});
        driver.run_until(beat * kBeat);
    }
    // Three retries in the first 210 s, then one poll every 300 s.
    EXPECT_EQ(driver.starts().size(), 4U + 11U);
}

// Retries were set to 30, 60 and 120 s; another option made them 1, 2 and 4 s.
TEST(OpsConductorDefect, RetriesComeAfterASecond) {
    CoreDriver driver(roomy_settings());
    auto spec = fixed_task("c::x", 300s);
    spec.failure_profile = FailureProfile::kOpsconductor;
    driver.add(spec);
    for (const double delay : {30.0, 60.0, 120.0, 300.0, 300.0}) {
        driver.fail("c::x", 1);
        EXPECT_NEAR(driver.wait_s("c::x"), delay, 0.001);
    }
}

// Only exceptions were retried, and a device that did not answer was not one: it was asked again
// after its whole interval. Here a failure is confirmed soon, however it is reported.
TEST(OpsConductorDefect, ADeadDeviceIsNeverRetried) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 300s));
    driver.fail("c::x", 1);
    ASSERT_TRUE(driver.run_to_start("c::x", 6));
    EXPECT_EQ(driver.starts().back().trigger, Trigger::kConfirm);
    driver.finish("c::x");
    EXPECT_EQ(driver.failure("c::x").consecutive, 0U);
}

// The limit of polls per second held for each worker: with four workers it was four times as high.
TEST(OpsConductorDefect, TheRateLimitIsPerWorker) {
    for (const int workers : {1, 4, 16}) {
        auto settings = roomy_settings();
        settings.global_rate = 100;  // and a burst of 50
        CoreDriver driver(settings);
        driver.set_worker(CoreDriver::always({}));
        auto jobs = fleet("c", 2000, job(""));
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            jobs[i].region = "worker-" + std::to_string(i % static_cast<std::size_t>(workers));
        }
        for (int i = 0; i < workers; ++i) driver.credit("worker-" + std::to_string(i), 1000);
        driver.add_all(jobs);
        driver.run_until(10);
        EXPECT_LE(driver.most_starts_within(1), 150U) << workers;
        EXPECT_NEAR(static_cast<double>(driver.starts().size()), 1050, 2) << workers;
    }
}

// The limits could be edited, but the edited numbers were read by nobody, or after a restart.
TEST(OpsConductorDefect, TheRateLimitIsAConstant) {
    auto settings = roomy_settings();
    settings.global_rate = 10;
    CoreDriver driver(settings);
    driver.set_worker(CoreDriver::always({}));
    driver.add_all(fleet("c", 500, job("")));
    driver.run_for(10);
    EXPECT_NEAR(static_cast<double>(driver.starts().size()), 105, 1);
    settings.global_rate = 100;
    driver.change_settings(settings);
    driver.forget_starts();
    driver.run_for(2);
    EXPECT_GE(driver.starts().size(), 195U);
    settings.global_rate = 1;
    driver.change_settings(settings);
    driver.run_for(60);  // what was spent before is spent
    driver.forget_starts();
    driver.run_for(60);
    EXPECT_NEAR(static_cast<double>(driver.starts().size()), 60, 1);
}

TEST(OpsConductorDefect, ADifferentNumberOfWorkersTakesARestart) {
    auto settings = roomy_settings();
    settings.global_slots = 1;
    CoreDriver driver(settings);
    driver.add_all(fleet("c", 10, long_job("")));
    EXPECT_EQ(driver.running(), 1U);
    settings.global_slots = 4;
    driver.change_settings(settings);
    ASSERT_EQ(driver.running(), 4U);
    settings.global_slots = 2;
    driver.change_settings(settings);
    for (const std::size_t left : {3U, 2U}) {
        driver.finish(driver.started_keys()[left]);
        EXPECT_EQ(driver.running(), left);
    }
    driver.finish(driver.started_keys()[0]);
    EXPECT_EQ(driver.running(), 2U);
}

// A poll on demand was not written down, so the regular one came right after it. Here it is a run
// like any other, and the next one is counted from it.
TEST(OpsConductorDefect, APollOnDemandDoesNotCount) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.add(fixed_task("c::x", 300s));
    driver.run_until(290);
    driver.operate(OperatorVerb::kTriggerNow, "c::x");
    driver.run_until(291);
    EXPECT_LT(driver.freshness("c::x").age, 1s);
    driver.run_until(900);
    const auto times = driver.start_times("c::x");
    ASSERT_EQ(times.size(), 4U);
    EXPECT_NEAR(times[1], 290, 0.001);
    EXPECT_NEAR(times[2], 590, 0.001);
    EXPECT_EQ(driver.starts()[1].trigger, Trigger::kOperator);
}

// Polls on demand passed by the rate limit. Here they are first in line, and the line is the same.
TEST(OpsConductorDefect, PollsOnDemandSkipTheRateLimit) {
    auto settings = roomy_settings();
    settings.global_rate = 1;
    CoreDriver driver(settings);
    driver.set_worker(CoreDriver::always({}));
    const auto specs = fleet("c", 10, fixed_task("", 1h));
    driver.add_all(specs);
    driver.run_for(30);
    ASSERT_EQ(driver.starts().size(), 10U);
    driver.forget_starts();
    std::vector<schedule::Event> wishes;
    for (const auto& key : keys_of(specs)) {
        wishes.emplace_back(schedule::OperatorAction{OperatorVerb::kTriggerNow, key});
    }
    driver.apply(wishes);
    driver.run_for(20);
    EXPECT_EQ(driver.starts().size(), 10U);
    EXPECT_EQ(driver.most_starts_within(0.9), 1U);
    EXPECT_TRUE(driver.rejections().empty());
}

// A poll on demand ran beside the regular one of the same target.
TEST(OpsConductorDefect, APollOnDemandRunsBesideTheRegularOne) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 300s));
    ASSERT_TRUE(driver.runs("c::x"));
    driver.operate(OperatorVerb::kTriggerNow, "c::x");
    driver.run_for(1);
    EXPECT_EQ(driver.starts().size(), 1U);
    ASSERT_EQ(driver.rejections().size(), 1U);
    EXPECT_EQ(driver.rejections()[0].error.code, "operator.nothing_to_do");
}

// There was one time of the last poll. Here the last answer, the last success and the last error
// are told apart.
TEST(OpsConductorDefect, TheTimeOfTheLastPollHidesFailures) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 60s));
    driver.finish("c::x");
    const base::BootTime success = driver.now().boot;
    driver.fail("c::x", 1);
    ASSERT_GT(driver.now().boot, success);
    EXPECT_EQ(driver.freshness("c::x").last_success, success);
    EXPECT_EQ(driver.freshness("c::x").last_error, driver.now().boot);
    EXPECT_EQ(driver.slot("c::x").last_answer(), driver.now().boot);
}

// A worker that was believed lost had its work done again, and then both results counted. Here a
// result must name the run that is in flight.
TEST(OpsConductorDefect, TheWorkOfALostWorkerCountsTwice) {
    CoreDriver driver(roomy_settings());
    driver.add(fixed_task("c::x", 300s));
    const schedule::StartRun lost = driver.commands().starts.at(0);
    driver.run_for(33);  // timeout and grace
    ASSERT_TRUE(driver.run_to_start("c::x", 2));
    ASSERT_EQ(driver.starts().size(), 2U);
    schedule::RunFinished late;
    late.task = lost.task;
    late.run = lost.run;
    late.outcome = Outcome::kTransient;
    driver.apply(late);
    EXPECT_TRUE(driver.runs("c::x"));
    EXPECT_EQ(driver.core().in_flight(), 1U);
    EXPECT_EQ(driver.core().stats().stale_results, 1U);
    EXPECT_EQ(driver.failure("c::x").consecutive, 0U);
    EXPECT_FALSE(driver.freshness("c::x").known);
    driver.finish("c::x");
    driver.apply(late);
    EXPECT_EQ(driver.failure("c::x").consecutive, 0U);
    EXPECT_EQ(driver.core().stats().finished, 1U);
}

// After a pause everything was overdue, and the next query dispatched all of it at once. Here
// overdue work is spread over one interval.
TEST(OpsConductorDefect, ARestartDispatchesEverythingAtOnce) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.add_all(fleet("c", 600, fixed_task("", 60s)));
    driver.run_for(120);
    driver.forget_starts();
    driver.restart(600);
    driver.run_for(61);
    EXPECT_GE(driver.starts().size(), 600U);
    EXPECT_LE(driver.most_starts_within(10), 125U);  // 1.2 times the usual 100
}

// A state for "paused by what it depends on" was there, and nothing ever set it: behind a dead
// switch everything was polled on, and failed. Here the children are held, and come back spread.
TEST(OpsConductorDefect, WhatLiesBehindADeadParentIsPolledOn) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.parent("switch", true);
    driver.add_all(fleet("c", 60, with_needs(fixed_task("", 60s), needs_device("switch"))));
    driver.run_for(120);
    driver.parent("switch", false);
    driver.forget_starts();
    driver.run_for(300);
    EXPECT_TRUE(driver.starts().empty());
    driver.parent("switch", true);
    driver.run_for(61);
    EXPECT_GE(driver.starts().size(), 60U);
    EXPECT_LE(driver.most_starts_within(1), 10U);
}

}  // namespace
}  // namespace pollux::tests
