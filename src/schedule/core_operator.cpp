// What people ask for. Nothing here skips a budget: trigger, reset and retry make a task due now,
// and it starts when its gates let it.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
namespace {

using base::config_error;
using base::quoted;
using base::Status;
using model::BreakerState;
using model::DeadLetterReason;
using model::JobState;
using model::kNoIndex;

constexpr double kBulkShare = 0.2;  // of the steady rate: what bulk retries may add to it
// Per second: a small fleet would wait for minutes, and one more start a second floods nobody.
constexpr double kSlowestBulk = 1;

Status nothing_to_do(std::string_view key, std::string_view why) {
    return config_error("operator.nothing_to_do", fmt::format("{}: {}", quoted(key), why));
}

// Empty: it probes when its time or its turn comes.
std::string_view why_no_probe(Place place) {
    switch (place) {
        case Place::kRunning: return "its probe is running now";
        case Place::kEnded: return "the job has ended";
        case Place::kDisabled: return "it is disabled, so nothing would probe it: enable it first";
        case Place::kFaulted: return "it is faulted, so nothing would probe it: edit or enable it";
        default: return {};
    }
}

}  // namespace

void SchedulerCore::on_operator(const OperatorAction& action) {
    Status status;
    const bool all = action.verb == OperatorVerb::kResetAllBreakers ||
                     action.verb == OperatorVerb::kRetryAllDeadLetters;
    if (all) {
        status = operate_on_all(action);
    } else {
        const std::uint32_t task = lookup(action.key);
        status = task == base::FlatIndex::kNone
                     ? Status(config_error("task.unknown", fmt::format("task {} does not exist",
                                                                       quoted(action.key))))
                     : operate(action, task);
    }
    if (!status) reject(action.correlation, std::move(status.error()));
}

Status SchedulerCore::operate(const OperatorAction& action, std::uint32_t task) {
    switch (action.verb) {
        case OperatorVerb::kTriggerNow: return trigger_now(task);
        case OperatorVerb::kEnable:
        case OperatorVerb::kDisable: return switch_task(task, action.verb == OperatorVerb::kEnable);
        case OperatorVerb::kResetBreaker:
        case OperatorVerb::kRetryDeadLetter:
        case OperatorVerb::kRemoveDeadLetter:
        case OperatorVerb::kClearDeadLetter: return handle_failure(task, action.verb);
        default: break;
    }
    const TaskSlot& slot = tasks_[task];
    if (slot.recurring()) {
        return config_error("operator.not_a_job",
                            fmt::format("{} recurs: disable it instead", quoted(action.key)));
    }
    if (action.verb == OperatorVerb::kRetryJob) {
        if (slot.job == JobState::kFailed || slot.job == JobState::kCancelled) {
            revive_job(task);
            return {};
        }
        return nothing_to_do(action.key, slot.job == JobState::kCompleted
                                             ? "the job has completed"
                                             : "the job has not ended yet");
    }
    if (slot.job != JobState::kPending) {
        return nothing_to_do(action.key,
                             fmt::format("the job has ended ({})", to_string(slot.job)));
    }
    cancel_job(task);
    return {};
}

Status SchedulerCore::trigger_now(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    const std::string& key = tasks_.key(task);
    switch (slot.place) {
        case Place::kScheduled: break;
        case Place::kRunning: return nothing_to_do(key, "it is running now");
        case Place::kEnded: return nothing_to_do(key, "the job has ended");
        case Place::kDisabled: return nothing_to_do(key, "it is disabled: enable it first");
        case Place::kWaitsForNeeds: return nothing_to_do(key, "it waits for what it needs");
        case Place::kFaulted: return nothing_to_do(key, "it is faulted: edit or enable it");
        default: return nothing_to_do(key, "it is due already and waits for its turn");
    }
    slot.next_due = std::max(slot.next_due, now());
    due_now(task, model::Trigger::kOperator);
    return {};
}

Status SchedulerCore::switch_task(std::uint32_t task, bool on) {
    TaskSlot& slot = tasks_[task];
    const std::string& key = tasks_.key(task);
    if (slot.place == Place::kEnded) return nothing_to_do(key, "the job has ended");
    if (slot.has(kFlagEnabled) == on && slot.place != Place::kFaulted) {
        return nothing_to_do(key, on ? "it is enabled" : "it is disabled");
    }
    slot.set(kFlagEnabled, on);
    if (on) {
        if (slot.recurring() && !slot.has(kFlagJoined)) join_planner(task);
        enable(task);
        return {};
    }
    change(task, ChangeKind::kEnabled, 1, 0);
    if (slot.recurring()) leave_planner(task);
    if (slot.place != Place::kRunning) leave_place(task);  // a run in flight may finish
    return {};
}

Status SchedulerCore::handle_failure(std::uint32_t task, OperatorVerb verb) {
    TaskSlot& slot = tasks_[task];
    const std::string& key = tasks_.key(task);
    const FailureState* state = slot.failure == kNoIndex ? nullptr : &failures_[slot.failure];
    const bool open = state != nullptr && state->breaker != BreakerState::kClosed;
    const bool dead = state != nullptr && state->dead_letter != DeadLetterReason::kNone;
    if (verb == OperatorVerb::kResetBreaker && !open && !dead) {
        return nothing_to_do(key, "its breaker is closed");
    }
    if (verb != OperatorVerb::kResetBreaker && !dead) {
        return nothing_to_do(key, "it is not a dead letter");
    }
    if (verb == OperatorVerb::kRemoveDeadLetter) {
        clear_failure(task);
        slot.trigger = model::Trigger::kSchedule;
        return slot.has(kFlagEnabled) ? switch_task(task, false) : Status();
    }
    if (verb == OperatorVerb::kClearDeadLetter) {
        if (slot.place == Place::kRunning) return nothing_to_do(key, why_no_probe(slot.place));
        clear_failure(task);
        due_now(task, model::Trigger::kOperator);
        return {};
    }
    if (const auto why = why_no_probe(slot.place); !why.empty()) return nothing_to_do(key, why);
    release_failure(task, now());
    return {};
}

// Lets a failing task probe at `due`, or as soon as it may if it is due already and waits for its
// needs or its turn. Its history stays: a probe that fails goes back with it.
void SchedulerCore::release_failure(std::uint32_t task, base::BootTime due) {
    TaskSlot& slot = tasks_[task];
    FailureState& state = failures_[slot.failure];
    if (state.breaker == BreakerState::kOpen) {
        begin_probe(state, now());
        state.half_open_told = true;
        change(task, ChangeKind::kBreaker, static_cast<std::uint8_t>(BreakerState::kOpen),
               static_cast<std::uint8_t>(BreakerState::kHalfOpen));
    }
    slot.trigger = model::Trigger::kProbe;
    if (slot.place == Place::kScheduled && due < slot.next_due) schedule_at(task, due);
}

std::vector<std::uint32_t> SchedulerCore::chosen_by(const OperatorAction& action) const {
    std::vector<std::uint32_t> chosen;
    const OperatorFilter* filter = action.filter.get();
    const auto consider = [&](std::uint32_t task) {
        const TaskSlot& slot = tasks_[task];
        if (slot.place != Place::kScheduled || slot.failure == kNoIndex) return;
        if (filter != nullptr && !filter->class_name.empty() &&
            settings_.classes[slot.class_index].name != filter->class_name) {
            return;
        }
        const FailureState& state = failures_[slot.failure];
        // As for one task: a reset retries a dead letter too, also one that never opened a breaker.
        const bool dead = state.dead_letter != DeadLetterReason::kNone;
        const bool open = action.verb == OperatorVerb::kResetAllBreakers &&
                          state.breaker != BreakerState::kClosed;
        if (dead || open) chosen.push_back(task);
    };
    if (filter == nullptr || filter->keys.empty()) {
        for (std::uint32_t task = 0; task < tasks_.capacity(); ++task) consider(task);
        return chosen;
    }
    for (const std::string& key : filter->keys) {
        const std::uint32_t task = lookup(key);
        if (task != base::FlatIndex::kNone) consider(task);
    }
    std::ranges::sort(chosen);
    const auto same = std::ranges::unique(chosen);
    chosen.erase(same.begin(), same.end());
    return chosen;
}

Status SchedulerCore::operate_on_all(const OperatorAction& action) {
    std::vector<std::uint32_t> chosen = chosen_by(action);
    Picohertz steady = 0;
    for (const ClassLoad& load : class_load_) steady += load.base;
    if (chosen.empty()) {
        return nothing_to_do("*", action.verb == OperatorVerb::kRetryAllDeadLetters
                                      ? "there are no dead letters"
                                      : "no breaker is open");
    }
    std::ranges::sort(chosen, [&](std::uint32_t a, std::uint32_t b) {
        if (tasks_[a].tier != tasks_[b].tier) return tasks_[a].tier > tasks_[b].tier;
        return tasks_[a].next_due != tasks_[b].next_due ? tasks_[a].next_due < tasks_[b].next_due
                                                        : a < b;
    });
    const double rate = std::max(kSlowestBulk, per_second(steady) * kBulkShare);
    const base::Duration gap = base::from_seconds(1 / rate);
    bulk_free_at_ = std::max(bulk_free_at_, now());
    Acted acted{action.correlation, {}, {}};
    acted.tasks.reserve(chosen.size());
    acted.before.reserve(chosen.size());
    for (const std::uint32_t task : chosen) {
        acted.tasks.push_back(tasks_.handle(task));
        acted.before.push_back({failures_[tasks_[task].failure].breaker, tasks_[task].next_due});
        if (bulk_free_at_ >= tasks_[task].next_due) continue;  // comes sooner by itself
        release_failure(task, bulk_free_at_);
        bulk_free_at_ += gap;
    }
    out_->acted.push_back(std::move(acted));
    return {};
}

}  // namespace pollux::schedule
