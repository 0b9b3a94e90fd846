// `pollux export`: the fleet as one canonical file, from a data folder or from other files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.hpp"
#include "app/fleet_files.hpp"
#include "app/fleet_workspace.hpp"
#include "config/fleet_export.hpp"
#include "config/objects.hpp"

namespace pollux::app {
namespace {

CommandOutput failed(const std::string& message) {
    return {1, "", fmt::format("error: {}\n", message)};
}

CommandOutput export_files(const FleetArguments& arguments) {
    auto files = read_fleet_files(arguments.paths);
    if (!files) return failed(files.error().message);
    document::Diagnostics diagnostics;
    const config::LoadedFleet loaded = config::read_fleet(*files, diagnostics);
    diagnostics.sort();
    if (!diagnostics.ok()) return {1, "", diagnostics.text()};
    return {0, config::export_fleet(loaded.fleet), diagnostics.text()};
}

}  // namespace

CommandOutput run_export(const FleetArguments& arguments, const FleetPorts& ports) {
    if (!arguments.paths.empty()) return export_files(arguments);
    if (arguments.data_folder.empty() || !ports.objects) {
        return failed("nothing to export: name files, or a data folder with --data");
    }
    auto objects = ports.objects(arguments.data_folder);
    if (!objects) return failed(objects.error().message);
    // What a source lists comes from the source again.
    std::erase_if(*objects, [](const model::ConfigObject& object) {
        return object.origin == model::Origin::kDiscovery;
    });
    auto fleet = config::from_objects(*objects);
    if (!fleet) return failed(fleet.error().message);
    return {0, config::export_fleet(*fleet), ""};
}

void add_export(CLI::App& app, int& status, const FleetPorts& ports) {
    auto* command = app.add_subcommand(
        "export", "Write the fleet of a data folder (or of files) as one canonical file.");
    auto arguments = std::make_shared<FleetArguments>();
    command->add_option("paths", arguments->paths, "Files or folders instead of a data folder");
    command->add_option("--data", arguments->data_folder, "Data folder of the server")
        ->envname("POLLUX_DATA");
    command->callback(
        [arguments, &status, &ports] { status = print(run_export(*arguments, ports)); });
}

}  // namespace pollux::app
