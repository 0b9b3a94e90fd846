#include "app/fleet_workspace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "app/channel_files.hpp"
#include "app/fleet_files.hpp"
#include "config/check_fleet.hpp"
#include "config/membership.hpp"
#include "config/notify.hpp"
#include "config/settings_resolve.hpp"
#include "runtime/zone_files.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kMaxSettingsBytes = 1U << 20U;

std::string settings_path(const FleetArguments& arguments) {
    if (!arguments.settings_file.empty()) return arguments.settings_file;
    if (arguments.data_folder.empty()) return {};
    std::string path = arguments.data_folder + "/system.json";
    std::error_code error;
    return std::filesystem::exists(path, error) ? path : std::string();
}

// Without a catalogue every addon that is named counts as known, so that the rest can be checked.
std::vector<model::Addon> assumed_addons(const config::Fleet& fleet) {
    std::set<std::string> names;
    const config::Membership membership(fleet);
    for (const auto& [device, unused] : fleet.devices) {
        names.merge(membership.addons_of(device));
    }
    for (const auto& [name, source] : fleet.sources) {
        names.insert(source.addons.begin(), source.addons.end());
    }
    for (const auto& [name, settings] : fleet.addons) names.insert(name);
    std::vector<model::Addon> addons;
    for (const std::string& name : names) {
        model::Addon addon;
        addon.name = name;
        addon.groups.emplace_back();
        addons.push_back(std::move(addon));
    }
    return addons;
}

}  // namespace

config::Environment process_environment() {
    config::Environment result;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        result.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return result;
}

base::Result<config::Settings> load_settings(const FleetArguments& arguments,
                                             const FleetPorts& ports,
                                             document::Diagnostics& diagnostics) {
    config::StoredSettings stored;
    const std::string path = settings_path(arguments);
    if (!path.empty()) {
        auto text = read_text_file(path, kMaxSettingsBytes);
        if (!text) return std::unexpected(std::move(text.error()));
        stored = config::read_system_json(*text, path, diagnostics).stored;
        // Said already, with its line: resolving would say it again without.
        if (!diagnostics.ok()) stored = {};
    }
    return config::resolve_settings(ports.environment, stored, diagnostics);
}

base::Result<std::unique_ptr<FleetWorkspace>> open_workspace(const FleetArguments& arguments,
                                                             const FleetPorts& ports) {
    auto files = read_fleet_files(arguments.paths);
    if (!files) return std::unexpected(std::move(files.error()));
    auto workspace = std::make_unique<FleetWorkspace>();
    document::Diagnostics& diagnostics = workspace->diagnostics;
    auto settings = load_settings(arguments, ports, diagnostics);
    if (!settings) return std::unexpected(std::move(settings.error()));
    workspace->settings = std::move(*settings);
    const auto channels = load_channels(workspace->settings);
    if (!channels) return std::unexpected(channels.error());
    workspace->loaded = config::read_fleet(*files, diagnostics);
    if (ports.addons) {
        auto addons = ports.addons(arguments.data_folder, arguments.addons);
        if (!addons) return std::unexpected(std::move(addons.error()));
        workspace->addons = std::move(*addons);
        workspace->addons_checked = true;
    } else {
        workspace->addons = assumed_addons(workspace->loaded.fleet);
    }
    for (const model::Addon& addon : workspace->addons) workspace->lookup[addon.name] = &addon;
    const config::Fleet& fleet = workspace->loaded.fleet;
    config::check_fleet(fleet, workspace->loaded.places, diagnostics);
    runtime::check_zones(fleet, workspace->loaded.places, diagnostics);
    config::check_channels(fleet.receivers, workspace->loaded.places, **channels, diagnostics);
    workspace->expansion = config::expand(fleet, workspace->loaded.places, workspace->lookup,
                                          workspace->settings, {}, diagnostics);
    workspace->capacity =
        config::capacity(workspace->expansion, workspace->lookup, workspace->settings);
    config::check_capacity(workspace->capacity, diagnostics);
    // Whatever is wrong above would be told twice.
    if (diagnostics.ok() && ports.check_targets) {
        const auto status =
            ports.check_targets(arguments.data_folder, arguments.addons, workspace->loaded,
                                workspace->settings, diagnostics);
        if (!status) return std::unexpected(status.error());
    }
    diagnostics.sort();
    return workspace;
}

int print(const CommandOutput& output) {
    std::fwrite(output.out.data(), 1, output.out.size(), stdout);
    std::fwrite(output.err.data(), 1, output.err.size(), stderr);
    return output.status;
}

}  // namespace pollux::app
