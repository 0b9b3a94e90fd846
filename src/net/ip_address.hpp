// An IPv4 or IPv6 address, and a range of them, as values.
//
// Used by whoever connects, listens or compares addresses. Plain values: no thread owns them, and
// nothing here asks a name server.
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::net {

class IpAddress {
  public:
    IpAddress() = default;  // 0.0.0.0

    static IpAddress v4(const std::array<std::uint8_t, 4>& bytes);
    static IpAddress v6(const std::array<std::uint8_t, 16>& bytes, std::uint32_t scope = 0);

    // "192.0.2.1", "2001:db8::1", "[::1]", "fe80::1%eth0", "[fe80::1%25eth0]" (as in a URL). Only
    // these: no names, no ports, no shortened or octal IPv4. An interface that does not exist is
    // no address.
    static std::optional<IpAddress> parse(std::string_view text);
    static std::optional<IpAddress> from_sockaddr(const sockaddr* address, socklen_t length);

    bool is_v4() const { return v4_; }
    bool is_v6() const { return !v4_; }
    std::uint32_t scope() const { return scope_; }  // index of the interface; 0: none
    std::span<const std::uint8_t> bytes() const { return {bytes_.data(), v4_ ? 4U : 16U}; }

    // The IPv4 address inside of ::ffff:a.b.c.d (IPv4-mapped) or 64:ff9b::a.b.c.d (NAT64), which
    // is where a packet to it ends up; any other address is itself.
    IpAddress unwrapped() const;

    std::string to_string() const;                    // "fe80::1%2"
    std::string to_string(std::uint16_t port) const;  // "192.0.2.1:80", "[::1]:80"
    socklen_t to_sockaddr(std::uint16_t port, sockaddr_storage& out) const;

    auto operator<=>(const IpAddress&) const = default;

  private:
    std::array<std::uint8_t, 16> bytes_{};  // IPv4: the first four
    std::uint32_t scope_ = 0;
    bool v4_ = true;
};

// All addresses that share their first bits. Scopes are not looked at.
class IpRange {
  public:
    IpRange() = default;  // 0.0.0.0/32

    // "10.0.0.0/8", "fd00::/8", or one address. Bits behind the prefix must be zero: somebody who
    // writes 10.1.2.3/8 meant something else.
    static base::Result<IpRange> parse(std::string_view text);

    // An IPv4 range holds IPv4 addresses only; who means the wrapped forms unwraps first.
    bool contains(const IpAddress& address) const;
    std::string to_string() const;

    bool operator==(const IpRange&) const = default;

  private:
    IpAddress first_;
    std::uint8_t prefix_ = 32;
};

}  // namespace pollux::net
