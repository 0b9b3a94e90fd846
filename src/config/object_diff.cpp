// The difference between stored and wanted objects, field by field.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/uuid.hpp"
#include "config/objects.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using document::Node;
using model::ConfigObject;
using model::ObjectKind;
using model::Origin;

using ObjectKey = std::pair<ObjectKind, std::string_view>;
using Index = std::map<ObjectKey, const ConfigObject*>;

constexpr std::array<std::string_view, 7> kSecretFields = {
    "password",           "token",
    "community",          "client_key_password",
    "snmp_auth_password", "snmp_privacy_password",
    "ssh_key_password"};

Index index_of(std::span<const ConfigObject> objects) {
    Index index;
    for (const ConfigObject& one : objects) {
        if (model::is_fleet_kind(one.kind)) index.emplace(ObjectKey{one.kind, one.name}, &one);
    }
    return index;
}

Node body_of(const ConfigObject& object) {
    document::Diagnostics ignored;
    return document::parse_json(object.body, object.name, ignored).root;
}

// Leaves of a tree by their path.
void flatten(const Node& node, const std::string& path, ByName<std::string>& leaves) {
    if (node.is_map() && !node.entries().empty()) {
        for (const auto& entry : node.entries()) {
            flatten(entry.value, document::key_path(path, entry.key), leaves);
        }
        return;
    }
    if (node.is_sequence() && !node.items().empty()) {
        for (std::size_t i = 0; i < node.items().size(); ++i) {
            flatten(node.items()[i], document::item_path(path, i), leaves);
        }
        return;
    }
    if (!path.empty()) leaves[path] = document::to_json(node);
}

bool is_literal(std::string_view text) {
    const auto reference = parse_secret_reference(text);
    return reference && reference->kind == SecretKind::kLiteral;
}

// An exported credential names the vault where it had a literal: that keeps what is sealed there.
std::string keep_sealed(const ConfigObject& current, const ConfigObject& wanted) {
    if (wanted.kind != ObjectKind::kCredential) return wanted.body;
    const Node before = body_of(current);
    Node after = body_of(wanted);
    for (const std::string_view field : kSecretFields) {
        const Node* old_value = before.find(field);
        const Node* new_value = after.find(field);
        if (old_value == nullptr || new_value == nullptr) continue;
        const std::string self = fmt::format("vault:{}/{}", wanted.name, field);
        if (new_value->scalar() != self || !is_literal(old_value->scalar())) continue;
        after.set(std::string(field), Node::text(old_value->scalar()));
    }
    return document::to_json(after);
}

// Literal secrets become words.
std::string shown(ObjectKind kind, const std::string& field, const std::string& value) {
    const bool secret =
        kind == ObjectKind::kCredential && !value.empty() &&
        std::find(kSecretFields.begin(), kSecretFields.end(), field) != kSecretFields.end();
    if (!secret) return value;
    document::Diagnostics ignored;
    const auto parsed = document::parse_json(value, field, ignored);
    return parsed.ok && !is_literal(parsed.root.scalar()) ? value : "(secret)";
}

std::vector<FieldChange> field_changes(const ConfigObject& before, const std::string& body) {
    ConfigObject after = before;
    after.body = body;
    ByName<std::string> old_leaves;
    ByName<std::string> new_leaves;
    flatten(body_of(before), "", old_leaves);
    flatten(body_of(after), "", new_leaves);
    std::vector<FieldChange> changes;
    for (const auto& [field, value] : old_leaves) {
        const auto found = new_leaves.find(field);
        const std::string now = found == new_leaves.end() ? std::string() : found->second;
        if (now == value) continue;
        changes.push_back(
            {field, shown(before.kind, field, value), shown(before.kind, field, now)});
    }
    for (const auto& [field, value] : new_leaves) {
        if (!old_leaves.contains(field)) {
            changes.push_back({field, "", shown(before.kind, field, value)});
        }
    }
    std::sort(changes.begin(), changes.end(),
              [](const FieldChange& a, const FieldChange& b) { return a.field < b.field; });
    return changes;
}

ConfigObject next_version(const ConfigObject& before, const ConfigObject& wanted,
                          std::string body) {
    ConfigObject after = before;
    after.origin = wanted.origin;
    after.version = before.version + 1;
    after.body = std::move(body);
    return after;
}

Conflict conflict_of(const ConfigObject& current, const ConfigObject& wanted) {
    return {current,
            fmt::format("{} {} belongs to origin {}, not to {}: rename it in the files, remove it "
                        "there, or take it over with `pollux apply --adopt`",
                        to_string(current.kind), base::quoted(current.name),
                        to_string(current.origin), to_string(wanted.origin))};
}

bool may_remove(const ConfigObject& object, const DiffOptions& options) {
    return object.origin == Origin::kFile ||
           (options.discovery && object.origin == Origin::kDiscovery);
}

std::string title(const ConfigObject& object) {
    return fmt::format("{} {}", to_string(object.kind), object.name);
}

}  // namespace

FleetDiff diff(std::span<const ConfigObject> current, std::span<const ConfigObject> wanted,
               const DiffOptions& options) {
    FleetDiff result;
    const Index stored = index_of(current);
    const Index asked = index_of(wanted);
    for (const auto& [key, one] : asked) {
        const auto found = stored.find(key);
        if (found == stored.end()) {
            ConfigObject addition = *one;
            addition.version = 1;
            result.additions.push_back(std::move(addition));
            continue;
        }
        const ConfigObject& before = *found->second;
        if (before.origin != one->origin && !options.adopt) {
            result.conflicts.push_back(conflict_of(before, *one));
            continue;
        }
        std::string body = keep_sealed(before, *one);
        if (body == before.body && before.origin == one->origin) continue;
        std::vector<FieldChange> fields = field_changes(before, body);
        if (before.origin != one->origin) {
            fields.push_back({"origin", std::string(to_string(before.origin)),
                              std::string(to_string(one->origin))});
        }
        result.changes.push_back(
            {before, next_version(before, *one, std::move(body)), std::move(fields)});
    }
    for (const auto& [key, one] : stored) {
        if (!asked.contains(key) && may_remove(*one, options)) result.removals.push_back(*one);
    }
    return result;
}

ObjectEdits make_edits(const FleetDiff& difference, base::WallTime now, const RandomBits& random) {
    ObjectEdits edits;
    for (ConfigObject addition : difference.additions) {
        const auto [high, low] = random();
        addition.id = base::make_uuid7(now, high, low);
        addition.changed_at = now;
        edits.upserts.push_back(std::move(addition));
    }
    for (const ObjectChange& change : difference.changes) {
        edits.upserts.push_back(change.after);
        edits.upserts.back().changed_at = now;
    }
    edits.removals = difference.removals;
    return edits;
}

std::vector<ConfigObject> apply_edits(std::span<const ConfigObject> current,
                                      const ObjectEdits& edits) {
    std::map<std::pair<ObjectKind, std::string>, ConfigObject> state;
    for (const ConfigObject& one : current) state[{one.kind, one.name}] = one;
    for (const ConfigObject& one : edits.removals) state.erase({one.kind, one.name});
    for (const ConfigObject& one : edits.upserts) state[{one.kind, one.name}] = one;
    std::vector<ConfigObject> result;
    for (auto& [key, one] : state) result.push_back(std::move(one));
    return result;
}

std::string describe(const FleetDiff& difference) {
    std::string text;
    for (const ConfigObject& one : difference.additions) {
        text += fmt::format("+ {}\n", title(one));
    }
    for (const ObjectChange& change : difference.changes) {
        text += fmt::format("~ {}\n", title(change.before));
        for (const FieldChange& field : change.fields) {
            text += fmt::format("    {}: {} -> {}\n", field.field,
                                field.before.empty() ? "(not set)" : field.before,
                                field.after.empty() ? "(not set)" : field.after);
        }
    }
    for (const ConfigObject& one : difference.removals) text += fmt::format("- {}\n", title(one));
    for (const Conflict& one : difference.conflicts) text += fmt::format("! {}\n", one.message);
    text += fmt::format("{} to add, {} to change, {} to remove, {} conflicts\n",
                        difference.additions.size(), difference.changes.size(),
                        difference.removals.size(), difference.conflicts.size());
    return text;
}

}  // namespace pollux::config
