// Who may do what, written down by hand: what every operation of the API asks for. The server has a
// table of its own, so neither can be wrong alone. A new route is a new word here.
#pragma once

#include <map>
#include <set>
#include <string>

namespace pollux::live {

struct ApiAccess {
    std::string permission;   // read, operate, manage, audit, self; open: no login needed
    std::string area;         // what scopes of tokens are given by
    std::string rate;         // the class of its rate limit
    bool everywhere = false;  // only for those who may do it to everything

    bool operator==(const ApiAccess&) const = default;
};

// By operationId.
const std::map<std::string, ApiAccess>& api_access();

// All that answers without a login: liveness and readiness, logging in, what a browser must know to
// show the login, and the status page while its setting is on.
const std::set<std::string>& open_operations();

// What is asked by another method than GET and changes nothing.
const std::set<std::string>& unsafe_reads();

}  // namespace pollux::live
