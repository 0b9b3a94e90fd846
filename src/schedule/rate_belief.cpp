#include "schedule/rate_belief.hpp"

#include <algorithm>
#include <bit>

#include "base/math.hpp"

namespace pollux::schedule {
namespace {

using Levels = std::array<float, kRateLevels>;

constexpr double kLongestStay = 43200;      // s: every level is left at least this often
constexpr double kChangesPerStay = 10;      // ... and after about ten changes of its own
constexpr float kDiffusion = 1.0F / 86400;  // per second, to each neighbour: slow drifts
constexpr double kOccupancyMemory = 21600;  // s
constexpr double kOccupancyWarmup = 600;    // s: a young task learns where it lives faster
constexpr float kPoolShare = 0.1F;          // of a jump's destination decided by the pool
constexpr float kFloor = 1e-9F;             // no level is ever impossible

constexpr Levels make_rates() {
    Levels rates{};
    double rate = kSlowestRate;
    for (auto& one : rates) {
        one = static_cast<float>(rate);
        rate *= 2;
    }
    return rates;
}

constexpr Levels make_leave_rates() {
    Levels rates{};
    double rate = kSlowestRate;
    for (auto& one : rates) {
        one = static_cast<float>(std::max(1.0 / kLongestStay, rate / kChangesPerStay));
        rate *= 2;
    }
    return rates;
}

constexpr Levels kRates = make_rates();
constexpr Levels kLeaveRates = make_leave_rates();

std::uint16_t to_bf16(float value) {
    return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) + 0x8000U) >> 16U);
}

float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

// In four lanes, so that the processor need not wait for each addition before the next; always in
// this order, so that the result is the same everywhere.
template <class Number>
Number sum_of(const std::array<Number, kRateLevels>& values) {
    std::array<Number, 4> lanes{};
    for (std::size_t k = 0; k < kRateLevels; k += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] += values[k + lane];
    }
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

double rate_of(const Levels& p) {
    std::array<double, kRateLevels> parts;
    for (std::size_t k = 0; k < kRateLevels; ++k) {
        parts[k] = static_cast<double>(p[k]) * static_cast<double>(kRates[k]);
    }
    return sum_of(parts);
}

Levels unpack(const RateBelief& belief) {
    Levels p;
    for (std::size_t k = 0; k < kRateLevels; ++k) p[k] = from_bf16(belief.probability[k]);
    const float scale = 1.0F / sum_of(p);
    for (auto& one : p) one *= scale;
    return p;
}

// Between two answers the true rate may have moved: jumps to where this task (and a little, its
// pool) usually is, and a slow diffusion to the neighbours.
Levels predict(const Levels& p, const RateBelief& belief, const RatePrior& prior, float elapsed) {
    Levels occupancy;
    for (std::size_t k = 0; k < kRateLevels; ++k) {
        occupancy[k] = static_cast<float>(belief.occupancy[k]);
    }
    const float own = (1.0F - kPoolShare) / std::max(sum_of(occupancy), 1.0F);
    Levels destination;
    Levels stay;
    Levels leave;
    for (std::size_t k = 0; k < kRateLevels; ++k) {
        destination[k] =
            (own * occupancy[k] + kPoolShare * static_cast<float>(prior.share[k])) * kLeaveRates[k];
        const float step = kLeaveRates[k] * elapsed;
        leave[k] = p[k] * (step / (1.0F + step));
        stay[k] = p[k] - leave[k];
    }
    const float arriving = sum_of(leave) / sum_of(destination);
    for (std::size_t k = 0; k < kRateLevels; ++k) stay[k] += arriving * destination[k];
    const float z = std::min(0.2F, kDiffusion * elapsed);
    Levels next;
    for (std::size_t k = 0; k < kRateLevels; ++k) {
        const float below = k > 0 ? stay[k - 1] : stay[0];
        const float above = k + 1 < kRateLevels ? stay[k + 1] : stay[k];
        next[k] = stay[k] * (1.0F - 2.0F * z) + z * (below + above);
    }
    return next;
}

// Bayes: exp(-rate * elapsed) of each level is the square of that of the level below.
void condition(Levels& p, float elapsed, bool changed) {
    const double step = static_cast<double>(kRates[0]) * static_cast<double>(elapsed);
    auto changed_by_now = static_cast<float>(-base::fixed_expm1(-step));
    float same = 1.0F - changed_by_now;
    Levels likelihood;
    if (changed) {
        for (auto& one : likelihood) {
            one = changed_by_now;
            changed_by_now = changed_by_now * (2.0F - changed_by_now);
        }
    } else {
        for (auto& one : likelihood) {
            one = same;
            same = same * same;
        }
    }
    for (std::size_t k = 0; k < kRateLevels; ++k) p[k] *= likelihood[k];
    const float scale = 1.0F / std::max(sum_of(p), 1e-30F);
    for (auto& one : p) one = std::max(one * scale, kFloor);
}

}  // namespace

RateBelief::RateBelief() {
    probability.fill(to_bf16(1.0F / kRateLevels));
    occupancy.fill(16);
}

double learn(RateBelief& belief, RatePrior& prior, const RateEvidence& evidence) {
    const auto elapsed = static_cast<float>(std::clamp(evidence.elapsed_s, 0.001, 1e7));
    Levels p = predict(unpack(belief), belief, prior, elapsed);
    condition(p, elapsed, evidence.changed);

    belief.age_s = std::min(belief.age_s + elapsed, 1e9F);
    const double memory =
        std::min(kOccupancyMemory, static_cast<double>(belief.age_s) + kOccupancyWarmup);
    const auto own_step = static_cast<float>(std::min(1.0, static_cast<double>(elapsed) / memory));
    const double pool_step =
        std::min(0.01, static_cast<double>(elapsed) / (kOccupancyMemory * evidence.members));
    const std::uint64_t more = (evidence.dither ^ (evidence.dither >> 29U)) * 0xBF58476D1CE4E5B9ULL;
    std::array<float, kRateLevels> noise;
    for (std::size_t k = 0; k < kRateLevels; ++k) {
        const std::uint64_t word = k < 8 ? evidence.dither : more;
        noise[k] = static_cast<float>((word >> (56U - 8U * (k % 8))) & 0xFFU) / 256.0F;
    }
    for (std::size_t k = 0; k < kRateLevels; ++k) {
        belief.probability[k] = to_bf16(p[k]);
        const auto before = static_cast<float>(belief.occupancy[k]);
        const float after = before + own_step * (p[k] * 255.0F - before) + noise[k];
        belief.occupancy[k] = static_cast<std::uint8_t>(std::clamp(after, 0.0F, 255.0F));
    }
    for (std::size_t k = 0; k < kRateLevels; ++k) {
        prior.share[k] += pool_step * (static_cast<double>(p[k]) - prior.share[k]);
    }
    return rate_of(p);
}

double expected_rate(const RateBelief& belief) { return rate_of(unpack(belief)); }

model::LearnedRecord to_record(const RateBelief& belief) {
    return {belief.probability, belief.occupancy, belief.age_s, belief.memory};
}

RateBelief from_record(const model::LearnedRecord& record) {
    RateBelief belief;
    float sum = 0;
    for (const std::uint16_t bits : record.probability) {
        const float value = from_bf16(bits);
        if (!(value >= 0.0F && value <= 2.0F)) return belief;  // not ours: start afresh
        sum += value;
    }
    if (!(sum > 0.5F && sum < 2.0F)) return belief;
    belief.probability = record.probability;
    belief.occupancy = record.occupancy;
    belief.age_s = record.age_s >= 0 ? record.age_s : 0;
    belief.memory = record.memory;
    return belief;
}

}  // namespace pollux::schedule
