// Where a task is, and what wakes it. Every move of a task goes through leave_place().
#include <algorithm>

#include "base/check.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {
bool SchedulerCore::is_on_wheel(std::uint32_t task, std::uint32_t tick) const {
    if (task >= tasks_.capacity()) return false;
    const TaskSlot& slot = tasks_[task];
    const bool waits = slot.place == Place::kScheduled || slot.place == Place::kDeviceRate;
    return waits && slot.wheel_tick == tick;
}

void SchedulerCore::leave_place(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    switch (slot.place) {
        case Place::kReady:
            ready_.note_left(task);
            slot.place = Place::kDisabled;
            was_dealt_with(task);
            break;
        case Place::kScheduled: wheel_.note_stale(); break;
        case Place::kDeviceRate:
        case Place::kDeviceQueue:
        case Place::kRegionQueue:
        case Place::kResourceQueue: leave_line(task); break;
        default: break;
    }
    slot.place = Place::kDisabled;
    if (admission_.drop_reservations(task)) tend_pools();
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
        if (!slot.recurring()) needs_changed(task);  // there may be no hope left
        return;
    }
    make_ready(task);
}

void SchedulerCore::make_ready(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.place = Place::kReady;
    slot.ready_since = now();
    slot.line = kNoLine;
    if (slot.device != model::kNoIndex) devices_.prefetch(slot.device);  // for the admission test
    ready_.push(task);
}

// It may not start for a reason of its own: off the picker's line, into that of the reason.
void SchedulerCore::park(std::uint32_t task, const Verdict& verdict) {
    ready_.note_left(task);
    tasks_[task].place = Place::kDisabled;
    was_dealt_with(task);
    stand_in_line(task, verdict);
}

// A decision about this task made no sense. It is parked with a label, everybody else goes on.
void SchedulerCore::fault(std::uint32_t task) {
    leave_place(task);
    tasks_[task].place = Place::kFaulted;
    ++stats_.faulted_tasks;
    change(task, ChangeKind::kFaulted, 0, 1);
    persist(task, Durability::kBeforeSeen);
}

// A task whose wake condition has come, and that was not woken.
bool SchedulerCore::is_misplaced(std::uint32_t task) const {
    const TaskSlot& slot = tasks_[task];
    constexpr base::Duration kLate = std::chrono::seconds(5);
    switch (slot.place) {
        case Place::kRunning: return slot.run == model::kNoIndex;
        case Place::kScheduled: return slot.next_due + kLate < now();
        case Place::kWaitsForNeeds:
            return slot.node == model::kNoIndex || graph_.unmet_hold(slot.node) == 0;
        case Place::kDeviceRate:
            return devices_.known_line(slot.device).on_wheel != task ||
                   devices_.rate_opens_at(slot.device) + kLate < now();
        case Place::kDeviceQueue:
        case Place::kRegionQueue:
        case Place::kResourceQueue: return is_forgotten(task);
        default: return false;
    }
}

std::size_t SchedulerCore::audit(std::uint32_t from, std::uint32_t to) {
    std::size_t repairs = 0;
    for (std::uint32_t task = from; task < to; ++task) {
        if (!is_misplaced(task)) continue;
        ++repairs;
        schedule_at(task, now());
    }
    return repairs;
}

}  // namespace pollux::schedule
