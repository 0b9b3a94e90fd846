// What the fleet commands need from the rest of the program. main() hands it in; an empty function
// means that this part is not there, and the command says what it did without it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/fleet_reader.hpp"
#include "config/settings_resolve.hpp"
#include "document/diagnostic.hpp"
#include "model/addon.hpp"
#include "model/object.hpp"

namespace pollux::app {

struct FleetPorts {
    // Every addon that is known: those in the binary, and those of a folder of one's own; without
    // such, those that the data folder holds.
    std::function<base::Result<std::vector<model::Addon>>(const std::string& data_folder,
                                                          const std::string& own_folder)>
        addons;
    // Tells what is wrong with single targets, such as parameters that their addons need. Secrets
    // are not looked up.
    std::function<base::Status(const std::string& data_folder, const std::string& own_folder,
                               const config::LoadedFleet& fleet, const config::Settings& settings,
                               document::Diagnostics& diagnostics)>
        check_targets = {};
    // All configured objects of a data folder, bodies of credentials opened.
    std::function<base::Result<std::vector<model::ConfigObject>>(const std::string& data_folder)>
        objects;
    // The newest transitions of a data folder as lines, from its server or from the store itself.
    std::function<base::Result<std::string>(const std::string& data_folder)> timeline = {};
    // What the drivers of a server learned about devices, as they keep it; from the server if it
    // runs, else as it was stored.
    struct Learned {
        std::vector<std::string> bytes;
        bool stored = false;
    };
    std::function<base::Result<Learned>(const std::string& data_folder)> learned = {};
    // The environment of the server that runs over a data folder: it has the variables that the
    // fleet and the settings are about. Nothing: the server is this process. An error: it may not
    // be looked at.
    std::function<base::Result<std::optional<config::Environment>>(const std::string& data_folder)>
        environment_of_server = {};
    config::Environment environment;
};

// `ports` as they are for the server of a data folder; `whose` then says whose variables they are.
struct PortsOfServer {
    FleetPorts ports;
    std::string whose = "this command";
    bool server_runs = false;
    std::string problem;  // why they are not the running server's; empty: they are, or none runs
};
PortsOfServer ports_of_server(const std::string& data_folder, const FleetPorts& ports);

// The variables of this process.
config::Environment process_environment();

}  // namespace pollux::app
