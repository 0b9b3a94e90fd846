#include "schedule/admission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::schedule {

using model::kNoIndex;

Admission::Admission(TaskTable& tasks, DeviceTable& devices, LeaseTable& leases)
    : tasks_(tasks), devices_(devices), leases_(leases) {
    regions_.push_back({"", Pool{-1, 0, kNoIndex}});  // the local one: this process
}

// The pool that can be reserved against this refusal, if any.
template <class Self>
auto* Admission::pool_of(Self& self, const Verdict& verdict) {
    switch (verdict.blocker) {
        case Blocker::kGlobalSlots: return &self.slots_;
        case Blocker::kRegion: return &self.regions_[verdict.which].pool;
        case Blocker::kResource: return &self.resources_[verdict.which].pool;
        default: return decltype(&self.slots_){nullptr};
    }
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
            resources_.push_back({wanted.name, {}});
            found = resources_.end() - 1;
        }
        found->pool.capacity = wanted.capacity;
    }
    drop_impossible();
}

// A reservation of more than there will ever be would keep everybody out.
bool Admission::drop_impossible() {
    bool dropped = false;
    const auto look = [&](Pool& pool, Blocker blocker, std::size_t which) {
        if (pool.reserved_by == kNoIndex || pool.capacity < 0) return;
        const Verdict verdict{blocker, base::BootTime::max(), static_cast<std::uint32_t>(which)};
        if (amount_of(pool.reserved_by, verdict) <= pool.capacity) return;
        pool.reserved_by = kNoIndex;
        dropped = true;
    };
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        look(regions_[i].pool, Blocker::kRegion, i);
    }
    for (std::size_t i = 0; i < resources_.size(); ++i) {
        look(resources_[i].pool, Blocker::kResource, i);
    }
    look(slots_, Blocker::kGlobalSlots, 0);
    return dropped;
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
    regions_.push_back({std::string(name), Pool{}});  // nobody serves it yet
    return static_cast<std::uint16_t>(regions_.size() - 1);
}

bool Admission::set_credit(std::uint16_t region, std::int64_t credit) {
    Pool& pool = regions_[region].pool;
    const bool more = credit > pool.capacity;
    pool.capacity = std::max<std::int64_t>(credit, 0);
    return drop_impossible() || more;
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

bool Admission::global_fits(const TaskSlot& slot, std::int64_t amount) const {
    const std::uint32_t holder = slots_.reserved_by;
    if (holder != kNoIndex && tasks_[holder].class_index != slot.class_index) return false;
    return slots_.used + amount <= slots_.capacity;
}

bool Admission::region_fits(std::uint32_t task) const {
    const TaskSlot& slot = tasks_[task];
    return regions_[slot.region].pool.fits(demands_[slot.demand].slots, task);
}

bool Admission::resource_fits(std::uint32_t resource, std::uint32_t task) const {
    for (const auto& [index, amount] : demands_[tasks_[task].demand].resources) {
        if (index == resource) return resources_[resource].pool.fits(amount, task);
    }
    return true;
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
    if (!global_fits(slot, wants.slots) && !closed(Verdict{Blocker::kGlobalSlots, kEvent, 0})) {
        return;
    }
    if (!own.rate.open(now) && !closed(Verdict{Blocker::kClassRate, own.rate.opens_at(), 0}))
        return;
    if (!own.slots.fits(wants.slots, task) && !closed(Verdict{Blocker::kClassSlots, kEvent, 0})) {
        return;
    }
    if (!regions_[slot.region].pool.fits(wants.slots, task) &&
        !closed(Verdict{Blocker::kRegion, kEvent, slot.region})) {
        return;
    }
    if (slot.device != kNoIndex && !walk_device(slot, now, closed)) return;
    for (const auto& [resource, amount] : wants.resources) {
        if (!resources_[resource].pool.fits(amount, task) &&
            !closed(Verdict{Blocker::kResource, kEvent, resource})) {
            return;
        }
    }
}

// False when `closed` wants to hear no more.
template <class Visit>
bool Admission::walk_device(const TaskSlot& slot, base::BootTime now, Visit& closed) const {
    constexpr base::BootTime kEvent = base::BootTime::max();
    if (!classes_[slot.class_index].host_exempt) {
        const Device& device = devices_[slot.device];
        if (device.running >= devices_.limits(slot.device).slots &&
            !closed(Verdict{Blocker::kDeviceSlots, kEvent, device.first_run})) {
            return false;
        }
        const std::uint32_t other = device.running > 0 ? same_class_run(slot) : kNoIndex;
        if (other != kNoIndex && !closed(Verdict{Blocker::kDeviceClass, kEvent, other})) {
            return false;
        }
    }
    const base::BootTime opens = devices_.rate_opens_at(slot.device);
    return opens <= now || closed(Verdict{Blocker::kDeviceRate, opens, slot.device});
}

Verdict Admission::test_device(std::uint32_t task, base::BootTime now) const {
    Verdict first;
    auto closed = [&](const Verdict& verdict) {
        first = verdict;
        return false;
    };
    walk_device(tasks_[task], now, closed);
    return first;
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

// How much of it the task wants.
std::int64_t Admission::amount_of(std::uint32_t task, const Verdict& verdict) const {
    const Demand& wants = demands_[tasks_[task].demand];
    if (verdict.blocker != Blocker::kResource) return wants.slots;
    for (const auto& [resource, amount] : wants.resources) {
        if (resource == verdict.which) return amount;
    }
    return 0;
}

std::uint32_t Admission::reserved_by(const Verdict& refusal) const {
    const Pool* pool = pool_of(*this, refusal);
    return pool == nullptr ? kNoIndex : pool->reserved_by;
}

bool Admission::may_reserve(std::uint32_t task, const Verdict& refusal) const {
    const Pool* pool = pool_of(*this, refusal);
    if (pool == nullptr || pool->reserved_by != kNoIndex) return false;
    const std::int64_t amount = amount_of(task, refusal);
    return amount > 1 && (pool->capacity < 0 || amount <= pool->capacity);
}

// Gives up the reservations for which keep(rank) is false; true when there was one.
template <class Keep>
bool Admission::release(std::uint32_t task, Keep&& keep) {
    TaskSlot& slot = tasks_[task];
    if (!slot.has(kFlagReserves)) return false;
    bool released = false;
    bool kept = false;
    std::size_t rank = 0;
    const auto look = [&](Pool& pool) {
        const bool own = pool.reserved_by == task;
        if (own && keep(rank)) {
            kept = true;
        } else if (own) {
            pool.reserved_by = kNoIndex;
            released = true;
        }
        ++rank;
    };
    for (Region& region : regions_) look(region.pool);
    for (Resource& resource : resources_) look(resource.pool);
    look(slots_);
    slot.set(kFlagReserves, kept);
    return released;
}

bool Admission::update_reservations(std::uint32_t task, const Verdict& verdict, bool urgent) {
    Pool* pool = pool_of(*this, verdict);
    if (pool == nullptr) return drop_reservations(task);
    std::size_t own_rank = regions_.size() + resources_.size();
    if (verdict.blocker == Blocker::kRegion) own_rank = verdict.which;
    if (verdict.blocker == Blocker::kResource) own_rank = regions_.size() + verdict.which;
    const bool released = release(task, [&](std::size_t rank) { return rank <= own_rank; });
    if (urgent && may_reserve(task, verdict)) {
        pool->reserved_by = task;
        tasks_[task].set(kFlagReserves, true);
    }
    return released;
}

bool Admission::drop_reservations(std::uint32_t task) {
    return release(task, [](std::size_t) { return false; });
}

}  // namespace pollux::schedule
