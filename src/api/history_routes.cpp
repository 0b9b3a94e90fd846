// What was: values of a target over time, and the transitions of its tasks.
#include <charconv>

#include "api/fleet_pages.hpp"
#include "api/history_page.hpp"
#include "api/paging.hpp"
#include "api/routes.hpp"
#include "document/scalar.hpp"
#include "runtime/change_log.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using document::JsonWriter;

constexpr base::Duration kUsualSpan = std::chrono::hours(24);

std::string no_history_page(const std::string& key) {
    std::string text;
    document::JsonWriter json(text);
    json.object().field("key", key).field("more", false).key("series").array().end_array();
    json.end_object();
    return text;
}

// Whether the call may see the target of the path; otherwise it is answered.
bool may_see(const ServerLink& link, const std::string& key, Call& call) {
    const auto view = link.view();
    const bool known = runtime::find_target(*view, key) != nullptr ||
                       runtime::find_object(*view, model::ObjectKind::kTarget, key) != nullptr;
    if (known && access::may_on(call.principal, Permission::kRead, Area::kMonitoring,
                                labels_of(*view, key))) {
        return true;
    }
    call.problem(not_found("target " + base::quoted(key)));
    return false;
}

// An empty one is the same as none.
std::vector<std::string> given(const std::vector<std::string_view>& texts) {
    std::vector<std::string> found(texts.begin(), texts.end());
    std::erase(found, "");
    return found;
}

void history(const ServerLink& link, Call call) {
    const std::string key(call.parameter("key"));
    if (!may_see(link, key, call)) return;
    HistoryWish wish;
    wish.key = key;
    wish.metrics = given(call.query.texts("metric"));
    wish.rows = given(call.query.texts("row"));
    wish.to = call.query.time("to").value_or(net::wall_now());
    wish.from = call.query.time("from").value_or(wish.to - kUsualSpan);
    if (const auto step = call.query.text("step")) {
        const auto parsed = document::parse_duration(*step);
        if (!parsed || *parsed < base::Duration::zero()) {
            Problem problem = bad_request("query.step", "`step` is a duration such as 5m");
            problem.errors.push_back({.parameter = "step", .detail = "a duration such as 5m"});
            call.problem(problem);
            return;
        }
        wish.step = *parsed;
    }
    if (wish.from >= wish.to) {
        call.problem(bad_request("query.range", "`from` must be before `to`"));
        return;
    }
    link.block(std::move(call),
               [view = link.view(), wish, history = link.server.history()](Call answer) {
                   auto page = history_page(history, *view, wish);
                   if (page) {
                       answer.json(200, std::move(*page));
                       return;
                   }
                   const bool nothing = page.error().code == "history.unknown_metric";
                   // A target that was just added has a history: an empty one.
                   if (nothing && wish.metrics.empty()) {
                       answer.json(200, no_history_page(wish.key));
                       return;
                   }
                   Problem problem = problem_of(page.error());
                   if (nothing) problem.status = 404;
                   if (page.error().code == "history.off") problem.status = 409;
                   answer.problem(problem);
               });
}

void changes(const ServerLink& link, Call call) {
    const std::string key(call.parameter("key"));
    if (!may_see(link, key, call)) return;
    const auto page = Page::read(call);
    if (!page) {
        call.problem(page.error());
        return;
    }
    store::ChangeQuery query;
    query.key = key;
    query.newest_first = true;
    query.limit = std::min(page->limit + 1, store::kMostChangesPerQuery);
    if (!page->after.empty()) {
        std::from_chars(page->after.data(), page->after.data() + page->after.size(), query.before);
    }
    link.block(std::move(call), [&store = link.server.store(), query, page = *page](Call answer) {
        auto found = store.changes(query);
        if (!found) {
            answer.problem(found.error());
            return;
        }
        const bool more = found->size() > page.limit;
        if (more) found->resize(page.limit);
        std::string body;
        JsonWriter json(body);
        json.object().key("items").array();
        for (const store::StoredChange& change : *found) {
            const auto words = runtime::change_words(change.kind, change.from, change.to);
            json.object().field("number", change.number).field("at", change.at);
            json.field("kind", words.kind).text_field("from", words.from);
            json.text_field("to", words.to).field("message", words.message);
            json.field("failures", change.failures).end_object();
        }
        json.end_array();
        page.write_next(json, more, found->empty() ? "" : std::to_string(found->back().number));
        json.end_object();
        answer.json(200, std::move(body));
    });
}

}  // namespace

void add_history_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route values;
    values.method = "GET";
    values.path = "/api/targets/{key}/history";
    values.area = Area::kMonitoring;
    values.operation = "getHistory";
    values.tag = "history";
    values.summary = "Values of a target over time, or which series there are.";
    values.description =
        "Without `metric`: the series with their newest values. With it: points of `step` from "
        "samples, minutes or hours, whatever is kept for that time and is fine enough. Several "
        "metrics and rows are answered together, at most 200 series; what there is none of is left "
        "out.";
    values.query = {
        {.name = "metric", .description = "name of a metric", .repeated = true, .longest = 200},
        {.name = "row",
         .description = "only this row, such as an interface",
         .repeated = true,
         .longest = 500},
        {.name = "from", .type = ParameterType::kTime, .description = "else a day before `to`"},
        {.name = "to", .type = ParameterType::kTime, .description = "else now"},
        {.name = "step", .description = "such as 5m; not given: every sample", .longest = 32}};
    values.response_example =
        R"({"key":"snmp-system::switch-1","more":false,"series":[{"metric":"uptime","row":"",)"
        R"("unit":"s","at?":"2026-01-02T03:04:05.000Z","last?~":42.5,"from?":"minutes",)"
        R"("truncated?":false,"points?":[{"at":"2026-01-02T03:04:00.000Z","count":6,"min~":12.5,)"
        R"("mean~":27.5,"max~":42.5,"last~":42.5}]}]})";
    values.handler = [link](Call call) { history(link, std::move(call)); };
    routes.push_back(std::move(values));

    Route past;
    past.method = "GET";
    past.path = "/api/targets/{key}/changes";
    past.area = Area::kMonitoring;
    past.operation = "listChanges";
    past.tag = "history";
    past.summary = "Transitions of a target: up and down, breaker, dead letter, enabled.";
    past.query = {limit_parameter(), cursor_parameter()};
    past.response_example =
        R"({"items":[{"number":12,"at":"2026-01-02T03:04:05.000Z","kind":"health",)"
        R"("from?":"down","to?":"up","message":"target is up","failures":0}],"next?":"MTI"})";
    past.handler = [link](Call call) { changes(link, std::move(call)); };
    routes.push_back(std::move(past));
}

}  // namespace pollux::api
