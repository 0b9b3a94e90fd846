// `pollux metrics reference`.
#include <CLI/CLI.hpp>

#include "app/commands.hpp"
#include "app/fleet_workspace.hpp"
#include "observe/metric_catalog.hpp"

namespace pollux::app {

void add_metrics(CLI::App& app, int& status) {
    auto* command = app.add_subcommand("metrics", "The metrics of the server.");
    command->require_subcommand(1);
    auto* reference = command->add_subcommand(
        "reference", "The page docs/metrics-reference.md, from the table in the program.");
    reference->callback([&status] { status = print({0, observe::metric_reference(), ""}); });
}

}  // namespace pollux::app
