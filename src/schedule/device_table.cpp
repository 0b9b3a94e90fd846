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

void DeviceTable::configure(base::BootTime now, const model::CoreSettings& settings) {
    defaults_ = settings;
    const std::vector<LimitSet> old = limits_;
    for (LimitSet& set : limits_) set.limits = limits_for(set.spec);
    for (std::uint32_t i = 0; i < devices_.size(); ++i) {
        rescale(devices_[i], now, old[devices_[i].limits].limits);
    }
}

// What was started under the old rate weighs as many starts under the new one. A device that asked
// us to wait is left alone: it is closed for longer than starts alone could close it.
void DeviceTable::rescale(Device& device, base::BootTime now, const DeviceLimits& old) const {
    const DeviceLimits& limits = limits_[device.limits].limits;
    if (device.next_slot <= now || limits.gap_ns == old.gap_ns || old.gap_ns == 0) return;
    const std::int64_t ahead = (device.next_slot - now).count();
    if (ahead > old.gap_ns + old.tolerance_ns) {
        device.next_slot += base::Duration(limits.tolerance_ns - old.tolerance_ns);
        return;
    }
    const double starts = static_cast<double>(ahead) / static_cast<double>(old.gap_ns);
    const double wait = starts * static_cast<double>(limits.gap_ns);
    device.next_slot = now + base::Duration(static_cast<std::int64_t>(wait) + 1);
}

bool DeviceTable::set_limits(base::BootTime now, std::uint32_t device,
                             const model::DeviceSpec& spec) {
    model::DeviceSpec plain = spec;
    plain.name.clear();
    const auto same = [&](const LimitSet& set) { return set.spec == plain; };
    auto found = std::ranges::find_if(limits_, same);
    if (found == limits_.end()) {
        if (limits_.size() >= kMaxLimitSets) return false;
        limits_.push_back({limits_for(plain), plain});
        found = limits_.end() - 1;
    }
    const DeviceLimits old = limits(device);
    devices_[device].limits = static_cast<std::uint16_t>(found - limits_.begin());
    rescale(devices_[device], now, old);
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

DeviceLine& DeviceTable::line(std::uint32_t device) {
    if (devices_[device].line == model::kNoIndex) devices_[device].line = lines_.allocate();
    return lines_[devices_[device].line];
}

void DeviceTable::drop_empty_line(std::uint32_t device) {
    Device& own = devices_[device];
    if (own.line == model::kNoIndex) return;
    DeviceLine& line = lines_[own.line];
    line.waiters.drop_empty_groups();
    if (!line.waiters.empty() || line.on_wheel != model::kNoIndex) return;
    lines_.release(own.line);
    own.line = model::kNoIndex;
}

}  // namespace pollux::schedule
