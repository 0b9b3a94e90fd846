// Whether this machine has a way to the rest of the world: a default route over an interface that
// has a carrier; and by whom it goes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "net/ip_address.hpp"

namespace pollux::runtime {

// Of the tables as the kernel shows them in /proc/net/route and /proc/net/ipv6_route.
bool has_default_route(std::string_view ipv4, std::string_view ipv6,
                       const std::function<bool(std::string_view interface)>& has_carrier);

// As it is now; true if that cannot be read.
bool read_default_route();

// The next hops of the default routes of such tables; a route without one has none.
std::vector<net::IpAddress> default_gateways(std::string_view ipv4, std::string_view ipv6);
std::vector<net::IpAddress> read_default_gateways();

}  // namespace pollux::runtime
