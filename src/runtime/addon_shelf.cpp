#include "runtime/addon_shelf.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::runtime {
namespace {

using base::quoted;
using document::Node;
using model::ConfigObject;

// A text in JSON may be written as \u00XX: six bytes for one.
constexpr document::ParseLimits kBodyLimits{.max_bytes = 6 * kMostManifestBytes + 1024};

base::Status check_version(const AddonChange& change, const ConfigObject* current) {
    const std::uint64_t now = current == nullptr ? 0 : current->version;
    if (!change.if_version || *change.if_version == now) return {};
    return base::config_error("object.version",
                              fmt::format("addon {} is at version {} now, not {}: read it again",
                                          quoted(change.name), now, *change.if_version));
}

auto switched_already(const AddonChange& change, bool enabled) {
    return base::config_error("operator.nothing_to_do",
                              fmt::format("addon {} is {} already", quoted(change.name),
                                          enabled ? "enabled" : "disabled"));
}

// Who switched an addon off meant it, whichever manifest is in force.
std::optional<StoredAddon> unless_plain(StoredAddon addon) {
    if (addon.enabled && addon.manifest.empty()) return std::nullopt;
    return addon;
}

}  // namespace

std::string to_body(const StoredAddon& addon) {
    Node body = Node::map();
    body.set("enabled", Node::boolean(addon.enabled));
    if (!addon.manifest.empty()) body.set("manifest", Node::text(addon.manifest));
    return document::to_json(body);
}

base::Result<StoredAddon> read_stored_addon(const ConfigObject& object) {
    document::Diagnostics diagnostics;
    const std::string where = fmt::format("addon {}", quoted(object.name));
    const auto parsed = document::parse_json(object.body, where, diagnostics, kBodyLimits);
    StoredAddon addon;
    if (parsed.ok) {
        document::MapReader reader(parsed.root, "", diagnostics);
        addon.enabled = reader.boolean("enabled").value_or(true);
        addon.manifest = reader.string("manifest").value_or("");
        reader.finish();
    }
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error("config.stored_object"));
    return addon;
}

AddonShelf make_shelf(const AddonSet& given, std::span<const ConfigObject> objects,
                      const AddonShelf& before, document::Diagnostics& diagnostics) {
    AddonShelf shelf;
    auto addons = std::make_shared<AddonSet>(given);
    for (const ConfigObject& object : objects) {
        if (object.kind != model::ObjectKind::kAddon) continue;
        const auto stored = read_stored_addon(object);
        if (!stored) {
            diagnostics.error({}, object.name, stored.error().message);
            continue;
        }
        if (!stored->enabled) shelf.disabled.insert(object.name);
        if (stored->manifest.empty()) continue;
        const auto known = before.stored.find(object.name);
        std::shared_ptr<const extract::CompiledAddon> compiled;
        if (known != before.stored.end() && known->second.first == object.body) {
            compiled = known->second.second;
        } else {
            auto fresh = extract::compile(stored->manifest, object.name);
            for (const auto& item : fresh.diagnostics.items()) diagnostics.add(item);
            compiled = std::move(fresh.addon);
        }
        if (compiled == nullptr) continue;
        shelf.stored[object.name] = {object.body, compiled};
        (*addons)[object.name] = std::move(compiled);
    }
    shelf.addons = std::move(addons);
    return shelf;
}

base::Result<std::optional<StoredAddon>> plan_addon(const AddonChange& change,
                                                    const AddonSet& given,
                                                    const ConfigObject* current) {
    StoredAddon now;
    if (current != nullptr) {
        auto read = read_stored_addon(*current);
        if (!read) return std::unexpected(read.error());
        now = std::move(*read);
    }
    const bool came = given.contains(change.name);
    if (change.verb == AddonVerb::kCreate) {
        if (!now.manifest.empty()) {
            return base::config_error(
                "object.exists",
                fmt::format("there is a manifest of {} already: change it", quoted(change.name)));
        }
    } else if (!came && current == nullptr) {
        return base::config_error("object.unknown",
                                  fmt::format("addon {} does not exist", quoted(change.name)));
    }
    if (auto status = check_version(change, current); !status) {
        return std::unexpected(status.error());
    }
    switch (change.verb) {
        case AddonVerb::kCreate:
        case AddonVerb::kReplace: now.manifest = change.manifest; return now;
        case AddonVerb::kRemove:
            if (now.manifest.empty()) {
                return base::config_error(
                    "addon.given",
                    fmt::format("addon {} came with the server and nobody stored another: there is "
                                "nothing to remove; it can be disabled",
                                quoted(change.name)));
            }
            now.manifest.clear();
            return came ? unless_plain(std::move(now)) : std::nullopt;
        case AddonVerb::kEnable:
        case AddonVerb::kDisable: break;
    }
    const bool on = change.verb == AddonVerb::kEnable;
    if (now.enabled == on) return switched_already(change, on);
    now.enabled = on;
    return unless_plain(std::move(now));
}

}  // namespace pollux::runtime
