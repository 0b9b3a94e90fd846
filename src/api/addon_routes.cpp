// Addons: what can be polled and what each of them reads.
#include <algorithm>
#include <map>

#include "api/routes.hpp"
#include "document/json_writer.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/shipped_addons.hpp"

namespace pollux::api {
namespace {

using access::Area;
using document::JsonWriter;

std::map<std::string, std::size_t, std::less<>> targets_by_addon(const runtime::FleetView& view) {
    std::map<std::string, std::size_t, std::less<>> counts;
    for (const auto& target : view.image->expansion.targets) {
        if (target.group == 0) ++counts[target.addon];
    }
    for (const auto& target : view.image->expansion.inbound) ++counts[target.addon];
    return counts;
}

void write_head(JsonWriter& json, const extract::CompiledAddon& compiled, std::size_t targets) {
    const model::Addon& addon = compiled.addon();
    json.field("name", addon.name).field("version", addon.version).field("title", addon.title);
    json.field("description", addon.description).text_field("category", addon.category);
    json.field("protocol", model::to_string(addon.protocol)).field("targets", targets);
    const auto& shipped = extract::shipped_addons();
    const bool own = std::ranges::any_of(
        shipped, [&](const extract::ShippedAddon& one) { return one.file == compiled.file(); });
    json.field("origin", own ? "shipped" : "file");
    if (addon.interval) json.field("interval", base::to_seconds(*addon.interval));
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

void list(const ServerLink& link, Call call) {
    const auto view = link.view();
    const auto counts = targets_by_addon(*view);
    std::string body;
    JsonWriter json(body);
    json.object().key("items").array();
    for (const auto& [name, addon] : *view->addons) {
        const auto count = counts.find(name);
        json.object();
        write_head(json, *addon, count == counts.end() ? 0 : count->second);
        json.end_object();
    }
    json.end_array().end_object();
    call.json(200, std::move(body));
}

void get(const ServerLink& link, Call call) {
    const auto view = link.view();
    const std::string name(call.parameter("name"));
    const auto found = view->addons->find(name);
    if (found == view->addons->end()) {
        call.problem(not_found("addon " + base::quoted(name)));
        return;
    }
    const auto counts = targets_by_addon(*view);
    const auto count = counts.find(name);
    std::string body;
    JsonWriter json(body);
    json.object();
    write_head(json, *found->second, count == counts.end() ? 0 : count->second);
    write_details(json, *found->second);
    json.end_object();
    call.json(200, std::move(body));
}

}  // namespace

void add_addon_routes(std::vector<Route>& routes, const ServerLink& link) {
    const auto add = [&](std::string_view path, std::string_view operation,
                         std::string_view summary, std::string_view example, auto handler) {
        Route route;
        route.method = "GET";
        route.path = path;
        route.area = Area::kFleet;
        route.operation = operation;
        route.tag = "addons";
        route.summary = summary;
        route.response_example = example;
        route.handler = [link, handler](Call call) { handler(link, std::move(call)); };
        routes.push_back(std::move(route));
    };
    add("/api/addons", "listAddons", "Addons, with how many targets use each.", R"({"items":[]})",
        &list);
    add("/api/addons/{name}", "getAddon", "One addon with its parameters and metrics.",
        R"({"name":"snmp-system","version":"1.0.0","title":"System","description":"",)"
        R"("protocol":"snmp","targets":1,"origin":"shipped","parameters":[],"groups":[],)"
        R"("metrics":[]})",
        &get);
}

}  // namespace pollux::api
