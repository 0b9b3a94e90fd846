#include "runtime/fleet_view.hpp"

#include <algorithm>
#include <tuple>

namespace pollux::runtime {

const model::ConfigObject* find_object(const FleetView& view, model::ObjectKind kind,
                                       std::string_view name) {
    const auto found = std::ranges::lower_bound(
        *view.objects, std::pair(kind, name), {}, [](const model::ConfigObject& object) {
            return std::pair(object.kind, std::string_view(object.name));
        });
    if (found == view.objects->end() || found->kind != kind || found->name != name) return nullptr;
    return &*found;
}

const config::TargetPlanInput* find_target(const FleetView& view, std::string_view task_key) {
    const auto& targets = view.image->expansion.targets;
    const auto found = std::ranges::lower_bound(
        targets, task_key, {},
        [](const config::TargetPlanInput& target) { return std::string_view(target.key); });
    return found != targets.end() && found->key == task_key ? &*found : nullptr;
}

}  // namespace pollux::runtime
