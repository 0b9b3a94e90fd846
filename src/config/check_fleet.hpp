// Checks a fleet as a whole: what no object can know on its own.
#pragma once

#include "config/expand.hpp"
#include "config/fleet.hpp"
#include "config/settings.hpp"
#include "document/diagnostic.hpp"

namespace pollux::config {

// Errors: a parent, group, credential, resource, receiver or target that does not exist; devices
// that are their own ancestors; groups that are. Warnings: a group without members, a device
// without addons, credentials and receivers that nothing uses.
void check_fleet(const Fleet& fleet, const Places& places, document::Diagnostics& diagnostics);

}  // namespace pollux::config
