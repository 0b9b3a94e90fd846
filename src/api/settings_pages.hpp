// The settings as JSON: shown with where each value came from, changed by name, compared by
// version. Pure over a snapshot.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/settings_resolve.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "runtime/fleet_view.hpp"
#include "store/store_types.hpp"

namespace pollux::api {

enum class SettingsPart : std::uint8_t {
    kAll,
    kMonitoring,  // adaptive polling, intervals, time limits, limits of load
};

// Whether a setting belongs to the part.
bool in_part(SettingsPart part, std::string_view key);

std::string settings_page(const runtime::FleetView& view, SettingsPart part);

// What the stored settings become with a body such as {"adaptive_polling_enabled": true,
// "global_rate": null}; null takes a value away. `reason` in the body is not a setting. Complaints
// name the field; a value that a variable of the environment decides is refused
// (settings.locked).
base::Result<config::StoredSettings> edited_settings(const runtime::FleetView& view,
                                                     SettingsPart part, const document::Node& body,
                                                     document::Diagnostics& diagnostics);

// Versions, the newest first, with what each changed against the one before it; the one before the
// last of `versions` is `before`, if there is one.
std::string versions_page(const std::vector<store::SettingsVersion>& versions,
                          const std::optional<store::SettingsVersion>& before);

// What differs between two versions.
std::string difference_page(const store::SettingsVersion& from, const store::SettingsVersion& to);

// The settings that a version holds.
base::Result<config::StoredSettings> settings_of(const store::SettingsVersion& version);

}  // namespace pollux::api
