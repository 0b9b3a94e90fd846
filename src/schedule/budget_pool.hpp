// Spends one poll budget over many tasks. A task's shape is 1/sqrt(weight * change rate); its
// interval is g * shape, kept inside its own limits; g is the one number that makes the polls of
// all members add up to the budget. That is the exact optimum for the mean delay of events.
//
// Shapes are counted in a histogram of eighth-octave buckets, one histogram per band (a pair of
// limits), so solving for g once a second costs the same for ten members and for a million.
//
// Members that have been idle for hours drift to the longest interval their preset allows; what
// they do not use is not given to others. So g is solved as if nobody drifted, and the trim, which
// corrects the rounding of the buckets, aims at the rate that is left after the drift.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "model/settings.hpp"
#include "schedule/rate_belief.hpp"

namespace pollux::schedule {

// Rates are summed as integers (1e-12 polls per second), so that what is added can be taken away
// again exactly and a sum never depends on the order.
using Picohertz = std::int64_t;
constexpr Picohertz rate_of(std::uint32_t interval_ms) {
    return interval_ms == 0 ? 0 : 1'000'000'000'000'000 / static_cast<std::int64_t>(interval_ms);
}
constexpr double per_second(Picohertz rate) { return static_cast<double>(rate) * 1e-12; }

struct BandLimits {
    std::uint32_t min_ms = 0;
    std::uint32_t stretch_ms = 0;  // min(max, stretch * base): the preset's limit
    std::uint32_t bound_ms = 0;    // staleness bound
    bool operator==(const BandLimits&) const = default;
};

class BudgetPool {
  public:
    static constexpr std::size_t kBuckets = 320;
    static constexpr std::size_t kMaxBands = 32;
    static constexpr std::int16_t kNoBucket = -1;

    BudgetPool();

    // Membership. The band is found or made; when all are taken, the nearest stricter one is used.
    std::uint8_t join(const BandLimits& limits, Picohertz base_rate);
    void leave(std::uint8_t band, std::int16_t bucket, Picohertz base_rate);

    std::int16_t move(std::uint8_t band, std::int16_t from, double shape);
    // What a member was and is going to cost: by the multiplier alone, and after its drift.
    void replan(Picohertz chosen, Picohertz drifted) {
        chosen_ += chosen;
        drifted_ += drifted;
    }
    void count_poll() { ++polls_; }

    // The interval for this shape, in seconds, before drift and jitter.
    double interval_s(std::uint8_t band, double shape) const;
    double longest_s(std::uint8_t band) const { return bands_[band].longest_s; }
    double shortest_s(std::uint8_t band) const { return bands_[band].shortest_s; }

    // Sum of 1/longest: what keeping every bound costs at least.
    double floor_rate(double p95_duration_s);
    double wanted_rate(double budget_share) const { return per_second(base_sum_) * budget_share; }

    // Once a second: the rate this pool may spend now, and whether its bounds fit.
    struct Grant {
        double rate = 0;
        bool feasible = true;
        model::DegradedChoice degraded = model::DegradedChoice::kMeanFirst;
    };
    void solve(base::BootTime now, const Grant& grant);

    RatePrior& prior() { return prior_; }
    std::size_t members() const { return members_; }
    double multiplier() const { return g_; }
    double trim() const { return trim_; }
    double planned_rate() const { return per_second(drifted_); }
    double granted_rate() const { return granted_; }

  private:
    struct Band {
        BandLimits limits;
        std::size_t members = 0;
        double shortest_s = 0;
        double longest_s = 0;  // in force: shorter of stretch and bound, longer when degraded
        double strict_s = 0;   // what the limits ask for
        std::uint32_t low = kBuckets;  // occupied buckets lie in [low, high]
        std::uint32_t high = 0;
        std::array<std::uint32_t, kBuckets> count{};
    };

    double demand(double g) const;
    void update_trim(base::BootTime now);

    std::vector<Band> bands_;
    RatePrior prior_;
    std::size_t members_ = 0;
    Picohertz base_sum_ = 0;
    Picohertz chosen_ = 0;   // sum of 1/T by the multiplier
    Picohertz drifted_ = 0;  // sum of 1/T in force
    double g_ = 1;
    double trim_ = 1;
    double granted_ = 0;
    double aimed_ = 0;  // polls that should have come in the window
    double window_grant_ = 0;
    base::BootTime window_start_;
    base::BootTime settles_at_;
    base::BootTime last_solve_;
    std::uint64_t polls_ = 0;
    bool started_ = false;
};

}  // namespace pollux::schedule
