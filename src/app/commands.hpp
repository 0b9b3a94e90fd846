// The commands of the binary. Each adds itself to the command line and leaves its exit code.
#pragma once

namespace CLI {
class App;
}

namespace pollux::app {

void add_simulate(CLI::App& app, int& status);
void add_demo(CLI::App& app, int& status);
void add_fleet(CLI::App& app, int& status);

}  // namespace pollux::app
