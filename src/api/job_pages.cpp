#include "api/job_pages.hpp"

#include <array>

#include "base/uuid.hpp"
#include "config/job_reader.hpp"
#include "document/write.hpp"
#include "runtime/jobs/job_work.hpp"
#include "runtime/task_rows.hpp"
#include "schedule/core_view.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using runtime::shown_seconds;

constexpr std::size_t kHoldersShown = 100;

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).array();
    for (const std::string& text : texts) json.value(text);
    json.end_array();
}

void write_spec(JsonWriter& json, const model::JobSpec& spec) {
    json.field("id", spec.id).field("name", spec.name).field("batch", spec.batch);
    json.field("type", spec.type).field("priority", model::to_string(spec.tier));
    json.key("depends_on").array();
    for (const auto& group : spec.depends_on) {
        json.array();
        for (const std::string& parent : group) json.value(parent);
        json.end_array();
    }
    json.end_array().key("resources").object();
    for (const auto& demand : spec.resources) json.field(demand.resource, demand.amount);
    json.end_object().field("slots", spec.slots).field("timeout", shown_seconds(spec.timeout));
    json.key("retry").object().field("attempts", spec.retry.attempts);
    json.field("backoff", shown_seconds(spec.retry.backoff)).end_object();
    json.field("on_parent_failure",
               spec.on_parent_failure == model::ParentFailure::kFail ? "fail" : "hold");
    json.text_field("target", spec.target).text_field("device", spec.device);
    // A manifest may name passwords that devices come with.
    const bool shown = spec.type != runtime::kTrialJob;
    json.raw_field("arguments", shown ? document::to_json(config::arguments_of(spec)) : "{}");
    json.field("created_by", spec.created_by).field("created_at", spec.created_at);
    json.key("labels").object();
    for (const auto& [name, value] : spec.labels) json.field(name, value);
    json.end_object();
}

std::string_view kind_of(const model::ArgumentDef& argument) {
    constexpr std::array<std::string_view, 6> kNames = {"text",     "integer", "boolean",
                                                        "duration", "texts",   "map"};
    return kNames[static_cast<std::size_t>(argument.kind)];
}

// When the job was submitted; of what polls, when its target was made: its id says so.
base::WallTime created_at(const runtime::PollPlan* plan) {
    if (plan == nullptr) return {};
    if (plan->job) return plan->job->spec.created_at;
    return base::uuid7_time(plan->target_id).value_or(base::WallTime{});
}

}  // namespace

void write_job(JsonWriter& json, const runtime::JobView& job) {
    json.object();
    write_spec(json, job.spec);
    json.field("state", model::to_string(job.phase)).field("held", job.held);
    json.field("attempts", job.attempts).time_field("ended_at", job.ended_at);
    json.field("waited", shown_seconds(job.waited));
    if (job.ready_for) json.field("ready_for", shown_seconds(*job.ready_for));
    if (job.position) json.field("position", *job.position);
    if (job.estimate) json.field("estimate", shown_seconds(*job.estimate));
    json.text_field("verdict", job.verdict).text_field("failure", job.failure);
    if (!job.progress.id.empty()) {
        json.key("progress").object().field("done", job.progress.done);
        json.field("total", job.progress.total).text_field("text", job.progress.text).end_object();
    }
    json.end_object();
}

std::string graph_page(const runtime::JobGraphView& graph) {
    std::string page;
    JsonWriter json(page);
    json.object().field("batch", graph.batch).key("jobs").array();
    for (std::size_t i = 0; i < graph.jobs.size(); ++i) {
        json.object().field("level", i < graph.levels.size() ? graph.levels[i] : 0);
        json.key("parents").array();
        if (i < graph.parents.size()) {
            for (const std::uint32_t parent : graph.parents[i]) {
                json.value(graph.jobs[parent].spec.id);
            }
        }
        json.end_array().key("job");
        write_job(json, graph.jobs[i]);
        json.end_object();
    }
    json.end_array().key("critical_path").object();
    json.field("seconds", shown_seconds(graph.critical_path.length)).key("jobs").array();
    for (const std::uint32_t job : graph.critical_path.jobs) json.value(graph.jobs[job].spec.id);
    json.end_array().end_object().end_object();
    return page;
}

std::string runs_page(const std::vector<model::JobRun>& runs, const std::vector<std::string>& log) {
    std::string page;
    JsonWriter json(page);
    json.object().key("items").array();
    for (const model::JobRun& run : runs) {
        json.object().field("attempt", run.attempt).field("started_at", run.started);
        json.time_field("finished_at", run.finished);
        if (run.finished.us != model::kNever) {
            json.field("outcome", model::to_string(run.outcome));
            json.field("exit_status", run.exit_status);
        }
        json.text_field("code", run.code).text_field("error", run.message);
        json.field("output", run.output).field("truncated", run.truncated);
        write_texts(json, "log", run.log);
        json.end_object();
    }
    json.end_array();
    write_texts(json, "live_log", log);
    json.end_object();
    return page;
}

std::string job_types_page(const std::vector<model::JobTypeDef>& types) {
    std::string page;
    JsonWriter json(page);
    json.object().key("items").array();
    for (const model::JobTypeDef& type : types) {
        json.object().field("name", type.name).field("help", type.help);
        json.field("weight", type.weight).field("slots", type.slots).field("rate", type.rate);
        json.field("priority", model::to_string(type.tier))
            .field("timeout", shown_seconds(type.timeout));
        json.field("longest_timeout", shown_seconds(type.longest_timeout));
        json.field("attempts", type.attempts).key("arguments").array();
        for (const model::ArgumentDef& argument : type.arguments) {
            json.object().field("name", argument.name).field("kind", kind_of(argument));
            json.field("required", argument.required).field("help", argument.help);
            if (!argument.words.empty()) write_texts(json, "words", argument.words);
            json.end_object();
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
    return page;
}

std::string resources_page(const runtime::CoreLoop::View& view, const TaskGate& gate) {
    const auto& core = view.engine.core();
    std::string page;
    JsonWriter json(page);
    json.object().field("time", view.now.wall).key("items").array();
    for (const schedule::ResourceUsage& one : schedule::resource_usage(core, kHoldersShown)) {
        json.object().field("name", one.name).field("capacity", one.capacity);
        json.field("used", one.used).field("wanted", one.wanted).field("waiting", one.waiting);
        json.field("holder_count", one.holder_count).key("holders").array();
        for (const schedule::ResourceHolder& holder : one.holders) {
            if (!gate(core.key(holder.task), view.plan(holder.task.index))) continue;
            json.object().field("key", core.key(holder.task)).field("amount", holder.amount);
            json.time_field("since", runtime::wall_of(view, holder.since)).end_object();
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
    return page;
}

std::string ready_page(const runtime::CoreLoop::View& view, std::size_t limit) {
    const auto& core = view.engine.core();
    const schedule::ReadySet ready = schedule::ready_set(core, view.now.boot, limit);
    std::string page;
    JsonWriter json(page);
    json.object().field("time", view.now.wall).field("count", ready.size);
    json.key("items").array();
    for (const schedule::ReadyTask& task : ready.first) {
        json.object().field("key", core.key(task.task));
        json.field("place", schedule::to_string(task.place));
        json.field("priority", model::to_string(task.tier));
        json.field("effective_priority", model::to_string(task.effective));
        json.time_field("ready_since", runtime::wall_of(view, task.ready_since));
        json.field("ready_for", shown_seconds(view.now.boot - task.ready_since));
        json.time_field("due", runtime::wall_of(view, task.due)).field("slots", task.slots);
        const base::WallTime created = created_at(view.plan(task.task.index));
        if (created != base::WallTime{}) {
            json.field("created_at", created);
            json.field("waited", shown_seconds(view.now.wall - created));
        }
        json.key("resources").object();
        for (const auto& [name, amount] : task.resources) json.field(name, amount);
        json.end_object();
        write_texts(json, "needs", task.needs);
        json.end_object();
    }
    json.end_array().key("batches").array();
    const auto& batches = view.batches.batches();
    for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
        json.object().field("at", batch->at).field("ready", batch->ready);
        json.field("starts", batch->starts).field("in_flight", batch->in_flight);
        json.key("resources").object();
        for (const auto& resource : batch->resources) {
            json.key(resource.name).object().field("used", resource.used);
            json.field("capacity", resource.capacity).end_object();
        }
        json.end_object().end_object();
    }
    json.end_array().end_object();
    return page;
}

}  // namespace pollux::api
