// Writes the fleet file that makes Pollux watch a simulated fleet: devices with their addons,
// credentials, groups, labels and some parents.
#pragma once

#include <string>

#include "base/result.hpp"
#include "lab/fleet_server.hpp"

namespace pollux::lab {

// `secrets` is where the secrets lie: "<secrets>.password", ".token", ".community".
std::string fleet_file_text(const Fleet& fleet, const FleetPorts& ports,
                            const std::string& secrets);

// Writes `path` and, beside it, the files of the secrets (mode 0600).
base::Status write_fleet_file(const Fleet& fleet, const FleetPorts& ports, const std::string& path);

}  // namespace pollux::lab
