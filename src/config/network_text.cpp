#include "config/network_text.hpp"

#include <algorithm>

#include "document/scalar.hpp"

namespace pollux::config {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Digits only, no leading zero but "0" itself, at most `high`.
std::optional<std::uint32_t> small_number(std::string_view text, std::uint32_t high) {
    if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit)) {
        return std::nullopt;
    }
    if (text.size() > 1 && text.front() == '0') return std::nullopt;
    std::uint32_t value = 0;
    for (const char c : text) value = value * 10 + static_cast<std::uint32_t>(c - '0');
    if (value > high) return std::nullopt;
    return value;
}

// How many 16-bit parts a side of "::" has; nothing if it is malformed. Empty is 0.
std::optional<int> ipv6_parts(std::string_view text, bool may_end_in_ipv4) {
    if (text.empty()) return 0;
    int parts = 0;
    while (true) {
        const std::size_t colon = text.find(':');
        const std::string_view part = text.substr(0, colon);
        const bool last = colon == std::string_view::npos;
        if (last && may_end_in_ipv4 && is_ipv4(part)) return parts + 2;
        if (part.empty() || part.size() > 4 || !std::all_of(part.begin(), part.end(), is_hex)) {
            return std::nullopt;
        }
        ++parts;
        if (last) return parts;
        text.remove_prefix(colon + 1);
    }
}

}  // namespace

bool is_ipv4(std::string_view text) {
    int parts = 0;
    while (true) {
        const std::size_t dot = text.find('.');
        if (!small_number(text.substr(0, dot), 255)) return false;
        ++parts;
        if (dot == std::string_view::npos) return parts == 4;
        if (parts == 4) return false;
        text.remove_prefix(dot + 1);
    }
}

bool is_ipv6(std::string_view text) {
    if (text.size() < 2 || text.size() > 45) return false;
    const std::size_t gap = text.find("::");
    if (gap == std::string_view::npos) return ipv6_parts(text, true) == 8;
    const auto left = ipv6_parts(text.substr(0, gap), false);
    const auto right = ipv6_parts(text.substr(gap + 2), true);
    return left && right && *left + *right <= 7;
}

bool is_address(std::string_view text) { return is_ipv4(text) || is_ipv6(text); }

bool is_address_range(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return is_address(text);
    const std::string_view address = text.substr(0, slash);
    const std::string_view length = text.substr(slash + 1);
    if (is_ipv4(address)) return small_number(length, 32).has_value();
    return is_ipv6(address) && small_number(length, 128).has_value();
}

bool is_host_name(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    if (std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; })) {
        return false;
    }
    if (text.back() == '.') text.remove_suffix(1);
    std::size_t label = 0;
    for (const char c : text) {
        if (c == '.') {
            if (label == 0) return false;
            label = 0;
            continue;
        }
        const bool good =
            is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
        if (!good || ++label > 63) return false;
    }
    return label > 0;
}

std::optional<HostPort> split_host_port(std::string_view text) {
    const auto with_port = [](std::string_view host,
                              std::string_view port) -> std::optional<HostPort> {
        const auto number = small_number(port, 65'535);
        if (!number || *number == 0) return std::nullopt;
        return HostPort{host, static_cast<std::uint16_t>(*number)};
    };
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view host = text.substr(1, end - 1);
        if (!is_ipv6(host)) return std::nullopt;
        if (end + 1 == text.size()) return HostPort{host};
        if (text[end + 1] != ':') return std::nullopt;
        return with_port(host, text.substr(end + 2));
    }
    if (is_ipv6(text)) return HostPort{text};
    const std::size_t colon = text.rfind(':');
    const std::string_view host = text.substr(0, colon);
    if (!is_ipv4(host) && !is_host_name(host)) return std::nullopt;
    if (colon == std::string_view::npos) return HostPort{host};
    return with_port(host, text.substr(colon + 1));
}

std::optional<HostPort> split_listen_address(std::string_view text) {
    const bool any_port = text.ends_with(":0");
    std::string_view host = text;
    if (any_port) host.remove_suffix(2);
    // "::1:0" is an address as a whole, and has no port.
    const auto split = any_port && is_ipv6(host) ? std::nullopt : split_host_port(host);
    if (!split || !is_address(split->host) || (split->port == 0) != any_port) return std::nullopt;
    return split;
}

}  // namespace pollux::config
