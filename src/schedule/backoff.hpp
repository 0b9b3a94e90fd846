// How long to wait after a failure: exponential, with jitter, capped. Pure.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace pollux::schedule {

inline constexpr base::Duration kPulseRetryInitial = std::chrono::seconds(5);
inline constexpr base::Duration kPulseRetryMax = std::chrono::minutes(5);
inline constexpr base::Duration kPulseFastRetryInitial = std::chrono::milliseconds(750);
inline constexpr base::Duration kPulseFastRetryMax = std::chrono::seconds(4);
inline constexpr double kPulseRetryMultiplier = 2;
inline constexpr double kPulseRetryJitter = 0.2;

// Where no delay would be left, e.g. with a jitter of 100 %: a failure is never retried at once.
inline constexpr base::Duration kBackoffFallback = std::chrono::seconds(5);

struct BackoffConfig {
    base::Duration initial = kPulseRetryInitial;  // <= 0: 2 s
    double multiplier = kPulseRetryMultiplier;    // <= 1: 2
    double jitter = kPulseRetryJitter;            // share, to both sides; at most 1
    base::Duration max = kPulseRetryMax;          // after jitter; <= 0: no limit

    bool operator==(const BackoffConfig&) const = default;
};

// The delay before retry number `attempt` (0 is the first), `unit` in [0, 1) decides the jitter.
// Defined for every input: always positive, saturates instead of overflowing.
base::Duration backoff_delay(const BackoffConfig& config, std::int64_t attempt, double unit);

// The retry delays of the pulse profile. Its fast mode is for fleets whose longest interval is 15 s
// or less. There the profile names two limits, 6 s for the rule and 4 s for its use: the lower one
// is the only one that ever shows.
BackoffConfig pulse_backoff(bool fast);

}  // namespace pollux::schedule
