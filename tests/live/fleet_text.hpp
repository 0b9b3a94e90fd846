// Fleet files of tests: entries of `devices` that watch simulated devices.
#pragma once

#include <string>

#include "lab/fleet_server.hpp"

namespace pollux::live {

// "  web-00001: {address: …, addons: [{name: http-json, …}], <extra>}", one line. `path` says what
// the device plays: /as/json/status, /as/drip/status and so on.
std::string json_device(const lab::FleetServer& fleet, std::size_t number,
                        const std::string& path = "/as/json/status", const std::string& extra = "");

// A switch with both SNMP addons, or with those given.
std::string snmp_device(const lab::FleetServer& fleet, std::size_t number,
                        const std::string& addons = "snmp-system, snmp-interfaces",
                        const std::string& extra = "");

}  // namespace pollux::live
