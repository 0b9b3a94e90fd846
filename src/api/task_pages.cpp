#include "api/task_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "runtime/change_log.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using runtime::FailureRow;
using runtime::shown_seconds;
using runtime::TaskRow;

void write_gates(JsonWriter& json, const ExplainFacts& facts) {
    json.key("gates").array();
    for (std::size_t i = 0; i < facts.story.gates.size(); ++i) {
        const schedule::Gate& gate = facts.story.gates[i];
        json.object().field("gate", schedule::to_string(gate.kind)).field("open", gate.open);
        json.time_field("until", facts.gates_until[i]).field("reason", gate.reason).end_object();
    }
    json.end_array();
}

void write_interval(JsonWriter& json, const schedule::IntervalStory& story) {
    json.key("interval").object();
    json.field("policy", model::to_string(story.policy)).field("shadow", story.shadow);
    json.field("changes_per_hour", story.believed_rate * 3600).field("weight", story.weight);
    json.field("multiplier", story.multiplier);
    json.field("wished", shown_seconds(story.wished)).field("chosen", shown_seconds(story.chosen));
    json.field("in_force", shown_seconds(story.in_force)).field("idle_drift", story.idle_drift);
    json.field("limited_by", schedule::to_string(story.limited_by));
    json.field("pool_budget", story.pool_budget).field("pool_planned", story.pool_planned);
    json.end_object();
}

void write_failure(JsonWriter& json, const FailureRow& failure) {
    json.field("failures", failure.consecutive);
    json.field("breaker", model::to_string(failure.breaker));
    json.time_field("breaker_since", failure.breaker_since);
    json.field("dead_letter", model::to_string(failure.dead_letter));
    json.time_field("dead_letter_since", failure.dead_letter_since);
    json.time_field("first_failure", failure.first_failure);
    json.time_field("last_attempt", failure.last_attempt);
    json.text_field("code", failure.code).text_field("error", failure.message);
}

void write_history(JsonWriter& json, const std::vector<store::StoredChange>& history) {
    json.key("history").array();
    for (const store::StoredChange& change : history) {
        const auto words = runtime::change_words(change.kind, change.from, change.to);
        json.object().field("at", change.at).field("kind", words.kind);
        json.text_field("from", words.from).text_field("to", words.to);
        json.field("failures", change.failures).end_object();
    }
    json.end_array();
}

}  // namespace

void write_task(JsonWriter& json, const TaskRow& row) {
    json.object().field("key", row.key).field("class", row.class_name);
    json.field("place", schedule::to_string(row.place)).field("enabled", row.enabled);
    json.field("tier", model::to_string(row.tier)).time_field("next_due", row.next_due);
    json.field("interval", shown_seconds(row.interval))
        .field("suggested", shown_seconds(row.suggested));
    json.time_field("last_success", row.last_success).time_field("last_error", row.last_error);
    json.time_field("last_change", row.last_change);
    if (row.age != base::Duration::max()) json.field("age", shown_seconds(row.age));
    json.field("bound", shown_seconds(row.bound)).field("staleness", row.staleness);
    json.text_field("problem", row.problem);
    write_failure(json, row.failure ? *row.failure : FailureRow{});
    json.end_object();
}

std::optional<ExplainFacts> explain_facts(const runtime::CoreLoop::View& view,
                                          std::string_view key) {
    const auto& core = view.engine.core();
    auto story = core.explain(key);
    if (!story) return std::nullopt;
    ExplainFacts facts;
    facts.row = runtime::task_row(view, core.find(story->key));
    facts.next_due = runtime::wall_of(view, story->next_due);
    facts.wakes_at = runtime::wall_of(view, story->wakes_at);
    for (const schedule::Gate& gate : story->gates) {
        facts.gates_until.push_back(gate.open ? base::WallTime{}
                                              : runtime::wall_of(view, gate.until));
    }
    facts.story = std::move(*story);
    // What the core knows as disabled may have a reason that it does not know.
    const runtime::PollPlan* plan =
        view.plan ? view.plan(core.find(facts.story.key).index) : nullptr;
    if (plan != nullptr && !plan->paused.empty()) {
        schedule::Gate& gate =
            facts.story.gates[static_cast<std::size_t>(schedule::GateKind::kEnabled)];
        gate.reason = plan->paused;
        facts.story.verdict = fmt::format("{}: {}", to_string(gate.kind), gate.reason);
    }
    return facts;
}

std::string explain_page(const ExplainFacts& facts) {
    std::string page;
    JsonWriter json(page);
    json.object().field("key", facts.story.key).field("verdict", facts.story.verdict);
    json.field("place", schedule::to_string(facts.story.place));
    json.time_field("next_due", facts.next_due).time_field("wakes_at", facts.wakes_at);
    json.field("attempts", facts.story.attempts).field("ready", facts.story.ready);
    if (facts.story.ready) json.field("place_in_line", facts.story.place_in_line);
    write_gates(json, facts);
    write_interval(json, facts.story.interval);
    json.key("task");
    write_task(json, facts.row);
    json.end_object();
    return page;
}

std::vector<TaskRow> plan_rows(const runtime::CoreLoop::View& view, std::size_t limit) {
    std::vector<TaskRow> rows;
    for (const schedule::PlanEntry& entry : view.engine.core().plan(view.now.boot, limit)) {
        rows.push_back(runtime::task_row(view, entry.task));
    }
    std::ranges::sort(rows, [](const TaskRow& a, const TaskRow& b) {
        return std::tuple(a.next_due, static_cast<int>(b.tier), std::string_view(a.key)) <
               std::tuple(b.next_due, static_cast<int>(a.tier), std::string_view(b.key));
    });
    return rows;
}

std::string plan_page(const std::vector<TaskRow>& rows, base::WallTime now, bool shadow) {
    std::string page;
    JsonWriter json(page);
    json.object().field("time", now).field("shadow", shadow).key("items").array();
    for (const TaskRow& row : rows) {
        json.object().field("key", row.key).field("class", row.class_name);
        json.time_field("next_run", row.next_due)
            .field("due_in", shown_seconds(row.next_due - now));
        json.field("tier", model::to_string(row.tier))
            .field("priority", model::to_string(row.priority))
            .field("interval", shown_seconds(row.interval));
        if (shadow) json.field("would_be", shown_seconds(row.suggested));
        json.field("place", schedule::to_string(row.place)).end_object();
    }
    json.end_array().end_object();
    return page;
}

void write_breaker(JsonWriter& json, const TaskRow& row,
                   const std::vector<store::StoredChange>& history) {
    const FailureRow failure = row.failure.value_or(FailureRow{});
    json.object().field("key", row.key).field("type", row.class_name);
    json.field("instance", runtime::name_of(row.key));
    json.field("state", model::to_string(failure.breaker)).field("failures", failure.consecutive);
    json.time_field("since", failure.breaker_since).time_field("retryAt", row.next_due);
    json.time_field("firstFailureAt", failure.first_failure);
    json.text_field("lastError", failure.message).text_field("code", failure.code);
    json.field("deadLetter", failure.dead());
    write_history(json, history);
    json.end_object();
}

void write_dead_letter(JsonWriter& json, const TaskRow& row,
                       const std::vector<store::StoredChange>& history) {
    const FailureRow failure = row.failure.value_or(FailureRow{});
    json.object().field("key", row.key).field("type", row.class_name);
    json.field("instance", runtime::name_of(row.key));
    json.field("reason", model::to_string(failure.dead_letter));
    json.time_field("since", failure.dead_letter_since);
    json.time_field("firstAttempt", failure.first_failure);
    json.time_field("lastAttempt", failure.last_attempt);
    json.field("retryCount", failure.consecutive).field("entries", failure.dead_letter_entries);
    json.time_field("nextRetry", row.next_due).field("enabled", row.enabled);
    json.text_field("lastError", failure.message).text_field("code", failure.code);
    write_history(json, history);
    json.end_object();
}

}  // namespace pollux::api
