// Who works in the server, and what went through the queues of the scheduler.
#include "api/routes.hpp"
#include "document/json_writer.hpp"
#include "runtime/process_stats.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using runtime::WorkerRow;

std::string workers_page(const std::vector<WorkerRow>& workers, base::WallTime now) {
    const runtime::ProcessStats process = runtime::process_stats();
    std::string page;
    JsonWriter json(page);
    json.object().field("time", now).key("process").object();
    json.field("cpu_seconds", process.cpu_seconds);
    json.field("resident_bytes", process.resident_bytes);
    json.field("peak_resident_bytes", process.peak_resident_bytes);
    if (const std::size_t heap = runtime::heap_bytes(); heap > 0) json.field("heap_bytes", heap);
    json.field("open_fds", process.open_fds).end_object().key("items").array();
    for (const WorkerRow& row : workers) {
        json.object().field("name", row.name).field("kind", row.kind);
        // It is the API's own thread that asked.
        const bool asks = row.kind == "api";
        json.field("status", asks ? "ok" : std::string_view(row.status));
        json.time_field("last_seen", asks ? now : row.last_seen);
        json.field("threads", row.threads).field("cpu_seconds", row.cpu_seconds);
        json.field("cpu_share", row.cpu_share);
        if (row.work) {
            json.field("active", row.work->active).field("completed", row.work->completed);
            json.field("failed", row.work->failed);
            if (row.work->memory_bytes > 0) json.field("memory_bytes", row.work->memory_bytes);
        }
        json.end_object();
    }
    json.end_array().end_object();
    return page;
}

// What ended, of a whole day (QueueSummary) or of five minutes of it (QueuePoint).
template <class Counts>
void write_ended(JsonWriter& json, const Counts& counts) {
    json.field("started", counts.started).field("finished", counts.finished());
    json.field("failed", counts.failed);
    if (counts.finished() == 0) return;
    json.field("success_ratio",
               static_cast<double>(counts.ok) / static_cast<double>(counts.finished()));
    json.field("mean", counts.mean).field("p95", counts.p95);
}

void write_day(JsonWriter& json, const runtime::QueueSummary& day) {
    json.field("start_rate", day.start_rate).field("finish_rate", day.finish_rate);
    json.key("day").object();
    write_ended(json, day);
    json.end_object();
}

struct ClassLine {
    std::size_t tasks = 0;
    std::size_t waiting = 0;
    std::size_t in_flight = 0;
};

// Due, and waits for its turn or for room.
bool is_in_line(schedule::Place place) {
    using enum schedule::Place;
    return place == kReady || place == kDeviceRate || place == kDeviceQueue ||
           place == kRegionQueue || place == kResourceQueue;
}

// Of each class of the settings: what is there, whatever it does just now.
std::vector<ClassLine> class_lines(const schedule::SchedulerCore& core) {
    std::vector<ClassLine> lines(core.settings().classes.size());
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        if (!core.occupied(index)) continue;
        const schedule::TaskSlot& slot = core.slot(core.handle_at(index));
        if (slot.place == schedule::Place::kEnded) continue;
        ClassLine& line = lines[slot.class_index];
        ++line.tasks;
        if (is_in_line(slot.place)) ++line.waiting;
        if (slot.place == schedule::Place::kRunning) ++line.in_flight;
    }
    return lines;
}

// Taken on the core's thread.
std::string queues_page(const runtime::CoreLoop::View& view) {
    const schedule::SchedulerCore& core = view.engine.core();
    const std::vector<ClassLine> lines = class_lines(core);
    std::string page;
    JsonWriter json(page);
    json.object().field("time", view.now.wall).key("items").array();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].tasks == 0) continue;
        const std::string& name = core.settings().classes[i].name;
        json.object().field("class", name).field("tasks", lines[i].tasks);
        json.field("length", lines[i].waiting).field("in_flight", lines[i].in_flight);
        write_day(json, view.queues.summary(name, view.now.wall));
        json.end_object();
    }
    json.end_array().end_object();
    return page;
}

// Taken on the core's thread.
std::string regions_page(const runtime::CoreLoop::View& view) {
    std::string page;
    JsonWriter json(page);
    const schedule::Admission& admission = view.engine.core().admission();
    json.object().field("time", view.now.wall).key("items").array();
    for (std::size_t i = 0; i < admission.region_count(); ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        const schedule::Pool& pool = admission.region_pool(index);
        const std::string& name = admission.region_name(index);
        json.object().field("region", name).field("in_flight", pool.used);
        if (pool.capacity >= 0) json.field("slots", pool.capacity);
        write_day(json, view.regions.summary(name, view.now.wall));
        json.end_object();
    }
    json.end_array().end_object();
    return page;
}

template <class Point, class Write>
std::string points_page(base::Duration step, const std::vector<Point>& points, Write&& write) {
    std::string page;
    JsonWriter json(page);
    json.object().field("step", base::to_seconds(step)).key("points").array();
    for (const Point& point : points) {
        json.object().field("at", point.at);
        write(json, point);
        json.end_object();
    }
    json.end_array().end_object();
    return page;
}

std::string queue_points_page(const std::vector<runtime::QueuePoint>& points) {
    return points_page(runtime::QueueHistory::kBucket, points,
                       [](JsonWriter& json, const auto& point) { write_ended(json, point); });
}

std::string worker_points_page(const std::vector<runtime::WorkerPoint>& points) {
    return points_page(runtime::WorkerBoard::kBucket, points,
                       [](JsonWriter& json, const auto& one) {
                           json.field("cpu_share", one.cpu_share).field("completed", one.completed);
                           json.field("failed", one.failed);
                       });
}

// The route of the last 24 hours of one of something, which `parameter` names.
Route day_route(std::string_view path, std::string_view operation, std::string_view summary,
                Parameter parameter) {
    Route route = system_route(path, operation, summary);
    route.description =
        "Oldest first, in steps of five minutes, without the step under way and those in which "
        "nothing happened. One that nobody knows has no points.";
    route.query = {std::move(parameter)};
    return route;
}

constexpr std::string_view kQueuePoints =
    R"({"step":300.0,"points":[{"at":"2026-01-02T03:00:00.000Z","...":"$Ended"}]})";

// `history` finds what the route is about in the view of the core.
void add_queue_day(std::vector<Route>& routes, const ServerLink& link, Route route,
                   const runtime::QueueHistory& (*history)(const runtime::CoreLoop::View&)) {
    route.response_example = kQueuePoints;
    const std::string parameter(route.query.front().name);
    route.handler = [link, parameter, history](Call call) {
        const std::string name(call.query.text_or(parameter, ""));
        link.ask(
            [name, history](const auto& core) { return history(core).points(name, core.now.wall); },
            [call = std::move(call)](const auto& points) mutable {
                call.json(200, queue_points_page(points));
            });
    };
    routes.push_back(std::move(route));
}

void add_days(std::vector<Route>& routes, const ServerLink& link) {
    add_queue_day(
        routes, link,
        day_route("/api/queues/history", "getQueueHistory", "The last 24 hours of one class.",
                  {.name = "class",
                   .description = "the class",
                   .required = true,
                   .example = "snmp-system"}),
        [](const auto& core) -> const auto& { return core.queues; });
    add_queue_day(
        routes, link,
        day_route("/api/regions/history", "getRegionHistory", "The last 24 hours of one region.",
                  {.name = "region", .description = "the region; left out: the local one"}),
        [](const auto& core) -> const auto& { return core.regions; });
    Route worker = day_route(
        "/api/workers/history", "getWorkerHistory", "The last 24 hours of one worker.",
        {.name = "name", .description = "its name", .required = true, .example = "pollux-core"});
    worker.description =
        "Oldest first, in steps of five minutes, without the step under way. `cpu_share` is of one "
        "core for each thread of that name. In memory: a restart begins anew.";
    worker.response_example =
        R"({"step":300.0,"points":[{"at":"2026-01-02T03:00:00.000Z","cpu_share":0.12,)"
        R"("completed":3600,"failed":2}]})";
    worker.handler = [link](Call call) {
        auto held = std::make_shared<Call>(std::move(call));
        link.on_main([&server = link.server, held] {
            held->json(200,
                       worker_points_page(server.worker_points(held->query.text_or("name", ""))));
        });
    };
    routes.push_back(std::move(worker));
}

}  // namespace

void add_worker_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route workers = system_route("/api/workers", "listWorkers",
                                 "Threads of the server: whether they answer, what they did and "
                                 "what they take.");
    workers.description =
        "`cpu_share` is of one core, over the last seconds. `active`, `completed` and `failed` "
        "count requests of shards, runs of the core, messages, alerts, jobs, and batches of "
        "writers "
        "since the start. Who did not answer for 5 s is `silent`; `failing` is a writer whose disk "
        "refuses, `running` a thread that nobody asks. Threads share the memory of the "
        "process: `process` has what the kernel and the heap count, and `memory_bytes` is what the "
        "tables of a worker hold, about, where it knows.";
    workers.response_example =
        R"({"time":"2026-01-02T03:04:05.000Z","process":{"cpu_seconds":1.5,)"
        R"("resident_bytes":50000000,"peak_resident_bytes":60000000,"heap_bytes?":30000000,)"
        R"("open_fds":40},"items":[{"name":"pollux-core","kind":"core","status":"ok",)"
        R"("last_seen?":"2026-01-02T03:04:04.000Z","threads":1,"cpu_seconds":0.5,)"
        R"("cpu_share":0.02,"active?":4,"completed?":3600,"failed?":2,"memory_bytes?":480000}]})";
    workers.handler = [link](Call call) {
        auto held = std::make_shared<Call>(std::move(call));
        link.on_main([&server = link.server, held] {
            held->json(200, workers_page(server.workers(), net::wall_now()));
        });
    };
    routes.push_back(std::move(workers));

    Route queues = system_route("/api/queues", "listQueues",
                                "Classes of the scheduler: how many wait, how fast they go, and "
                                "how the last 24 hours went.");
    queues.description =
        "`tasks` are all of the class, `length` is how many are due and wait for their turn or for "
        "room, `in_flight` how many "
        "are under way. Rates are per second, of the last five to ten minutes. `day` holds the "
        "last 24 hours; "
        "durations are seconds, `p95` to within a step of a half.";
    queues.response_example =
        R"({"time":"2026-01-02T03:04:05.000Z","items":[{"class":"snmp-system","tasks":300,)"
        R"("length":2,"in_flight":4,"start_rate":5.2,"finish_rate":5.2,"day":"$Ended"}]})";
    queues.handler = [link](Call call) {
        link.ask([](const auto& core) { return queues_page(core); },
                 [call = std::move(call)](std::string page) mutable {
                     call.json(200, std::move(page));
                 });
    };
    routes.push_back(std::move(queues));

    Route regions = system_route("/api/regions", "listRegions",
                                 "Where targets are polled from: what is under way there, and how "
                                 "the last 24 hours went.");
    regions.description =
        "The local region, which this server polls itself, has the empty name. `slots` is how many "
        "runs its workers take at once; without it there is no limit, and 0 means that nobody "
        "serves the region: its targets wait. The rest is as for queues.";
    regions.response_example =
        R"({"time":"2026-01-02T03:04:05.000Z","items":[{"region":"","in_flight":4,"slots?":100,)"
        R"("start_rate":5.2,"finish_rate":5.2,"day":"$Ended"}]})";
    regions.handler = [link](Call call) {
        link.ask([](const auto& core) { return regions_page(core); },
                 [call = std::move(call)](std::string page) mutable {
                     call.json(200, std::move(page));
                 });
    };
    routes.push_back(std::move(regions));
    add_days(routes, link);
}

}  // namespace pollux::api
