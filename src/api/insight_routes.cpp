// What went on: runs of a target, the scheduler over time, who takes the time.
#include "api/insight_pages.hpp"
#include "api/routes.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using runtime::HistorySpan;

constexpr std::int64_t kMostCosts = 1000;

Route insight_route(std::string_view path, std::string_view operation, std::string_view summary) {
    Route route;
    route.method = "GET";
    route.path = path;
    route.area = Area::kMonitoring;
    route.operation = operation;
    route.tag = "insight";
    route.summary = summary;
    return route;
}

Parameter how_many(std::int64_t most, std::string_view standard) {
    return {.name = "limit",
            .type = ParameterType::kInteger,
            .description = "how many",
            .least = 1,
            .most = most,
            .standard = standard,
            .example = "20"};
}

// --- runs ---------------------------------------------------------------------------------------

void runs(const ServerLink& link, FrameKeeper& frames, Call call) {
    const std::string key(call.parameter("key"));
    const auto frame = frames.frame_of(link.view());
    const FleetFrame::Row* row = frame->find(key);
    if (row == nullptr || !access::may_on(call.principal, Permission::kRead, Area::kMonitoring,
                                          row->target->labels)) {
        call.problem(not_found("target " + base::quoted(key)));
        return;
    }
    const std::vector<std::string> tasks(row->tasks.begin(), row->tasks.end());
    const auto limit =
        static_cast<std::size_t>(call.query.integer("limit").value_or(runtime::RunBook::kMostRuns));
    link.ask([tasks, limit](const auto& core) { return run_facts(core, tasks, limit); },
             [call = std::move(call)](const RunFacts& facts) mutable {
                 call.json(200, runs_page(facts));
             });
}

Route runs_route() {
    Route route = insight_route("/api/targets/{key}/runs", "listTargetRuns",
                                "The last runs of a target, newest first, with where the time "
                                "went.");
    route.description =
        "At most 50 of each task are kept, in memory: after `kept_since`, none is missing. `lag` "
        "is the time from due to start, `trigger` why it ran, `changed` whether the answer means "
        "something else than the one before. `phases` are of all requests of the run together; "
        "those that did not happen are left out. A target that is heard and not polled has no "
        "runs.";
    route.query = {how_many(runtime::RunBook::kMostRuns, "50")};
    route.response_example =
        R"({"kept_since":"2026-01-02T03:00:00.000Z","items":[{"task":"http-status::web",)"
        R"("started":"2026-01-02T03:04:05.000Z","duration":0.062,"lag":0.003,"outcome":"ok",)"
        R"("code?":"http.status","error?":"the server answered 503","trigger":"due","requests":1,)"
        R"("bytes":1422,"changed":false,"phases":[{"name":"connect","seconds":0.012}]}]})";
    return route;
}

// --- the scheduler over time --------------------------------------------------------------------

void history(const ServerLink& link, Call call) {
    const std::string_view word = call.query.text_or("span", "15m");
    const HistorySpan span = word == "24h"  ? HistorySpan::kDay
                             : word == "6h" ? HistorySpan::kSixHours
                                            : HistorySpan::kQuarter;
    link.ask([span](const auto& core) { return history_facts(core, span); },
             [call = std::move(call)](const HistoryFacts& facts) mutable {
                 call.json(200, scheduler_history_page(facts));
             });
}

Route history_route() {
    Route route = insight_route("/api/scheduler/history", "getSchedulerHistory",
                                "Starts, ends, queue and lag of polls over the last minutes, "
                                "hours or day.");
    route.description =
        "Oldest first, without the step that is still under way. `ready`, `in_flight` and `tasks` "
        "are the most at any moment of the step. `lag_counts` has for each point how many starts "
        "were up to each of `lag_bounds` seconds late, and last those beyond. In memory: a restart "
        "begins anew.";
    route.query = {{.name = "span",
                    .type = ParameterType::kWord,
                    .description = "15m in steps of 5 s, 6h of 1 min, 24h of 5 min",
                    .words = {"15m", "6h", "24h"},
                    .standard = "15m"}};
    route.response_example =
        R"({"step":5.0,"points":[{"at":"2026-01-02T03:04:05.000Z","started":12,"finished":12,)"
        R"("failed":0,"ready":3,"in_flight":4,"lag_p50":0.004,"lag_p95":0.04,"tasks":300}],)"
        R"("lag_bounds":[0.01,0.05,0.1,0.25,0.5,1,2.5,5,10,30,60],)"
        R"("lag_counts":[[10,2,0,0,0,0,0,0,0,0,0,0]]})";
    return route;
}

// --- costs --------------------------------------------------------------------------------------

void costs(const ServerLink& link, FrameKeeper& frames, Call call) {
    const auto frame = frames.frame_of(link.view());
    CostQuestion question;
    question.key = call.query.text_or("key", "");
    question.device = call.query.text_or("device", "");
    if (const auto limit = call.query.integer("limit")) {
        question.limit = static_cast<std::size_t>(*limit);
    }
    const auto shown = frame->seen_by(call.principal);
    link.ask([frame, question,
              shown](const auto& core) { return cost_facts(core, *frame, shown, question); },
             [call = std::move(call), frame](const CostFacts& facts) mutable {
                 call.json(200, costs_page(facts, *frame));
             });
}

Route costs_route() {
    Route route = insight_route("/api/scheduler/costs", "listCosts",
                                "Targets that take the most time, with what else they take.");
    route.description =
        "Of the last half to whole hour, from `since` on. `busy` are seconds under way, `share` is "
        "of all targets that the one who asks may see, also when `key` or `device` asks for some "
        "of them only. Each row is a target with all its tasks; one that did not run is left out.";
    route.query = {
        {.name = "key",
         .description = "only the target with this key, or of the task with this key",
         .example = "snmp-interfaces::switch-1"},
        {.name = "device", .description = "only targets of this device", .example = "switch-1"},
        how_many(kMostCosts, "20")};
    route.response_example =
        R"({"since":"2026-01-02T03:00:00.000Z","total_busy":12.5,"items":[{)"
        R"("key":"snmp-interfaces::switch-1","device":"switch-1","runs":60,"busy":7.5,)"
        R"("mean":0.125,"share":0.6,"failures":0,"requests":60,"bytes":812000}]})";
    return route;
}

}  // namespace

void add_insight_routes(std::vector<Route>& routes, const ServerLink& link) {
    const auto frames = std::make_shared<FrameKeeper>();
    Route last = runs_route();
    last.handler = [link, frames](Call call) { runs(link, *frames, std::move(call)); };
    routes.push_back(std::move(last));
    Route past = history_route();
    past.handler = [link](Call call) { history(link, std::move(call)); };
    routes.push_back(std::move(past));
    Route dear = costs_route();
    dear.handler = [link, frames](Call call) { costs(link, *frames, std::move(call)); };
    routes.push_back(std::move(dear));
}

}  // namespace pollux::api
