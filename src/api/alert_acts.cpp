#include "api/alert_acts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "api/alert_pages.hpp"
#include "api/alert_queries.hpp"
#include "api/fleet_edits.hpp"
#include "api/fleet_pages.hpp"
#include "base/text.hpp"
#include "document/map_reader.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using alert::ActResult;
using alert::ActStatus;
using alert::ActVerb;
using document::JsonWriter;

constexpr std::size_t kLongestNote = 4000;
constexpr std::size_t kShownIds = 10;
constexpr base::Duration kLongestAcknowledgement = std::chrono::hours(24 * 366);

constexpr std::string_view kOver = "the alert is resolved: what comes back is a new alert";
constexpr std::array kVerbs = {ActVerb::kAcknowledge, ActVerb::kUnacknowledge, ActVerb::kResolve,
                               ActVerb::kRemove};

Permission permission_of(ActVerb verb) {
    return verb == ActVerb::kRemove ? Permission::kManage : Permission::kOperate;
}

void read_end(document::MapReader& reader, ActWish& wish) {
    const auto text = reader.string("until");
    const auto length = reader.duration("for", std::chrono::seconds(1), kLongestAcknowledgement);
    const base::WallTime now = net::wall_now();
    if (text && length) reader.error("until", "give `until` or `for`, not both");
    if (length) wish.until = now + *length;
    if (!text) return;
    const auto time = base::parse_utc(*text);
    if (!time) {
        reader.error("until", "a time such as 2026-01-02T03:04:05Z is expected");
    } else if (*time <= now || *time - now > kLongestAcknowledgement) {
        reader.error("until", "the time must be within the next 366 days");
    } else {
        wish.until = *time;
    }
}

void read_ids(document::MapReader& reader, ActWish& wish) {
    std::vector<std::string_view> words;
    for (const ActVerb verb : kVerbs) words.push_back(to_string(verb));
    if (const auto word = reader.one_of("verb", words, document::Need::kRequired)) {
        wish.verb = kVerbs[*word];
    }
    wish.ids = reader.strings("ids");
    if (wish.ids.size() > kMostActedOn) {
        reader.error("ids", fmt::format("at most {} at once", kMostActedOn));
    }
    std::ranges::sort(wish.ids);
    const auto doubles = std::ranges::unique(wish.ids);
    wish.ids.erase(doubles.begin(), doubles.end());
}

alert::Act act_of(const Call& call, const ActWish& wish) {
    alert::Act act;
    act.who = access::audit_name(call.principal);
    act.verb = wish.verb;
    act.note = wish.note;
    act.shown = wish.shown;
    act.until = wish.until;
    act.sticky = wish.sticky;
    return act;
}

model::AuditEntry entry_of(const Call& call, std::string_view what, const ActWish& wish,
                           std::string object) {
    auto entry = audit_entry(call, fmt::format("{}.{}", what, to_string(wish.verb)),
                             std::move(object), wish.reason);
    // Who told everybody is asked for more often than who noted something.
    if (wish.shown) entry.after = R"({"public":true})";
    return entry;
}

Problem problem_of_act(const ActResult& result, std::string_view what) {
    if (result.status == ActStatus::kUnknown) {
        return not_found(fmt::format("open {} {}", what, base::quoted(result.id)));
    }
    return conflict(fmt::format("{}.state", what), result.message);
}

std::string_view word_of(ActStatus status) {
    switch (status) {
        case ActStatus::kDone: return "done";
        case ActStatus::kUnknown: return "unknown";
        case ActStatus::kWrongState: return "wrong_state";
    }
    return "unknown";
}

// On the pool: one indexed read.
void answer_with_alert(const ServerLink& link, const std::string& id, Call call) {
    link.block(std::move(call), [link, id](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        const auto found = reader.alert(id);
        if (!found) {
            answer.problem(found.error());
        } else if (!*found) {
            answer.send(net::Response{.status = 204, .headers = {}, .body = {}});
        } else {
            std::string body;
            JsonWriter json(body);
            write_alert(json, **found, reader.is_provisional(**found));
            answer.json(200, std::move(body));
        }
    });
}

void answer_with_incident(const ServerLink& link, const std::string& id, Call call) {
    link.block(std::move(call), [link, id](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        const auto found = reader.incident(id);
        if (!found) {
            answer.problem(found.error());
        } else if (!*found) {
            answer.problem(not_found("incident " + base::quoted(id)));
        } else {
            std::string body;
            JsonWriter json(body);
            write_incident(json, **found, reader.is_provisional(**found));
            answer.json(200, std::move(body));
        }
    });
}

// What is over is not the engine's any more. `done` runs on the API's thread; a failure is
// answered.
void remove_resolved(const ServerLink& link, std::vector<std::string> ids, model::AuditEntry entry,
                     Call call, std::move_only_function<void(Call)> done) {
    store::AlertBatch batch;
    batch.removed_alerts = std::move(ids);
    batch.audit.push_back(std::move(entry));
    auto held = std::make_shared<Call>(std::move(call));
    const auto accepted = link.server.store().submit(
        std::move(batch), [held, to = link.loop, done = std::move(done)](auto result) mutable {
            if (!result) return held->problem(result.error());
            to->post([held, done = std::move(done)]() mutable { done(std::move(*held)); });
        });
    if (!accepted) held->problem(accepted.error());
}

// Judged already: the desk does it.
void do_alert(const ServerLink& link, const std::string& id, const ActWish& wish, Call call) {
    const auto desk = alert_desk(link);
    if (!desk) return call.problem(desk.error());
    alert::Act act = act_of(call, wish);
    act.alerts.push_back(id);
    auto entry = entry_of(call, "alert", wish, "alert " + id);
    auto held = std::make_shared<Call>(std::move(call));
    (*desk)->act(std::move(act), std::move(entry), [link, id, held](auto results) {
        if (!results) {
            held->problem(results.error());
        } else if (results->empty() || results->front().status != ActStatus::kDone) {
            held->problem(problem_of_act(
                results->empty() ? ActResult{0, id, ActStatus::kUnknown, ""} : results->front(),
                "alert"));
        } else {
            link.loop->post([link, id, held] { answer_with_alert(link, id, std::move(*held)); });
        }
    });
}

// Which of the ids may be acted on; the others with the reason.
struct Judged {
    std::vector<std::string> allowed;
    std::vector<std::string> over;  // those of them that are resolved
    std::vector<std::pair<std::string, std::string_view>> refused;
};

base::Result<Judged> judge(store::AlertReader& reader, const access::Principal& principal,
                           Permission permission, const std::vector<std::string>& ids) {
    Judged judged;
    const bool all = access::may_everywhere(principal, permission, Area::kMonitoring);
    for (const std::string& id : ids) {
        const auto found = reader.alert(id);
        if (!found) return std::unexpected(found.error());
        // What could not be stored yet is known to the desk only: for those who may everything.
        if (all || (*found && may_on_alert(principal, permission, **found))) {
            const bool over = *found && !model::is_open(**found);
            (over ? judged.over : judged.allowed).push_back(id);
        } else {
            const bool seen = *found && may_on_alert(principal, Permission::kRead, **found);
            judged.refused.emplace_back(id, seen ? "forbidden" : "unknown");
        }
    }
    return judged;
}

void write_result(JsonWriter& json, std::string_view id, std::string_view result,
                  std::string_view message = {}) {
    json.object().field("id", id).field("result", result);
    json.text_field("message", message).end_object();
}

std::string bulk_page(const std::vector<ActResult>& results, const Judged& judged, ActVerb verb,
                      bool more) {
    const bool removed = verb == ActVerb::kRemove;
    std::size_t changed = removed ? judged.over.size() : 0;
    for (const ActResult& one : results) changed += one.status == ActStatus::kDone ? 1U : 0U;
    std::string body;
    JsonWriter json(body);
    json.object().field("changed", changed).key("results").array();
    for (const ActResult& one : results) {
        write_result(json, one.id, word_of(one.status), one.message);
    }
    for (const std::string& id : judged.over) {
        write_result(json, id, removed ? "done" : "wrong_state", removed ? "" : kOver);
    }
    for (const auto& [id, why] : judged.refused) write_result(json, id, why);
    json.end_array().field("more", more).end_object();
    return body;
}

model::AuditEntry bulk_entry(const Call& call, const ActWish& wish,
                             const std::vector<std::string>& ids) {
    auto entry = entry_of(call, "alert", wish, fmt::format("{} alerts", ids.size()));
    for (const std::string& id : std::span(ids).first(std::min(ids.size(), kShownIds))) {
        entry.after += entry.after.empty() ? id : " " + id;
    }
    return entry;
}

void do_many(const ServerLink& link, const ActWish& wish, Judged judged, bool more, Call call) {
    if (judged.allowed.empty()) return call.json(200, bulk_page({}, judged, wish.verb, more));
    const auto desk = alert_desk(link);
    if (!desk) return call.problem(desk.error());
    alert::Act act = act_of(call, wish);
    act.alerts = judged.allowed;
    auto entry = bulk_entry(call, wish, judged.allowed);
    auto held = std::make_shared<Call>(std::move(call));
    (*desk)->act(std::move(act), std::move(entry),
                 [held, judged = std::move(judged), verb = wish.verb, more](auto results) {
                     if (!results) return held->problem(results.error());
                     held->json(200, bulk_page(*results, judged, verb, more));
                 });
}

// The ids of a filter, at most kMostActedOn; `more`: there are others.
base::Result<std::vector<std::string>> ids_of(store::AlertReader& reader, store::AlertQuery query,
                                              bool& more) {
    query.limit = kMostActedOn;
    auto page = reader.alerts(query);
    if (!page) return std::unexpected(page.error());
    more = page->next != 0;
    std::vector<std::string> ids;
    ids.reserve(page->rows.size());
    for (model::Alert& alert : page->rows) ids.push_back(std::move(alert.id));
    return ids;
}

// Whether every open alert of an incident may be acted on.
base::Result<bool> may_on_all_of(store::AlertReader& reader, const access::Principal& principal,
                                 const std::string& incident) {
    if (access::may_everywhere(principal, Permission::kOperate, Area::kMonitoring)) return true;
    store::AlertQuery query;
    query.incident = incident;
    query.states = open_states();
    query.limit = store::kMostAlertsPerQuery;
    const auto page = reader.alerts(query);
    if (!page) return std::unexpected(page.error());
    return page->next == 0 && std::ranges::all_of(page->rows, [&](const model::Alert& alert) {
               return may_on_alert(principal, Permission::kOperate, alert);
           });
}

void do_incident(const ServerLink& link, const std::string& id, const ActWish& wish, Call call) {
    const auto desk = alert_desk(link);
    if (!desk) return call.problem(desk.error());
    alert::Act act = act_of(call, wish);
    act.incident = id;
    auto entry = entry_of(call, "incident", wish, "incident " + id);
    auto held = std::make_shared<Call>(std::move(call));
    (*desk)->act(std::move(act), std::move(entry), [link, id, held](auto results) {
        if (!results) return held->problem(results.error());
        const auto failed = std::ranges::find_if(*results, [&](const ActResult& one) {
            return one.status == ActStatus::kUnknown && one.id == id;
        });
        if (failed != results->end()) return held->problem(problem_of_act(*failed, "incident"));
        const bool any = std::ranges::any_of(
            *results, [](const ActResult& one) { return one.status == ActStatus::kDone; });
        // All of its alerts said no, such as a second acknowledgement.
        if (!any && !results->empty()) {
            return held->problem(problem_of_act(results->front(), "incident"));
        }
        link.loop->post([link, id, held] { answer_with_incident(link, id, std::move(*held)); });
    });
}

}  // namespace

std::string_view to_string(ActVerb verb) {
    switch (verb) {
        case ActVerb::kAcknowledge: return "acknowledge";
        case ActVerb::kUnacknowledge: return "unacknowledge";
        case ActVerb::kResolve: return "resolve";
        case ActVerb::kRemove: return "remove";
        case ActVerb::kNote: return "note";
    }
    return "unknown";
}

std::expected<ActWish, Problem> read_act(const Call& call, ActVerb verb, bool bulk) {
    const auto body = read_body(call);
    if (!body) return std::unexpected(body.error());
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    ActWish wish;
    wish.verb = verb;
    if (bulk) read_ids(reader, wish);
    const bool needs_note = verb == ActVerb::kNote && !bulk;
    wish.note =
        reader.string("note", needs_note ? document::Need::kRequired : document::Need::kOptional)
            .value_or("");
    if (needs_note && reader.has("note") && wish.note.empty()) {
        reader.error("note", "a note says something");
    }
    if (needs_note) wish.shown = reader.boolean("public").value_or(false);
    if (wish.verb == ActVerb::kAcknowledge) {
        read_end(reader, wish);
        wish.sticky = reader.boolean("sticky").value_or(true);
    }
    wish.reason = reader.string("reason").value_or(wish.note.substr(0, 500));
    reader.finish();
    if (wish.note.size() > kLongestNote) {
        reader.error("note", fmt::format("a note has at most {} bytes", kLongestNote));
    }
    if (wish.reason.size() > 500) reader.error("reason", "a reason has at most 500 bytes");
    if (!diagnostics.ok()) return std::unexpected(problem_of(diagnostics));
    return wish;
}

std::expected<runtime::AlertDesk*, Problem> alert_desk(const ServerLink& link) {
    if (runtime::AlertDesk* desk = link.server.alerts()) return desk;
    return std::unexpected(Problem{503, "alert.offline", "the server does not keep alerts"});
}

store::OverlaidAlerts alert_view(const ServerLink& link) {
    const runtime::AlertDesk* desk = link.server.alerts();
    return {link.server.store().alert_reader(),
            desk == nullptr ? nullptr : desk->board().uncommitted()};
}

void act_on_alert(const ServerLink& link, ActVerb verb, Call call) {
    const std::string id(call.parameter("id"));
    link.block(std::move(call), [link, id, verb](Call answer) {
        const auto found = alert_view(link).alert(id);
        if (!found) return answer.problem(found.error());
        const Permission needed = permission_of(verb);
        const bool all = access::may_everywhere(answer.principal, needed, Area::kMonitoring);
        if (!all && (!*found || !may_on_alert(answer.principal, Permission::kRead, **found))) {
            return answer.problem(not_found("alert " + base::quoted(id)));
        }
        const auto read = read_act(answer, verb, false);
        if (!read) return answer.problem(read.error());
        const ActWish& wish = *read;
        auto entry = entry_of(answer, "alert", wish, "alert " + id);
        if (!all && !may_on_alert(answer.principal, needed, **found)) {
            return refuse(link, std::move(answer), std::move(entry));
        }
        if (wish.verb == ActVerb::kRemove && *found && !model::is_open(**found)) {
            return remove_resolved(
                link, {id}, std::move(entry), std::move(answer),
                [link, id](Call done) { answer_with_alert(link, id, std::move(done)); });
        }
        if (*found && !model::is_open(**found)) {
            return answer.problem(conflict("alert.state", std::string(kOver)));
        }
        do_alert(link, id, wish, std::move(answer));
    });
}

void act_on_many(const ServerLink& link, Call call) {
    auto wish = read_act(call, ActVerb::kAcknowledge, true);
    if (!wish) return call.problem(wish.error());
    auto query = alert_query(call);
    if (!query) return call.problem(query.error());
    if (wish->ids.empty() == call.query.empty()) {
        return call.problem(bad_request(
            "alert.bulk", "name the alerts: either `ids` in the body, or filters in the query"));
    }
    // Of what is over only removing is left.
    if (wish->verb != ActVerb::kRemove && query->states.empty()) query->states = open_states();
    link.block(std::move(call), [link, wish = std::move(*wish),
                                 query = std::move(*query)](Call answer) mutable {
        store::OverlaidAlerts reader = alert_view(link);
        bool more = false;
        if (wish.ids.empty()) {
            auto ids = ids_of(reader, std::move(query), more);
            if (!ids) return answer.problem(ids.error());
            wish.ids = std::move(*ids);
        }
        auto judged = judge(reader, answer.principal, permission_of(wish.verb), wish.ids);
        if (!judged) return answer.problem(judged.error());
        if (wish.verb != ActVerb::kRemove || judged->over.empty()) {
            return do_many(link, wish, std::move(*judged), more, std::move(answer));
        }
        auto entry = bulk_entry(answer, wish, judged->over);
        auto over = judged->over;
        remove_resolved(link, std::move(over), std::move(entry), std::move(answer),
                        [link, wish, judged = std::move(*judged), more](Call rest) mutable {
                            do_many(link, wish, std::move(judged), more, std::move(rest));
                        });
    });
}

bool may_on_incident(const access::Principal& principal, Permission permission,
                     const runtime::FleetView& view, const model::Incident& incident) {
    if (access::may_everywhere(principal, permission, Area::kMonitoring)) return true;
    const model::ConfigObject* device =
        incident.device.empty()
            ? nullptr
            : runtime::find_object(view, model::ObjectKind::kDevice, incident.device);
    return device != nullptr && access::may_on(principal, permission, Area::kMonitoring,
                                               labels_of_object(view, *device));
}

void act_on_incident(const ServerLink& link, ActVerb verb, Call call) {
    const std::string id(call.parameter("id"));
    link.block(std::move(call), [link, id, verb](Call answer) {
        store::OverlaidAlerts reader = alert_view(link);
        const auto found = reader.incident(id);
        if (!found) return answer.problem(found.error());
        const auto view = link.view();
        const auto may = [&](Permission permission) {
            return *found ? may_on_incident(answer.principal, permission, *view, **found)
                          : access::may_everywhere(answer.principal, permission, Area::kMonitoring);
        };
        if (!may(Permission::kRead)) {
            return answer.problem(not_found("incident " + base::quoted(id)));
        }
        const auto read = read_act(answer, verb, false);
        if (!read) return answer.problem(read.error());
        const ActWish& wish = *read;
        // A note changes no alert.
        auto allowed = wish.verb == ActVerb::kNote ? base::Result<bool>(true)
                                                   : may_on_all_of(reader, answer.principal, id);
        if (!allowed) return answer.problem(allowed.error());
        if (!*allowed || !may(Permission::kOperate)) {
            auto entry = entry_of(answer, "incident", wish, "incident " + id);
            return refuse(link, std::move(answer), std::move(entry));
        }
        do_incident(link, id, wish, std::move(answer));
    });
}

}  // namespace pollux::api
