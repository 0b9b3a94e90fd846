#include "runtime/jobs/job_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "net/event_loop.hpp"
#include "runtime/jobs/job_work.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kLongestBackoff = std::chrono::hours(1);

base::Duration backoff(const model::RetryPolicy& retry, std::uint32_t attempt) {
    if (retry.backoff <= base::Duration::zero()) return {};
    base::Duration delay = retry.backoff;
    for (std::uint32_t i = 1; i < attempt && delay < kLongestBackoff; ++i) delay *= 2;
    return std::min(delay, std::max(kLongestBackoff, retry.backoff));
}

RunReport report_of(model::TaskHandle task, model::RunId run) {
    RunReport report;
    report.task = task;
    report.run = run;
    report.trigger = model::Trigger::kJob;
    return report;
}

}  // namespace

void JobRuns::begin(engine::Engine& engine, const RunOrder& order, base::Instant now) {
    Open open;
    open.task = order.task;
    open.started = now.boot;
    open.retry = order.plan->job->spec.retry;
    open.record.key = order.plan->key;
    open.record.run = order.run;
    open.record.attempt = order.attempt;
    open.record.started = now.wall;
    open.record.outcome = model::Outcome::kInterrupted;
    engine.note(now, open.record);
    open_.emplace(order.run, std::move(open));
}

std::optional<RunReport> JobRuns::poll_target(const engine::Engine& engine, const RunOrder& order,
                                              std::vector<schedule::Event>& events) {
    const schedule::SchedulerCore& core = engine.core();
    const std::string& key = order.plan->job->spec.target;
    const model::TaskHandle target = core.find(key);
    RunReport refused = report_of(order.task, order.run);
    refused.outcome = model::Outcome::kPermanent;
    refused.kind = model::FailureKind::kConfiguration;
    refused.code = "job.target";
    if (!core.is_live(target) || !core.slot(target).recurring()) {
        refused.message = fmt::format("there is no target {} any more", base::quoted(key));
        return refused;
    }
    const schedule::TaskSlot& slot = core.slot(target);
    if (!slot.has(schedule::kFlagEnabled) || slot.place == schedule::Place::kFaulted) {
        refused.message = fmt::format("target {} is {}: enable it first", base::quoted(key),
                                      slot.has(schedule::kFlagEnabled) ? "faulted" : "disabled");
        return refused;
    }
    if (slot.place == schedule::Place::kWaitsForNeeds) {
        refused.outcome = model::Outcome::kTransient;
        refused.message = fmt::format("target {} waits for what it needs", base::quoted(key));
        return refused;
    }
    // Elsewhere it is due or under way: what comes of that is as good.
    if (slot.place == schedule::Place::kScheduled) {
        events.emplace_back(
            schedule::OperatorAction{schedule::OperatorVerb::kTriggerNow, core.key(target), 0});
    }
    waiting_.emplace(target.index, Waiting{order.task, order.run, net::boot_now()});
    return std::nullopt;
}

bool JobRuns::end(engine::Engine& engine, RunReport& report, base::Instant now) {
    const auto found = open_.find(report.run);
    if (found == open_.end()) return false;
    Open& open = found->second;
    const schedule::SchedulerCore& core = engine.core();
    model::JobRun record = std::move(open.record);
    if (report.job) {
        record.exit_status = report.job->exit_status;
        record.output = std::move(report.job->output);
        record.truncated = report.job->truncated;
        record.log = std::move(report.job->log);
    }
    record.finished = std::max(now.wall, record.started + std::chrono::microseconds(1));
    record.outcome = report.outcome;
    record.code = report.code;
    record.message = report.message;
    model::keep_bounds(record);
    if (core.is_live(report.task)) {
        stats_.ended(core.slot(report.task).class_index, report.outcome,
                     base::to_seconds(now.boot - open.started));
    }
    if (report.outcome == model::Outcome::kTransient) {
        report.job_delay = backoff(open.retry, record.attempt);
    }
    engine.note(now, std::move(record));
    open_.erase(found);
    return true;
}

void JobRuns::drop(engine::Engine& engine, model::RunId run, base::Instant now) {
    const auto found = open_.find(run);
    if (found == open_.end()) return;
    RunReport report = report_of(found->second.task, run);
    report.outcome = model::Outcome::kInterrupted;
    report.code = "job.stopped";
    report.message = "it was cancelled, or its time was over and nobody had told its end";
    end(engine, report, now);
    std::erase_if(waiting_, [&](const auto& entry) { return entry.second.run == run; });
}

std::vector<RunReport> JobRuns::follow(const RunReport& polled) {
    std::vector<RunReport> reports;
    const auto [first, last] = waiting_.equal_range(polled.task.index);
    for (auto at = first; at != last; ++at) {
        RunReport report = report_of(at->second.task, at->second.run);
        report.outcome = polled.outcome;
        report.duration = net::boot_now() - at->second.since;
        report.kind = polled.kind;
        report.code = polled.code;
        report.message = polled.message;
        report.job = std::make_shared<model::JobRun>();
        report.job->output =
            fmt::format("{} in {}, {} values missing", model::to_string(polled.outcome),
                        base::format_duration(polled.duration), polled.problems);
        report.job->exit_status = model::is_success(polled.outcome) ? 0 : 1;
        reports.push_back(std::move(report));
    }
    waiting_.erase(first, last);
    return reports;
}

std::vector<RunReport> JobRuns::target_gone(std::uint32_t task) {
    std::vector<RunReport> reports;
    const auto [first, last] = waiting_.equal_range(task);
    for (auto at = first; at != last; ++at) {
        RunReport report = report_of(at->second.task, at->second.run);
        report.outcome = model::Outcome::kPermanent;
        report.kind = model::FailureKind::kConfiguration;
        report.code = "job.target";
        report.message = "its target was removed meanwhile";
        reports.push_back(std::move(report));
    }
    waiting_.erase(first, last);
    return reports;
}

}  // namespace pollux::runtime
