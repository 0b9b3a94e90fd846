// The whole command line: reads it and hands over to one command.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "app/api_client.hpp"
#include "app/commands.hpp"
#include "app/usage_message.hpp"

namespace pollux::app {

void add_all_commands(CLI::App& app, int& status, const FleetPorts& ports) {
    app.name("pollux");
    app.require_subcommand(1);
    app.failure_message(usage_message);
    app.set_version_flag("--version", POLLUX_VERSION);
    add_simulate(app, status);
    add_addon(app, status);
    add_metrics(app, status);
    add_demo(app, status, ports);
    add_check(app, status, ports);
    add_plan(app, status, ports);
    add_export(app, status, ports);
    add_settings(app, status, ports);
    add_serve(app, status, ports);
    add_apply(app, status, ports);
    add_reload(app, status);
    add_explain(app, status);
    add_history(app, status);
    add_poll(app, status, ports);
    add_top(app, status);
    add_doctor(app, status, ports);
    add_device(app, status);
    add_audit(app, status, ports);
    add_secret(app, status);
    add_fleet(app, status);
    add_ssh(app, status);
    add_inbound(app, status);
    add_login(app, status);
    add_accounts(app, status);
    add_objects(app, status);
    add_failures(app, status);
    add_alerts(app, status);
    add_incidents(app, status);
    add_notify(app, status);
    add_jobs(app, status);
    add_events(app, status);
    add_health(app, status);
    add_workers(app, status);
    add_config(app, status);
    add_completion(app, status);
    add_commands(app, status);
}

int run_program(int argc, const char* const* argv, const FleetPorts& ports) {
    CLI::App app{"Pollux: an adaptive polling engine and monitor."};
    int status = 0;
    add_all_commands(app, status, ports);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // Help and version are no mistakes; CLI11 has a code of its own for each mistake.
        return app.exit(error) == 0 ? 0 : kUsageError;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pollux: %s\n", error.what());
        return kRefused;
    }
    return status;
}

}  // namespace pollux::app
