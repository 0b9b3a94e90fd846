// The commands of the binary. Each adds itself to the command line and leaves its exit code.
#pragma once

namespace CLI {
class App;
}

namespace pollux::app {

struct FleetPorts;

void add_simulate(CLI::App& app, int& status);
void add_addon(CLI::App& app, int& status);
void add_metrics(CLI::App& app, int& status);

// `ports` outlive the command line.
void add_demo(CLI::App& app, int& status, const FleetPorts& ports);
void add_check(CLI::App& app, int& status, const FleetPorts& ports);
void add_plan(CLI::App& app, int& status, const FleetPorts& ports);
void add_export(CLI::App& app, int& status, const FleetPorts& ports);
void add_settings(CLI::App& app, int& status, const FleetPorts& ports);
void add_serve(CLI::App& app, int& status, const FleetPorts& ports);
void add_apply(CLI::App& app, int& status, const FleetPorts& ports);
void add_doctor(CLI::App& app, int& status, const FleetPorts& ports);
void add_audit(CLI::App& app, int& status, const FleetPorts& ports);
void add_reload(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_history(CLI::App& app, int& status);
void add_poll(CLI::App& app, int& status, const FleetPorts& ports);
void add_top(CLI::App& app, int& status);
void add_device(CLI::App& app, int& status);
void add_secret(CLI::App& app, int& status);
void add_fleet(CLI::App& app, int& status);
void add_ssh(CLI::App& app, int& status);
void add_inbound(CLI::App& app, int& status);  // messages, inbound, push, hook

// Clients of the API.
void add_login(CLI::App& app, int& status);     // login, logout
void add_accounts(CLI::App& app, int& status);  // user, token
void add_objects(CLI::App& app, int& status);   // get, add, set, rm, enable, disable
void add_failures(CLI::App& app, int& status);  // breaker, dlq, failures
void add_alerts(CLI::App& app, int& status);    // alerts
void add_incidents(CLI::App& app, int& status);
void add_notify(CLI::App& app, int& status);  // silence, route, receiver, notifications
void add_jobs(CLI::App& app, int& status);
void add_events(CLI::App& app, int& status);
void add_health(CLI::App& app, int& status);
// workers, queues
void add_workers(CLI::App& app, int& status);
void add_config(CLI::App& app, int& status);
void add_live_settings(CLI::App& settings, int& status);  // get and set below `settings`
void add_completion(CLI::App& app, int& status);
void add_commands(CLI::App& app, int& status);  // the page of all commands

// All of the above.
void add_all_commands(CLI::App& app, int& status, const FleetPorts& ports);
// Reads the arguments and runs the command. 0 good, 1 refused or failed, 2 the arguments are wrong,
// 3 a server cannot be reached or does not allow it.
int run_program(int argc, const char* const* argv, const FleetPorts& ports);

}  // namespace pollux::app
