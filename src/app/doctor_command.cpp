// `pollux doctor`: what is wrong with this installation, and a file for those who help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "app/doctor.hpp"

namespace pollux::app {
namespace {

struct Arguments : DoctorArguments {
    std::string bundle;
};

int run(const Arguments& arguments, const FleetPorts& ports) {
    const DoctorReport report = examine(arguments, ports);
    fmt::print("{}", report.text());
    if (!arguments.bundle.empty()) {
        SupportBundle bundle;
        fill_bundle(bundle, arguments, ports, report);
        if (const auto written = bundle.write(arguments.bundle); !written) {
            fmt::print(stderr, "pollux: {}\n", written.error().message);
            return 2;
        }
        fmt::print(
            "wrote {}: {} files, {} secrets taken out. It names your devices and their "
            "addresses; look into it before you pass it on\n",
            arguments.bundle, bundle.files().size(), bundle.hidden());
    }
    return report.problems == 0 ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& app, int& status, const FleetPorts& ports) {
    auto arguments = std::make_shared<Arguments>();
    auto* command =
        app.add_subcommand("doctor", "Find what is wrong with an installation; changes nothing.");
    command->add_option("--data", arguments->data, "Data folder of the server")
        ->envname("POLLUX_DATA")
        ->capture_default_str();
    command->add_option("--addons", arguments->addons, "Folder with addons of your own");
    command->add_option("--bundle", arguments->bundle,
                        "Also write a tar.gz for support: health, settings, fleet, log and "
                        "timeline, without secrets");
    command->callback([arguments, &status, &ports] { status = run(*arguments, ports); });
}

}  // namespace pollux::app
