// Where a request really comes from: the peer, or what proxies that we trust say about it.
#pragma once

#include <span>
#include <string>

#include "net/http_message.hpp"
#include "net/ip_address.hpp"

namespace pollux::api {

struct Client {
    net::IpAddress address;  // IPv4 also where it came as ::ffff:a.b.c.d
    net::IpAddress peer;
    bool forwarded = false;         // some field says that a proxy was there, trusted or not
    bool by_trusted_proxy = false;  // the peer is one
    bool secure = false;            // TLS, here or at a trusted proxy

    bool direct_loopback() const;
};

// X-Forwarded-For is read from its right end: each address there was written by the one behind it,
// so it counts as long as that one is trusted. The first that is not trusted is the client.
Client client_of(const net::Request& request, std::span<const net::IpRange> trusted);

// What limits count by: the address, or the /64 of an IPv6 address, which one host has whole.
std::string limit_key(const net::IpAddress& address);

bool in_ranges(std::span<const net::IpRange> ranges, const net::IpAddress& address);
bool is_loopback(const net::IpAddress& address);

}  // namespace pollux::api
