#include "schedule/budget_pool.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/math.hpp"

namespace pollux::schedule {
namespace {

constexpr double kBucketsPerOctave = 8;
constexpr double kLowestOctave = -20;   // shapes from 2^-20 ...
constexpr double kBoundShare = 0.92;    // room for jitter and waiting inside a staleness bound
constexpr double kDegradedFloor = 0.9;  // mean first: a tenth of the budget stays adaptive
constexpr double kTrimWindow = 60;      // s
constexpr double kTrimPolls = 300;      // fewer polls say too little about the rate
constexpr double kSteadyGrant = 0.02;
constexpr double kTrimGain = 0.3;
constexpr double kTrimRange = 0.1;
constexpr double kAimShare = 0.999;  // a ceiling is aimed at from below

// Shapes in the middle of their buckets.
const std::array<double, BudgetPool::kBuckets>& bucket_shapes() {
    static const std::array<double, BudgetPool::kBuckets> shapes = [] {
        std::array<double, BudgetPool::kBuckets> all{};
        for (std::size_t b = 0; b < all.size(); ++b) {
            all[b] = base::fixed_exp2(kLowestOctave +
                                      (static_cast<double>(b) + 0.5) / kBucketsPerOctave);
        }
        return all;
    }();
    return shapes;
}

std::int16_t bucket_of(double shape) {
    const double position = (base::fixed_log2(shape) - kLowestOctave) * kBucketsPerOctave;
    const double last = static_cast<double>(BudgetPool::kBuckets - 1);
    return static_cast<std::int16_t>(std::clamp(position, 0.0, last));
}

}  // namespace

BudgetPool::BudgetPool() = default;

std::uint8_t BudgetPool::join(const BandLimits& limits, Picohertz base_rate) {
    ++members_;
    base_sum_ += base_rate;
    std::size_t chosen = bands_.size();
    for (std::size_t b = 0; b < bands_.size(); ++b) {
        if (bands_[b].limits == limits || bands_[b].members == 0) {
            chosen = b;
            if (bands_[b].limits == limits) break;
        }
    }
    if (chosen == bands_.size() && bands_.size() < kMaxBands) bands_.emplace_back();
    if (chosen == bands_.size()) {
        // All bands are taken: share the one with the longest limits that are not looser.
        chosen = 0;
        for (std::size_t b = 1; b < bands_.size(); ++b) {
            const auto fits = [&](const Band& band) {
                return band.limits.stretch_ms <= limits.stretch_ms &&
                       band.limits.bound_ms <= limits.bound_ms;
            };
            const bool better = bands_[b].limits.stretch_ms > bands_[chosen].limits.stretch_ms;
            if (fits(bands_[b]) && (!fits(bands_[chosen]) || better)) chosen = b;
        }
    } else if (bands_[chosen].members == 0) {
        Band& band = bands_[chosen];
        band = Band{};
        band.limits = limits;
        band.shortest_s = limits.min_ms * 1e-3;
        band.strict_s = std::max(band.shortest_s, std::min(limits.stretch_ms * 1e-3,
                                                           limits.bound_ms * 1e-3 * kBoundShare));
        band.longest_s = band.strict_s;
    }
    ++bands_[chosen].members;
    return static_cast<std::uint8_t>(chosen);
}

void BudgetPool::leave(std::uint8_t band, std::int16_t bucket, Picohertz base_rate) {
    POLLUX_CHECK(members_ > 0 && bands_[band].members > 0);
    --members_;
    --bands_[band].members;
    base_sum_ -= base_rate;
    if (bucket != kNoBucket) --bands_[band].count[static_cast<std::size_t>(bucket)];
}

std::int16_t BudgetPool::move(std::uint8_t band, std::int16_t from, double shape) {
    const std::int16_t to = bucket_of(shape);
    if (to == from) return to;
    Band& home = bands_[band];
    if (from != kNoBucket) --home.count[static_cast<std::size_t>(from)];
    ++home.count[static_cast<std::size_t>(to)];
    home.low = std::min(home.low, static_cast<std::uint32_t>(to));
    home.high = std::max(home.high, static_cast<std::uint32_t>(to));
    return to;
}

double BudgetPool::interval_s(std::uint8_t band, double shape) const {
    const Band& home = bands_[band];
    return std::min(std::max(g_ * shape, home.shortest_s), home.longest_s);
}

double BudgetPool::floor_rate(double p95_duration_s) {
    double rate = 0;
    for (Band& band : bands_) {
        if (band.members == 0) continue;
        const double inside_bound = band.limits.bound_ms * 1e-3 * kBoundShare - p95_duration_s;
        band.strict_s =
            std::max(band.shortest_s, std::min(band.limits.stretch_ms * 1e-3, inside_bound));
        rate += static_cast<double>(band.members) / band.strict_s;
    }
    return rate;
}

double BudgetPool::demand(double g) const {
    const auto& shapes = bucket_shapes();
    double rate = 0;
    for (const Band& band : bands_) {
        if (band.members == 0) continue;
        for (std::uint32_t b = band.low; b <= band.high; ++b) {
            if (band.count[b] == 0) continue;
            const double interval =
                std::min(std::max(g * shapes[b], band.shortest_s), band.longest_s);
            rate += static_cast<double>(band.count[b]) / interval;
        }
    }
    return rate;
}

void BudgetPool::solve(base::BootTime now, const Grant& grant) {
    granted_ = grant.rate;
    double needed = 0;
    for (const Band& band : bands_) {
        if (band.members > 0) needed += static_cast<double>(band.members) / band.strict_s;
    }
    double loosen = 1;
    if (!grant.feasible && grant.rate > 0) {
        const bool mean_first = grant.degraded == model::DegradedChoice::kMeanFirst;
        loosen = std::max(1.0, needed / (grant.rate * (mean_first ? kDegradedFloor : 1.0)));
    }
    for (Band& band : bands_) band.longest_s = band.strict_s * loosen;
    update_trim(now);
    const double target = grant.rate * kAimShare * trim_;
    double low = 1e-6;
    double high = 1e6;
    for (int i = 0; i < 40 && high > low * 1.0002; ++i) {
        const double middle = std::sqrt(low * high);
        (demand(middle) > target ? low : high) = middle;
    }
    g_ = high;  // the side that does not exceed the budget
}

void BudgetPool::update_trim(base::BootTime now) {
    if (!started_) {
        started_ = true;
        window_start_ = last_solve_ = now;
        polls_ = 0;
        return;
    }
    // Of the budget, the share that drifting members leave unused is not wanted either.
    const double kept =
        chosen_ > 0 ? std::min(1.0, static_cast<double>(drifted_) / static_cast<double>(chosen_))
                    : 1;
    aimed_ += granted_ * kAimShare * kept * base::to_seconds(now - last_solve_);
    last_solve_ = now;
    // Intervals given out under another grant are still in force: wait until they are used up.
    const bool steady = std::abs(granted_ - window_grant_) <= kSteadyGrant * granted_;
    if (!steady) {
        window_grant_ = granted_;
        settles_at_ = now + base::from_seconds(kTrimWindow);
    }
    if (!steady || now < settles_at_) {
        window_start_ = now;
        polls_ = 0;
        aimed_ = 0;
        return;
    }
    const double elapsed = base::to_seconds(now - window_start_);
    if (elapsed < kTrimWindow || aimed_ < kTrimPolls) return;
    const double ratio = aimed_ / std::max(1.0, static_cast<double>(polls_));
    trim_ = std::clamp(trim_ * base::fixed_pow(ratio, kTrimGain), 1 - kTrimRange, 1 + kTrimRange);
    window_start_ = now;
    polls_ = 0;
    aimed_ = 0;
}

}  // namespace pollux::schedule
