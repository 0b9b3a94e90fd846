// From floating-point nanoseconds back to a duration, as the classic rules need it.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace pollux::schedule {

// Drops the fraction (towards zero); saturates; NaN becomes 0. base::from_seconds rounds instead,
// which would differ from the published rules by a nanosecond.
constexpr base::Duration truncated_ns(double nanos) {
    if (!(nanos == nanos)) return base::Duration::zero();
    if (nanos >= 0x1p63) return base::Duration::max();
    if (nanos <= -0x1p63) return base::Duration::min();
    return base::Duration{static_cast<std::int64_t>(nanos)};
}

constexpr double as_nanos(base::Duration duration) { return static_cast<double>(duration.count()); }

}  // namespace pollux::schedule
