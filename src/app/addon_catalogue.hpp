// docs/addons.md, whole: every shipped addon with its parameters, metrics and conditions.
#pragma once

#include <string>

namespace pollux::app {

std::string addon_catalogue();

}  // namespace pollux::app
