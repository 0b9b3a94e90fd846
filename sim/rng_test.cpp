#include "sim/rng.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

namespace pollux::sim {
namespace {

constexpr int kDraws = 1'000'000;

struct Moments {
    double mean = 0.0;
    double variance = 0.0;
};

template <typename Draw>
Moments moments_of(Draw draw) {
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
        const double x = draw();
        sum += x;
        squares += x * x;
    }
    const double mean = sum / kDraws;
    return {mean, squares / kDraws - mean * mean};
}

TEST(Rng, SameSeedSameStream) {
    Rng one(42);
    Rng other(42);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(one.u64(), other.u64());
}

// The first numbers of neighbouring seeds are as different as those of any other two.
TEST(Rng, NeighbouringSeedsHaveNothingInCommon) {
    std::set<std::uint64_t> seen;
    int ones = 0;
    constexpr std::uint64_t kSeeds = 10'000;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const std::uint64_t first = Rng(seed).u64();
        seen.insert(first);
        ones += __builtin_popcountll(first ^ Rng(seed + 1).u64());
    }
    EXPECT_EQ(seen.size(), kSeeds);
    EXPECT_NEAR(static_cast<double>(ones) / kSeeds, 32.0, 0.2);
}

TEST(Rng, UniformIsOpenAndEven) {
    Rng rng(1);
    double lowest = 1.0;
    double highest = 0.0;
    const Moments m = moments_of([&] {
        const double x = rng.uniform();
        lowest = std::min(lowest, x);
        highest = std::max(highest, x);
        return x;
    });
    EXPECT_GT(lowest, 0.0);
    EXPECT_LT(highest, 1.0);
    EXPECT_NEAR(m.mean, 0.5, 0.002);
    EXPECT_NEAR(m.variance, 1.0 / 12.0, 0.001);
}

TEST(Rng, ExponentialHasItsMeanAndVariance) {
    Rng rng(2);
    const Moments m = moments_of([&] { return rng.exponential(30.0); });
    EXPECT_NEAR(m.mean, 30.0, 0.15);
    EXPECT_NEAR(m.variance, 900.0, 10.0);
}

TEST(Rng, RateZeroNeverHappens) { EXPECT_TRUE(std::isinf(Rng(3).exponential(1.0 / 0.0))); }

TEST(Rng, NormalIsStandard) {
    Rng rng(4);
    int beyond_two = 0;
    const Moments m = moments_of([&] {
        const double x = rng.normal();
        if (std::abs(x) > 2.0) ++beyond_two;
        return x;
    });
    EXPECT_NEAR(m.mean, 0.0, 0.005);
    EXPECT_NEAR(m.variance, 1.0, 0.01);
    EXPECT_NEAR(static_cast<double>(beyond_two) / kDraws, 0.0455, 0.001);
}

}  // namespace
}  // namespace pollux::sim
