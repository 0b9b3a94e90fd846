// Targets: a device with an addon. Listed with their state, added, changed, removed, switched,
// polled now; one by one or many.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/etag.hpp"
#include "api/fleet_edits.hpp"
#include "api/fleet_pages.hpp"
#include "api/paging.hpp"
#include "api/routes.hpp"
#include "config/target_edit.hpp"
#include "document/map_reader.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using document::JsonWriter;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;
using schedule::OperatorVerb;

using TasksByTarget = std::map<std::string, std::vector<runtime::TaskRow>, std::less<>>;

// Tasks of some targets, taken on the core's thread.
TasksByTarget tasks_of(const runtime::CoreLoop::View& view, const runtime::FleetView& fleet,
                       const std::vector<std::string>& targets) {
    const auto& core = view.engine.core();
    TasksByTarget result;
    for (const std::string& target : targets) {
        std::vector<runtime::TaskRow>& rows = result[target];
        const auto& all = fleet.image->expansion.targets;
        auto at = std::ranges::lower_bound(all, target, {}, &config::TargetPlanInput::key);
        for (; at != all.end() && at->key.starts_with(target); ++at) {
            if (at->target != target) continue;
            const model::TaskHandle task = core.find(at->key);
            if (core.is_live(task)) rows.push_back(runtime::task_row(view, task));
        }
    }
    return result;
}

bool may(const Call& call, Permission permission, const runtime::FleetView& view,
         const ConfigObject& target, Area area = Area::kFleet) {
    return access::may_everywhere(call.principal, permission, area) ||
           access::may_on(call.principal, permission, area, labels_of_object(view, target));
}

using Labels = std::map<std::string, std::string, std::less<>>;

bool has_labels(const runtime::FleetView& view, const ConfigObject& object, const Labels& wanted) {
    if (wanted.empty()) return true;
    const access::Labels own = labels_of_object(view, object);
    return std::ranges::all_of(wanted, [&](const auto& one) {
        const auto found = own.find(one.first);
        return found != own.end() && found->second == one.second;
    });
}

bool wanted(const Call& call, const ConfigObject& object) {
    const auto name = config::parse_target_name(object.name);
    const auto addon = call.query.text("addon");
    const auto device = call.query.text("device");
    const auto text = call.query.text("q");
    const auto origin = call.query.text("origin");
    if (!name) return false;
    return (!addon || name->addon == *addon) && (!device || name->device == *device) &&
           (!origin || model::to_string(object.origin) == *origin) &&
           (!text || text_matches(object.name, *text));
}

void list(const ServerLink& link, Call call) {
    const auto page = Page::read(call);
    if (!page) {
        call.problem(page.error());
        return;
    }
    const auto labels = wanted_labels(call);
    if (!labels) return call.problem(labels.error());
    const auto view = link.view();
    std::vector<std::string> keys;
    bool more = false;
    for (const ConfigObject& object : *view->objects) {
        if (object.kind != ObjectKind::kTarget || object.name <= page->after) continue;
        if (!wanted(call, object) || !has_labels(*view, object, *labels)) continue;
        if (!may(call, Permission::kRead, *view, object)) continue;
        if (keys.size() == page->limit) {
            more = true;
            break;
        }
        keys.push_back(object.name);
    }
    link.ask([view, keys](const auto& core) { return tasks_of(core, *view, keys); },
             [call = std::move(call), view, keys, more,
              page = *page](const TasksByTarget& tasks) mutable {
                 std::string body;
                 JsonWriter json(body);
                 json.object().key("items").array();
                 for (const std::string& key : keys) {
                     const auto* object = runtime::find_object(*view, ObjectKind::kTarget, key);
                     write_target(json, *object, *view, tasks.at(key));
                 }
                 json.end_array();
                 page.write_next(json, more, keys.empty() ? "" : keys.back());
                 json.end_object();
                 call.json(200, std::move(body));
             });
}

// Answers with the target as it is now.
void answer_with(const ServerLink& link, const std::string& key, int status, Call call) {
    const auto view = link.view();
    if (runtime::find_object(*view, ObjectKind::kTarget, key) == nullptr) {
        call.problem(not_found("target " + base::quoted(key)));
        return;
    }
    link.ask([view, key](const auto& core) { return tasks_of(core, *view, {key}); },
             [call = std::move(call), view, key, status](const TasksByTarget& tasks) mutable {
                 const auto* object = runtime::find_object(*view, ObjectKind::kTarget, key);
                 std::string body;
                 JsonWriter json(body);
                 write_target(json, *object, *view, tasks.at(key));
                 call.etag = etag_of(object->version);
                 call.json(status, std::move(body));
             });
}

// The target of the path if it may be seen; nothing and an answer otherwise.
const ConfigObject* seen_target(const runtime::FleetView& view, Call& call) {
    const std::string key(call.parameter("key"));
    const ConfigObject* object = runtime::find_object(view, ObjectKind::kTarget, key);
    if (object != nullptr && may(call, Permission::kRead, view, *object)) return object;
    call.problem(not_found("target " + base::quoted(key)));
    return nullptr;
}

void get(const ServerLink& link, Call call) {
    const auto view = link.view();
    const ConfigObject* object = seen_target(*view, call);
    if (object != nullptr) answer_with(link, object->name, 200, std::move(call));
}

void create(const ServerLink& link, Call call) {
    auto body = read_body(call);
    if (!body) {
        call.problem(body.error());
        return;
    }
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    config::TargetName name;
    name.addon = reader.string("addon", document::Need::kRequired).value_or("");
    name.device = reader.string("device", document::Need::kRequired).value_or("");
    const std::string reason = reader.string("reason").value_or("");
    const Node* device = reader.map("device_spec");
    const Node* settings = reader.map("spec");
    reader.finish();
    if (!diagnostics.ok()) {
        call.problem(problem_of(diagnostics));
        return;
    }
    const auto view = link.view();
    auto entry = audit_entry(call, "target.create", name.key(), reason);
    ConfigObject meant;
    meant.kind = ObjectKind::kTarget;
    meant.name = name.key();
    if (!may(call, Permission::kManage, *view, meant)) {
        refuse(link, std::move(call), std::move(entry));
        return;
    }
    edit_fleet(
        link, std::move(call),
        [name, device = device == nullptr ? Node() : *device,
         settings = settings == nullptr ? Node() : *settings](
            auto current, auto& problems) -> base::Result<std::vector<config::WantedObject>> {
            auto wanted = config::add_target(current, name, device, settings, problems);
            if (!wanted) return wanted;
            config::check_target_bodies(*wanted, "", problems);
            if (!problems.ok()) return std::unexpected(problems.as_error("object.invalid"));
            return wanted;
        },
        std::move(entry),
        [link, key = name.key()](Call answer) { answer_with(link, key, 201, std::move(answer)); });
}

void replace(const ServerLink& link, Call call) {
    const auto view = link.view();
    const ConfigObject* object = seen_target(*view, call);
    if (object == nullptr) return;
    auto body = read_body(call);
    const auto version = version_of_if_match(call);
    if (!body || !version) {
        call.problem(!body ? body.error() : version.error());
        return;
    }
    std::string reason;
    take_reason(*body, reason);
    auto entry = audit_entry(call, "target.change", object->name, reason);
    if (!may(call, Permission::kManage, *view, *object)) {
        refuse(link, std::move(call), std::move(entry));
        return;
    }
    config::WantedObject change{config::EditVerb::kReplace, ObjectKind::kTarget, object->name,
                                std::move(*body), *version};
    edit_fleet(link, std::move(call), {std::move(change)}, std::move(entry),
               [link, key = object->name](Call answer) {
                   answer_with(link, key, 200, std::move(answer));
               });
}

void remove(const ServerLink& link, Call call) {
    const auto view = link.view();
    const ConfigObject* object = seen_target(*view, call);
    if (object == nullptr) return;
    const auto reason = read_reason(call);
    const auto version = version_of_if_match(call);
    if (!reason || !version) {
        call.problem(!reason ? reason.error() : version.error());
        return;
    }
    auto entry = audit_entry(call, "target.remove", object->name, *reason);
    if (!may(call, Permission::kManage, *view, *object)) {
        refuse(link, std::move(call), std::move(entry));
        return;
    }
    edit_fleet(
        link, std::move(call),
        [name = config::parse_target_name(object->name), version = *version](auto current, auto&) {
            return config::remove_target(current, *name, version);
        },
        std::move(entry),
        [](Call answer) { answer.send(net::Response{.status = 204, .headers = {}, .body = {}}); });
}

// --- switches and polls -------------------------------------------------------------------------

// All tasks of a target are meant; what is refused for one of them is told.
void operate_target(const ServerLink& link, Call call, OperatorVerb verb, std::string action) {
    const auto view = link.view();
    const ConfigObject* object = seen_target(*view, call);
    if (object == nullptr) return;
    const auto reason = read_reason(call);
    if (!reason) {
        call.problem(reason.error());
        return;
    }
    auto entry = audit_entry(call, std::move(action), object->name, *reason);
    if (!may(call, call.route->permission, *view, *object, call.route->area)) {
        refuse(link, std::move(call), std::move(entry));
        return;
    }
    schedule::OperatorAction act;
    act.verb = verb;
    act.key = object->name;
    auto held = std::make_shared<Call>(std::move(call));
    link.server.core()->operate(
        std::move(act), std::move(entry),
        [link, held, key = object->name](base::Result<runtime::OperateResult> result) {
            if (!result) {
                held->problem(problem_of_edit(result.error()));
                return;
            }
            link.loop->post([link, held, key] { answer_with(link, key, 200, std::move(*held)); });
        });
}

}  // namespace

Route target_route(std::string_view method, std::string_view path, std::string_view operation,
                   std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = Area::kFleet;
    route.operation = operation;
    route.tag = "targets";
    route.summary = summary;
    route.response_example = R"("$Target")";
    if (method != "GET") {
        route.permission = Permission::kManage;
        route.rate = RateClass::kConfigWrite;
        route.request_schema = kReasonBody;
        route.body_optional = true;
    }
    return route;
}

namespace {

void add_reads(std::vector<Route>& routes, const ServerLink& link) {
    Route all = target_route("GET", "/api/targets", "listTargets", "Targets with their state.");
    all.query = {
        limit_parameter(),
        cursor_parameter(),
        {.name = "addon", .description = "only of this addon", .longest = 64},
        {.name = "device", .description = "only of this device", .longest = 800},
        label_parameter("only with this label of the device, name=value; all of those given"),
        {.name = "origin",
         .type = ParameterType::kWord,
         .description = "who owns it",
         .words = {"file", "api", "discovery"}},
        {.name = "q", .description = "part of the key; * is anything", .longest = 200}};
    all.rate = RateClass::kPublic;
    all.response_example = R"({"items":["$Target"],"next?":"c25tcC1zeXN0ZW06OmE"})";
    all.handler = [link](Call call) { list(link, std::move(call)); };
    routes.push_back(std::move(all));
    Route one = target_route("GET", "/api/targets/{key}", "getTarget", "One target.");
    one.rate = RateClass::kPublic;
    one.handler = [link](Call call) { get(link, std::move(call)); };
    routes.push_back(std::move(one));
}

void add_writes(std::vector<Route>& routes, const ServerLink& link) {
    Route make = target_route("POST", "/api/targets", "createTarget",
                              "Give a device an addon; a new device is made.");
    make.audit_action = "target.create";
    make.description =
        "`device_spec` is the body of a device that does not exist yet, `spec` holds settings of "
        "the target; the fields are those of the fleet files.";
    make.request_schema = kAnyFields;
    make.request_example =
        R"({"addon":"snmp-system","device":"switch-2","device_spec":{"address":"192.0.2.2"},)"
        R"("spec":{"tier":"high"}})";
    make.body_optional = false;
    make.status = 201;
    make.handler = [link](Call call) { create(link, std::move(call)); };
    routes.push_back(std::move(make));
    Route set = target_route("PUT", "/api/targets/{key}", "replaceTarget",
                             "Replace the settings of a target.");
    set.audit_action = "target.change";
    set.request_schema = kAnyFields;
    set.request_example = R"({"tier":"high","interval":"30s"})";
    set.body_optional = false;
    set.needs_if_match = true;
    set.handler = [link](Call call) { replace(link, std::move(call)); };
    routes.push_back(std::move(set));
    Route gone = target_route("DELETE", "/api/targets/{key}", "removeTarget",
                              "Take the addon off its device; a device without addons goes too.");
    gone.audit_action = "target.remove";
    gone.takes_if_match = true;
    gone.status = 204;
    gone.handler = [link](Call call) { remove(link, std::move(call)); };
    routes.push_back(std::move(gone));
}

}  // namespace

void add_target_routes(std::vector<Route>& routes, const ServerLink& link) {
    add_reads(routes, link);
    add_writes(routes, link);
    struct Switch {
        std::string_view path;
        std::string_view operation;
        std::string_view summary;
        OperatorVerb verb;
        std::string_view action;
        Area area;
    };
    const Switch switches[] = {
        {"/api/targets/{key}/enable", "enableTarget", "Poll a target again.", OperatorVerb::kEnable,
         "target.enable", Area::kFleet},
        {"/api/targets/{key}/disable", "disableTarget", "Stop polling a target; nothing is lost.",
         OperatorVerb::kDisable, "target.disable", Area::kFleet},
        {"/api/targets/{key}/poll", "pollTarget",
         "Poll a target now, inside all budgets. With an open breaker this is its probe.",
         OperatorVerb::kTriggerNow, "target.poll", Area::kMonitoring}};
    for (const Switch& one : switches) {
        Route route = target_route("POST", one.path, one.operation, one.summary);
        route.permission = Permission::kOperate;
        route.area = one.area;
        route.audit_action = one.action;
        route.handler = [link, verb = one.verb, action = std::string(one.action)](Call call) {
            operate_target(link, std::move(call), verb, action);
        };
        routes.push_back(std::move(route));
    }
}

}  // namespace pollux::api
