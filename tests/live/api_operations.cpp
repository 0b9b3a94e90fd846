#include "tests/live/api_operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "document/write.hpp"
#include "tests/live/api_client.hpp"

namespace pollux::live {
namespace {

using document::Node;

Node copy_at(const Node& root, const std::string& path) {
    const Node* found = node_at(root, path);
    return found == nullptr ? Node() : *found;
}

// Media types have dots and slashes: taken by hand.
const Node* content_of(const Node* holder) {
    const Node* content = holder == nullptr ? nullptr : holder->find("content");
    return content == nullptr || content->entries().empty() ? nullptr
                                                            : &content->entries().front().value;
}

void read_parameters(const Node& operation, ApiOperation& one) {
    const Node* parameters = operation.find("parameters");
    if (parameters == nullptr) return;
    for (const Node& parameter : parameters->items()) {
        if (text_at(parameter, "name") == "If-Match") {
            one.takes_if_match = true;
            one.needs_if_match = text_at(parameter, "required") == "true";
        }
        if (text_at(parameter, "in") != "query" || text_at(parameter, "required") != "true") {
            continue;
        }
        const std::string example = text_at(parameter, "example");
        one.required_query.push_back(text_at(parameter, "name") + "=" +
                                     (example.empty() ? "1" : example));
    }
}

// The schema with what it refers to in its place; no schema of ours refers to itself.
Node resolved(const Node& schema, const Node& openapi) {
    if (schema.is_sequence()) {
        Node list = Node::sequence();
        for (const Node& one : schema.items()) list.push(resolved(one, openapi));
        return list;
    }
    if (!schema.is_map()) return schema;
    if (const Node* reference = schema.find("$ref"); reference && reference->is_scalar()) {
        const std::string& place = reference->scalar();
        const Node* schemas = node_at(openapi, "components.schemas");
        return resolved(*schemas->find(place.substr(place.rfind('/') + 1)), openapi);
    }
    Node map = Node::map();
    for (const auto& entry : schema.entries()) map.set(entry.key, resolved(entry.value, openapi));
    return map;
}

ApiOperation read_operation(const std::string& path, const std::string& method,
                            const Node& operation, const Node& openapi) {
    ApiOperation one;
    one.id = text_at(operation, "operationId");
    one.path = path;
    one.method = method;
    std::ranges::transform(one.method, one.method.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    one.permission = text_at(operation, "x-permission");
    one.area = text_at(operation, "x-area");
    one.rate = text_at(operation, "x-rate-class");
    one.everywhere = text_at(operation, "x-everywhere") == "true";
    one.body_limit = std::stoul(text_at(operation, "x-body-limit"));
    read_parameters(operation, one);
    if (const Node* body = operation.find("requestBody")) {
        const Node* content = body->find("content");
        one.takes_json = content != nullptr && content->find("application/json") != nullptr;
        if (const Node* kind = content_of(body)) {
            one.request_schema = resolved(copy_at(*kind, "schema"), openapi);
            one.request_example = copy_at(*kind, "example");
        }
    }
    const Node* responses = operation.find("responses");
    if (responses == nullptr || responses->entries().empty()) return one;
    one.status = std::stoi(responses->entries().front().key);
    if (const Node* kind = content_of(&responses->entries().front().value)) {
        one.response_schema = resolved(copy_at(*kind, "schema"), openapi);
        one.response_example = copy_at(*kind, "example");
    }
    return one;
}

bool is_number(const Node& node) {
    return node.is_scalar() && !node.quoted() && !node.scalar().empty() &&
           (node.scalar()[0] == '-' || (node.scalar()[0] >= '0' && node.scalar()[0] <= '9'));
}
bool is_boolean(const Node& node) {
    return node.is_scalar() && !node.quoted() &&
           (node.scalar() == "true" || node.scalar() == "false");
}

std::string kind_of(const Node& node) {
    if (node.is_null()) return "null";
    if (node.is_map()) return "object";
    if (node.is_sequence()) return "array";
    if (is_boolean(node)) return "boolean";
    return is_number(node) ? "number" : "string";
}

bool has_type(const Node& value, const std::string& type) {
    const std::string kind = kind_of(value);
    if (type == "integer") {
        return kind == "number" && value.scalar().find_first_of(".eE") == std::string::npos;
    }
    return kind == type;
}

// One type, or a list of which one must fit; without any, everything does.
bool has_a_type(const Node& value, const Node& schema) {
    const Node* type = schema.find("type");
    if (type == nullptr) return true;
    if (type->is_scalar()) return has_type(value, type->scalar());
    return std::ranges::any_of(type->items(),
                               [&](const Node& one) { return has_type(value, one.scalar()); });
}

// Of those that a schema allows, the one that the value is of.
const Node& fitting(const Node& schema, const Node& value) {
    const Node* any = schema.find("anyOf");
    if (any == nullptr) return schema;
    for (const Node& one : any->items()) {
        if (has_a_type(value, one)) return one;
    }
    return any->items().front();
}

void check_text(const Node& schema, const Node& value, const std::string& place,
                std::vector<std::string>& wrong) {
    const std::string pattern = text_at(schema, "pattern");
    if (!pattern.empty() && !std::regex_search(value.scalar(), std::regex(pattern))) {
        wrong.push_back(place + " does not match " + pattern);
    }
    const std::string least = text_at(schema, "minLength");
    if (!least.empty() && value.scalar().size() < std::stoul(least)) {
        wrong.push_back(place + " is too short");
    }
    const std::string most = text_at(schema, "maxLength");
    if (!most.empty() && value.scalar().size() > std::stoul(most)) {
        wrong.push_back(place + " is too long");
    }
    const std::string format = text_at(schema, "format");
    const std::string day = R"(\d{4}-\d\d-\d\d)";
    if (format == "date" && !std::regex_match(value.scalar(), std::regex(day))) {
        wrong.push_back(place + " is no day");
    }
    if (format == "date-time" &&
        !std::regex_match(value.scalar(), std::regex(day + R"(T\d\d:\d\d:\d\d(\.\d+)?Z)"))) {
        wrong.push_back(place + " is no time");
    }
}

}  // namespace

std::string ApiOperation::target(const std::string& key, const std::string& name) const {
    std::string text = path;
    for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{')) {
        const std::size_t close = text.find('}', open);
        const bool is_key = text.substr(open + 1, close - open - 1) == "key";
        text.replace(open, close - open + 1, is_key ? key : name);
    }
    char mark = '?';
    for (const std::string& one : required_query) {
        text += mark + one;
        mark = '&';
    }
    return text;
}

std::vector<ApiOperation> api_operations(const Node& openapi) {
    std::vector<ApiOperation> all;
    const Node* paths = openapi.find("paths");
    if (paths == nullptr) return all;
    for (const auto& path : paths->entries()) {
        for (const auto& operation : path.value.entries()) {
            all.push_back(read_operation(path.key, operation.key, operation.value, openapi));
        }
    }
    return all;
}

std::vector<std::string> schema_mistakes(const Node& told, const Node& value, Unknown unknown,
                                         const std::string& place) {
    std::vector<std::string> wrong;
    if (!told.is_map()) return wrong;
    const Node& schema = fitting(told, value);
    if (!has_a_type(value, schema)) {
        return {fmt::format("{} is {}, not {}", place, kind_of(value),
                            document::to_json(*schema.find("type")))};
    }
    if (value.is_scalar()) check_text(schema, value, place, wrong);
    if (const Node* words = schema.find("enum")) {
        if (std::ranges::none_of(words->items(),
                                 [&](const Node& one) { return one.scalar() == value.scalar(); })) {
            wrong.push_back(place + " is none of the words");
        }
    }
    if (const Node* required = schema.find("required")) {
        for (const Node& one : required->items()) {
            if (!value.is_null() && value.find(one.scalar()) == nullptr) {
                wrong.push_back(fmt::format("{}/{} is missing", place, one.scalar()));
            }
        }
    }
    const auto look_at = [&](const Node& inner, const Node& part, const std::string& where) {
        for (std::string& one : schema_mistakes(inner, part, unknown, where)) {
            wrong.push_back(std::move(one));
        }
    };
    const Node* properties = schema.find("properties");
    const Node* others = schema.find("additionalProperties");
    for (const auto& entry : value.entries()) {
        const Node* known = properties == nullptr ? nullptr : properties->find(entry.key);
        const std::string inner = place + "/" + entry.key;
        if (known != nullptr) {
            look_at(*known, entry.value, inner);
        } else if (others != nullptr && others->is_map()) {
            look_at(*others, entry.value, inner);
        } else if (others == nullptr ? unknown == Unknown::kRefused : others->scalar() == "false") {
            wrong.push_back(inner + " is not in the schema");
        }
    }
    if (const Node* items = schema.find("items")) {
        for (const Node& one : value.items()) look_at(*items, one, place + "[]");
    }
    return wrong;
}

void ItemsSeen::note(const std::string& name, const Node& told, const Node& value) {
    const Node& schema = fitting(told, value);
    if (const Node* items = schema.find("items")) {
        bool& seen = seen_[name];
        seen = seen || !value.items().empty();
        if (value.items().empty()) note(name + "[]", *items, Node());
        for (const Node& one : value.items()) note(name + "[]", *items, one);
    }
    const Node* properties = schema.find("properties");
    if (properties == nullptr) return;
    for (const auto& one : properties->entries()) {
        const Node* part = value.find(one.key);
        note(name + "." + one.key, one.value, part == nullptr ? Node() : *part);
    }
}

std::vector<std::string> ItemsSeen::filled() const {
    std::vector<std::string> names;
    for (const auto& [name, seen] : seen_) {
        if (seen) names.push_back(name);
    }
    return names;
}

}  // namespace pollux::live
