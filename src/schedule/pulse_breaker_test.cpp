#include "schedule/pulse_breaker.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pollux::schedule {
namespace {

using base::BootTime;
using base::Duration;
using std::chrono::hours;
using std::chrono::seconds;

BootTime at(std::int64_t second) { return BootTime{} + seconds(second); }

PulseBreaker tripped(const PulseBreakerConfig& config = {}) {
    PulseBreaker breaker(config);
    for (std::int64_t i = 0; i < breaker.config().open_threshold; ++i) breaker.failure(at(0));
    return breaker;
}

TEST(PulseBreaker, ConfigDefaultsReplaceNonsense) {
    const PulseBreakerConfig nonsense{.open_threshold = 0,
                                      .retry_interval = seconds(-1),
                                      .max_delay = Duration::zero(),
                                      .half_open_window = seconds(-30)};
    EXPECT_EQ(normalised(nonsense), PulseBreakerConfig{});
    const PulseBreakerConfig fine{1, seconds(2), seconds(3), seconds(4)};
    EXPECT_EQ(normalised(fine), fine);
}

TEST(PulseBreaker, ConfigOfTheProfile) {
    EXPECT_EQ(pulse_breaker_config(false),
              (PulseBreakerConfig{3, seconds(5), seconds(300), seconds(30)}));
    EXPECT_EQ(pulse_breaker_config(true),
              (PulseBreakerConfig{3, seconds(2), seconds(10), seconds(2)}));
}

TEST(PulseBreaker, StartsClosed) {
    PulseBreaker breaker(PulseBreakerConfig{}, at(7));
    EXPECT_EQ(breaker.state(), BreakerState::kClosed);
    EXPECT_EQ(breaker.failures(), 0);
    EXPECT_EQ(breaker.retry_at(), std::nullopt);
    EXPECT_EQ(breaker.since(), at(7));
    EXPECT_EQ(breaker.last_transition(), at(7));
    EXPECT_EQ(breaker.retry_interval(), seconds(5));
    EXPECT_TRUE(breaker.allow(at(8)));
}

TEST(PulseBreaker, OpensOnTheThirdFailureInARow) {
    PulseBreaker breaker;
    breaker.failure(at(0));
    breaker.failure(at(1));
    breaker.success(at(2));
    breaker.failure(at(3));
    breaker.failure(at(4));
    EXPECT_EQ(breaker.state(), BreakerState::kClosed);
    breaker.failure(at(5));
    EXPECT_EQ(breaker.state(), BreakerState::kOpen);
    EXPECT_EQ(breaker.since(), at(5));
    EXPECT_EQ(breaker.retry_at(), at(45));
    EXPECT_FALSE(breaker.allow(at(44)));
}

TEST(PulseBreaker, OneProbeAfterTheDelay) {
    PulseBreaker breaker = tripped();
    EXPECT_FALSE(breaker.allow(at(39)));
    EXPECT_TRUE(breaker.allow(at(40)));
    EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
    EXPECT_EQ(breaker.since(), at(40));
    EXPECT_EQ(breaker.retry_at(), at(70));
    EXPECT_FALSE(breaker.allow(at(69)));
    EXPECT_TRUE(breaker.allow(at(70))) << "the first probe never reported";
    EXPECT_FALSE(breaker.allow(at(99)));
    EXPECT_EQ(breaker.since(), at(40));
}

TEST(PulseBreaker, FailureWhileOpenOnlyCounts) {
    PulseBreaker breaker = tripped();
    breaker.failure(at(10));
    EXPECT_EQ(breaker.failures(), 4);
    EXPECT_EQ(breaker.retry_at(), at(40));
    EXPECT_EQ(breaker.memory().last_attempt, at(10));
}

TEST(PulseBreaker, DelayGrowsByTheShiftAndIsForgottenOnSuccess) {
    PulseBreaker breaker = tripped();
    EXPECT_EQ(breaker.retry_interval(), seconds(40));
    EXPECT_TRUE(breaker.allow(at(40)));
    breaker.failure(at(41));
    EXPECT_EQ(breaker.state(), BreakerState::kOpen);
    EXPECT_EQ(breaker.retry_interval(), seconds(300));
    EXPECT_EQ(breaker.retry_at(), at(341));
    EXPECT_TRUE(breaker.allow(at(341)));
    breaker.success(at(342));
    EXPECT_EQ(breaker.state(), BreakerState::kClosed);
    EXPECT_EQ(breaker.failures(), 0);
    EXPECT_EQ(breaker.retry_interval(), seconds(5));
    EXPECT_EQ(breaker.since(), at(342));
    EXPECT_EQ(breaker.last_transition(), at(342));
}

TEST(PulseBreaker, SuccessWhileClosedIsNoTransition) {
    PulseBreaker breaker(PulseBreakerConfig{}, at(1));
    breaker.failure(at(2));
    breaker.success(at(3));
    EXPECT_EQ(breaker.failures(), 0);
    EXPECT_EQ(breaker.last_transition(), at(1));
}

TEST(PulseBreaker, DelayHoldsThroughAThousandFailures) {
    for (const bool fast : {false, true}) {
        const PulseBreakerConfig config = pulse_breaker_config(fast);
        PulseBreaker breaker = tripped(config);
        BootTime now = at(0);
        for (int i = 0; i < 1000; ++i) {
            now = *breaker.retry_at();
            ASSERT_TRUE(breaker.allow(now));
            breaker.failure(now);
            ASSERT_EQ(breaker.retry_interval(), config.max_delay)
                << "after " << i + 4 << " failures";
            ASSERT_EQ(breaker.retry_at(), now + config.max_delay);
        }
    }
}

TEST(PulseBreaker, ShiftSaturatesAtTheLargestDelays) {
    PulseBreakerConfig config;
    config.max_delay = Duration::max();
    PulseBreakerMemory memory;
    memory.state = BreakerState::kHalfOpen;
    memory.failures = std::numeric_limits<std::int64_t>::max();
    PulseBreaker breaker(config, memory);
    breaker.failure(at(1));
    EXPECT_EQ(breaker.failures(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(breaker.retry_interval(), Duration::max());
    EXPECT_EQ(breaker.retry_at(), BootTime::max());

    memory.failures = 61;  // becomes 62: the last shift that is really made
    memory.retry_interval = Duration{1};
    PulseBreaker small(config, memory);
    small.failure(at(1));
    EXPECT_EQ(small.retry_interval(), Duration{std::int64_t{1} << 62});
}

TEST(PulseBreaker, LimitBelowTheFirstDelayWins) {
    PulseBreakerConfig config;
    config.max_delay = seconds(3);
    EXPECT_EQ(tripped(config).retry_interval(), seconds(3));
}

TEST(PulseBreaker, GoesOnFromItsMemory) {
    PulseBreaker before = tripped();
    PulseBreaker after(before.config(), before.memory());
    EXPECT_EQ(after, before);
    EXPECT_EQ(after.allow(at(40)), before.allow(at(40)));
    EXPECT_EQ(after, before);
}

TEST(PulseBreaker, MemoryIsRepaired) {
    PulseBreakerMemory memory;
    memory.failures = -4;
    EXPECT_EQ(PulseBreaker(PulseBreakerConfig{}, memory).failures(), 0);
    EXPECT_EQ(PulseBreaker(PulseBreakerConfig{}, memory).retry_interval(), seconds(5));
    memory.retry_interval = hours(9);
    EXPECT_EQ(PulseBreaker(PulseBreakerConfig{}, memory).retry_interval(), seconds(300));
}

TEST(PulseBreaker, UnknownStateAllows) {
    PulseBreakerMemory memory;
    memory.state = static_cast<BreakerState>(77);
    PulseBreaker breaker(PulseBreakerConfig{}, memory);
    EXPECT_TRUE(breaker.allow(at(0)));
    EXPECT_EQ(breaker.retry_at(), std::nullopt);
    breaker.success(at(1));
    EXPECT_EQ(breaker.state(), BreakerState::kClosed);
}

TEST(PulseBreaker, TimeThatGoesBackNeverOpensTheGate) {
    PulseBreaker breaker(PulseBreakerConfig{}, at(0));
    for (int i = 0; i < 3; ++i) breaker.failure(at(1000));
    EXPECT_FALSE(breaker.allow(at(0)));
    EXPECT_FALSE(breaker.allow(BootTime::min()));
}

TEST(BreakerState, Names) {
    EXPECT_EQ(to_string(BreakerState::kClosed), "closed");
    EXPECT_EQ(to_string(BreakerState::kOpen), "open");
    EXPECT_EQ(to_string(BreakerState::kHalfOpen), "half_open");
}

}  // namespace
}  // namespace pollux::schedule
