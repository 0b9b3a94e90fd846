// The only entry: see program.cpp.
#include "app/commands.hpp"
#include "app/fleet_access.hpp"
#include "app/fleet_ports.hpp"

int main(int argc, char** argv) {
    const pollux::app::FleetPorts ports = pollux::app::real_fleet_ports();
    return pollux::app::run_program(argc, argv, ports);
}
