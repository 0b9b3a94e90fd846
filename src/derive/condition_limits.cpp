#include "derive/condition_limits.hpp"

#include <algorithm>

namespace pollux::derive {

ConditionLimits moved_limits(const model::ConditionDef& condition, const model::AlertRule& rule,
                             std::string_view row) {
    const model::AlertOverride over = model::override_of(rule, row);
    ConditionLimits limits;
    limits.enabled = over.enabled.value_or(true);
    limits.trigger = over.trigger.value_or(condition.trigger);
    limits.clear = over.clear.value_or(limits.trigger + (condition.clear - condition.trigger));
    return limits;
}

ConditionLimits limits_of_step(const model::ConditionDef& condition, const ConditionLimits& limits,
                               std::size_t step) {
    if (step <= 1) return limits;
    const model::SeverityStep& own = condition.steps[step - 2];
    const auto beyond = [&](double a, double b) {
        return model::is_upward(condition.comparison) ? std::max(a, b) : std::min(a, b);
    };
    return {limits.enabled, beyond(own.trigger, limits.trigger), beyond(own.clear, limits.clear)};
}

std::uint8_t judge_steps(const model::ConditionDef& condition, const ConditionLimits& limits,
                         double value, std::uint8_t before) {
    std::uint8_t out = 0;
    for (std::size_t step = 1; step <= condition.steps.size() + 1; ++step) {
        const ConditionLimits own = limits_of_step(condition, limits, step);
        const bool begins = holds(condition.comparison, value, own.trigger);
        const bool stays = step <= before && !holds(condition.clear_comparison, value, own.clear);
        if (begins || stays) out = static_cast<std::uint8_t>(step);
    }
    return out;
}

}  // namespace pollux::derive
