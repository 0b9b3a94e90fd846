#include "protocol/snmp/endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace pollux::protocol::snmp {
namespace {

constexpr std::uint8_t kFamilyV4 = 4;
constexpr std::uint8_t kFamilyV6 = 6;

std::size_t address_bytes(std::uint8_t family) { return family == kFamilyV4 ? 4 : 16; }

}  // namespace

std::optional<Endpoint> parse_literal(const std::string& host, std::uint16_t port) {
    Endpoint endpoint;
    endpoint.port = port;
    if (inet_pton(AF_INET, host.c_str(), endpoint.address.data()) == 1) {
        endpoint.family = AF_INET;
        return endpoint;
    }
    if (host.find(':') == std::string::npos) return std::nullopt;
    if (inet_pton(AF_INET6, host.c_str(), endpoint.address.data()) == 1) {
        endpoint.family = AF_INET6;
        return endpoint;
    }
    // An interface behind '%': only the library knows their numbers. Numeric, so it asks nobody.
    addrinfo hints{};
    hints.ai_family = AF_INET6;
    hints.ai_socktype = SOCK_DGRAM;
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return std::nullopt;
    sockaddr_storage storage{};
    std::memcpy(&storage, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    std::optional<Endpoint> scoped = from_sockaddr(storage);
    if (scoped) scoped->port = port;
    return scoped;
}

std::optional<Endpoint> from_sockaddr(const sockaddr_storage& address) {
    Endpoint endpoint;
    endpoint.family = address.ss_family;
    if (address.ss_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        std::memcpy(endpoint.address.data(), &v4.sin_addr, 4);
        endpoint.port = ntohs(v4.sin_port);
        return endpoint;
    }
    if (address.ss_family != AF_INET6) return std::nullopt;
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    std::memcpy(endpoint.address.data(), &v6.sin6_addr, 16);
    endpoint.port = ntohs(v6.sin6_port);
    endpoint.scope = v6.sin6_scope_id;
    return endpoint;
}

socklen_t to_sockaddr(const Endpoint& endpoint, sockaddr_storage& address) {
    if (endpoint.family == AF_INET) {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(endpoint.port);
        std::memcpy(&v4.sin_addr, endpoint.address.data(), 4);
        std::memcpy(&address, &v4, sizeof v4);
        return sizeof v4;
    }
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    v6.sin6_scope_id = endpoint.scope;
    std::memcpy(&v6.sin6_addr, endpoint.address.data(), 16);
    std::memcpy(&address, &v6, sizeof v6);
    return sizeof v6;
}

std::string to_string(const Endpoint& endpoint) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (inet_ntop(endpoint.family, endpoint.address.data(), text.data(), text.size()) == nullptr) {
        return "no address";
    }
    if (endpoint.family == AF_INET) return fmt::format("{}:{}", text.data(), endpoint.port);
    if (endpoint.scope == 0) return fmt::format("[{}]:{}", text.data(), endpoint.port);
    return fmt::format("[{}%{}]:{}", text.data(), endpoint.scope, endpoint.port);
}

void encode(const Endpoint& device, base::ByteWriter& writer) {
    const std::uint8_t family = device.family == AF_INET ? kFamilyV4 : kFamilyV6;
    writer.u8(family);
    writer.raw(std::as_bytes(std::span(device.address).first(address_bytes(family))));
    writer.varint(device.scope);
    writer.u16(device.port);
}

Endpoint decode_endpoint(base::ByteReader& reader) {
    Endpoint device;
    const std::uint8_t family = reader.u8();
    if (family != kFamilyV4 && family != kFamilyV6) {
        reader.fail();
        return device;
    }
    const std::span<const std::byte> address = reader.raw(address_bytes(family));
    std::ranges::transform(address, device.address.begin(),
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    const std::uint64_t scope = reader.varint();
    if (scope > 0xFFFFFFFFU) reader.fail();
    device.scope = static_cast<std::uint32_t>(scope);
    device.port = reader.u16();
    device.family = family == kFamilyV4 ? AF_INET : AF_INET6;
    return device;
}

std::uint64_t hash_of(const Endpoint& endpoint, base::SipKey key) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::memcpy(&low, endpoint.address.data(), 8);
    std::memcpy(&high, endpoint.address.data() + 8, 8);
    return base::siphash24(key, low, high,
                           std::uint64_t{endpoint.scope} << 32U |
                               std::uint64_t{endpoint.port} << 16U | endpoint.family);
}

}  // namespace pollux::protocol::snmp
