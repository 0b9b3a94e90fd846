#include "config/fleet_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "config/membership.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"
#include "model/task_key.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;
using model::Origin;

using Objects = std::map<std::pair<ObjectKind, std::string>, ConfigObject>;

std::string title(ObjectKind kind, std::string_view name) {
    return fmt::format("{} {}", model::to_string(kind), quoted(name));
}

base::Status check_verb(const WantedObject& wanted, const ConfigObject* current) {
    const std::string what = title(wanted.kind, wanted.name);
    if (current == nullptr) {
        if (wanted.verb == EditVerb::kCreate || wanted.verb == EditVerb::kPut) {
            if (!wanted.if_version || *wanted.if_version == 0) return {};
            return base::config_error("object.version", fmt::format("{} is gone: it was version {}",
                                                                    what, *wanted.if_version));
        }
        return base::config_error("object.unknown", fmt::format("{} does not exist", what));
    }
    if (wanted.verb == EditVerb::kCreate) {
        return base::config_error("object.exists",
                                  fmt::format("{} exists: change it, or take another name", what));
    }
    if (wanted.if_version && *wanted.if_version != current->version) {
        return base::config_error(
            "object.version", fmt::format("{} is at version {} now, not {}: read it again", what,
                                          current->version, *wanted.if_version));
    }
    if (current->origin != Origin::kApi && wanted.verb != EditVerb::kAdopt) {
        return base::config_error(
            "object.owned",
            fmt::format("{} belongs to origin {}: change it there, or adopt it first", what,
                        model::to_string(current->origin)));
    }
    if (wanted.kind == ObjectKind::kTarget && wanted.verb == EditVerb::kRemove) {
        return base::config_error(
            "object.owned",
            fmt::format("{} comes from its device: take the addon off there", what));
    }
    return {};
}

// Targets are there for what the devices have: new ones come, those of gone pairs go.
base::Status follow_targets(const Objects& next, FleetDiff& result) {
    std::vector<ConfigObject> all;
    for (const auto& [key, object] : next) all.push_back(object);
    const auto fleet = from_objects(all);
    if (!fleet) return std::unexpected(fleet.error());
    const std::vector<std::string> keys = target_keys(*fleet);
    for (const auto& [key, object] : next) {
        if (key.first != ObjectKind::kTarget) continue;
        if (!std::ranges::binary_search(keys, key.second)) result.removals.push_back(object);
    }
    std::erase_if(result.changes, [&](const ObjectChange& change) {
        return change.before.kind == ObjectKind::kTarget &&
               !std::ranges::binary_search(keys, change.before.name);
    });
    for (const std::string& key : keys) {
        if (next.contains({ObjectKind::kTarget, key})) continue;
        const auto parsed = model::parse_task_key(key);
        if (!parsed) continue;
        const auto device = next.find({ObjectKind::kDevice, parsed->name});
        ConfigObject target;
        target.kind = ObjectKind::kTarget;
        target.name = key;
        target.origin = device == next.end() ? Origin::kApi : device->second.origin;
        target.version = 1;
        target.body = "{}";
        result.additions.push_back(std::move(target));
    }
    return {};
}

}  // namespace

std::string canonical_body(ObjectKind kind, const std::string& name, const Node& body,
                           Diagnostics& diagnostics) {
    const parts::Input input{body, "", diagnostics};
    switch (kind) {
        case ObjectKind::kGroup: return document::to_json(parts::write(parts::read_group(input)));
        case ObjectKind::kDevice: return document::to_json(parts::write(parts::read_device(input)));
        case ObjectKind::kTarget: return document::to_json(parts::write(parts::read_target(input)));
        case ObjectKind::kCredential:
            return document::to_json(parts::write(parts::read_credential(input), name, true));
        case ObjectKind::kSource: return document::to_json(parts::write(parts::read_source(input)));
        case ObjectKind::kReceiver:
            return document::to_json(parts::write(parts::read_receiver(input)));
        case ObjectKind::kRoute: return document::to_json(parts::write(parts::read_route(input)));
        case ObjectKind::kSilence:
            return document::to_json(parts::write(parts::read_silence(input)));
        default: break;
    }
    diagnostics.error(
        body.mark(), "",
        fmt::format("objects of kind {} are not edited one by one", model::to_string(kind)));
    return {};
}

Node shown_body(const ConfigObject& object) {
    Diagnostics ignored;
    Node body = document::parse_json(object.body, object.name, ignored).root;
    if (object.kind != ObjectKind::kCredential) return body;
    const parts::Input input{body, "", ignored};
    return parts::write(parts::read_credential(input), object.name, false);
}

base::Result<FleetDiff> plan_edit(std::span<const ConfigObject> current,
                                  std::span<const WantedObject> wanted, Diagnostics& diagnostics) {
    Objects next;
    for (const ConfigObject& object : current) next[{object.kind, object.name}] = object;
    std::vector<ConfigObject> upserts;
    std::vector<ConfigObject> removals;
    for (const WantedObject& one : wanted) {
        const auto name = one.kind == ObjectKind::kTarget
                              ? base::Result<std::string>(one.name)
                              : model::normalise_name(model::to_string(one.kind), one.name);
        if (!name) return std::unexpected(name.error());
        const auto found = next.find({one.kind, *name});
        const ConfigObject* before = found == next.end() ? nullptr : &found->second;
        if (auto status = check_verb(one, before); !status) return std::unexpected(status.error());
        if (one.verb == EditVerb::kRemove) {
            removals.push_back(*before);
            next.erase(found);
            continue;
        }
        ConfigObject after;
        after.kind = one.kind;
        after.name = *name;
        after.origin = Origin::kApi;
        after.body = one.verb == EditVerb::kAdopt
                         ? before->body
                         : canonical_body(one.kind, *name, one.body, diagnostics);
        if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("object.invalid"));
        // Several about one object are one edit: each sees what those before it did.
        std::erase_if(upserts, [&](const ConfigObject& earlier) {
            return earlier.kind == one.kind && earlier.name == *name;
        });
        next[{one.kind, *name}] = after;
        upserts.push_back(std::move(after));
    }
    // Who owns what was looked at above.
    FleetDiff result = diff(current, upserts, {.adopt = true});
    result.removals = std::move(removals);
    result.conflicts.clear();
    if (auto status = follow_targets(next, result); !status) {
        return std::unexpected(status.error());
    }
    return result;
}

}  // namespace pollux::config
