#include "config/settings.hpp"

#include <algorithm>

#include "config/settings_registry.hpp"

namespace pollux::config {

std::string_view to_string(ValueOrigin origin) {
    switch (origin) {
        case ValueOrigin::kDefault: return "default";
        case ValueOrigin::kStored: return "settings";
        case ValueOrigin::kEnvironment: return "environment";
    }
    return "unknown";
}

model::AdaptiveMode Settings::mode() const {
    if (!adaptive_enabled) return model::AdaptiveMode::kOff;
    return adaptive_shadow ? model::AdaptiveMode::kShadow : model::AdaptiveMode::kOn;
}

model::CoreSettings Settings::core(std::vector<model::ClassSettings> classes,
                                   std::vector<model::ResourceSettings> resources) const {
    const auto count = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    std::int64_t slots = global_slots;
    if (poll_task_workers > 0) slots = std::min(slots, poll_task_workers);
    return {.mode = mode(),
            .adaptive_percent =
                adaptive_scope.kind == ScopeKind::kPercent ? adaptive_scope.percent : 100,
            .global_rate = global_rate,
            .global_slots = count(slots),
            .device_slots = count(device_slots),
            .device_class_slots = count(device_class_slots),
            .device_rate = device_rate,
            .staleness_bound = staleness_bound,
            .aging_step = aging_step,
            .max_starts_per_step = count(max_starts_per_step),
            .budget_headroom = budget_headroom,
            .degraded = degraded,
            .seed = static_cast<std::uint64_t>(seed),
            .classes = std::move(classes),
            .resources = std::move(resources)};
}

ValueOrigin origin_of(const Settings& settings, std::string_view key) {
    const SettingDef* definition = find_setting(key);
    if (definition == nullptr) return ValueOrigin::kDefault;
    const std::size_t row = row_of(*definition);
    return row < settings.origins.size() ? settings.origins[row] : ValueOrigin::kDefault;
}

}  // namespace pollux::config
