#include "api/openapi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "api/answer_shapes.hpp"
#include "api/call.hpp"
#include "api/etag.hpp"
#include "api/example_schema.hpp"
#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;

constexpr std::string_view kProblemSchema =
    R"({"type":"object","description":"What went wrong (RFC 9457).","required":["type","title","status","code"],)"
    R"("properties":{"type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},)"
    R"("detail":{"type":"string"},"code":{"type":"string","description":"Stable dotted code."},)"
    R"("request_id":{"type":"string"},"errors":{"type":"array","items":{"type":"object",)"
    R"("properties":{"pointer":{"type":"string","description":"JSON pointer into the body."},)"
    R"("parameter":{"type":"string"},"detail":{"type":"string"}}}}}})";

constexpr std::string_view kSecuritySchemes =
    R"({"token":{"type":"apiKey","in":"header","name":"X-API-Token"},)"
    R"("bearer":{"type":"http","scheme":"bearer"},)"
    R"("session":{"type":"apiKey","in":"cookie","name":"pollux_session",)"
    R"("description":"With X-CSRF-Token on everything but GET."}})";

std::string_view type_name(ParameterType type) {
    switch (type) {
        case ParameterType::kInteger: return "integer";
        case ParameterType::kBoolean: return "boolean";
        default: return "string";
    }
}

// A default or an example as JSON of the parameter's type.
void write_typed(JsonWriter& json, const Parameter& parameter, std::string_view text) {
    if (parameter.type == ParameterType::kInteger || parameter.type == ParameterType::kBoolean) {
        json.raw(text);
    } else {
        json.value(text);
    }
}

void write_simple_schema(JsonWriter& json, const Parameter& parameter) {
    json.object().field("type", type_name(parameter.type));
    if (parameter.type == ParameterType::kTime) json.field("format", "date-time");
    if (parameter.type == ParameterType::kText) {
        json.field("maxLength", static_cast<std::uint64_t>(parameter.longest));
    }
    if (parameter.type == ParameterType::kInteger) {
        if (parameter.least != std::numeric_limits<std::int64_t>::min()) {
            json.field("minimum", parameter.least);
        }
        if (parameter.most != std::numeric_limits<std::int64_t>::max()) {
            json.field("maximum", parameter.most);
        }
    }
    if (!parameter.words.empty()) {
        json.key("enum").array();
        for (const std::string_view word : parameter.words) json.value(word);
        json.end_array();
    }
    if (!parameter.standard.empty()) {
        json.key("default");
        write_typed(json, parameter, parameter.standard);
    }
    json.end_object();
}

void write_parameter(JsonWriter& json, const Parameter& parameter, std::string_view place) {
    json.object().field("name", parameter.name).field("in", place);
    json.text_field("description", parameter.description);
    if (place == "path" || parameter.required) json.field("required", true);
    json.key("schema");
    if (parameter.repeated) {
        json.object().field("type", "array").key("items");
        write_simple_schema(json, parameter);
        json.end_object();
    } else {
        write_simple_schema(json, parameter);
    }
    if (!parameter.example.empty()) {
        json.key("example");
        write_typed(json, parameter, parameter.example);
    }
    json.end_object();
}

void write_parameters(JsonWriter& json, const Route& route) {
    json.key("parameters").array();
    for (const std::string_view name : path_parameter_names(route.path)) {
        const auto told = std::ranges::find(route.path_parameters, name, &Parameter::name);
        write_parameter(json, told != route.path_parameters.end() ? *told : Parameter{.name = name},
                        "path");
    }
    for (const Parameter& parameter : route.query) write_parameter(json, parameter, "query");
    if (route.needs_if_match || route.takes_if_match) {
        write_parameter(json,
                        {.name = "If-Match",
                         .description = "ETag of the version that is to be changed.",
                         .required = route.needs_if_match},
                        "header");
    }
    if (route.method == "POST") {
        write_parameter(json,
                        {.name = "Idempotency-Key",
                         .description = "The same key with the same request does the act once.",
                         .longest = 128},
                        "header");
    }
    json.end_array();
}

void write_content(JsonWriter& json, std::string_view type, std::string_view schema,
                   std::string_view example) {
    json.key("content").object().key(type).object();
    if (!schema.empty()) json.raw_field("schema", schema);
    if (!example.empty()) json.raw_field("example", example);
    json.end_object().end_object();
}

void write_responses(JsonWriter& json, const Route& route, std::set<std::string>& shapes) {
    json.key("responses").object();
    json.key(std::to_string(route.status)).object();
    json.field("description", route.upgrade ? "Switching to WebSocket." : "Done.");
    // 204 has no body.
    if (route.status != 204 &&
        (!route.response_schema.empty() || !route.response_example.empty())) {
        const bool derived =
            route.response_schema.empty() && route.response_type == "application/json";
        const std::string shown = derived ? schema_of_example(route.response_example, shapes)
                                          : std::string(route.response_schema);
        write_content(
            json, route.response_type, shown,
            derived ? plain_example(route.response_example) : std::string(route.response_example));
    }
    json.end_object();
    json.key("default").object().field("description", "A problem.");
    write_content(json, "application/problem+json", R"({"$ref":"#/components/schemas/Problem"})",
                  {});
    json.end_object().end_object();
}

void write_operation(JsonWriter& json, const Route& route, std::set<std::string>& shapes) {
    json.object().text_field("operationId", route.operation);
    if (!route.tag.empty()) json.key("tags").array().value(route.tag).end_array();
    json.text_field("summary", route.summary).text_field("description", route.description);
    write_parameters(json, route);
    if (!route.request_schema.empty() || !route.request_type.empty()) {
        json.key("requestBody").object().field("required", !route.body_optional);
        write_content(json, route.request_type.empty() ? "application/json" : route.request_type,
                      route.request_schema, route.request_example);
        json.end_object();
    }
    write_responses(json, route, shapes);
    json.raw_field("security",
                   route.open ? "[]" : R"([{"token":[]},{"bearer":[]},{"session":[]}])");
    json.field("x-permission", route.open ? "open" : access::to_string(route.permission));
    json.field("x-area", access::to_string(route.area));
    if (route.everywhere) json.field("x-everywhere", true);
    json.field("x-rate-class", to_string(route.rate));
    json.field("x-body-limit", static_cast<std::uint64_t>(route.body_limit));
    json.end_object();
}

// Those that answers refer to, and those that these refer to.
void write_shapes(JsonWriter& json, std::set<std::string> wanted) {
    std::map<std::string, std::string> schemas;
    while (!wanted.empty()) {
        std::set<std::string> further;
        for (const std::string& name : wanted) {
            schemas[name] = schema_of_example(shape_text(name), further);
        }
        std::erase_if(further, [&](const std::string& name) { return schemas.contains(name); });
        wanted = std::move(further);
    }
    for (const auto& [name, schema] : schemas) json.raw_field(name, schema);
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

}  // namespace

std::vector<std::string_view> path_parameter_names(std::string_view path) {
    std::vector<std::string_view> names;
    for (std::size_t open = path.find('{'); open != std::string_view::npos; open = path.find('{')) {
        const std::size_t close = path.find('}', open);
        names.push_back(path.substr(open + 1, close - open - 1));
        path.remove_prefix(close);
    }
    return names;
}

std::string_view to_string(access::RateClass rate) {
    constexpr std::array<std::string_view, access::kRateClasses> kNames = {
        "public", "general", "auth", "config-write", "export", "control", "none"};
    return kNames[static_cast<std::size_t>(rate)];
}

std::string openapi_document(std::span<const Route> routes, const ApiInfo& info,
                             std::span<const NamedSchema> schemas) {
    std::string out;
    JsonWriter json(out);
    json.object().field("openapi", "3.1.0");
    json.key("info").object().field("title", info.title).field("version", info.version);
    json.text_field("description", info.description).end_object();

    std::map<std::string_view, std::vector<const Route*>> paths;
    std::set<std::string_view> tags;
    for (const Route& route : routes) {
        paths[route.path].push_back(&route);
        if (!route.tag.empty()) tags.insert(route.tag);
    }
    json.key("tags").array();
    for (const std::string_view tag : tags) json.object().field("name", tag).end_object();
    json.end_array();
    std::set<std::string> shapes;
    json.key("paths").object();
    for (const auto& [path, operations] : paths) {
        json.key(path).object();
        for (const Route* route : operations) {
            json.key(lower(route->method));
            write_operation(json, *route, shapes);
        }
        json.end_object();
    }
    json.end_object();
    json.key("components").object().key("schemas").object();
    json.raw_field("Problem", kProblemSchema);
    for (const NamedSchema& one : schemas) json.raw_field(one.name, one.schema);
    write_shapes(json, std::move(shapes));
    json.end_object().raw_field("securitySchemes", kSecuritySchemes).end_object();
    json.end_object();
    return out;
}

}  // namespace pollux::api
