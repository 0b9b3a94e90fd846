#include "api/fleet_pages.hpp"

#include "api/health_page.hpp"
#include "api/task_pages.hpp"
#include "config/fleet_edit.hpp"
#include "config/target_edit.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using model::ConfigObject;
using model::ObjectKind;

void write_head(JsonWriter& json, const ConfigObject& object) {
    json.field("name", object.name).field("id", object.id);
    json.field("origin", model::to_string(object.origin)).field("version", object.version);
    json.time_field("changed_at", object.changed_at);
    json.raw_field("spec", document::to_json(config::shown_body(object)));
}

}  // namespace

void write_object(JsonWriter& json, const ConfigObject& object) {
    json.object();
    write_head(json, object);
    json.end_object();
}

void write_target(JsonWriter& json, const ConfigObject& object, const runtime::FleetView& view,
                  const std::vector<runtime::TaskRow>& tasks) {
    json.object().field("key", object.name);
    write_head(json, object);
    const auto name = config::parse_target_name(object.name);
    if (name) json.field("addon", name->addon).field("device", name->device);
    json.text_field("connection", connection_of(view, object.name));
    if (const auto* target = runtime::find_target(view, object.name)) {
        json.key("labels").object();
        for (const auto& [label, value] : target->labels) json.field(label, value);
        json.end_object().key("groups").array();
        for (const std::string& group : target->groups) json.value(group);
        json.end_array();
    }
    json.key("tasks").array();
    for (const runtime::TaskRow& row : tasks) write_task(json, row);
    json.end_array().end_object();
}

access::Labels labels_of_object(const runtime::FleetView& view, const ConfigObject& object) {
    const ConfigObject* device = &object;
    if (object.kind == ObjectKind::kTarget) {
        const auto name = config::parse_target_name(object.name);
        device = name ? runtime::find_object(view, ObjectKind::kDevice, name->device) : nullptr;
    }
    if (device == nullptr || device->kind != ObjectKind::kDevice) return {};
    document::Diagnostics ignored;
    const auto body = document::parse_json(device->body, device->name, ignored);
    access::Labels labels;
    if (const document::Node* given = body.root.find("labels")) {
        for (const auto& entry : given->entries()) labels[entry.key] = entry.value.scalar();
    }
    return labels;
}

}  // namespace pollux::api
