#include "api/example_schema.hpp"

#include <algorithm>
#include <array>

#include "base/time.hpp"
#include "document/json_writer.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using document::Node;

// Their keys differ from one answer to the next.
constexpr std::array<std::string_view, 15> kMapsOfNames = {
    "annotations", "arguments", "by_addon", "by_severity", "by_status",
    "conditions",  "fields",    "labels",   "perType",     "readings",
    "resources",   "samples",   "settings", "spec",        "values"};

bool is_number(const Node& node) {
    const std::string& text = node.scalar();
    return !node.quoted() && !text.empty() &&
           (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

bool is_boolean(const Node& node) {
    return !node.quoted() && (node.scalar() == "true" || node.scalar() == "false");
}

std::string_view kind_of(const Node& node) {
    if (node.is_map()) return "object";
    if (node.is_sequence()) return "array";
    if (is_boolean(node)) return "boolean";
    return is_number(node) ? "number" : "string";
}

void write(JsonWriter& json, const Node& node, std::string_view name);

// Of a map of names: the schema of all values, if they are of one kind.
void write_values(JsonWriter& json, const Node& node) {
    const auto& entries = node.entries();
    if (entries.empty()) return;
    const std::string_view kind = kind_of(entries.front().value);
    if (std::ranges::all_of(entries, [&](const auto& one) { return kind_of(one.value) == kind; })) {
        json.key("additionalProperties");
        write(json, entries.front().value, "");
    }
}

void write(JsonWriter& json, const Node& node, std::string_view name) {
    json.object();
    if (node.is_null()) {  // it may be anything
        json.end_object();
        return;
    }
    json.field("type", kind_of(node));
    if (node.is_sequence() && !node.items().empty()) {
        json.key("items");
        write(json, node.items().front(), "");
    } else if (node.is_map() && std::ranges::find(kMapsOfNames, name) != kMapsOfNames.end()) {
        // What is configured has fields of any kind.
        if (name != "spec" && name != "arguments" && name != "values") write_values(json, node);
    } else if (node.is_map() && !node.entries().empty()) {
        json.key("properties").object();
        for (const auto& entry : node.entries()) {
            json.key(entry.key);
            write(json, entry.value, entry.key);
        }
        json.end_object();
    } else if (node.is_scalar() && kind_of(node) == "string" && base::parse_utc(node.scalar())) {
        json.field("format", "date-time");
    }
    json.end_object();
}

}  // namespace

std::string schema_of_example(std::string_view example) {
    document::Diagnostics diagnostics;
    const document::Parsed parsed = document::parse_json(example, "example", diagnostics);
    if (!parsed.ok) return {};
    std::string schema;
    JsonWriter json(schema);
    write(json, parsed.root, "");
    return schema;
}

}  // namespace pollux::api
