// What the fleet commands need from the rest of the program. main() hands it in; an empty function
// means that this part is not there, and the command says what it did without it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/settings_resolve.hpp"
#include "model/addon.hpp"
#include "model/object.hpp"

namespace pollux::app {

struct FleetPorts {
    // Every addon that is known: those in the binary, and those of a folder of one's own; without
    // such, those that the data folder holds.
    std::function<base::Result<std::vector<model::Addon>>(const std::string& data_folder,
                                                          const std::string& own_folder)>
        addons;
    // All configured objects of a data folder, bodies of credentials opened.
    std::function<base::Result<std::vector<model::ConfigObject>>(const std::string& data_folder)>
        objects;
    // The newest transitions of a data folder as lines, from its server or from the store itself.
    std::function<base::Result<std::string>(const std::string& data_folder)> timeline = {};
    config::Environment environment;
};

// The variables of this process.
config::Environment process_environment();

}  // namespace pollux::app
