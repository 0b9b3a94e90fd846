// The API described by itself: OpenAPI 3.1 and a page for people, both made from the table of
// routes, so that they cannot say what is not so.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.hpp"

namespace pollux::api {

struct ApiInfo {
    std::string title = "Pollux";
    std::string version = "0";
    std::string description = {};
};

// A schema that several routes refer to as {"$ref": "#/components/schemas/<name>"}. `Problem` is
// always there.
struct NamedSchema {
    std::string_view name;
    std::string_view schema;  // JSON text
};

std::string openapi_document(std::span<const Route> routes, const ApiInfo& info,
                             std::span<const NamedSchema> schemas);
// Plain HTML without a script; its style is at /api/docs/style.css.
std::string docs_page(std::span<const Route> routes, const ApiInfo& info);

// The table with GET /api/openapi.json, /api/docs and /api/docs/style.css added, which describe all
// of it.
std::vector<Route> with_documentation(std::vector<Route> routes, const ApiInfo& info,
                                      std::span<const NamedSchema> schemas = {});

// Names of path parameters in their order.
std::vector<std::string_view> path_parameter_names(std::string_view path);
std::string_view to_string(access::RateClass rate);

}  // namespace pollux::api
