// Where a task is, and what wakes it. Every move of a task goes through leave_place().
#include <algorithm>

#include "base/check.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
namespace {

constexpr int kWakesPerRelease = 16;

}  // namespace

bool SchedulerCore::is_on_wheel(std::uint32_t task, std::uint32_t tick) const {
    if (task >= tasks_.capacity()) return false;
    const TaskSlot& slot = tasks_[task];
    const bool waits = slot.place == Place::kScheduled || slot.place == Place::kDeviceRate;
    return waits && slot.wheel_tick == tick;
}

void SchedulerCore::leave_place(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    const Place from = slot.place;
    if (from == Place::kReady) ready_.note_left(task);
    if (from == Place::kScheduled || from == Place::kDeviceRate) wheel_.note_stale();
    slot.place = Place::kDisabled;
    if (from == Place::kDeviceRate && slot.device != model::kNoIndex) wake_device(slot.device);
}

void SchedulerCore::schedule_at(std::uint32_t task, base::BootTime due) {
    leave_place(task);
    TaskSlot& slot = tasks_[task];
    slot.next_due = due;
    slot.place = Place::kScheduled;
    slot.wheel_tick = wheel_.arm(task, due);
    balancer_.expect(due);
}

// The due gate opened: on to the needs, then into the ready set. The task has left its old place.
void SchedulerCore::come_due(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.node != model::kNoIndex && graph_.unmet_hold(slot.node) > 0) {
        slot.place = Place::kWaitsForNeeds;
        return;
    }
    make_ready(task);
}

void SchedulerCore::make_ready(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.place = Place::kReady;
    slot.ready_since = now();
    slot.set(kFlagWoken, false);
    ready_.push(task);
}

// From a wait queue back into the ready set, with the time it has waited.
void SchedulerCore::return_to_ready(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.place = Place::kReady;
    slot.set(kFlagWoken, true);
    ready_.push(task);
}

std::int64_t SchedulerCore::rank_of(const TaskSlot& slot) const {
    const auto ahead =
        base::saturating_mul(settings_.aging_step, static_cast<std::int64_t>(slot.run_tier));
    return (slot.ready_since - ahead).ns;
}

void SchedulerCore::wait_in(WaitQueue& queue, std::uint32_t task, Place place) {
    TaskSlot& slot = tasks_[task];
    slot.place = place;
    // Dead entries stay until their turn comes; keep them a minority.
    if (queue.size() > 64 && queue.size() > 2 * tasks_.size()) {
        queue.drop([&](const Waiter& w) {
            return tasks_[w.task].place != place || tasks_[w.task].ready_since != w.ready_since;
        });
    }
    queue.push({rank_of(slot), slot.ready_since, task});
}

void SchedulerCore::park(std::uint32_t task, const Verdict& verdict) {
    TaskSlot& slot = tasks_[task];
    ready_.note_left(task);
    slot.place = Place::kDisabled;
    const bool woken = slot.has(kFlagWoken);
    slot.set(kFlagWoken, false);
    switch (verdict.blocker) {
        case Blocker::kRegion:
            wait_in(admission_.region_queue(slot.region), task, Place::kRegionQueue);
            break;
        case Blocker::kResource:
            wait_in(admission_.resource_queue(verdict.which), task, Place::kResourceQueue);
            break;
        case Blocker::kDeviceClass:
            slot.place = Place::kBehindRun;
            leases_[verdict.which].followers.push_back(task);
            break;
        case Blocker::kDeviceRate:
            slot.place = Place::kDeviceRate;
            slot.wheel_tick = wheel_.arm(task, verdict.until);
            return;  // it holds the turn of its device: nobody else needs to be woken
        default: wait_in(devices_.queue(slot.device), task, Place::kDeviceQueue); break;
    }
    if (woken) pass_on_wake(task);
}

// A task that was woken could not use what it was woken for: let the next one try.
void SchedulerCore::pass_on_wake(std::uint32_t task) {
    const TaskSlot& slot = tasks_[task];
    if (slot.device != model::kNoIndex && slot.place != Place::kDeviceQueue) {
        wake_device(slot.device);
    }
    if (slot.place != Place::kRegionQueue) {
        wake_pool(admission_.region_queue(slot.region), Place::kRegionQueue,
                  admission_.region_pool(slot.region).free());
    }
    for (const auto& [resource, amount] : admission_.demand(slot.demand).resources) {
        if (slot.place == Place::kResourceQueue) continue;
        wake_pool(admission_.resource_queue(resource), Place::kResourceQueue,
                  admission_.resource_pool(resource).free());
    }
}

void SchedulerCore::wake_device(std::uint32_t device) {
    while (devices_.has_waiters(device)) {
        const Waiter waiter = devices_.queue(device).pop();
        const TaskSlot& slot = tasks_[waiter.task];
        const bool live = slot.place == Place::kDeviceQueue &&
                          slot.ready_since == waiter.ready_since && slot.device == device;
        if (!live) continue;
        return_to_ready(waiter.task);
        break;
    }
    devices_.drop_empty_queue(device);
}

void SchedulerCore::wake_pool(WaitQueue& queue, Place place, std::int64_t room) {
    int woken = 0;
    while (!queue.empty() && room > 0 && woken < kWakesPerRelease) {
        const Waiter waiter = queue.pop();
        const TaskSlot& slot = tasks_[waiter.task];
        if (slot.place != place || slot.ready_since != waiter.ready_since) continue;
        return_to_ready(waiter.task);
        ++woken;
    }
}

void SchedulerCore::wake_after_release(const Lease& lease) {
    for (const std::uint32_t task : lease.followers) {
        if (tasks_[task].place == Place::kBehindRun) return_to_ready(task);
    }
    if (lease.device != model::kNoIndex) wake_device(lease.device);
    wake_pool(admission_.region_queue(lease.region), Place::kRegionQueue,
              admission_.region_pool(lease.region).free());
    for (const auto& [resource, amount] : admission_.demand(lease.demand).resources) {
        wake_pool(admission_.resource_queue(resource), Place::kResourceQueue,
                  admission_.resource_pool(resource).free());
    }
}

void SchedulerCore::disable(std::uint32_t task) {
    const bool woken = tasks_[task].place == Place::kReady && tasks_[task].has(kFlagWoken);
    leave_place(task);
    admission_.drop_reservations(task);
    if (woken) pass_on_wake(task);
}

// A decision about this task made no sense. It is parked with a label, everybody else goes on.
void SchedulerCore::fault(std::uint32_t task) {
    leave_place(task);
    tasks_[task].place = Place::kFaulted;
    ++stats_.faulted_tasks;
    change(task, ChangeKind::kFaulted, 0, 1);
    persist(task, Durability::kBeforeSeen);
}

std::size_t SchedulerCore::audit(std::uint32_t from, std::uint32_t to) {
    std::size_t repairs = 0;
    for (std::uint32_t task = from; task < to; ++task) {
        TaskSlot& slot = tasks_[task];
        const bool unmet = slot.node != model::kNoIndex && graph_.unmet_hold(slot.node) > 0;
        const bool lost_run = slot.place == Place::kRunning && slot.run == model::kNoIndex;
        const bool overslept =
            slot.place == Place::kScheduled && slot.next_due + std::chrono::seconds(5) < now();
        const bool forgotten = slot.place == Place::kWaitsForNeeds && !unmet;
        const bool no_device =
            slot.place == Place::kDeviceQueue && devices_[slot.device].running == 0 &&
            devices_.rate_open(slot.device, now()) &&
            devices_.rate_opens_at(slot.device) + std::chrono::seconds(5) < now();
        if (!(lost_run || overslept || forgotten || no_device)) continue;
        ++repairs;
        schedule_at(task, now());
    }
    return repairs;
}

}  // namespace pollux::schedule
