// All targets at once: the table and the overview.
#include <algorithm>
#include <iterator>

#include "api/alert_acts.hpp"
#include "api/alert_queries.hpp"
#include "api/event_hub.hpp"
#include "api/fleet_changes.hpp"
#include "api/fleet_snapshot.hpp"
#include "api/job_scope.hpp"
#include "api/made_once.hpp"
#include "api/overview.hpp"
#include "api/routes.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;

constexpr base::Duration kDay = std::chrono::hours(24);
constexpr std::size_t kMostIncidentPages = 10;
constexpr std::size_t kMostAsked = 50;  // targets by name; a query has 64 parameters at most

struct Gathering {
    ServerLink link;
    FleetSnapshot fleet;
    runtime::AlertSight sight;
    AlsoAsked also;
    std::move_only_function<void(FleetSnapshot)> done;
    std::vector<runtime::PushRow> pushes;
};
using Held = std::shared_ptr<Gathering>;

void ask_core(const Held& held) {
    held->link.ask(
        [held](const auto& core) {
            take_polled(core, held->fleet);
            if (held->also) held->also(core, held->fleet);
            return held;
        },
        [](const Held& taken) {
            take_heard(taken->pushes, taken->fleet);
            taken->done(std::move(taken->fleet));
        });
}

void ask_alerts(const Held& held) {
    runtime::AlertDesk* desk = held->link.server.alerts();
    if (desk == nullptr) return ask_core(held);
    desk->tally(held->sight, [held](runtime::AlertTally tally) {
        held->link.loop->post([held, tally = std::move(tally)]() mutable {
            held->fleet.alerts = std::move(tally);
            ask_core(held);
        });
    });
}

void ask_heard(const Held& held) {
    held->link.on_main([held] {
        held->link.server.push_rows([held](std::vector<runtime::PushRow> rows) {
            held->link.loop->post([held, rows = std::move(rows)]() mutable {
                held->pushes = std::move(rows);
                ask_alerts(held);
            });
        });
    });
}

FleetSnapshot wanted_by(const Call& call, const ServerLink& link, FrameKeeper& frames,
                        const EventHub& hub) {
    FleetSnapshot wanted;
    wanted.frame = frames.frame_of(link.view());
    wanted.shown = wanted.frame->seen_by(call.principal);
    // Before anything is looked at: what happens meanwhile is told again, and nothing is missed.
    wanted.seq = hub.ring().newest();
    return wanted;
}

// --- the overview -------------------------------------------------------------------------------

// On the core's thread.
std::size_t running_jobs(const runtime::CoreLoop::View& core, const access::Principal& principal,
                         const runtime::FleetView& view) {
    const schedule::SchedulerCore& tasks = core.engine.core();
    std::size_t running = 0;
    for (std::uint32_t index = 0; index < tasks.capacity(); ++index) {
        if (!tasks.occupied(index)) continue;
        const model::TaskHandle task = tasks.handle_at(index);
        const schedule::TaskSlot& slot = tasks.slot(task);
        if (slot.recurring() || slot.place != schedule::Place::kRunning) continue;
        if (may_see_task(principal, view, tasks.key(task), core.plan(index))) ++running;
    }
    return running;
}

// All open incidents, read once for everybody who looks at an overview. The dashboard asks a second
// after it heard of a change: what was read within this second has the change.
using OpenIncidents = MadeOnce<std::vector<model::Incident>>;
constexpr base::Duration kIncidentsFreshFor = std::chrono::seconds(1);

// Blocks for some reads.
OpenIncidents::Result open_incidents(store::AlertReader& reader) {
    store::IncidentQuery query;
    query.open = true;
    query.limit = store::kMostAlertsPerQuery;
    auto all = std::make_shared<std::vector<model::Incident>>();
    for (std::size_t page = 0; page < kMostIncidentPages; ++page) {
        auto found = reader.incidents(query);
        if (!found) return std::unexpected(found.error());
        std::ranges::move(found->rows, std::back_inserter(*all));
        if (found->next == 0) break;
        query.before = found->next;
    }
    return all;
}

struct Overview {
    ServerLink link;
    std::shared_ptr<OpenIncidents> incidents;
    FleetSnapshot fleet;
    OverviewFacts facts;
    std::optional<Call> call;
};

void finish(const std::shared_ptr<Overview>& held) {
    const bool taken = held->incidents->ask([held](const OpenIncidents::Result& open) {
        Call call = std::move(*held->call);
        if (!open) return call.problem(open.error());
        held->link.block(std::move(call), [held, open = *open](Call answer) {
            held->facts.incidents = incidents_seen_by(answer.principal, *held->link.view(), *open);
            answer.json(200, overview_page(held->fleet, held->facts));
        });
    });
    if (!taken) held->call->problem(too_many_wait());
}

void overview(const ServerLink& link, const std::shared_ptr<OpenIncidents>& incidents,
              FleetSnapshot wanted, Call call) {
    const access::Principal principal = call.principal;
    const auto view = link.view();
    const auto held = std::make_shared<Overview>(link, incidents, FleetSnapshot(), OverviewFacts(),
                                                 std::move(call));
    held->facts.store_well = link.server.well();
    held->facts.review = view->settings.alerts_review;
    const bool all = access::may_everywhere(principal, Permission::kRead, Area::kMonitoring);
    AlsoAsked also = [held, principal, view, all](const auto& core, const FleetSnapshot& fleet) {
        held->facts.rates = all ? rates_of_all(core) : rates_of(core, fleet);
        held->facts.jobs_running = running_jobs(core, principal, *view);
    };
    take_snapshot(
        link, std::move(wanted), sight_of(principal), std::move(also),
        [held, principal, view](FleetSnapshot fleet) {
            held->fleet = std::move(fleet);
            held->link.on_main([held, gate = job_gate(principal, Permission::kRead, view)] {
                if (runtime::JobDesk* jobs = held->link.server.jobs()) {
                    held->facts.jobs_failed = jobs->failed_since(net::wall_now() - kDay, gate);
                }
                held->link.loop->post([held] { finish(held); });
            });
        });
}

constexpr std::string_view kOverviewExample =
    R"({"time":"2026-01-02T03:04:05.000Z","seq":30064771072,"counts":{"up":41,"degraded":0,)"
    R"("down":1,"stale":0,"unknown":0,"unreachable":0,"disabled":2},)"
    R"("freshness":{"median_age~":12.5,"p95_age~":28.5,"over_bound":1,"fresh_share~":0.98},)"
    R"("rates":{"polls_per_second":1.4,"success_ratio~":0.99},"attention":[{"kind":"incident",)"
    R"("title":"switch-1 does not answer","why":"device switch-1","severity":"critical",)"
    R"("since?":"2026-01-02T03:00:00.000Z","key":"0190a5e0-0000-7000-8000-000000000000",)"
    R"("count":1}],"incidents":{"open":1,"acknowledged":0},)"
    R"("alerts":{"open":1,"suppressed":0,"silenced":0},"jobs":{"running":0,"failed_24h":0}})";

// --- the table ----------------------------------------------------------------------------------

// The second row is of a target that is heard, not polled.
constexpr std::string_view kFleetExample =
    R"({"time":"2026-01-02T03:04:05.000Z","seq":30064771072,"version?":"7.1.13",)"
    R"("partial":false,"groups":["berlin"],"label_sets*":[{"site":"berlin"}],"count":2,"columns":{)"
    R"("key":["snmp-system::switch-1","webhook::door"],"device":["switch-1","door"],)"
    R"("addon":["snmp-system","webhook"],"address":["192.0.2.1",""],"groups":[[0],[]],)"
    R"("labels":[0,0],"region":["eu",""],"parents":[["core-1"],[]],"state":["up","unknown"],)"
    R"("since_ms":[1767323045000,null],"tier":["normal",null],"interval":[30.0,null],)"
    R"("suggested":[30.0,null],"next_due_ms":[1767323075000,null],)"
    R"("last_success_ms":[1767323045000,null],"bound":[60.0,null],"failures":[0,0],)"
    R"("breaker":["closed","closed"],"dead_letter":["",""],"problem":["",""],)"
    R"("severity":["","major"],"alerts":[0,1],"acknowledged":[false,false],)"
    R"("duration":[0.021,null],"lag":[0.003,null],)"
    R"("headline":[[{"name":"cpu","value":41.2,"unit":"%","max?":100}],[]]}})";

// Of the targets that are asked for, those that may be seen.
void keep_asked(FleetSnapshot& wanted, const std::vector<std::string_view>& keys) {
    const std::vector<FleetFrame::Row>& rows = wanted.frame->rows();
    std::vector<std::uint32_t> asked;
    for (const std::string_view key : keys) {
        const FleetFrame::Row* row = wanted.frame->find(key);
        if (row != nullptr) asked.push_back(static_cast<std::uint32_t>(row - rows.data()));
    }
    std::ranges::sort(asked);
    std::erase_if(wanted.shown,
                  [&](std::uint32_t row) { return !std::ranges::binary_search(asked, row); });
}

void answer_fleet(const ServerLink& link, FleetSnapshot wanted, FleetChanges& changes, Call call) {
    const std::vector<std::string_view> keys = call.query.texts("target");
    if (keys.size() > kMostAsked || (!keys.empty() && call.query.has("since"))) {
        return call.problem(bad_request(
            "api.query", "at most 50 targets are asked for by name, and without `since`"));
    }
    const runtime::AlertSight sight = sight_of(call.principal);
    if (!keys.empty()) {
        keep_asked(wanted, keys);
        return take_snapshot(link, std::move(wanted), sight, {},
                             [link, call = std::move(call)](FleetSnapshot fleet) mutable {
                                 call.json(200, fleet_page(fleet, {}, true));
                             });
    }
    const auto marks = changes.of(EventSight::signature(call.principal));
    take_snapshot(
        link, std::move(wanted), sight, {},
        [link, marks, call = std::move(call)](FleetSnapshot fleet) mutable {
            link.block(std::move(call), [marks, fleet = std::move(fleet)](Call answer) mutable {
                const FleetMarks::Told told =
                    marks->note(fleet, answer.query.text_or("since", {}),
                                answer.query.flag("values").value_or(false));
                if (told.changed) fleet = narrowed(std::move(fleet), *told.changed);
                answer.json(200, fleet_page(fleet, told.version, told.changed.has_value()));
            });
        });
}

}  // namespace

void take_snapshot(const ServerLink& link, FleetSnapshot wanted, runtime::AlertSight sight,
                   AlsoAsked also, std::move_only_function<void(FleetSnapshot)> done) {
    const bool pushes = wanted.frame->hears_pushes();
    const auto held =
        std::make_shared<Gathering>(link, std::move(wanted), std::move(sight), std::move(also),
                                    std::move(done), std::vector<runtime::PushRow>());
    if (pushes) {
        ask_heard(held);
    } else {
        ask_alerts(held);
    }
}

void add_fleet_snapshot_routes(std::vector<Route>& routes, const ServerLink& link, EventHub& hub) {
    Route all;
    all.method = "GET";
    all.path = "/api/fleet";
    all.area = Area::kMonitoring;
    all.operation = "getFleet";
    all.tag = "insight";
    all.summary = "All targets with their state in one compact answer, column by column.";
    all.description =
        "For a table that follows live events: take this, then subscribe and resume from `seq`. "
        "The n-th value of each column belongs to the n-th target, sorted by key. `groups` and "
        "`labels` of the columns are numbers in the lists beside them. `state` is one of up, "
        "degraded, down, stale (older than its bound, though no failure is known), unknown (never "
        "answered), unreachable (behind a parent that is down) and disabled. What is not known is "
        "null. Targets that are heard and not polled have no tier. Give `version` back as `since`, "
        "and the answer is `partial`: only targets that changed meanwhile, except for what "
        "`poll_result` tells (`next_due_ms`, `last_success_ms`, `duration`, `lag`) and `headline`. "
        "When targets came or went, or the version is too old, it holds all.";
    all.response_example = kFleetExample;
    all.query = {{.name = "since",
                  .description = "`version` of an answer: only targets that changed after it",
                  .example = "7.1.12"},
                 {.name = "values",
                  .type = ParameterType::kBoolean,
                  .description = "with `since`: also targets of which only `headline` changed",
                  .standard = "false",
                  .example = "true"},
                 {.name = "target",
                  .description = "only these, at most 50; not with `since`",
                  .repeated = true,
                  .example = "snmp-system::switch-1"}};
    const auto frames = std::make_shared<FrameKeeper>();
    const auto changes = std::make_shared<FleetChanges>(hub.ring().epoch());
    all.handler = [link, &hub, frames, changes](Call call) {
        FleetSnapshot wanted = wanted_by(call, link, *frames, hub);
        answer_fleet(link, std::move(wanted), *changes, std::move(call));
    };
    routes.push_back(std::move(all));

    Route page;
    page.method = "GET";
    page.path = "/api/overview";
    page.area = Area::kMonitoring;
    page.operation = "getOverview";
    page.tag = "insight";
    page.summary = "How it is going: states, freshness, rates, and what needs somebody.";
    page.description =
        "Counts only what the one who asks may see. `attention` has at most 20 entries, the worst "
        "first; `key` is a target or the id of an incident, and targets of one addon with the same "
        "trouble are one entry. Ages are seconds since the last good answer; null where there is "
        "none. The rate of polls is of the last minute, the success ratio of the last five.";
    page.response_example = kOverviewExample;
    const auto incidents = std::make_shared<OpenIncidents>(OpenIncidents::Rules{
        .make = made_on<std::vector<model::Incident>>(link.pool, link.loop,
                                                      [link] {
                                                          store::OverlaidAlerts reader =
                                                              alert_view(link);
                                                          return open_incidents(reader);
                                                      }),
        .fresh_for = kIncidentsFreshFor});
    page.handler = [link, &hub, frames, incidents](Call call) {
        FleetSnapshot wanted = wanted_by(call, link, *frames, hub);
        overview(link, incidents, std::move(wanted), std::move(call));
    };
    routes.push_back(std::move(page));
}

}  // namespace pollux::api
