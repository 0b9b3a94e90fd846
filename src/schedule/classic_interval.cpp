#include "schedule/classic_interval.hpp"

#include <algorithm>

#include "schedule/truncated.hpp"

namespace pollux::schedule {
namespace {

constexpr auto kZero = base::Duration::zero();

struct Range {
    base::Duration min;
    base::Duration max;

    base::Duration clamp(base::Duration value) const { return std::clamp(value, min, max); }
};

// Each step goes back to whole nanoseconds before the next one, as in the published rule: the
// results are compared with known answers.
void apply_errors(const ClassicConfig& config, std::int64_t errors, const Range& range,
                  ClassicDecision& decision) {
    if (errors <= 0) return;
    const double divisor = 1 + config.error_penalty * static_cast<double>(errors);
    if (!(divisor > 0)) return;  // a negative penalty must not turn the interval round
    decision.error_divisor = divisor;
    decision.target = std::max(range.min, truncated_ns(as_nanos(decision.target) / divisor));
}

void apply_queue(const ClassicConfig& config, std::int64_t depth, const Range& range,
                 ClassicDecision& decision) {
    if (depth <= 1) return;
    const double factor = 1 + config.queue_stretch * static_cast<double>(depth - 1);
    decision.queue_factor = factor;
    decision.target = std::min(range.max, truncated_ns(as_nanos(decision.target) * factor));
}

base::Duration seed(const ClassicConfig& config, const ClassicInput& input) {
    if (input.ema) return *input.ema;
    return input.last_interval > kZero ? input.last_interval : config.base;
}

base::Duration jittered(const ClassicConfig& config, double unit, base::Duration smoothed) {
    if (!(config.jitter > 0) || smoothed <= kZero) return smoothed;
    const double offset = (2 * clamp_number(unit, 0, 1) - 1) * config.jitter;
    return truncated_ns(as_nanos(smoothed) * (1 + offset));
}

}  // namespace

ClassicConfig normalised(ClassicConfig config) {
    if (config.base <= kZero) config.base = kClassicBase;
    if (config.min <= kZero) config.min = kClassicMin;
    if (config.max <= kZero || config.max < config.min) {
        config.max = std::max(kClassicMax, config.min);
    }
    return config;
}

ClassicDecision classic_interval(const ClassicConfig& config, const ClassicInput& input) {
    const bool has_range = config.max > kZero && config.max >= config.min;
    const Range range{config.min, has_range ? config.max : config.min};
    const double freshness = 1 - clamp_number(input.staleness_score, 0, 1);

    ClassicDecision decision;
    const double span = as_nanos(range.max) - as_nanos(range.min);
    decision.target = truncated_ns(as_nanos(range.min) + span * freshness);
    apply_errors(config, input.error_count, range, decision);
    apply_queue(config, input.ready_depth, range, decision);

    const double blend = config.alpha * as_nanos(decision.target) +
                         (1 - config.alpha) * as_nanos(seed(config, input));
    decision.smoothed = range.clamp(truncated_ns(blend));

    const base::Duration wanted = range.clamp(jittered(config, input.unit, decision.smoothed));
    decision.interval = range.clamp(wanted > kZero ? wanted : config.base);
    return decision;
}

}  // namespace pollux::schedule
