#include "config/fleet_export.hpp"

#include "config/fleet_parts.hpp"
#include "config/fleet_reader.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using document::MapEntry;
using document::Node;

template <class Value>
void add_section(Node& root, const char* key, const ByName<Value>& section) {
    if (section.empty()) return;
    Node node = Node::map();
    // The names are new by construction: append() does not search for them.
    for (const auto& [name, value] : section) node.append({name, {}, parts::write(value)});
    root.set(key, std::move(node));
}

}  // namespace

std::string export_fleet(const Fleet& fleet) {
    Node root = Node::map();
    root.set("schema", Node::text(std::string(kFleetSchema)));
    Node defaults = parts::write(fleet.defaults);
    if (!defaults.entries().empty()) root.set("defaults", std::move(defaults));
    if (!fleet.credentials.empty()) {
        Node node = Node::map();
        for (const auto& [name, credential] : fleet.credentials) {
            node.append({name, {}, parts::write(credential, name, false)});
        }
        root.set("credentials", std::move(node));
    }
    add_section(root, "classes", fleet.classes);
    add_section(root, "addons", fleet.addons);
    if (!fleet.resources.empty()) {
        Node node = Node::map();
        for (const auto& [name, capacity] : fleet.resources) {
            node.append({name, {}, Node::integer(capacity)});
        }
        root.set("resources", std::move(node));
    }
    add_section(root, "groups", fleet.groups);
    add_section(root, "devices", fleet.devices);
    add_section(root, "targets", fleet.targets);
    add_section(root, "sources", fleet.sources);
    add_section(root, "receivers", fleet.receivers);
    add_section(root, "routes", fleet.routes);
    add_section(root, "silences", fleet.silences);
    return document::to_yaml(root);
}

std::string_view starter_fleet() {
    return R"(# A starter fleet. Edit it, then: pollux check FILE, pollux plan FILE, pollux apply FILE.
# Reference: docs/fleet-files.md.
#
# Adaptive polling is ON in this starter configuration (adaptivePollingEnabled in system.json of the
# data folder): intervals below are the base from which each target's own rhythm is learned. To have
# every target polled at exactly its interval, set adaptivePollingEnabled to false there, or start
# with ADAPTIVE_POLLING_ENABLED=false. Without any setting it is off.
schema: pollux-fleet/1

defaults:
  tier: normal

# Secrets are named, not written: ${VARIABLE}, file:/path or vault:name.
credentials:
  snmp-read:
    community: public

groups:
  # Every device with the label role=switch is a member, and gets these addons.
  switches:
    match: {role: switch}
    tier: high
    credentials: snmp-read
    addons: [snmp-system, snmp-interfaces]

devices:
  gateway:
    address: 127.0.0.1
    labels: {role: switch, site: home}

  web:
    address: 127.0.0.1
    port: 8080
    labels: {site: home}
    # While the gateway is down, this one is asked rarely and raises no alarm of its own.
    parents: [gateway]
    addons:
      - name: http-status
        interval: 60s
)";
}

}  // namespace pollux::config
