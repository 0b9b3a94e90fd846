// What the simulated HTTP devices show, as functions of device and time.
#pragma once

#include <string>
#include <string_view>

#include "lab/device.hpp"

namespace pollux::lab {

// "ok", "degraded" or "failed"; changes at the pace of the device.
std::string_view health_of(const Device& device, FleetTime now);
std::string status_json(const Device& device, FleetTime now);
std::string status_xml(const Device& device, FleetTime now);

}  // namespace pollux::lab
