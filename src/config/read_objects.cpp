// Reading of whole objects: devices, groups, targets, classes, credentials, sources.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "config/network_text.hpp"
#include "config/snmp_names.hpp"
#include "model/task_key.hpp"
#include "model/validate.hpp"

namespace pollux::config::parts {
namespace {

using base::quoted;
using document::Diagnostics;
using document::item_path;
using document::MapReader;
using document::Mark;
using document::Need;
using document::Node;

constexpr std::size_t kMaxAddresses = 16;
constexpr std::size_t kMaxParents = 64;
constexpr std::size_t kMaxAddons = 256;

// What is wrong with an address, and what would be right; empty if it is good.
std::string address_fault(std::string_view text) {
    if (is_address(text) || is_host_name(text)) return {};
    if (text.starts_with('[') && text.ends_with(']')) {
        return fmt::format("{} has brackets; write the address without them", quoted(text));
    }
    if (const auto parts = split_host_port(text); parts && parts->port != 0) {
        return fmt::format("{} has a port; write the address as {} and `port: {}` beside it",
                           quoted(text), quoted(parts->host), parts->port);
    }
    if (text.find("://") != std::string_view::npos) {
        return fmt::format("{} is a URL; write only the host here, and `port:` beside it",
                           quoted(text));
    }
    return fmt::format("{} is no IPv4 address, IPv6 address or host name", quoted(text));
}

std::vector<std::string> read_addresses(MapReader& reader, Diagnostics& diagnostics) {
    std::vector<std::string> addresses = reader.strings("addresses");
    if (const auto single = reader.string("address")) {
        if (!addresses.empty()) {
            reader.error("address", "is given beside `addresses`; write one of them");
        }
        addresses.insert(addresses.begin(), *single);
    }
    if (addresses.size() > kMaxAddresses) {
        reader.error("addresses", fmt::format("has {} entries, at most {} are allowed",
                                              addresses.size(), kMaxAddresses));
    }
    const std::string_view key = reader.has("addresses") ? "addresses" : "address";
    const Node* node = reader.node().find(key);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const std::string fault = address_fault(addresses[i]);
        if (fault.empty()) continue;
        const bool listed = node->is_sequence() && i < node->items().size();
        diagnostics.error(listed ? node->items()[i].mark() : node->mark(),
                          listed ? item_path(reader.path_of(key), i) : reader.path_of(key), fault);
    }
    return addresses;
}

std::vector<std::vector<std::string>> read_parents(MapReader& reader, Diagnostics& diagnostics) {
    std::vector<std::vector<std::string>> parents;
    const Node* node = reader.any("parents");
    if (node == nullptr) return parents;
    const std::string path = reader.path_of("parents");
    const auto take_group = [&](const Node& item, const std::string& item_path_text) {
        Node wrapped = Node::map();
        wrapped.set("any", item);
        MapReader inner(wrapped, item_path_text, diagnostics);
        auto names = read_names(inner, "any", "device", diagnostics);
        if (!names.empty()) parents.push_back(std::move(names));
    };
    if (!node->is_sequence()) {
        take_group(*node, path);
        return parents;
    }
    for (std::size_t i = 0; i < node->items().size(); ++i) {
        take_group(node->items()[i], item_path(path, i));
    }
    if (parents.size() > kMaxParents) {
        reader.error("parents", fmt::format("has {} entries, at most {} are allowed",
                                            parents.size(), kMaxParents));
    }
    return parents;
}

std::optional<std::string> read_class_name(std::string_view text, const Mark& mark,
                                           const std::string& field, Diagnostics& diagnostics) {
    const auto status = model::check_class_name(text);
    if (status) return std::string(text);
    diagnostics.error(mark, field,
                      fmt::format("addon {} is not allowed: use 1 to {} characters out of a-z, "
                                  "0-9, _ and -",
                                  quoted(text), model::kMaxClassLength));
    return std::nullopt;
}

// One item of `addons`: a name, or a map with `name` and settings.
void read_addon_item(const Node& item, const std::string& path, Diagnostics& diagnostics,
                     ByName<PollSettings>& addons) {
    PollSettings settings;
    std::optional<std::string> name;
    if (item.is_scalar()) {
        name = read_class_name(item.scalar(), item.mark(), path, diagnostics);
    } else {
        MapReader reader(item, path, diagnostics);
        const auto text = reader.string("name", Need::kRequired);
        read_poll(reader, diagnostics, Reach::kOneAddon, settings);
        reader.finish();
        if (text) {
            name = read_class_name(*text, item.find("name")->mark(), reader.path_of("name"),
                                   diagnostics);
        }
    }
    if (name && !addons.emplace(*name, std::move(settings)).second) {
        diagnostics.error(item.mark(), path,
                          fmt::format("addon {} is there twice; a device has each addon once: "
                                      "describe a second service as a device of its own",
                                      quoted(*name)));
    }
}

ByName<PollSettings> read_addons(MapReader& reader, Diagnostics& diagnostics) {
    ByName<PollSettings> addons;
    const Node* node = reader.any("addons");
    if (node == nullptr) return addons;
    const std::string path = reader.path_of("addons");
    if (!node->is_sequence()) {
        read_addon_item(*node, path, diagnostics, addons);
        return addons;
    }
    for (std::size_t i = 0; i < node->items().size(); ++i) {
        read_addon_item(node->items()[i], item_path(path, i), diagnostics, addons);
    }
    if (addons.size() > kMaxAddons) {
        reader.error("addons", fmt::format("has {} entries, at most {} are allowed", addons.size(),
                                           kMaxAddons));
    }
    return addons;
}

Selector read_selector(MapReader& outer, Diagnostics& diagnostics) {
    Selector selector;
    const Node* node = outer.map("match");
    if (node == nullptr) return selector;
    MapReader reader(*node, outer.path_of("match"), diagnostics);
    for (const document::MapEntry& entry : node->entries()) {
        const auto label =
            read_name("label", entry.key, entry.key_mark, reader.path_of(entry.key), diagnostics);
        std::vector<std::string> values = reader.strings(entry.key);
        if (values.empty()) {
            reader.error(entry.key, "has no value; write one, a list of them, or \"*\" for any");
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        if (label) selector[*label] = std::move(values);
    }
    return selector;
}

std::optional<SecretReference> read_secret(MapReader& reader, std::string_view key) {
    const auto text = reader.string(key);
    if (!text) return std::nullopt;
    auto reference = parse_secret_reference(*text);
    if (!reference) {
        reader.error(key, reference.error().message);
        return std::nullopt;
    }
    const bool known_to_all = key == "community" && *text == "public";
    if (reference->kind == SecretKind::kLiteral && !known_to_all) {
        reader.warning(key,
                       "is written in the clear; better name it: ${VARIABLE}, file:/path or "
                       "vault:name");
    }
    return std::move(*reference);
}

std::string read_path(MapReader& reader, std::string_view key) {
    const std::string path = reader.string(key).value_or("");
    if (!path.empty() && !path.starts_with('/')) {
        reader.error(key, fmt::format("{} must be an absolute path", quoted(path)));
    }
    return path;
}

void check_url(MapReader& reader, const std::string& url) {
    const bool known = url.starts_with("http://") || url.starts_with("https://");
    const std::string_view rest = std::string_view(url).substr(known ? url.find("//") + 2 : 0);
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (!known || host.empty()) {
        reader.error("http_sd", fmt::format("{} is no http or https URL", quoted(url)));
    } else if (host.find('@') != std::string_view::npos) {
        reader.error("http_sd",
                     "holds a user or password; name a credential with `credentials:` instead");
    }
}

PollSettings read_poll_only(const Input& input) {
    PollSettings settings;
    MapReader reader(input.node, input.path, input.diagnostics);
    read_poll(reader, input.diagnostics, Reach::kOneAddon, settings);
    reader.finish();
    return settings;
}

}  // namespace

Device read_device(const Input& input) {
    Device device;
    MapReader reader(input.node, input.path, input.diagnostics);
    reader.any("name");  // read by the caller
    device.addresses = read_addresses(reader, input.diagnostics);
    device.labels = read_texts(reader, "labels", input.diagnostics);
    device.groups = read_names(reader, "groups", "group", input.diagnostics);
    device.parents = read_parents(reader, input.diagnostics);
    device.behind = reader
                        .choice<Behind>("behind", {{"network", Behind::kNetwork},
                                                   {"connection", Behind::kConnection}})
                        .value_or(Behind::kNetwork);
    device.addons = read_addons(reader, input.diagnostics);
    read_device_settings(reader, input.diagnostics, device.device);
    read_poll(reader, input.diagnostics, Reach::kAllAddons, device.poll);
    reader.finish();
    return device;
}

Group read_group(const Input& input) {
    Group group;
    MapReader reader(input.node, input.path, input.diagnostics);
    reader.any("name");
    if (const auto text = reader.string("parent")) {
        group.parent = read_name("group", *text, input.node.find("parent")->mark(),
                                 reader.path_of("parent"), input.diagnostics)
                           .value_or("");
    }
    group.members = read_names(reader, "members", "device", input.diagnostics);
    std::sort(group.members.begin(), group.members.end());
    group.match = read_selector(reader, input.diagnostics);
    group.addons = read_addons(reader, input.diagnostics);
    read_device_settings(reader, input.diagnostics, group.device);
    read_poll(reader, input.diagnostics, Reach::kAllAddons, group.poll);
    reader.finish();
    return group;
}

Defaults read_defaults(const Input& input) {
    Defaults defaults;
    MapReader reader(input.node, input.path, input.diagnostics);
    read_device_settings(reader, input.diagnostics, defaults.device);
    read_poll(reader, input.diagnostics, Reach::kAllAddons, defaults.poll);
    reader.finish();
    return defaults;
}

PollSettings read_target(const Input& input) { return read_poll_only(input); }
PollSettings read_addon(const Input& input) { return read_poll_only(input); }

ClassOptions read_class(const Input& input) {
    ClassOptions options;
    MapReader reader(input.node, input.path, input.diagnostics);
    options.interval = read_interval(reader, input.diagnostics);
    if (const auto weight = reader.integer("weight", 1, 1000)) {
        options.weight = static_cast<std::uint32_t>(*weight);
    }
    options.rate = reader.number("rate", 0.001, 1e7);
    if (const auto slots = reader.integer("slots", 1, 1'000'000)) {
        options.slots = static_cast<std::uint32_t>(*slots);
    }
    options.host_slots_exempt = reader.boolean("host_slots_exempt");
    if (const auto policy = reader.one_of("policy", std::span(model::kPolicyNames).first(4))) {
        options.policy = static_cast<model::PolicyKind>(*policy);
    }
    if (const auto preset = reader.one_of("preset", model::kPresetNames)) {
        options.preset = static_cast<model::Preset>(*preset);
    }
    options.staleness_bound =
        reader.duration("staleness_bound", model::kShortestInterval, model::kLongestInterval);
    reader.finish();
    return options;
}

namespace {

// The names of both protocols, and that they and their passwords go together.
void read_snmp_user(MapReader& reader, Credential& credential) {
    using model::SnmpAuth;
    using model::SnmpPrivacy;
    if (const auto auth = reader.one_of("snmp_auth", kSnmpAuthNames)) {
        credential.snmp_auth = static_cast<SnmpAuth>(*auth);
    }
    credential.snmp_auth_password = read_secret(reader, "snmp_auth_password");
    if (const auto privacy = reader.one_of("snmp_privacy", kSnmpPrivacyNames)) {
        credential.snmp_privacy = static_cast<SnmpPrivacy>(*privacy);
    }
    credential.snmp_privacy_password = read_secret(reader, "snmp_privacy_password");
    credential.snmp_context = reader.string("snmp_context").value_or("");
    const bool has_auth = credential.snmp_auth != SnmpAuth::kNone;
    const bool has_privacy = credential.snmp_privacy != SnmpPrivacy::kNone;
    if (has_privacy && !has_auth) {
        reader.error("snmp_privacy",
                     "needs authentication too; write `snmp_auth`, e.g. sha256, and its password");
    }
    const auto check_password = [&](bool used, std::string_view protocol, std::string_view key,
                                    const std::optional<SecretReference>& password) {
        if (used != password.has_value()) {
            reader.error(used ? key : protocol,
                         fmt::format("is missing; {} and {} go together", protocol, key));
        } else if (password && password->kind == SecretKind::kLiteral &&
                   password->literal.reveal().size() < model::kShortestSnmpPassword) {
            reader.error(key, fmt::format("has fewer than {} characters, which SNMPv3 forbids",
                                          model::kShortestSnmpPassword));
        }
    };
    check_password(has_auth, "snmp_auth", "snmp_auth_password", credential.snmp_auth_password);
    check_password(has_privacy, "snmp_privacy", "snmp_privacy_password",
                   credential.snmp_privacy_password);
    const bool for_v3 = has_auth || !credential.snmp_context.empty();
    if (for_v3 && credential.username.empty()) {
        reader.warning("snmp_auth", "SNMPv3 needs `username` too: the security name");
    }
}

}  // namespace

Credential read_credential(const Input& input) {
    Credential credential;
    MapReader reader(input.node, input.path, input.diagnostics);
    reader.any("name");
    credential.username = reader.string("username").value_or("");
    credential.password = read_secret(reader, "password");
    credential.token = read_secret(reader, "token");
    credential.community = read_secret(reader, "community");
    credential.client_certificate = read_path(reader, "client_certificate");
    credential.client_key = read_path(reader, "client_key");
    credential.client_key_password = read_secret(reader, "client_key_password");
    credential.ssh_key = read_path(reader, "ssh_key");
    credential.ssh_key_password = read_secret(reader, "ssh_key_password");
    credential.ssh_agent = reader.boolean("ssh_agent").value_or(false);
    credential.auth =
        reader.choice<model::HttpAuth>("auth", {{"none", model::HttpAuth::kNone},
                                                {"basic", model::HttpAuth::kBasic},
                                                {"digest", model::HttpAuth::kDigest},
                                                {"bearer", model::HttpAuth::kBearer},
                                                {"api_key", model::HttpAuth::kApiKey}});
    credential.header = reader.string("header").value_or("");
    read_snmp_user(reader, credential);
    if (credential.client_certificate.empty() != credential.client_key.empty()) {
        reader.error(credential.client_key.empty() ? "client_key" : "client_certificate",
                     "is missing; client_certificate and client_key go together");
    }
    reader.finish();
    return credential;
}

Source read_source(const Input& input) {
    Source source;
    MapReader reader(input.node, input.path, input.diagnostics);
    reader.any("name");
    source.paths = reader.strings("file_sd");
    source.url = reader.string("http_sd").value_or("");
    source.kind = source.url.empty() ? SourceKind::kFile : SourceKind::kHttp;
    if (source.paths.empty() == source.url.empty()) {
        input.diagnostics.error(input.node.mark(), input.path,
                                "needs either `file_sd` (paths) or `http_sd` (a URL)");
    }
    for (const std::string& path : source.paths) {
        if (!path.starts_with('/')) {
            reader.error("file_sd", fmt::format("{} must be an absolute path", quoted(path)));
        }
    }
    if (!source.url.empty()) check_url(reader, source.url);
    source.refresh = reader.duration("refresh", std::chrono::seconds(1), std::chrono::hours(24))
                         .value_or(source.refresh);
    if (const auto text = reader.string("credentials")) {
        source.credentials = read_name("credential", *text, input.node.find("credentials")->mark(),
                                       reader.path_of("credentials"), input.diagnostics)
                                 .value_or("");
    }
    source.addons = read_names(reader, "addons", "addon", input.diagnostics);
    std::sort(source.addons.begin(), source.addons.end());
    source.groups = read_names(reader, "groups", "group", input.diagnostics);
    source.labels = read_texts(reader, "labels", input.diagnostics);
    source.label_map = read_texts(reader, "label_map", input.diagnostics);
    source.name_label = reader.string("name_label").value_or("");
    source.region_label = reader.string("region_label");
    reader.finish();
    return source;
}

}  // namespace pollux::config::parts
