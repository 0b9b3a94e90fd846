#include "schedule/load_monitor.hpp"

#include <gtest/gtest.h>

namespace pollux::schedule {
namespace {

using namespace std::chrono_literals;

TEST(DurationSketch, AnswersToTheLongSideWithinAQuarterOctave) {
    for (const base::Duration value :
         std::initializer_list<base::Duration>{2ms, 10ms, 137ms, 1s, 4321ms, 30s, 600s}) {
        DurationSketch sketch;
        for (int i = 0; i < 100; ++i) sketch.add(value);
        const double ratio = base::to_seconds(sketch.quantile(0.95)) / base::to_seconds(value);
        EXPECT_GE(ratio, 1.0) << base::format_duration(value) << ": a bound must be kept";
        EXPECT_LE(ratio, 1.3) << base::format_duration(value);
    }
}

TEST(DurationSketch, QuantilesSeparate) {
    DurationSketch sketch;
    EXPECT_EQ(sketch.quantile(0.5), 0s) << "nothing was seen";
    for (int i = 0; i < 90; ++i) sketch.add(10ms);
    for (int i = 0; i < 10; ++i) sketch.add(10s);
    EXPECT_EQ(sketch.count(), 100u);
    EXPECT_LT(sketch.quantile(0.5), 15ms);
    EXPECT_LT(sketch.quantile(0.89), 15ms);
    EXPECT_GT(sketch.quantile(0.95), 9s);
}

TEST(DurationSketch, TakesNonsense) {
    DurationSketch sketch;
    sketch.add(-5s);
    sketch.add(base::Duration::max());
    EXPECT_EQ(sketch.count(), 2u);
    EXPECT_LT(sketch.quantile(0.1), 1ms) << "a negative lag is none";
    EXPECT_GT(sketch.quantile(0.99), 1h);
}

TEST(DurationSketch, HalvingLetsOldValuesFade) {
    DurationSketch sketch;
    for (int i = 0; i < 100; ++i) sketch.add(1s);
    sketch.halve();
    EXPECT_EQ(sketch.count(), 50u);
    EXPECT_GT(sketch.quantile(0.5), 900ms);
    sketch.clear();
    EXPECT_EQ(sketch.count(), 0u);
    EXPECT_EQ(sketch.quantile(0.5), 0s);
}

void late_starts(LoadMonitor& load, int count, base::Duration lag) {
    for (int i = 0; i < count; ++i) load.started(lag);
}

TEST(LoadMonitor, NoPressureWithoutLag) {
    LoadMonitor load;
    for (int second = 0; second < 60; ++second) {
        late_starts(load, 100, 500ms);
        load.second(false, false);
    }
    EXPECT_EQ(load.pressure(), 1.0);
    EXPECT_GE(load.p95_lag(), 500ms);
    EXPECT_LT(load.p95_lag(), 700ms);
}

TEST(LoadMonitor, LagShrinksTheBudgetsOnceInTenSeconds) {
    LoadMonitor load;
    late_starts(load, 100, 5s);
    load.second(false, false);
    EXPECT_DOUBLE_EQ(load.pressure(), 0.9);
    for (int second = 0; second < 9; ++second) {
        late_starts(load, 100, 5s);
        load.second(false, false);
        ASSERT_DOUBLE_EQ(load.pressure(), 0.9) << "let one reduction show its effect";
    }
    late_starts(load, 100, 5s);
    load.second(false, false);
    EXPECT_DOUBLE_EQ(load.pressure(), 0.81);
}

TEST(LoadMonitor, SaturationCountsWithoutAnyStart) {
    LoadMonitor load;
    load.second(true, false);
    EXPECT_DOUBLE_EQ(load.pressure(), 0.9);
}

TEST(LoadMonitor, NeverBelowATenth) {
    LoadMonitor load;
    for (int second = 0; second < 1000; ++second) load.second(true, false);
    EXPECT_DOUBLE_EQ(load.pressure(), 0.1);
}

TEST(LoadMonitor, RecoversSlowlyAndCompletely) {
    LoadMonitor load;
    load.second(true, false);
    load.second(false, false);
    EXPECT_DOUBLE_EQ(load.pressure(), 0.9 * 1.005);
    for (int second = 0; second < 60; ++second) load.second(false, false);
    EXPECT_EQ(load.pressure(), 1.0);
}

TEST(LoadMonitor, AFewLateStartsSayNothing) {
    LoadMonitor load;
    late_starts(load, 4, 60s);
    load.second(false, false);
    EXPECT_EQ(load.pressure(), 1.0);
}

// The policies plan below the rate, so a backlog at the rate drains by itself.
TEST(LoadMonitor, WaitingForTheGlobalRateIsNoOverload) {
    LoadMonitor load;
    late_starts(load, 100, 60s);
    load.second(false, true);
    EXPECT_EQ(load.pressure(), 1.0);
}

TEST(LoadMonitor, DurationsOfPollsFade) {
    LoadMonitor load;
    for (int i = 0; i < 20'000; ++i) load.finished(10s);
    EXPECT_GT(load.p95_duration(), 9s);
    for (int i = 0; i < 400'000; ++i) load.finished(20ms);
    EXPECT_LT(load.p95_duration(), 30ms) << "what was long ago does not decide for ever";
}

}  // namespace
}  // namespace pollux::schedule
