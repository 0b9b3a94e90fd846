// The file with the token that `pollux login` made: mode 0600, with the server it is for, so that
// it is sent to no other.
//
//   plx_…
//   url http://127.0.0.1:7655
//   name cli-ada-desk-20260102030405678
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/secret.hpp"

namespace pollux::app {

struct StoredToken {
    base::Secret token;
    std::string url;   // empty: for every server
    std::string name;  // of the token at the server; may be empty
};

// $XDG_CONFIG_HOME/pollux/token, or ~/.config/pollux/token; empty: there is no home.
std::string default_token_file();

// Nothing if the file is not there. Refuses one that others can read (client.token_file).
base::Result<std::optional<StoredToken>> read_token_file(const std::string& path);

// Makes the folder if needed; the file is replaced whole.
base::Status write_token_file(const std::string& path, const StoredToken& token);

}  // namespace pollux::app
