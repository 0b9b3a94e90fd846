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
    json.field("open_fds", process.open_fds).end_object().key("items").array();
    for (const WorkerRow& row : workers) {
        json.object().field("name", row.name).field("kind", row.kind);
        // It is the API's own thread that asked.
        json.field("status", row.status)
            .time_field("last_seen", row.kind == "api" ? now : row.last_seen);
        json.field("threads", row.threads).field("cpu_seconds", row.cpu_seconds);
        json.field("cpu_share", row.cpu_share);
        if (row.work) {
            json.field("active", row.work->active).field("completed", row.work->completed);
            json.field("failed", row.work->failed);
        }
        json.end_object();
    }
    json.end_array().end_object();
    return page;
}

// Taken on the core's thread.
std::string queues_page(const runtime::CoreLoop::View& view) {
    std::string page;
    JsonWriter json(page);
    json.object().field("time", view.now.wall).key("items").array();
    for (const schedule::ClassDepth& one :
         view.engine.core().queue_snapshot(view.now.boot).per_class) {
        const runtime::QueueSummary day = view.queues.summary(one.class_name, view.now.wall);
        json.object().field("class", one.class_name).field("tasks", one.tasks);
        json.field("length", one.ready).field("start_rate", day.start_rate);
        json.field("finish_rate", day.finish_rate).key("day").object();
        json.field("started", day.started).field("finished", day.finished());
        json.field("failed", day.failed);
        if (day.finished() > 0) {
            json.field("success_ratio",
                       static_cast<double>(day.ok) / static_cast<double>(day.finished()));
            json.field("mean", day.mean).field("p95", day.p95);
        }
        json.end_object().end_object();
    }
    json.end_array().end_object();
    return page;
}

}  // namespace

void add_worker_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route workers = system_route("/api/workers", "listWorkers",
                                 "Threads of the server: whether they answer, what they did and "
                                 "what they take.");
    workers.description =
        "`cpu_share` is of one core, over the last seconds. `active`, `completed` and `failed` "
        "count requests of shards, runs of the core, messages, jobs, and batches of writers since "
        "the start. Who did not answer for 5 s is `silent`.";
    workers.response_example = R"({"time":"2026-01-02T03:04:05.000Z","process":{"cpu_seconds":1.5,)"
                               R"("resident_bytes":50000000,"open_fds":40},"items":[]})";
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
        "Rates are per second, of the last five to ten minutes. `day` holds the last 24 hours; "
        "durations are seconds, `p95` to within a step of a half.";
    queues.response_example = R"({"time":"2026-01-02T03:04:05.000Z","items":[]})";
    queues.handler = [link](Call call) {
        link.ask([](const auto& core) { return queues_page(core); },
                 [call = std::move(call)](std::string page) mutable {
                     call.json(200, std::move(page));
                 });
    };
    routes.push_back(std::move(queues));
}

}  // namespace pollux::api
