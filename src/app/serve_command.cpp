// `pollux serve`: the server. Reads its fleet, polls, keeps everything, and shows its metrics until
// it is told to stop.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/control_server.hpp"
#include "app/fleet_files.hpp"
#include "app/fleet_ports.hpp"
#include "app/serving.hpp"
#include "lab/fleet_server.hpp"

namespace pollux::app {
namespace {

int serve(const ServeArguments& arguments, const config::Environment& environment) {
    auto serving = Serving::start(arguments, environment);
    if (!serving) {
        fmt::print(stderr, "pollux: {}\n", serving.error().message);
        return 1;
    }
    fmt::print("{}", first_steps(**serving));
    std::fflush(stdout);
    (*serving)->run();
    return 0;
}

}  // namespace

void add_serve(CLI::App& app, int& status, const FleetPorts& ports) {
    auto arguments = std::make_shared<ServeArguments>();
    auto* command = app.add_subcommand("serve", "Run the server: poll the fleet until stopped.");
    command->add_option("--data", arguments->data, "Folder of everything durable")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    command->add_option("--fleet", arguments->fleet,
                        "Fleet files or folders; without it, the fleet is what was applied before");
    command->add_option("--addons", arguments->addons, "Folder with addons of your own");
    command->add_flag("--memory", arguments->memory, "Keep nothing: no data folder");
    command
        ->add_option("--log-format", arguments->log_format, "logfmt for people, json for machines")
        ->check(CLI::IsMember({"logfmt", "json"}))
        ->capture_default_str();
    command->callback(
        [arguments, &status, &ports] { status = serve(*arguments, ports.environment); });
}

}  // namespace pollux::app
