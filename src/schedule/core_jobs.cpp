// One-shot work and dependencies: completions count down the unmet groups of their children.
#include <algorithm>
#include <utility>

#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
namespace {

using model::JobState;
using model::kNoIndex;
using model::Outcome;
using namespace std::chrono_literals;

constexpr base::Duration kWakeSpread = 60s;  // held tasks come back over this time, or an interval
constexpr base::Duration kJobRetryCap = 60s;
constexpr base::Duration kLongestJobRetry = 24h;
constexpr std::uint64_t kSpreadPurpose = 0x737072656164ULL;

}  // namespace

void SchedulerCore::finish_job(std::uint32_t task, const RunFinished& result) {
    TaskSlot& slot = tasks_[task];
    if (slot.job != JobState::kPending) return;
    if (model::is_success(result.outcome)) {
        slot.last_success = now();
        end_job(task, JobState::kCompleted);
        return;
    }
    if (result.outcome != Outcome::kInterrupted) slot.last_error = now();
    retry_job(task, result);
}

void SchedulerCore::retry_job(std::uint32_t task, const RunFinished& result) {
    const Outcome outcome = result.outcome;
    TaskSlot& slot = tasks_[task];
    FailureState& state = failure_of(task);
    LadderInput input;
    input.outcome = outcome == Outcome::kInterrupted ? outcome : Outcome::kTransient;
    input.now = now();
    input.policy_interval = kJobRetryCap;
    input.bound = kJobRetryCap;
    input.max = kJobRetryCap;
    input.unit = unit_for(slot, kSpreadPurpose);
    const LadderDecision decision = next_attempt(state, input);
    const bool given_up =
        outcome == Outcome::kPermanent ||
        static_cast<std::int64_t>(state.consecutive) >= jobs_[task].max_attempts ||
        state.dead_letter == model::DeadLetterReason::kRepeatedInterruption;
    if (given_up || !slot.has(kFlagEnabled)) {
        end_job(task, given_up ? JobState::kFailed : JobState::kCancelled);
        return;
    }
    const base::Duration delay = result.job_delay > base::Duration::zero()
                                     ? std::min(result.job_delay, kLongestJobRetry)
                                     : decision.delay;
    slot.interval_ms = static_cast<std::uint32_t>(delay.count() / 1'000'000);
    schedule_at(task, now() + delay);
    persist(task, Durability::kWriteBehind);
}

// An ended job as if it were new. Those that failed because of it stay as they are.
void SchedulerCore::revive_job(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    const JobState before = std::exchange(slot.job, JobState::kPending);
    slot.place = Place::kDisabled;
    slot.trigger = model::Trigger::kJob;
    slot.next_due = now();
    slot.set(kFlagEnabled, true);
    change(task, ChangeKind::kJob, static_cast<std::uint8_t>(before),
           static_cast<std::uint8_t>(JobState::kPending));
    if (slot.node != kNoIndex) set_node_state(slot.node, NodeState::kUnknown);
    come_due(task);
}

void SchedulerCore::end_job(std::uint32_t task, JobState state) {
    TaskSlot& slot = tasks_[task];
    const JobState before = slot.job;
    if (slot.failure != kNoIndex) {
        failures_.release(slot.failure);
        slot.failure = kNoIndex;
    }
    leave_place(task);
    slot.place = Place::kEnded;
    slot.job = state;
    change(task, ChangeKind::kJob, static_cast<std::uint8_t>(before),
           static_cast<std::uint8_t>(state));
    if (slot.node == kNoIndex) return;
    set_node_state(slot.node, state == JobState::kCompleted ? NodeState::kGood : NodeState::kBad);
}

void SchedulerCore::cancel_job(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.place == Place::kRunning) {
        out_->cancels.push_back({tasks_.handle(task), leases_[slot.run].run});
        ++stats_.cancelled;
        end_run(slot.run);
    }
    end_job(task, JobState::kCancelled);
}

// Sets the state of a node and lets it work on through the graph. A list instead of recursion: a
// chain of a hundred thousand jobs may fail at once.
void SchedulerCore::set_node_state(std::uint32_t node, NodeState state) {
    graph_.set_state(node, state, [&](std::uint32_t owner) { affected_.push_back(owner); });
    if (settling_) return;  // the loop below, further up the stack, goes on with them
    settling_ = true;
    for (std::size_t i = 0; i < affected_.size(); ++i) {
        const std::uint32_t task = affected_[i];
        if (task != kNoIndex && tasks_[task].place != Place::kFree) needs_changed(task);
    }
    affected_.clear();
    settling_ = false;
}

void SchedulerCore::needs_changed(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (is_due_and_waiting(slot.place) && graph_.unmet_hold(slot.node) > 0) {
        leave_place(task);  // its turn had not come yet, and now it must not
        slot.place = Place::kWaitsForNeeds;
    }
    if (!slot.recurring()) {
        const bool waits = slot.place == Place::kWaitsForNeeds;
        if (!waits) return;
        if (graph_.unmet_hold(slot.node) == 0) {
            slot.next_due = std::max(slot.next_due, now());
            slot.place = Place::kDisabled;
            come_due(task);
        } else if (graph_.has_hopeless_group(slot.node) &&
                   jobs_[task].on_parent_failure == model::ParentFailure::kFail) {
            end_job(task, JobState::kFailed);
        }
        return;
    }
    const bool was_slow = slot.has(kFlagSlow);
    const bool slow = graph_.unmet_slow(slot.node) > 0;
    slot.set(kFlagSlow, slow);
    const bool released = slot.place == Place::kWaitsForNeeds && graph_.unmet_hold(slot.node) == 0;
    const bool quicker = was_slow && !slow && slot.place == Place::kScheduled;
    if (!released && !quicker) return;
    const base::Duration interval = std::chrono::milliseconds(planner_.current_ms(task));
    const double share = unit_for(slot, kSpreadPurpose);
    const base::Duration wait =
        base::from_seconds(base::to_seconds(std::min(interval, kWakeSpread)) * share);
    const base::BootTime due = now() + wait;
    if (released || due < slot.next_due) {
        slot.trigger = model::Trigger::kPoke;
        schedule_at(task, due);
    }
}

// After an edit: what its children lend it, and what it lends its parents.
void SchedulerCore::inherit_urgency(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.node == kNoIndex) return;
    model::Tier tier = slot.tier;
    for (const std::uint32_t child : graph_.child_owners(slot.node)) {
        const TaskSlot& other = tasks_[child];
        if (!other.recurring() && other.place != Place::kEnded) tier = std::max(tier, other.tier);
    }
    slot.tier = tier;
    slot.run_tier = std::max(slot.run_tier, tier);
    raise_parents(task);
}

// A job is as urgent as the most urgent job that waits for it.
void SchedulerCore::raise_parents(std::uint32_t task) {
    std::vector<std::uint32_t> todo{task};
    while (!todo.empty()) {
        const std::uint32_t child = todo.back();
        todo.pop_back();
        if (tasks_[child].node == kNoIndex) continue;
        const model::Tier tier = std::max(tasks_[child].tier, tasks_[child].run_tier);
        for (const auto& group : graph_.groups(tasks_[child].node)) {
            for (const std::uint32_t node : group.parents) {
                const std::uint32_t parent = graph_.owner(node);
                if (parent == kNoIndex || tasks_[parent].recurring()) continue;
                TaskSlot& slot = tasks_[parent];
                if (slot.run_tier >= tier || slot.place == Place::kEnded) continue;
                const bool queued = slot.place == Place::kReady;
                if (queued) ready_.note_left(parent);
                slot.run_tier = tier;
                slot.tier = tier;
                if (queued) ready_.push(parent);
                rank_again(parent);
                todo.push_back(parent);
            }
        }
    }
}

// A recurring parent counts as down when its breaker opens: a single failure is confirmed first.
void SchedulerCore::update_node_of(std::uint32_t task) {
    const TaskSlot& slot = tasks_[task];
    if (slot.node == kNoIndex || !slot.recurring()) return;
    const bool down = slot.failure != kNoIndex && failures_[slot.failure].consecutive >= kBreakerAt;
    NodeState state = graph_.state(slot.node);
    if (down) {
        state = NodeState::kBad;
    } else if (slot.last_success != base::BootTime::min()) {
        state = NodeState::kGood;
    }
    if (state != graph_.state(slot.node)) set_node_state(slot.node, state);
}

std::uint32_t SchedulerCore::node_of_task(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.node != kNoIndex) return slot.node;
    slot.node = graph_.add_node(task);
    if (slot.recurring()) {
        update_node_of(task);
    } else if (slot.job == JobState::kCompleted) {
        set_node_state(slot.node, NodeState::kGood);
    } else if (slot.job != JobState::kPending) {
        set_node_state(slot.node, NodeState::kBad);
    }
    return slot.node;
}

std::uint32_t SchedulerCore::node_of_device(std::uint32_t device) {
    if (devices_[device].node == kNoIndex) devices_[device].node = graph_.add_device_node(device);
    return devices_[device].node;
}

}  // namespace pollux::schedule
