#include "base/token_bucket.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/test_random.hpp"

namespace pollux::base {
namespace {

using namespace std::chrono_literals;

constexpr BootTime kStart{1'000'000'000'000};

struct Take {
    BootTime at;
    std::int64_t tokens;
};

// Every window that begins and ends with a take; no other window can be worse.
void expect_windows_hold(const std::vector<Take>& takes, double rate, double burst) {
    for (std::size_t first = 0; first < takes.size(); ++first) {
        double taken = 0.0;
        for (std::size_t last = first; last < takes.size(); ++last) {
            taken += static_cast<double>(takes[last].tokens);
            const double window = to_seconds(takes[last].at - takes[first].at);
            ASSERT_LE(taken, (rate * window + burst) * (1.0 + 1e-12))
                << "rate " << rate << ", burst " << burst << ", window " << window;
        }
    }
}

TEST(TokenBucket, DefaultIsUnlimited) {
    TokenBucket bucket;
    EXPECT_TRUE(bucket.unlimited());
    EXPECT_EQ(bucket.rate(), 0.0);
    EXPECT_EQ(bucket.burst(), 0.0);
    for (int i = 0; i < 1'000; ++i) {
        ASSERT_TRUE(bucket.open(kStart, 1'000'000));
        bucket.take(kStart, 1'000'000);
    }
    EXPECT_LE(bucket.opens_at(), kStart);
}

TEST(TokenBucket, GivesItsBurstAtOnceAndThenItsRate) {
    TokenBucket bucket = TokenBucket::per_second(10.0, 3.0);
    EXPECT_FALSE(bucket.unlimited());
    EXPECT_EQ(bucket.rate(), 10.0);
    EXPECT_EQ(bucket.burst(), 3.0);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(bucket.open(kStart));
        bucket.take(kStart);
    }
    EXPECT_FALSE(bucket.open(kStart));
    EXPECT_EQ(bucket.opens_at(), kStart + 100ms);
    EXPECT_FALSE(bucket.open(kStart + 100ms - 1ns));
    EXPECT_TRUE(bucket.open(kStart + 100ms));
    EXPECT_EQ(bucket.opens_at(3), kStart + 300ms);
}

TEST(TokenBucket, IsFullAtAnyFirstTime) {
    for (const BootTime now : {BootTime::min(), BootTime{-5}, BootTime{0}, kStart}) {
        EXPECT_TRUE(TokenBucket::per_second(0.001, 5.0).open(now, 5));
    }
}

TEST(TokenBucket, DefaultBurstIsHalfASecondButAtLeastOne) {
    EXPECT_EQ(TokenBucket::with_default_burst(100.0).burst(), 50.0);
    EXPECT_EQ(TokenBucket::with_default_burst(0.1).burst(), 1.0);
}

TEST(TokenBucket, BatchesAboveTheBurstNeverOpen) {
    const TokenBucket bucket = TokenBucket::per_second(10.0, 3.5);
    EXPECT_TRUE(bucket.open(kStart, 3));
    EXPECT_FALSE(bucket.open(kStart, 4));
    EXPECT_FALSE(bucket.open(BootTime::max(), 4));
    EXPECT_EQ(bucket.opens_at(4), BootTime::max());
}

TEST(TokenBucket, ZeroTokensAreFree) {
    TokenBucket bucket = TokenBucket::per_second(1.0, 1.0);
    bucket.take(kStart);
    const BootTime before = bucket.opens_at();
    bucket.take(kStart, 0);
    EXPECT_EQ(bucket.opens_at(), before);
    EXPECT_TRUE(bucket.open(kStart, 0));
}

TEST(TokenBucket, TakingWhileClosedIsADebt) {
    TokenBucket bucket = TokenBucket::per_second(1.0, 1.0);
    bucket.take(kStart, 10);
    EXPECT_EQ(bucket.opens_at(), kStart + 10s);
}

TEST(TokenBucket, CloseUntilShutsLimitedAndUnlimited) {
    for (TokenBucket bucket : {TokenBucket(), TokenBucket::per_second(10.0, 3.0)}) {
        bucket.close_until(kStart + 30s);
        bucket.close_until(kStart + 20s);
        EXPECT_FALSE(bucket.open(kStart + 30s - 1ns));
        EXPECT_EQ(bucket.opens_at(), kStart + 30s);
        EXPECT_TRUE(bucket.open(kStart + 30s));
    }
}

TEST(TokenBucket, ClosedForeverNeverOpens) {
    TokenBucket bucket;
    bucket.close_until(BootTime::max());
    EXPECT_FALSE(bucket.open(BootTime::max()));
}

TEST(TokenBucket, ExtremeRatesStaySane) {
    TokenBucket slow = TokenBucket::per_second(1e-12, 2.0);  // one token in 30,000 years
    EXPECT_TRUE(slow.open(kStart));
    slow.take(kStart);
    EXPECT_EQ(slow.opens_at(), BootTime::max());
    EXPECT_FALSE(slow.open(BootTime::max()));

    TokenBucket fast = TokenBucket::per_second(1e12, 1.0);  // at most one per nanosecond
    fast.take(kStart);
    EXPECT_EQ(fast.opens_at(), kStart + 1ns);
}

TEST(TokenBucket, WindowsHoldForRandomUse) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        TestRandom random(seed);
        const double rate = random.one_in(3) ? 3.0 : random.between(0.01, 5'000.0);
        const double burst = random.one_in(3) ? 1.0 : random.between(1.0, 20.0);
        TokenBucket bucket = TokenBucket::per_second(rate, burst);
        BootTime now = kStart;
        std::vector<Take> takes;
        for (int i = 0; i < 300; ++i) {
            const auto tokens = static_cast<std::int64_t>(1 + random.below(2));
            if (bucket.open(now, tokens)) {
                bucket.take(now, tokens);
                takes.push_back({now, tokens});
            } else if (random.one_in(4) && bucket.opens_at(tokens) != BootTime::max()) {
                now = std::max(now, bucket.opens_at(tokens));
            } else {
                now += from_seconds(random.between(0.0, 2.0 / rate));
            }
        }
        expect_windows_hold(takes, rate, burst);
    }
}

TEST(TokenBucket, OpensExactlyWhenItSays) {
    TestRandom random(42);
    for (int i = 0; i < 2'000; ++i) {
        TokenBucket bucket = TokenBucket::per_second(random.between(0.1, 1e5), 4.0);
        const auto taken = static_cast<std::int64_t>(1 + random.below(9));
        const auto wanted = static_cast<std::int64_t>(1 + random.below(4));
        bucket.take(kStart, taken);
        const BootTime at = bucket.opens_at(wanted);
        ASSERT_TRUE(bucket.open(at, wanted));
        ASSERT_FALSE(bucket.open(at - 1ns, wanted));
    }
}

TEST(TokenBucket, MeetsItsRateWhenAlwaysBusy) {
    TokenBucket bucket = TokenBucket::per_second(700.0, 1.0);
    BootTime now = kStart;
    int taken = 0;
    for (; now < kStart + 10s; now = bucket.opens_at()) {
        bucket.take(now);
        ++taken;
    }
    EXPECT_NEAR(taken, 7'000, 1);
}

TEST(TokenBucket, ChangingTheRateKeepsWhatWasSpent) {
    TokenBucket bucket = TokenBucket::per_second(1.0, 5.0);
    bucket.take(kStart, 5);
    bucket.set_rate(kStart, 100.0, 5.0);
    EXPECT_EQ(bucket.rate(), 100.0);
    EXPECT_FALSE(bucket.open(kStart));
    EXPECT_EQ(bucket.opens_at(), kStart + 10ms);
    EXPECT_EQ(bucket.opens_at(5), kStart + 50ms);

    // A larger burst adds only the difference, a smaller one leaves a debt.
    bucket.set_rate(kStart, 100.0, 7.0);
    EXPECT_TRUE(bucket.open(kStart, 2));
    EXPECT_FALSE(bucket.open(kStart, 3));
    bucket.set_rate(kStart, 100.0, 2.0);
    EXPECT_EQ(bucket.opens_at(), kStart + 40ms);
}

TEST(TokenBucket, ChangingTheRateOfAnUntouchedOrRestedBucketLeavesItFull) {
    TokenBucket untouched = TokenBucket::per_second(1.0, 5.0);
    untouched.set_rate(kStart, 2.0, 8.0);
    EXPECT_TRUE(untouched.open(kStart, 8));

    TokenBucket rested = TokenBucket::per_second(1.0, 5.0);
    rested.take(kStart, 5);
    rested.set_rate(kStart + 5s, 2.0, 8.0);
    EXPECT_TRUE(rested.open(kStart + 5s, 8));
}

TEST(TokenBucket, ChangingTheRateKeepsRetryAfter) {
    TokenBucket bucket = TokenBucket::per_second(1.0, 5.0);
    bucket.close_until(kStart + 60s);
    bucket.set_rate(kStart, 100.0, 5.0);
    EXPECT_EQ(bucket.opens_at(), kStart + 60s);
}

TEST(TokenBucket, FromUnlimitedToLimited) {
    TokenBucket fresh;
    fresh.set_rate(kStart, 10.0, 2.0);
    EXPECT_TRUE(fresh.open(kStart, 2)) << "never used: starts full";

    TokenBucket used;
    used.take(kStart);
    used.set_rate(kStart, 10.0, 2.0);
    EXPECT_EQ(used.opens_at(), kStart + 100ms) << "in use: starts empty";
    EXPECT_EQ(used.opens_at(2), kStart + 200ms);
}

TEST(TokenBucket, TogglingTheRateEarnsNothing) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        TestRandom random(seed);
        const double rate = random.between(1.0, 500.0);
        TokenBucket bucket = TokenBucket::per_second(rate, 10.0);
        BootTime now = kStart;
        std::vector<Take> takes;
        for (int i = 0; i < 300; ++i) {
            const bool slower = random.one_in(2);
            bucket.set_rate(now, slower ? rate / 7 : rate, slower ? 4.0 : 10.0);
            while (bucket.open(now)) {
                bucket.take(now);
                takes.push_back({now, 1});
            }
            now += from_seconds(random.between(0.0, 0.5 / rate));
        }
        expect_windows_hold(takes, rate, 10.0);
    }
}

TEST(TokenBucketDeathTest, RefusesSenselessNumbers) {
    EXPECT_DEATH(TokenBucket::per_second(0.0, 1.0), "a rate is positive");
    EXPECT_DEATH(TokenBucket::per_second(-1.0, 1.0), "a rate is positive");
    EXPECT_DEATH(TokenBucket::per_second(std::numeric_limits<double>::quiet_NaN(), 1.0), "rate");
    EXPECT_DEATH(TokenBucket::per_second(std::numeric_limits<double>::infinity(), 1.0), "rate");
    EXPECT_DEATH(TokenBucket::per_second(1.0, 0.5), "a burst below 1");
    TokenBucket bucket;
    EXPECT_DEATH(bucket.take(kStart, -1), "tokens >= 0");
    EXPECT_DEATH(static_cast<void>(bucket.open(kStart, -1)), "tokens >= 0");
}

}  // namespace
}  // namespace pollux::base
