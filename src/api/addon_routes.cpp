// Addons: what can be polled and what each of them reads.
#include <algorithm>

#include "api/addon_pages.hpp"
#include "api/etag.hpp"
#include "api/paging.hpp"
#include "api/routes.hpp"
#include "extract/shipped_addons.hpp"
#include "runtime/addon_shelf.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using document::JsonWriter;

bool wanted(const Query& query, const runtime::FleetView& view, std::string_view name,
            const model::Addon& addon) {
    const auto text = query.text("q");
    const auto protocol = query.text("protocol");
    const auto category = query.text("category");
    const auto origin = query.text("origin");
    const auto enabled = query.flag("enabled");
    return (!text || text_matches(name, *text) || text_matches(addon.title, *text)) &&
           (!protocol || model::to_string(addon.protocol) == *protocol) &&
           (!category || addon.category == *category) &&
           (!origin || addon_origin(view, name) == *origin) &&
           (!enabled || view.disabled_addons.contains(name) != *enabled);
}

void list(const ServerLink& link, Call call) {
    const auto page = Page::read(call);
    if (!page) return call.problem(page.error());
    const auto view = link.view();
    const AddonCounts counts = targets_by_addon(*view);
    std::string body;
    JsonWriter json(body);
    json.object().key("items").array();
    std::size_t written = 0;
    std::string last;
    bool more = false;
    for (auto at = view->addons->upper_bound(page->after); at != view->addons->end(); ++at) {
        const auto& [name, compiled] = *at;
        if (!wanted(call.query, *view, name, compiled->addon())) continue;
        more = written == page->limit;
        if (more) break;
        write_addon(json, *view, counts, name, false);
        last = name;
        ++written;
    }
    json.end_array();
    page->write_next(json, more, last);
    json.end_object();
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
    route.response_example = R"("$AddonDetails")";
    route.rate = access::RateClass::kPublic;
    if (method != "GET") {
        // An addon has no labels: what is done to it reaches targets everywhere.
        route.permission = Permission::kManage;
        route.everywhere = true;
        route.rate = access::RateClass::kConfigWrite;
        route.request_schema = kReasonBody;
        route.body_optional = true;
    }
    return route;
}

void add_addon_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route all =
        addon_route("GET", "/api/addons", "listAddons", "Addons, with how many targets use each.");
    all.query = {
        limit_parameter(),
        cursor_parameter(),
        {.name = "protocol", .description = "only of this protocol", .longest = 64},
        {.name = "category", .description = "only of this category", .longest = 128},
        {.name = "origin",
         .type = ParameterType::kWord,
         .description = "where it comes from",
         .words = {"shipped", "file", "api"}},
        {.name = "enabled",
         .type = ParameterType::kBoolean,
         .description = "only those that are, or that are not"},
        {.name = "q", .description = "part of the name or title; * is anything", .longest = 200}};
    all.response_example = R"({"items":["$Addon"],"next?":"c25tcC1zeXN0ZW0"})";
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
