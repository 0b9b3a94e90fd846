#include "schedule/load_monitor.hpp"

#include <algorithm>
#include <bit>

namespace pollux::schedule {
namespace {

constexpr std::uint64_t kFadeAfter = 20'000;
constexpr auto kTolerableLag = std::chrono::seconds(2);
constexpr double kBackOff = 0.9;     // gentle: intervals given out stay in force for a while, so a
constexpr double kRecovery = 1.005;  // hard cut is felt late, and recovering from it bunches polls
constexpr double kLeast = 0.1;
constexpr int kHoldSeconds = 10;  // let one reduction show its effect before the next
constexpr std::uint64_t kFewStarts = 5;

}  // namespace

void DurationSketch::add(base::Duration value) {
    // Four buckets an octave: exponent and the next two bits of the value in 256 us units.
    const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.count()) >> 18U);
    std::size_t bucket = static_cast<std::size_t>(units);
    if (units >= 4) {
        const auto exponent = static_cast<std::size_t>(std::bit_width(units)) - 1;
        bucket = 4 * (exponent - 1) + ((units >> (exponent - 2)) & 3U);
    }
    ++count_[std::min(bucket, kBuckets - 1)];
    ++total_;
}

base::Duration DurationSketch::quantile(double q) const {
    if (total_ == 0) return base::Duration::zero();
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(total_));
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    while (bucket + 1 < kBuckets && (seen += count_[bucket]) <= rank) ++bucket;
    // The upper edge of the bucket: a bound is kept by erring to the long side.
    if (bucket < 4) return base::Duration(static_cast<std::int64_t>(bucket + 1) << 18U);
    const std::size_t exponent = bucket / 4 + 1;
    const auto units = (std::int64_t{4} + static_cast<std::int64_t>(bucket % 4) + 1)
                       << (exponent - 2);
    return base::Duration(units << 18U);
}

void DurationSketch::clear() {
    count_.fill(0);
    total_ = 0;
}

void DurationSketch::halve() {
    total_ = 0;
    for (auto& one : count_) total_ += (one /= 2);
}

void LoadMonitor::finished(base::Duration duration) {
    durations_.add(duration);
    if (durations_.count() > kFadeAfter) durations_.halve();
}

void LoadMonitor::second(bool saturated, bool rate_limited) {
    if (lag_.count() >= kFewStarts || saturated) last_lag_ = lag_.quantile(0.95);
    const bool late = lag_.count() >= kFewStarts && last_lag_ > kTolerableLag && !rate_limited;
    lag_.clear();
    if (hold_ > 0) --hold_;
    if (late || saturated) {
        if (hold_ == 0) {
            pressure_ = std::max(kLeast, pressure_ * kBackOff);
            hold_ = kHoldSeconds;
        }
    } else {
        pressure_ = std::min(1.0, pressure_ * kRecovery);
    }
}

}  // namespace pollux::schedule
