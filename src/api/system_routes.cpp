// About the server itself: alive, ready, version and statistics.
#include "api/routes.hpp"
#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::RateClass;
using document::JsonWriter;

void live(Call call) { call.json(200, R"({"status":"alive"})"); }

// Ready: the core answers, and the store takes what it is given.
void ready(const ServerLink& link, Call call) {
    link.ask([](const auto& core) { return core.engine.pump().failing(); },
             [call = std::move(call)](bool failing) mutable {
                 call.json(failing ? 503 : 200,
                           failing ? R"({"status":"store_failing"})" : R"({"status":"ready"})");
             });
}

void version(const ServerLink& link, Call call) {
    std::string body;
    JsonWriter json(body);
    json.object().field("version", link.version);
    json.field("started_at", link.server.started_at()).end_object();
    call.json(200, std::move(body));
}

// In one word, and which threads are why. What the scheduler polls is not meant: that is
// /api/monitoring/scheduler/health.
std::string health_page(const std::vector<runtime::WorkerRow>& workers, const ServerLink& link) {
    std::vector<const runtime::WorkerRow*> ill;
    bool polls = true;
    for (const runtime::WorkerRow& row : workers) {
        // Only those that are asked, and did not answer or cannot write.
        if (row.status == "ok" || row.status == "running" || row.kind == "api") continue;
        ill.push_back(&row);
        if (row.kind == "core") polls = false;
    }
    const base::WallTime now = net::wall_now();
    std::string body;
    JsonWriter json(body);
    json.object().field("status", !polls ? "failing" : ill.empty() ? "ok" : "degraded");
    json.field("time", now).field("started_at", link.server.started_at());
    json.field("uptime", base::to_seconds(now - link.server.started_at()));
    json.field("version", link.version).key("problems").array();
    for (const runtime::WorkerRow* row : ill) {
        json.object().field("worker", row->name).field("status", row->status);
        json.time_field("last_seen", row->last_seen).end_object();
    }
    json.end_array().end_object();
    return body;
}

void health(const ServerLink& link, Call call) {
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held] { held->json(200, health_page(link.server.workers(), link)); });
}

struct Stats {
    base::WallTime now;
    schedule::CoreStats core;
    schedule::QueueSnapshot queue;
    std::size_t tasks = 0;
    std::size_t ready = 0;
    std::size_t in_flight = 0;
    double lag_p50 = 0;
    double lag_p95 = 0;
    double lag_p99 = 0;
    bool store_failing = false;
};

Stats stats_of(const runtime::CoreLoop::View& view) {
    const auto& core = view.engine.core();
    return {view.now.wall,
            core.stats(),
            core.queue_snapshot(view.now.boot),
            core.size(),
            core.ready(),
            core.in_flight(),
            view.stats.lag().quantile(0.5),
            view.stats.lag().quantile(0.95),
            view.stats.lag().quantile(0.99),
            view.engine.pump().failing()};
}

std::string stats_page(const Stats& stats, const store::StoreStats& store) {
    std::string body;
    JsonWriter json(body);
    json.object().field("time", stats.now).field("tasks", stats.tasks);
    json.field("ready", stats.ready).field("in_flight", stats.in_flight);
    json.key("runs").object().field("started", stats.core.started);
    json.field("finished", stats.core.finished).field("expired", stats.core.expired);
    json.field("cancelled", stats.core.cancelled).end_object();
    json.key("lag").object().field("p50", stats.lag_p50).field("p95", stats.lag_p95);
    json.field("p99", stats.lag_p99).end_object();
    json.key("classes").array();
    for (const auto& one : stats.queue.per_class) {
        json.object().field("class", one.class_name).field("tasks", one.tasks);
        json.field("ready", one.ready).end_object();
    }
    json.end_array();
    json.key("store").object().field("failing", stats.store_failing);
    json.field("commits", store.commits).field("failures", store.failures);
    json.field("queue", store.queue_depth).field("bytes", store.bytes_on_disk);
    json.text_field("last_error", store.last_error).end_object().end_object();
    return body;
}

}  // namespace

Route system_route(std::string_view path, std::string_view operation, std::string_view summary) {
    Route route;
    route.method = "GET";
    route.path = path;
    route.area = Area::kSystem;
    route.operation = operation;
    route.tag = "system";
    route.summary = summary;
    return route;
}

void add_system_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route alive = system_route("/api/live", "getLive", "Whether the process answers.");
    alive.open = true;
    alive.rate = RateClass::kPublic;
    alive.response_example = R"({"status":"alive"})";
    alive.handler = [](Call call) { live(std::move(call)); };
    routes.push_back(std::move(alive));

    Route able = system_route("/api/ready", "getReady",
                              "Whether it polls and its store takes what it is given.");
    able.open = true;
    able.rate = RateClass::kPublic;
    able.response_example = R"({"status":"ready"})";
    able.handler = [link](Call call) { ready(link, std::move(call)); };
    routes.push_back(std::move(able));

    Route well = system_route("/api/health", "getHealth",
                              "How the server itself is: `ok`, `degraded` or `failing`, and why.");
    well.description =
        "`failing`: the scheduler does not answer. `degraded`: a thread does not answer, or what "
        "happens cannot be written. `uptime` is in seconds. How polling goes is in "
        "/api/monitoring/scheduler/health.";
    well.response_example =
        R"({"status":"degraded","time":"2026-01-02T03:04:05.000Z",)"
        R"("started_at":"2026-01-01T03:04:05.000Z","uptime":86400.5,"version":"0.1.0",)"
        R"("problems":[{"worker":"pollux-store","status":"failing",)"
        R"("last_seen?":"2026-01-02T03:04:04.000Z"}]})";
    well.handler = [link](Call call) { health(link, std::move(call)); };
    routes.push_back(std::move(well));

    Route which = system_route("/api/version", "getVersion", "The version of the program.");
    which.response_example = R"({"version":"0.1.0","started_at":"2026-01-02T03:04:05.000Z"})";
    which.handler = [link](Call call) { version(link, std::move(call)); };
    routes.push_back(std::move(which));

    Route numbers =
        system_route("/api/stats", "getStats", "Counts of the scheduler and the store.");
    numbers.response_example =
        R"({"time":"2026-01-02T03:04:05.000Z","tasks":1,"ready":0,"in_flight":0,)"
        R"("runs":{"started":1,"finished":1,"expired":0,"cancelled":0},"lag":{"p50":0.001,)"
        R"("p95":0.002,"p99":0.004},"classes":[{"class":"snmp-system",)"
        R"("tasks":1,"ready":0}],"store":{"failing":false,"commits":1,"failures":0,"queue":0,)"
        R"("bytes":4096,"last_error?":"disk full"}})";
    numbers.handler = [link](Call call) {
        link.ask([](const auto& core) { return stats_of(core); },
                 [link, call = std::move(call)](const Stats& stats) mutable {
                     call.json(200, stats_page(stats, link.server.store().stats()));
                 });
    };
    routes.push_back(std::move(numbers));
}

}  // namespace pollux::api
