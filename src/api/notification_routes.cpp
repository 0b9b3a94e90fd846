// What people were told: the log of deliveries, the state of channels, and trying again.
#include "api/alert_acts.hpp"
#include "api/alert_pages.hpp"
#include "api/alert_queries.hpp"
#include "api/routes.hpp"
#include "document/map_reader.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using document::JsonWriter;

void list(const ServerLink& link, Call call) {
    const auto page = Page::read(call);
    if (!page) return call.problem(page.error());
    const auto query = notification_query(call);
    if (!query) return call.problem(query.error());
    link.block(
        std::move(call), [&store = link.server.store(), page = *page, query = *query](Call answer) {
            const auto found = store.alert_reader().notifications(query);
            if (!found) return answer.problem(found.error());
            answer.json(
                200, rows_page(page, *found, [](JsonWriter& json, const model::Notification& one) {
                    write_notification(json, one);
                }));
        });
}

// On the pool: one indexed read.
void answer_with(const ServerLink& link, const std::string& id, Call call) {
    link.block(std::move(call), [&store = link.server.store(), id](Call answer) {
        const auto found = store.alert_reader().notification(id);
        if (!found) return answer.problem(found.error());
        if (!*found) return answer.problem(not_found("notification " + base::quoted(id)));
        std::string body;
        JsonWriter json(body);
        write_notification(json, **found, true);
        answer.json(200, std::move(body));
    });
}

using Settle = void (runtime::AlertDesk::*)(std::string, std::optional<model::AuditEntry>,
                                            runtime::AlertDesk::Done);

// What becomes of one that was given up.
void settle(const ServerLink& link, Call call, std::string_view action, Settle act) {
    const auto reason = read_reason(call);
    if (!reason) return call.problem(reason.error());
    const auto desk = alert_desk(link);
    if (!desk) return call.problem(desk.error());
    const std::string id(call.parameter("id"));
    auto entry = audit_entry(call, std::string(action), "notification " + id, *reason);
    auto held = std::make_shared<Call>(std::move(call));
    ((*desk)->*act)(id, std::move(entry), [link, id, held](base::Status done) {
        if (!done) {
            Problem problem = problem_of(done.error());
            if (done.error().code == "notification.unknown") problem.status = 404;
            return held->problem(problem);
        }
        link.loop->post([link, id, held] { answer_with(link, id, std::move(*held)); });
    });
}

// Sends to every channel; what each of them said is in the notifications.
void test(const ServerLink& link, Call call) {
    const auto reason = read_reason(call);
    if (!reason) return call.problem(reason.error());
    const auto desk = alert_desk(link);
    if (!desk) return call.problem(desk.error());
    const std::string name(call.parameter("name"));
    auto entry = audit_entry(call, "receiver.test", name, *reason);
    auto held = std::make_shared<Call>(std::move(call));
    (*desk)->test_receiver(name, std::move(entry), [held](auto ids) {
        if (!ids) {
            Problem problem = problem_of(ids.error());
            if (ids.error().code == "notify.receiver") problem.status = 404;
            return held->problem(problem);
        }
        std::string body;
        JsonWriter json(body);
        json.object().key("notifications").array();
        for (const std::string& id : *ids) json.value(id);
        json.end_array().end_object();
        held->json(202, std::move(body));
    });
}

// {"labels": {…}, "severity": "critical"}: who would be told, and why.
void test_route(const ServerLink& link, Call call) {
    const auto body = read_body(call);
    if (!body) return call.problem(body.error());
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    model::AlertLabels labels;
    if (const document::Node* given = reader.map("labels")) {
        for (const document::MapEntry& entry : given->entries()) {
            labels.emplace(entry.key, entry.value.scalar());
        }
    }
    if (labels.size() > 64) reader.error("labels", "at most 64 labels");
    const std::string word = reader.string("severity").value_or("");
    const auto named = labels.find("severity");
    const auto severity = model::severity_of(!word.empty()           ? word
                                             : named == labels.end() ? "warning"
                                                                     : named->second);
    if (!severity) reader.error("severity", "info, warning, minor, major or critical");
    reader.finish();
    if (!diagnostics.ok()) return call.problem(problem_of(diagnostics));
    const auto desk = alert_desk(link);
    if (!desk) return call.problem(desk.error());
    labels.insert_or_assign("severity", std::string(to_string(*severity)));
    auto held = std::make_shared<Call>(std::move(call));
    (*desk)->explain_route(std::move(labels), *severity, [held](const std::string& words) {
        std::string text;
        JsonWriter json(text);
        json.object().field("explanation", words).end_object();
        held->json(200, std::move(text));
    });
}

void channels(const ServerLink& link, Call call) {
    link.block(std::move(call), [&server = link.server](Call answer) {
        const auto found = server.store().alert_reader().channels();
        if (!found) return answer.problem(found.error());
        std::string body;
        JsonWriter json(body);
        json.object().key("items").array();
        for (const store::ChannelHealth& one : *found) write_channel(json, one);
        json.end_array().key("sentinel");
        write_sentinel(json, server.sentinel());
        json.end_object();
        answer.json(200, std::move(body));
    });
}

constexpr std::string_view kNotification = R"("$Notification")";

constexpr std::string_view kChannels =
    R"({"items":[{"receiver":"ops","channel":"mail","worked_at?":"2026-01-02T03:04:05.000Z",)"
    R"("failed_at?":"2026-01-01T03:04:05.000Z","last_error?":"the server answered 503",)"
    R"("works":true}],"sentinel":{"heartbeat?":{"worked_at?":"2026-01-02T03:04:05.000Z",)"
    R"("last_error?":"no answer","sent":12,"failed":0,"skipped":0,"works":true},"watch?":{)"
    R"("seen_at?":"2026-01-02T03:04:05.000Z","last_error?":"no answer","lost":false}}})";

// Messages go to people who may see everything: so does their log.
Route notification_route(std::string_view method, std::string_view path, std::string_view operation,
                         std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = Area::kMonitoring;
    route.everywhere = true;
    route.operation = operation;
    route.tag = "notifications";
    route.summary = summary;
    if (method != "GET") {
        route.permission = Permission::kOperate;
        route.request_schema = kReasonBody;
        route.body_optional = true;
    }
    return route;
}

}  // namespace

void add_notification_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route all = notification_route("GET", "/api/notifications", "listNotifications",
                                   "The log of deliveries, the newest first.");
    all.query = notification_filters();
    all.query.insert(all.query.begin(), {limit_parameter(), cursor_parameter()});
    all.response_example = R"({"items":["$Notification"],"next?":"NA"})";
    all.handler = [link](Call call) { list(link, std::move(call)); };
    routes.push_back(std::move(all));

    Route one = notification_route("GET", "/api/notifications/{id}", "getNotification",
                                   "One notification, with what it says.");
    one.response_example = kNotification;
    one.handler = [link](Call call) {
        const std::string id(call.parameter("id"));
        answer_with(link, id, std::move(call));
    };
    routes.push_back(std::move(one));

    Route again = notification_route("POST", "/api/notifications/{id}/retry", "retryNotification",
                                     "Try a delivery that was given up once more.");
    again.audit_action = "notification.retry";
    again.audit_object = "notification {id}";
    again.response_example = kNotification;
    again.handler = [link](Call call) {
        settle(link, std::move(call), "notification.retry", &runtime::AlertDesk::retry);
    };
    routes.push_back(std::move(again));

    Route dismissed =
        notification_route("POST", "/api/notifications/{id}/dismiss", "dismissNotification",
                           "Nobody cares any more about a delivery that was given up.");
    dismissed.description = "It is `cancelled` from then on, and its last error stays with it.";
    dismissed.response_example = kNotification;
    dismissed.handler = [link](Call call) {
        settle(link, std::move(call), "notification.dismiss", &runtime::AlertDesk::dismiss);
    };
    routes.push_back(std::move(dismissed));

    Route trial = notification_route("POST", "/api/receivers/{name}/test", "testReceiver",
                                     "Send a test message to every channel of a receiver.");
    trial.audit_action = "receiver.test";
    trial.description =
        "Answers with the ids of the notifications. What the channels said stands in "
        "GET /api/notifications/{id} a moment later: state, attempts, last_error.";
    trial.status = 202;
    trial.response_example = R"({"notifications":["5d41402abc4b2a76b9719d911017c592"]})";
    trial.handler = [link](Call call) { test(link, std::move(call)); };
    routes.push_back(std::move(trial));

    Route route = notification_route("POST", "/api/route-test", "testRoute",
                                     "Who would be told of an alert with these labels, and why.");
    route.permission = Permission::kRead;
    route.request_schema =
        R"({"type":"object","additionalProperties":false,"properties":{"labels":)"
        R"({"type":"object","additionalProperties":{"type":"string"}},)"
        R"("severity":{"type":"string"}}})";
    route.request_example = R"({"labels":{"site":"berlin"},"severity":"critical"})";
    route.body_optional = false;
    route.response_example = R"({"explanation":"no route applies: nobody is told"})";
    route.handler = [link](Call call) { test_route(link, std::move(call)); };
    routes.push_back(std::move(route));

    Route health = notification_route("GET", "/api/channels", "listChannels",
                                      "When each channel last worked, and its last error; and how "
                                      "the sentinel fares.");
    health.response_example = kChannels;
    health.handler = [link](Call call) { channels(link, std::move(call)); };
    routes.push_back(std::move(health));
}

}  // namespace pollux::api
