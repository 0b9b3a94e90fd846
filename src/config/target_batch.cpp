#include "config/target_batch.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;

constexpr std::array<std::string_view, 6> kVerbNames = {"create", "update",  "delete",
                                                        "enable", "disable", "poll"};

TargetOperation read_operation(const Node& node, const std::string& path,
                               Diagnostics& diagnostics) {
    document::MapReader reader(node, path, diagnostics);
    TargetOperation operation;
    if (const auto verb = reader.one_of("op", kVerbNames, document::Need::kRequired)) {
        operation.verb = static_cast<TargetVerb>(*verb);
    }
    if (reader.has("key")) {
        const auto name = parse_target_name(reader.string("key").value_or(""));
        if (name) {
            operation.target = *name;
        } else {
            reader.error("key", name.error().message);
        }
    } else {
        operation.target.addon = reader.string("addon", document::Need::kRequired).value_or("");
        operation.target.device = reader.string("device", document::Need::kRequired).value_or("");
    }
    if (operation.verb == TargetVerb::kCreate) {
        if (const Node* device = reader.map("device_spec")) operation.device = *device;
    }
    if (operation.verb <= TargetVerb::kUpdate) {
        const bool needed = operation.verb == TargetVerb::kUpdate;
        const auto need = needed ? document::Need::kRequired : document::Need::kOptional;
        if (const Node* settings = reader.map("spec", need)) operation.settings = *settings;
    }
    if (operation.verb == TargetVerb::kUpdate || operation.verb == TargetVerb::kDelete) {
        const auto version = reader.integer("if_version", 0, INT64_MAX);
        if (version) operation.if_version = static_cast<std::uint64_t>(*version);
    }
    reader.finish();
    return operation;
}

// The stored objects with what the operations did to them so far.
class Draft {
  public:
    explicit Draft(std::span<const ConfigObject> current) {
        for (const ConfigObject& one : current) stored_.emplace(Key{one.kind, one.name}, &one);
    }

    const ConfigObject* find(ObjectKind kind, const std::string& name) const {
        const auto changed = changed_.find({kind, name});
        if (changed != changed_.end()) return changed->second ? &*changed->second : nullptr;
        const auto found = stored_.find({kind, name});
        return found == stored_.end() ? nullptr : found->second;
    }

    // What an operation needs to look at: the device and the target.
    std::vector<ConfigObject> around(const TargetName& target) const {
        std::vector<ConfigObject> objects;
        if (const auto* one = find(ObjectKind::kDevice, target.device)) objects.push_back(*one);
        if (const auto* one = find(ObjectKind::kTarget, target.key())) objects.push_back(*one);
        return objects;
    }

    void take(const WantedObject& wanted) {
        const Key key{wanted.kind, wanted.name};
        if (wanted.verb == EditVerb::kRemove) {
            changed_[key] = std::nullopt;
            return;
        }
        ConfigObject object;
        if (const ConfigObject* before = find(wanted.kind, wanted.name)) object = *before;
        object.kind = wanted.kind;
        object.name = wanted.name;
        object.body = document::to_json(wanted.body);
        changed_[key] = std::move(object);
        bodies_[key] = wanted.body;
        if (wanted.if_version) versions_.emplace(key, *wanted.if_version);
    }

    void make_target(const std::string& name) {
        if (find(ObjectKind::kTarget, name) != nullptr) return;
        ConfigObject object;
        object.kind = ObjectKind::kTarget;
        object.name = name;
        object.body = "{}";
        changed_[{ObjectKind::kTarget, name}] = std::move(object);
    }
    void drop_target(const std::string& name) {
        changed_[{ObjectKind::kTarget, name}] = std::nullopt;
    }

    std::vector<WantedObject> wanted() const {
        std::vector<WantedObject> all;
        for (const auto& [key, object] : changed_) {
            const bool was = stored_.contains(key);
            const auto body = bodies_.find(key);
            // Targets come and go with their devices; only what was said about them is written.
            if (key.first == ObjectKind::kTarget && (!object || body == bodies_.end())) continue;
            if (!object && !was) continue;
            WantedObject one;
            one.kind = key.first;
            one.name = key.second;
            one.verb = !object                            ? EditVerb::kRemove
                       : key.first == ObjectKind::kTarget ? EditVerb::kPut
                       : was                              ? EditVerb::kReplace
                                                          : EditVerb::kCreate;
            if (object) one.body = body->second;
            const auto version = versions_.find(key);
            if (version != versions_.end()) one.if_version = version->second;
            all.push_back(std::move(one));
        }
        return all;
    }

  private:
    using Key = std::pair<ObjectKind, std::string>;
    std::map<Key, const ConfigObject*> stored_;
    std::map<Key, std::optional<ConfigObject>> changed_;  // nothing: gone; devices come first
    std::map<Key, Node> bodies_;
    std::map<Key, std::uint64_t> versions_;
};

base::Result<std::vector<WantedObject>> wanted_by(const Draft& draft,
                                                  const TargetOperation& operation,
                                                  Diagnostics& diagnostics) {
    const std::string key = operation.target.key();
    const std::vector<ConfigObject> around = draft.around(operation.target);
    if (operation.verb == TargetVerb::kCreate) {
        return add_target(around, operation.target, operation.device, operation.settings,
                          diagnostics);
    }
    if (operation.verb == TargetVerb::kDelete) {
        return remove_target(around, operation.target, operation.if_version);
    }
    if (draft.find(ObjectKind::kTarget, key) == nullptr) {
        return base::config_error("object.unknown",
                                  fmt::format("target {} does not exist", quoted(key)));
    }
    if (operation.verb != TargetVerb::kUpdate) return std::vector<WantedObject>{};
    return std::vector<WantedObject>{
        {EditVerb::kReplace, ObjectKind::kTarget, key, operation.settings, operation.if_version}};
}

}  // namespace

std::string_view to_string(TargetVerb verb) { return kVerbNames[static_cast<std::size_t>(verb)]; }

std::vector<TargetOperation> read_target_operations(const Node& list, const std::string& path,
                                                    Diagnostics& diagnostics) {
    std::vector<TargetOperation> operations;
    if (list.items().empty() || list.items().size() > kMostTargetOperations) {
        diagnostics.error(list.mark(), path,
                          fmt::format("holds {} operations; 1 to {} are taken at once",
                                      list.items().size(), kMostTargetOperations));
        return operations;
    }
    for (std::size_t i = 0; i < list.items().size(); ++i) {
        operations.push_back(
            read_operation(list.items()[i], document::item_path(path, i), diagnostics));
    }
    return operations;
}

base::Result<std::vector<WantedObject>> plan_targets(std::span<const ConfigObject> current,
                                                     std::span<const TargetOperation> operations,
                                                     const std::string& path,
                                                     Diagnostics& diagnostics) {
    Draft draft(current);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const TargetOperation& operation = operations[i];
        const std::string place = document::item_path(path, i);
        Diagnostics own;
        const auto wanted = wanted_by(draft, operation, own);
        if (!wanted) {
            diagnostics.error({}, place, wanted.error().message);
            return std::unexpected(wanted.error());
        }
        check_target_bodies(*wanted, place, diagnostics);
        if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("object.invalid"));
        for (const WantedObject& one : *wanted) draft.take(one);
        if (operation.verb == TargetVerb::kCreate) draft.make_target(operation.target.key());
        if (operation.verb == TargetVerb::kDelete) draft.drop_target(operation.target.key());
    }
    return draft.wanted();
}

Node create_operations(const Node& devices) {
    Node operations = Node::sequence();
    for (const document::MapEntry& device : devices.entries()) {
        Node body = Node::map();
        const Node* addons = nullptr;
        for (const document::MapEntry& field : device.value.entries()) {
            if (field.key == "addons") {
                addons = &field.value;
            } else {
                body.set(field.key, field.value);
            }
        }
        if (addons == nullptr) continue;
        for (std::size_t i = 0; i < addons->items().size(); ++i) {
            const Node& addon = addons->items()[i];
            Node operation = Node::map();
            operation.set("op", Node::text("create"));
            operation.set("addon", addon);
            operation.set("device", Node::text(device.key));
            if (i == 0) operation.set("device_spec", body);
            operations.push(std::move(operation));
        }
    }
    return operations;
}

}  // namespace pollux::config
