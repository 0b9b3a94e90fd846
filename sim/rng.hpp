// The simulator's only source of chance: a seeded stream (splitmix64) of eight bytes.
// Bit-exact everywhere: integers, multiplications, sqrt and base/math, never <random> or libm.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/math.hpp"

namespace pollux::sim {

class Rng {
  public:
    // Seeds may be neighbours: they are scattered first, so streams 1, 2, 3 have nothing in common.
    explicit Rng(std::uint64_t seed) : state_(scatter(seed)) {}

    std::uint64_t u64() {
        state_ += 0x9E3779B97F4A7C15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }

    // In the open interval (0, 1), so that its logarithm is finite and never zero. 52 bits and a
    // half, because 53 bits and a half would round up to 1.
    double uniform() {
        constexpr double kScale = 1.0 / 4503599627370496.0;  // 2^-52
        return (static_cast<double>(u64() >> 12) + 0.5) * kScale;
    }

    // An infinite mean gives infinity: what happens at rate 0 never happens.
    double exponential(double mean) { return -mean * base::fixed_log(uniform()); }

    double normal() {
        // Two statements: the order of evaluation inside one expression is the compiler's choice.
        const double radius = std::sqrt(-2.0 * base::fixed_log(uniform()));
        const double angle = 2.0 * std::numbers::pi * uniform();
        return radius * base::fixed_cos(angle);
    }

  private:
    static std::uint64_t scatter(std::uint64_t seed) {
        constexpr std::uint64_t kMultiplier = 0xD6E8FEB86659FD93ULL;
        std::uint64_t z = seed + 0x632BE59BD9B4E019ULL;
        for (int round = 0; round < 2; ++round) {
            z = (z ^ (z >> 32)) * kMultiplier;
            z = (z ^ (z >> 32)) * kMultiplier;
            z = (z ^ (z >> 32)) + 0x1234567ULL;
        }
        return z;
    }

    std::uint64_t state_;
};

}  // namespace pollux::sim
