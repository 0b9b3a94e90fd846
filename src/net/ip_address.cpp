#include "net/ip_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text.hpp"

namespace pollux::net {
namespace {

constexpr std::size_t kLongestLiteral = 64;  // INET6_ADDRSTRLEN is 46, IF_NAMESIZE 16

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr std::array<std::uint8_t, 12> kNat64Prefix = {0, 0x64, 0xFF, 0x9B};

bool starts_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> prefix) {
    return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

std::optional<std::uint32_t> number_of(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::uint32_t> scope_of(std::string_view text) {
    if (text.empty()) return std::nullopt;
    if (const auto number = number_of(text)) return number;
    if (text.size() >= IF_NAMESIZE) return std::nullopt;
    const unsigned index = if_nametoindex(std::string(text).c_str());
    if (index == 0) return std::nullopt;
    return index;
}

bool bit_of(std::span<const std::uint8_t> bytes, std::size_t index) {
    return (unsigned{bytes[index / 8]} >> (7U - index % 8U) & 1U) != 0;
}

std::unexpected<base::Error> range_error(std::string_view text, std::string_view why) {
    return base::config_error("net.address_range",
                              fmt::format("{} is no range of addresses: {}; write it like "
                                          "10.0.0.0/8 or fd00::/8",
                                          base::quoted(text), why));
}

}  // namespace

IpAddress IpAddress::v4(const std::array<std::uint8_t, 4>& bytes) {
    IpAddress address;
    std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
    return address;
}

IpAddress IpAddress::v6(const std::array<std::uint8_t, 16>& bytes, std::uint32_t scope) {
    IpAddress address;
    address.bytes_ = bytes;
    address.scope_ = scope;
    address.v4_ = false;
    return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
    // A zero byte would end the text early for the functions of the system.
    if (text.size() > kLongestLiteral || text.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    const bool bracketed = text.size() >= 2 && text.front() == '[' && text.back() == ']';
    if (bracketed) text = text.substr(1, text.size() - 2);
    IpAddress address;
    if (text.find(':') == std::string_view::npos) {
        const bool parsed =
            !bracketed && inet_pton(AF_INET, std::string(text).c_str(), address.bytes_.data()) == 1;
        return parsed ? std::optional(address) : std::nullopt;
    }
    address.v4_ = false;
    if (const auto percent = text.find('%'); percent != std::string_view::npos) {
        std::string_view zone = text.substr(percent + 1);
        // In a URL the percent sign itself is written %25.
        if (bracketed && zone.size() > 2 && zone.starts_with("25")) zone.remove_prefix(2);
        const auto scope = scope_of(zone);
        if (!scope) return std::nullopt;
        address.scope_ = *scope;
        text = text.substr(0, percent);
    }
    if (inet_pton(AF_INET6, std::string(text).c_str(), address.bytes_.data()) != 1) {
        return std::nullopt;
    }
    return address;
}

std::optional<IpAddress> IpAddress::from_sockaddr(const sockaddr* address, socklen_t length) {
    if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
        sockaddr_in in{};
        std::memcpy(&in, address, sizeof in);
        IpAddress result;
        std::memcpy(result.bytes_.data(), &in.sin_addr, 4);
        return result;
    }
    if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
        sockaddr_in6 in{};
        std::memcpy(&in, address, sizeof in);
        IpAddress result;
        std::memcpy(result.bytes_.data(), &in.sin6_addr, 16);
        result.scope_ = in.sin6_scope_id;
        result.v4_ = false;
        return result;
    }
    return std::nullopt;
}

IpAddress IpAddress::unwrapped() const {
    if (v4_ || (!starts_with(bytes_, kMappedPrefix) && !starts_with(bytes_, kNat64Prefix))) {
        return *this;
    }
    return v4({bytes_[12], bytes_[13], bytes_[14], bytes_[15]});
}

std::string IpAddress::to_string() const {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), buffer.data(), buffer.size());
    return scope_ == 0 ? std::string(buffer.data()) : fmt::format("{}%{}", buffer.data(), scope_);
}

std::string IpAddress::to_string(std::uint16_t port) const {
    return v4_ ? fmt::format("{}:{}", to_string(), port)
               : fmt::format("[{}]:{}", to_string(), port);
}

socklen_t IpAddress::to_sockaddr(std::uint16_t port, sockaddr_storage& out) const {
    out = {};
    if (v4_) {
        sockaddr_in in{};
        in.sin_family = AF_INET;
        in.sin_port = htons(port);
        std::memcpy(&in.sin_addr, bytes_.data(), 4);
        std::memcpy(&out, &in, sizeof in);
        return sizeof in;
    }
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    in.sin6_scope_id = scope_;
    std::memcpy(&in.sin6_addr, bytes_.data(), 16);
    std::memcpy(&out, &in, sizeof in);
    return sizeof in;
}

base::Result<IpRange> IpRange::parse(std::string_view text) {
    const auto slash = text.find('/');
    const auto address = IpAddress::parse(text.substr(0, slash));
    if (!address || address->scope() != 0) return range_error(text, "it starts with no address");
    const std::size_t bits = address->bytes().size() * 8;
    std::size_t prefix = bits;
    if (slash != std::string_view::npos) {
        const auto number = number_of(text.substr(slash + 1));
        if (!number || *number > bits) {
            return range_error(text, fmt::format("the prefix is a number from 0 to {}", bits));
        }
        prefix = *number;
    }
    for (std::size_t bit = prefix; bit < bits; ++bit) {
        if (bit_of(address->bytes(), bit)) {
            return range_error(text, fmt::format("it has bits behind the first {}", prefix));
        }
    }
    IpRange range;
    range.first_ = *address;
    range.prefix_ = static_cast<std::uint8_t>(prefix);
    return range;
}

bool IpRange::contains(const IpAddress& address) const {
    if (address.is_v4() != first_.is_v4()) return false;
    const std::size_t whole = prefix_ / 8U;
    const auto ours = first_.bytes();
    const auto theirs = address.bytes();
    if (!std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(whole),
                    theirs.begin())) {
        return false;
    }
    const unsigned rest = prefix_ % 8U;
    if (rest == 0) return true;
    const unsigned mask = 0xFFU << (8U - rest) & 0xFFU;
    return (static_cast<unsigned>(ours[whole] ^ theirs[whole]) & mask) == 0;
}

std::string IpRange::to_string() const { return fmt::format("{}/{}", first_.to_string(), prefix_); }

}  // namespace pollux::net
