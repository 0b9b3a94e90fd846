// Waiting for a device, a region or a named resource (wait_line.hpp).
//
// What must hold after every step: where a line has room for the first of a group, one of that
// group has been called and stands in the ready set. It is kept by tending a line whenever its room
// may have grown (a run ended, credit came, a limit was raised, a reservation went) and whenever a
// called task has been dealt with: started, gone to wait elsewhere, or gone altogether.
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {

using model::kNoIndex;

namespace {

bool is_in_line(const TaskSlot& slot) {
    return slot.place == Place::kDeviceQueue || slot.place == Place::kRegionQueue ||
           slot.place == Place::kResourceQueue;
}

// Nothing but the class decides who may use a device.
std::uint16_t demand_in_line(const TaskSlot& slot) {
    return slot.line == kLineOfDevice ? std::uint16_t{0} : slot.demand;
}

}  // namespace

std::int64_t SchedulerCore::rank_of(const TaskSlot& slot) const {
    const auto ahead =
        base::saturating_mul(settings_.aging_step, static_cast<std::int64_t>(slot.run_tier));
    return (slot.ready_since - ahead).ns;
}

std::uint16_t SchedulerCore::resource_of(const TaskSlot& slot) const {
    return admission_.demand(slot.demand).resources[slot.line - kLineOfResource].first;
}

WaitLine& SchedulerCore::line_of(const TaskSlot& slot) {
    if (slot.line == kLineOfDevice) return devices_.line(slot.device).waiters;
    if (slot.line == kLineOfRegion) return admission_.region_line(slot.region);
    return admission_.resource_line(resource_of(slot));
}

const WaitLine& SchedulerCore::line_of(const TaskSlot& slot) const {
    if (slot.line == kLineOfDevice) return devices_.known_line(slot.device).waiters;
    if (slot.line == kLineOfRegion) return admission_.region_line(slot.region);
    return admission_.resource_line(resource_of(slot));
}

bool SchedulerCore::is_waiting(const Waiter& waiter) const {
    const TaskSlot& slot = tasks_[waiter.task];
    return is_in_line(slot) && slot.wheel_tick == waiter.ticket;
}

// Would the region or the resource that it waits for let this task pass now?
bool SchedulerCore::line_lets_pass(std::uint32_t task) const {
    const TaskSlot& slot = tasks_[task];
    return slot.line == kLineOfRegion ? admission_.region_fits(task)
                                      : admission_.resource_fits(resource_of(slot), task);
}

// For the sweep: it could pass, or nothing would tell it, and nobody of its group was called.
bool SchedulerCore::is_forgotten(std::uint32_t task) const {
    const TaskSlot& slot = tasks_[task];
    const WaitLine::Group* group = line_of(slot).find(slot.class_index, demand_in_line(slot));
    if (group == nullptr) return true;
    if (group->called > 0) return false;
    if (slot.line != kLineOfDevice) return line_lets_pass(task);
    if (devices_.known_line(slot.device).on_wheel != kNoIndex) return false;  // that one tells it
    const Blocker blocker = admission_.test_device(task, now()).blocker;
    return blocker == Blocker::kNone || blocker == Blocker::kDeviceRate;
}

void SchedulerCore::stand_in_line(std::uint32_t task, const Verdict& verdict) {
    TaskSlot& slot = tasks_[task];
    slot.line = kLineOfDevice;
    slot.place = Place::kDeviceQueue;
    if (verdict.blocker == Blocker::kRegion) {
        slot.line = kLineOfRegion;
        slot.place = Place::kRegionQueue;
    } else if (verdict.blocker == Blocker::kResource) {
        slot.line = kLineOfResource;
        slot.place = Place::kResourceQueue;
        while (resource_of(slot) != verdict.which) ++slot.line;
    }
    push_in_line(task);
    ++in_lines_;
    if (verdict.blocker == Blocker::kDeviceRate) tend_device(slot.device);  // somebody sets a timer
}

void SchedulerCore::push_in_line(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.wheel_tick = ++last_ticket_;
    WaitLine& line = line_of(slot);
    line.push(line.group(slot.class_index, demand_in_line(slot)),
              {rank_of(slot), task, slot.wheel_tick},
              [&](const Waiter& waiter) { return is_waiting(waiter); });
}

// A task in line became more urgent.
void SchedulerCore::rank_again(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (!is_in_line(slot)) return;
    --line_of(slot).find(slot.class_index, demand_in_line(slot))->waiting;
    push_in_line(task);
}

void SchedulerCore::leave_line(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    const Place from = slot.place;
    slot.place = Place::kDisabled;
    --in_lines_;
    if (from == Place::kDeviceRate) {
        wheel_.note_stale();
        devices_.line(slot.device).on_wheel = kNoIndex;
        tend_device(slot.device);  // another one sets the timer
        return;
    }
    WaitLine& line = line_of(slot);
    --line.find(slot.class_index, demand_in_line(slot))->waiting;
    line.drop_empty_groups();
    if (slot.line == kLineOfDevice) devices_.drop_empty_line(slot.device);
    slot.line = kNoLine;
}

// The called task started, or went elsewhere: the next of its group may try.
void SchedulerCore::was_dealt_with(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    if (slot.line == kNoLine) return;
    const std::uint8_t line = slot.line;
    --line_of(slot).find(slot.class_index, demand_in_line(slot))->called;
    const std::uint16_t resource = line >= kLineOfResource ? resource_of(slot) : std::uint16_t{0};
    slot.line = kNoLine;
    switch (line) {
        case kLineOfDevice: tend_device(slot.device); break;
        case kLineOfRegion: tend_region(slot.region); break;
        default: tend_resource(resource); break;
    }
}

// The most urgent of a group that has somebody waiting.
const Waiter& SchedulerCore::first_of(WaitLine& line, WaitLine::Group& group) const {
    return line.first(group, [&](const Waiter& waiter) { return is_waiting(waiter); });
}

// Into the ready set, with the time it has waited.
void SchedulerCore::call(WaitLine& line, WaitLine::Group& group, std::uint32_t task) {
    if (first_of(line, group).task == task) {
        line.take_first(group);
    } else {
        --group.waiting;  // its entry is dead from now on
    }
    ++group.called;
    --in_lines_;
    tasks_[task].place = Place::kReady;
    ready_.push(task);
}

bool SchedulerCore::is_urgent(const TaskSlot& slot) const {
    return ready_.effective_tier(slot.run_tier, slot.ready_since, now()) == model::Tier::kCritical;
}

// Whoever waits in a line is not looked at again before it could pass. So a large demand that has
// become urgent there reserves when the line is tended, or small ones would take every unit first.
void SchedulerCore::reserve_for_waiting(WaitLine& line, const Verdict& refusal) {
    const Waiter* best = nullptr;
    for (WaitLine::Group& group : line.groups()) {
        if (group.waiting == 0 || group.called > 0) continue;
        const Waiter& first = first_of(line, group);
        const bool wants = admission_.may_reserve(first.task, refusal) &&
                           is_urgent(tasks_[first.task]) && !line_lets_pass(first.task);
        if (wants && (best == nullptr || *best > first)) best = &first;
    }
    if (best != nullptr) admission_.update_reservations(best->task, refusal, true);
}

// Calls the first of every group that would pass. Who has reserved the pool is called before those
// of its own group, because nobody else can pass.
void SchedulerCore::tend_line(WaitLine& line, const Verdict& refusal) {
    if (line.empty()) return;
    if (admission_.reserved_by(refusal) == kNoIndex) reserve_for_waiting(line, refusal);
    const std::uint32_t reserver = admission_.reserved_by(refusal);
    for (WaitLine::Group& group : line.groups()) {
        if (group.waiting == 0 || group.called > 0) continue;
        std::uint32_t task = first_of(line, group).task;
        if (reserver != kNoIndex) {
            const TaskSlot& slot = tasks_[reserver];
            const bool here = is_in_line(slot) && slot.line != kLineOfDevice &&
                              &line_of(slot) == &line && slot.class_index == group.class_index &&
                              slot.demand == group.demand;
            if (here) task = reserver;
        }
        if (line_lets_pass(task)) call(line, group, task);
    }
    line.drop_empty_groups();
}

void SchedulerCore::tend_region(std::uint16_t region) {
    tend_line(admission_.region_line(region),
              Verdict{Blocker::kRegion, base::BootTime::max(), region});
}

void SchedulerCore::tend_resource(std::uint32_t resource) {
    tend_line(admission_.resource_line(resource),
              Verdict{Blocker::kResource, base::BootTime::max(), resource});
}

void SchedulerCore::tend_pools() {
    for (std::size_t i = 0; i < admission_.region_count(); ++i) {
        tend_region(static_cast<std::uint16_t>(i));
    }
    for (std::size_t i = 0; i < admission_.resource_count(); ++i) {
        tend_resource(static_cast<std::uint32_t>(i));
    }
}

// As tend_line(), but a device may also be closed until a time: then one task sits on the wheel.
void SchedulerCore::tend_device(std::uint32_t device) {
    if (device == kNoIndex || !devices_.has_line(device)) return;
    DeviceLine& own = devices_.line(device);
    if (own.on_wheel != kNoIndex &&
        admission_.test_device(own.on_wheel, now()).blocker != Blocker::kDeviceRate) {
        recheck_device(device);  // its time has come too: nobody behind it may be called instead
        return;
    }
    for (WaitLine::Group& group : own.waiters.groups()) {
        if (group.waiting == 0 || group.called > 0) continue;
        const std::uint32_t task = first_of(own.waiters, group).task;
        const Verdict verdict = admission_.test_device(task, now());
        if (verdict.blocker == Blocker::kNone) {
            call(own.waiters, group, task);
        } else if (verdict.blocker == Blocker::kDeviceRate && own.on_wheel == kNoIndex) {
            own.waiters.take_first(group);
            own.on_wheel = task;
            TaskSlot& slot = tasks_[task];
            slot.place = Place::kDeviceRate;
            slot.line = kNoLine;
            slot.wheel_tick = wheel_.arm(task, verdict.until);
        }
    }
    devices_.drop_empty_line(device);
}

// The timer fired, or its time is no longer right: everybody in line asks anew.
void SchedulerCore::recheck_device(std::uint32_t device) {
    if (!devices_.has_line(device)) return;
    const std::uint32_t task = devices_.line(device).on_wheel;
    if (task != kNoIndex) {
        if (tasks_[task].place == Place::kDeviceRate) wheel_.note_stale();
        devices_.line(device).on_wheel = kNoIndex;
        --in_lines_;
        stand_in_line(task, Verdict{Blocker::kDeviceSlots, base::BootTime::max(), 0});
    }
    tend_device(device);
}

void SchedulerCore::tend_after_release(const Lease& lease) {
    tend_device(lease.device);
    tend_region(lease.region);
    for (const auto& [resource, amount] : admission_.demand(lease.demand).resources) {
        tend_resource(resource);
    }
}

// Limits changed: anything may have opened.
void SchedulerCore::tend_everything() {
    tend_pools();
    for (std::uint32_t device = 0; device < devices_.size(); ++device) {
        recheck_device(device);
    }
}

}  // namespace pollux::schedule
