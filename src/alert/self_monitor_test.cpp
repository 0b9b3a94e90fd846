#include "alert/self_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alert/alert_test_support.hpp"

namespace pollux::alert {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

SelfSnapshot healthy() {
    SelfSnapshot out;
    out.targets = 10'000;
    out.success_ratio = 0.999;
    out.average_poll_s = 0.1;
    out.worker_cpu_share = 0.3;
    return out;
}

class SelfMonitorTest : public ::testing::Test {
  protected:
    SelfMonitorTest() { give(healthy(), 0s); }  // clears what a life before may have left open

    // What is said when `snapshot` lasts for this time, seen each second.
    std::vector<Observed> give(const SelfSnapshot& snapshot, base::Duration time) {
        std::vector<Input> out;
        for (base::Duration passed{}; passed <= time; passed += 1s) {
            monitor.step(now, snapshot, out);
            now.boot += 1s;
            now.wall += base::Duration(1s);
        }
        std::vector<Observed> said;
        for (const Input& one : out) said.push_back(std::get<Observed>(one));
        return said;
    }

    // The alert of what is wrong, after this time and not before.
    void expect(const SelfSnapshot& wrong, const std::string& type, base::Duration after,
                const std::string& severity) {
        if (after > 0s) {
            EXPECT_THAT(give(wrong, after - 1s), IsEmpty()) << type;
        }
        const auto said = give(wrong, 0s);
        ASSERT_THAT(said, SizeIs(1)) << type;
        EXPECT_EQ(said[0].signal.type, type);
        EXPECT_EQ(said[0].signal.severity, severity);
        EXPECT_EQ(said[0].step, ObservedStep::kRaised);
        EXPECT_EQ(said[0].source, model::AlertSource::kSelf);
        EXPECT_TRUE(said[0].target.empty());
        EXPECT_FALSE(said[0].signal.message.empty());
    }

    void expect_clear(const std::string& type) {
        const auto said = give(healthy(), 0s);
        ASSERT_THAT(said, SizeIs(1)) << type;
        EXPECT_EQ(said[0].signal.type, type);
        EXPECT_EQ(said[0].step, ObservedStep::kCleared);
    }

    base::Instant now = EngineDriver::kStart;
    SelfMonitor monitor;
};

TEST_F(SelfMonitorTest, SaysOnceThatAllIsWellAfterAStart) {
    SelfMonitor fresh;
    std::vector<Input> out;
    fresh.step(now, healthy(), out);
    EXPECT_THAT(out, SizeIs(7));
    for (const Input& one : out) EXPECT_EQ(std::get<Observed>(one).step, ObservedStep::kCleared);
    EXPECT_THAT(give(healthy(), 1h), IsEmpty());
}

TEST_F(SelfMonitorTest, BacklogWarnsAfterTenMinutesAndIsCriticalAfterTwenty) {
    SelfSnapshot wrong = healthy();
    wrong.ready_backlog = 1000;  // a tenth: still well
    EXPECT_THAT(give(wrong, 30min), IsEmpty());
    wrong.ready_backlog = 1001;
    expect(wrong, "self_overloaded", 10min, "warning");
    EXPECT_THAT(give(wrong, 10min - 2s), IsEmpty());
    const auto said = give(wrong, 0s);
    ASSERT_THAT(said, SizeIs(1));
    EXPECT_EQ(said[0].signal.severity, "critical");
    EXPECT_EQ(said[0].step, ObservedStep::kUpdated);
    EXPECT_THAT(give(wrong, 1h), IsEmpty());
    expect_clear("self_overloaded");
}

TEST_F(SelfMonitorTest, ASmallFleetMayHaveAHundredWaiting) {
    SelfSnapshot wrong = healthy();
    wrong.targets = 50;
    wrong.ready_backlog = 100;
    EXPECT_THAT(give(wrong, 1h), IsEmpty());
}

TEST_F(SelfMonitorTest, StartLagCountsAsBacklogAndAPauseBeginsAnew) {
    SelfSnapshot wrong = healthy();
    wrong.start_lag_p95 = 2001ms;
    EXPECT_THAT(give(wrong, 9min), IsEmpty());
    EXPECT_THAT(give(healthy(), 0s), IsEmpty());
    expect(wrong, "self_overloaded", 10min, "warning");
}

TEST_F(SelfMonitorTest, StalenessOverItsBoundForFiveMinutesIsCritical) {
    SelfSnapshot wrong = healthy();
    wrong.stale_targets = 3;
    wrong.longest_stale = 5min - 1ns;
    EXPECT_THAT(give(wrong, 1h), IsEmpty());
    wrong.longest_stale = 5min;
    expect(wrong, "self_stale", 0s, "critical");
    expect_clear("self_stale");
}

TEST_F(SelfMonitorTest, ABreakerThatIsNotClosedForTenMinutesIsCritical) {
    SelfSnapshot wrong = healthy();
    wrong.open_breakers = 1;
    wrong.longest_open_breaker = 10min - 1ns;
    EXPECT_THAT(give(wrong, 1min), IsEmpty());
    wrong.longest_open_breaker = 10min;
    expect(wrong, "self_breaker_open", 0s, "critical");
    expect_clear("self_breaker_open");
}

TEST_F(SelfMonitorTest, DeadLettersAreComparedWithTheFewestOfADay) {
    SelfSnapshot some = healthy();
    some.dead_letters = 10;
    EXPECT_THAT(give(some, 0s), IsEmpty());
    some.dead_letters = 11;
    expect(some, "self_dead_letters", 0s, "warning");
    // After a day that is how it is.
    const auto later = give(some, 25h);
    ASSERT_THAT(later, SizeIs(1));
    EXPECT_EQ(later[0].step, ObservedStep::kCleared);
}

TEST_F(SelfMonitorTest, RatesHaveABoundOfWrongAndOneOfWell) {
    SelfSnapshot wrong = healthy();
    wrong.success_ratio = 0.949;
    expect(wrong, "self_success_ratio", 5min, "warning");
    wrong.success_ratio = 0.98;  // between: as before
    EXPECT_THAT(give(wrong, 1h), IsEmpty());
    expect_clear("self_success_ratio");
    wrong = healthy();
    wrong.average_poll_s = 5.1;
    expect(wrong, "self_slow_polls", 5min, "warning");
    wrong.average_poll_s = 2.5;
    EXPECT_THAT(give(wrong, 1min), IsEmpty());
    expect_clear("self_slow_polls");
    wrong = healthy();
    wrong.worker_cpu_share = 0.91;
    expect(wrong, "self_worker_cpu", 5min, "warning");
    wrong.worker_cpu_share = 0.8;
    EXPECT_THAT(give(wrong, 1min), IsEmpty());
    expect_clear("self_worker_cpu");
}

TEST_F(SelfMonitorTest, SwitchedOffItClearsWhatIsOpenAndSaysNothing) {
    SelfSnapshot wrong = healthy();
    wrong.open_breakers = 1;
    wrong.longest_open_breaker = 1h;
    expect(wrong, "self_breaker_open", 0s, "critical");
    SelfLimits off;
    off.on = false;
    monitor.set_limits(off);
    const auto said = give(wrong, 1h);
    ASSERT_THAT(said, SizeIs(1));
    EXPECT_EQ(said[0].signal.type, "self_breaker_open");
    EXPECT_EQ(said[0].step, ObservedStep::kCleared);
    monitor.set_limits({});
    expect(wrong, "self_breaker_open", 0s, "critical");
}

TEST_F(SelfMonitorTest, LimitsThatAreSetHold) {
    SelfLimits limits;
    limits.dead_letters_more = 2;
    monitor.set_limits(limits);
    SelfSnapshot some = healthy();
    some.dead_letters = 2;
    EXPECT_THAT(give(some, 1min), IsEmpty());
    some.dead_letters = 3;
    expect(some, "self_dead_letters", 0s, "warning");
}

TEST_F(SelfMonitorTest, SwitchedOffFromTheStartItClearsWhatALifeBeforeLeftOpen) {
    SelfLimits off;
    off.on = false;
    SelfMonitor fresh(off);
    std::vector<Input> out;
    fresh.step(now, healthy(), out);
    EXPECT_THAT(out, SizeIs(7));
    for (const Input& one : out) EXPECT_EQ(std::get<Observed>(one).step, ObservedStep::kCleared);
}

TEST_F(SelfMonitorTest, WhatIsNotMeasuredChangesNothing) {
    SelfSnapshot wrong = healthy();
    wrong.success_ratio = 0.5;
    expect(wrong, "self_success_ratio", 5min, "warning");
    wrong.success_ratio = std::nullopt;
    EXPECT_THAT(give(wrong, 1h), IsEmpty());
    expect_clear("self_success_ratio");
}

TEST_F(SelfMonitorTest, ItsAlertsAreOnesOfTheEngine) {
    EngineDriver driver;
    SelfSnapshot wrong = healthy();
    wrong.stale_targets = 1;
    wrong.longest_stale = 1h;
    std::vector<Input> said;
    monitor.step(driver.now(), wrong, said);
    driver.give(said);
    EXPECT_EQ(driver.last("self_stale").addon, "pollux");
    EXPECT_EQ(driver.last("self_stale").state, model::AlertState::kActive);
    said.clear();
    monitor.step(driver.now(), healthy(), said);
    driver.give(said);
    EXPECT_EQ(driver.last("self_stale").resolved_by, model::ResolvedBy::kRecovery);
}

}  // namespace
}  // namespace pollux::alert
