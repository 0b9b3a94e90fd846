#include "config/service_discovery.hpp"

#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "config/fleet_reader.hpp"
#include "config/network_text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "model/task_key.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;
using document::item_path;
using document::MapReader;
using document::Node;

constexpr document::ParseLimits kLimits{
    .max_bytes = kMaxFleetFileBytes, .max_depth = 8, .max_nodes = 4'000'000};

void read_group(const Node& node, const std::string& path, Diagnostics& diagnostics,
                std::vector<DiscoveredTarget>& found) {
    MapReader reader(node, path, diagnostics);
    const Node* targets = reader.list("targets", document::Need::kRequired);
    const Labels labels = parts::read_texts(reader, "labels", diagnostics);
    // No finish(): other systems may add keys of their own.
    if (targets == nullptr) return;
    for (std::size_t i = 0; i < targets->items().size(); ++i) {
        const Node& item = targets->items()[i];
        const auto parts = item.is_scalar() ? split_host_port(item.scalar()) : std::nullopt;
        if (!parts) {
            diagnostics.error(item.mark(), item_path(reader.path_of("targets"), i),
                              fmt::format("{} is no host or host:port", quoted(item.scalar())));
            continue;
        }
        if (found.size() == kMaxDiscovered) {
            diagnostics.error(item.mark(), path,
                              fmt::format("more than {} targets; split the list", kMaxDiscovered));
            return;
        }
        found.push_back({std::string(parts->host), parts->port, labels, item.mark()});
    }
}

Labels map_labels(const Source& source, const Labels& given) {
    Labels labels = source.labels;
    for (const auto& [name, value] : given) {
        const auto mapped = source.label_map.find(name);
        if (mapped != source.label_map.end()) {
            if (!mapped->second.empty()) labels[mapped->second] = value;
        } else if (!name.starts_with("__")) {
            labels[name] = value;
        }
    }
    return labels;
}

Device make_device(const Source& source, const DiscoveredTarget& target) {
    Device device;
    device.addresses = {target.host};
    device.labels = map_labels(source, target.labels);
    device.groups = source.groups;
    for (const std::string& addon : source.addons) device.addons[addon] = {};
    if (target.port != 0) device.poll.port = target.port;
    if (source.region_label) {
        const auto region = target.labels.find(*source.region_label);
        if (region != target.labels.end()) device.device.region = region->second;
    }
    return device;
}

// The name before it is known whether others have it too.
std::string wanted_name(const Source& source, const DiscoveredTarget& target) {
    if (!source.name_label.empty()) {
        const auto found = target.labels.find(source.name_label);
        if (found != target.labels.end() && !found->second.empty()) return found->second;
    }
    return target.host;
}

}  // namespace

std::vector<DiscoveredTarget> read_target_groups(std::string_view text, const std::string& file,
                                                 Diagnostics& diagnostics) {
    std::vector<DiscoveredTarget> found;
    const document::Parsed parsed = document::parse(text, file, diagnostics, kLimits);
    if (!parsed.ok || parsed.root.is_null()) return found;
    if (!parsed.root.is_sequence()) {
        diagnostics.error(parsed.root.mark(), "",
                          fmt::format("is {}; a list of target groups is wanted: "
                                      "[{{\"targets\": [\"host:port\"], \"labels\": {{}}}}]",
                                      document::kind_name(parsed.root)));
        return found;
    }
    for (std::size_t i = 0; i < parsed.root.items().size(); ++i) {
        read_group(parsed.root.items()[i], item_path("", i), diagnostics, found);
    }
    return found;
}

ByName<Device> make_devices(std::string_view source_name, const Source& source,
                            const std::vector<DiscoveredTarget>& targets,
                            Diagnostics& diagnostics) {
    ByName<std::set<std::uint16_t>> ports;
    for (const DiscoveredTarget& target : targets) {
        ports[wanted_name(source, target)].insert(target.port);
    }
    ByName<Device> devices;
    for (const DiscoveredTarget& target : targets) {
        std::string wanted = wanted_name(source, target);
        if (ports[wanted].size() > 1 && target.port != 0) {
            wanted = fmt::format("{}:{}", wanted, target.port);
        }
        auto name = model::normalise_name("device", wanted);
        if (!name) {
            diagnostics.error(target.mark, fmt::format("sources.{}", source_name),
                              name.error().message);
            continue;
        }
        Device device = make_device(source, target);
        const auto [found, fresh] = devices.emplace(*name, device);
        if (fresh || found->second == device) continue;
        // The same device under another address of its own.
        if (found->second.labels == device.labels && found->second.poll == device.poll) {
            found->second.addresses.push_back(target.host);
        } else {
            diagnostics.warning(target.mark, fmt::format("sources.{}", source_name),
                                fmt::format("device {} is listed twice with different labels; the "
                                            "first one counts",
                                            quoted(*name)));
        }
    }
    return devices;
}

void add_devices(Fleet& fleet, ByName<Device> devices, const std::string& source_name,
                 Diagnostics& diagnostics) {
    for (auto& [name, device] : devices) {
        if (fleet.devices.emplace(name, std::move(device)).second) continue;
        diagnostics.warning({}, fmt::format("sources.{}", source_name),
                            fmt::format("device {} is described already, by files or by another "
                                        "source; that description counts",
                                        quoted(name)));
    }
}

}  // namespace pollux::config
