#include "tests/live/fleet_text.hpp"

#include <fmt/format.h>

namespace pollux::live {

std::string addon_settings(const std::string& settings) {
    std::string text = "addons:\n";
    for (const char* addon : {"http-json", "snmp-system", "snmp-interfaces"}) {
        text += fmt::format("  {}: {{{}}}\n", addon, settings);
    }
    return text;
}

std::string json_device(const lab::FleetServer& fleet, std::size_t number, const std::string& path,
                        const std::string& extra) {
    const lab::Device& device = fleet.fleet().http().at(number);
    return fmt::format(
        "  {}: {{address: {}, port: {}, addons: [{{name: http-json, params: {{path: {}, "
        "value_path: $.uptime_seconds}}}}]{}{}}}\n",
        device.name(), lab::address_text(device.address()), fleet.ports().http, path,
        extra.empty() ? "" : ", ", extra);
}

std::string snmp_device(const lab::FleetServer& fleet, std::size_t number,
                        const std::string& addons, const std::string& extra) {
    const lab::Device& device = fleet.fleet().snmp().at(number);
    const bool open = device.community() == lab::kPublicCommunity;
    return fmt::format(
        "  {}: {{address: {}, port: {}, snmp: {{community: \"{}\"}}, addons: [{}]{}{}}}\n",
        device.name(), lab::address_text(device.address()), fleet.ports().snmp,
        open ? "public" : fmt::format("${{{}}}", kCommunityVariable), addons,
        extra.empty() ? "" : ", ", extra);
}

}  // namespace pollux::live
