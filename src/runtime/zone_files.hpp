// Time zones as the machine has them.
#pragma once

#include <string>

#include "alert/time_windows.hpp"

namespace pollux::runtime {

inline constexpr const char* kZoneFolder = "/usr/share/zoneinfo";

// Reads each zone once. "UTC" needs no file. From any thread; blocks for one small file. Error
// zone.unknown: no such file, or none that holds a zone.
alert::ZoneLookup zone_lookup(std::string folder = kZoneFolder);

}  // namespace pollux::runtime
