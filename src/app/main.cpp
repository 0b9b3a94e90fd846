// The only entry: reads the command line and hands over to one command.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "app/commands.hpp"
#include "app/fleet_access.hpp"
#include "app/usage_message.hpp"

int main(int argc, char** argv) {
    CLI::App app{"Pollux: an adaptive polling engine and monitor."};
    app.name("pollux");
    app.require_subcommand(1);
    app.failure_message(pollux::app::usage_message);
    app.set_version_flag("--version", POLLUX_VERSION);
    int status = 0;
    pollux::app::add_simulate(app, status);
    pollux::app::add_addon(app, status);
    pollux::app::add_metrics(app, status);
    const pollux::app::FleetPorts ports = pollux::app::real_fleet_ports();
    pollux::app::add_demo(app, status, ports);
    pollux::app::add_check(app, status, ports);
    pollux::app::add_plan(app, status, ports);
    pollux::app::add_export(app, status, ports);
    pollux::app::add_settings(app, status, ports);
    pollux::app::add_serve(app, status, ports);
    pollux::app::add_apply(app, status, ports);
    pollux::app::add_reload(app, status);
    pollux::app::add_explain(app, status);
    pollux::app::add_history(app, status);
    pollux::app::add_poll(app, status, ports);
    pollux::app::add_top(app, status);
    pollux::app::add_doctor(app, status, ports);
    pollux::app::add_device(app, status);
    pollux::app::add_audit(app, status, ports);
    pollux::app::add_secret(app, status);
    pollux::app::add_fleet(app, status);
    pollux::app::add_ssh(app, status);
    pollux::app::add_inbound(app, status);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pollux: %s\n", error.what());
        return 1;
    }
    return status;
}
