// Targets as people think of them, as edits of what is stored: a target is a device that has an
// addon. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/fleet_edit.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "model/object.hpp"

namespace pollux::config {

// `addon::device` or `addon::device#group` -> its parts.
struct TargetName {
    std::string addon;
    std::string device;
    std::string key() const;
};
base::Result<TargetName> parse_target_name(std::string_view key);

// Gives the device the addon, and makes the device if there is none: `device` is its body then, or
// null. `settings` are those of the target, or null. Codes: object.exists if it has the addon
// already; otherwise those of plan_edit().
base::Result<std::vector<WantedObject>> add_target(std::span<const model::ConfigObject> current,
                                                   const TargetName& target,
                                                   const document::Node& device,
                                                   const document::Node& settings,
                                                   document::Diagnostics& diagnostics);

// Takes the addon off the device; a device without addons goes too. Codes: object.unknown,
// object.owned if a group gives the addon to the device, object.version if the target is at another
// version than the caller has seen.
base::Result<std::vector<WantedObject>> remove_target(
    std::span<const model::ConfigObject> current, const TargetName& target,
    std::optional<std::uint64_t> if_version = std::nullopt);

// Tells the mistakes of bodies where a request holds them: below `path` in `device_spec` or `spec`.
void check_target_bodies(std::span<const WantedObject> wanted, const std::string& path,
                         document::Diagnostics& diagnostics);

}  // namespace pollux::config
