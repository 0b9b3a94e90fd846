// The whole fleet at one moment: places, the plan, ages, and the calm after the faults.
#include <fmt/format.h>

#include <algorithm>

#include "sim/invariants.hpp"

namespace pollux::sim {
namespace {

using schedule::Place;
using schedule::SchedulerCore;
using namespace std::chrono_literals;

constexpr base::Duration kLate = 2s;
constexpr base::Duration kBoundPlay = 3s;      // a start may wait for its turn, and takes a moment
constexpr base::Duration kLongestWait = 120s;  // for a turn, in a fleet that has room

// Calls visit(handle, slot) for each task.
template <class Visit>
void for_each_task(const SchedulerCore& core, Visit&& visit) {
    for (std::uint32_t i = 0; i < core.capacity(); ++i) {
        if (!core.occupied(i)) continue;
        const auto task = core.handle_at(i);
        visit(task, core.slot(task));
    }
}

}  // namespace

// Devices whose queue somebody will wake: a ready task, or one that holds the turn of the device.
struct Invariants::Busy {
    std::vector<std::uint8_t> devices;
    bool anybody_ready = false;
};

void Invariants::check_age(base::BootTime now, const SchedulerCore& core, model::TaskHandle task) {
    const auto& slot = core.slot(task);
    const bool healthy = slot.recurring() && slot.has(schedule::kFlagEnabled) &&
                         slot.failure == model::kNoIndex &&
                         slot.last_success != base::BootTime::min();
    if (!healthy || core.budget_infeasible() || core.pressure() < 1) return;
    const auto& timing = core.timing(task);
    const auto& settings = limits_.settings();
    const auto& own = settings.classes[slot.class_index];
    const base::Duration base = std::chrono::milliseconds(timing.base_ms);
    base::Duration bound =
        base > settings.staleness_bound / 2 ? 2 * base : settings.staleness_bound;
    if (own.staleness_bound) bound = *own.staleness_bound;
    if (timing.own_bound_ms > 0) bound = std::chrono::milliseconds(timing.own_bound_ms);
    // The classic rule knows no bound: its longest interval is one.
    const bool adaptive = settings.mode == model::AdaptiveMode::kOn;
    if (adaptive && own.policy == model::PolicyKind::kClassic) {
        bound = std::max<base::Duration>(bound, std::chrono::milliseconds(timing.max_ms));
    }
    const base::Duration age = now - slot.last_success;
    if (age <= bound + kBoundPlay) return;
    violations_.add(now, Rule::kAge,
                    fmt::format("{} is {:.1f} s old, its bound is {:.1f} s", core.key(task),
                                base::to_seconds(age), base::to_seconds(bound)));
}

// What the core calls a success is one that was reported: in this process, or restored.
void Invariants::check_data(base::BootTime now, const SchedulerCore& core, model::TaskHandle task) {
    const auto& slot = core.slot(task);
    if (!slot.recurring()) return;
    const Seen& own = seen(task);
    const bool reported = own.succeeded_at != base::BootTime::min();
    const bool right =
        reported ? slot.last_success == own.succeeded_at : slot.last_success <= started_at_;
    if (right) return;
    violations_.add(now, Rule::kData,
                    fmt::format("{}: the core knows of a success at {:.3f} s that was not reported",
                                core.key(task), static_cast<double>(slot.last_success.ns) * 1e-9));
}

// What wakes the task from where it is?
void Invariants::check_place(base::BootTime now, const SchedulerCore& core, model::TaskHandle task,
                             const Busy& busy) {
    const auto& slot = core.slot(task);
    const auto wrong = [&](const char* what) {
        violations_.add(now, Rule::kPlace, core.key(task) + what);
    };
    const bool enabled = slot.has(schedule::kFlagEnabled);
    const bool waits = slot.place == Place::kScheduled ||
                       schedule::is_due_and_waiting(slot.place) ||
                       slot.place == Place::kWaitsForNeeds;
    if (!enabled && waits) wrong(" is disabled, but waits to run");
    const auto short_of = [&](const Facts* facts) {
        return facts != nullptr && std::ranges::any_of(facts->demand, [&](const auto& part) {
                   return limits_.used(part.resource) > 0;
               });
    };
    Seen& own = seen(task);
    const Facts* facts = facts_of(own, core.key(task));
    switch (slot.place) {
        case Place::kDisabled:
            if (enabled) wrong(" is enabled, but nothing will start it");
            break;
        case Place::kScheduled:
            if (slot.next_due + kLate < now) wrong(" overslept");
            break;
        case Place::kWaitsForNeeds:
            if (facts == nullptr || needs_met(*facts)) wrong(" waits, but its needs are met");
            break;
        case Place::kRunning: {
            const auto run = open_.find(task.index);
            if (run == open_.end() || run->second.task != task) wrong(" runs, but was not started");
            break;
        }
        case Place::kDeviceRate:
            if (core.devices().rate_opens_at(slot.device) + kLate < now) {
                wrong(" waits for the rate of its device, which is open");
            }
            break;
        case Place::kDeviceQueue:
            if (!limits_.device_busy(slot.device) &&
                !limits_.device_busy(slot.device, slot.class_index) &&
                busy.devices[slot.device] == 0) {
                wrong(" waits for its device, which is idle");
            }
            break;
        case Place::kResourceQueue:
            if (!short_of(facts) && !busy.anybody_ready) wrong(" waits for what nobody holds");
            break;
        case Place::kEnded:
            if (slot.recurring()) wrong(" recurs, but has ended");
            break;
        default: break;
    }
}

void Invariants::check_plan(base::BootTime now, const std::vector<schedule::PlanEntry>& plan,
                            std::size_t waiting) {
    if (!std::ranges::is_sorted(plan, {}, &schedule::PlanEntry::due)) {
        violations_.add(now, Rule::kPlan, "the plan is not in order");
    }
    if (waiting != plan.size()) {
        violations_.add(now, Rule::kPlan,
                        fmt::format("{} tasks wait, but the plan shows {}", waiting, plan.size()));
    }
}

void Invariants::full_check(base::BootTime now, const engine::Engine& engine) {
    const auto& core = engine.core();
    Busy busy;
    busy.devices.assign(core.devices().size(), 0);
    std::size_t waiting = 0;
    std::size_t ready = 0;
    std::size_t running = 0;
    for_each_task(core, [&](model::TaskHandle, const schedule::TaskSlot& slot) {
        if (slot.place == Place::kScheduled || schedule::is_due_and_waiting(slot.place)) ++waiting;
        if (slot.place == Place::kReady) ++ready;
        if (slot.place == Place::kRunning) ++running;
        const bool turns = slot.place == Place::kReady || slot.place == Place::kDeviceRate;
        if (turns && slot.device != model::kNoIndex) busy.devices[slot.device] = 1;
    });
    busy.anybody_ready = ready > 0;
    for_each_task(core, [&](model::TaskHandle task, const schedule::TaskSlot&) {
        check_place(now, core, task, busy);
        check_data(now, core, task);
        if (expects_bounds_) check_age(now, core, task);
    });
    if (ready != core.ready() || running != core.in_flight()) {
        violations_.add(now, Rule::kPlace,
                        fmt::format("{} tasks are ready and {} running, the core counts {} and {}",
                                    ready, running, core.ready(), core.in_flight()));
    }
    for (const auto& [index, run] : open_) {
        // Its key may be in use again by now, and would run twice.
        if (core.is_live(run.task)) continue;
        violations_.add(now, Rule::kTwoRuns,
                        fmt::format("run {} goes on, but its task was removed", run.run.counter));
    }
    check_plan(now, core.plan(now, core.size()), waiting);
}

void Invariants::calm_check(base::BootTime now, const engine::Engine& engine,
                            const IsBroken& is_broken) {
    const auto& core = engine.core();
    for_each_task(core, [&](model::TaskHandle task, const schedule::TaskSlot& slot) {
        const std::string& key = core.key(task);
        const auto restless = [&](const std::string& what) {
            violations_.add(now, Rule::kNotCalm,
                            fmt::format("{} {} long after the faults stopped ({})", key, what,
                                        core.explain(key)->verdict));
        };
        if (!slot.has(schedule::kFlagEnabled)) return;
        if (schedule::is_due_and_waiting(slot.place) && now - slot.ready_since > kLongestWait) {
            restless("still waits for its turn");
        }
        if (!slot.recurring()) {
            const bool lost =
                slot.job == model::JobState::kPending && slot.place != Place::kWaitsForNeeds;
            if (lost) restless("is a job that has not ended");
            return;
        }
        if (is_broken(key)) return;
        const auto fresh = core.freshness(task, now);
        if (core.failure(task).consecutive > 0) restless("fails");
        if (fresh.age > fresh.bound) restless("is stale");
    });
}

}  // namespace pollux::sim
