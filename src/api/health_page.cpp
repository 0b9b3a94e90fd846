#include "api/health_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

using document::JsonWriter;
using runtime::FailureRow;
using runtime::TaskRow;

constexpr std::size_t kDeadLettersShown = 25;
const FailureRow kNoFailure;

const FailureRow& failure_of(const TaskRow& row) { return row.failure ? *row.failure : kNoFailure; }

// Failing polls are what a breaker's page is about; a closed one without failures is no news.
bool breaker_is_news(const TaskRow& row) {
    return failure_of(row).open() || failure_of(row).consecutive > 0;
}

base::WallTime retry_at(const TaskRow& row) {
    return failure_of(row).open() ? row.next_due : base::WallTime{};
}

void write_queue(JsonWriter& json, const schedule::QueueSnapshot& queue) {
    json.key("queue").object();
    json.field("depth", queue.depth).field("dueWithinSeconds", queue.due_soon);
    json.key("perType").object();
    for (const auto& one : queue.per_class) json.field(one.class_name, one.tasks);
    json.end_object().end_object();
}

void write_dead_letters(JsonWriter& json, const std::vector<TaskRow>& rows) {
    std::vector<const TaskRow*> dead;
    for (const TaskRow& row : rows) {
        if (failure_of(row).dead()) dead.push_back(&row);
    }
    std::ranges::stable_sort(dead, {}, [](const TaskRow* row) { return row->next_due; });
    json.key("deadLetter").object().field("count", dead.size()).key("tasks").array();
    for (std::size_t i = 0; i < std::min(dead.size(), kDeadLettersShown); ++i) {
        const TaskRow& row = *dead[i];
        json.object().field("instance", runtime::name_of(row.key)).field("type", row.class_name);
        json.time_field("nextRun", row.next_due).text_field("lastError", failure_of(row).message);
        json.field("failures", failure_of(row).consecutive).end_object();
    }
    json.end_array().end_object();
}

void write_breakers(JsonWriter& json, const std::vector<TaskRow>& rows) {
    json.key("breakers").array();
    for (const TaskRow& row : rows) {
        if (!breaker_is_news(row)) continue;
        json.object().field("instance", runtime::name_of(row.key)).field("type", row.class_name);
        json.field("state", model::to_string(failure_of(row).breaker));
        json.field("failures", failure_of(row).consecutive);
        json.time_field("retryAt", retry_at(row)).end_object();
    }
    json.end_array();
}

void write_staleness(JsonWriter& json, const std::vector<TaskRow>& rows) {
    json.key("staleness").array();
    for (const TaskRow& row : rows) {
        if (!row.enabled) continue;
        json.object().field("instance", runtime::name_of(row.key)).field("type", row.class_name);
        json.field("score", row.staleness).time_field("lastSuccess", row.last_success);
        json.time_field("lastError", row.last_error).end_object();
    }
    json.end_array();
}

void write_poll_status(JsonWriter& json, const TaskRow& row) {
    const FailureRow& failure = failure_of(row);
    json.key("pollStatus").object().time_field("lastSuccess", row.last_success);
    if (row.last_error != base::WallTime{}) {
        json.key("lastError").object().field("at", row.last_error);
        json.text_field("message", failure.message).text_field("code", failure.code);
        // A failure that is over was transient: it went away.
        json.field("category", failure.permanent ? "permanent" : "transient").end_object();
    }
    json.field("consecutiveFailures", failure.consecutive);
    json.time_field("firstFailureAt", failure.first_failure).end_object();
}

void write_breaker_and_dead_letter(JsonWriter& json, const TaskRow& row) {
    const FailureRow& failure = failure_of(row);
    json.key("breaker").object().field("state", model::to_string(failure.breaker));
    json.time_field("since", failure.breaker_since);
    json.time_field("lastTransition", failure.breaker_since);
    json.time_field("retryAt", retry_at(row));
    json.field("failureCount", failure.consecutive).end_object();
    json.key("deadLetter").object().field("present", failure.dead());
    if (failure.dead()) {
        json.field("reason", model::to_string(failure.dead_letter));
        json.time_field("firstAttempt", failure.first_failure);
        json.time_field("lastAttempt", failure.last_attempt);
        json.field("retryCount", failure.consecutive);
        json.time_field("nextRetry", row.next_due);
    }
    json.end_object();
}

void write_instance(JsonWriter& json, const TaskRow& row, const runtime::FleetView& fleet) {
    const std::string_view name = runtime::name_of(row.key);
    json.object().field("key", row.key).field("type", row.class_name);
    json.field("displayName", name).field("instance", name);
    json.field("connection", connection_of(fleet, row.key));
    json.field("enabled", row.enabled);
    write_poll_status(json, row);
    write_breaker_and_dead_letter(json, row);
    json.key("warnings").array();
    if (!row.problem.empty()) json.value(row.problem);
    json.end_array().end_object();
}

}  // namespace

std::string connection_of(const runtime::FleetView& fleet, std::string_view task_key) {
    const config::TargetPlanInput* target = runtime::find_target(fleet, task_key);
    if (target == nullptr || target->addresses.empty()) return {};
    const std::string& address = target->addresses.front();
    if (!target->port) return address;
    const bool v6 = address.find(':') != std::string::npos;
    return v6 ? fmt::format("[{}]:{}", address, *target->port)
              : fmt::format("{}:{}", address, *target->port);
}

HealthFacts health_facts(const runtime::CoreLoop::View& view) {
    const auto& core = view.engine.core();
    return {.now = view.now.wall,
            .adaptive = core.settings().mode == model::AdaptiveMode::kOn,
            .queue = core.queue_snapshot(view.now.boot),
            .rows = runtime::task_rows(
                view, [](const schedule::TaskSlot& slot) { return slot.recurring(); })};
}

std::string health_page(HealthFacts facts, const runtime::FleetView& fleet) {
    std::ranges::sort(facts.rows, {}, &TaskRow::key);
    std::string page;
    page.reserve(1024 + facts.rows.size() * 640);
    JsonWriter json(page);
    json.object().field("updatedAt", facts.now).field("enabled", facts.adaptive);
    write_queue(json, facts.queue);
    write_dead_letters(json, facts.rows);
    write_breakers(json, facts.rows);
    write_staleness(json, facts.rows);
    json.key("instances").array();
    for (const TaskRow& row : facts.rows) write_instance(json, row, fleet);
    json.end_array().end_object();
    return page;
}

}  // namespace pollux::api
