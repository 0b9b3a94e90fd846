#include "api/insight_pages.hpp"

#include <algorithm>
#include <array>

#include "api/shown_number.hpp"
#include "document/json_writer.hpp"
#include "runtime/insight_books.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using runtime::CostSum;
using runtime::RunRecord;
using runtime::SchedulerHistory;

constexpr std::array<std::string_view, runtime::kRunPhases> kPhaseNames = {"dns", "connect", "tls",
                                                                           "wait", "read"};

// People say that a poll was due, not that the schedule triggered it.
std::string_view trigger_name(model::Trigger trigger) {
    return trigger == model::Trigger::kSchedule ? "due" : model::to_string(trigger);
}

void write_run(JsonWriter& json, const std::string& task, const RunRecord& run) {
    json.object().field("task", task).field("started", run.started);
    json.field("duration", run.duration_us / 1e6).field("lag", run.lag_ms / 1e3);
    json.field("outcome", model::to_string(run.outcome));
    if (run.words) {
        json.text_field("code", run.words->code).text_field("error", run.words->message);
    }
    json.field("trigger", trigger_name(run.trigger)).field("requests", run.requests);
    json.field("bytes", run.bytes).field("changed", run.changed).key("phases").array();
    for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
        if (run.phases_us[i] == 0) continue;
        json.object().field("name", kPhaseNames[i]).field("seconds", run.phases_us[i] / 1e6);
        json.end_object();
    }
    json.end_array().end_object();
}

void write_point(JsonWriter& json, runtime::HistorySpan span,
                 const SchedulerHistory::Point& point) {
    json.object().field("at", SchedulerHistory::time_of(span, point));
    json.field("started", point.started).field("finished", point.finished);
    json.field("failed", point.failed).field("ready", point.ready);
    json.field("in_flight", point.in_flight).field("lag_p50", shown(point.lag_quantile(0.5)));
    json.field("lag_p95", shown(point.lag_quantile(0.95))).field("tasks", point.tasks).end_object();
}

}  // namespace

RunFacts run_facts(const runtime::CoreLoop::View& core, const std::vector<std::string>& tasks,
                   std::size_t limit) {
    RunFacts facts;
    facts.kept_since = core.insight.runs.began_at();
    for (const std::string& key : tasks) {
        const model::TaskHandle task = core.engine.core().find(key);
        const auto* page = core.insight.runs.of(task.index);
        if (page == nullptr) continue;
        const auto all = page->newest(runtime::RunBook::kMostRuns);
        if (page->dropped()) facts.kept_since = std::max(facts.kept_since, all.back().started);
        for (const RunRecord& run : all) facts.runs.emplace_back(key, run);
    }
    std::ranges::stable_sort(facts.runs, std::greater(),
                             [](const auto& run) { return run.second.started; });
    if (facts.runs.size() > limit) facts.runs.resize(limit);
    return facts;
}

std::string runs_page(const RunFacts& facts) {
    std::string page;
    JsonWriter json(page);
    json.object().field("kept_since", facts.kept_since).key("items").array();
    for (const auto& [task, run] : facts.runs) write_run(json, task, run);
    json.end_array().end_object();
    return page;
}

HistoryFacts history_facts(const runtime::CoreLoop::View& core, runtime::HistorySpan span) {
    return {span, core.insight.history.points(span, core.now.wall)};
}

std::string scheduler_history_page(const HistoryFacts& facts) {
    std::string page;
    JsonWriter json(page);
    json.object().field("step", base::to_seconds(SchedulerHistory::step_of(facts.span)));
    json.key("points").array();
    for (const auto& point : facts.points) write_point(json, facts.span, point);
    json.end_array().key("lag_bounds").array();
    for (const double bound : SchedulerHistory::kLagBounds) json.value(bound);
    json.end_array().key("lag_counts").array();
    for (const auto& point : facts.points) {
        json.array();
        for (const std::uint32_t count : point.lag) json.value(count);
        json.end_array();
    }
    json.end_array().end_object();
    return page;
}

bool CostQuestion::is_about(const FleetFrame::Row& row) const {
    if (!device.empty() && row.target->device != device) return false;
    // The main task of a target has its key; those that are heard have no task.
    return key.empty() || row.target->key == key ||
           std::ranges::find(row.tasks, key) != row.tasks.end();
}

CostFacts cost_facts(const runtime::CoreLoop::View& core, const FleetFrame& frame,
                     const std::vector<std::uint32_t>& shown, const CostQuestion& question) {
    CostFacts facts;
    facts.since = core.insight.costs.since(core.now.wall);
    for (const std::uint32_t number : shown) {
        CostSum sum;
        const FleetFrame::Row& row = frame.rows()[number];
        for (const std::string_view key : row.tasks) {
            const model::TaskHandle task = core.engine.core().find(key);
            sum += core.insight.costs.of(task.index, core.now.wall);
        }
        facts.total += sum;
        if (sum.runs > 0 && question.is_about(row)) facts.rows.emplace_back(number, sum);
    }
    const std::size_t kept = std::min(question.limit, facts.rows.size());
    std::ranges::partial_sort(facts.rows, facts.rows.begin() + static_cast<std::ptrdiff_t>(kept),
                              [](const auto& a, const auto& b) {
                                  return std::pair(b.second.busy, a.first) <
                                         std::pair(a.second.busy, b.first);
                              });
    facts.rows.resize(kept);
    return facts;
}

std::string costs_page(const CostFacts& facts, const FleetFrame& frame) {
    std::string page;
    JsonWriter json(page);
    json.object().field("since", facts.since).field("total_busy", shown(facts.total.busy));
    json.key("items").array();
    for (const auto& [number, sum] : facts.rows) {
        const alert::TargetFacts& target = *frame.rows()[number].target;
        json.object().field("key", target.key).field("device", target.device);
        json.field("runs", sum.runs).field("busy", shown(sum.busy));
        json.field("mean", shown(sum.busy / static_cast<double>(sum.runs)));
        json.field("share", facts.total.busy > 0 ? shown(sum.busy / facts.total.busy) : 0.0);
        json.field("failures", sum.failures).field("requests", sum.requests);
        json.field("bytes", sum.bytes).end_object();
    }
    json.end_array().end_object();
    return page;
}

}  // namespace pollux::api
