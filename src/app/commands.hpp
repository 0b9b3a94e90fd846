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
void add_inbound(CLI::App& app, int& status);  // events, inbound, push, hook

}  // namespace pollux::app
