#include "schedule/backoff.hpp"

#include <algorithm>

#include "schedule/truncated.hpp"

namespace pollux::schedule {
namespace {

constexpr base::Duration kInitialDefault = std::chrono::seconds(2);
constexpr double kMultiplierDefault = 2;

// Far above what a duration can hold, far below infinity (which times a jitter of 0 is NaN).
constexpr double kGrowthLimit = 1e100;

// base^exponent for base > 1, by squaring: at most 63 rounds whatever the exponent.
double power(double base, std::int64_t exponent) {
    double result = 1;
    for (; exponent > 0 && result < kGrowthLimit; exponent /= 2) {
        if (exponent % 2 != 0) result *= base;
        base = std::min(base * base, kGrowthLimit);
    }
    return std::min(result, kGrowthLimit);
}

double jitter_factor(double jitter, double unit) {
    if (!(jitter > 0)) return 1;
    const double share = unit > 0 ? std::min(unit, 1.0) : 0;
    return 1 + (2 * share - 1) * std::min(jitter, 1.0);
}

}  // namespace

base::Duration backoff_delay(const BackoffConfig& config, std::int64_t attempt, double unit) {
    const auto zero = base::Duration::zero();
    const base::Duration initial = config.initial > zero ? config.initial : kInitialDefault;
    const double multiplier = config.multiplier > 1 ? config.multiplier : kMultiplierDefault;
    const double grown = as_nanos(initial) * power(multiplier, std::max<std::int64_t>(attempt, 0));
    const base::Duration delay = truncated_ns(grown * jitter_factor(config.jitter, unit));
    const base::Duration wanted = delay > zero ? delay : kBackoffFallback;
    return config.max > zero ? std::min(wanted, config.max) : wanted;
}

BackoffConfig pulse_backoff(bool fast) {
    BackoffConfig config;
    if (fast) {
        config.initial = kPulseFastRetryInitial;
        config.max = kPulseFastRetryMax;
    }
    return config;
}

}  // namespace pollux::schedule
