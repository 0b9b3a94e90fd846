// The fleet as canonical files: stable order, nothing that is not set, no comments. What was a
// literal secret is written as a reference into the vault, where it is sealed.
#pragma once

#include <string>
#include <string_view>

#include "config/fleet.hpp"

namespace pollux::config {

// One YAML file; read_fleet() gives back the same fleet, but for literal secrets.
std::string export_fleet(const Fleet& fleet);

// What `pollux init` writes: a small fleet with comments. Says that adaptive polling is on
// (starter_system_json()) and how to turn it off.
std::string_view starter_fleet();

}  // namespace pollux::config
