// A histogram with fixed bounds, as Prometheus wants it. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pollux::observe {

// Bounds: a constexpr std::array<double, N>, ascending.
template <const auto& Bounds>
class Histogram {
  public:
    static constexpr std::size_t kBuckets = Bounds.size() + 1;

    void record(double value) {
        const auto bound = std::lower_bound(Bounds.begin(), Bounds.end(), value);
        ++counts_[static_cast<std::size_t>(bound - Bounds.begin())];
        sum_ += value;
    }
    void add(const Histogram& other) {
        for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
        sum_ += other.sum_;
    }
    // What was recorded after an earlier state of the same histogram.
    Histogram since(const Histogram& earlier) const {
        Histogram difference = *this;
        for (std::size_t i = 0; i < kBuckets; ++i) difference.counts_[i] -= earlier.counts_[i];
        difference.sum_ -= earlier.sum_;
        return difference;
    }
    const std::array<std::uint64_t, kBuckets>& counts() const { return counts_; }
    double sum() const { return sum_; }
    std::uint64_t total() const {
        std::uint64_t total = 0;
        for (const std::uint64_t count : counts_) total += count;
        return total;
    }
    // The upper bound of the bucket that holds the given share; the last bound for what is above.
    double quantile(double share) const {
        const double wanted = share * static_cast<double>(total());
        double seen = 0;
        for (std::size_t i = 0; i < Bounds.size(); ++i) {
            seen += static_cast<double>(counts_[i]);
            if (seen >= wanted) return Bounds[i];
        }
        return Bounds.back();
    }

  private:
    std::array<std::uint64_t, kBuckets> counts_{};
    double sum_ = 0;
};

inline constexpr std::array<double, 10> kPollDurationBounds = {0.1, 0.25, 0.5, 1,  2.5,
                                                               5,   10,   15,  20, 30};
inline constexpr std::array<double, 11> kQueueWaitBounds = {0.01, 0.05, 0.1, 0.25, 0.5, 1,
                                                            2.5,  5,    10,  30,   60};
inline constexpr std::array<double, 8> kHttpDurationBounds = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
inline constexpr std::array<double, 10> kCommitBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                         0.025,  0.05,  0.1,    0.5,   2};
inline constexpr std::array<double, 8> kAlertDurationBounds = {60,   300,   900,   3600,
                                                               7200, 14400, 28800, 86400};
// From the decision to the delivery: a minute is a receiver that was slow, hours one that was away.
inline constexpr std::array<double, 10> kDeliveryDelayBounds = {0.1, 0.5, 1,   2.5,  5,
                                                                15,  60,  300, 1800, 7200};

}  // namespace pollux::observe
