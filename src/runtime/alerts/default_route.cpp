#include "runtime/alerts/default_route.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace pollux::runtime {
namespace {

constexpr std::uint32_t kUp = 0x0001;
constexpr std::uint32_t kReject = 0x0200;
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // of a table

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    constexpr std::string_view kBlank = " \t\r";
    for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(kBlank, end);
    }
    return words;
}

bool usable(std::string_view flags) {
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(flags.data(), flags.data() + flags.size(), bits, 16);
    return error == std::errc() && end == flags.data() + flags.size() && (bits & kUp) != 0 &&
           (bits & kReject) == 0;
}

bool is_zero(std::string_view hex) {
    return !hex.empty() && hex.find_first_not_of('0') == std::string_view::npos;
}

// The interface of a default route; empty: the line is about something else.
std::string_view ipv4_default(const std::vector<std::string_view>& words) {
    // Interface, destination, gateway, flags, …, mask.
    if (words.size() < 8 || !is_zero(words[1]) || !is_zero(words[7])) return {};
    return usable(words[3]) ? words[0] : std::string_view();
}

std::string_view ipv6_default(const std::vector<std::string_view>& words) {
    // Destination, its prefix, source, its prefix, gateway, metric, uses, …, flags, interface.
    if (words.size() < 10 || !is_zero(words[0]) || !is_zero(words[1])) return {};
    return usable(words[8]) && words[9] != "lo" ? words[9] : std::string_view();
}

// As the kernel prints it: a number whose bytes in memory are those of the address.
std::optional<net::IpAddress> ipv4_hop(std::string_view hex) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
    if (error != std::errc() || end != hex.data() + hex.size() || number == 0) return std::nullopt;
    return net::IpAddress::v4(std::bit_cast<std::array<std::uint8_t, 4>>(number));
}

std::optional<net::IpAddress> ipv6_hop(std::string_view hex) {
    std::array<std::uint8_t, 16> bytes{};
    if (hex.size() != 2 * bytes.size() || is_zero(hex)) return std::nullopt;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char* const at = hex.data() + 2 * i;
        const auto [end, error] = std::from_chars(at, at + 2, bytes[i], 16);
        if (error != std::errc() || end != at + 2) return std::nullopt;
    }
    return net::IpAddress::v6(bytes);
}

template <class Find>
bool any_line(std::string_view table, Find find) {
    while (!table.empty()) {
        const std::size_t end = std::min(table.find('\n'), table.size());
        if (find(words_of(table.substr(0, end)))) return true;
        table.remove_prefix(std::min(end + 1, table.size()));
    }
    return false;
}

std::optional<std::string> read_table(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::string text(kMostBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

// An interface that does not say counts as well.
bool reads_carrier(std::string_view interface) {
    const auto text = read_table("/sys/class/net/" + std::string(interface) + "/carrier");
    return !text || !text->starts_with('0');
}

}  // namespace

bool has_default_route(std::string_view ipv4, std::string_view ipv6,
                       const std::function<bool(std::string_view interface)>& has_carrier) {
    const auto good = [&](std::string_view interface) {
        return !interface.empty() && has_carrier(interface);
    };
    return any_line(ipv4, [&](const auto& words) { return good(ipv4_default(words)); }) ||
           any_line(ipv6, [&](const auto& words) { return good(ipv6_default(words)); });
}

bool read_default_route() {
    const auto ipv4 = read_table("/proc/net/route");
    const auto ipv6 = read_table("/proc/net/ipv6_route");
    if (!ipv4) return true;
    return has_default_route(*ipv4, ipv6.value_or(""), &reads_carrier);
}

std::vector<net::IpAddress> default_gateways(std::string_view ipv4, std::string_view ipv6) {
    std::vector<net::IpAddress> hops;
    const auto add = [&](std::optional<net::IpAddress> hop) {
        if (hop && std::ranges::find(hops, *hop) == hops.end()) hops.push_back(*hop);
        return false;  // all lines
    };
    any_line(ipv4, [&](const auto& words) {
        return !ipv4_default(words).empty() && add(ipv4_hop(words[2]));
    });
    any_line(ipv6, [&](const auto& words) {
        return !ipv6_default(words).empty() && add(ipv6_hop(words[4]));
    });
    return hops;
}

std::vector<net::IpAddress> read_default_gateways() {
    return default_gateways(read_table("/proc/net/route").value_or(""),
                            read_table("/proc/net/ipv6_route").value_or(""));
}

}  // namespace pollux::runtime
