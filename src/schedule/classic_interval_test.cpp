#include "schedule/classic_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace pollux::schedule {
namespace {

using base::Duration;
using base::from_seconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

ClassicConfig quiet_config() {
    ClassicConfig config;
    config.max = seconds(60);
    config.jitter = 0;
    return config;
}

ClassicInput half_stale() {
    ClassicInput input;
    input.staleness_score = 0.5;
    return input;
}

TEST(ClassicInterval, DefaultsAreThePublishedOnes) {
    const ClassicConfig config;
    EXPECT_EQ(config.base, seconds(10));
    EXPECT_EQ(config.min, seconds(5));
    EXPECT_EQ(config.max, seconds(300));
    EXPECT_EQ(normalised(config), config);
}

TEST(ClassicInterval, NormalisedReplacesNonsense) {
    ClassicConfig config;
    config.base = seconds(-1);
    config.min = Duration::zero();
    config.max = Duration::zero();
    EXPECT_EQ(normalised(config), ClassicConfig{});

    config.min = seconds(120);
    config.max = seconds(30);
    EXPECT_EQ(normalised(config).max, minutes(5));

    // The default maximum must not fall below a large minimum.
    config.min = minutes(10);
    EXPECT_EQ(normalised(config).max, minutes(10));
}

TEST(ClassicInterval, FreshGoesToMaxStaleToMin) {
    ClassicInput input;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(60));
    EXPECT_EQ(classic_interval(quiet_config(), input).interval, seconds(40));
    input.staleness_score = 1;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(5));
    EXPECT_EQ(classic_interval(quiet_config(), input).interval, seconds(7));
}

TEST(ClassicInterval, ScoreIsClamped) {
    ClassicInput input;
    input.staleness_score = 7;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(5));
    input.staleness_score = -7;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(60));
    input.staleness_score = kNaN;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(60));
}

TEST(ClassicInterval, ErrorsShorten) {
    ClassicInput input = half_stale();
    input.error_count = 2;
    const ClassicDecision decision = classic_interval(quiet_config(), input);
    EXPECT_DOUBLE_EQ(decision.error_divisor, 2.2);
    EXPECT_EQ(decision.target, Duration{14'772'727'272});
    input.error_count = 20;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(5));
    input.error_count = kHuge;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(5));
    input.error_count = -3;
    EXPECT_EQ(classic_interval(quiet_config(), input).error_divisor, 1);
}

TEST(ClassicInterval, NegativePenaltyIsIgnoredOnceItWouldTurnTheSign) {
    ClassicConfig config = quiet_config();
    config.error_penalty = -2;
    ClassicInput input = half_stale();
    input.error_count = 1;
    EXPECT_EQ(classic_interval(config, input).target, from_seconds(32.5));
}

TEST(ClassicInterval, ReadyWorkStretchesUpToMax) {
    ClassicInput input = half_stale();
    input.ready_depth = 1;
    EXPECT_EQ(classic_interval(quiet_config(), input).queue_factor, 1);
    input.ready_depth = 2;
    EXPECT_DOUBLE_EQ(classic_interval(quiet_config(), input).queue_factor, 1.1);
    EXPECT_EQ(classic_interval(quiet_config(), input).target, from_seconds(35.75));
    input.ready_depth = kHuge;
    EXPECT_EQ(classic_interval(quiet_config(), input).target, seconds(60));
}

TEST(ClassicInterval, SeedIsEmaThenLastIntervalThenBase) {
    ClassicInput input = half_stale();
    EXPECT_EQ(classic_interval(quiet_config(), input).interval, from_seconds(23.5));
    input.last_interval = seconds(40);
    EXPECT_EQ(classic_interval(quiet_config(), input).interval, from_seconds(35.5));
    input.ema = seconds(20);
    EXPECT_EQ(classic_interval(quiet_config(), input).interval, from_seconds(27.5));
}

TEST(ClassicInterval, HealthyTaskEndsAtMax) {
    ClassicConfig config;
    config.jitter = 0;
    ClassicInput input;
    for (int i = 0; i < 60; ++i) input.ema = classic_interval(config, input).smoothed;
    EXPECT_NEAR(base::to_seconds(*input.ema), 300, 1e-6);
}

TEST(ClassicInterval, JitterIsNotRemembered) {
    ClassicConfig config = quiet_config();
    config.jitter = 0.05;
    ClassicInput input = half_stale();
    input.unit = 0;
    EXPECT_EQ(classic_interval(config, input).interval, from_seconds(22.325));
    EXPECT_EQ(classic_interval(config, input).smoothed, from_seconds(23.5));
    input.unit = 0.5;
    EXPECT_EQ(classic_interval(config, input).interval, from_seconds(23.5));
    input.unit = 0.75;
    EXPECT_NEAR(base::to_seconds(classic_interval(config, input).interval), 24.0875, 1e-8);
}

TEST(ClassicInterval, JitterIsOneSidedAtTheBounds) {
    ClassicConfig config = quiet_config();
    config.jitter = 0.05;
    ClassicInput input;
    input.ema = seconds(60);
    input.unit = 0.99;
    EXPECT_EQ(classic_interval(config, input).interval, seconds(60));
    input.staleness_score = 1;
    input.ema = seconds(5);
    input.unit = 0;
    EXPECT_EQ(classic_interval(config, input).interval, seconds(5));
}

TEST(ClassicInterval, BadRangeCollapsesToMin) {
    ClassicConfig config = quiet_config();
    config.min = seconds(10);
    for (const Duration max : {Duration{seconds(-5)}, Duration::zero(), Duration{seconds(9)}}) {
        config.max = max;
        EXPECT_EQ(classic_interval(config, half_stale()).interval, seconds(10));
    }
}

TEST(ClassicInterval, ZeroRangeFallsBackToBaseWithinTheRange) {
    ClassicConfig config;
    config.min = Duration::zero();
    config.max = Duration::zero();
    EXPECT_EQ(classic_interval(config, {}).interval, Duration::zero());
    // min 0 and everything stale: the smoothed value falls to 0, base stands in.
    config.max = seconds(60);
    ClassicInput input;
    input.staleness_score = 1;
    input.ema = Duration::zero();
    EXPECT_EQ(classic_interval(config, input).interval, seconds(10));
}

TEST(ClassicInterval, ExtremesNeitherOverflowNorLeaveTheRange) {
    ClassicConfig config;
    config.min = Duration{1};
    config.max = Duration::max();
    for (const double score : {0.0, 0.3, 1.0}) {
        for (const std::int64_t count : {std::int64_t{0}, std::int64_t{7}, kHuge}) {
            for (const double unit : {0.0, 0.999, 5.0, kNaN}) {
                const ClassicInput input{score, count, count, Duration::max(), std::nullopt, unit};
                const ClassicDecision decision = classic_interval(config, input);
                EXPECT_GE(decision.interval, config.min);
                EXPECT_LE(decision.interval, config.max);
                EXPECT_GE(decision.smoothed, config.min);
            }
        }
    }
}

TEST(ClampNumber, HoldsTheRange) {
    EXPECT_EQ(clamp_number(5, 0, 10), 5);
    EXPECT_EQ(clamp_number(15, 0, 10), 10);
    EXPECT_EQ(clamp_number(-1, 0, 10), 0);
    EXPECT_EQ(clamp_number(5, 7, 7), 7);
    EXPECT_EQ(clamp_number(kNaN, 2, 10), 2);
}

}  // namespace
}  // namespace pollux::schedule
