// Read-only views: the plan, the queue, freshness, and why a task is not running.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/task_key.hpp"
#include "schedule/scheduler_core.hpp"
#include "schedule/staleness.hpp"

namespace pollux::schedule {
namespace {

using base::format_duration;
using base::quoted;
using model::BreakerState;
using model::kNoIndex;

constexpr base::Duration kDueSoon = std::chrono::seconds(12);

base::Duration ms(std::uint32_t value) { return std::chrono::milliseconds(value); }

}  // namespace

// By any spelling that an edit would accept for it.
std::uint32_t SchedulerCore::lookup(std::string_view key) const {
    const std::uint32_t known = tasks_.find(key);
    if (known != base::FlatIndex::kNone) return known;
    const auto parsed = model::parse_task_key(key);
    if (!parsed) return base::FlatIndex::kNone;
    return tasks_.find(model::make_task_key(parsed->class_name, parsed->name));
}

model::TaskHandle SchedulerCore::find(std::string_view key) const {
    const std::uint32_t task = lookup(key);
    return task == base::FlatIndex::kNone ? model::TaskHandle{} : tasks_.handle(task);
}

// Ready tasks first, by how long they have been due, then the wheel in the order of time.
std::vector<PlanEntry> SchedulerCore::plan(base::BootTime, std::size_t limit) const {
    std::vector<PlanEntry> entries;
    std::vector<bool> listed(tasks_.capacity(), false);
    if (ready_.size() + in_lines_ > 0) {
        for (std::uint32_t task = 0; task < tasks_.capacity(); ++task) {
            if (!is_due_and_waiting(tasks_[task].place)) continue;
            entries.push_back({tasks_.handle(task), tasks_[task].next_due});
        }
    }
    wheel_.visit_in_order([&](std::uint32_t task, std::uint32_t tick) {
        if (entries.size() >= limit) return false;
        // Moved away and back to the same tick, it would stand there twice.
        const bool here = is_on_wheel(task, tick) && tasks_[task].place == Place::kScheduled;
        if (here && !listed[task]) {
            entries.push_back({tasks_.handle(task), tasks_[task].next_due});
            listed[task] = true;
        }
        return true;
    });
    // The wheel counts in milliseconds: inside one tick the exact time decides.
    std::ranges::sort(entries, [](const PlanEntry& a, const PlanEntry& b) {
        return a.due != b.due ? a.due < b.due : a.task.index < b.task.index;
    });
    if (entries.size() > limit) entries.resize(limit);
    return entries;
}

QueueSnapshot SchedulerCore::queue_snapshot(base::BootTime now) const {
    QueueSnapshot snapshot;
    for (const auto& one : settings_.classes) snapshot.per_class.push_back({one.name, 0, 0});
    for (std::uint32_t task = 0; task < tasks_.capacity(); ++task) {
        const TaskSlot& slot = tasks_[task];
        const bool queued = slot.place != Place::kFree && slot.place != Place::kDisabled &&
                            slot.place != Place::kEnded && slot.place != Place::kRunning &&
                            slot.place != Place::kFaulted;
        if (!queued) continue;
        ++snapshot.depth;
        ++snapshot.per_class[slot.class_index].tasks;
        if (slot.place == Place::kReady) ++snapshot.per_class[slot.class_index].ready;
        if (slot.next_due - now <= kDueSoon) ++snapshot.due_soon;
    }
    std::erase_if(snapshot.per_class, [](const ClassDepth& one) { return one.tasks == 0; });
    return snapshot;
}

Freshness SchedulerCore::freshness(model::TaskHandle task, base::BootTime now) const {
    const TaskSlot& slot = tasks_[task.index];
    Freshness fresh;
    fresh.last_success = slot.last_success;
    fresh.last_error = slot.last_error;
    fresh.last_mutation = slot.last_mutation;
    fresh.digest = slot.digest;
    fresh.has_digest = slot.has(kFlagHasDigest);
    fresh.known = slot.has(kFlagAnswered);
    fresh.bound = ms(timings_.bound_ms(slot.timing));
    fresh.expected_age = ms(slot.interval_ms);
    StalenessInput input;
    input.tracked = fresh.known;
    if (slot.last_success != base::BootTime::min()) input.last_success = slot.last_success;
    input.now = now;
    input.max_stale = fresh.bound;
    fresh.score = staleness_score(input).score;
    fresh.age = input.last_success ? now - slot.last_success : base::Duration::max();
    return fresh;
}

FailureStory SchedulerCore::failure(model::TaskHandle task) const {
    const TaskSlot& slot = tasks_[task.index];
    if (slot.failure == kNoIndex) return {};
    const FailureState& state = failures_[slot.failure];
    return {.consecutive = state.consecutive,
            .breaker = state.breaker,
            .breaker_since = state.breaker_since,
            .dead_letter = state.dead_letter,
            .dead_letter_since = state.dead_letter_since,
            .dead_letter_entries = state.dead_letter_entries,
            .first_failure = state.first_failure,
            .last_attempt = state.last_attempt,
            .permanent = state.permanent_streak > 0};
}

base::Result<Explanation> SchedulerCore::explain(std::string_view key) const {
    const std::uint32_t task = lookup(key);
    if (task == base::FlatIndex::kNone) {
        return base::config_error("task.unknown",
                                  fmt::format("task {} does not exist", quoted(key)));
    }
    const TaskSlot& slot = tasks_[task];
    const model::TaskHandle handle = tasks_.handle(task);
    Explanation story;
    story.key = tasks_.key(task);
    story.place = slot.place;
    story.next_due = slot.next_due;
    story.attempts = slot.attempt;
    story.freshness = freshness(handle, now());
    story.failure = failure(handle);
    story.interval = explain_interval(task);
    story.gates = {gate_enabled(slot), gate_due(slot),       gate_needs(slot),
                   gate_breaker(slot), gate_in_flight(slot), gate_admission(task)};
    story.ready = slot.place == Place::kReady;
    if (story.ready) story.place_in_line = ready_.place_in_line(task, now());
    // The first closed gate decides. Breaker and due close together on one timer: the breaker says
    // more.
    for (const Gate& gate : story.gates) {
        if (gate.open) continue;
        const Gate& breaker = story.gates[static_cast<std::size_t>(GateKind::kBreaker)];
        const Gate& told = gate.kind == GateKind::kDue && !breaker.open ? breaker : gate;
        story.verdict = fmt::format("{}: {}", to_string(told.kind), told.reason);
        story.wakes_at = gate.until;
        break;
    }
    if (slot.place == Place::kEnded) {
        story.verdict = fmt::format("the job has ended: {}", to_string(slot.job));
    } else if (slot.place == Place::kFaulted) {
        story.verdict = "faulted: a decision about it failed; edit or enable it to try again";
    } else if (story.verdict.empty()) {
        story.verdict = fmt::format("ready: {} tasks go first", story.place_in_line);
    }
    return story;
}

IntervalStory SchedulerCore::explain_interval(std::uint32_t task) const {
    const TaskSlot& slot = tasks_[task];
    const IntervalTerms& terms = planner_.terms(task);
    IntervalStory story;
    story.in_force = ms(slot.interval_ms);
    if (!slot.recurring()) return story;
    const bool adaptive = planner_.adaptive(task);
    story.policy =
        adaptive ? settings_.classes[slot.class_index].policy : model::PolicyKind::kFixed;
    story.shadow = adaptive && settings_.mode == model::AdaptiveMode::kShadow;
    story.weight = model::weight_of(slot.tier);
    story.limited_by = terms.limited_by;
    story.wished = base::from_seconds(static_cast<double>(terms.wish_s));
    story.chosen = ms(terms.planned_ms);
    if (!slot.has(kFlagInPool)) return story;
    const BudgetPool& pool = planner_.pool_of(task);
    story.believed_rate = static_cast<double>(terms.rate);
    story.multiplier = pool.multiplier();
    story.idle_drift = terms.drift_permille * 1e-3;
    story.pool_budget = pool.granted_rate();
    story.pool_planned = pool.planned_rate();
    return story;
}

Gate SchedulerCore::gate_enabled(const TaskSlot& slot) const {
    Gate gate;
    gate.kind = GateKind::kEnabled;
    if (slot.has(kFlagEnabled)) return gate;
    gate.open = false;
    gate.reason = "disabled, until somebody enables it";
    return gate;
}

Gate SchedulerCore::gate_due(const TaskSlot& slot) const {
    Gate gate;
    gate.kind = GateKind::kDue;
    if (slot.next_due <= now() || slot.place == Place::kRunning) return gate;
    gate.open = false;
    gate.until = slot.next_due;
    gate.reason = fmt::format("not yet, in {}", format_duration(slot.next_due - now()));
    return gate;
}

Gate SchedulerCore::gate_needs(const TaskSlot& slot) const {
    Gate gate;
    gate.kind = GateKind::kNeeds;
    if (slot.node == kNoIndex || graph_.unmet_hold(slot.node) == 0) return gate;
    gate.open = false;
    for (const auto& group : graph_.groups(slot.node)) {
        if (group.good > 0 || group.when_unmet != model::WhenUnmet::kHold) continue;
        gate.reason += gate.reason.empty() ? "waits for " : " and ";
        for (std::size_t i = 0; i < group.parents.size(); ++i) {
            const std::uint32_t owner = graph_.owner(group.parents[i]);
            gate.reason += i > 0 ? " or " : "";
            gate.reason +=
                owner != kNoIndex
                    ? quoted(tasks_.key(owner))
                    : fmt::format("device {} to be healthy",
                                  quoted(devices_.name(graph_.device(group.parents[i]))));
        }
    }
    return gate;
}

Gate SchedulerCore::gate_breaker(const TaskSlot& slot) const {
    Gate gate;
    gate.kind = GateKind::kBreaker;
    if (slot.failure == kNoIndex) return gate;
    const FailureState& state = failures_[slot.failure];
    if (state.breaker != BreakerState::kOpen || slot.next_due <= now()) return gate;
    gate.open = false;
    gate.until = slot.next_due;
    gate.reason =
        fmt::format("open after {} failures in a row{}, next probe in {}", state.consecutive,
                    state.dead_letter == model::DeadLetterReason::kNone
                        ? ""
                        : fmt::format(" (dead letter: {})", to_string(state.dead_letter)),
                    format_duration(slot.next_due - now()));
    return gate;
}

Gate SchedulerCore::gate_in_flight(const TaskSlot& slot) const {
    Gate gate;
    gate.kind = GateKind::kInFlight;
    if (slot.run == kNoIndex) return gate;
    const Lease& lease = leases_[slot.run];
    gate.open = false;
    gate.until = lease.ends;
    gate.reason = fmt::format(
        "run {}.{} has been going for {}, its lease ends in {}", lease.run.epoch, lease.run.counter,
        format_duration(now() - lease.started), format_duration(lease.ends - now()));
    return gate;
}

std::string SchedulerCore::describe(const TaskSlot& slot, const Verdict& verdict) const {
    const auto key_of_run = [&](std::uint32_t run) {
        return quoted(tasks_.key(leases_[run].task));
    };
    switch (verdict.blocker) {
        case Blocker::kNone: return {};
        case Blocker::kGlobalRate:
            return fmt::format("all {} starts per second are used", settings_.global_rate);
        case Blocker::kGlobalSlots:
            return fmt::format("all {} slots are taken", settings_.global_slots);
        case Blocker::kClassRate: return "the starts per second of its class are used";
        case Blocker::kClassSlots: return "all slots of its class are taken";
        case Blocker::kRegion:
            return admission_.region_pool(slot.region).capacity == 0
                       ? fmt::format("region {} has no worker",
                                     quoted(admission_.region_name(slot.region)))
                       : fmt::format("the workers of region {} are all busy",
                                     quoted(admission_.region_name(slot.region)));
        case Blocker::kDeviceRate:
            return fmt::format("device {} has had its polls per second",
                               quoted(devices_.name(slot.device)));
        case Blocker::kDeviceSlots:
            return fmt::format("device {} has {} runs going, no more are allowed",
                               quoted(devices_.name(slot.device)), devices_[slot.device].running);
        case Blocker::kDeviceClass:
            return fmt::format("{} of the same class runs on this device",
                               key_of_run(verdict.which));
        case Blocker::kResource:
            return fmt::format("resource {} has {} of {} free",
                               quoted(admission_.resource_name(verdict.which)),
                               admission_.resource_pool(verdict.which).free(),
                               admission_.resource_pool(verdict.which).capacity);
    }
    return {};
}

Gate SchedulerCore::gate_admission(std::uint32_t task) const {
    Gate gate;
    gate.kind = GateKind::kAdmission;
    const TaskSlot& slot = tasks_[task];
    if (slot.place == Place::kRunning || slot.place == Place::kEnded) return gate;
    const auto closed = admission_.test_all(task, now());
    if (closed.empty()) return gate;
    gate.open = false;
    base::BootTime until = base::BootTime::min();
    for (const Verdict& verdict : closed) {
        gate.reason += gate.reason.empty() ? "" : "; ";
        gate.reason += describe(slot, verdict);
        until = std::max(until, verdict.until);
    }
    gate.until = until;
    return gate;
}

}  // namespace pollux::schedule
