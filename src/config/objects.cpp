#include "config/objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "config/membership.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"
#include "model/task_key.hpp"

namespace pollux::config {
namespace {

using document::Diagnostics;
using document::MapReader;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;
using model::Origin;

bool by_kind_and_name(const ConfigObject& a, const ConfigObject& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
}

ConfigObject object(ObjectKind kind, std::string name, const Node& body,
                    Origin origin = Origin::kFile) {
    ConfigObject result;
    result.kind = kind;
    result.name = std::move(name);
    result.origin = origin;
    result.body = document::to_json(body);
    return result;
}

template <class Value>
Node section_node(const ByName<Value>& section) {
    Node node = Node::map();
    for (const auto& [name, value] : section) node.set(name, parts::write(value));
    return node;
}

// The sections that have no objects of their own.
Node defaults_node(const Fleet& fleet) {
    Node node = Node::map();
    const auto set = [&](const char* key, Node section) {
        if (!section.entries().empty()) node.set(key, std::move(section));
    };
    set("defaults", parts::write(fleet.defaults));
    set("addons", section_node(fleet.addons));
    set("classes", section_node(fleet.classes));
    Node resources = Node::map();
    for (const auto& [name, capacity] : fleet.resources) {
        resources.set(name, Node::integer(capacity));
    }
    set("resources", std::move(resources));
    return node;
}

void read_defaults_object(const Node& body, Diagnostics& diagnostics, Fleet& fleet) {
    MapReader reader(body, "", diagnostics);
    const auto each = [&](std::string_view key, auto&& take) {
        const Node* section = reader.map(key);
        if (section == nullptr) return;
        for (const auto& entry : section->entries()) {
            take(entry.key,
                 parts::Input{entry.value, document::key_path(key, entry.key), diagnostics});
        }
    };
    if (const Node* node = reader.map("defaults")) {
        fleet.defaults = parts::read_defaults({*node, "defaults", diagnostics});
    }
    each("addons", [&](const std::string& name, const parts::Input& input) {
        fleet.addons[name] = parts::read_addon(input);
    });
    each("classes", [&](const std::string& name, const parts::Input& input) {
        fleet.classes[name] = parts::read_class(input);
    });
    if (const Node* node = reader.map("resources")) {
        MapReader resources(*node, "resources", diagnostics);
        for (const auto& entry : node->entries()) {
            const auto capacity = resources.amount(entry.key);
            if (capacity) fleet.resources[entry.key] = *capacity;
        }
    }
    reader.finish();
}

void read_object(const ConfigObject& from, const Node& body, Diagnostics& diagnostics,
                 Fleet& fleet) {
    const parts::Input input{body, "", diagnostics};
    switch (from.kind) {
        case ObjectKind::kDefaults: read_defaults_object(body, diagnostics, fleet); return;
        case ObjectKind::kGroup: fleet.groups[from.name] = parts::read_group(input); return;
        case ObjectKind::kDevice: fleet.devices[from.name] = parts::read_device(input); return;
        case ObjectKind::kTarget: {
            PollSettings settings = parts::read_target(input);
            if (settings != PollSettings{}) fleet.targets[from.name] = std::move(settings);
            return;
        }
        case ObjectKind::kCredential:
            fleet.credentials[from.name] = parts::read_credential(input);
            return;
        case ObjectKind::kSource: fleet.sources[from.name] = parts::read_source(input); return;
        case ObjectKind::kReceiver:
            fleet.receivers[from.name] = parts::read_receiver(input);
            return;
        case ObjectKind::kRoute: fleet.routes[from.name] = parts::read_route(input); return;
        case ObjectKind::kSilence: fleet.silences[from.name] = parts::read_silence(input); return;
        case ObjectKind::kAddon:
        case ObjectKind::kSettings:
        case ObjectKind::kUser:
        case ObjectKind::kToken:
        case ObjectKind::kSession: return;
    }
}

}  // namespace

std::vector<ConfigObject> to_objects(const Fleet& fleet, const std::set<std::string>& discovered) {
    std::vector<ConfigObject> objects;
    const Node defaults = defaults_node(fleet);
    if (!defaults.entries().empty()) {
        objects.push_back(object(ObjectKind::kDefaults, std::string(kDefaultsName), defaults));
    }
    for (const auto& [name, group] : fleet.groups) {
        objects.push_back(object(ObjectKind::kGroup, name, parts::write(group)));
    }
    const Membership membership(fleet);
    for (const auto& [name, device] : fleet.devices) {
        const Origin origin = discovered.contains(name) ? Origin::kDiscovery : Origin::kFile;
        objects.push_back(object(ObjectKind::kDevice, name, parts::write(device), origin));
        for (const std::string& addon : membership.addons_of(name)) {
            const std::string key = model::make_task_key(addon, name);
            const auto found = fleet.targets.find(key);
            objects.push_back(
                object(ObjectKind::kTarget, key,
                       parts::write(found == fleet.targets.end() ? PollSettings{} : found->second),
                       origin));
        }
    }
    for (const auto& [name, credential] : fleet.credentials) {
        objects.push_back(
            object(ObjectKind::kCredential, name, parts::write(credential, name, true)));
    }
    for (const auto& [name, source] : fleet.sources) {
        objects.push_back(object(ObjectKind::kSource, name, parts::write(source)));
    }
    for (const auto& [name, receiver] : fleet.receivers) {
        objects.push_back(object(ObjectKind::kReceiver, name, parts::write(receiver)));
    }
    for (const auto& [name, route] : fleet.routes) {
        objects.push_back(object(ObjectKind::kRoute, name, parts::write(route)));
    }
    for (const auto& [name, silence] : fleet.silences) {
        objects.push_back(object(ObjectKind::kSilence, name, parts::write(silence)));
    }
    std::sort(objects.begin(), objects.end(), by_kind_and_name);
    return objects;
}

base::Result<Fleet> from_objects(std::span<const ConfigObject> objects) {
    Fleet fleet;
    for (const ConfigObject& from : objects) {
        if (!model::is_fleet_kind(from.kind)) continue;
        Diagnostics diagnostics;
        const std::string where =
            fmt::format("{} {}", model::to_string(from.kind), base::quoted(from.name));
        const auto parsed = document::parse_json(from.body, where, diagnostics);
        if (parsed.ok) read_object(from, parsed.root, diagnostics, fleet);
        if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("config.stored_object"));
    }
    return fleet;
}

TargetIds target_ids(std::span<const ConfigObject> objects) {
    TargetIds ids;
    for (const ConfigObject& from : objects) {
        if (from.kind == ObjectKind::kTarget) ids[from.name] = from.id;
    }
    return ids;
}

}  // namespace pollux::config
