#include "api/example_schema.hpp"

#include <algorithm>
#include <vector>

#include "api/answer_shapes.hpp"
#include "base/check.hpp"
#include "base/time.hpp"
#include "document/json_writer.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using document::Node;

constexpr std::string_view kAllOf = "...";

struct MarkedKey {
    std::string_view name = {};
    bool optional = false;
    bool nullable = false;
    bool names = false;
    bool anything = false;
};

MarkedKey marked(std::string_view key) {
    MarkedKey result{.name = key};
    for (; !result.name.empty(); result.name.remove_suffix(1)) {
        switch (result.name.back()) {
            case '?': result.optional = true; break;
            case '~': result.nullable = true; break;
            case '*': result.names = true; break;
            case '!': result.anything = true; break;
            default: return result;
        }
    }
    return result;
}

// The name of the shape that a text stands for; empty: it is a text.
std::string_view shape_name(const Node& node) {
    if (!node.is_scalar() || !node.quoted()) return {};
    const std::string_view text = node.scalar();
    if (!text.starts_with('$')) return {};
    return text.substr(1);
}

Node read_example(std::string_view example) {
    document::Diagnostics diagnostics;
    document::Parsed parsed = document::parse_json(example, "example", diagnostics);
    return parsed.ok ? std::move(parsed.root) : Node();
}

Node read_shape(std::string_view name) {
    Node shape = read_example(shape_text(name));
    POLLUX_CHECK_MSG(shape.is_map(), "an example names a shape that is not there");
    return shape;
}

// The fields of a map, with those of the shape that it takes all of.
std::vector<std::pair<std::string, Node>> fields_of(const Node& map) {
    std::vector<std::pair<std::string, Node>> fields;
    for (const auto& entry : map.entries()) {
        if (entry.key != kAllOf) {
            fields.emplace_back(entry.key, entry.value);
            continue;
        }
        for (auto& field : fields_of(read_shape(shape_name(entry.value)))) {
            fields.push_back(std::move(field));
        }
    }
    return fields;
}

// In the order of the example.
void write_plain(JsonWriter& json, const Node& node) {
    if (const std::string_view shape = shape_name(node); !shape.empty()) {
        write_plain(json, read_shape(shape));
    } else if (node.is_sequence()) {
        json.array();
        for (const Node& item : node.items()) write_plain(json, item);
        json.end_array();
    } else if (node.is_map()) {
        json.object();
        for (const auto& [key, value] : fields_of(node)) {
            write_plain(json.key(marked(key).name), value);
        }
        json.end_object();
    } else if (node.is_null()) {
        json.null();
    } else if (node.quoted()) {
        json.value(node.scalar());
    } else {
        json.raw(node.scalar());
    }
}

std::string_view type_of(const Node& node) {
    if (node.is_map()) return "object";
    if (node.is_sequence()) return "array";
    const std::string& text = node.scalar();
    if (node.quoted()) return "string";
    if (text == "true" || text == "false") return "boolean";
    return text.find_first_of(".eE") == std::string::npos ? "integer" : "number";
}

class SchemaWriter {
  public:
    SchemaWriter(JsonWriter& json, std::set<std::string>& shapes) : json_(json), shapes_(shapes) {}

    void write(const Node& node, const MarkedKey& key = {}) {
        if (const std::string_view shape = shape_name(node); !shape.empty()) {
            write_reference(shape, key.nullable);
            return;
        }
        json_.object();
        if (key.anything && !node.is_map()) {
            json_.field("description", "Of any type.");
        } else {
            write_type(type_of(node), key.nullable);
            write_inside(node, key);
        }
        json_.end_object();
    }

  private:
    void write_reference(std::string_view shape, bool nullable) {
        shapes_.emplace(shape);
        const std::string place = "#/components/schemas/" + std::string(shape);
        json_.object();
        if (nullable) {
            json_.key("anyOf").array().object().field("$ref", place).end_object();
            json_.object().field("type", "null").end_object().end_array();
        } else {
            json_.field("$ref", place);
        }
        json_.end_object();
    }

    void write_type(std::string_view type, bool nullable) {
        if (!nullable) {
            json_.field("type", type);
            return;
        }
        json_.key("type").array().value(type).value("null").end_array();
    }

    void write_inside(const Node& node, const MarkedKey& key) {
        if (node.is_sequence()) {
            write_items(node.items(), key);
        } else if (node.is_map() && key.anything) {
            json_.field("additionalProperties", true);
        } else if (node.is_map() && key.names) {
            if (node.entries().empty()) return;
            json_.key("additionalProperties");
            const auto& first = node.entries().front();
            write(first.value, marked(first.key));
        } else if (node.is_map()) {
            write_fields(node);
        } else if (node.quoted() && base::parse_utc(node.scalar())) {
            json_.field("format", node.scalar().contains('T') ? "date-time" : "date");
        }
    }

    void write_items(const std::vector<Node>& items, const MarkedKey& key) {
        const auto first = std::ranges::find_if_not(items, &Node::is_null);
        if (first == items.end()) return;
        json_.key("items");
        write(*first, {.nullable = std::ranges::any_of(items, &Node::is_null), .names = key.names});
    }

    void write_fields(const Node& map) {
        const auto fields = fields_of(map);
        json_.key("properties").object();
        for (const auto& [key, value] : fields) {
            const MarkedKey mark = marked(key);
            json_.key(mark.name);
            write(value, mark);
        }
        json_.end_object();
        if (std::ranges::all_of(fields, [](const auto& one) { return marked(one.first).optional; }))
            return;
        json_.key("required").array();
        for (const auto& [key, value] : fields) {
            if (const MarkedKey mark = marked(key); !mark.optional) json_.value(mark.name);
        }
        json_.end_array();
    }

    JsonWriter& json_;
    std::set<std::string>& shapes_;
};

}  // namespace

std::string schema_of_example(std::string_view example, std::set<std::string>& shapes) {
    const Node root = read_example(example);
    if (root.is_null()) return {};
    std::string schema;
    JsonWriter json(schema);
    SchemaWriter(json, shapes).write(root);
    return schema;
}

std::string plain_example(std::string_view example) {
    const Node root = read_example(example);
    if (root.is_null()) return std::string(example);
    std::string text;
    JsonWriter json(text);
    write_plain(json, root);
    return text;
}

}  // namespace pollux::api
