// Whether a device is up, told by the health of its tasks: it is down when every one of them is,
// because a single answer proves that it lives. What waits for a parent asks this.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pollux::engine {

class DeviceHealth {
  public:
    struct Change {
        std::string device;
        bool healthy = true;
    };

    // A task (by its index in the core) belongs to a device; it counts as up until told otherwise.
    // Adding one that is known moves it. An empty device name takes no part.
    std::optional<Change> add(std::uint32_t task, std::string_view device, bool up = true);
    std::optional<Change> remove(std::uint32_t task);
    std::optional<Change> report(std::uint32_t task, bool up);

    bool healthy(std::string_view device) const;

  private:
    struct Device {
        std::size_t tasks = 0;
        std::size_t down = 0;
        bool healthy() const { return tasks == 0 || down < tasks; }
    };
    struct Task {
        std::string device;  // empty: not known
        bool up = true;
    };
    using Devices = std::map<std::string, Device, std::less<>>;

    template <class Edit>
    std::optional<Change> edit(const std::string& device, Edit&& change);

    std::vector<Task> tasks_;
    Devices devices_;
};

}  // namespace pollux::engine
