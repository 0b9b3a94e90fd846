// What was learned about SNMP devices, as JSON: what the control socket shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/profile_row.hpp"

namespace pollux::app {

// {"profiles": [...]} in order of devices and addresses; `device` not empty: only those with this
// name, host or address.
std::string profile_page(const std::vector<runtime::ProfileRow>& rows, std::string_view device);

}  // namespace pollux::app
