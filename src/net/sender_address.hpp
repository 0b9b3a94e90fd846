// Whom an address counts as, where it is counted how much one sender may do.
#pragma once

#include "net/ip_address.hpp"

namespace pollux::net {

// The address itself, unwrapped; of IPv6 the first 64 bits, because a machine has 2^64 addresses to
// speak from.
IpAddress sender_of(const IpAddress& source);

}  // namespace pollux::net
