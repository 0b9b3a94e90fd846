// Addons: what can be polled and what each of them reads.
#include <algorithm>

#include "api/addon_pages.hpp"
#include "api/etag.hpp"
#include "api/routes.hpp"
#include "extract/shipped_addons.hpp"
#include "runtime/addon_shelf.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using document::JsonWriter;

void list(const ServerLink& link, Call call) {
    const auto view = link.view();
    const AddonCounts counts = targets_by_addon(*view);
    std::string body;
    JsonWriter json(body);
    json.object().key("items").array();
    for (const auto& [name, addon] : *view->addons) write_addon(json, *view, counts, name, false);
    json.end_array().end_object();
    call.json(200, std::move(body));
}

void get(const ServerLink& link, Call call) {
    const std::string name(call.parameter("name"));
    answer_with_addon(link, name, 200, std::move(call));
}

void manifest(const ServerLink& link, Call call) {
    const auto view = link.view();
    const std::string name(call.parameter("name"));
    const auto found = view->addons->find(name);
    if (found == view->addons->end()) {
        call.problem(not_found("addon " + base::quoted(name)));
        return;
    }
    std::string text;
    if (const auto* object = runtime::find_object(*view, model::ObjectKind::kAddon, name)) {
        if (const auto stored = runtime::read_stored_addon(*object)) text = stored->manifest;
    }
    for (const extract::ShippedAddon& one : extract::shipped_addons()) {
        if (text.empty() && one.file == found->second->file()) text = one.manifest;
    }
    if (text.empty()) {
        call.problem(conflict("addon.file", "its manifest lies on the server, in " +
                                                std::string(found->second->file())));
        return;
    }
    call.etag = etag_of(addon_revision(*view, name));
    net::Response response{.status = 200, .headers = {}, .body = std::move(text)};
    response.with("Content-Type", "application/yaml");
    call.send(std::move(response));
}

}  // namespace

void answer_with_addon(const ServerLink& link, const std::string& name, int status, Call call) {
    const auto view = link.view();
    if (!view->addons->contains(name)) {
        call.problem(not_found("addon " + base::quoted(name)));
        return;
    }
    std::string body;
    JsonWriter json(body);
    write_addon(json, *view, targets_by_addon(*view), name, true);
    call.etag = etag_of(addon_revision(*view, name));
    call.json(status, std::move(body));
}

Route addon_route(std::string_view method, std::string_view path, std::string_view operation,
                  std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = Area::kFleet;
    route.operation = operation;
    route.tag = "addons";
    route.summary = summary;
    route.response_example =
        R"({"name":"snmp-system","version":"1.0.0","title":"System","description":"",)"
        R"("protocol":"snmp","targets":1,"origin":"shipped","enabled":true,"revision":0,)"
        R"("parameters":[],"groups":[],"metrics":[]})";
    route.rate = access::RateClass::kPublic;
    if (method != "GET") {
        // An addon has no labels: what is done to it reaches targets everywhere.
        route.permission = Permission::kManage;
        route.everywhere = true;
        route.rate = access::RateClass::kConfigWrite;
        route.request_schema = R"({"type":"object"})";
        route.body_optional = true;
    }
    return route;
}

void add_addon_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route all =
        addon_route("GET", "/api/addons", "listAddons", "Addons, with how many targets use each.");
    all.response_example = R"({"items":[]})";
    all.handler = [link](Call call) { list(link, std::move(call)); };
    routes.push_back(std::move(all));
    Route one = addon_route("GET", "/api/addons/{name}", "getAddon",
                            "One addon with its parameters and metrics.");
    one.description =
        "`origin` is shipped, file (of the server's folder of addons) or api (stored by this "
        "API). `revision` counts what is stored about it; 0: nothing.";
    one.handler = [link](Call call) { get(link, std::move(call)); };
    routes.push_back(std::move(one));
    Route text = addon_route("GET", "/api/addons/{name}/manifest", "getAddonManifest",
                             "The manifest in force, as it was written.");
    text.description = "For who may change it: it may name passwords that devices come with.";
    text.permission = Permission::kManage;
    text.everywhere = true;
    text.response_type = "application/yaml";
    text.response_example = {};
    text.handler = [link](Call call) { manifest(link, std::move(call)); };
    routes.push_back(std::move(text));
    add_addon_edit_routes(routes, link);
}

}  // namespace pollux::api
