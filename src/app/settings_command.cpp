// `pollux settings show` and `pollux settings reference`; get and set are in config_command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.hpp"
#include "app/fleet_workspace.hpp"
#include "config/settings_registry.hpp"

namespace pollux::app {

CommandOutput run_settings_show(const FleetArguments& arguments, const FleetPorts& ports) {
    CommandOutput output;
    document::Diagnostics diagnostics;
    const auto settings = load_settings(arguments, ports, diagnostics);
    if (!settings) return {1, "", fmt::format("error: {}\n", settings.error().message)};
    for (const config::SettingDef& row : config::setting_definitions()) {
        output.out +=
            fmt::format("{:<34} {:<28} {:<12} {}\n", row.key, config::format_value(row, *settings),
                        config::to_string(config::origin_of(*settings, row.key)), row.environment);
    }
    diagnostics.sort();
    output.err = diagnostics.text();
    output.status = diagnostics.ok() ? 0 : 1;
    return output;
}

void add_settings(CLI::App& app, int& status, const FleetPorts& ports) {
    auto* command = app.add_subcommand("settings", "The settings of the server.");
    command->require_subcommand(1);
    auto* show = command->add_subcommand(
        "show", "Every setting with its value, where the value came from, and its variable.");
    auto arguments = std::make_shared<FleetArguments>();
    show->add_option("--data", arguments->data_folder, "Data folder of the server")
        ->envname("POLLUX_DATA");
    show->add_option("--settings", arguments->settings_file,
                     "A system.json other than that of the data folder");
    show->callback(
        [arguments, &status, &ports] { status = print(run_settings_show(*arguments, ports)); });
    add_live_settings(*command, status);
    auto* reference = command->add_subcommand(
        "reference", "The page docs/settings-reference.md, from the table in the program.");
    reference->callback(
        [&status] { status = print({0, config::settings_reference_markdown(), ""}); });
}

}  // namespace pollux::app
