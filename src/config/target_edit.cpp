#include "config/target_edit.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "model/task_key.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;

const ConfigObject* find(std::span<const ConfigObject> objects, ObjectKind kind,
                         std::string_view name) {
    for (const ConfigObject& one : objects) {
        if (one.kind == kind && one.name == name) return &one;
    }
    return nullptr;
}

Node body_of(const ConfigObject& object) {
    document::Diagnostics ignored;
    return document::parse_json(object.body, object.name, ignored).root;
}

// Entries of `addons`: names, or maps with `name` and settings; a single one stands alone.
std::vector<Node> entries_of(const Node* addons) {
    if (addons == nullptr || addons->is_null()) return {};
    return addons->is_sequence() ? addons->items() : std::vector<Node>{*addons};
}

std::string_view name_of(const Node& entry) {
    if (!entry.is_map()) return entry.scalar();
    const Node* name = entry.find("name");
    return name == nullptr ? std::string_view() : std::string_view(name->scalar());
}

Node list_of(std::vector<Node> entries) {
    Node list = Node::sequence();
    for (Node& entry : entries) list.push(std::move(entry));
    return list;
}

}  // namespace

std::string TargetName::key() const { return model::make_task_key(addon, device); }

base::Result<TargetName> parse_target_name(std::string_view key) {
    if (key.find("::") == std::string_view::npos) {
        return base::config_error("target.key", fmt::format("{} is no key of a target: it must be "
                                                            "addon::device",
                                                            quoted(key)));
    }
    const auto parsed = model::parse_task_key(key);
    if (!parsed) return std::unexpected(parsed.error());
    return TargetName{parsed->class_name, parsed->name.substr(0, parsed->name.find('#'))};
}

base::Result<std::vector<WantedObject>> add_target(std::span<const ConfigObject> current,
                                                   const TargetName& target, const Node& device,
                                                   const Node& settings,
                                                   document::Diagnostics& diagnostics) {
    std::vector<WantedObject> wanted;
    const ConfigObject* known = find(current, ObjectKind::kDevice, target.device);
    if (find(current, ObjectKind::kTarget, target.key()) != nullptr) {
        return base::config_error("object.exists",
                                  fmt::format("target {} exists", quoted(target.key())));
    }
    if (known != nullptr && !device.is_null()) {
        diagnostics.error(device.mark(), "device",
                          fmt::format("device {} exists: change it by itself, or leave this out",
                                      quoted(target.device)));
        return std::unexpected(diagnostics.as_error("object.exists"));
    }
    Node body = known != nullptr ? body_of(*known) : device.is_null() ? Node::map() : device;
    if (!body.is_map()) {
        diagnostics.error(body.mark(), "device", "a map is expected");
        return std::unexpected(diagnostics.as_error("object.invalid"));
    }
    std::vector<Node> addons = entries_of(body.find("addons"));
    addons.push_back(Node::text(target.addon));
    body.set("addons", list_of(std::move(addons)));
    WantedObject change;
    change.verb = known != nullptr ? EditVerb::kReplace : EditVerb::kCreate;
    change.kind = ObjectKind::kDevice;
    change.name = target.device;
    change.body = std::move(body);
    wanted.push_back(std::move(change));
    if (!settings.is_null()) {
        wanted.push_back(
            {EditVerb::kPut, ObjectKind::kTarget, target.key(), settings, std::nullopt});
    }
    return wanted;
}

base::Result<std::vector<WantedObject>> remove_target(std::span<const ConfigObject> current,
                                                      const TargetName& target,
                                                      std::optional<std::uint64_t> if_version) {
    const ConfigObject* object = find(current, ObjectKind::kTarget, target.key());
    const ConfigObject* device = find(current, ObjectKind::kDevice, target.device);
    if (object == nullptr || device == nullptr) {
        return base::config_error("object.unknown",
                                  fmt::format("target {} does not exist", quoted(target.key())));
    }
    if (if_version && *if_version != object->version) {
        return base::config_error(
            "object.version", fmt::format("target {} is at version {} now, not {}: read it again",
                                          quoted(target.key()), object->version, *if_version));
    }
    Node body = body_of(*device);
    std::vector<Node> addons = entries_of(body.find("addons"));
    if (std::erase_if(addons, [&](const Node& one) { return name_of(one) == target.addon; }) == 0) {
        return base::config_error(
            "object.owned",
            fmt::format("a group gives the addon {} to the device {}: take it off there, or "
                        "disable the target",
                        quoted(target.addon), quoted(target.device)));
    }
    WantedObject change;
    change.kind = ObjectKind::kDevice;
    change.name = target.device;
    if (addons.empty()) {
        change.verb = EditVerb::kRemove;
    } else {
        change.verb = EditVerb::kReplace;
        body.set("addons", list_of(std::move(addons)));
        change.body = std::move(body);
    }
    return std::vector<WantedObject>{std::move(change)};
}

void check_target_bodies(std::span<const WantedObject> wanted, const std::string& path,
                         document::Diagnostics& diagnostics) {
    for (const WantedObject& one : wanted) {
        if (one.verb == EditVerb::kRemove) continue;
        document::Diagnostics own;
        canonical_body(one.kind, one.name, one.body, own);
        const char* field = one.kind == ObjectKind::kDevice ? "device_spec" : "spec";
        for (document::Diagnostic item : own.items()) {
            const std::string place = document::key_path(path, field);
            item.field = item.field.empty() ? place : place + "." + item.field;
            diagnostics.add(std::move(item));
        }
    }
}

}  // namespace pollux::config
