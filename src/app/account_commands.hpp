// What the commands about accounts share.
#pragma once

#include "app/api_command.hpp"
#include "base/secret.hpp"

namespace pollux::app {

using Proof = std::vector<std::pair<std::string, std::string>>;  // header fields of a session

// Logs in for one act; end it with close_session.
base::Result<Proof> open_session(const ApiClient& client, const std::string& name,
                                 const base::Secret& password);
void close_session(const ApiClient& client, const Proof& proof);

// Asks twice where a person types.
base::Result<base::Secret> ask_new_password();

// Adds `bootstrap` below `user`.
void add_bootstrap(CLI::App& user, int& status);

}  // namespace pollux::app
