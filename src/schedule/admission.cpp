#include "schedule/admission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::schedule {

using model::kNoIndex;

Admission::Admission(TaskTable& tasks, DeviceTable& devices, LeaseTable& leases)
    : tasks_(tasks), devices_(devices), leases_(leases) {
    regions_.push_back({"", Pool{-1, 0, kNoIndex}, {}});  // the local one: this process
}

void Admission::configure(base::BootTime now, const model::CoreSettings& settings) {
    if (configured_rate_ != settings.global_rate) {
        rate_.set_rate(now, settings.global_rate, std::max(1.0, 0.5 * settings.global_rate));
        configured_rate_ = settings.global_rate;
    }
    slots_.capacity = settings.global_slots;
    classes_.resize(std::max(classes_.size(), settings.classes.size()));
    for (std::size_t c = 0; c < settings.classes.size(); ++c) {
        const model::ClassSettings& wanted = settings.classes[c];
        ClassLimits& own = classes_[c];
        own.host_exempt = wanted.host_slots_exempt;
        own.slots.capacity = wanted.slots > 0 ? std::int64_t{wanted.slots} : -1;
        if (own.configured_rate == wanted.rate) continue;
        own.configured_rate = wanted.rate;
        if (wanted.rate > 0) {
            own.rate.set_rate(now, wanted.rate, std::max(1.0, 0.5 * wanted.rate));
        } else {
            own.rate = base::TokenBucket();
        }
    }
    for (Resource& resource : resources_) resource.pool.capacity = 0;
    for (const model::ResourceSettings& wanted : settings.resources) {
        auto found = std::ranges::find(resources_, wanted.name, &Resource::name);
        if (found == resources_.end()) {
            resources_.push_back({wanted.name, {}, {}});
            found = resources_.end() - 1;
        }
        found->pool.capacity = wanted.capacity;
    }
}

base::Result<std::uint16_t> Admission::intern(const model::TaskSpec& spec) {
    Demand demand;
    demand.slots = spec.slots;
    if (demand.slots > slots_.capacity) {
        return base::config_error("task.slots",
                                  fmt::format("{}: slots = {} can never be had: global_slots is {}",
                                              spec.key, demand.slots, slots_.capacity));
    }
    for (const model::ResourceDemand& part : spec.demand) {
        const auto found = std::ranges::find(resources_, part.resource, &Resource::name);
        if (found == resources_.end() || found->pool.capacity == 0) {
            return base::config_error("task.demand",
                                      fmt::format("{}: resource {} is not declared in the settings",
                                                  spec.key, base::quoted(part.resource)));
        }
        if (part.amount > found->pool.capacity) {
            return base::config_error(
                "task.demand",
                fmt::format("{}: demand of {} = {} can never be had: its capacity is {}", spec.key,
                            base::quoted(part.resource), part.amount, found->pool.capacity));
        }
        demand.resources.emplace_back(static_cast<std::uint16_t>(found - resources_.begin()),
                                      part.amount);
    }
    std::ranges::sort(demand.resources);
    const auto known = demand_index_.find(demand);
    if (known != demand_index_.end()) return known->second;
    if (demands_.size() >= 0xFFFF) {
        return base::config_error(
            "task.demand", fmt::format("{}: more than {} different demands are in use", spec.key,
                                       demands_.size()));
    }
    const auto index = static_cast<std::uint16_t>(demands_.size());
    demands_.push_back(demand);
    demand_index_.emplace(std::move(demand), index);
    return index;
}

std::uint16_t Admission::region(std::string_view name) {
    const auto found = std::ranges::find(regions_, name, &Region::name);
    if (found != regions_.end()) return static_cast<std::uint16_t>(found - regions_.begin());
    regions_.push_back({std::string(name), Pool{}, {}});  // nobody serves it yet
    return static_cast<std::uint16_t>(regions_.size() - 1);
}

bool Admission::set_credit(std::uint16_t region, std::int64_t credit) {
    Pool& pool = regions_[region].pool;
    const bool more = credit > pool.capacity;
    pool.capacity = std::max<std::int64_t>(credit, 0);
    return more;
}

std::uint32_t Admission::same_class_run(const TaskSlot& slot) const {
    std::uint32_t found = kNoIndex;
    std::uint32_t count = 0;
    for (std::uint32_t run = devices_[slot.device].first_run; run != kNoIndex;
         run = leases_[run].device_next) {
        if (leases_[run].class_index != slot.class_index) continue;
        found = run;
        ++count;
    }
    return count >= devices_.limits(slot.device).slots_per_class ? found : kNoIndex;
}

// Calls closed(verdict) for each closed limit, in the order in which they are tested; stops when
// that returns false.
template <class Visit>
void Admission::walk(std::uint32_t task, base::BootTime now, Visit&& closed) const {
    const TaskSlot& slot = tasks_[task];
    const Demand& wants = demands_[slot.demand];
    const ClassLimits& own = classes_[slot.class_index];
    constexpr base::BootTime kEvent = base::BootTime::max();
    if (!rate_.open(now) && !closed(Verdict{Blocker::kGlobalRate, rate_.opens_at(), 0})) return;
    if (!slots_.fits(wants.slots, task) && !closed(Verdict{Blocker::kGlobalSlots, kEvent, 0}))
        return;
    if (!own.rate.open(now) && !closed(Verdict{Blocker::kClassRate, own.rate.opens_at(), 0}))
        return;
    if (!own.slots.fits(wants.slots, task) && !closed(Verdict{Blocker::kClassSlots, kEvent, 0})) {
        return;
    }
    if (!regions_[slot.region].pool.fits(wants.slots, task) &&
        !closed(Verdict{Blocker::kRegion, kEvent, slot.region})) {
        return;
    }
    if (slot.device != kNoIndex) {
        if (!own.host_exempt) {
            const Device& device = devices_[slot.device];
            if (device.running >= devices_.limits(slot.device).slots &&
                !closed(Verdict{Blocker::kDeviceSlots, kEvent, device.first_run})) {
                return;
            }
            const std::uint32_t other = device.running > 0 ? same_class_run(slot) : kNoIndex;
            if (other != kNoIndex && !closed(Verdict{Blocker::kDeviceClass, kEvent, other})) return;
        }
        const base::BootTime opens = devices_.rate_opens_at(slot.device);
        if (opens > now && !closed(Verdict{Blocker::kDeviceRate, opens, slot.device})) return;
    }
    for (const auto& [resource, amount] : wants.resources) {
        if (!resources_[resource].pool.fits(amount, task) &&
            !closed(Verdict{Blocker::kResource, kEvent, resource})) {
            return;
        }
    }
}

Verdict Admission::test(std::uint32_t task, base::BootTime now) const {
    Verdict first;
    walk(task, now, [&](const Verdict& verdict) {
        first = verdict;
        return false;
    });
    return first;
}

std::vector<Verdict> Admission::test_all(std::uint32_t task, base::BootTime now) const {
    std::vector<Verdict> all;
    walk(task, now, [&](const Verdict& verdict) {
        all.push_back(verdict);
        return true;
    });
    return all;
}

void Admission::take(std::uint32_t task, base::BootTime now, Lease& lease) {
    const TaskSlot& slot = tasks_[task];
    const Demand& wants = demands_[slot.demand];
    ClassLimits& own = classes_[slot.class_index];
    rate_.take(now);
    own.rate.take(now);
    slots_.used += wants.slots;
    own.slots.used += wants.slots;
    regions_[slot.region].pool.used += wants.slots;
    for (const auto& [resource, amount] : wants.resources) resources_[resource].pool.used += amount;
    lease.class_index = slot.class_index;
    lease.region = slot.region;
    lease.demand = slot.demand;
    lease.device = slot.device;
    lease.counts_on_device = slot.device != kNoIndex && !own.host_exempt;
    if (slot.device != kNoIndex) devices_.take_rate(slot.device, now);
    if (lease.counts_on_device) ++devices_[slot.device].running;
}

void Admission::give_back(const Lease& lease) {
    const Demand& wants = demands_[lease.demand];
    slots_.used -= wants.slots;
    classes_[lease.class_index].slots.used -= wants.slots;
    regions_[lease.region].pool.used -= wants.slots;
    for (const auto& [resource, amount] : wants.resources) resources_[resource].pool.used -= amount;
    if (lease.counts_on_device) --devices_[lease.device].running;
}

Pool* Admission::pool_of(std::uint32_t task, const Verdict& verdict) {
    switch (verdict.blocker) {
        case Blocker::kGlobalSlots: return &slots_;
        case Blocker::kClassSlots: return &classes_[tasks_[task].class_index].slots;
        case Blocker::kRegion: return &regions_[verdict.which].pool;
        case Blocker::kResource: return &resources_[verdict.which].pool;
        default: return nullptr;
    }
}

void Admission::reserve(std::uint32_t task, const Verdict& verdict) {
    Pool* pool = pool_of(task, verdict);
    if (pool == nullptr || pool->reserved_by != kNoIndex) return;
    pool->reserved_by = task;
    tasks_[task].set(kFlagReserves, true);
}

void Admission::drop_reservations(std::uint32_t task) {
    if (!tasks_[task].has(kFlagReserves)) return;
    tasks_[task].set(kFlagReserves, false);
    const auto clear = [&](Pool& pool) {
        if (pool.reserved_by == task) pool.reserved_by = kNoIndex;
    };
    clear(slots_);
    for (ClassLimits& own : classes_) clear(own.slots);
    for (Region& region : regions_) clear(region.pool);
    for (Resource& resource : resources_) clear(resource.pool);
}

}  // namespace pollux::schedule
