// Fleet files of tests: entries of `devices` that watch simulated devices.
#pragma once

#include <string>

#include "lab/fleet_server.hpp"

namespace pollux::live {

// The beginning of a fleet file: settings of all its targets, over what the manifests say.
std::string addon_settings(const std::string& settings);

// Holds the community of those devices that want another one than "public".
inline constexpr const char* kCommunityVariable = "LAB_COMMUNITY";

// "  web-00001: {address: …, addons: [{name: http-json, …}], <extra>}", one line. `path` says what
// the device plays: /as/json/status, /as/drip/status and so on.
std::string json_device(const lab::FleetServer& fleet, std::size_t number,
                        const std::string& path = "/as/json/status", const std::string& extra = "");

// A switch with both SNMP addons, or with those given.
std::string snmp_device(const lab::FleetServer& fleet, std::size_t number,
                        const std::string& addons = "snmp-system, snmp-interfaces",
                        const std::string& extra = "");

}  // namespace pollux::live
