// The loop: events, timers, leases, once-a-second work, then the fair pick.
#include <algorithm>
#include <variant>

#include "base/check.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kSecond = 1s;
constexpr std::uint32_t kAuditParts = 60;
constexpr std::uint32_t kLooksPerStart = 16;  // tasks looked at in a step, for each start allowed
constexpr std::size_t kAhead = 4;
constexpr double kSingleAddsPerSecond = 1;
constexpr double kSingleAddsBurst = 16;

}  // namespace

SchedulerCore::SchedulerCore(base::Instant now, std::uint32_t epoch, model::CoreSettings settings)
    : now_(now),
      epoch_(epoch),
      settings_(std::move(settings)),
      wheel_(now.boot),
      ready_(tasks_),
      admission_(tasks_, devices_, leases_),
      planner_(tasks_, timings_, balancer_),
      next_second_(now.boot + kSecond),
      single_adds_(base::TokenBucket::per_second(kSingleAddsPerSecond, kSingleAddsBurst)) {
    apply_settings();
}

void SchedulerCore::step(base::Instant now, std::span<const Event> events, Commands& out) {
    if (now.boot < now_.boot) now.boot = now_.boot;  // boot time cannot go back; a caller may err
    now_ = now;
    out_ = &out;
    balancer_.advance(now.boot);
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (i + 2 * kAhead < events.size()) prefetch_slot(events[i + 2 * kAhead]);
        if (i + kAhead < events.size()) prefetch_rest(events[i + kAhead]);
        apply(events[i]);
    }
    fire_timers();
    end_leases();
    if (now_.boot >= next_second_ || solve_now_) every_second();
    pick_and_start();
    out.wake_at = next_wake();
    out_ = nullptr;
}

// With a million tasks every answer finds its task out of the cache: fetching a few ahead hides
// most of that.
void SchedulerCore::prefetch_slot(const Event& event) const {
    const auto* result = std::get_if<RunFinished>(&event);
    if (result == nullptr || result->task.index >= tasks_.capacity()) return;
    tasks_.prefetch(result->task.index);
}

void SchedulerCore::prefetch_rest(const Event& event) const {
    const auto* result = std::get_if<RunFinished>(&event);
    if (result == nullptr || !tasks_.is_live(result->task)) return;
    const TaskSlot& slot = tasks_[result->task.index];
    planner_.prefetch(result->task.index);
    if (slot.run != model::kNoIndex) leases_.prefetch(slot.run);
    if (slot.device != model::kNoIndex) devices_.prefetch(slot.device);
}

void SchedulerCore::apply(const Event& event) {
    struct Visitor {
        SchedulerCore& core;
        void operator()(const TasksUpserted& e) { core.on_upserted(e); }
        void operator()(const TaskRemoved& e) { core.on_removed(e); }
        void operator()(const TasksRestored& e) { core.on_restored(e); }
        void operator()(const RunFinished& e) { core.on_finished(e); }
        void operator()(const RunExpired& e) {
            const bool current = core.tasks_.is_live(e.task) &&
                                 core.tasks_[e.task.index].run != model::kNoIndex &&
                                 core.leases_[core.tasks_[e.task.index].run].run == e.run;
            if (current) {
                core.on_expired(core.tasks_[e.task.index].run, false);
            } else {
                ++core.stats_.stale_results;
            }
        }
        void operator()(const Observed& e) { core.on_observed(e); }
        void operator()(const Poked& e) { core.on_poked(e); }
        void operator()(const ParentChanged& e) {
            // Remembered even while nobody depends on it: a child may be added later.
            const std::uint32_t node = core.node_of_device(core.devices_.find_or_add(e.device));
            core.set_node_state(node, e.healthy ? NodeState::kGood : NodeState::kBad);
        }
        void operator()(const DeviceChanged& e) { core.on_device(e); }
        void operator()(const CreditChanged& e) {
            const std::uint16_t region = core.admission_.region(e.region);
            if (core.admission_.set_credit(region, e.credit)) core.tend_region(region);
        }
        void operator()(const OperatorAction& e) { core.on_operator(e); }
        void operator()(const SettingsChanged& e) { core.on_settings(e); }
        void operator()(const Tick&) {}
    };
    std::visit(Visitor{*this}, event);
}

void SchedulerCore::fire_timers() {
    wheel_.advance(
        now(),
        [&](std::uint32_t task, std::uint32_t tick) {
            if (!is_on_wheel(task, tick)) return false;
            if (tasks_[task].place == Place::kDeviceRate) {
                tasks_[task].place = Place::kDisabled;
                recheck_device(tasks_[task].device);
            } else if (tasks_[task].next_due > now()) {
                // Further ahead than the wheel reaches: it came by only to be armed again.
                tasks_[task].wheel_tick = wheel_.arm(task, tasks_[task].next_due);
            } else {
                tasks_[task].place = Place::kDisabled;  // its entry in the wheel is used up
                come_due(task);
            }
            return true;
        },
        [&](std::uint32_t task) { tasks_.prefetch(task); });
    if (wheel_.wants_compaction()) {
        wheel_.compact(
            [&](std::uint32_t task, std::uint32_t tick) { return is_on_wheel(task, tick); });
    }
}

void SchedulerCore::end_leases() {
    ended_.clear();
    leases_.collect_ended(now(), ended_);
    for (const std::uint32_t lease : ended_) on_expired(lease, true);
}

void SchedulerCore::every_second() {
    if (now() >= next_second_) {
        const bool saturated = ready_.size() > 0 && admission_.global_pool().free() <= 0;
        const bool rate_limited = ready_.size() > 0 && !admission_.global_rate().open(now());
        load_.second(saturated, rate_limited);
        planner_.set_pressure(load_.pressure());
        next_second_ = now() + kSecond;
        const std::uint32_t size = tasks_.capacity();
        const std::uint32_t part = (size + kAuditParts - 1) / kAuditParts;
        if (audit_cursor_ >= size) audit_cursor_ = 0;
        const std::uint32_t end = std::min(size, audit_cursor_ + part);
        stats_.sweep_repairs += audit(audit_cursor_, end);
        audit_cursor_ = end;
    }
    solve_now_ = false;
    planner_.solve(now(), base::to_seconds(load_.p95_duration()));
    if (planner_.infeasible() != was_infeasible_) {
        was_infeasible_ = planner_.infeasible();
        out_->changes.push_back({{},
                                 ChangeKind::kBudget,
                                 static_cast<std::uint8_t>(!was_infeasible_),
                                 static_cast<std::uint8_t>(was_infeasible_),
                                 0,
                                 now()});
    }
}

void SchedulerCore::pick_and_start() {
    more_to_start_ = false;
    if (ready_.size() == 0) return;
    ready_.begin_turn(now());
    const std::uint32_t most_looks = kLooksPerStart * settings_.max_starts_per_step;
    std::uint32_t starts = 0;
    std::uint32_t looks = 0;
    while (starts < settings_.max_starts_per_step && looks < most_looks &&
           admission_.global_open(now())) {
        const auto task = ready_.next();
        if (!task) break;
        ++looks;
        const Verdict verdict = admission_.test(*task, now());
        if (verdict.blocker == Blocker::kNone) {
            ready_.started();
            start(*task);
            ++starts;
            continue;
        }
        const bool urgent = is_urgent(tasks_[*task]);
        const bool freed = admission_.update_reservations(*task, verdict, urgent);
        const bool whole_class = verdict.blocker <= Blocker::kClassSlots;
        if (whole_class) {
            ready_.class_blocked();
        } else {
            ready_.parked();
            park(*task, verdict);
        }
        if (freed) tend_pools();
    }
    ready_.end_turn();
    const bool cut = starts == settings_.max_starts_per_step || looks == most_looks;
    more_to_start_ = cut && ready_.size() > 0;
}

base::BootTime SchedulerCore::next_wake() const {
    base::BootTime wake = std::min({wheel_.next_event(), leases_.next_check(), next_second_});
    if (ready_.size() == 0) return wake;
    if (!admission_.global_rate().open(now())) {
        return std::min(wake, admission_.global_rate().opens_at());
    }
    if (more_to_start_) return now();
    // What is still ready waits for its class: for a rate by time, for a slot until a run ends.
    for (std::uint16_t c = 0; c < ready_.class_count(); ++c) {
        const base::BootTime opens = admission_.class_rate_opens_at(c);
        if (opens > now() && ready_.size(c) > 0) wake = std::min(wake, opens);
    }
    return wake;
}

std::size_t SchedulerCore::memory_bytes() const {
    return tasks_.memory_bytes() + devices_.memory_bytes() + wheel_.memory_bytes() +
           planner_.memory_bytes() + ready_.memory_bytes();
}

}  // namespace pollux::schedule
