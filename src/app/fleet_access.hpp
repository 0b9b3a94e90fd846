// What the fleet commands get from the rest of the program: addons, and the objects of a data
// folder, from its running server or from the store itself.
#pragma once

#include <string>
#include <vector>

#include "app/fleet_ports.hpp"
#include "model/object.hpp"
#include "runtime/fleet_image.hpp"

namespace pollux::app {

FleetPorts real_fleet_ports();

// Those in the binary, over them `own_folder` or the folder `addons` of the data folder, over them
// what people stored in its server.
base::Result<std::shared_ptr<const runtime::AddonSet>> compiled_addons(
    const std::string& data_folder, const std::string& own_folder);

// Between server and command, over the control socket.
std::string encode_objects(const std::vector<model::ConfigObject>& objects);
base::Result<std::vector<model::ConfigObject>> decode_objects(const std::string& bytes);

std::string encode_learned(const std::vector<std::string>& learned);
base::Result<std::vector<std::string>> decode_learned(const std::string& bytes);

}  // namespace pollux::app
