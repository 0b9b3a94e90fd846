// `pollux check`: says what is wrong with fleet files, and changes nothing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.hpp"
#include "app/fleet_workspace.hpp"

namespace pollux::app {

CommandOutput run_check(const FleetArguments& arguments, const FleetPorts& ports) {
    CommandOutput output;
    auto workspace = open_workspace(arguments, ports);
    if (!workspace) return {1, "", fmt::format("error: {}\n", workspace.error().message)};
    const FleetWorkspace& found = **workspace;
    output.err = found.diagnostics.text();
    output.status = found.diagnostics.ok() ? 0 : 1;
    output.out = fmt::format(
        "{}: {} errors, {} warnings; {} devices, {} tasks, {:.2f} polls per second of {:g}{}\n",
        found.diagnostics.ok() ? "ok" : "failed", found.diagnostics.errors(),
        found.diagnostics.warnings(), found.expansion.devices.size(), found.expansion.tasks.size(),
        found.capacity.polls_per_second, found.capacity.global_rate,
        found.addons_checked ? "" : "; addons were not checked");
    return output;
}

void add_check(CLI::App& app, int& status, const FleetPorts& ports) {
    auto* command = app.add_subcommand("check", "Check fleet files; nothing is changed.");
    auto arguments = std::make_shared<FleetArguments>();
    command->add_option("paths", arguments->paths, "Files or folders")->required();
    command->add_option("--data", arguments->data_folder, "Data folder of the server");
    command->add_option("--addons", arguments->addons, "Folder with addons of your own");
    command->add_option("--settings", arguments->settings_file,
                        "A system.json other than that of the data folder");
    command->callback(
        [arguments, &status, &ports] { status = print(run_check(*arguments, ports)); });
}

}  // namespace pollux::app
