#include "api/addon_pages.hpp"

#include <algorithm>

#include "extract/shipped_addons.hpp"
#include "runtime/addon_shelf.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using model::ObjectKind;

bool has_own_manifest(const model::ConfigObject* object) {
    if (object == nullptr) return false;
    const auto stored = runtime::read_stored_addon(*object);
    return stored && !stored->manifest.empty();
}

void write_details(JsonWriter& json, const extract::CompiledAddon& compiled) {
    const model::Addon& addon = compiled.addon();
    json.key("parameters").array();
    for (const auto& parameter : compiled.parameters()) {
        json.object().field("name", parameter.name).field("type", parameter.type);
        json.field("required", parameter.required).text_field("help", parameter.description);
        if (parameter.initial) json.field("default", *parameter.initial);
        json.end_object();
    }
    json.end_array().key("groups").array();
    for (const model::PollGroup& group : addon.groups) {
        json.object().field("name", group.name);
        if (group.interval) json.field("interval", base::to_seconds(*group.interval));
        json.end_object();
    }
    json.end_array().key("metrics").array();
    for (const model::MetricDef& metric : addon.metrics) {
        json.object().field("name", metric.name).field("type", model::to_string(metric.type));
        json.text_field("unit", metric.unit).text_field("help", metric.help);
        json.field("per_row", metric.per_row).end_object();
    }
    json.end_array();
}

}  // namespace

AddonCounts targets_by_addon(const runtime::FleetView& view) {
    AddonCounts counts;
    for (const auto& target : view.image->expansion.targets) {
        if (target.group == 0) ++counts[target.addon];
    }
    for (const auto& target : view.image->expansion.inbound) ++counts[target.addon];
    return counts;
}

std::uint64_t addon_revision(const runtime::FleetView& view, std::string_view name) {
    const auto* object = runtime::find_object(view, ObjectKind::kAddon, name);
    return object == nullptr ? 0 : object->version;
}

std::string_view addon_origin(const runtime::FleetView& view, std::string_view name) {
    const auto* object = runtime::find_object(view, ObjectKind::kAddon, name);
    if (has_own_manifest(object)) return model::to_string(object->origin);
    const auto& file = view.addons->find(name)->second->file();
    const bool shipped =
        std::ranges::any_of(extract::shipped_addons(),
                            [&](const extract::ShippedAddon& one) { return one.file == file; });
    return shipped ? "shipped" : "file";
}

void write_addon(JsonWriter& json, const runtime::FleetView& view, const AddonCounts& counts,
                 std::string_view name, bool details) {
    const extract::CompiledAddon& compiled = *view.addons->find(name)->second;
    const model::Addon& addon = compiled.addon();
    const auto* object = runtime::find_object(view, ObjectKind::kAddon, name);
    const auto count = counts.find(name);
    json.object().field("name", addon.name).field("version", addon.version);
    json.field("title", addon.title).field("description", addon.description);
    json.text_field("category", addon.category);
    json.field("protocol", model::to_string(addon.protocol));
    json.field("targets", count == counts.end() ? 0 : count->second);
    json.field("origin", addon_origin(view, name));
    json.field("enabled", !view.disabled_addons.contains(name));
    json.field("revision", object == nullptr ? 0 : object->version);
    if (object != nullptr) json.time_field("changed_at", object->changed_at);
    if (addon.interval) json.field("interval", base::to_seconds(*addon.interval));
    if (details) write_details(json, compiled);
    json.end_object();
}

}  // namespace pollux::api
