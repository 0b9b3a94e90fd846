#include "api/client_address.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace pollux::api {
namespace {

constexpr std::size_t kMostHops = 32;
constexpr std::array<std::string_view, 6> kForwardingFields = {
    "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded", "via"};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]:80".
std::optional<net::IpAddress> parse_hop(std::string_view text) {
    text = trimmed(text);
    if (const std::size_t bracket = text.find("]:"); bracket != std::string_view::npos) {
        text = text.substr(0, bracket + 1);
    } else if (std::ranges::count(text, ':') == 1) {
        text = text.substr(0, text.find(':'));
    }
    const auto address = net::IpAddress::parse(text);
    if (!address) return std::nullopt;
    return address->unwrapped();
}

// The hops in the order of the fields, oldest first; of a very long list the newest ones.
std::vector<std::string_view> hops_of(const net::Request& request) {
    std::vector<std::string_view> hops;
    for (const net::HeaderField& field : request.headers) {
        if (!net::equal_ignoring_case(field.name, "x-forwarded-for")) continue;
        std::string_view rest = field.value;
        while (true) {
            const std::size_t comma = rest.find(',');
            hops.push_back(rest.substr(0, comma));
            if (hops.size() > kMostHops) hops.erase(hops.begin());
            if (comma == std::string_view::npos) break;
            rest.remove_prefix(comma + 1);
        }
    }
    return hops;
}

}  // namespace

bool in_ranges(std::span<const net::IpRange> ranges, const net::IpAddress& address) {
    return std::ranges::any_of(ranges,
                               [&](const net::IpRange& range) { return range.contains(address); });
}

bool is_loopback(const net::IpAddress& address) {
    const net::IpAddress plain = address.unwrapped();
    const auto bytes = plain.bytes();
    if (bytes.size() == 4) return bytes[0] == 127;
    return bytes[15] == 1 && std::ranges::all_of(bytes.first(15), [](auto b) { return b == 0; });
}

bool Client::direct_loopback() const { return !forwarded && is_loopback(peer); }

Client client_of(const net::Request& request, std::span<const net::IpRange> trusted) {
    Client client;
    client.secure = request.secure;
    for (const std::string_view name : kForwardingFields) {
        client.forwarded = client.forwarded || request.header(name).has_value();
    }
    const auto peer = net::IpAddress::from_sockaddr(request.peer.data(), request.peer.length());
    if (!peer) return client;  // a local socket: 0.0.0.0, which is nobody's
    client.peer = peer->unwrapped();
    client.address = client.peer;
    client.by_trusted_proxy = in_ranges(trusted, client.peer);
    if (!client.by_trusted_proxy) return client;
    const auto scheme = request.header("x-forwarded-proto");
    client.secure =
        client.secure || (scheme && net::equal_ignoring_case(trimmed(*scheme), "https"));
    const std::vector<std::string_view> hops = hops_of(request);
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
        const auto address = parse_hop(*hop);
        if (!address) break;
        client.address = *address;
        if (!in_ranges(trusted, *address)) break;
    }
    return client;
}

std::string limit_key(const net::IpAddress& address) {
    const net::IpAddress plain = address.unwrapped();
    if (plain.is_v4()) return plain.to_string();
    std::array<std::uint8_t, 16> bytes{};
    std::ranges::copy(plain.bytes().first(8), bytes.begin());
    return net::IpAddress::v6(bytes).to_string() + "/64";
}

}  // namespace pollux::api
