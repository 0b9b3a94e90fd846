// Alerts: lists, counts, one with its story, and what people do about them.
#include <fmt/format.h>

#include <map>

#include "api/alert_acts.hpp"
#include "api/alert_pages.hpp"
#include "api/alert_queries.hpp"
#include "api/routes.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using alert::ActVerb;
using document::JsonWriter;

constexpr std::size_t kShownSteps = 500;          // of a timeline
constexpr std::size_t kShownNotifications = 100;  // of an incident
constexpr std::size_t kMostCountedPages = 100;    // of 1000 alerts, for who sees a part

void list(const ServerLink& link, Call call) {
    const auto page = Page::read(call);
    if (!page) return call.problem(page.error());
    auto query = alert_query(call);
    if (!query) return call.problem(query.error());
    link.block(std::move(call), [link, page = *page, query = std::move(*query)](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        const auto found = reader.alerts(query);
        if (!found) return answer.problem(found.error());
        answer.json(200, rows_page(page, *found, [&](JsonWriter& json, const model::Alert& one) {
                        write_alert(json, one, reader.is_provisional(one));
                    }));
    });
}

// For who sees a part only: what is open is counted one by one.
base::Result<std::vector<store::AlertCount>> count_seen(store::AlertReader& reader,
                                                        store::AlertQuery query, bool& partial) {
    std::map<std::tuple<model::AlertState, model::Severity, std::string>, std::uint64_t> counts;
    query.states = open_states();
    query.limit = store::kMostAlertsPerQuery;
    partial = true;
    for (std::size_t i = 0; i < kMostCountedPages && partial; ++i) {
        const auto page = reader.alerts(query);
        if (!page) return std::unexpected(page.error());
        for (const model::Alert& one : page->rows) ++counts[{one.state, one.severity, one.addon}];
        query.before = page->next;
        partial = page->next != 0;
    }
    std::vector<store::AlertCount> result;
    for (const auto& [what, count] : counts) {
        result.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what), count});
    }
    return result;
}

void stats(const ServerLink& link, Call call) {
    const bool review = link.view()->settings.alerts_review;
    link.block(std::move(call), [link, review](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        store::AlertQuery query;
        query.visible = sight_of(answer.principal);
        bool partial = false;
        const auto counts =
            query.visible ? count_seen(reader, query, partial) : reader.alert_counts();
        if (!counts) return answer.problem(counts.error());
        answer.json(200, alert_stats_page(*counts, partial, review));
    });
}

// Fills in what happened, and who was told about the incident.
template <class Story>
base::Status tell_story(store::AlertReader& reader, store::AlertEventQuery steps,
                        const std::string& incident, Story& story) {
    steps.oldest_first = true;
    steps.limit = kShownSteps;
    auto timeline = reader.events(steps);
    if (!timeline) return std::unexpected(timeline.error());
    story.timeline = std::move(timeline->rows);
    if (incident.empty()) return {};
    store::NotificationQuery told;
    told.incident = incident;
    told.limit = kShownNotifications;
    auto notifications = reader.notifications(told);
    if (!notifications) return std::unexpected(notifications.error());
    story.notifications = std::move(notifications->rows);
    return {};
}

base::Result<AlertStory> story_of(store::OverlaidAlerts& reader, const model::Alert& alert) {
    AlertStory story;
    if (reader.is_provisional(alert)) story.provisional.insert(alert.id);
    store::AlertEventQuery steps;
    steps.alert = alert.id;
    if (auto told = tell_story(reader, steps, alert.incident, story); !told) {
        return std::unexpected(told.error());
    }
    if (alert.incident.empty()) return story;
    auto incident = reader.incident(alert.incident);
    if (!incident) return std::unexpected(incident.error());
    story.incident = std::move(*incident);
    if (story.incident && reader.is_provisional(*story.incident)) {
        story.provisional.insert(story.incident->id);
    }
    return story;
}

void get(const ServerLink& link, Call call) {
    const std::string id(call.parameter("id"));
    link.block(std::move(call), [link, id](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        const auto found = reader.alert(id);
        if (!found) return answer.problem(found.error());
        if (!*found || !may_on_alert(answer.principal, Permission::kRead, **found)) {
            return answer.problem(not_found("alert " + base::quoted(id)));
        }
        auto story = story_of(reader, **found);
        if (!story) return answer.problem(story.error());
        const auto desk = alert_desk(link);
        if (!desk) return answer.json(200, alert_page(**found, *story));
        (*desk)->standing_of(**found,
                             [held = std::make_shared<Call>(std::move(answer)), alert = **found,
                              story = std::move(*story)](runtime::AlertStanding standing) mutable {
                                 story.standing = std::move(standing);
                                 held->json(200, alert_page(alert, story));
                             });
    });
}

// --- incidents ----------------------------------------------------------------------------------

void list_incidents(const ServerLink& link, Call call) {
    const auto page = Page::read(call);
    if (!page) return call.problem(page.error());
    auto query = incident_query(call);
    if (!query) return call.problem(query.error());
    if (!access::may_everywhere(call.principal, Permission::kRead, Area::kMonitoring)) {
        query->visible = [view = link.view(),
                          principal = call.principal](const model::Incident& incident) {
            return may_on_incident(principal, Permission::kRead, *view, incident);
        };
    }
    link.block(std::move(call), [link, page = *page, query = std::move(*query)](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        const auto found = reader.incidents(query);
        if (!found) return answer.problem(found.error());
        answer.json(200, rows_page(page, *found, [&](JsonWriter& json, const model::Incident& one) {
                        write_incident(json, one, reader.is_provisional(one));
                    }));
    });
}

base::Result<IncidentStory> story_of(store::OverlaidAlerts& reader, const model::Incident& incident,
                                     const access::Principal& principal) {
    IncidentStory story;
    if (reader.is_provisional(incident)) story.provisional.insert(incident.id);
    store::AlertQuery parts;
    parts.incident = incident.id;
    parts.oldest_first = true;
    parts.limit = store::kMostAlertsPerQuery;
    parts.visible = sight_of(principal);
    auto alerts = reader.alerts(parts);
    if (!alerts) return std::unexpected(alerts.error());
    story.alerts = std::move(alerts->rows);
    story.more = alerts->next != 0;
    for (const model::Alert& alert : story.alerts) {
        if (reader.is_provisional(alert)) story.provisional.insert(alert.id);
    }
    store::AlertEventQuery steps;
    steps.incident = incident.id;
    if (auto told = tell_story(reader, steps, incident.id, story); !told) {
        return std::unexpected(told.error());
    }
    return story;
}

void get_incident(const ServerLink& link, Call call) {
    const std::string id(call.parameter("id"));
    link.block(std::move(call), [link, id](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        const auto found = reader.incident(id);
        if (!found) return answer.problem(found.error());
        if (!*found ||
            !may_on_incident(answer.principal, Permission::kRead, *link.view(), **found)) {
            return answer.problem(not_found("incident " + base::quoted(id)));
        }
        const auto story = story_of(reader, **found, answer.principal);
        if (!story) return answer.problem(story.error());
        answer.json(200, incident_page(**found, *story));
    });
}

// --- the table ----------------------------------------------------------------------------------

constexpr std::string_view kActSchema =
    R"({"type":"object","additionalProperties":false,"properties":{"note":{"type":"string",)"
    R"("maxLength":4000},"reason":{"type":"string","maxLength":500}}})";
constexpr std::string_view kNoteSchema =
    R"({"type":"object","additionalProperties":false,"required":["note"],"properties":{)"
    R"("note":{"type":"string","maxLength":4000},"public":{"type":"boolean"},)"
    R"("reason":{"type":"string","maxLength":500}}})";
constexpr std::string_view kAcknowledgeSchema =
    R"({"type":"object","additionalProperties":false,"properties":{"note":{"type":"string",)"
    R"("maxLength":4000},"until":{"type":"string","format":"date-time"},"for":{"type":"string"},)"
    R"("sticky":{"type":"boolean"},"reason":{"type":"string","maxLength":500}}})";
constexpr std::string_view kBulkSchema =
    R"({"type":"object","additionalProperties":false,"required":["verb"],"properties":{)"
    R"("verb":{"type":"string","enum":["acknowledge","unacknowledge","resolve","remove"]},)"
    R"("ids":{"type":"array","items":{"type":"string"},"maxItems":1000},)"
    R"("note":{"type":"string","maxLength":4000},"until":{"type":"string","format":"date-time"},)"
    R"("for":{"type":"string"},"sticky":{"type":"boolean"},)"
    R"("reason":{"type":"string","maxLength":500}}})";

Route alert_route(std::string_view method, std::string_view path, std::string_view operation,
                  std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = Area::kMonitoring;
    route.operation = operation;
    route.tag = "alerts";
    route.summary = summary;
    if (method != "GET") {
        route.permission = Permission::kOperate;
        route.request_schema = kActSchema;
        route.body_optional = true;
    }
    return route;
}

void add_reads(std::vector<Route>& routes, const ServerLink& link) {
    Route all = alert_route("GET", "/api/alerts", "listAlerts", "Alerts, the newest first.");
    all.query = alert_filters();
    all.query.insert(all.query.begin(), {limit_parameter(), cursor_parameter()});
    all.response_example = R"({"items":["$Alert"],"next?":"MTc"})";
    all.handler = [link](Call call) { list(link, std::move(call)); };
    routes.push_back(std::move(all));

    Route counts = alert_route("GET", "/api/alerts/stats", "getAlertStats",
                               "How many alerts there are, by severity, status and addon.");
    counts.response_example =
        R"({"total_active":1,"total_open":1,"by_severity*":{"critical":1},)"
        R"("by_status*":{"active":1},"by_addon*":{"ping":1},"partial":false,"review":true})";
    counts.handler = [link](Call call) { stats(link, std::move(call)); };
    routes.push_back(std::move(counts));

    Route one = alert_route("GET", "/api/alerts/{id}", "getAlert",
                            "One alert: evidence, timeline, incident, who was told.");
    one.response_example = R"("$AlertStory")";
    one.handler = [link](Call call) { get(link, std::move(call)); };
    routes.push_back(std::move(one));

    Route incidents =
        alert_route("GET", "/api/incidents", "listIncidents", "Incidents, the newest first.");
    incidents.query = incident_filters();
    incidents.query.insert(incidents.query.begin(), {limit_parameter(), cursor_parameter()});
    incidents.response_example = R"({"items":["$Incident"],"next?":"Mw"})";
    incidents.handler = [link](Call call) { list_incidents(link, std::move(call)); };
    routes.push_back(std::move(incidents));

    Route incident = alert_route("GET", "/api/incidents/{id}", "getIncident",
                                 "One incident: root, what it affects, timeline, who was told.");
    incident.response_example = R"("$IncidentStory")";
    incident.handler = [link](Call call) { get_incident(link, std::move(call)); };
    routes.push_back(std::move(incident));
}

struct ActRow {
    std::string_view path;
    std::string_view operation;
    std::string_view summary;
    ActVerb verb;
};

void add_act(std::vector<Route>& routes, const ActRow& row, std::string_view what,
             std::string_view example, std::function<void(ActVerb, Call)> act) {
    Route route = alert_route("POST", row.path, row.operation, row.summary);
    route.audit_action = fmt::format("{}.{}", what, to_string(row.verb));
    route.audit_object = what == "alert" ? "alert {id}" : "incident {id}";
    route.request_example = R"({"note":"on my way"})";
    route.response_example = example;
    if (row.verb == ActVerb::kAcknowledge) route.request_schema = kAcknowledgeSchema;
    if (row.verb == ActVerb::kNote) {
        route.request_schema = kNoteSchema;
        route.description =
            "A `public` one is shown to everybody on the status page, with its time and without "
            "its "
            "author; the incident is listed there with the names of its groups only.";
    }
    route.handler = [act = std::move(act), verb = row.verb](Call call) {
        act(verb, std::move(call));
    };
    routes.push_back(std::move(route));
}

void add_acts(std::vector<Route>& routes, const ServerLink& link) {
    const auto on_alert = [link](ActVerb verb, Call call) {
        act_on_alert(link, verb, std::move(call));
    };
    const auto on_incident = [link](ActVerb verb, Call call) {
        act_on_incident(link, verb, std::move(call));
    };
    for (const ActRow& row :
         {ActRow{"/api/alerts/{id}/acknowledge", "acknowledgeAlert",
                 "Somebody has it: reminders and escalation stop.", ActVerb::kAcknowledge},
          ActRow{"/api/alerts/{id}/unacknowledge", "unacknowledgeAlert", "Nobody has it any more.",
                 ActVerb::kUnacknowledge},
          ActRow{"/api/alerts/{id}/resolve", "resolveAlert",
                 "It is over, whatever the device says.", ActVerb::kResolve}}) {
        add_act(routes, row, "alert", R"("$Alert")", on_alert);
    }
    for (const ActRow& row :
         {ActRow{"/api/incidents/{id}/acknowledge", "acknowledgeIncident",
                 "Acknowledge all open alerts of an incident.", ActVerb::kAcknowledge},
          ActRow{"/api/incidents/{id}/resolve", "resolveIncident",
                 "Resolve all open alerts of an incident.", ActVerb::kResolve},
          ActRow{"/api/incidents/{id}/notes", "addIncidentNote",
                 "Write a note into the timeline of an incident.", ActVerb::kNote}}) {
        add_act(routes, row, "incident", R"("$Incident")", on_incident);
    }
    Route many = alert_route("POST", "/api/alerts/bulk", "changeAlerts",
                             "Acknowledge, resolve or remove many alerts.");
    many.audit_action = "alert.bulk";
    many.audit_object = "*";
    many.description =
        "Either `ids` in the body, or filters in the query, as GET /api/alerts has them; at most "
        "1000 at once, `more` says that there are others. Removing needs the right to manage.";
    many.query = alert_filters();
    many.request_schema = kBulkSchema;
    many.request_example =
        R"({"verb":"acknowledge","ids":["0190a5e0-0000-7000-8000-000000000000"],"for":"2h"})";
    many.body_optional = false;
    many.response_example =
        R"({"changed":1,"results":[{"id":"0190a5e0-0000-7000-8000-000000000000",)"
        R"("result":"done","message?":"it is resolved"}],"more":false})";
    many.handler = [link](Call call) { act_on_many(link, std::move(call)); };
    routes.push_back(std::move(many));

    Route remove = alert_route("DELETE", "/api/alerts/{id}", "removeAlert",
                               "Forget an alert with its timeline; the audit trail stays.");
    remove.audit_action = "alert.remove";
    remove.audit_object = "alert {id}";
    remove.permission = Permission::kManage;
    remove.rate = RateClass::kConfigWrite;
    remove.status = 204;
    remove.handler = [link](Call call) { act_on_alert(link, ActVerb::kRemove, std::move(call)); };
    routes.push_back(std::move(remove));
}

}  // namespace

void add_alert_routes(std::vector<Route>& routes, const ServerLink& link) {
    add_reads(routes, link);
    add_acts(routes, link);
}

}  // namespace pollux::api
