// What is believed about targets and devices, as rows that survive a restart.
#include <utility>

#include "alert/fleet_map.hpp"

namespace pollux::alert {
namespace {

constexpr std::uint8_t kVersion = 1;

std::string encode(const TargetState& state) {
    if (state.health == Health::kUp && !state.permanent && !state.told_down) return {};
    base::ByteWriter out;
    out.u8(kVersion);
    out.u8(static_cast<std::uint8_t>(state.health));
    out.boolean(state.permanent);
    out.boolean(state.told_down);
    return out.take();
}

// Answers stay even of a device that is well: a question may not be asked twice at one moment.
std::string encode(const DeviceState& state, const TimeCodec& times) {
    base::ByteWriter out;
    out.u8(kVersion);
    out.boolean(state.down);
    times.write(out, state.believed_since);
    times.write(out, state.answered_at);
    times.write(out, state.asked_at);
    times.write(out, state.failing_since);
    return out.take();
}

}  // namespace

void FleetMap::write_changes(const TimeCodec& times, std::vector<MemoryRow>& out) {
    for (MemoryRow& row : gone_) out.push_back(std::move(row));
    gone_.clear();
    for (const std::uint32_t at : changed_targets_) {
        targets_[at].changed = false;
        out.push_back({std::string(kTargetPrefix) + targets_[at].facts->id, encode(targets_[at])});
    }
    changed_targets_.clear();
    for (const std::uint32_t at : changed_devices_) {
        devices_[at].changed = false;
        out.push_back(
            {std::string(kDevicePrefix) + devices_[at].name, encode(devices_[at], times)});
    }
    changed_devices_.clear();
}

void FleetMap::write_all(const TimeCodec& times, std::vector<MemoryRow>& out) const {
    for (const TargetState& state : targets_) {
        std::string bytes = encode(state);
        if (bytes.empty()) continue;
        out.push_back({std::string(kTargetPrefix) + state.facts->id, std::move(bytes)});
    }
    for (const DeviceState& state : devices_) {
        out.push_back({std::string(kDevicePrefix) + state.name, encode(state, times)});
    }
}

bool FleetMap::restore_target(std::string_view id, std::string_view bytes) {
    const std::uint32_t at = target_by_id(id);
    base::ByteReader in(bytes);
    const bool known = in.u8() == kVersion;
    const std::uint8_t health = in.u8();
    const bool permanent = in.boolean();
    const bool told_down = in.boolean();
    if (at == kNone || !known || !in.ok() || !in.at_end()) return false;
    if (health > static_cast<std::uint8_t>(Health::kStale)) return false;
    targets_[at].health = static_cast<Health>(health);
    targets_[at].permanent = permanent;
    targets_[at].told_down = told_down;
    refresh_doubt(targets_[at].device);
    return true;
}

bool FleetMap::restore_device(std::string_view name, std::string_view bytes,
                              const TimeCodec& times) {
    const std::uint32_t at = device_by_name(name);
    base::ByteReader in(bytes);
    const bool known = in.u8() == kVersion;
    const bool down = in.boolean();
    const base::BootTime believed = times.read(in);
    const base::BootTime answered = times.read(in);
    const base::BootTime asked = times.read(in);
    const base::BootTime failing = times.read(in);
    if (at == kNone || !known || !in.ok() || !in.at_end()) return false;
    DeviceState& state = devices_[at];
    ++explanations_;
    if (state.failing_since != base::BootTime::max()) failing_.erase({state.failing_since, at});
    state.down = down;
    state.believed_since = believed;
    state.answered_at = answered;
    state.asked_at = asked;
    state.failing_since = failing;
    if (failing != base::BootTime::max()) failing_.insert({failing, at});
    refresh_doubt(at);
    return true;
}

std::size_t FleetMap::memory_bytes() const {
    return targets_.capacity() * sizeof(TargetState) + devices_.capacity() * sizeof(DeviceState) +
           by_key_.memory_bytes() + by_id_.memory_bytes() + by_name_.memory_bytes();
}

}  // namespace pollux::alert
