// What discoveries propose, and taking it over.
#pragma once

#include <vector>

#include "api/route.hpp"
#include "api/server_link.hpp"

namespace pollux::api {

void add_proposal_routes(std::vector<Route>& routes, const ServerLink& link);

}  // namespace pollux::api
