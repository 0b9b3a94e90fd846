// What is configured: devices, groups, credentials, sources, and who is told of alerts, as objects
// with origin and version. Targets have a file of their own.
#include <fmt/format.h>

#include <algorithm>

#include "api/etag.hpp"
#include "api/fleet_edits.hpp"
#include "api/fleet_pages.hpp"
#include "api/made_once.hpp"
#include "api/paging.hpp"
#include "api/profile_page.hpp"
#include "api/routes.hpp"
#include "api/silence_edits.hpp"
#include "api/silence_rules.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using config::EditVerb;
using document::JsonWriter;
using model::ConfigObject;
using model::ObjectKind;

struct Collection {
    ObjectKind kind;
    std::string_view one;            // "device"
    std::string_view path;           // "/api/devices"
    std::string_view item;           // "/api/devices/{name}"
    std::string_view adopt;          // "/api/devices/{name}/adopt"
    std::string_view operations[6];  // list, get, create, replace, remove, adopt
    std::string_view summaries[6];
    std::string_view example;  // a body of POST
    std::string_view tag = "fleet";
    Permission write = Permission::kManage;
    Area area = Area::kFleet;
};

// Only devices have labels of their own; what has none is for those who may do it everywhere. A
// silence reaches as far as its matchers.
bool may(const Call& call, Permission permission, const runtime::FleetView& view,
         const ConfigObject& object) {
    if (object.kind == ObjectKind::kSilence) {
        document::Diagnostics diagnostics;
        const auto body = document::parse_json(object.body, "silence", diagnostics);
        return may_on_silence(call.principal, permission, matchers_of(body.root));
    }
    if (access::may_everywhere(call.principal, permission, Area::kFleet)) return true;
    if (object.kind != ObjectKind::kDevice) return false;
    return access::may_on(call.principal, permission, Area::kFleet, labels_of_object(view, object));
}

std::span<const ConfigObject> objects_of(const runtime::FleetView& view, ObjectKind kind) {
    const auto range = std::ranges::equal_range(*view.objects, kind, {}, &ConfigObject::kind);
    return {range.begin(), range.end()};
}

void list(const ServerLink& link, const Collection& collection, Call call) {
    const auto page = Page::read(call);
    if (!page) {
        call.problem(page.error());
        return;
    }
    const auto view = link.view();
    const auto all = objects_of(*view, collection.kind);
    const auto origin = call.query.text("origin");
    const auto text = call.query.text("q");
    std::string body;
    JsonWriter json(body);
    json.object().key("items").array();
    std::size_t written = 0;
    std::string last;
    bool more = false;
    auto at = std::ranges::upper_bound(all, page->after, {}, &ConfigObject::name);
    for (; at != all.end(); ++at) {
        if (origin && model::to_string(at->origin) != *origin) continue;
        if (text && !text_matches(at->name, *text)) continue;
        if (!may(call, Permission::kRead, *view, *at)) continue;
        if (written == page->limit) {
            more = true;
            break;
        }
        write_object(json, *at);
        last = at->name;
        ++written;
    }
    json.end_array();
    page->write_next(json, more, last);
    json.end_object();
    call.json(200, std::move(body));
}

void get(const ServerLink& link, const Collection& collection, Call call) {
    const auto view = link.view();
    const std::string name(call.parameter("name"));
    const ConfigObject* object = runtime::find_object(*view, collection.kind, name);
    if (object == nullptr || !may(call, Permission::kRead, *view, *object)) {
        call.problem(not_found(fmt::format("{} {}", collection.one, base::quoted(name))));
        return;
    }
    std::string body;
    JsonWriter json(body);
    write_object(json, *object);
    call.etag = etag_of(object->version);
    call.json(200, std::move(body));
}

// All of them, kept for a moment: gathering them stops by every shard and walks the whole fleet.
using Profiles = MadeOnce<std::vector<runtime::ProfileRow>>;
constexpr base::Duration kProfilesFreshFor = std::chrono::seconds(5);

std::shared_ptr<Profiles> gathered_profiles(const ServerLink& link) {
    return std::make_shared<Profiles>(Profiles::Rules{
        .make =
            [link](Profiles::Done done) {
                auto held = std::make_shared<Profiles::Done>(std::move(done));
                link.on_main([link, held] {
                    link.server.profiles([link, held](auto rows) {
                        link.loop->post([held, rows = std::move(rows)]() mutable {
                            (*held)(std::make_shared<const std::vector<runtime::ProfileRow>>(
                                std::move(rows)));
                        });
                    });
                });
            },
        .fresh_for = kProfilesFreshFor});
}

void get_profile(const ServerLink& link, Profiles& profiles, Call call) {
    const auto view = link.view();
    std::string name(call.parameter("name"));
    const ConfigObject* object = runtime::find_object(*view, ObjectKind::kDevice, name);
    if (object == nullptr || !may(call, Permission::kRead, *view, *object)) {
        call.problem(not_found("device " + base::quoted(name)));
        return;
    }
    auto held = std::make_shared<Call>(std::move(call));
    const bool taken = profiles.ask([held, name = std::move(name)](const Profiles::Result& rows) {
        if (!rows) return held->problem(rows.error());
        held->json(200, device_profile_page(**rows, name));
    });
    if (!taken) held->problem(too_many_wait());
}

// The changed object, or nothing when it is gone.
void answer_with(const ServerLink& link, ObjectKind kind, const std::string& name, int status,
                 Call call) {
    const auto view = link.view();
    const ConfigObject* object = runtime::find_object(*view, kind, name);
    if (object == nullptr) {
        call.send(net::Response{.status = 204, .headers = {}, .body = {}});
        return;
    }
    std::string body;
    JsonWriter json(body);
    write_object(json, *object);
    call.etag = etag_of(object->version);
    call.json(status, std::move(body));
}

bool carries_body(EditVerb verb) { return verb == EditVerb::kCreate || verb == EditVerb::kReplace; }

void change(const ServerLink& link, const Collection& collection, EditVerb verb, Call call) {
    auto body = read_body(call);
    if (!body) {
        call.problem(body.error());
        return;
    }
    config::WantedObject wanted;
    wanted.verb = verb;
    wanted.kind = collection.kind;
    document::Diagnostics diagnostics;
    // The reason of a silence is its own.
    std::string reason;
    document::Node rest = *body;
    take_reason(rest, reason);
    if (collection.kind != ObjectKind::kSilence) *body = std::move(rest);
    if (verb == EditVerb::kCreate) {
        const document::Node* name = body->find("name");
        if (name == nullptr || !name->is_scalar() || name->scalar().empty()) {
            diagnostics.error(body->mark(), "name", "a name is needed");
            call.problem(problem_of(diagnostics));
            return;
        }
        wanted.name = name->scalar();
        *body = without_key(*body, "name");
    } else {
        wanted.name = call.parameter("name");
    }
    const auto version = version_of_if_match(call);
    if (!version) {
        call.problem(version.error());
        return;
    }
    wanted.if_version = *version;
    const bool reaches = collection.kind != ObjectKind::kSilence || !carries_body(verb) ||
                         may_on_silence(call.principal, collection.write, matchers_of(*body));
    wanted.body = std::move(*body);
    const auto view = link.view();
    ConfigObject shown;
    shown.kind = collection.kind;
    shown.name = wanted.name;
    const ConfigObject* object = runtime::find_object(*view, collection.kind, wanted.name);
    auto entry = audit_entry(call, fmt::format("{}.{}", collection.one, to_string(verb)),
                             wanted.name, reason);
    // Of a new silence only its own body says how far it reaches.
    const bool judged = object != nullptr || collection.kind != ObjectKind::kSilence;
    if (!reaches ||
        (judged && !may(call, collection.write, *view, object == nullptr ? shown : *object))) {
        refuse(link, std::move(call), std::move(entry));
        return;
    }
    const std::string name = wanted.name;
    edit_fleet(link, std::move(call), {std::move(wanted)}, std::move(entry),
               [link, kind = collection.kind, name, verb](Call answer) {
                   answer_with(link, kind, name, verb == EditVerb::kCreate ? 201 : 200,
                               std::move(answer));
               });
}

constexpr std::string_view kAnswer = R"("$Object")";

Route fleet_route(const Collection& collection, std::size_t operation, std::string_view method,
                  std::string_view path) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = collection.area;
    route.operation = collection.operations[operation];
    route.tag = collection.tag;
    route.summary = collection.summaries[operation];
    route.response_example = kAnswer;
    route.body_limit = 1U << 20U;
    route.rate = RateClass::kPublic;
    if (method != "GET") {
        route.permission = collection.write;
        route.rate = RateClass::kConfigWrite;
    }
    return route;
}

void add_collection(std::vector<Route>& routes, const ServerLink& link,
                    const Collection& collection) {
    Route all = fleet_route(collection, 0, "GET", collection.path);
    all.query = {limit_parameter(),
                 cursor_parameter(),
                 {.name = "origin",
                  .type = ParameterType::kWord,
                  .description = "who owns it",
                  .words = {"file", "api", "discovery"}},
                 {.name = "q", .description = "part of the name; * is anything", .longest = 200}};
    all.response_example = R"({"items":["$Object"],"next?":"c3dpdGNoLTE"})";
    all.handler = [link, collection](Call call) { list(link, collection, std::move(call)); };
    routes.push_back(std::move(all));

    Route one = fleet_route(collection, 1, "GET", collection.item);
    one.handler = [link, collection](Call call) { get(link, collection, std::move(call)); };
    routes.push_back(std::move(one));

    const auto writer = [&](std::size_t operation, std::string_view method, std::string_view path,
                            EditVerb verb) {
        Route route = fleet_route(collection, operation, method, path);
        route.audit_action = fmt::format("{}.{}", collection.one, to_string(verb));
        if (carries_body(verb)) {
            route.request_schema = kAnyFields;
            route.request_example = collection.example;
            route.description =
                "The fields are those of the fleet files (docs/fleet-files.md). What files or "
                "discovery own answers 409 until it is adopted.";
        } else {
            route.request_schema = kReasonBody;
            route.body_optional = true;
        }
        if (verb == EditVerb::kCreate) route.status = 201;
        if (verb == EditVerb::kRemove) route.status = 204;
        route.needs_if_match = verb == EditVerb::kReplace;
        route.takes_if_match = !route.needs_if_match && verb != EditVerb::kCreate;
        route.handler = [link, collection, verb](Call call) {
            change(link, collection, verb, std::move(call));
        };
        routes.push_back(std::move(route));
    };
    writer(2, "POST", collection.path, EditVerb::kCreate);
    writer(3, "PUT", collection.item, EditVerb::kReplace);
    writer(4, "DELETE", collection.item, EditVerb::kRemove);
    writer(5, "POST", collection.adopt, EditVerb::kAdopt);
}

constexpr Collection kDevices = {
    ObjectKind::kDevice,
    "device",
    "/api/devices",
    "/api/devices/{name}",
    "/api/devices/{name}/adopt",
    {"listDevices", "getDevice", "createDevice", "replaceDevice", "removeDevice", "adoptDevice"},
    {"Devices, by name.", "One device.", "Add a device with its addons.", "Replace a device.",
     "Remove a device with its targets.", "Take over a device that files or discovery own."},
    R"({"name":"switch-1","address":"192.0.2.1","labels":{"site":"berlin"},)"
    R"("addons":["snmp-system"]})"};
constexpr Collection kGroups = {
    ObjectKind::kGroup,
    "group",
    "/api/groups",
    "/api/groups/{name}",
    "/api/groups/{name}/adopt",
    {"listGroups", "getGroup", "createGroup", "replaceGroup", "removeGroup", "adoptGroup"},
    {"Groups, by name.", "One group.", "Add a group.", "Replace a group.", "Remove a group.",
     "Take over a group that files own."},
    R"({"name":"berlin","match":{"site":"berlin"},"tier":"high"})"};
constexpr Collection kCredentials = {
    ObjectKind::kCredential,
    "credential",
    "/api/credentials",
    "/api/credentials/{name}",
    "/api/credentials/{name}/adopt",
    {"listCredentials", "getCredential", "createCredential", "replaceCredential",
     "removeCredential", "adoptCredential"},
    {"Credentials, by name; secrets are never shown.", "One credential; secrets are never shown.",
     "Add a credential. Secrets are sealed.",
     "Replace a credential. A secret that names the vault stays.", "Remove a credential.",
     "Take over a credential that files own."},
    R"({"name":"switches","username":"monitor","password":"correct horse battery"})"};
constexpr Collection kSources = {
    ObjectKind::kSource,
    "source",
    "/api/sources",
    "/api/sources/{name}",
    "/api/sources/{name}/adopt",
    {"listSources", "getSource", "createSource", "replaceSource", "removeSource", "adoptSource"},
    {"Sources of devices, by name.", "One source.", "Add a source (file_sd, http_sd).",
     "Replace a source.", "Remove a source.", "Take over a source that files own."},
    R"({"name":"inventory","file_sd":"/etc/pollux/targets.json"})"};

constexpr Collection kReceivers = {
    ObjectKind::kReceiver,
    "receiver",
    "/api/receivers",
    "/api/receivers/{name}",
    "/api/receivers/{name}/adopt",
    {"listReceivers", "getReceiver", "createReceiver", "replaceReceiver", "removeReceiver",
     "adoptReceiver"},
    {"Receivers of notifications, by name.", "One receiver.", "Add a receiver with its channels.",
     "Replace a receiver.", "Remove a receiver.", "Take over a receiver that files own."},
    R"({"name":"ops","channels":[{"name":"hook","url":"http://127.0.0.1:9/alerts"}]})",
    "notifications"};
constexpr Collection kRoutes = {
    ObjectKind::kRoute,
    "route",
    "/api/routes",
    "/api/routes/{name}",
    "/api/routes/{name}/adopt",
    {"listRoutes", "getRoute", "createRoute", "replaceRoute", "removeRoute", "adoptRoute"},
    {"Routes of notifications, by name.", "One route.", "Add a route.", "Replace a route.",
     "Remove a route.", "Take over a route that files own."},
    R"({"name":"critical","at_least":"critical","receivers":["ops"]})",
    "notifications"};
constexpr Collection kSilences = {
    ObjectKind::kSilence,
    "silence",
    "/api/silences",
    "/api/silences/{name}",
    "/api/silences/{name}/adopt",
    {"listSilences", "getSilence", "createSilence", "replaceSilence", "removeSilence",
     "adoptSilence"},
    {"Silences, by name.", "One silence.", "Add a silence, with owner, reason and end.",
     "Replace a silence.", "Remove a silence.", "Take over a silence that files own."},
    R"({"name":"core-work","match":["device=\"core-1\""],"until":"2096-01-02T03:04:05Z",)"
    R"("owner":"eve","reason":"new firmware"})",
    "notifications",
    Permission::kOperate,
    Area::kMonitoring};

void add_expire(std::vector<Route>& routes, const ServerLink& link) {
    Route route;
    route.method = "POST";
    route.path = "/api/silences/{name}/expire";
    route.area = kSilences.area;
    route.permission = kSilences.write;
    route.operation = "expireSilence";
    route.tag = kSilences.tag;
    route.summary = "End a silence now; one that has not begun, or recurs, is removed.";
    route.audit_action = "silence.expire";
    route.status = 204;
    route.handler = [link](Call call) {
        const std::string name(call.parameter("name"));
        expire_silence(link, std::move(call), name, SilenceName::kName,
                       [](Call answer, base::Status done) {
                           if (!done) return answer.problem(problem_of_edit(done.error()));
                           answer.send(net::Response{.status = 204, .headers = {}, .body = {}});
                       });
    };
    routes.push_back(std::move(route));
}

}  // namespace

void add_fleet_routes(std::vector<Route>& routes, const ServerLink& link) {
    for (const Collection& collection :
         {kDevices, kGroups, kCredentials, kSources, kReceivers, kRoutes, kSilences}) {
        add_collection(routes, link, collection);
    }
    add_expire(routes, link);
    Route profile = fleet_route(kDevices, 1, "GET", "/api/devices/{name}/profile");
    profile.operation = "getDeviceProfile";
    profile.summary = "What was learned about asking an SNMP device, by address.";
    profile.description =
        "Sizes in use (`now`), the smallest that failed (`ceiling`), and what the fleet decided "
        "instead (`fixed`). Empty for devices that are not asked by SNMP, or were not yet.";
    profile.response_example =
        R"({"profiles":[{"device":"switch-1","address":"192.0.2.1:161",)"
        R"("varbinds":{"now?":40,"ceiling?":64,"fixed?":true},)"
        R"("repetitions":{"now?":25,"ceiling?":50,"fixed?":true},)"
        R"("answer_bytes":{"now?":1400,"ceiling?":1472},"parallel":{"now?":2,"fixed?":true},)"
        R"("bulk":"works","bulk_fixed?":true,"lies":false,"largest_answer":1380,"steps_back":0,)"
        R"("too_big":0,"silences":0,"cuts":0,"relearned":0,"identity":"9f86d081884c7d65",)"
        R"("learned_at":"2026-01-02T03:04:05.000Z","checked_at":"2026-01-02T03:04:05.000Z"}]})";
    profile.handler = [link, profiles = gathered_profiles(link)](Call call) {
        get_profile(link, *profiles, std::move(call));
    };
    routes.push_back(std::move(profile));
}

}  // namespace pollux::api
