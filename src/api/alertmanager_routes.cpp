// Alertmanager's API v2, as amtool, Karma, Grafana and Prometheus speak it: alerts, silences,
// status, receivers. Errors are plain texts in JSON, as its clients expect them.
#include <fmt/format.h>

#include <algorithm>

#include "alert/matchers.hpp"
#include "alert/router.hpp"
#include "api/alert_acts.hpp"
#include "api/alert_queries.hpp"
#include "api/alertmanager_pages.hpp"
#include "api/alertmanager_reader.hpp"
#include "api/fleet_edits.hpp"
#include "api/routes.hpp"
#include "api/silence_edits.hpp"
#include "api/silence_rules.hpp"
#include "runtime/zone_files.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using document::JsonWriter;

constexpr std::size_t kMostShown = 10'000;  // alerts in one answer
constexpr std::size_t kMostPages = 50;      // of reads for it

using Policy = std::shared_ptr<const runtime::NotifyPolicy>;

void refuse_v2(Call& call, int status, std::string_view text) {
    std::string body;
    document::append_json_string(body, text);
    call.json(status, std::move(body));
}

void refuse_v2(Call& call, const base::Error& error) {
    const int status = problem_of(error).status;
    refuse_v2(call, status == 422 ? 400 : status, error.message);
}

// The rules, made anew after a change of fleet or settings only: that takes the server a while. On
// the API's thread.
struct PolicyKeeper {
    ServerLink link;
    std::shared_ptr<const runtime::FleetView> view;  // that they were made with
    Policy policy;
};
using Keeper = std::shared_ptr<PolicyKeeper>;

// With the flexible silences that have begun since the rules were made.
Policy current(const ServerLink& link, const Policy& policy) {
    const runtime::AlertDesk* desk = link.server.alerts();
    const auto begun = desk == nullptr ? nullptr : desk->board().begun();
    if (!begun || begun->empty()) return policy;
    auto made = std::make_shared<runtime::NotifyPolicy>(*policy);
    for (model::Silence& silence : made->silences) {
        if (const auto at = begun->find(silence.id); at != begun->end()) {
            silence.started = at->second;
        }
    }
    return made;
}

template <class Work>
void work_with(const Keeper& keeper, Call call, Work work) {
    keeper->link.block(std::move(call),
                       [policy = current(keeper->link, keeper->policy), work = std::move(work)](
                           Call answer) mutable { work(std::move(answer), *policy); });
}

// `work` runs on the pool.
template <class Work>
void with_policy(const Keeper& keeper, Call call, Work work) {
    auto view = keeper->link.view();
    if (keeper->policy && keeper->view == view) {
        return work_with(keeper, std::move(call), std::move(work));
    }
    auto held = std::make_shared<Call>(std::move(call));
    keeper->link.on_main([keeper, held, view = std::move(view), work = std::move(work)]() mutable {
        Policy policy = keeper->link.server.notify_policy();
        keeper->link.loop->post([keeper, held, view = std::move(view), policy = std::move(policy),
                                 work = std::move(work)]() mutable {
            keeper->view = std::move(view);
            keeper->policy = std::move(policy);
            work_with(keeper, std::move(*held), std::move(work));
        });
    });
}

// --- alerts -------------------------------------------------------------------------------------

struct AlertWish {
    alert::Matchers filter;
    std::optional<alert::Matchers> receiver;
    bool active = true;
    bool silenced = true;
    bool inhibited = true;
    bool unprocessed = true;
};

base::Result<AlertWish> read_wish(const Call& call) {
    const auto matchers = read_filters(call.query.texts("filter"));
    if (!matchers) return std::unexpected(matchers.error());
    auto filter = alert::Matchers::compile(*matchers);
    if (!filter) return std::unexpected(filter.error());
    AlertWish wish;
    wish.filter = std::move(*filter);
    if (const auto text = call.query.text("receiver")) {
        const model::LabelMatcher named{"receiver", model::MatchOperator::kMatches,
                                        std::string(*text)};
        auto receiver = alert::Matchers::compile(std::span(&named, 1));
        if (!receiver) return std::unexpected(receiver.error());
        wish.receiver = std::move(*receiver);
    }
    wish.active = call.query.flag("active").value_or(true);
    wish.silenced = call.query.flag("silenced").value_or(true);
    wish.inhibited = call.query.flag("inhibited").value_or(true);
    wish.unprocessed = call.query.flag("unprocessed").value_or(true);
    return wish;
}

// Silences and routes, ready to be asked.
struct Rules {
    alert::SilenceBook silences{runtime::zone_lookup()};
    alert::Router router;
};

Rules rules_of(const runtime::NotifyPolicy& policy) {
    Rules rules;
    // They were checked when they were made: one that is refused now holds nothing.
    const base::WallTime now = net::wall_now();
    for (const model::Silence& silence : policy.silences) {
        if (alert::SilenceBook::over(silence, now) || !rules.silences.put(silence)) continue;
    }
    auto router = alert::Router::compile(policy.routes, policy.receivers, runtime::zone_lookup());
    if (router) rules.router = std::move(*router);
    return rules;
}

ShownAlert shown(model::Alert alert, const Rules& rules, base::WallTime now) {
    ShownAlert one;
    one.labels = alert::labels_of(alert);
    if (const auto hold = rules.silences.holding(one.labels, now)) one.silenced_by = hold->ids;
    for (const model::NotifyRoute* route : rules.router.choose(one.labels, alert.severity, now)) {
        for (std::string& name : rules.router.receivers(route->receivers, one.labels)) {
            if (std::ranges::find(one.receivers, name) == one.receivers.end()) {
                one.receivers.push_back(std::move(name));
            }
        }
    }
    one.alert = std::move(alert);
    return one;
}

bool wanted(const ShownAlert& alert, const AlertWish& wish) {
    if (!wish.filter.hold(alert.labels)) return false;
    if (alert.unprocessed() && !wish.unprocessed) return false;
    if (alert.silenced() && !wish.silenced) return false;
    if (alert.inhibited() && !wish.inhibited) return false;
    const bool plain = !alert.unprocessed() && !alert.silenced() && !alert.inhibited();
    if (plain && !wish.active) return false;
    return !wish.receiver || std::ranges::any_of(alert.receivers, [&](const std::string& name) {
        return wish.receiver->hold({{{"receiver", name}}, {}});
    });
}

base::Result<std::vector<ShownAlert>> open_alerts(store::AlertReader& reader, const Rules& rules,
                                                  const AlertWish& wish,
                                                  const access::Principal& principal,
                                                  base::WallTime now) {
    store::AlertQuery query;
    query.states = open_states();
    query.visible = sight_of(principal);
    query.limit = store::kMostAlertsPerQuery;
    std::vector<ShownAlert> result;
    for (std::size_t i = 0; i < kMostPages && result.size() < kMostShown; ++i) {
        auto page = reader.alerts(query);
        if (!page) return std::unexpected(page.error());
        for (model::Alert& alert : page->rows) {
            ShownAlert one = shown(std::move(alert), rules, now);
            if (wanted(one, wish)) result.push_back(std::move(one));
        }
        if (page->next == 0) break;
        query.before = page->next;
    }
    return result;
}

void list_alerts(const Keeper& keeper, bool grouped, Call call) {
    auto wish = read_wish(call);
    if (!wish) return refuse_v2(call, wish.error());
    with_policy(keeper, std::move(call),
                [link = keeper->link, grouped, wish = std::move(*wish)](
                    Call answer, const runtime::NotifyPolicy& policy) {
                    const base::WallTime now = net::wall_now();
                    store::OverlaidAlerts reader = alert_view(link);
                    const auto alerts =
                        open_alerts(reader, rules_of(policy), wish, answer.principal, now);
                    if (!alerts) return refuse_v2(answer, alerts.error());
                    const AlertmanagerTimes times{now, policy.planner.external_url};
                    answer.json(200, grouped ? v2_groups_page(*alerts, {"alertname"}, times)
                                             : v2_alerts_page(*alerts, times));
                });
}

void post_alerts(const ServerLink& link, Call call) {
    auto alerts = read_posted_alerts(call.request.body, net::wall_now());
    if (!alerts) return refuse_v2(call, alerts.error());
    for (const alert::External& one : *alerts) {
        if (access::may_on(call.principal, Permission::kOperate, Area::kMonitoring, one.labels)) {
            continue;
        }
        auto held = std::make_shared<Call>(std::move(call));
        auto entry = audit_entry(*held, held->route->audit_action, "alerts", "");
        return record_refusal(
            link, std::move(entry), "access.forbidden", [held](const base::Status& recorded) {
                if (!recorded) return refuse_v2(*held, recorded.error());
                refuse_v2(*held, 403, "your grants do not reach alerts with these labels");
            });
    }
    const auto desk = alert_desk(link);
    if (!desk) return refuse_v2(call, desk.error().status, desk.error().detail);
    auto held = std::make_shared<Call>(std::move(call));
    // What other systems say is no act of a person: the timeline of the alert has it.
    (*desk)->external(std::move(*alerts), std::nullopt, [held](base::Status done) {
        if (!done) return refuse_v2(*held, done.error());
        held->json(200, "{}");
    });
}

// --- silences -----------------------------------------------------------------------------------

std::vector<ShownSilence> shown_silences(const runtime::NotifyPolicy& policy,
                                         const runtime::FleetView& view,
                                         const access::Principal& principal, base::WallTime now) {
    const Rules rules = rules_of(policy);
    std::vector<ShownSilence> result;
    for (const model::Silence& silence : policy.silences) {
        if (!may_on_silence(principal, Permission::kRead, silence.matchers)) continue;
        const model::ConfigObject* object =
            runtime::find_object(view, model::ObjectKind::kSilence, silence.name);
        result.push_back({silence, rules.silences.state(silence, now),
                          object == nullptr ? base::WallTime{} : object->changed_at});
    }
    return result;
}

void list_silences(const Keeper& keeper, Call call) {
    const auto matchers = read_filters(call.query.texts("filter"));
    if (!matchers) return refuse_v2(call, matchers.error());
    auto filter = alert::Matchers::compile(*matchers);
    if (!filter) return refuse_v2(call, filter.error());
    with_policy(keeper, std::move(call),
                [link = keeper->link, filter = std::move(*filter)](
                    Call answer, const runtime::NotifyPolicy& policy) {
                    auto all =
                        shown_silences(policy, *link.view(), answer.principal, net::wall_now());
                    // A silence is found by what its matchers ask for.
                    std::erase_if(all, [&](const ShownSilence& one) {
                        alert::MatchLabels labels;
                        for (const model::LabelMatcher& matcher : one.silence.matchers) {
                            labels.values.insert_or_assign(matcher.label, matcher.value);
                        }
                        return !filter.hold(labels);
                    });
                    answer.json(200, v2_silences_page(all));
                });
}

void get_silence(const Keeper& keeper, Call call) {
    with_policy(keeper, std::move(call),
                [link = keeper->link](Call answer, const runtime::NotifyPolicy& policy) {
                    const auto all =
                        shown_silences(policy, *link.view(), answer.principal, net::wall_now());
                    for (const ShownSilence& one : all) {
                        if (one.silence.id != answer.parameter("silence_id")) continue;
                        return answer.json(200, v2_silence_page(one));
                    }
                    refuse_v2(answer, 404, "there is no such silence");
                });
}

void post_silence(const ServerLink& link, Call call) {
    auto silence = read_posted_silence(call.request.body, net::wall_now());
    if (!silence) return refuse_v2(call, silence.error());
    put_silence(link, std::move(call), std::move(*silence),
                [](Call answer, base::Result<std::string> id) {
                    if (!id) {
                        const int status = problem_of_edit(id.error()).status;
                        return refuse_v2(answer, status == 422 ? 400 : status, id.error().message);
                    }
                    std::string body;
                    JsonWriter json(body);
                    json.object().field("silenceID", *id).end_object();
                    answer.json(200, std::move(body));
                });
}

void delete_silence(const ServerLink& link, Call call) {
    const std::string id(call.parameter("silence_id"));
    expire_silence(link, std::move(call), id, SilenceName::kId, [](Call answer, base::Status done) {
        if (done) return answer.json(200, "{}");
        refuse_v2(answer, problem_of_edit(done.error()).status, done.error().message);
    });
}

// --- the table ----------------------------------------------------------------------------------

Route v2_route(std::string_view method, std::string_view path, std::string_view operation,
               std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = Area::kMonitoring;
    route.operation = operation;
    route.tag = "alertmanager";
    route.summary = summary;
    if (method != "GET") route.permission = Permission::kOperate;
    return route;
}

Parameter filter_parameter() {
    return {.name = "filter",
            .description = "a matcher such as severity=\"critical\"",
            .repeated = true,
            .longest = 4096};
}

void add_alerts(std::vector<Route>& routes, const Keeper& keeper) {
    const auto flag = [](std::string_view name, std::string_view description) {
        return Parameter{.name = name,
                         .type = ParameterType::kBoolean,
                         .description = description,
                         .standard = "true"};
    };
    for (const bool grouped : {false, true}) {
        Route list = grouped ? v2_route("GET", "/api/v2/alerts/groups", "v2ListAlertGroups",
                                        "Open alerts by receiver and alertname.")
                             : v2_route("GET", "/api/v2/alerts", "v2ListAlerts", "Open alerts.");
        list.query = {filter_parameter(),
                      {.name = "receiver",
                       .description = "regular expression: only those that go to it",
                       .longest = 512},
                      flag("active", "with active ones"),
                      flag("silenced", "with silenced ones"),
                      flag("inhibited", "with suppressed ones")};
        if (!grouped) list.query.push_back(flag("unprocessed", "with pending ones"));
        list.response_example =
            grouped ? R"([{"labels*":{"alertname":"unreachable"},"receiver":{"name":"ops"},)"
                      R"("alerts":["$V2Alert"]}])"
                    : R"(["$V2Alert"])";
        list.handler = [keeper, grouped](Call call) {
            list_alerts(keeper, grouped, std::move(call));
        };
        routes.push_back(std::move(list));
    }
    Route post = v2_route("POST", "/api/v2/alerts", "v2PostAlerts", "Alerts of another system.");
    post.audit_action = "alert.post";
    post.request_schema =
        R"({"type":"array","items":{"type":"object","required":["labels"],"properties":{)"
        R"("labels":{"type":"object","additionalProperties":{"type":"string"}},)"
        R"("annotations":{"type":"object","additionalProperties":{"type":"string"}},)"
        R"("startsAt":{"type":"string","format":"date-time"},)"
        R"("endsAt":{"type":"string","format":"date-time"},"generatorURL":{"type":"string"}}}})";
    post.request_example =
        R"([{"labels":{"alertname":"Backup","device":"nas","severity":"warning"},)"
        R"("annotations":{"summary":"no backup since yesterday"}}])";
    post.body_limit = kMostPostedBytes;
    post.handler = [keeper](Call call) { post_alerts(keeper->link, std::move(call)); };
    routes.push_back(std::move(post));
}

void add_silences(std::vector<Route>& routes, const Keeper& keeper) {
    Route list = v2_route("GET", "/api/v2/silences", "v2ListSilences", "Silences.");
    list.query = {filter_parameter()};
    list.response_example = R"(["$V2Silence"])";
    list.handler = [keeper](Call call) { list_silences(keeper, std::move(call)); };
    routes.push_back(std::move(list));

    Route post = v2_route("POST", "/api/v2/silences", "v2PostSilence", "Make or change a silence.");
    post.audit_action = "silence.create";
    post.request_schema =
        R"({"type":"object","required":["matchers","endsAt","createdBy","comment"],)"
        R"("properties":{"id":{"type":"string"},"matchers":{"type":"array","items":)"
        R"({"type":"object","required":["name","value"],"properties":{)"
        R"("name":{"type":"string"},"value":{"type":"string"},)"
        R"("isRegex":{"type":"boolean"},"isEqual":{"type":"boolean"}}}},)"
        R"("startsAt":{"type":"string","format":"date-time"},)"
        R"("endsAt":{"type":"string","format":"date-time"},)"
        R"("createdBy":{"type":"string"},"comment":{"type":"string"}}})";
    post.request_example =
        R"({"matchers":[{"name":"device","value":"nas","isRegex":false,"isEqual":true}],)"
        R"("startsAt":"2026-01-02T03:04:05Z","endsAt":"2096-01-02T03:04:05Z",)"
        R"("createdBy":"eve","comment":"new disks"})";
    post.response_example = R"({"silenceID":"0190a5e0-0000-7000-8000-000000000000"})";
    post.handler = [keeper](Call call) { post_silence(keeper->link, std::move(call)); };
    routes.push_back(std::move(post));

    Route one = v2_route("GET", "/api/v2/silence/{silence_id}", "v2GetSilence", "One silence.");
    one.response_example = R"("$V2Silence")";
    one.handler = [keeper](Call call) { get_silence(keeper, std::move(call)); };
    routes.push_back(std::move(one));

    Route end =
        v2_route("DELETE", "/api/v2/silence/{silence_id}", "v2ExpireSilence", "End a silence now.");
    end.audit_action = "silence.expire";
    end.handler = [keeper](Call call) { delete_silence(keeper->link, std::move(call)); };
    routes.push_back(std::move(end));
}

}  // namespace

void add_alertmanager_routes(std::vector<Route>& routes, const ServerLink& link) {
    const auto keeper = std::make_shared<PolicyKeeper>(link, nullptr, nullptr);
    add_alerts(routes, keeper);
    add_silences(routes, keeper);
    Route status = v2_route("GET", "/api/v2/status", "v2GetStatus", "Version and start.");
    status.response_example =
        R"({"cluster":{"status":"disabled","peers":[{"name":"","address":""}]},)"
        R"("config":{"original":""},"uptime":"2026-01-02T03:04:05.000Z",)"
        R"("versionInfo":{"version":"pollux-0.1.0","branch":"","buildDate":"","buildUser":"",)"
        R"("goVersion":"","revision":""}})";
    status.handler = [link](Call call) {
        call.json(200, v2_status_page(link.version, link.server.started_at()));
    };
    routes.push_back(std::move(status));

    Route names = v2_route("GET", "/api/v2/receivers", "v2ListReceivers", "Names of receivers.");
    names.response_example = R"([{"name":"ops"}])";
    names.handler = [keeper](Call call) {
        with_policy(keeper, std::move(call), [](Call answer, const runtime::NotifyPolicy& policy) {
            std::vector<std::string> all;
            for (const model::Receiver& one : policy.receivers) all.push_back(one.name);
            answer.json(200, v2_receivers_page(all));
        });
    };
    routes.push_back(std::move(names));
}

}  // namespace pollux::api
