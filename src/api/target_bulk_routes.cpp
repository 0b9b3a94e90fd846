// Many targets at once: a list of operations that is taken whole or not at all, and the sweep of a
// network whose result is such a list.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/fleet_edits.hpp"
#include "api/fleet_pages.hpp"
#include "api/job_pages.hpp"
#include "api/job_scope.hpp"
#include "api/routes.hpp"
#include "config/job_reader.hpp"
#include "config/target_batch.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using config::TargetOperation;
using config::TargetVerb;
using document::JsonWriter;
using document::Node;
using schedule::OperatorVerb;

constexpr std::size_t kMostBulkBytes = 4U << 20U;
constexpr document::ParseLimits kBulkLimits{.max_bytes = kMostBulkBytes};
constexpr const char* kOperations = "operations";

struct Bulk {
    std::vector<TargetOperation> operations;
    std::string reason;
};

std::expected<Bulk, Problem> read_bulk(const Call& call) {
    document::Diagnostics diagnostics;
    auto parsed = document::parse_json(call.request.body, "body", diagnostics, kBulkLimits);
    if (!parsed.ok) return std::unexpected(problem_of(diagnostics, false));
    Bulk bulk;
    take_reason(parsed.root, bulk.reason);
    document::MapReader reader(parsed.root, "", diagnostics);
    const Node* list = reader.list(kOperations, document::Need::kRequired);
    reader.finish();
    if (list != nullptr) {
        bulk.operations = config::read_target_operations(*list, kOperations, diagnostics);
    }
    if (!diagnostics.ok()) return std::unexpected(problem_of(diagnostics));
    return bulk;
}

// As the operations on one target: edits need more than switches and polls.
bool may(const Call& call, const runtime::FleetView& view, const TargetOperation& one) {
    const Permission needed =
        config::is_edit(one.verb) ? Permission::kManage : Permission::kOperate;
    model::ConfigObject meant;
    meant.kind = model::ObjectKind::kTarget;
    meant.name = one.target.key();
    return access::may_everywhere(call.principal, needed, Area::kFleet) ||
           access::may_on(call.principal, needed, Area::kFleet, labels_of_object(view, meant));
}

// In the words of the operations on one target.
model::AuditEntry entry_of(const Call& call, const TargetOperation& one,
                           const std::string& reason) {
    constexpr std::array<std::string_view, 6> kActions = {"create", "change",  "remove",
                                                          "enable", "disable", "poll"};
    return audit_entry(call, fmt::format("target.{}", kActions[static_cast<std::size_t>(one.verb)]),
                       one.target.key(), reason);
}

// Of what is switched or polled: the addon must let it.
std::optional<Problem> check_switches(const runtime::FleetView& view,
                                      const std::vector<TargetOperation>& operations) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const TargetOperation& one = operations[i];
        const bool starts = one.verb == TargetVerb::kEnable || one.verb == TargetVerb::kPoll;
        if (!starts || !view.disabled_addons.contains(one.target.addon)) continue;
        Problem problem = conflict(
            "addon.disabled",
            fmt::format("addon {} is disabled: enable it first", base::quoted(one.target.addon)));
        problem.errors.push_back(
            {.pointer = fmt::format("/operations/{}", i), .detail = problem.detail});
        return problem;
    }
    return std::nullopt;
}

// What is switched and polled after the edits, one after another; the last one answers.
class Switching : public std::enable_shared_from_this<Switching> {
  public:
    Switching(ServerLink link, Call call, Bulk bulk)
        : link_(std::move(link)), call_(std::move(call)), bulk_(std::move(bulk)) {
        json_.object().key("results").array();
    }

    // On the API's thread.
    void go_on() {
        for (; at_ < bulk_.operations.size(); ++at_) {
            const TargetOperation& one = bulk_.operations[at_];
            if (!config::is_edit(one.verb)) {
                operate(one);
                return;
            }
            write(one, "done", "");
        }
        json_.end_array().field("failed", failed_).end_object();
        call_.json(200, std::move(body_));
    }

  private:
    void operate(const TargetOperation& one) {
        schedule::OperatorAction act;
        act.verb = one.verb == TargetVerb::kEnable    ? OperatorVerb::kEnable
                   : one.verb == TargetVerb::kDisable ? OperatorVerb::kDisable
                                                      : OperatorVerb::kTriggerNow;
        act.key = one.target.key();
        auto done = [self = shared_from_this()](base::Result<runtime::OperateResult> result) {
            self->link_.loop->post(
                [self, status = result ? base::Status{} : std::unexpected(result.error())] {
                    self->take(status);
                });
        };
        link_.server.core()->operate(std::move(act), entry_of(call_, one, bulk_.reason),
                                     std::move(done));
    }

    void take(const base::Status& status) {
        const TargetOperation& one = bulk_.operations[at_++];
        if (status) {
            write(one, "done", "");
        } else if (status.error().code == "operator.nothing_to_do") {
            write(one, "unchanged", status.error().message);
        } else {
            ++failed_;
            write(one, "failed", status.error().message);
        }
        go_on();
    }

    void write(const TargetOperation& one, std::string_view result, std::string_view detail) {
        json_.object().field("op", config::to_string(one.verb)).field("key", one.target.key());
        json_.field("result", result).text_field("detail", detail).end_object();
    }

    ServerLink link_;
    Call call_;
    Bulk bulk_;
    std::size_t at_ = 0;
    std::size_t failed_ = 0;
    std::string body_;
    JsonWriter json_{body_};
};

void bulk(const ServerLink& link, Call call) {
    auto read = read_bulk(call);
    if (!read) {
        call.problem(read.error());
        return;
    }
    const auto view = link.view();
    std::vector<model::AuditEntry> entries;
    for (const TargetOperation& one : read->operations) {
        if (!may(call, *view, one)) {
            auto entry = entry_of(call, one, read->reason);
            refuse(link, std::move(call), std::move(entry));
            return;
        }
        if (config::is_edit(one.verb)) entries.push_back(entry_of(call, one, read->reason));
    }
    if (auto problem = check_switches(*view, read->operations)) {
        call.problem(*problem);
        return;
    }
    // Only switches: there is no edit, but they are checked as one is.
    if (entries.empty()) {
        document::Diagnostics diagnostics;
        const auto checked =
            config::plan_targets(*view->objects, read->operations, kOperations, diagnostics);
        if (!checked) {
            call.problem(problem_of_fleet(checked.error(), diagnostics));
            return;
        }
        std::make_shared<Switching>(link, std::move(call), std::move(*read))->go_on();
        return;
    }
    auto operations = read->operations;
    edit_fleet(
        link, std::move(call),
        [operations = std::move(operations)](auto current, auto& problems) {
            return config::plan_targets(current, operations, kOperations, problems);
        },
        std::move(entries),
        [link, bulk = std::move(*read)](Call answer) mutable {
            std::make_shared<Switching>(link, std::move(answer), std::move(bulk))->go_on();
        });
}

// --- discovery ----------------------------------------------------------------------------------

// The body holds the arguments of the job; `name`, `timeout` and so on stay with their defaults.
Node discovery_job(const Node& arguments) {
    Node job = Node::map();
    job.set("name", Node::text("discovery"));
    job.set("type", Node::text("discovery"));
    job.set("arguments", arguments);
    return job;
}

void answer_job(runtime::JobDesk& desk, const std::string& id, const std::shared_ptr<Call>& held) {
    desk.get(id, [held](base::Result<runtime::JobView> job) {
        if (!job) {
            held->problem(problem_of_edit(job.error()));
            return;
        }
        std::string body;
        JsonWriter json(body);
        json.object().key("job");
        write_job(json, *job);
        json.field("proposal", fmt::format("/api/jobs/{}/proposal", job->spec.id)).end_object();
        held->json(202, std::move(body));
    });
}

void discover(const ServerLink& link, Call call) {
    auto body = read_body(call);
    if (!body) {
        call.problem(body.error());
        return;
    }
    std::string reason;
    take_reason(*body, reason);
    auto entry = audit_entry(call, "job.submit", "discovery", reason);
    entry.after = "1 jobs";
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, entry, job = discovery_job(*body)]() mutable {
        runtime::JobDesk& desk = *link.server.jobs();
        document::Diagnostics diagnostics;
        config::JobBatch batch = config::read_jobs(job, desk.types().definitions(), diagnostics);
        if (diagnostics.ok()) desk.check(batch, diagnostics);
        if (!diagnostics.ok() || batch.jobs.empty()) {
            Problem problem = problem_of(diagnostics);
            // The arguments are the body: mistakes are told by their place there.
            constexpr std::string_view kArguments = "/arguments";
            for (FieldProblem& one : problem.errors) {
                if (one.pointer.starts_with(kArguments)) one.pointer.erase(0, kArguments.size());
            }
            held->problem(std::move(problem));
            return;
        }
        const std::string by = entry.principal;
        desk.submit(std::move(batch), by, entry,
                    [held, &desk](base::Result<runtime::JobSubmitted> done) {
                        if (done) {
                            answer_job(desk, done->ids.front(), held);
                        } else {
                            held->problem(problem_of_edit(done.error()));
                        }
                    });
    });
}

std::string proposal_page(const std::string& id, const std::string& yaml) {
    document::Diagnostics ignored;  // it is our own text
    const document::Parsed parsed = document::parse(yaml, "proposal", ignored);
    const Node* devices = parsed.root.find("devices");
    const Node operations =
        devices == nullptr ? Node::sequence() : config::create_operations(*devices);
    std::string body;
    JsonWriter json(body);
    json.object().field("job", id);
    json.field("devices", devices == nullptr ? 0 : devices->entries().size());
    json.raw_field(kOperations, document::to_json(operations)).end_object();
    return body;
}

void proposal(const ServerLink& link, Call call) {
    const auto gate = job_gate(call.principal, Permission::kRead, link.view());
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, gate] {
        const std::string id(held->parameter("id"));
        const runtime::JobDesk& desk = *link.server.jobs();
        const model::JobSpec* job = desk.spec_of(id);
        if (job == nullptr || (gate && !gate(*job))) {
            held->problem(not_found("job " + base::quoted(id)));
            return;
        }
        if (job->type != "discovery") {
            held->problem(conflict("job.no_proposal", "only a discovery proposes something"));
            return;
        }
        link.block(std::move(*held), [&store = link.server.store(), id,
                                      key = desk.key_of(id)](Call answer) {
            const auto runs = store.job_runs(key);
            if (!runs) {
                answer.problem(runs.error());
                return;
            }
            const auto done = std::ranges::find_if(*runs, [](const model::JobRun& run) {
                return run.finished.us != model::kNever && model::is_success(run.outcome);
            });
            if (done == runs->end()) {
                answer.problem(conflict("job.no_proposal", "it has not completed yet"));
                return;
            }
            answer.json(200, proposal_page(id, done->output));
        });
    });
}

}  // namespace

void add_target_bulk_routes(std::vector<Route>& routes, const ServerLink& link) {
    Route many =
        target_route("POST", "/api/targets/bulk", "changeTargets",
                     "Create, update, delete, enable, disable and poll up to 1000 targets.");
    many.audit_action = "target.bulk";
    many.audit_object = "*";
    many.description =
        "All edits are taken in one transaction or none is; each operation sees those before it, "
        "and a mistake is told with its pointer. Switches and polls are checked with them and done "
        "after; one that finds nothing to do is `unchanged`. An operator may switch and poll, an "
        "admin may also edit.";
    many.permission = Permission::kOperate;
    many.request_schema =
        R"({"type":"object","required":["operations"],"properties":{"operations":)"
        R"({"type":"array","maxItems":1000,"items":{"type":"object","required":["op"],)"
        R"("properties":{"op":{"type":"string"},"key":{"type":"string"},)"
        R"("addon":{"type":"string"},"device":{"type":"string"},)"
        R"("device_spec":{"type":"object","additionalProperties":true},)"
        R"("spec":{"type":"object","additionalProperties":true},)"
        R"("if_version":{"type":"integer"}}}},"reason":{"type":"string"}}})";
    many.request_example =
        R"({"operations":[{"op":"create","addon":"icmp-ping","device":"switch-9",)"
        R"("device_spec":{"address":"192.0.2.9"}},{"op":"create","addon":"snmp-system",)"
        R"("device":"switch-9","spec":{"tier":"high"}},{"op":"disable",)"
        R"("key":"snmp-system::switch-9"}],"reason":"new racks"})";
    many.response_example =
        R"({"results":[{"op":"create","key":"icmp-ping::switch-9","result":"done",)"
        R"("detail?":"the disk fails"}],"failed":0})";
    many.body_optional = false;
    many.body_limit = kMostBulkBytes;
    many.handler = [link](Call call) { bulk(link, std::move(call)); };
    routes.push_back(std::move(many));

    Route sweep = target_route("POST", "/api/targets/discover", "discoverTargets",
                               "Sweep a network for devices; nothing is applied.");
    sweep.audit_action = "job.submit";
    sweep.audit_object = "discovery";
    sweep.description =
        "Makes a job of type `discovery` and answers at once. When it has completed, its proposal "
        "is a list of operations that changeTargets takes. The fields are the arguments of the "
        "type (listJobTypes).";
    sweep.area = Area::kJobs;
    sweep.permission = Permission::kOperate;
    sweep.everywhere = true;  // it asks whole networks
    sweep.request_schema =
        R"({"type":"object","required":["network"],"properties":{"network":{"type":"string"},)"
        R"("reason":{"type":"string"}}})";
    sweep.request_example = R"({"network":"127.0.0.1/32","methods":["icmp"]})";
    sweep.body_optional = false;
    sweep.status = 202;
    sweep.response_example =
        R"({"job":"$Job",)"
        R"("proposal":"/api/jobs/0190a5e0-0000-7000-8000-000000000000/proposal"})";
    sweep.handler = [link](Call call) { discover(link, std::move(call)); };
    routes.push_back(std::move(sweep));

    Route found = target_route("GET", "/api/jobs/{id}/proposal", "getJobProposal",
                               "What a discovery found, as operations for changeTargets.");
    found.description = "409 until it has completed, and of jobs of another type.";
    found.area = Area::kJobs;
    found.tag = "jobs";
    found.response_example =
        R"({"job":"0190a5e0-0000-7000-8000-000000000000","devices":1,)"
        R"("operations":[{"op":"create","addon":"icmp-ping","device":"switch-9",)"
        R"("device_spec?!":{"address":"192.0.2.9"}}]})";
    found.handler = [link](Call call) { proposal(link, std::move(call)); };
    routes.push_back(std::move(found));
}

}  // namespace pollux::api
