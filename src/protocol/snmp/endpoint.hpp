// Where a datagram comes from or goes to: a UDP address as a small value that can be compared.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/siphash.hpp"

namespace pollux::protocol::snmp {

struct Endpoint {
    std::array<std::uint8_t, 16> address{};  // IPv4: the first four bytes
    std::uint32_t scope = 0;                 // IPv6 link-local: the interface
    std::uint16_t port = 0;                  // host order
    sa_family_t family = AF_UNSPEC;

    bool operator==(const Endpoint&) const = default;
};

// An IPv4 or IPv6 literal, also fe80::1%eth0; never asks a resolver. nullopt: it is a name.
std::optional<Endpoint> parse_literal(const std::string& host, std::uint16_t port);

// nullopt: neither IPv4 nor IPv6.
std::optional<Endpoint> from_sockaddr(const sockaddr_storage& address);
socklen_t to_sockaddr(const Endpoint& endpoint, sockaddr_storage& address);

// "192.0.2.1:161", "[2001:db8::1]:161"
std::string to_string(const Endpoint& endpoint);

// For what is kept over a restart.
void encode(const Endpoint& endpoint, base::ByteWriter& writer);
// Fails the reader if it is none.
Endpoint decode_endpoint(base::ByteReader& reader);

std::uint64_t hash_of(const Endpoint& endpoint, base::SipKey key);

}  // namespace pollux::protocol::snmp
