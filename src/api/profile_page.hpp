// What was learned about SNMP devices, as JSON: what the control socket and the API show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/profile_row.hpp"

namespace pollux::api {

// {"profiles": [...]} in order of devices and addresses; `device` not empty: only those with this
// name, host or address.
std::string profile_page(const std::vector<runtime::ProfileRow>& rows, std::string_view device);

// The same of one device of the fleet, for who may see this one only: whatever else has its address
// is not named, and a name that looks like an address is only a name.
std::string device_profile_page(const std::vector<runtime::ProfileRow>& rows,
                                std::string_view device);

}  // namespace pollux::api
