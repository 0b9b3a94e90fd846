#include "runtime/task_rows.hpp"

namespace pollux::runtime {
namespace {

FailureRow failure_row(const CoreLoop::View& view, model::TaskHandle task) {
    const schedule::FailureStory story = view.engine.core().failure(task);
    const auto wall = [&](base::BootTime at) {
        return at == base::BootTime{} ? base::WallTime{} : wall_of(view, at);
    };
    FailureRow row;
    row.consecutive = story.consecutive;
    row.breaker = story.breaker;
    row.dead_letter = story.dead_letter;
    row.dead_letter_entries = story.dead_letter_entries;
    row.first_failure = wall(story.first_failure);
    row.last_attempt = wall(story.last_attempt);
    row.permanent = story.permanent;
    if (row.open()) row.breaker_since = wall(story.breaker_since);
    if (row.dead()) row.dead_letter_since = wall(story.dead_letter_since);
    const auto told = view.failures.find(task.index);
    if (told != view.failures.end()) {
        row.code = told->second.code;
        row.message = told->second.message;
        row.message_at = told->second.at;
        row.answered = told->second.heard == Heard::kAnswer;
    }
    return row;
}

}  // namespace

double shown_seconds(base::Duration duration) {
    return static_cast<double>(base::round_to_ms(duration).count() / 1'000'000) / 1e3;
}

std::string_view class_of(std::string_view key) { return key.substr(0, key.find("::")); }

std::string_view name_of(std::string_view key) {
    const std::size_t end = key.find("::");
    return end == std::string_view::npos ? key : key.substr(end + 2);
}

base::WallTime wall_of(const CoreLoop::View& view, base::BootTime at) {
    if (at == base::BootTime::min() || at == base::BootTime::max()) return {};
    return view.now.wall + (at - view.now.boot);
}

TaskRow task_row(const CoreLoop::View& view, model::TaskHandle task) {
    const auto& core = view.engine.core();
    const schedule::TaskSlot& slot = core.slot(task);
    const schedule::Freshness fresh = core.freshness(task, view.now.boot);
    TaskRow row;
    row.key = core.key(task);
    row.class_name = core.settings().classes[slot.class_index].name;
    row.place = slot.place;
    row.enabled = slot.has(schedule::kFlagEnabled);
    row.recurring = slot.recurring();
    row.tier = slot.tier;
    row.priority =
        schedule::is_due_and_waiting(slot.place)
            ? core.ready_queue().effective_tier(slot.run_tier, slot.ready_since, view.now.boot)
            : slot.run_tier;
    row.profile = slot.profile;
    row.next_due = wall_of(view, slot.next_due);
    row.last_success = wall_of(view, slot.last_success);
    row.last_error = wall_of(view, slot.last_error);
    row.last_change = wall_of(view, slot.last_mutation);
    row.staleness = fresh.score;
    row.age = fresh.age;
    row.bound = fresh.bound;
    row.interval = fresh.expected_age;
    row.suggested = row.interval;
    if (slot.recurring() && core.planner().adaptive(task.index)) {
        row.suggested = std::chrono::milliseconds(core.planner().terms(task.index).planned_ms);
    }
    if (const PollPlan* plan = view.plan ? view.plan(task.index) : nullptr) {
        row.problem = plan->problem;
    }
    if (slot.failure != model::kNoIndex) row.failure = failure_row(view, task);
    return row;
}

std::vector<TaskRow> task_rows(const CoreLoop::View& view,
                               const std::function<bool(const schedule::TaskSlot&)>& wanted) {
    const auto& core = view.engine.core();
    std::vector<TaskRow> rows;
    for (std::uint32_t index = 0; index < core.capacity(); ++index) {
        if (!core.occupied(index)) continue;
        const model::TaskHandle task = core.handle_at(index);
        if (wanted(core.slot(task))) rows.push_back(task_row(view, task));
    }
    return rows;
}

}  // namespace pollux::runtime
