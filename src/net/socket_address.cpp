#include "net/socket_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.hpp"

namespace pollux::net {

SocketAddress SocketAddress::ipv4(std::uint32_t address, std::uint16_t port) {
    SocketAddress result;
    result.storage_.v4.sin_family = AF_INET;
    result.storage_.v4.sin_port = htons(port);
    result.storage_.v4.sin_addr.s_addr = htonl(address);
    result.length_ = sizeof(sockaddr_in);
    return result;
}

base::Result<SocketAddress> SocketAddress::parse(std::string_view host, std::uint16_t port) {
    const std::string text(host);
    SocketAddress result;
    if (inet_pton(AF_INET, text.c_str(), &result.storage_.v4.sin_addr) == 1) {
        result.storage_.v4.sin_family = AF_INET;
        result.storage_.v4.sin_port = htons(port);
        result.length_ = sizeof(sockaddr_in);
        return result;
    }
    result.storage_ = {};
    if (inet_pton(AF_INET6, text.c_str(), &result.storage_.v6.sin6_addr) == 1) {
        result.storage_.v6.sin6_family = AF_INET6;
        result.storage_.v6.sin6_port = htons(port);
        result.length_ = sizeof(sockaddr_in6);
        return result;
    }
    return base::config_error(
        "net.address", fmt::format("{} is not an IP address; write one like 127.0.0.1 or ::1",
                                   base::quoted(host)));
}

SocketAddress SocketAddress::from(const sockaddr* address, socklen_t length) {
    SocketAddress result;
    const bool known = (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) ||
                       (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6));
    if (!known) return result;
    result.length_ = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&result.storage_, address, result.length_);
    return result;
}

SocketAddress SocketAddress::local_of(int fd) {
    SocketAddress result;
    socklen_t length = sizeof result.storage_;
    if (getsockname(fd, &result.storage_.base, &length) == 0) result.length_ = length;
    return result;
}

SocketAddress SocketAddress::peer_of(int fd) {
    SocketAddress result;
    socklen_t length = sizeof result.storage_;
    if (getpeername(fd, &result.storage_.base, &length) == 0) result.length_ = length;
    return result;
}

bool SocketAddress::is_loopback() const {
    if (is_ipv4()) return ipv4_bits() >> 24U == 127;
    if (!is_ipv6()) return false;
    const in6_addr& address = storage_.v6.sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address)) return address.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&address);
}

std::uint32_t SocketAddress::ipv4_bits() const {
    return is_ipv4() ? ntohl(storage_.v4.sin_addr.s_addr) : 0;
}

std::uint16_t SocketAddress::port() const {
    if (is_ipv4()) return ntohs(storage_.v4.sin_port);
    return is_ipv6() ? ntohs(storage_.v6.sin6_port) : 0;
}

std::string SocketAddress::host() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_ipv4()) inet_ntop(AF_INET, &storage_.v4.sin_addr, text.data(), text.size());
    if (is_ipv6()) inet_ntop(AF_INET6, &storage_.v6.sin6_addr, text.data(), text.size());
    return text.data();
}

std::string SocketAddress::to_string() const {
    if (!valid()) return "-";
    return is_ipv6() ? fmt::format("[{}]:{}", host(), port())
                     : fmt::format("{}:{}", host(), port());
}

}  // namespace pollux::net
