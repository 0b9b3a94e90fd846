// Start, finish, and what follows: freshness, the interval policy, the failure ladder.
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "model/validate.hpp"
#include "schedule/scheduler_core.hpp"
#include "schedule/staleness.hpp"

namespace pollux::schedule {
namespace {

using model::BreakerState;
using model::DeadLetterReason;
using model::kNoIndex;
using model::Outcome;
using model::Trigger;
using namespace std::chrono_literals;

constexpr base::Duration kLeaseGrace = 2s;   // for the result to travel
constexpr base::Duration kPokeSpacing = 1s;  // a storm of traps is one reason to look, not many
constexpr base::Duration kPokedProbeSpacing = 5s;  // and what is down is no reason to hurry
constexpr base::Duration kLongestRetryAfter = std::chrono::hours(1);
constexpr double kDownShare = 0.2;                     // of a class budget that probing may take
constexpr Picohertz kLeastDownRate = 100'000'000'000;  // 0.1/s: what probing may always take
constexpr std::uint64_t kLadderPurpose = 0x6c6164646572ULL;

base::Duration ms(std::uint32_t value) { return std::chrono::milliseconds(value); }

std::uint32_t to_ms(base::Duration value) {
    const std::int64_t count = std::clamp<std::int64_t>(value.count() / 1'000'000, 1, 0xFFFFFFFE);
    return static_cast<std::uint32_t>(count);
}

// The next slot of a grid that starts at the planned time: no drift, missed slots are skipped.
base::BootTime anchored(base::BootTime planned, base::Duration interval, base::BootTime now) {
    const base::BootTime next = planned + interval;
    if (next > now) return next;
    const std::int64_t missed = (now - planned).count() / interval.count() + 1;
    return planned + base::saturating_mul(interval, missed);
}

}  // namespace

double SchedulerCore::unit_for(const TaskSlot& slot, std::uint64_t purpose) const {
    return base::unit_interval(
        base::siphash24(seed_, slot.key_hash, std::uint64_t{slot.attempt}, purpose));
}

void SchedulerCore::start(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    ready_.note_left(task);
    Lease lease;
    lease.task = task;
    lease.run = {epoch_, ++run_counter_};
    lease.started = now();
    lease.due = slot.next_due;
    lease.trigger = slot.trigger;
    const base::BootTime deadline = now() + ms(timings_[slot.timing].timeout_ms);
    lease.ends = deadline + kLeaseGrace;
    admission_.take(task, now(), lease);
    const std::uint32_t index = leases_.open(lease);
    if (lease.device != kNoIndex) {
        Device& device = devices_[lease.device];
        leases_[index].device_next = device.first_run;
        if (device.first_run != kNoIndex) leases_[device.first_run].device_prev = index;
        device.first_run = index;
    }
    slot.run = index;
    slot.place = Place::kRunning;
    ++slot.attempt;
    ++stats_.started;
    load_.started(now() - slot.next_due);
    if (slot.failure != kNoIndex) begin_probe(failures_[slot.failure], now());
    out_->starts.push_back({tasks_.handle(task), lease.run, slot.next_due, deadline, slot.attempt,
                            slot.trigger, slot.has(kFlagFreshLogin)});
    slot.set(kFlagFreshLogin, false);
    // Now that it has taken its share: what is left is for those who waited with it.
    was_dealt_with(task);
    if (admission_.drop_reservations(task)) tend_pools();
}

// Gives back what the run held, and wakes who waited for it.
void SchedulerCore::end_run(std::uint32_t index) {
    const Lease lease = leases_[index];
    if (lease.device != kNoIndex) {
        if (lease.device_prev != kNoIndex) {
            leases_[lease.device_prev].device_next = lease.device_next;
        } else {
            devices_[lease.device].first_run = lease.device_next;
        }
        if (lease.device_next != kNoIndex) {
            leases_[lease.device_next].device_prev = lease.device_prev;
        }
    }
    leases_.close(index);
    TaskSlot& slot = tasks_[lease.task];
    slot.run = kNoIndex;
    slot.place = Place::kDisabled;
    slot.run_tier = slot.tier;
    admission_.give_back(lease);
    tend_after_release(lease);
}

void SchedulerCore::on_finished(const RunFinished& event) {
    const bool known = tasks_.is_live(event.task) && tasks_[event.task.index].run != kNoIndex &&
                       leases_[tasks_[event.task.index].run].run == event.run;
    if (!known) {
        ++stats_.stale_results;
        return;
    }
    const std::uint32_t task = event.task.index;
    const std::uint32_t index = tasks_[task].run;
    Lease facts;
    facts.started = leases_[index].started;
    facts.due = leases_[index].due;
    // Before those who wait for the device are told that it is free.
    const std::uint32_t device = tasks_[task].device;
    if (event.retry_after > base::Duration::zero() && device != kNoIndex) {
        devices_.close_until(device, now() + std::min(event.retry_after, kLongestRetryAfter));
    }
    end_run(index);
    ++stats_.finished;
    if (event.outcome != Outcome::kInterrupted) load_.finished(now() - facts.started);
    if (tasks_[task].recurring()) {
        finish_recurring(task, event, facts);
    } else {
        finish_job(task, event);
    }
}

// The lease ended without an answer, or its holder is known to be gone.
void SchedulerCore::on_expired(std::uint32_t index, bool report_cancel) {
    const std::uint32_t task = leases_[index].task;
    RunFinished result;
    result.task = tasks_.handle(task);
    result.run = leases_[index].run;
    result.outcome = Outcome::kInterrupted;
    Lease facts;
    facts.started = leases_[index].started;
    facts.due = leases_[index].due;
    if (report_cancel) out_->cancels.push_back({result.task, result.run});
    end_run(index);
    ++stats_.expired;
    if (tasks_[task].recurring()) {
        finish_recurring(task, result, facts);
    } else {
        finish_job(task, result);
    }
}

// Brings freshness and digest up to date; returns whether the meaning of the answer changed.
bool SchedulerCore::take_answer(std::uint32_t task, const RunFinished& result) {
    TaskSlot& slot = tasks_[task];
    const bool success = model::is_success(result.outcome);
    const bool first = !slot.has(kFlagAnswered);
    bool changed = !first && success != slot.has(kFlagUp);
    if (success && result.has_digest) {
        changed = changed || (slot.has(kFlagHasDigest) && slot.digest != result.digest);
        slot.digest = result.digest;
        slot.set(kFlagHasDigest, true);
    }
    if (first || changed) slot.last_mutation = now();
    if (first || success != slot.has(kFlagUp)) {
        const bool before = first ? success : slot.has(kFlagUp);
        change(task, ChangeKind::kHealth, before ? 1 : 0, success ? 1 : 0);
    }
    slot.set(kFlagAnswered, true);
    slot.set(kFlagUp, success);
    (success ? slot.last_success : slot.last_error) = now();
    return changed;
}

void SchedulerCore::finish_recurring(std::uint32_t task, const RunFinished& result,
                                     const Lease& lease) {
    TaskSlot& slot = tasks_[task];
    if (result.outcome == Outcome::kInterrupted) {
        after_failure(task, result.outcome, planner_.current_ms(task));
    } else {
        Answer answer;
        answer.at = now();
        answer.planned = lease.due;
        answer.elapsed = slot.last_answer() == base::BootTime::min() ? ms(slot.interval_ms)
                                                                     : now() - slot.last_answer();
        if (planner_.wants_staleness(task)) {
            answer.staleness = freshness(tasks_.handle(task), now()).score;
        }
        answer.failed = !model::is_success(result.outcome);
        answer.known_rate = static_cast<double>(result.known_rate);
        answer.errors_before = slot.failure == kNoIndex ? 0 : failures_[slot.failure].consecutive;
        answer.changed = take_answer(task, result);
        const std::uint32_t interval = planner_.decide(task, answer, ready_.size());
        if (!std::isfinite(planner_.terms(task).rate) || ms(interval) > model::kLongestInterval) {
            fault(task);
            return;
        }
        if (answer.failed) {
            after_failure(task, result.outcome, interval);
        } else {
            after_success(task, interval, lease.due);
        }
    }
    persist(task, Durability::kWriteBehind);
    update_node_of(task);
    if (!slot.has(kFlagEnabled)) {
        leave_place(task);
    } else if (slot.has(kFlagPokePending)) {
        slot.set(kFlagPokePending, false);
        due_now(task, Trigger::kPoke);
    }
}

void SchedulerCore::after_success(std::uint32_t task, std::uint32_t interval_ms,
                                  base::BootTime due) {
    TaskSlot& slot = tasks_[task];
    if (slot.failure != kNoIndex) clear_failure(task);
    slot.interval_ms = interval_ms;
    slot.trigger = Trigger::kSchedule;
    schedule_at(task, anchored(due, ms(interval_ms), now()));
}

FailureState& SchedulerCore::failure_of(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.failure == kNoIndex) slot.failure = failures_.allocate();
    return failures_[slot.failure];
}

void SchedulerCore::after_failure(std::uint32_t task, Outcome outcome, std::uint32_t policy_ms) {
    TaskSlot& slot = tasks_[task];
    FailureState& state = failure_of(task);
    const BreakerState breaker = told_state(state);
    state.half_open_told = false;
    const DeadLetterReason dead = state.dead_letter;
    const ClassLoad& load = class_load_[slot.class_index];
    LadderInput input;
    input.profile = slot.profile;
    input.outcome = outcome;
    input.now = now();
    input.policy_interval = ms(policy_ms);
    input.bound = ms(timings_.bound_ms(slot.timing));
    input.max = ms(timings_[slot.timing].max_ms);
    const double share = kDownShare * static_cast<double>(load.base);
    input.cap_stretch =
        static_cast<double>(load.down) / std::max(share, static_cast<double>(kLeastDownRate));
    input.unit = unit_for(slot, kLadderPurpose);
    const LadderDecision decision = next_attempt(state, input);
    if (outcome != Outcome::kInterrupted) count_down_rate(task, decision.usual);
    slot.trigger = decision.trigger;
    if (decision.fresh_login) slot.set(kFlagFreshLogin, true);
    slot.interval_ms = to_ms(decision.delay);
    schedule_at(task, now() + decision.delay);
    const auto code = [](auto value) { return static_cast<std::uint8_t>(value); };
    if (state.breaker != breaker) {
        change(task, ChangeKind::kBreaker, code(breaker), code(state.breaker));
    }
    if (state.dead_letter != dead) {
        change(task, ChangeKind::kDeadLetter, code(dead), code(state.dead_letter));
    }
}

// Keeps the sum of what the probes of a class would like to cost.
void SchedulerCore::count_down_rate(std::uint32_t task, base::Duration usual) {
    TaskSlot& slot = tasks_[task];
    FailureState& state = failures_[slot.failure];
    Picohertz& sum = class_load_[slot.class_index].down;
    sum -= state.down_rate;
    const bool down = state.breaker != BreakerState::kClosed && usual > base::Duration::zero() &&
                      slot.has(kFlagJoined);
    state.down_rate = down ? rate_of(to_ms(usual)) : 0;
    sum += state.down_rate;
}

// A success at any point closes everything.
void SchedulerCore::clear_failure(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    const FailureState state = failures_[slot.failure];
    class_load_[slot.class_index].down -= state.down_rate;
    failures_.release(slot.failure);
    slot.failure = kNoIndex;
    const auto code = [](auto value) { return static_cast<std::uint8_t>(value); };
    if (state.breaker != BreakerState::kClosed) {
        change(task, ChangeKind::kBreaker, code(told_state(state)), code(BreakerState::kClosed));
    }
    if (state.dead_letter != DeadLetterReason::kNone) {
        change(task, ChangeKind::kDeadLetter, code(state.dead_letter),
               code(DeadLetterReason::kNone));
    }
}

void SchedulerCore::on_observed(const Observed& event) {
    if (!tasks_.is_live(event.task) || !tasks_[event.task.index].recurring()) {
        ++stats_.pokes_ignored;
        return;
    }
    const std::uint32_t task = event.task.index;
    TaskSlot& slot = tasks_[task];
    const base::BootTime at = std::min(event.at, now());
    if (at <= slot.last_answer()) return;  // older than what is known
    Answer answer;
    answer.at = at;
    answer.planned = at;
    answer.elapsed = slot.last_answer() == base::BootTime::min() ? ms(slot.interval_ms)
                                                                 : at - slot.last_answer();
    answer.changed = event.changed && slot.has(kFlagAnswered);
    if (answer.changed || !slot.has(kFlagAnswered)) slot.last_mutation = at;
    slot.set(kFlagAnswered, true);
    slot.last_success = at;
    if (slot.failure != kNoIndex) return;  // its own poll still fails: the ladder decides
    const std::uint32_t interval = planner_.decide(task, answer, ready_.size());
    if (slot.place == Place::kScheduled && slot.next_due > now()) {
        slot.interval_ms = interval;
        schedule_at(task, at + ms(interval));
    }
    persist(task, Durability::kWriteBehind);
    update_node_of(task);
}

void SchedulerCore::on_poked(const Poked& event) {
    const bool wakeable = tasks_.is_live(event.task) && tasks_[event.task.index].recurring() &&
                          tasks_[event.task.index].has(kFlagEnabled);
    if (!wakeable) {
        ++stats_.pokes_ignored;
        return;
    }
    TaskSlot& slot = tasks_[event.task.index];
    // A question whether it lives is answered by a fresh connection, as a confirmation is.
    // While a run is under way that is the next one.
    if (event.reason == PokeReason::kVerify) slot.set(kFlagFreshLogin, true);
    if (slot.place == Place::kRunning) {
        slot.set(kFlagPokePending, true);
        return;
    }
    due_now(event.task.index,
            event.reason == PokeReason::kOperator ? Trigger::kOperator : Trigger::kPoke);
}

// Makes a task due, inside all budgets. Only one that still waits for its time is moved.
void SchedulerCore::due_now(std::uint32_t task, Trigger trigger) {
    TaskSlot& slot = tasks_[task];
    if (slot.place != Place::kScheduled) return;
    base::BootTime due = now();
    if (trigger == Trigger::kPoke && slot.last_answer() != base::BootTime::min()) {
        const bool open =
            slot.failure != kNoIndex && failures_[slot.failure].breaker != BreakerState::kClosed;
        due = std::max(due, slot.last_answer() + (open ? kPokedProbeSpacing : kPokeSpacing));
    }
    if (due > now() && due >= slot.next_due) return;  // comes sooner by itself
    slot.trigger = trigger;
    if (trigger == Trigger::kOperator) slot.run_tier = model::Tier::kCritical;
    if (due > now()) {
        schedule_at(task, due);
        return;
    }
    leave_place(task);
    slot.next_due = std::min(slot.next_due, due);
    come_due(task);
}

void SchedulerCore::persist(std::uint32_t task, Durability durability) {
    TaskSlot& slot = tasks_[task];
    if (durability == Durability::kWriteBehind && slot.has(kFlagDirty)) return;
    slot.set(kFlagDirty, true);
    out_->persists.push_back({tasks_.handle(task), durability});
}

void SchedulerCore::change(std::uint32_t task, ChangeKind kind, std::uint8_t from,
                           std::uint8_t to) {
    const TaskSlot& slot = tasks_[task];
    const std::uint32_t failures =
        slot.failure == kNoIndex ? 0 : failures_[slot.failure].consecutive;
    out_->changes.push_back({tasks_.handle(task), kind, from, to, failures, slot.next_due});
    persist(task, Durability::kBeforeSeen);
}

}  // namespace pollux::schedule
