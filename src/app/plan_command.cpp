// `pollux plan`: what `apply` would do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.hpp"
#include "app/fleet_workspace.hpp"
#include "config/objects.hpp"

namespace pollux::app {

CommandOutput run_plan(const FleetArguments& arguments, bool capacity, bool adopt,
                       const FleetPorts& ports) {
    CommandOutput output;
    auto workspace = open_workspace(arguments, ports);
    if (!workspace) return {1, "", fmt::format("error: {}\n", workspace.error().message)};
    const FleetWorkspace& found = **workspace;
    output.err = found.diagnostics.text();
    if (!found.diagnostics.ok()) {
        output.err += "nothing is planned: mend the errors first\n";
        output.status = 1;
        return output;
    }
    std::vector<model::ConfigObject> stored;
    if (ports.objects && !arguments.data_folder.empty()) {
        auto objects = ports.objects(arguments.data_folder);
        if (!objects) return {1, "", fmt::format("error: {}\n", objects.error().message)};
        stored = std::move(*objects);
    } else {
        output.out += "compared with an empty store: no data folder was given\n";
    }
    config::DiffOptions options;
    options.adopt = adopt;
    const config::FleetDiff difference =
        config::diff(stored, config::to_objects(found.loaded.fleet), options);
    output.out += config::describe(difference);
    if (capacity) output.out += "\n" + config::describe(found.capacity);
    output.status = difference.conflicts.empty() ? 0 : 1;
    return output;
}

void add_plan(CLI::App& app, int& status, const FleetPorts& ports) {
    struct PlanArguments {
        FleetArguments fleet;
        bool capacity = false;
        bool adopt = false;
    };
    auto* command = app.add_subcommand("plan", "Show what `apply` would change.");
    auto arguments = std::make_shared<PlanArguments>();
    command->add_option("paths", arguments->fleet.paths, "Files or folders")->required();
    command->add_option("--data", arguments->fleet.data_folder, "Data folder of the server")
        ->envname("POLLUX_DATA");
    command->add_option("--addons", arguments->fleet.addons, "Folder with addons of your own");
    command->add_option("--settings", arguments->fleet.settings_file,
                        "A system.json other than that of the data folder");
    command->add_flag("--capacity", arguments->capacity,
                      "Estimate polls per second, CPU and disk per day");
    command->add_flag("--adopt", arguments->adopt,
                      "Take over objects that the API or discovery owns");
    command->callback([arguments, &status, &ports] {
        status = print(run_plan(arguments->fleet, arguments->capacity, arguments->adopt, ports));
    });
}

}  // namespace pollux::app
