// What is believed about how often one task's answer changes: a probability for each of sixteen
// rates, from once a day to once in 2.6 seconds, each twice the one before.
//
// Why a grid: a rate wrong by a factor of two costs 6 % of delay, so sixteen octaves are enough;
// and unlike a single running estimate the grid follows bursts, because probability can jump from
// the calm levels to the fast ones in a single answer. 56 bytes, one exponential per answer.
#pragma once

#include <array>
#include <cstdint>

#include "model/task_record.hpp"

namespace pollux::schedule {

inline constexpr std::size_t kRateLevels = 16;
inline constexpr double kSlowestRate = 1.0 / 86400.0;  // changes per second at level 0

// Shared by the tasks of one pool: where tasks of this kind tend to be.
struct RatePrior {
    std::array<double, kRateLevels> share;
    RatePrior() { share.fill(1.0 / kRateLevels); }
};

struct RateBelief {
    std::array<std::uint16_t, kRateLevels> probability;  // bf16
    std::array<std::uint8_t, kRateLevels> occupancy;     // long-run share of each level, of 255
    float age_s = 0;                                     // of learning
    float memory = 0;  // classic: smoothed interval in seconds; aimd: shape

    RateBelief();
};

static_assert(sizeof(RateBelief) == 56);

struct RateEvidence {
    double elapsed_s = 0;  // since the previous answer
    bool changed = false;
    std::uint64_t dither = 0;  // any hash: rounding of small steps must not lose them
    double members = 1;        // of the pool, for the speed at which its prior moves
};

// Takes in one answer and returns the expected rate (changes per second).
double learn(RateBelief& belief, RatePrior& prior, const RateEvidence& evidence);

double expected_rate(const RateBelief& belief);

model::LearnedRecord to_record(const RateBelief& belief);
RateBelief from_record(const model::LearnedRecord& record);

}  // namespace pollux::schedule
