// The rules for what may enter the core. Every refusal names the field, the value and the rule.
#pragma once

#include "base/result.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"

namespace pollux::model {

// Checks one task on its own, and turns its names into their NFC form. What depends on other tasks
// (unknown class, unknown parent, cycles) is checked by the core.
base::Status validate(TaskSpec& spec);

base::Status validate(DeviceSpec& spec);

base::Status validate(CoreSettings& settings);

inline constexpr base::Duration kShortestInterval = std::chrono::milliseconds(100);
inline constexpr base::Duration kLongestInterval = std::chrono::hours(24 * 31);
inline constexpr base::Duration kLongestTimeout = std::chrono::hours(24);

}  // namespace pollux::model
