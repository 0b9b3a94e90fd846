// `pollux addon install|rm|enable|disable` and `addon ls --server`: the addons of a running server,
// through the API.
#pragma once

#include "app/api_command.hpp"

namespace pollux::app {

// Below `addon`.
void add_online_addons(CLI::App& addon, int& status);
// The addons that the server has; the exit code.
int list_server_addons(const ApiArguments& arguments);

}  // namespace pollux::app
