// What `check`, `plan` and `export` share: files, settings and addons brought together, with all
// complaints in one place.
#pragma once

#include <string>
#include <vector>

#include "app/fleet_ports.hpp"
#include "config/capacity.hpp"
#include "config/expand.hpp"
#include "config/fleet_reader.hpp"
#include "config/settings.hpp"
#include "document/diagnostic.hpp"

namespace pollux::app {

struct FleetArguments {
    std::vector<std::string> paths;  // files and folders
    std::string data_folder;         // empty: none
    std::string settings_file;       // a system.json; empty: that of the data folder, if there
    std::string addons{};            // folder with addons of one's own; empty: none
};

// A fleet with everything known about it. `diagnostics` says whether it may be used.
struct FleetWorkspace {
    config::LoadedFleet loaded;
    config::Settings settings;
    std::vector<model::Addon> addons;
    config::AddonLookup lookup;  // points into `addons`
    bool addons_checked = false;
    config::Expansion expansion;
    config::Capacity capacity;
    document::Diagnostics diagnostics{200};
};

// What a command printed, and its exit code.
struct CommandOutput {
    int status = 0;
    std::string out;
    std::string err;
};

// Reads, checks and expands. An error is about files that cannot be read at all.
base::Result<std::unique_ptr<FleetWorkspace>> open_workspace(const FleetArguments& arguments,
                                                             const FleetPorts& ports);

// The settings in force for a data folder or a given system.json.
base::Result<config::Settings> load_settings(const FleetArguments& arguments,
                                             const FleetPorts& ports,
                                             document::Diagnostics& diagnostics);

CommandOutput run_check(const FleetArguments& arguments, const FleetPorts& ports);
CommandOutput run_plan(const FleetArguments& arguments, bool capacity, bool adopt,
                       const FleetPorts& ports);
CommandOutput run_export(const FleetArguments& arguments, const FleetPorts& ports);
CommandOutput run_settings_show(const FleetArguments& arguments, const FleetPorts& ports);

// Prints to the standard streams and hands back the exit code.
int print(const CommandOutput& output);

}  // namespace pollux::app
