// An IPv4 or IPv6 address with a port, as the kernel takes it: plain data, no name resolution.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::net {

class SocketAddress {
  public:
    SocketAddress() = default;  // empty: valid() is false
    static SocketAddress ipv4(std::uint32_t address, std::uint16_t port);  // host byte order
    static SocketAddress loopback(std::uint16_t port) { return ipv4(INADDR_LOOPBACK, port); }
    // "127.0.0.1" or "::1"; names are refused.
    static base::Result<SocketAddress> parse(std::string_view host, std::uint16_t port);
    static SocketAddress from(const sockaddr* address, socklen_t length);
    static SocketAddress local_of(int fd);
    static SocketAddress peer_of(int fd);

    bool valid() const { return length_ != 0; }
    bool is_ipv4() const { return valid() && storage_.base.sa_family == AF_INET; }
    bool is_ipv6() const { return valid() && storage_.base.sa_family == AF_INET6; }
    // 127.0.0.0/8, ::1, and the IPv4 range written as IPv6.
    bool is_loopback() const;
    std::uint32_t ipv4_bits() const;  // host byte order; 0 if it is none
    std::uint16_t port() const;
    std::string host() const;       // "127.0.0.1", "::1"
    std::string to_string() const;  // "127.0.0.1:80", "[::1]:80"; "-" when empty

    const sockaddr* data() const { return &storage_.base; }
    socklen_t length() const { return length_; }

  private:
    union Storage {
        sockaddr base;
        sockaddr_in v4;
        sockaddr_in6 v6;
    };
    Storage storage_{};
    socklen_t length_ = 0;
};

}  // namespace pollux::net
