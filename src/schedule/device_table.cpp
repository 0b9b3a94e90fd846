#include "schedule/device_table.hpp"

#include <algorithm>

#include "schedule/task_table.hpp"

namespace pollux::schedule {
namespace {

constexpr double kBurstSeconds = 0.5;

}  // namespace

std::uint32_t DeviceTable::find(std::string_view name) const {
    return index_.find(hash_of_key(name), [&](std::uint32_t id) { return names_[id] == name; });
}

std::uint32_t DeviceTable::find_or_add(std::string_view name) {
    const std::uint32_t found = find(name);
    if (found != base::FlatIndex::kNone) return found;
    const auto index = static_cast<std::uint32_t>(devices_.size());
    devices_.grow_to(devices_.size() + 1);
    names_.grow_to(devices_.size());
    devices_[index] = Device{};
    devices_[index].next_slot = base::BootTime::min();
    names_[index] = std::string(name);
    index_.insert(hash_of_key(name), index);
    return index;
}

DeviceLimits DeviceTable::limits_for(const model::DeviceSpec& spec) const {
    const double rate = spec.rate > 0 ? spec.rate : defaults_.device_rate;
    const double burst = std::max(1.0, kBurstSeconds * rate);
    DeviceLimits limits;
    limits.slots = spec.slots > 0 ? spec.slots : defaults_.device_slots;
    limits.slots_per_class =
        spec.slots_per_class > 0 ? spec.slots_per_class : defaults_.device_class_slots;
    limits.gap_ns = static_cast<std::int64_t>(1e9 / rate + 0.999999);  // rounded up: never faster
    limits.tolerance_ns =
        static_cast<std::int64_t>((burst - 1) * static_cast<double>(limits.gap_ns));
    return limits;
}

void DeviceTable::configure(const model::CoreSettings& settings) {
    defaults_ = settings;
    for (LimitSet& set : limits_) set.limits = limits_for(set.spec);
}

bool DeviceTable::set_limits(std::uint32_t device, const model::DeviceSpec& spec) {
    model::DeviceSpec plain = spec;
    plain.name.clear();
    const auto same = [&](const LimitSet& set) { return set.spec == plain; };
    auto found = std::ranges::find_if(limits_, same);
    if (found == limits_.end()) {
        if (limits_.size() >= kMaxLimitSets) return false;
        limits_.push_back({limits_for(plain), plain});
        found = limits_.end() - 1;
    }
    devices_[device].limits = static_cast<std::uint16_t>(found - limits_.begin());
    return true;
}

base::BootTime DeviceTable::rate_opens_at(std::uint32_t device) const {
    return devices_[device].next_slot - base::Duration(limits(device).tolerance_ns);
}

void DeviceTable::take_rate(std::uint32_t device, base::BootTime now) {
    Device& own = devices_[device];
    own.next_slot = std::max(own.next_slot, now) + base::Duration(limits(device).gap_ns);
}

void DeviceTable::close_until(std::uint32_t device, base::BootTime until) {
    Device& own = devices_[device];
    own.next_slot = std::max(own.next_slot, until + base::Duration(limits(device).tolerance_ns));
}

WaitQueue& DeviceTable::queue(std::uint32_t device) {
    if (devices_[device].queue == model::kNoIndex) devices_[device].queue = queues_.allocate();
    return queues_[devices_[device].queue];
}

void DeviceTable::drop_empty_queue(std::uint32_t device) {
    Device& own = devices_[device];
    if (own.queue == model::kNoIndex || !queues_[own.queue].empty()) return;
    queues_.release(own.queue);
    own.queue = model::kNoIndex;
}

}  // namespace pollux::schedule
