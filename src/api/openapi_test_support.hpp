// Checks an OpenAPI document of ours as far as a small reader can: used for the sample table and
// for the real one.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "document/parse.hpp"

namespace pollux::api::test {

class OpenApiCheck {
  public:
    // What is wrong; empty: nothing.
    static std::vector<std::string> run(std::string_view text) {
        OpenApiCheck check;
        document::Diagnostics diagnostics;
        const document::Parsed parsed = document::parse_json(
            text, "openapi.json", diagnostics, {.max_bytes = 16U << 20U, .max_nodes = 1'000'000});
        if (!parsed.ok) return {diagnostics.text()};
        check.root_ = &parsed.root;
        check.references(parsed.root, "");
        check.require(check.text(parsed.root, "openapi") == "3.1.0", "openapi is not 3.1.0");
        const document::Node* paths = parsed.root.find("paths");
        if (paths == nullptr) return {"there are no paths"};
        for (const auto& path : paths->entries()) {
            for (const auto& operation : path.value.entries()) {
                check.operation(operation.key + " " + path.key, operation.value);
            }
        }
        const document::Node* components = parsed.root.find("components");
        const document::Node* named = components == nullptr ? nullptr : components->find("schemas");
        if (named == nullptr) return {"there are no schemas"};
        for (const auto& one : named->entries()) check.schema(one.key, one.value);
        return check.wrong_;
    }

  private:
    void require(bool holds, std::string what) {
        if (!holds) wrong_.push_back(std::move(what));
    }
    static std::string text(const document::Node& node, std::string_view key) {
        const document::Node* found = node.find(key);
        return found != nullptr && found->is_scalar() ? found->scalar() : std::string();
    }
    void references(const document::Node& node, const std::string& place) {
        if (node.is_sequence()) {
            for (const auto& item : node.items()) references(item, place + "[]");
        }
        if (!node.is_map()) return;
        for (const auto& entry : node.entries()) {
            references(entry.value, place + "." + entry.key);
            if (entry.key != "$ref" || !entry.value.is_scalar()) continue;
            const document::Node* at = root_;
            std::string rest = entry.value.scalar();
            require(rest.starts_with("#/"), place + ": " + rest + " points outside");
            rest.erase(0, 2);
            while (at != nullptr && !rest.empty()) {
                const std::string step = rest.substr(0, rest.find('/'));
                rest.erase(0, step.size() + 1);
                at = at->is_map() ? at->find(step) : nullptr;
            }
            require(at != nullptr, place + ": " + entry.value.scalar() + " is not there");
        }
    }
    void operation(const std::string& name, const document::Node& node) {
        const std::string id = text(node, "operationId");
        require(!id.empty(), name + " has no operationId");
        require(id.empty() || ids_.insert(id).second, name + ": " + id + " is there twice");
        require(!text(node, "summary").empty(), name + " has no summary");
        require(!text(node, "x-permission").empty(), name + " has no x-permission");
        require(!text(node, "x-rate-class").empty(), name + " has no x-rate-class");
        const document::Node* responses = node.find("responses");
        require(responses != nullptr && responses->entries().size() >= 2, name + " has no answers");
        const document::Node* security = node.find("security");
        require(security != nullptr && security->is_sequence(), name + " has no security");
        std::string path = name;
        if (const document::Node* parameters = node.find("parameters")) {
            for (const auto& one : parameters->items()) {
                require(one.find("schema") != nullptr, name + ": a parameter without schema");
                if (text(one, "in") != "path") continue;
                const std::string mark = "{" + text(one, "name") + "}";
                const std::size_t found = path.find(mark);
                require(found != std::string::npos, name + ": no " + mark + " in the path");
                if (found != std::string::npos) path.erase(found, mark.size());
            }
        }
        require(path.find('{') == std::string::npos, name + ": a path parameter is not listed");
        if (const document::Node* body = node.find("requestBody")) content(name + " asked", *body);
        if (responses == nullptr) return;
        for (const auto& answer : responses->entries()) content(name, answer.value);
    }
    void content(const std::string& name, const document::Node& holder) {
        const document::Node* kinds = holder.find("content");
        if (kinds == nullptr) return;
        for (const auto& kind : kinds->entries()) {
            const document::Node* told = kind.value.find("schema");
            if (told != nullptr) {
                schema(name, *told);
            } else {
                require(kind.key != "application/json", name + " has no schema");
            }
        }
    }
    // Lists say what is in them, objects what they have, and what is free-form says so.
    void schema(const std::string& name, const document::Node& node) {
        const document::Node* properties = node.find("properties");
        const document::Node* others = node.find("additionalProperties");
        const document::Node* items = node.find("items");
        const document::Node* type = node.find("type");
        const auto is = [&](std::string_view wanted) {
            if (type == nullptr) return false;
            if (type->is_scalar()) return type->scalar() == wanted;
            return std::ranges::any_of(type->items(),
                                       [&](const auto& one) { return one.scalar() == wanted; });
        };
        require(!is("array") || items != nullptr, name + ": a list says nothing of its items");
        require(!is("object") || properties != nullptr || others != nullptr,
                name + ": an object says nothing of its fields");
        require(type != nullptr || node.find("$ref") != nullptr || node.find("anyOf") != nullptr ||
                    node.find("description") != nullptr,
                name + ": a schema says nothing");
        if (items != nullptr) schema(name + "[]", *items);
        if (others != nullptr && others->is_map()) schema(name + ".*", *others);
        if (const document::Node* any = node.find("anyOf")) {
            for (const auto& one : any->items()) schema(name, one);
        }
        if (properties == nullptr) return;
        for (const auto& one : properties->entries()) schema(name + "." + one.key, one.value);
    }

    const document::Node* root_ = nullptr;
    std::set<std::string> ids_;
    std::vector<std::string> wrong_;
};

}  // namespace pollux::api::test
