// Writing of the parts of a fleet as trees, in the order people read them. What is not set is not
// written, so that equal objects have equal bodies.
#include "config/fleet_parts.hpp"
#include "config/snmp_names.hpp"
#include "document/scalar.hpp"

namespace pollux::config::parts {

using document::Node;

namespace {

constexpr std::string_view kFailureProfiles[] = {"ladder", "pulse", "opsconductor"};
constexpr std::string_view kSnmpVersions[] = {"1", "2c", "3"};

Node text_node(std::string_view text) { return Node::text(std::string(text)); }

void set_text(Node& node, std::string key, const std::string& text) {
    if (!text.empty()) node.set(std::move(key), Node::text(text));
}

void set_duration(Node& node, std::string key, const std::optional<base::Duration>& value) {
    if (value) node.set(std::move(key), duration_node(*value));
}

void set_count(Node& node, std::string key, const std::optional<std::uint32_t>& value) {
    if (value) node.set(std::move(key), Node::integer(*value));
}

void set_map(Node& node, std::string key, Node map) {
    if (!map.entries().empty()) node.set(std::move(key), std::move(map));
}

void set_list(Node& node, std::string key, Node list) {
    if (!list.items().empty()) node.set(std::move(key), std::move(list));
}

Node tls_node(const TlsOverrides& tls) {
    Node node = Node::map();
    if (tls.verify) node.set("verify", Node::boolean(*tls.verify));
    if (tls.ca_file) node.set("ca_file", Node::text(*tls.ca_file));
    if (tls.pin_sha256) node.set("pin_sha256", Node::text(*tls.pin_sha256));
    return node;
}

Node snmp_node(const SnmpOverrides& snmp) {
    Node node = Node::map();
    if (snmp.version) {
        node.set("version", text_node(kSnmpVersions[static_cast<std::size_t>(*snmp.version)]));
    }
    if (snmp.community) node.set("community", Node::text(reveal(*snmp.community)));
    set_count(node, "max_varbinds", snmp.max_varbinds);
    set_count(node, "max_repetitions", snmp.max_repetitions);
    set_count(node, "parallel", snmp.parallel);
    if (snmp.bulk) node.set("bulk", Node::boolean(*snmp.bulk));
    return node;
}

Node addons_node(const ByName<PollSettings>& addons) {
    Node list = Node::sequence();
    for (const auto& [name, settings] : addons) {
        if (settings == PollSettings{}) {
            list.push(Node::text(name));
            continue;
        }
        Node item = Node::map();
        item.set("name", Node::text(name));
        write_poll(item, settings);
        list.push(std::move(item));
    }
    return list;
}

Node selector_node(const Selector& selector) {
    Node node = Node::map();
    for (const auto& [label, values] : selector) {
        node.set(label, values.size() == 1 ? Node::text(values.front()) : names_node(values));
    }
    return node;
}

Node parents_node(const std::vector<std::vector<std::string>>& parents) {
    Node list = Node::sequence();
    for (const auto& any_of : parents) {
        list.push(any_of.size() == 1 ? Node::text(any_of.front()) : names_node(any_of));
    }
    return list;
}

}  // namespace

Node names_node(const std::vector<std::string>& names) {
    Node list = Node::sequence();
    for (const std::string& name : names) list.push(Node::text(name));
    return list;
}

Node texts_node(const ByName<std::string>& texts) {
    Node node = Node::map();
    for (const auto& [name, text] : texts) node.set(name, Node::text(text));
    return node;
}

Node duration_node(base::Duration duration) {
    return Node::text(document::duration_text(duration));
}

void write_interval(Node& node, const IntervalRange& interval) {
    if (interval.base && !interval.min && !interval.max) {
        node.set("interval", duration_node(*interval.base));
        return;
    }
    Node range = Node::map();
    set_duration(range, "min", interval.min);
    set_duration(range, "base", interval.base);
    set_duration(range, "max", interval.max);
    set_map(node, "interval", std::move(range));
}

void write_poll(Node& node, const PollSettings& settings) {
    if (settings.enabled) node.set("enabled", Node::boolean(*settings.enabled));
    if (settings.adaptive) node.set("adaptive", Node::boolean(*settings.adaptive));
    if (settings.tier) node.set("tier", text_node(to_string(*settings.tier)));
    write_interval(node, settings.interval);
    set_duration(node, "staleness_bound", settings.staleness_bound);
    set_duration(node, "timeout", settings.timeout);
    set_count(node, "resends", settings.resends);
    if (settings.failure_profile) {
        node.set("failure_profile",
                 text_node(kFailureProfiles[static_cast<std::size_t>(*settings.failure_profile)]));
    }
    if (settings.port) node.set("port", Node::integer(*settings.port));
    if (settings.credentials) node.set("credentials", Node::text(*settings.credentials));
    set_duration(node, "grace", settings.grace);
    if (settings.confirm) node.set("confirm", Node::boolean(*settings.confirm));
    if (settings.failure_alert) {
        node.set("failure_alert", text_node(model::to_string(*settings.failure_alert)));
    }
    set_map(node, "tls", tls_node(settings.tls));
    set_map(node, "snmp", snmp_node(settings.snmp));
    set_map(node, "alerts", alerts_node(settings.alerts));
    set_map(node, "params", texts_node(settings.params));
    Node intervals = Node::map();
    for (const auto& [name, interval] : settings.group_intervals) {
        intervals.set(name, duration_node(interval));
    }
    set_map(node, "group_intervals", std::move(intervals));
    Node resources = Node::map();
    for (const auto& [name, amount] : settings.resources) {
        resources.set(name, Node::integer(amount));
    }
    set_map(node, "resources", std::move(resources));
}

void write_device_settings(Node& node, const DeviceSettings& settings) {
    if (settings.region) node.set("region", Node::text(*settings.region));
    Node limits = Node::map();
    if (settings.rate) limits.set("rate", Node::number(*settings.rate));
    set_count(limits, "slots", settings.slots);
    set_count(limits, "slots_per_class", settings.slots_per_class);
    set_map(node, "limits", std::move(limits));
}

Node write(const PollSettings& settings) {
    Node node = Node::map();
    write_poll(node, settings);
    return node;
}

Node write(const Device& device) {
    Node node = Node::map();
    if (device.addresses.size() == 1) {
        node.set("address", Node::text(device.addresses.front()));
    } else {
        set_list(node, "addresses", names_node(device.addresses));
    }
    set_map(node, "labels", texts_node(device.labels));
    set_list(node, "groups", names_node(device.groups));
    set_list(node, "parents", parents_node(device.parents));
    if (device.behind == Behind::kConnection) node.set("behind", text_node("connection"));
    write_device_settings(node, device.device);
    write_poll(node, device.poll);
    set_list(node, "addons", addons_node(device.addons));
    return node;
}

Node write(const Group& group) {
    Node node = Node::map();
    set_text(node, "parent", group.parent);
    set_list(node, "members", names_node(group.members));
    set_map(node, "match", selector_node(group.match));
    write_device_settings(node, group.device);
    write_poll(node, group.poll);
    set_list(node, "addons", addons_node(group.addons));
    return node;
}

Node write(const Defaults& defaults) {
    Node node = Node::map();
    write_device_settings(node, defaults.device);
    write_poll(node, defaults.poll);
    return node;
}

Node write(const ClassOptions& options) {
    Node node = Node::map();
    write_interval(node, options.interval);
    set_count(node, "weight", options.weight);
    if (options.rate) node.set("rate", Node::number(*options.rate));
    set_count(node, "slots", options.slots);
    if (options.host_slots_exempt) {
        node.set("host_slots_exempt", Node::boolean(*options.host_slots_exempt));
    }
    if (options.policy) node.set("policy", text_node(model::to_string(*options.policy)));
    if (options.preset) node.set("preset", text_node(model::to_string(*options.preset)));
    set_duration(node, "staleness_bound", options.staleness_bound);
    return node;
}

Node write(const Credential& credential, std::string_view name, bool reveal_literals) {
    Node node = Node::map();
    const auto set_secret = [&](const char* key, const std::optional<SecretReference>& reference) {
        if (!reference) return;
        const bool hide = reference->kind == SecretKind::kLiteral && !reveal_literals &&
                          reference->literal.reveal() != "public";
        node.set(key,
                 Node::text(hide ? "vault:" + std::string(name) + "/" + key : reveal(*reference)));
    };
    set_text(node, "username", credential.username);
    set_secret("password", credential.password);
    set_secret("token", credential.token);
    set_secret("community", credential.community);
    set_text(node, "client_certificate", credential.client_certificate);
    set_text(node, "client_key", credential.client_key);
    set_secret("client_key_password", credential.client_key_password);
    set_text(node, "ssh_key", credential.ssh_key);
    set_secret("ssh_key_password", credential.ssh_key_password);
    if (credential.ssh_agent) node.set("ssh_agent", Node::boolean(true));
    constexpr std::array<const char*, 5> kAuthNames = {"none", "basic", "digest", "bearer",
                                                       "api_key"};
    if (credential.auth) {
        node.set("auth", Node::text(kAuthNames[static_cast<std::size_t>(*credential.auth)]));
    }
    set_text(node, "header", credential.header);
    if (credential.snmp_auth != model::SnmpAuth::kNone) {
        node.set("snmp_auth", Node::text(std::string(
                                  kSnmpAuthNames[static_cast<std::size_t>(credential.snmp_auth)])));
    }
    set_secret("snmp_auth_password", credential.snmp_auth_password);
    if (credential.snmp_privacy != model::SnmpPrivacy::kNone) {
        node.set("snmp_privacy",
                 Node::text(std::string(
                     kSnmpPrivacyNames[static_cast<std::size_t>(credential.snmp_privacy)])));
    }
    set_secret("snmp_privacy_password", credential.snmp_privacy_password);
    set_text(node, "snmp_context", credential.snmp_context);
    return node;
}

Node write(const Source& source) {
    Node node = Node::map();
    if (source.kind == SourceKind::kHttp) {
        node.set("http_sd", Node::text(source.url));
    } else if (source.paths.size() == 1) {
        node.set("file_sd", Node::text(source.paths.front()));
    } else {
        node.set("file_sd", names_node(source.paths));
    }
    node.set("refresh", duration_node(source.refresh));
    set_text(node, "credentials", source.credentials);
    set_list(node, "addons", names_node(source.addons));
    set_list(node, "groups", names_node(source.groups));
    set_map(node, "labels", texts_node(source.labels));
    set_map(node, "label_map", texts_node(source.label_map));
    set_text(node, "name_label", source.name_label);
    if (source.region_label) node.set("region_label", Node::text(*source.region_label));
    return node;
}

}  // namespace pollux::config::parts
