// What discoveries find and somebody accepts: the sweep of a network, whose proposal is a list of
// operations on targets, and the topology of the fleet, whose proposal is parents of devices.
#include "api/proposal_routes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/fleet_edits.hpp"
#include "api/fleet_pages.hpp"
#include "api/job_pages.hpp"
#include "api/job_scope.hpp"
#include "api/routes.hpp"
#include "config/job_reader.hpp"
#include "config/target_batch.hpp"
#include "config/topology_proposal.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"
#include "runtime/jobs/topology_job.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using config::ParentsChange;
using document::JsonWriter;
using document::Node;

constexpr const char* kSweepJob = "discovery";

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

// --- what they propose ---------------------------------------------------------------------------

void write_sweep(JsonWriter& json, const Node& found) {
    const Node* devices = found.find("devices");
    json.field("devices", devices == nullptr ? 0 : devices->entries().size());
    const Node operations =
        devices == nullptr ? Node::sequence() : config::create_operations(*devices);
    json.raw_field("operations", document::to_json(operations));
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).array();
    for (const std::string& text : texts) json.value(text);
    json.end_array();
}

void write_change(JsonWriter& json, const ParentsChange& change) {
    json.object().field("device", change.device);
    write_texts(json, "parents", change.parents);
    write_texts(json, "by", change.by);
    json.key("current").array();
    for (const auto& any_of : change.current) {
        json.array();
        for (const std::string& parent : any_of) json.value(parent);
        json.end_array();
    }
    json.end_array();
    json.field("standing", change.origin ? config::to_string(change.standing) : "gone");
    if (change.origin) json.field("origin", model::to_string(*change.origin));
    json.field("text", change.text).end_object();
}

void write_topology(JsonWriter& json, const std::string& id, const Node& found,
                    std::span<const model::ConfigObject> current) {
    const auto changes = config::read_changes(found, id, current);
    json.field("devices", changes.size()).key("operations").array().end_array();
    json.key("topology").object();
    for (const auto& entry : found.entries()) {
        if (entry.key != "behind") json.raw_field(entry.key, document::to_json(entry.value));
    }
    json.key("changes").array();
    for (const ParentsChange& change : changes) write_change(json, change);
    json.end_array().end_object();
}

using TakeOutput = std::function<void(Call call, const std::string& type, const Node& found)>;

// Reads what a discovery left behind, on the pool; 409 if there is nothing.
void with_proposal(const ServerLink& link, Call call, TakeOutput take) {
    const auto gate = job_gate(call.principal, Permission::kRead, link.view());
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, gate, take = std::move(take)] {
        const std::string id(held->parameter("id"));
        const runtime::JobDesk& desk = *link.server.jobs();
        const model::JobSpec* job = desk.spec_of(id);
        if (job == nullptr || (gate && !gate(*job))) {
            held->problem(not_found("job " + base::quoted(id)));
            return;
        }
        if (job->type != kSweepJob && job->type != runtime::kTopologyJob) {
            held->problem(conflict("job.no_proposal", "only discoveries propose something"));
            return;
        }
        link.block(std::move(*held), [&store = link.server.store(), type = job->type,
                                      key = desk.key_of(id), take](Call answer) {
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
            document::Diagnostics ignored;  // it is our own text
            take(std::move(answer), type, document::parse(done->output, "proposal", ignored).root);
        });
    });
}

void proposal(const ServerLink& link, Call call) {
    with_proposal(link, std::move(call),
                  [view = link.view()](Call answer, const std::string& type, const Node& found) {
                      std::string body;
                      JsonWriter json(body);
                      json.object().field("job", answer.parameter("id"));
                      if (type == kSweepJob) {
                          write_sweep(json, found);
                      } else {
                          write_topology(json, std::string(answer.parameter("id")), found,
                                         *view->objects);
                      }
                      json.end_object();
                      answer.json(200, std::move(body));
                  });
}

// --- what is accepted ----------------------------------------------------------------------------

struct Accepting {
    config::ParentsChoice choice;
    std::string reason;
};

std::expected<Accepting, Problem> read_accepting(const Call& call) {
    auto body = read_body(call);
    if (!body) return std::unexpected(body.error());
    Accepting accepting;
    take_reason(*body, accepting.reason);
    if (accepting.reason.empty()) {
        accepting.reason = fmt::format("topology job {}", call.parameter("id"));
    }
    document::Diagnostics diagnostics;
    document::MapReader reader(*body, "", diagnostics);
    const bool chosen = reader.has("devices");
    accepting.choice.devices = reader.strings("devices");
    accepting.choice.adopt = reader.boolean("adopt").value_or(false);
    if (chosen && accepting.choice.devices.empty()) {
        reader.error("devices", "is empty: name some, or leave it out for all");
    }
    reader.finish();
    if (!diagnostics.ok()) return std::unexpected(problem_of(diagnostics));
    return accepting;
}

// On the pool: what is wanted, by whom, and whether he may; then the edit on the main loop.
void accept_parents(const ServerLink& link, Call call, const Node& found, Accepting accepting) {
    const auto view = link.view();
    const std::string id(call.parameter("id"));
    const auto first = config::plan_parents(config::read_changes(found, id, *view->objects), id,
                                            *view->objects, accepting.choice);
    if (!first) {
        call.problem(problem_of_edit(first.error()));
        return;
    }
    std::vector<model::AuditEntry> entries;
    accepting.choice.devices.clear();
    for (const config::WantedObject& one : *first) {
        if (one.verb == config::EditVerb::kAdopt) continue;  // its edit follows
        accepting.choice.devices.push_back(one.name);
        const auto* object = runtime::find_object(*view, model::ObjectKind::kDevice, one.name);
        const bool takes_over = object != nullptr && object->origin != model::Origin::kApi;
        auto entry = audit_entry(call, takes_over ? "device.adopt" : "device.change", one.name,
                                 accepting.reason);
        const bool may =
            access::may_everywhere(call.principal, Permission::kManage, Area::kFleet) ||
            (object != nullptr && access::may_on(call.principal, Permission::kManage, Area::kFleet,
                                                 labels_of_object(*view, *object)));
        if (!may) {
            refuse(link, std::move(call), std::move(entry));
            return;
        }
        entries.push_back(std::move(entry));
    }
    std::string body;
    JsonWriter json(body);
    json.object();
    write_texts(json, "accepted", accepting.choice.devices);
    json.end_object();
    if (entries.empty()) {
        call.json(200, std::move(body));
        return;
    }
    edit_fleet(
        link, std::move(call),
        [found, id, choice = std::move(accepting.choice)](auto current, document::Diagnostics&) {
            return config::plan_parents(config::read_changes(found, id, current), id, current,
                                        choice);
        },
        std::move(entries),
        [body = std::move(body)](Call answer) mutable { answer.json(200, std::move(body)); });
}

void accept(const ServerLink& link, Call call) {
    auto accepting = read_accepting(call);
    if (!accepting) {
        call.problem(accepting.error());
        return;
    }
    with_proposal(link, std::move(call),
                  [link, accepting = std::move(*accepting)](Call answer, const std::string& type,
                                                            const Node& found) {
                      if (type == kSweepJob) {
                          answer.problem(conflict(
                              "job.sweep",
                              "what a sweep proposes is a list of operations: send those that you "
                              "want to /api/targets/bulk"));
                          return;
                      }
                      accept_parents(link, std::move(answer), found, accepting);
                  });
}

// Of a sweep and of a topology in one: each has its own part.
constexpr std::string_view kProposalExample =
    R"({"job":"0190a5e0-0000-7000-8000-000000000000","devices":1,)"
    R"("operations":[{"op":"create","addon":"icmp-ping","device":"switch-9",)"
    R"("device_spec?!":{"address":"192.0.2.9"}}],)"
    R"("topology?":{"roots":["edge"],"asked":3,"answered":3,"proposed":1,"same":0,"left_out":0,)"
    R"("unreached?":{"count":1,"items":["printer"]},)"
    R"("unknown?":{"count":1,"items":[{"name?":"sw-9","address?":"192.0.2.9",)"
    R"("hardware?":"02:00:00:00:00:01","seen_by":"core-a","by":"lldp"}]},)"
    R"("ambiguous?":{"count":1,"items":[{"what":"sw","seen_by?":"core-a",)"
    R"("devices":["core-b","core-c"]}]},)"
    R"("circles?":{"count":1,"items":["db"]},)"
    R"("one_sided?":{"count":1,"items":[["core-a","edge"]]},)"
    R"("changes":[{"device":"db","parents":["core-a","core-b"],"by":["lldp"],)"
    R"("current":[["edge"]],"standing":"changed","origin?":"api",)"
    R"("text":"devices:\n  db:\n    parents: [[core-a, core-b]]\n"}]}})";

}  // namespace

void add_proposal_routes(std::vector<Route>& routes, const ServerLink& link) {
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
                               "What a discovery found, beside what is configured.");
    found.description =
        "Of a sweep: `operations` for changeTargets. Of a job of type `topology`: `topology` with "
        "its `changes`, the parents proposed for each device beside those it has, and with what "
        "was not certain; acceptJobProposal takes them. 409 until it has completed, and of jobs "
        "of another type.";
    found.area = Area::kJobs;
    found.tag = "jobs";
    found.response_example = kProposalExample;
    found.handler = [link](Call call) { proposal(link, std::move(call)); };
    routes.push_back(std::move(found));

    Route take = target_route("POST", "/api/jobs/{id}/accept", "acceptJobProposal",
                              "Take over parents that a topology job proposes.");
    take.audit_action = "device.change";
    take.description =
        "Of `devices`, or of all that have no parents yet or got them from a discovery: all of "
        "them in one change, or none. They are marked with the label "
        "`parents_discovered_by`, the id of the job. A device "
        "that files or a source own is left out, and refused with 409 if it is named, unless "
        "`adopt` takes it over. Parents that somebody wrote are not replaced: 409.";
    take.tag = "jobs";
    take.request_schema =
        R"({"type":"object","properties":{"devices":{"type":"array","items":{"type":"string"}},)"
        R"("adopt":{"type":"boolean"},"reason":{"type":"string"}}})";
    take.request_example = R"({"reason":"as the switches say"})";
    take.response_example = R"({"accepted":["switch-1"]})";
    take.handler = [link](Call call) { accept(link, std::move(call)); };
    routes.push_back(std::move(take));
}

}  // namespace pollux::api
