// The page for people, and the routes that serve both descriptions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "api/call.hpp"
#include "api/etag.hpp"
#include "api/example_schema.hpp"
#include "api/openapi.hpp"

namespace pollux::api {
namespace {

constexpr std::string_view kStyle = R"(:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-bottom: 1px solid; margin-top: 3rem; }
article { margin: 2rem 0; }
h3 { font-size: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow: auto; padding: 0.75rem; border: 1px solid; border-radius: 4px; }
table { border-collapse: collapse; }
th, td { border: 1px solid; padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; }
.needs { font-size: 0.9em; opacity: 0.8; }
)";

constexpr std::string_view kPagePolicy =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string form_of(const Parameter& one) {
    std::string text;
    switch (one.type) {
        case ParameterType::kInteger: text = "integer"; break;
        case ParameterType::kBoolean: text = "true or false"; break;
        case ParameterType::kTime: text = "time"; break;
        case ParameterType::kText: text = "text"; break;
        case ParameterType::kWord:
            for (const std::string_view word : one.words) {
                text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
            }
    }
    constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
    if (one.type == ParameterType::kInteger && one.least != kMin) {
        text += fmt::format(", {} to {}", one.least, one.most);
    }
    if (one.repeated) text += ", repeatable";
    if (one.required) text += ", required";
    if (!one.standard.empty()) text += fmt::format("; otherwise {}", one.standard);
    return text;
}

void add_parameters(std::string& out, const Route& route) {
    if (route.path_parameters.empty() && route.query.empty()) return;
    out += "<table><tr><th>parameter</th><th>form</th><th>meaning</th></tr>";
    const auto add = [&](const Parameter& one, std::string_view mark) {
        out += fmt::format("<tr><td><code>{}{}</code></td><td>{}</td><td>{}</td></tr>", mark,
                           escaped(one.name), escaped(form_of(one)), escaped(one.description));
    };
    for (const Parameter& one : route.path_parameters) add(one, "");
    for (const Parameter& one : route.query) add(one, "?");
    out += "</table>\n";
}

void add_operation(std::string& out, const Route& route) {
    out += fmt::format("<article id=\"{}\"><h3><code>{} {}</code></h3>\n", escaped(route.operation),
                       route.method, escaped(route.path));
    out += fmt::format("<p>{}</p>\n", escaped(route.summary));
    if (!route.description.empty()) out += fmt::format("<p>{}</p>\n", escaped(route.description));
    if (route.open) {
        out += "<p class=\"needs\">Open: no login needed.";
    } else {
        out += fmt::format("<p class=\"needs\">Needs the permission {} in {}.",
                           access::to_string(route.permission), access::to_string(route.area));
    }
    out += fmt::format(" Rate: {}.{}</p>\n", to_string(route.rate),
                       route.needs_if_match ? " Needs If-Match." : "");
    add_parameters(out, route);
    if (!route.request_example.empty()) {
        out += fmt::format("<p>Request:</p><pre>{}</pre>\n", escaped(route.request_example));
    }
    if (!route.response_example.empty()) {
        out += fmt::format("<p>Answer, {}:</p><pre>{}</pre>\n", route.status,
                           escaped(plain_example(route.response_example)));
    }
    out += "</article>\n";
}

Handler fixed_page(std::shared_ptr<const std::string> text, std::string type) {
    const std::string etag = etag_of_text(*text);
    return [text = std::move(text), type = std::move(type), etag](Call call) {
        call.etag = etag;
        net::Response response{.status = 200, .headers = {}, .body = *text};
        response.with("Content-Type", type);
        response.with("Content-Security-Policy", std::string(kPagePolicy));
        call.send(std::move(response));
    };
}

}  // namespace

std::string docs_page(std::span<const Route> routes, const ApiInfo& info) {
    std::map<std::string_view, std::vector<const Route*>> tags;
    for (const Route& route : routes) tags[route.tag].push_back(&route);
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0} API</title>"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<link rel=\"stylesheet\" href=\"docs/style.css\"></head>\n<body><h1>{0} API "
        "{1}</h1>\n"
        "<p>{2}</p>\n<p>For programs: <a href=\"openapi.json\">OpenAPI 3.1</a>.</p>\n<ul>\n",
        escaped(info.title), escaped(info.version), escaped(info.description));
    const auto title = [](std::string_view tag) { return tag.empty() ? "other" : escaped(tag); };
    for (auto& [tag, operations] : tags) {
        out += fmt::format("<li><a href=\"#tag-{0}\">{0}</a></li>\n", title(tag));
        std::ranges::stable_sort(operations, {}, [](const Route* one) { return one->path; });
    }
    out += "</ul>\n";
    for (const auto& [tag, operations] : tags) {
        out += fmt::format("<h2 id=\"tag-{0}\">{0}</h2>\n", title(tag));
        for (const Route* route : operations) add_operation(out, *route);
    }
    return out + "</body></html>\n";
}

std::vector<Route> with_documentation(std::vector<Route> routes, const ApiInfo& info,
                                      std::span<const NamedSchema> schemas) {
    const auto add = [&](std::string_view path, std::string_view operation,
                         std::string_view summary, std::string_view type) {
        routes.push_back({.method = "GET",
                          .path = path,
                          .area = access::Area::kSystem,
                          .rate = access::RateClass::kPublic,
                          .operation = operation,
                          .tag = "system",
                          .summary = summary,
                          .response_type = type,
                          .handler = [](Call) {}});
    };
    add("/api/openapi.json", "getOpenApi", "This API as OpenAPI 3.1.", "application/json");
    add("/api/docs", "getDocs", "This API as a page to read.", "text/html");
    add("/api/docs/style.css", "getDocsStyle", "The style of that page.", "text/css");
    auto document = std::make_shared<const std::string>(openapi_document(routes, info, schemas));
    auto page = std::make_shared<const std::string>(docs_page(routes, info));
    auto style = std::make_shared<const std::string>(kStyle);
    Route* const added = &routes[routes.size() - 3];
    added[0].handler = fixed_page(std::move(document), "application/json");
    added[1].handler = fixed_page(std::move(page), "text/html; charset=utf-8");
    added[2].handler = fixed_page(std::move(style), "text/css; charset=utf-8");
    return routes;
}

}  // namespace pollux::api
