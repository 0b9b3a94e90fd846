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

// `rule` may be null: the addon's own.
ConditionLimits limits_of(const model::ConditionDef& condition, const model::AlertRule* rule,
                          std::string_view row);

// Of a step of the condition, the first is 1. A worse step begins no earlier than the first one,
// wherever the fleet has moved that to.
ConditionLimits limits_of_step(const model::ConditionDef& condition, const ConditionLimits& limits,
                               std::size_t step);

struct Judgement {
    model::Level level = model::Level::kUnknown;
    std::uint8_t step = 0;  // 0: clear
};

// In between stays what it was, each step for itself; a value that begins there is clear.
Judgement judge(const model::ConditionDef& condition, const ConditionLimits& limits, double value,
                std::uint8_t before);

}  // namespace pollux::derive
