// What the scheduler is doing and why: explain, plan, poll now.
#include <limits>

#include "api/routes.hpp"
#include "api/task_pages.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;

constexpr std::int64_t kMostPlanned = 10'000;

void explain(const ServerLink& link, Call call) {
    const std::string key(call.parameter("key"));
    const auto view = link.view();
    if (!access::may_on(call.principal, Permission::kRead, Area::kMonitoring,
                        labels_of(*view, key))) {
        call.problem(not_found("task " + base::quoted(key)));
        return;
    }
    // What is heard and not asked has no gates; it says what it waits for.
    if (view->image->inbound->find(key)) {
        auto held = std::make_shared<Call>(std::move(call));
        link.on_main([&server = link.server, held, key] {
            const bool known = server.explain_inbound(
                key, [held](std::string text) { held->json(200, std::move(text)); });
            if (!known) held->problem(not_found("task " + base::quoted(key)));
        });
        return;
    }
    link.ask([key](const auto& core) { return explain_facts(core, key); },
             [call = std::move(call), key](std::optional<ExplainFacts> facts) mutable {
                 if (facts) {
                     call.json(200, explain_page(*facts));
                 } else {
                     call.problem(not_found("task " + base::quoted(key)));
                 }
             });
}

void plan(const ServerLink& link, Call call) {
    const auto limit = static_cast<std::size_t>(call.query.integer("limit").value_or(100));
    struct Facts {
        std::vector<runtime::TaskRow> rows;
        base::WallTime now;
        bool shadow = false;
    };
    // Who sees a part of the fleet gets as many of that part.
    const bool all = access::may_everywhere(call.principal, Permission::kRead, Area::kMonitoring);
    const std::size_t asked = all ? limit : std::numeric_limits<std::size_t>::max();
    link.ask(
        [asked](const auto& core) {
            return Facts{plan_rows(core, asked), core.now.wall,
                         core.engine.core().settings().mode == model::AdaptiveMode::kShadow};
        },
        [call = std::move(call), view = link.view(), limit](Facts facts) mutable {
            std::erase_if(facts.rows, [&](const runtime::TaskRow& row) {
                return !access::may_on(call.principal, Permission::kRead, Area::kMonitoring,
                                       labels_of(*view, row.key));
            });
            if (facts.rows.size() > limit) facts.rows.resize(limit);
            call.json(200, plan_page(facts.rows, facts.now, facts.shadow));
        });
}

}  // namespace

void add_scheduler_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route why;
    why.method = "GET";
    why.path = "/api/tasks/{key}/explain";
    why.area = Area::kMonitoring;
    why.operation = "explainTask";
    why.tag = "scheduler";
    why.summary = "Why is this not being polled? Gate by gate.";
    why.description =
        "Each gate says whether it is open, and what opens it. `interval` holds the terms of the "
        "last decision about the interval.";
    why.response_example =
        R"({"key":"snmp-system::switch-1","verdict":"due: in 12 s","place":"scheduled",)"
        R"("next_due?":"2026-01-02T03:04:17.000Z","wakes_at?":"2026-01-02T03:04:17.000Z",)"
        R"("attempts":1,"ready":false,"place_in_line?":1,"gates":[{"gate":"due","open":false,)"
        R"("until?":"2026-01-02T03:04:17.000Z","reason":"in 12 s"}],"interval":{)"
        R"("policy":"optimal","shadow":false,"changes_per_hour":1.5,"weight":1.0,)"
        R"("multiplier":0.02,"wished":31.5,"chosen":30.0,"in_force":30.0,"idle_drift":0.1,)"
        R"("limited_by":"budget","pool_budget":40.5,"pool_planned":38.5},"task":"$Task"})";
    why.handler = [link](Call call) { explain(link, std::move(call)); };
    routes.push_back(std::move(why));

    Route next;
    next.method = "GET";
    next.path = "/api/scheduler/plan";
    next.area = Area::kMonitoring;
    next.operation = "getPlan";
    next.tag = "scheduler";
    next.summary = "Tasks in the order of their next runs.";
    next.description =
        "Ordered by next run, tier and key. `priority` is that of the next attempt: the tier, "
        "higher for what a person asked for or what waits long. In shadow mode `would_be` is the "
        "interval that adaptive polling would use.";
    next.query = {{.name = "limit",
                   .type = ParameterType::kInteger,
                   .description = "how many",
                   .least = 1,
                   .most = kMostPlanned,
                   .standard = "100",
                   .example = "20"}};
    next.response_example =
        R"({"time":"2026-01-02T03:04:05.000Z","shadow":false,"items":[{"key":"snmp-system::)"
        R"(switch-1","class":"snmp-system","next_run?":"2026-01-02T03:04:17.000Z","due_in":12.5,)"
        R"("tier":"normal","priority":"normal","interval":30.0,"would_be?":42.5,)"
        R"("place":"scheduled"}]})";
    next.handler = [link](Call call) { plan(link, std::move(call)); };
    routes.push_back(std::move(next));
}

}  // namespace pollux::api
