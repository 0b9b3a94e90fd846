// An alert or an incident on a terminal: what it is, what it hangs together with, what happened,
// who was told. Made of the pages of the API.
#pragma once

#include <string>

#include "document/node.hpp"

namespace pollux::app {

std::string alert_text(const document::Node& alert);
// As a tree: the root, below it what it explains.
std::string incident_text(const document::Node& incident);

}  // namespace pollux::app
