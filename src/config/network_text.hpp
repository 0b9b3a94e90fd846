// What counts as an address, a range of addresses or a host name in configuration. Text only:
// nothing is resolved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pollux::config {

// IPv4 as dotted decimals, IPv6 as RFC 4291 has it; no port, no brackets, no zone.
bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);
bool is_address(std::string_view text);

// "10.0.0.0/8", "fd00::/8"; a single address counts as a range too.
bool is_address_range(std::string_view text);

// Letters, digits, '-', '_' and dots; labels of 1 to 63 characters, 253 in all. A text of digits
// and dots only is an address or nothing.
bool is_host_name(std::string_view text);

// "host:port", "[v6]:port", "host" or an address; port 0: none given.
struct HostPort {
    std::string_view host;
    std::uint16_t port = 0;
};
std::optional<HostPort> split_host_port(std::string_view text);
// An address to listen on, with its port; port 0: whichever is free.
std::optional<HostPort> split_listen_address(std::string_view text);

}  // namespace pollux::config
