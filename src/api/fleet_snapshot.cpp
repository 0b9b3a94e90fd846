#include "api/fleet_snapshot.hpp"

#include <algorithm>
#include <map>

#include "runtime/insight_books.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::api {
namespace {

using runtime::CoreLoop;
using runtime::RunRecord;
using runtime::TargetState;
using runtime::TaskHealth;

// What one task adds to the row of its target. The main task, which comes first, gives what there
// can be only one of.
class TaskReader {
  public:
    explicit TaskReader(const CoreLoop::View& view) : view_(view), core_(view.engine.core()) {}

    void read(std::string_view key, bool main, FleetRow& row) const {
        const model::TaskHandle task = core_.find(key);
        if (!core_.is_live(task)) return;
        const schedule::TaskSlot& slot = core_.slot(task);
        const schedule::Freshness fresh = core_.freshness(task, view_.now.boot);
        const runtime::RunBook::Page* runs = view_.insight.runs.of(task.index);
        const RunRecord* last = runs == nullptr ? nullptr : runs->last();
        const TargetState state = runtime::state_of(health_of(slot, fresh, runs));
        if (main) {
            row.state = state;
            read_main(task, slot, fresh, row);
        } else {
            row.state = runtime::joined(row.state, state);
        }
        if (state != TargetState::kDisabled && slot.next_due != base::BootTime::max()) {
            const base::WallTime due = runtime::wall_of(view_, slot.next_due);
            if (row.next_due == base::WallTime{} || due < row.next_due) row.next_due = due;
        }
        if (runs != nullptr) read_runs(*runs, last, main, row);
        read_trouble(task, slot, row);
        if (main && row.state == TargetState::kStale) {
            row.since = row.last_success + fresh.bound;
        }
    }

  private:
    static TaskHealth health_of(const schedule::TaskSlot& slot, const schedule::Freshness& fresh,
                                const runtime::RunBook::Page* runs) {
        TaskHealth health;
        health.enabled = slot.has(schedule::kFlagEnabled);
        health.answered = fresh.known;
        health.up = slot.has(schedule::kFlagUp);
        health.partly = runs != nullptr && runs->last_counted() == model::Outcome::kDegraded;
        health.overdue = fresh.age > fresh.bound;
        health.held_back = slot.place == schedule::Place::kWaitsForNeeds;
        health.behind = health.held_back || slot.has(schedule::kFlagSlow);
        return health;
    }

    void read_main(model::TaskHandle task, const schedule::TaskSlot& slot,
                   const schedule::Freshness& fresh, FleetRow& row) const {
        row.tier = slot.tier;
        row.interval = fresh.expected_age;
        row.suggested = row.interval;
        if (core_.planner().adaptive(task.index)) {
            row.suggested = std::chrono::milliseconds(core_.planner().terms(task.index).planned_ms);
        }
        row.last_success = runtime::wall_of(view_, slot.last_success);
        row.bound = fresh.bound;
    }

    static void read_runs(const runtime::RunBook::Page& runs, const RunRecord* last, bool main,
                          FleetRow& row) {
        row.since = std::max(row.since, runs.since());
        if (!row.headline) row.headline = runs.headline();
        if (!main || last == nullptr) return;
        row.duration = std::chrono::microseconds(last->duration_us);
        row.lag = std::chrono::milliseconds(last->lag_ms);
    }

    void read_trouble(model::TaskHandle task, const schedule::TaskSlot& slot, FleetRow& row) const {
        if (slot.failure != model::kNoIndex) {
            const schedule::FailureStory story = core_.failure(task);
            row.failures = std::max(row.failures, story.consecutive);
            if (worse(story.breaker) > worse(row.breaker)) {
                row.breaker = story.breaker;
                row.breaker_since = runtime::wall_of(view_, story.breaker_since);
            }
            if (row.dead_letter == model::DeadLetterReason::kNone &&
                story.dead_letter != model::DeadLetterReason::kNone) {
                row.dead_letter = story.dead_letter;
                row.dead_letter_since = runtime::wall_of(view_, story.dead_letter_since);
            }
            const bool fails = story.consecutive > 0;
            if (fails && row.since == base::WallTime{} && story.first_failure != base::BootTime{}) {
                row.since = runtime::wall_of(view_, story.first_failure);
            }
            const auto told = view_.failures.find(task.index);
            if (fails && row.problem.empty() && told != view_.failures.end()) {
                row.problem = told->second.message;
            }
        }
        if (!row.problem.empty()) return;
        const runtime::PollPlan* plan = view_.plan ? view_.plan(task.index) : nullptr;
        if (plan != nullptr) row.problem = plan->paused.empty() ? plan->problem : plan->paused;
    }

    static int worse(model::BreakerState state) {
        if (state == model::BreakerState::kOpen) return 2;
        return state == model::BreakerState::kHalfOpen ? 1 : 0;
    }

    const CoreLoop::View& view_;
    const schedule::SchedulerCore& core_;
};

TargetState heard_state(const runtime::InboundTarget& target, const runtime::PushRow* push) {
    if (!target.enabled) return TargetState::kDisabled;
    if (!target.problem.empty()) return TargetState::kDown;
    // Traps and webhooks come when something happened: silence is good news.
    if (target.kind != model::ProtocolKind::kPush) return TargetState::kUp;
    if (push == nullptr || push->record.state == runtime::PushState::kUnknown) {
        return TargetState::kUnknown;
    }
    return push->record.state == runtime::PushState::kUp ? TargetState::kUp : TargetState::kDown;
}

}  // namespace

void take_polled(const CoreLoop::View& core, FleetSnapshot& into) {
    into.now = core.now.wall;
    into.rows.resize(into.shown.size());
    const TaskReader reader(core);
    for (std::size_t i = 0; i < into.shown.size(); ++i) {
        const FleetFrame::Row& target = into.frame->rows()[into.shown[i]];
        for (std::size_t task = 0; task < target.tasks.size(); ++task) {
            reader.read(target.tasks[task], task == 0, into.rows[i]);
        }
        FleetRow& row = into.rows[i];
        const bool since_unknown =
            row.state == TargetState::kDisabled || row.state == TargetState::kUnknown;
        if (since_unknown) row.since = {};
    }
}

void take_heard(const std::vector<runtime::PushRow>& pushes, FleetSnapshot& into) {
    into.rows.resize(into.shown.size());
    for (std::size_t i = 0; i < into.shown.size(); ++i) {
        const runtime::InboundTarget* target = into.frame->rows()[into.shown[i]].inbound;
        if (target == nullptr) continue;
        const auto found =
            std::ranges::lower_bound(pushes, target->key, {}, &runtime::PushRow::key);
        const runtime::PushRow* push =
            found != pushes.end() && found->key == target->key ? &*found : nullptr;
        FleetRow& row = into.rows[i];
        row.state = heard_state(*target, push);
        row.problem = target->problem;
        if (target->kind != model::ProtocolKind::kPush) continue;
        row.interval = target->interval;
        row.suggested = target->interval;
        row.bound = target->interval + target->grace;
        if (push == nullptr || !target->hears()) continue;
        row.since = push->record.since;
        row.last_success = push->record.last;
        row.next_due = push->expected;
        row.value = push->record.value;
        if (row.state == TargetState::kDown) row.problem = push->record.message;
    }
}

}  // namespace pollux::api
