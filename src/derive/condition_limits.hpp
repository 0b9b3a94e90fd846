// What a value means to a condition: its limits, as the fleet may have changed them, and the step
// that follows from a value and the step before. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/addon.hpp"
#include "model/alert_policy.hpp"
#include "model/reading.hpp"

namespace pollux::derive {

struct ConditionLimits {
    bool enabled = true;
    double trigger = 0;
    double clear = 0;
};

ConditionLimits moved_limits(const model::ConditionDef& condition, const model::AlertRule& rule,
                             std::string_view row);

// `rule` may be null: the addon's own. Called for every value of every poll.
inline ConditionLimits limits_of(const model::ConditionDef& condition, const model::AlertRule* rule,
                                 std::string_view row) {
    if (rule != nullptr) return moved_limits(condition, *rule, row);
    return {true, condition.trigger, condition.clear};
}

// Of a step of the condition, the first is 1. A worse step begins no earlier than the first one,
// wherever the fleet has moved that to.
ConditionLimits limits_of_step(const model::ConditionDef& condition, const ConditionLimits& limits,
                               std::size_t step);

struct Judgement {
    model::Level level = model::Level::kUnknown;
    std::uint8_t step = 0;  // 0: clear
};

inline bool holds(model::Comparison comparison, double value, double limit) {
    switch (comparison) {
        case model::Comparison::kAbove: return value > limit;
        case model::Comparison::kAtLeast: return value >= limit;
        case model::Comparison::kBelow: return value < limit;
        case model::Comparison::kAtMost: return value <= limit;
        case model::Comparison::kEqual: return value == limit;
        case model::Comparison::kNotEqual: return value != limit;
    }
    return false;
}

// The worst step that the value begins, or that it does not end.
std::uint8_t judge_steps(const model::ConditionDef& condition, const ConditionLimits& limits,
                         double value, std::uint8_t before);

// In between stays what it was, each step for itself; a value that begins there is clear.
inline Judgement judge(const model::ConditionDef& condition, const ConditionLimits& limits,
                       double value, std::uint8_t before) {
    using model::Level;
    if (holds(condition.comparison, value, limits.trigger)) {
        const bool steps = !condition.steps.empty();
        return {Level::kTriggered,
                steps ? judge_steps(condition, limits, value, before) : std::uint8_t{1}};
    }
    if (holds(condition.clear_comparison, value, limits.clear)) return {Level::kClear, 0};
    return {Level::kBetween,
            before == 0 ? std::uint8_t{0} : judge_steps(condition, limits, value, before)};
}

}  // namespace pollux::derive
