// What the fleet commands get from the rest of the program: addons, and the objects of a data
// folder, from its running server or from the store itself.
#pragma once

#include <string>
#include <vector>

#include "app/fleet_ports.hpp"
#include "model/object.hpp"

namespace pollux::app {

FleetPorts real_fleet_ports();

// Between server and command, over the control socket.
std::string encode_objects(const std::vector<model::ConfigObject>& objects);
base::Result<std::vector<model::ConfigObject>> decode_objects(const std::string& bytes);

}  // namespace pollux::app
