#include "engine/device_health.hpp"

#include <utility>

namespace pollux::engine {

template <class Edit>
std::optional<DeviceHealth::Change> DeviceHealth::edit(const std::string& name, Edit&& change) {
    const auto found = devices_.try_emplace(name).first;
    const bool before = found->second.healthy();
    change(found->second);
    const bool after = found->second.healthy();
    if (found->second.tasks == 0) devices_.erase(found);
    if (before == after) return std::nullopt;
    return Change{name, after};
}

std::optional<DeviceHealth::Change> DeviceHealth::add(std::uint32_t task, std::string_view device,
                                                      bool up) {
    if (task < tasks_.size() && tasks_[task].device == device) return report(task, up);
    // Moving to another device may change both; the old one is told, the new one gains a task that
    // can only matter if it is down.
    std::optional<Change> change = remove(task);
    if (device.empty()) return change;
    if (tasks_.size() <= task) tasks_.resize(task + 1);
    tasks_[task] = {std::string(device), up};
    auto joined = edit(tasks_[task].device, [up](Device& one) {
        ++one.tasks;
        if (!up) ++one.down;
    });
    return joined ? joined : change;
}

std::optional<DeviceHealth::Change> DeviceHealth::remove(std::uint32_t task) {
    if (task >= tasks_.size() || tasks_[task].device.empty()) return std::nullopt;
    const Task gone = std::exchange(tasks_[task], {});
    return edit(gone.device, [&gone](Device& one) {
        --one.tasks;
        if (!gone.up) --one.down;
    });
}

std::optional<DeviceHealth::Change> DeviceHealth::report(std::uint32_t task, bool up) {
    if (task >= tasks_.size() || tasks_[task].device.empty() || tasks_[task].up == up) {
        return std::nullopt;
    }
    tasks_[task].up = up;
    return edit(tasks_[task].device, [up](Device& one) { up ? --one.down : ++one.down; });
}

bool DeviceHealth::healthy(std::string_view device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() || found->second.healthy();
}

}  // namespace pollux::engine
