// What the commands about accounts share.
#pragma once

#include "app/api_command.hpp"
#include "base/secret.hpp"

namespace pollux::app {

// Asks twice where a person types.
base::Result<base::Secret> ask_new_password();

// Adds `bootstrap` below `user`.
void add_bootstrap(CLI::App& user, int& status);

}  // namespace pollux::app
