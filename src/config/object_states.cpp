// What the audit trail keeps of a difference.
#include <fmt/format.h>

#include <functional>

#include "config/fleet_edit.hpp"
#include "config/objects.hpp"
#include "config/target_edit.hpp"
#include "document/json_writer.hpp"
#include "document/write.hpp"

namespace pollux::config {
namespace {

using document::JsonWriter;
using model::ConfigObject;
using model::ObjectKind;

// A literal is not shown by any page, and neither is a reference here: its name says enough.
void write_names(JsonWriter& json, const document::Node& body) {
    json.key("fields").array();
    for (const auto& entry : body.entries()) json.value(entry.key);
    json.end_array();
}

void write_whole(JsonWriter& json, const ConfigObject& object) {
    const document::Node body = shown_body(object);
    json.field("version", object.version);
    if (object.kind == ObjectKind::kCredential) {
        write_names(json, body);
    } else {
        json.raw_field("spec", document::to_json(body));
    }
}

void write_changed(JsonWriter& json, const ObjectChange& change, const ConfigObject& state,
                   std::string FieldChange::* value) {
    json.field("version", state.version);
    if (change.before.kind == ObjectKind::kCredential) {
        json.key("fields").array();
        for (const FieldChange& field : change.fields) json.value(field.field);
        json.end_array();
        return;
    }
    json.key("fields").object();
    for (const FieldChange& field : change.fields) {
        const std::string& text = field.*value;
        // Of the change of an owner both sides are plain words.
        if (field.field == "origin") {
            json.field("origin", text);
        } else {
            json.raw_field(field.field, text.empty() ? "null" : text);
        }
    }
    json.end_object();
}

// One side of the difference: an object with a member for each that `write` is called for.
class Side {
  public:
    void add(const ConfigObject& object, const std::function<void(JsonWriter&)>& write) {
        if (text_.empty()) json_.object();
        json_.key(fmt::format("{} {}", to_string(object.kind), object.name)).object();
        write(json_);
        json_.end_object();
    }
    std::string take() {
        if (!text_.empty()) json_.end_object();
        return std::move(text_);
    }

  private:
    std::string text_;
    JsonWriter json_{text_};
};

using Wanted = std::function<bool(const ConfigObject&)>;

ObjectStates states_where(const FleetDiff& difference, const Wanted& wanted) {
    Side before;
    Side after;
    for (const ObjectChange& change : difference.changes) {
        if (!wanted(change.before)) continue;
        before.add(change.before, [&](JsonWriter& json) {
            write_changed(json, change, change.before, &FieldChange::before);
        });
        after.add(change.after, [&](JsonWriter& json) {
            write_changed(json, change, change.after, &FieldChange::after);
        });
    }
    for (const ConfigObject& one : difference.removals) {
        if (wanted(one)) before.add(one, [&](JsonWriter& json) { write_whole(json, one); });
    }
    for (const ConfigObject& one : difference.additions) {
        if (wanted(one)) after.add(one, [&](JsonWriter& json) { write_whole(json, one); });
    }
    return {before.take(), after.take()};
}

}  // namespace

ObjectStates states_of(const FleetDiff& difference, std::string_view name) {
    const auto target = parse_target_name(name);
    const std::string key = target ? target->key() : std::string(name);
    const auto named = [&](const ConfigObject& one) {
        const bool device = target && one.kind == ObjectKind::kDevice;
        return name.empty() || one.name == (device ? target->device : key);
    };
    return states_where(difference, named);
}

}  // namespace pollux::config
