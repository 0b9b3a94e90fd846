// The fleet and the settings as they were at one moment: immutable, shared with the threads that
// show them. Made by the server after each change.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "config/settings.hpp"
#include "config/settings_resolve.hpp"
#include "model/object.hpp"
#include "runtime/fleet_image.hpp"

namespace pollux::runtime {

struct FleetView {
    // Sorted by kind and name. Bodies of credentials hold secrets: they are never shown.
    std::shared_ptr<const std::vector<model::ConfigObject>> objects;
    std::shared_ptr<const FleetImage> image;
    std::shared_ptr<const AddonSet> addons;
    AddonNames disabled_addons;
    config::Settings settings;
    config::StoredSettings stored;
    std::uint64_t settings_version = 0;  // 0: never stored
};

// Null: there is none.
const model::ConfigObject* find_object(const FleetView& view, model::ObjectKind kind,
                                       std::string_view name);
// Of a task's key; null: not polled.
const config::TargetPlanInput* find_target(const FleetView& view, std::string_view task_key);

}  // namespace pollux::runtime
