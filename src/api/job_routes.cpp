// One-shot work: submit, look, steer; and what the scheduler holds ready.
#include <fmt/format.h>

#include <algorithm>

#include "api/fleet_edits.hpp"
#include "api/job_pages.hpp"
#include "api/job_scope.hpp"
#include "api/paging.hpp"
#include "api/routes.hpp"
#include "config/job_reader.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;
using document::JsonWriter;
using runtime::JobDesk;

constexpr std::size_t kMostBatchBytes = 16U << 20U;
constexpr document::ParseLimits kBatchLimits{
    .max_bytes = kMostBatchBytes, .max_depth = 64, .max_nodes = 2'000'000};

// The desk belongs to the server's thread; so does `work`, which answers the call.
template <class Work>
void at_desk(const ServerLink& link, Call call, Work work) {
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, work = std::move(work)]() mutable {
        JobDesk* desk = link.server.jobs();
        if (desk == nullptr) {
            held->problem(Problem{503, "job.offline", "the server does not run jobs"});
            return;
        }
        work(*desk, held);
    });
}

// As above for one job, if it may be seen; otherwise there is none.
template <class Work>
void at_job(const ServerLink& link, Call call, Work work) {
    const auto gate = job_gate(call.principal, Permission::kRead, link.view());
    at_desk(
        link, std::move(call),
        [gate, work = std::move(work)](JobDesk& desk, const std::shared_ptr<Call>& held) mutable {
            const std::string id(held->parameter("id"));
            const model::JobSpec* job = desk.spec_of(id);
            if (job == nullptr || (gate && !gate(*job))) {
                held->problem(Problem{404, "job.unknown", "there is no job " + base::quoted(id)});
                return;
            }
            work(desk, *job, held);
        });
}

Problem problem_of_job(const base::Error& error) {
    Problem problem = problem_of_edit(error);
    if (error.code == "job.unknown") problem.status = 404;
    if (error.code == "job.transition") problem.status = 409;
    return problem;
}

void list(const ServerLink& link, Call call) {
    const auto page = Page::read(call);
    if (!page) {
        call.problem(page.error());
        return;
    }
    runtime::JobFilter filter;
    filter.gate = job_gate(call.principal, Permission::kRead, link.view());
    filter.limit = page->limit;
    filter.before = page->after;
    filter.type = call.query.text_or("type", "");
    filter.batch = call.query.text_or("batch", "");
    auto labels = wanted_labels(call);
    if (!labels) return call.problem(labels.error());
    filter.labels = std::move(*labels);
    if (const auto state = call.query.text("state")) {
        for (std::size_t i = 0; i < model::kJobPhaseCount; ++i) {
            if (model::kJobPhaseNames[i] == *state) filter.phase = static_cast<model::JobPhase>(i);
        }
    }
    at_desk(link, std::move(call),
            [filter, page = *page](JobDesk& desk, const std::shared_ptr<Call>& held) {
                desk.list(filter, [held, page](base::Result<runtime::JobPage> found) {
                    if (!found) {
                        held->problem(problem_of_job(found.error()));
                        return;
                    }
                    std::string body;
                    JsonWriter json(body);
                    json.object().field("stored", found->stored).key("items").array();
                    for (const runtime::JobView& job : found->jobs) write_job(json, job);
                    json.end_array();
                    page.write_next(json, !found->next.empty(), found->next);
                    json.end_object();
                    held->json(200, std::move(body));
                });
            });
}

void answer_with(JobDesk& desk, const std::string& id, const std::shared_ptr<Call>& held) {
    desk.get(id, [held](base::Result<runtime::JobView> job) {
        if (!job) {
            held->problem(problem_of_job(job.error()));
            return;
        }
        std::string body;
        JsonWriter json(body);
        write_job(json, *job);
        held->json(200, std::move(body));
    });
}

// A manifest of one's own asks what it likes, with the credentials of a device.
bool may_submit(const access::Principal& principal, const config::JobBatch& batch) {
    return access::may_everywhere(principal, Permission::kManage, Area::kFleet) ||
           std::ranges::none_of(batch.jobs, [](const model::JobSpec& job) {
               return job.type == runtime::kTrialJob;
           });
}

void submit(const ServerLink& link, Call call) {
    const bool only_check = call.query.flag("dry_run").value_or(false);
    auto entry = audit_entry(call, "job.submit", "", "");
    document::Diagnostics unreadable;
    auto parsed = document::parse_json(call.request.body, "body", unreadable, kBatchLimits);
    if (!parsed.ok) {
        call.problem(problem_of(unreadable, false));
        return;
    }
    at_desk(link, std::move(call),
            [link, entry, only_check, root = std::move(parsed.root)](
                JobDesk& desk, const std::shared_ptr<Call>& held) mutable {
                document::Diagnostics diagnostics;
                config::JobBatch batch =
                    config::read_jobs(root, desk.types().definitions(), diagnostics);
                if (diagnostics.ok()) desk.check(batch, diagnostics);
                if (!diagnostics.ok() || batch.jobs.empty()) {
                    held->problem(problem_of(diagnostics));
                    return;
                }
                if (!may_submit(held->principal, batch)) {
                    entry.object = std::string(runtime::kTrialJob);
                    return refuse(link, std::move(*held), entry);
                }
                if (only_check) {
                    held->json(200, fmt::format(R"({{"ok":true,"jobs":{}}})", batch.jobs.size()));
                    return;
                }
                entry.object = batch.name.empty() ? batch.jobs.front().name : batch.name;
                entry.after = fmt::format("{} jobs", batch.jobs.size());
                const std::string by = entry.principal;
                desk.submit(std::move(batch), by, entry,
                            [held](base::Result<runtime::JobSubmitted> done) {
                                if (!done) {
                                    held->problem(problem_of_job(done.error()));
                                    return;
                                }
                                std::string body;
                                JsonWriter json(body);
                                json.object().field("batch", done->batch).key("ids").array();
                                for (const std::string& id : done->ids) json.value(id);
                                json.end_array().end_object();
                                held->json(201, std::move(body));
                            });
            });
}

enum class Step : std::uint8_t { kCancel, kRetry, kHold, kRelease };

// What a step would change: the job, and with `cascade` all that needs it.
bool may_steer(const runtime::JobGate& gate, const JobDesk& desk, const model::JobSpec& job,
               bool cascade) {
    if (!gate) return true;
    if (!gate(job)) return false;
    const auto others = cascade ? desk.impact(job.id) : std::vector<std::string>{};
    return std::ranges::all_of(*others, [&](const std::string& id) {
        const model::JobSpec* other = desk.spec_of(id);
        return other == nullptr || gate(*other);
    });
}

void cancel(JobDesk& desk, const std::string& id, bool cascade, const model::AuditEntry& entry,
            const std::shared_ptr<Call>& held) {
    desk.cancel(
        id, cascade,
        [held](base::Result<std::vector<std::string>> cancelled) {
            if (!cancelled) {
                held->problem(problem_of_job(cancelled.error()));
                return;
            }
            std::string body;
            JsonWriter json(body);
            json.object().key("cancelled").array();
            for (const std::string& one : *cancelled) json.value(one);
            json.end_array().end_object();
            held->json(200, std::move(body));
        },
        entry);
}

void steer(const ServerLink& link, Step step, std::string action, Call call) {
    const auto reason = read_reason(call);
    if (!reason) {
        call.problem(reason.error());
        return;
    }
    const bool cascade = call.query.flag("cascade").value_or(false);
    auto entry =
        audit_entry(call, std::move(action), "job " + std::string(call.parameter("id")), *reason);
    const auto gate = job_gate(call.principal, Permission::kOperate, link.view());
    at_job(link, std::move(call),
           [link, step, cascade, entry, gate](JobDesk& desk, const model::JobSpec& job,
                                              const std::shared_ptr<Call>& held) {
               if (!may_steer(gate, desk, job, cascade)) {
                   refuse(link, std::move(*held), entry);
                   return;
               }
               const std::string id = job.id;
               const auto done = [&desk, held, id](base::Status status) {
                   if (status) {
                       answer_with(desk, id, held);
                   } else {
                       held->problem(problem_of_job(status.error()));
                   }
               };
               switch (step) {
                   case Step::kRetry: desk.retry(id, done, entry); return;
                   case Step::kHold: desk.hold(id, done, entry); return;
                   case Step::kRelease: desk.release(id, done, entry); return;
                   case Step::kCancel: cancel(desk, id, cascade, entry, held); return;
               }
           });
}

void runs(const ServerLink& link, Call call) {
    at_job(link, std::move(call),
           [link](JobDesk& desk, const model::JobSpec& job, const std::shared_ptr<Call>& held) {
               const std::string key = desk.key_of(job.id);
               auto log = desk.live_log(job.id);
               link.block(std::move(*held),
                          [&store = link.server.store(), key, log = std::move(log)](Call answer) {
                              const auto found = store.job_runs(key);
                              if (found) {
                                  answer.json(200, runs_page(*found, log));
                              } else {
                                  answer.problem(found.error());
                              }
                          });
           });
}

void impact(const ServerLink& link, Call call) {
    const auto gate = job_gate(call.principal, Permission::kRead, link.view());
    at_job(link, std::move(call),
           [gate](JobDesk& desk, const model::JobSpec& job, const std::shared_ptr<Call>& held) {
               const auto found = desk.impact(job.id);
               if (!found) {
                   held->problem(problem_of_job(found.error()));
                   return;
               }
               std::string body;
               JsonWriter json(body);
               json.object().field("id", job.id).key("impact").array();
               for (const std::string& one : *found) {
                   const model::JobSpec* other = desk.spec_of(one);
                   if (other != nullptr && (!gate || gate(*other))) json.value(one);
               }
               json.end_array().end_object();
               held->json(200, std::move(body));
           });
}

void graph(const ServerLink& link, Call call) {
    const std::string batch(call.parameter("batch"));
    auto gate = job_gate(call.principal, Permission::kRead, link.view());
    at_desk(link, std::move(call), [batch, gate](JobDesk& desk, const std::shared_ptr<Call>& held) {
        desk.graph(batch, gate, [held](base::Result<runtime::JobGraphView> found) {
            if (found) {
                held->json(200, graph_page(*found));
            } else {
                held->problem(problem_of_job(found.error()));
            }
        });
    });
}

// --- the table ----------------------------------------------------------------------------------

constexpr std::string_view kJob = R"("$Job")";

Route job_route(std::string_view method, std::string_view path, std::string_view operation,
                std::string_view summary) {
    Route route;
    route.method = method;
    route.path = path;
    route.area = Area::kJobs;
    route.operation = operation;
    route.tag = "jobs";
    route.summary = summary;
    route.response_example = kJob;
    if (method != "GET") {
        // A new job runs commands and requests anywhere: labels of targets do not bound it.
        route.permission = Permission::kOperate;
        route.everywhere = true;
        route.rate = RateClass::kConfigWrite;
        route.request_schema = kReasonBody;
        route.body_optional = true;
    }
    return route;
}

void add_reads(std::vector<Route>& routes, const ServerLink& link) {
    Route all = job_route("GET", "/api/jobs", "listJobs", "Jobs, the newest first.");
    all.query = {limit_parameter(),
                 cursor_parameter(),
                 {.name = "state",
                  .type = ParameterType::kWord,
                  .description = "only in this state",
                  .words = {model::kJobPhaseNames.begin(), model::kJobPhaseNames.end()}},
                 {.name = "type", .description = "only of this type", .longest = 64},
                 {.name = "batch", .description = "only of this batch", .longest = 64},
                 label_parameter("only with this label, name=value; all of those given")};
    all.response_example = R"({"stored":1,"items":["$Job"],"next?":"MDE5MGE1ZTA"})";
    all.handler = [link](Call call) { list(link, std::move(call)); };
    routes.push_back(std::move(all));

    Route one = job_route("GET", "/api/jobs/{id}", "getJob",
                          "One job: state, place in line, why it waits, progress.");
    one.handler = [link](Call call) {
        at_job(link, std::move(call),
               [](JobDesk& desk, const model::JobSpec& job, const std::shared_ptr<Call>& held) {
                   answer_with(desk, job.id, held);
               });
    };
    routes.push_back(std::move(one));

    const auto read = [&](std::string_view path, std::string_view operation,
                          std::string_view summary, std::string_view example, auto handler) {
        Route route = job_route("GET", path, operation, summary);
        route.response_example = example;
        route.handler = [link, handler](Call call) { handler(link, std::move(call)); };
        routes.push_back(std::move(route));
    };
    read("/api/jobs/{id}/runs", "listJobRuns", "Attempts of a job with output and log.",
         R"({"items":["$JobRun"],"live_log":["asked 192.0.2.1"]})", &runs);
    read(
        "/api/jobs/{id}/impact", "getJobImpact", "What would not start if the job failed.",
        R"({"id":"0190a5e0-0000-7000-8000-000000000000","impact":["0190a5e0-0000-7000-8000-000000000002"]})",
        &impact);
    read("/api/job-batches/{batch}/graph", "getJobGraph",
         "A batch as a graph: levels, parents, critical path.",
         R"({"batch":"0190a5e0-0000-7000-8000-000000000001","jobs":[{"level":0,)"
         R"("parents":["0190a5e0-0000-7000-8000-000000000002"],"job":"$Job"}],)"
         R"("critical_path":{"seconds":80.0,"jobs":["0190a5e0-0000-7000-8000-000000000000"]}})",
         &graph);
    read(
        "/api/job-types", "listJobTypes", "Types of jobs: share, limits, defaults, arguments.",
        R"({"items":[{"name":"http","help":"one request","weight":1,"slots":32,"rate":50.0,)"
        R"("priority":"normal","timeout":30.0,"longest_timeout":3600.0,"attempts":1,)"
        R"("arguments":[{"name":"method","kind":"text","required":false,"help":"GET unless given",)"
        R"("words?":["GET","POST"]}]}]})",
        +[](const ServerLink& to, Call call) {
            at_desk(to, std::move(call), [](JobDesk& desk, const std::shared_ptr<Call>& held) {
                held->json(200, job_types_page(desk.types().definitions()));
            });
        });
}

void add_steps(std::vector<Route>& routes, const ServerLink& link) {
    Route make = job_route("POST", "/api/jobs", "submitJobs", "Submit a job or a graph of jobs.");
    make.audit_action = "job.submit";
    make.description =
        "All of it is taken, or nothing with the reasons: "
        "circles, missing parents and demands "
        "that "
        "cannot be met are named. docs/jobs.md has the fields.";
    make.query = {{.name = "dry_run",
                   .type = ParameterType::kBoolean,
                   .description = "check only",
                   .standard = "false"}};
    make.request_schema = kAnyFields;
    make.request_example = R"({"name":"nightly","jobs":[{"name":"copy","type":"maintenance"}]})";
    make.response_example = R"({"batch":"0190a5e0-0000-7000-8000-000000000001",)"
                            R"("ids":["0190a5e0-0000-7000-8000-000000000000"]})";
    make.body_optional = false;
    make.body_limit = kMostBatchBytes;
    make.status = 201;
    make.handler = [link](Call call) { submit(link, std::move(call)); };
    routes.push_back(std::move(make));
    struct Row {
        std::string_view path;
        std::string_view operation;
        std::string_view summary;
        Step step;
        std::string_view action;
    };
    const Row rows[] = {
        {"/api/jobs/{id}/cancel", "cancelJob", "Cancel a job; with `cascade` all that needs it.",
         Step::kCancel, "job.cancel"},
        {"/api/jobs/{id}/retry", "retryJob", "Try a failed or cancelled job again.", Step::kRetry,
         "job.retry"},
        {"/api/jobs/{id}/hold", "holdJob", "Keep a job from starting.", Step::kHold, "job.hold"},
        {"/api/jobs/{id}/release", "releaseJob", "Let a held job start.", Step::kRelease,
         "job.release"}};
    for (const Row& row : rows) {
        Route route = job_route("POST", row.path, row.operation, row.summary);
        route.audit_action = row.action;
        route.audit_object = "job {id}";
        route.everywhere = false;  // labels of a job say who may steer it
        if (row.step == Step::kCancel) {
            route.query = {{.name = "cascade",
                            .type = ParameterType::kBoolean,
                            .description = "also what needs it",
                            .standard = "false"}};
            route.response_example = R"({"cancelled":["0190a5e0-0000-7000-8000-000000000000"]})";
        }
        route.handler = [link, step = row.step, action = std::string(row.action)](Call call) {
            steer(link, step, action, std::move(call));
        };
        routes.push_back(std::move(route));
    }
}

void look_for_work(const ServerLink& link, Call call) {
    auto entry = audit_entry(call, call.route->audit_action, "scheduler", "");
    auto held = std::make_shared<Call>(std::move(call));
    record(link, std::move(entry), [link, held](const base::Status& recorded) {
        if (!recorded) return held->problem(recorded.error());
        link.server.core()->poke({}, schedule::PokeReason::kOperator);
        link.ask([](const auto& core) { return ready_page(core, 100); },
                 [held](std::string page) { held->json(200, std::move(page)); });
    });
}

void add_views(std::vector<Route>& routes, const ServerLink& link) {
    Route resources = job_route("GET", "/api/resources", "listResources",
                                "Named resources: capacity, use, waiting demand, holders.");
    resources.response_example =
        R"({"time":"2026-01-02T03:04:05.000Z","items":[{"name":"cpu","capacity":8,"used":2,)"
        R"("wanted":4,"waiting":2,"holder_count":1,"holders":[{)"
        R"("key":"job-exec::0190a5e0-0000-7000-8000-000000000000","amount":2,)"
        R"("since?":"2026-01-02T03:04:00.000Z"}]}]})";
    resources.handler = [link](Call call) {
        const TaskGate gate = [principal = call.principal, view = link.view()](
                                  std::string_view key, const runtime::PollPlan* plan) {
            return may_see_task(principal, *view, key, plan);
        };
        link.ask([gate](const auto& core) { return resources_page(core, gate); },
                 [call = std::move(call)](std::string page) mutable {
                     call.json(200, std::move(page));
                 });
    };
    routes.push_back(std::move(resources));

    Route ready = job_route("GET", "/api/scheduler/ready", "getReadySet",
                            "What is due and waits, and the last 100 batches that were started.");
    ready.tag = "scheduler";
    ready.area = Area::kMonitoring;
    ready.query = {{.name = "limit",
                    .type = ParameterType::kInteger,
                    .description = "how many",
                    .least = 1,
                    .most = 1000,
                    .standard = "100"}};
    ready.response_example = R"("$ReadySet")";
    ready.everywhere = true;
    ready.handler = [link](Call call) {
        const auto limit = static_cast<std::size_t>(call.query.integer("limit").value_or(100));
        link.ask([limit](const auto& core) { return ready_page(core, limit); },
                 [call = std::move(call)](std::string page) mutable {
                     call.json(200, std::move(page));
                 });
    };
    routes.push_back(std::move(ready));

    Route trigger =
        job_route("POST", "/api/scheduler/trigger", "triggerScheduler", "Look for ready work now.");
    trigger.description =
        "The scheduler looks by itself whenever something "
        "happens; this is for who wants to see "
        "that. Answers with the ready set afterwards.";
    trigger.request_schema = {};
    trigger.body_optional = false;
    trigger.tag = "scheduler";
    trigger.area = Area::kMonitoring;
    trigger.audit_action = "scheduler.trigger";
    trigger.audit_object = "scheduler";
    trigger.response_example = R"("$ReadySet")";
    trigger.handler = [link](Call call) { look_for_work(link, std::move(call)); };
    routes.push_back(std::move(trigger));
}

}  // namespace

void add_job_routes(std::vector<Route>& routes, const ServerLink& link) {
    add_reads(routes, link);
    add_steps(routes, link);
    add_views(routes, link);
}

}  // namespace pollux::api
