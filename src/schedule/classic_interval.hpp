// The classic interval rule: between min (data is stale) and max (data is fresh), shorter with
// errors, longer with work waiting, smoothed, jittered and clamped. Pure: the caller keeps the
// smoothed value and brings the random number.
//
// Two things to know before using it:
//  - a healthy task ends at max, not at base: base only seeds the smoothing;
//  - every call moves the smoothed value, so call it once per run and not once per look.
//
// Load is the number of ready tasks that wait for a slot, not of all tasks that are planned: a big
// fleet at rest is not a busy one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace pollux::schedule {

inline constexpr base::Duration kClassicBase = std::chrono::seconds(10);
inline constexpr base::Duration kClassicMin = std::chrono::seconds(5);
inline constexpr base::Duration kClassicMax = std::chrono::minutes(5);

struct ClassicConfig {
    base::Duration base = kClassicBase;
    base::Duration min = kClassicMin;
    base::Duration max = kClassicMax;
    double alpha = 0.6;          // weight of the new target in the smoothed interval
    double error_penalty = 0.6;  // per error
    double queue_stretch = 0.1;  // per waiting task after the first
    double jitter = 0.05;        // share of the interval, to both sides

    bool operator==(const ClassicConfig&) const = default;
};

// Replaces times that make no sense by the defaults. Afterwards base and min are positive and
// max >= min.
ClassicConfig normalised(ClassicConfig config);

struct ClassicInput {
    double staleness_score = 0;  // 0 fresh, 1 stale; an unknown score is 0
    std::int64_t error_count = 0;
    std::int64_t ready_depth = 0;
    base::Duration last_interval{};     // 0: none yet
    std::optional<base::Duration> ema;  // ClassicDecision::smoothed of the previous call
    double unit = 0.5;                  // [0, 1): decides the jitter
};

struct ClassicDecision {
    base::Duration interval{};  // to be used
    base::Duration smoothed{};  // to be remembered for the next call
    base::Duration target{};    // before smoothing
    double error_divisor = 1;
    double queue_factor = 1;
};

ClassicDecision classic_interval(const ClassicConfig& config, const ClassicInput& input);

// value within [low, high]; NaN becomes low, so that a broken input never leaves the range.
constexpr double clamp_number(double value, double low, double high) {
    if (!(value > low)) return low;
    return value > high ? high : value;
}

}  // namespace pollux::schedule
