#include "app/object_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>

#include "app/api_command.hpp"
#include "app/prompt.hpp"
#include "base/text.hpp"
#include "config/secret_reference.hpp"

namespace pollux::app {
namespace {

using document::Node;

constexpr std::array<std::string_view, 7> kSecretFields = {"password",
                                                           "token",
                                                           "community",
                                                           "client_key_password",
                                                           "ssh_key_password",
                                                           "snmp_auth_password",
                                                           "snmp_privacy_password"};

bool is_secret_field(std::string_view name) {
    return std::ranges::find(kSecretFields, name) != kSecretFields.end();
}

Node with_value(const Node& node, std::string_view path, const Node* value) {
    const std::size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    Node result = Node::map();
    for (const document::MapEntry& entry : node.entries()) {
        if (entry.key != key) result.set(entry.key, entry.value);
    }
    const Node* old_value = node.find(key);
    if (dot != std::string_view::npos) {
        Node inner = with_value(old_value == nullptr ? Node::map() : *old_value,
                                path.substr(dot + 1), value);
        if (!inner.entries().empty()) result.set(key, std::move(inner));
    } else if (value != nullptr) {
        result.set(key, *value);
    }
    return result;
}

base::Result<Node> read_text(const std::string& text, const std::string& name,
                             const document::ParseLimits& limits = {}) {
    document::Diagnostics diagnostics;
    document::Parsed parsed = document::parse(text, name, diagnostics, limits);
    if (!parsed.ok) return std::unexpected(usage_error(diagnostics.as_error("").message));
    return std::move(parsed.root);
}

base::Result<std::pair<std::string, std::string>> split(const std::string& text,
                                                        std::string_view option) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        // Not the text: it may be a secret that was typed in the wrong place.
        return std::unexpected(
            usage_error(fmt::format("--{} wants a name and a value: name=value", option)));
    }
    return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

base::Result<Node> value_of(const std::string& name, const std::string& text, bool credential) {
    if (credential && is_secret_field(name)) {
        const auto reference = config::parse_secret_reference(text);
        if (!reference || reference->kind == config::SecretKind::kLiteral) {
            return std::unexpected(usage_error(fmt::format(
                "--set {0}: others can see arguments. Use --secret {0} and type it, or a reference "
                "such as file:/path or vault:name",
                name)));
        }
        return Node::text(text);
    }
    if (text.starts_with('[') || text.starts_with('{')) return read_text(text, "--set " + name);
    return Node::plain(text);
}

}  // namespace

base::Result<Node> read_map_file(const std::string& path, const document::ParseLimits& limits) {
    std::string text;
    std::ifstream file;
    if (path != "-") {
        file.open(path, std::ios::binary);
        if (!file) return std::unexpected(usage_error(fmt::format("cannot read {}", path)));
    }
    // One byte more than may be: the parser says that it is too much.
    std::istream& in = path == "-" ? std::cin : file;
    in.clear();
    text.resize(limits.max_bytes + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    auto node = read_text(text, path == "-" ? "standard input" : path, limits);
    if (node && !node->is_map()) {
        return std::unexpected(usage_error(fmt::format("{} must hold a map of fields", path)));
    }
    return node;
}

bool BodyEdits::empty() const {
    return from_file.empty() && set.empty() && unset.empty() && labels.empty() && addons.empty() &&
           address.empty() && secrets.empty();
}

base::Result<Node> edited_body(Node body, const BodyEdits& edits, bool credential) {
    if (!edits.from_file.empty()) {
        auto given = read_map_file(edits.from_file);
        if (!given) return given;
        body = std::move(*given);
    }
    if (!body.is_map()) body = Node::map();
    if (!edits.address.empty()) body.set("address", Node::text(edits.address));
    for (const std::string& text : edits.labels) {
        const auto pair = split(text, "label");
        if (!pair) return std::unexpected(pair.error());
        const Node* old_labels = body.find("labels");
        Node labels = old_labels == nullptr ? Node::map() : *old_labels;
        labels.set(pair->first, Node::text(pair->second));
        body.set("labels", std::move(labels));
    }
    if (!edits.addons.empty()) {
        Node addons = Node::sequence();
        for (const std::string& name : edits.addons) addons.push(Node::text(name));
        body.set("addons", std::move(addons));
    }
    for (const std::string& text : edits.set) {
        const auto pair = split(text, "set");
        if (!pair) return std::unexpected(pair.error());
        const auto value = value_of(pair->first, pair->second, credential);
        if (!value) return std::unexpected(value.error());
        body = with_value(body, pair->first, &*value);
    }
    for (const std::string& path : edits.unset) body = with_value(body, path, nullptr);
    for (const std::string& name : edits.secrets) {
        if (!is_secret_field(name)) {
            return std::unexpected(
                usage_error(fmt::format("--secret {}: no such secret; there are {}",
                                        base::quoted(name), fmt::join(kSecretFields, ", "))));
        }
        const base::Secret secret = ask_secret(name);
        if (secret.empty()) {
            return std::unexpected(usage_error(fmt::format("--secret {}: nothing came", name)));
        }
        body.set(name, Node::text(secret.reveal()));
    }
    return body;
}

}  // namespace pollux::app
