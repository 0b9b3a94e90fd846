#include "schedule/backoff.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pollux::schedule {
namespace {

using base::Duration;
using base::from_seconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kManyAttempts = std::numeric_limits<std::int64_t>::max();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

BackoffConfig plain() {
    return {.initial = seconds(5), .multiplier = 2, .jitter = 0, .max = seconds(600)};
}

TEST(Backoff, DoublesUpToTheLimit) {
    const int expected[] = {5, 10, 20, 40, 80, 160, 320, 600, 600};
    for (int attempt = 0; attempt < 9; ++attempt) {
        EXPECT_EQ(backoff_delay(plain(), attempt, 0.5), seconds(expected[attempt])) << attempt;
    }
}

TEST(Backoff, OtherMultipliers) {
    BackoffConfig config = plain();
    config.multiplier = 1.5;
    EXPECT_EQ(backoff_delay(config, 3, 0.5), from_seconds(16.875));
    config.multiplier = 3;
    EXPECT_EQ(backoff_delay(config, 4, 0.5), seconds(405));
}

TEST(Backoff, JitterGoesBothWaysAndTheLimitComesLast) {
    BackoffConfig config = plain();
    config.jitter = 0.2;
    EXPECT_EQ(backoff_delay(config, 0, 0), seconds(4));
    EXPECT_EQ(backoff_delay(config, 0, 0.5), seconds(5));
    EXPECT_EQ(backoff_delay(config, 0, 1), seconds(6));
    config.max = seconds(5);
    EXPECT_EQ(backoff_delay(config, 0, 1), seconds(5));
    EXPECT_EQ(backoff_delay(config, 0, 0), seconds(4));
}

TEST(Backoff, NonsenseIsReplaced) {
    EXPECT_EQ(backoff_delay(plain(), -3, 0.5), seconds(5));
    BackoffConfig config = plain();
    config.initial = Duration::zero();
    EXPECT_EQ(backoff_delay(config, 0, 0.5), seconds(2));
    config = plain();
    for (const double multiplier : {1.0, 0.5, -2.0, kNaN}) {
        config.multiplier = multiplier;
        EXPECT_EQ(backoff_delay(config, 1, 0.5), seconds(10)) << multiplier;
    }
    config = plain();
    config.jitter = 9;
    EXPECT_EQ(backoff_delay(config, 0, 1), seconds(10));
    config.jitter = -1;
    EXPECT_EQ(backoff_delay(config, 0, 1), seconds(5));
    config.jitter = 0.2;
    EXPECT_EQ(backoff_delay(config, 0, -4), seconds(4));
    EXPECT_EQ(backoff_delay(config, 0, 4), seconds(6));
    EXPECT_EQ(backoff_delay(config, 0, kNaN), seconds(4));
}

TEST(Backoff, NeverZero) {
    BackoffConfig config = plain();
    config.jitter = 1;
    EXPECT_EQ(backoff_delay(config, 0, 0), kBackoffFallback);
    config.max = seconds(3);
    EXPECT_EQ(backoff_delay(config, 0, 0), seconds(3));
}

TEST(Backoff, SaturatesForAnyAttempt) {
    BackoffConfig config = plain();
    EXPECT_EQ(backoff_delay(config, kManyAttempts, 0.5), seconds(600));
    config.max = Duration::zero();
    EXPECT_EQ(backoff_delay(config, kManyAttempts, 0.5), Duration::max());
    EXPECT_EQ(backoff_delay(config, 62, 0.5), Duration::max());
    config.multiplier = 1e300;
    EXPECT_EQ(backoff_delay(config, 3, 0.5), Duration::max());
    // A multiplier a hair above 1 needs 10^16 steps to reach any limit; squaring needs 63.
    config.multiplier = 1.0000000000000002;
    EXPECT_EQ(backoff_delay(config, kManyAttempts, 0.5), Duration::max());
}

TEST(Backoff, GrowsMonotonically) {
    BackoffConfig config = plain();
    config.max = Duration::zero();
    config.multiplier = 1.3;
    Duration previous{};
    for (std::int64_t attempt = 0; attempt < 300; ++attempt) {
        const Duration delay = backoff_delay(config, attempt, 0.5);
        EXPECT_GE(delay, previous);
        previous = delay;
    }
    EXPECT_EQ(previous, Duration::max());
}

TEST(Backoff, PulseProfile) {
    const BackoffConfig normal = pulse_backoff(false);
    EXPECT_EQ(normal, (BackoffConfig{seconds(5), 2, 0.2, seconds(300)}));
    EXPECT_EQ(backoff_delay(normal, 3, 0.5), seconds(40));

    const BackoffConfig fast = pulse_backoff(true);
    EXPECT_EQ(fast, (BackoffConfig{milliseconds(750), 2, 0.2, seconds(4)}));
    EXPECT_EQ(backoff_delay(fast, 0, 0.5), milliseconds(750));
    EXPECT_EQ(backoff_delay(fast, 3, 0.5), seconds(4));
}

}  // namespace
}  // namespace pollux::schedule
