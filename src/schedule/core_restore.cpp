// State from the store, and back into it. Wall time is turned into boot time only here.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "model/validate.hpp"
#include "schedule/recovery_spread.hpp"
#include "schedule/restored_switch.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
namespace {

using base::BootTime;
using base::WallTime;
using model::BreakerState;
using model::JobState;
using model::kNoIndex;

}  // namespace

BootTime SchedulerCore::from_wall(WallTime wall) const {
    if (wall.us == model::kNever) return BootTime::min();
    return now_.boot + (wall - now_.wall);
}

WallTime SchedulerCore::to_wall(BootTime boot) const {
    if (boot == BootTime::min()) return WallTime{model::kNever};
    const WallTime wall = now_.wall + (boot - now_.boot);
    return wall.us == model::kNever ? WallTime{1} : wall;
}

base::Status SchedulerCore::check_row(model::TaskSpec& spec) const {
    if (auto status = model::validate(spec); !status) return status;
    model::TaskSpec alone = spec;
    alone.needs.clear();  // a parent may stand in a later row, or have ended and gone
    if (auto status = check_against_fleet(alone, {}); !status) return status;
    if (tasks_.find(spec.key) == base::FlatIndex::kNone) return {};
    return base::config_error("task.key",
                              fmt::format("{} is restored twice", base::quoted(spec.key)));
}

// Those in a cycle could never start, and jobs that need one of them must not: they stay out, each
// with its reason.
void SchedulerCore::drop_unstartable(std::uint64_t correlation, std::vector<RestorableTask>& rows) {
    std::set<std::string, std::less<>> out;
    const auto specs = [&] {
        std::vector<const model::TaskSpec*> list;
        for (const RestorableTask& row : rows) {
            if (!row.spec.needs.empty()) list.push_back(&row.spec);
        }
        return list;
    };
    for (auto cycle = find_cycle(specs()); !cycle.empty(); cycle = find_cycle(specs())) {
        reject(correlation, cycle_error(cycle).error());
        out.insert(cycle.begin(), cycle.end());
        std::erase_if(rows, [&](const RestorableTask& row) { return out.contains(row.spec.key); });
    }
    for (bool again = !out.empty(); again;) {
        const auto hopeless = std::ranges::find_if(rows, [&](const RestorableTask& row) {
            return row.spec.cadence.kind == model::CadenceKind::kOnce &&
                   std::ranges::any_of(row.spec.needs, [&](const model::NeedGroup& group) {
                       return std::ranges::any_of(group.any_of, [&](const model::Parent& parent) {
                           return parent.kind == model::ParentKind::kTask &&
                                  out.contains(parent.name);
                       });
                   });
        });
        again = hopeless != rows.end();
        if (!again) break;
        reject(correlation, base::config_error("task.needs",
                                               fmt::format("{}: needs a task that was not restored",
                                                           base::quoted(hopeless->spec.key)))
                                .error());
        out.insert(hopeless->spec.key);
        rows.erase(hopeless);
    }
}

// One bad row must not keep the rest from being watched.
void SchedulerCore::on_restored(const TasksRestored& event) {
    std::vector<RestorableTask> rows;
    for (const RestoredTask& stored : *event.tasks) {
        RestorableTask row{stored.spec, &stored.record, 0};
        auto status = check_row(row.spec);
        auto demand = status ? admission_.intern(row.spec) : base::Result<std::uint16_t>(0);
        if (status && !demand) status = std::unexpected(demand.error());
        if (!status) {
            reject(event.correlation, std::move(status.error()));
            continue;
        }
        row.demand = *demand;
        rows.push_back(std::move(row));
    }
    drop_unstartable(event.correlation, rows);
    std::vector<std::uint32_t> added;
    for (RestorableTask& row : rows) {
        if (tasks_.find(row.spec.key) != base::FlatIndex::kNone) {  // twice in this list
            reject(event.correlation, check_row(row.spec).error());
            added.push_back(kNoIndex);
            continue;
        }
        added.push_back(add_task(row.spec, row.demand));
        tasks_[added.back()].set(kFlagEnabled, is_enabled(row.spec, *row.record));
        restore(added.back(), *row.record);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (added[i] == kNoIndex) continue;
        auto& needs = rows[i].spec.needs;
        const auto gone = [&](const model::Parent& parent) {
            return parent.kind == model::ParentKind::kTask &&
                   tasks_.find(parent.name) == base::FlatIndex::kNone;
        };
        for (auto& group : needs) std::erase_if(group.any_of, gone);
        std::erase_if(needs, [](const auto& group) { return group.any_of.empty(); });
        link_needs(added[i], rows[i].spec);
    }
    resume(added);
}

// Everything is linked: bring each task to its place, overdue ones spread.
void SchedulerCore::resume(const std::vector<std::uint32_t>& added) {
    std::vector<RecoveringTask> recovering;
    for (const std::uint32_t task : added) {
        if (task == kNoIndex) continue;
        TaskSlot& slot = tasks_[task];
        if (!slot.recurring()) {
            if (slot.job != JobState::kPending) {
                slot.place = Place::kEnded;
                if (slot.node != kNoIndex) {
                    set_node_state(slot.node, slot.job == JobState::kCompleted ? NodeState::kGood
                                                                               : NodeState::kBad);
                }
            }
            continue;
        }
        if (!slot.has(kFlagEnabled)) continue;
        join_planner(task);
        recovering.push_back({task, slot.next_due, slot.interval_ms, slot.tier, slot.key_hash});
    }
    spread_overdue(recovering, now());
    for (const RecoveringTask& one : recovering) {
        update_node_of(one.task);
        if (tasks_[one.task].place == Place::kDisabled) schedule_at(one.task, one.due);
    }
    for (const std::uint32_t task : added) {
        if (task == kNoIndex || tasks_[task].recurring()) continue;
        TaskSlot& slot = tasks_[task];
        if (slot.job != JobState::kPending || !slot.has(kFlagEnabled)) continue;
        if (slot.place != Place::kDisabled) continue;
        slot.trigger = model::Trigger::kJob;
        if (slot.next_due > now()) {
            schedule_at(task, slot.next_due);
        } else {
            come_due(task);
        }
    }
}

void SchedulerCore::restore(std::uint32_t task, const model::TaskRecord& record) {
    TaskSlot& slot = tasks_[task];
    const auto past = [&](WallTime wall) { return std::min(from_wall(wall), now()); };
    slot.attempt = record.attempt;
    slot.last_success = past(record.last_success);
    slot.last_error = past(record.last_error);
    slot.last_mutation = past(record.last_mutation);
    slot.digest = record.digest;
    slot.set(kFlagHasDigest, record.has_digest);
    slot.set(kFlagUp, record.was_up);
    slot.set(kFlagAnswered, slot.last_answer() != BootTime::min());
    const Timing& timing = timings_[slot.timing];
    slot.interval_ms = record.interval_ms > 0 ? record.interval_ms : timing.base_ms;
    if (!slot.recurring() && record.job != JobState::kNotAJob) slot.job = record.job;
    // A clock that was set back must not put a task to sleep for longer than it ever waits.
    const std::uint32_t longest_ms = std::max({timing.max_ms, timing.base_ms, slot.interval_ms});
    const BootTime latest = now() + std::chrono::milliseconds(longest_ms);
    const bool planned = record.next_due.us != model::kNever;
    slot.next_due = planned ? std::min(from_wall(record.next_due), latest) : now();
    planner_.belief(task) = from_record(record.learned);
    planner_.recall(task);
    const model::FailureRecord& failed = record.failure;
    if (failed.consecutive == 0 && failed.interruptions == 0) return;
    FailureState& state = failure_of(task);
    state.consecutive = failed.consecutive;
    state.permanent_streak = failed.permanent_streak;
    state.interruptions = failed.interruptions;
    state.dead_letter_entries = failed.dead_letter_entries;
    state.breaker =
        failed.breaker == BreakerState::kHalfOpen ? BreakerState::kOpen : failed.breaker;
    state.dead_letter = failed.dead_letter;
    state.first_failure = past(failed.first_failure);
    state.breaker_since = past(failed.breaker_since);
    state.dead_letter_since = past(failed.dead_letter_since);
    state.last_attempt = past(failed.last_attempt);
    if (slot.profile == model::FailureProfile::kPulse) {
        state.pulse = {state.breaker,       state.consecutive,  failed.breaker_delay,
                       state.breaker_since, state.last_attempt, state.breaker_since,
                       state.breaker_since};
    }
    slot.trigger =
        state.consecutive >= kBreakerAt ? model::Trigger::kProbe : model::Trigger::kConfirm;
}

model::TaskRecord SchedulerCore::record(model::TaskHandle task) const {
    const TaskSlot& slot = tasks_[task.index];
    model::TaskRecord record;
    record.key = tasks_.key(task.index);
    record.spec_version = slot.version;
    record.enabled = slot.has(kFlagEnabled);
    record.job = slot.job;
    record.attempt = slot.attempt;
    // A run in flight ends as interrupted by a restart: its slot is due again then.
    record.next_due = to_wall(slot.next_due);
    record.last_success = to_wall(slot.last_success);
    record.last_error = to_wall(slot.last_error);
    record.last_mutation = to_wall(slot.last_mutation);
    record.digest = slot.digest;
    record.has_digest = slot.has(kFlagHasDigest);
    record.was_up = slot.has(kFlagUp);
    record.interval_ms = slot.interval_ms;
    record.learned = to_record(planner_.belief(task.index));
    if (slot.failure == kNoIndex) return record;
    const FailureState& state = failures_[slot.failure];
    record.failure.consecutive = state.consecutive;
    record.failure.permanent_streak = state.permanent_streak;
    record.failure.interruptions = state.interruptions;
    record.failure.dead_letter_entries = state.dead_letter_entries;
    record.failure.breaker = state.breaker;
    record.failure.dead_letter = state.dead_letter;
    record.failure.first_failure = to_wall(state.first_failure);
    record.failure.breaker_since = to_wall(state.breaker_since);
    record.failure.dead_letter_since = to_wall(state.dead_letter_since);
    record.failure.last_attempt = to_wall(state.last_attempt);
    record.failure.breaker_delay = state.pulse.retry_interval;
    return record;
}

model::TaskRecord SchedulerCore::take_record(model::TaskHandle task) {
    tasks_[task.index].set(kFlagDirty, false);
    return record(task);
}

bool SchedulerCore::matches_version(std::string_view key, std::uint64_t version) const {
    const std::uint32_t task = lookup(key);
    return task != base::FlatIndex::kNone &&
           tasks_[task].version == static_cast<std::uint32_t>(version);
}

}  // namespace pollux::schedule
