#include "runtime/jobs/job_types.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "runtime/fleet_image.hpp"

namespace pollux::runtime {
namespace {

// The core's deadline comes after the job's own, so that its reason is heard.
constexpr base::Duration kDeadlineSlack = std::chrono::seconds(2);

}  // namespace

void JobTypes::add(JobType type) {
    const std::string name = type.def.name;
    types_.insert_or_assign(name, std::move(type));
    definitions_.clear();
    for (const auto& [known, one] : types_) definitions_.push_back(one.def);
}

const JobType* JobTypes::find(std::string_view name) const {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
}

std::optional<config::ArgumentFault> JobTypes::check(const model::JobSpec& job) const {
    const JobType* type = find(job.type);
    return type != nullptr && type->check ? type->check(job) : std::nullopt;
}

void JobTypes::add_classes(std::vector<model::ClassSettings>& classes) const {
    for (const model::JobTypeDef& def : definitions_) {
        model::ClassSettings settings;
        settings.name = model::job_class(def.name);
        if (std::ranges::find(classes, settings.name, &model::ClassSettings::name) !=
            classes.end()) {
            continue;
        }
        settings.weight = def.weight;
        settings.rate = def.rate;
        settings.slots = def.slots;
        classes.push_back(std::move(settings));
    }
}

model::TaskSpec JobTypes::task(const model::JobSpec& job,
                               const std::vector<std::vector<std::string>>& parent_keys) const {
    model::TaskSpec spec;
    spec.key = model::job_key(job.type, job.id);
    spec.device = job.device;
    spec.cadence = model::Cadence::once();
    spec.tier = job.tier;
    spec.timeout = job.timeout + kDeadlineSlack;
    spec.enabled = !job.hold;
    spec.demand = job.resources;
    spec.slots = job.slots;
    spec.max_attempts = job.retry.attempts;
    spec.on_parent_failure = job.on_parent_failure;
    spec.version = 1;
    for (const auto& group : parent_keys) {
        model::NeedGroup& need = spec.needs.emplace_back();
        for (const std::string& key : group) {
            need.any_of.push_back({model::ParentKind::kTask, key});
        }
    }
    return spec;
}

std::shared_ptr<const PollPlan> JobTypes::plan(
    const model::JobSpec& job, std::shared_ptr<const JobSurroundings> around) const {
    auto plan = std::make_shared<PollPlan>();
    plan->key = model::job_key(job.type, job.id);
    plan->class_name = model::job_class(job.type);
    plan->device = job.device;
    plan->history = false;
    auto work = std::make_shared<JobWork>();
    work->spec = job;
    const JobType* const type = find(job.type);
    if (type == nullptr) {
        plan->problem =
            fmt::format("this version knows no jobs of type {}", base::quoted(job.type));
    } else {
        work->host = type->host;
        if (type->poll) {
            const auto poll = type->poll(job, *around);
            if (poll) {
                plan->addon = (*poll)->addon;
                plan->group = (*poll)->group;
                plan->asks = (*poll)->asks;
                plan->shard = (*poll)->shard;
            } else {
                plan->problem = poll.error().message;
            }
        } else if (type->host == JobHost::kShard) {
            auto asks = type->asks(job, *around);
            if (asks) {
                plan->asks = std::move(*asks);
                plan->shard = shard_of(plan->asks.front().front()->host, around->shards);
            } else {
                plan->problem = asks.error().message;
            }
        } else if (type->host == JobHost::kWorker) {
            work->run = [run = type->run, job, around = std::move(around)](JobControl& control) {
                return run(job, *around, control);
            };
        }
    }
    plan->job = std::move(work);
    return plan;
}

}  // namespace pollux::runtime
