#include "access/rate_limiter.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/test_random.hpp"

namespace pollux::access {
namespace {

using namespace std::chrono_literals;

constexpr base::BootTime kStart{3'600'000'000'000};

TEST(RateLimiter, EachClassHasItsNumbers) {
    const std::map<RateClass, std::pair<std::uint32_t, base::Duration>> expected = {
        {RateClass::kPublic, {1000, 1min}}, {RateClass::kGeneral, {500, 1min}},
        {RateClass::kAuth, {10, 1min}},     {RateClass::kConfigWrite, {30, 1min}},
        {RateClass::kExport, {5, 5min}},    {RateClass::kControl, {10, 1min}},
    };
    for (const auto& [rate_class, numbers] : expected) {
        RateLimiter limiter({1, 2});
        const RateClient client{.address = "192.0.2.1"};
        for (std::uint32_t i = 0; i < numbers.first; ++i) {
            const RateDecision decision = limiter.admit(rate_class, client, kStart);
            ASSERT_TRUE(decision.admitted);
            ASSERT_EQ(decision.limit, numbers.first);
            ASSERT_EQ(decision.remaining, numbers.first - i - 1);
        }
        const RateDecision refused = limiter.admit(rate_class, client, kStart);
        EXPECT_FALSE(refused.admitted);
        EXPECT_EQ(refused.remaining, 0u);
        EXPECT_GE(refused.retry_after_seconds, numbers.second / 1s);
        EXPECT_LE(refused.retry_after_seconds, numbers.second / 1s * 61 / 60);
        EXPECT_LE(refused.reset, numbers.second * 61 / 60);
        const auto later = kStart + std::chrono::seconds(refused.retry_after_seconds);
        EXPECT_FALSE(limiter.admit(rate_class, client, later - 2s).admitted);
        EXPECT_TRUE(limiter.admit(rate_class, client, later).admitted);
    }
    RateLimiter limiter({1, 2});
    EXPECT_FALSE(limiter.admit(RateClass::kNone, {.address = "a"}, kStart).limited);
}

TEST(RateLimiter, CountsByPrincipalElseByAddress) {
    RateLimiter limiter({1, 2});
    const auto control = [&](std::string_view principal, std::string_view address) {
        return limiter
            .admit(RateClass::kControl, {.principal = principal, .address = address}, kStart)
            .admitted;
    };
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(control("user:a", "addr" + std::to_string(i)));
    EXPECT_FALSE(control("user:a", "elsewhere"));
    EXPECT_TRUE(control("user:b", "addr0"));
    EXPECT_TRUE(control("", "user:a"));
    // A name that looks like an address does not share its window.
    for (int i = 0; i < 10; ++i) control("x", "");
    EXPECT_TRUE(control("", "x"));
}

TEST(RateLimiter, LoginsCountByAddressWhoeverIsNamed) {
    RateLimiter limiter({1, 2});
    for (int i = 0; i < 10; ++i) {
        const std::string name = "user:" + std::to_string(i);
        EXPECT_TRUE(
            limiter.admit(RateClass::kAuth, {.principal = name, .address = "a"}, kStart).admitted);
    }
    EXPECT_FALSE(
        limiter.admit(RateClass::kAuth, {.principal = "user:x", .address = "a"}, kStart).admitted);
}

TEST(RateLimiter, DirectLoopbackIsFreeButForLoginsAndControls) {
    for (std::size_t i = 0; i < kRateClasses; ++i) {
        const auto rate_class = static_cast<RateClass>(i);
        RateLimiter limiter({1, 2});
        const RateClient client{.address = "127.0.0.1", .direct_loopback = true};
        bool refused = false;
        for (int n = 0; n < 2000; ++n) {
            refused = refused || !limiter.admit(rate_class, client, kStart).admitted;
        }
        EXPECT_EQ(refused, rate_class == RateClass::kAuth || rate_class == RateClass::kControl);
    }
}

TEST(RateLimiter, NoWindowEverHoldsMoreThanTheLimit) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        base::TestRandom random(seed);
        RateLimiter limiter({seed, 2});
        std::deque<base::BootTime> admitted;
        base::BootTime now = kStart;
        std::size_t total = 0;
        for (int i = 0; i < 2000; ++i) {
            now += std::chrono::milliseconds(random.below(random.one_in(50) ? 40'000 : 3000));
            if (!limiter.admit(RateClass::kControl, {.address = "a"}, now).admitted) continue;
            ++total;
            admitted.push_back(now);
            while (now - admitted.front() >= 1min) admitted.pop_front();
            ASSERT_LE(admitted.size(), 10u) << "seed " << seed;
        }
        EXPECT_GT(total, 300u);
    }
}

TEST(RateLimiter, WorksFromTheMomentOfBoot) {
    RateLimiter limiter({1, 2});
    const RateClient client{.address = "a"};
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(limiter.admit(RateClass::kControl, client, base::BootTime{}).admitted);
    }
    const RateDecision refused = limiter.admit(RateClass::kControl, client, base::BootTime{});
    EXPECT_FALSE(refused.admitted);
    EXPECT_EQ(refused.retry_after_seconds, 61);
    EXPECT_TRUE(limiter.admit(RateClass::kControl, client, base::BootTime{} + 61s).admitted);
}

TEST(RateLimiter, ManyKeysNeitherGrowWithoutBoundNorGetFreshWindows) {
    RateLimiter limiter({1, 2}, 100);
    const auto control = [&](const std::string& address, base::BootTime now) {
        return limiter.admit(RateClass::kControl, {.address = address}, now).admitted;
    };
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(control("evil", kStart));
    int admitted = 0;
    for (int i = 0; i < 100'000; ++i) admitted += control("a" + std::to_string(i), kStart) ? 1 : 0;
    EXPECT_EQ(limiter.size(), 100u);
    EXPECT_LE(admitted, 99 + 256 * 10);
    EXPECT_FALSE(control("evil", kStart));
    EXPECT_TRUE(control("evil", kStart + 2min));
    EXPECT_TRUE(control("new", kStart + 2min));
    EXPECT_LE(limiter.size(), 2u);
}

}  // namespace
}  // namespace pollux::access
