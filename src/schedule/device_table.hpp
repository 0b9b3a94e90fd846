// The devices that tasks talk to: how many runs they take at once, and how fast. Most devices share
// one set of limits, so a device itself is 24 bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/chunked_array.hpp"
#include "base/flat_index.hpp"
#include "base/slab.hpp"
#include "base/time.hpp"
#include "model/run.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "schedule/wait_line.hpp"

namespace pollux::schedule {

struct DeviceLimits {
    std::uint32_t slots = 4;
    std::uint32_t slots_per_class = 1;
    std::int64_t gap_ns = 0;        // between two starts at the steady rate
    std::int64_t tolerance_ns = 0;  // how far ahead a burst may run
    bool operator==(const DeviceLimits&) const = default;
};

struct Device {
    base::BootTime next_slot;  // when the next start would fall if all came at the steady rate
    std::uint32_t first_run = model::kNoIndex;
    std::uint32_t line = model::kNoIndex;  // made when somebody has to wait
    std::uint32_t node = model::kNoIndex;  // in the needs graph
    std::uint16_t running = 0;
    std::uint16_t limits = 0;
};
static_assert(sizeof(Device) == 24);

struct DeviceLine {
    WaitLine waiters;
    std::uint32_t on_wheel = model::kNoIndex;  // the task whose timer tells when the rate opens
};

class DeviceTable {
  public:
    std::uint32_t find(std::string_view name) const;
    std::uint32_t find_or_add(std::string_view name);
    void configure(base::BootTime now, const model::CoreSettings& settings);
    // False, and nothing changed, when the device would need one more distinct set of limits than
    // there may be.
    static constexpr std::size_t kMaxLimitSets = 0xFFFF;
    bool set_limits(base::BootTime now, std::uint32_t device, const model::DeviceSpec& spec);

    void prefetch(std::uint32_t index) const { devices_.prefetch(index); }
    Device& operator[](std::uint32_t index) { return devices_[index]; }
    const Device& operator[](std::uint32_t index) const { return devices_[index]; }
    const std::string& name(std::uint32_t index) const { return names_[index]; }
    std::size_t size() const { return devices_.size(); }

    const DeviceLimits& limits(std::uint32_t index) const {
        return limits_[devices_[index].limits].limits;
    }
    bool rate_open(std::uint32_t device, base::BootTime now) const {
        return rate_opens_at(device) <= now;
    }
    base::BootTime rate_opens_at(std::uint32_t device) const;
    void take_rate(std::uint32_t device, base::BootTime now);
    void close_until(std::uint32_t device, base::BootTime until);  // the device asked us to wait

    DeviceLine& line(std::uint32_t device);  // made when first needed
    bool has_line(std::uint32_t device) const { return devices_[device].line != model::kNoIndex; }
    const DeviceLine& known_line(std::uint32_t device) const {
        return lines_[devices_[device].line];
    }
    void drop_empty_line(std::uint32_t device);

    std::size_t memory_bytes() const { return devices_.memory_bytes() + index_.memory_bytes(); }

  private:
    struct LimitSet {
        DeviceLimits limits;
        model::DeviceSpec spec;  // name unused; zeros mean the default
    };
    DeviceLimits limits_for(const model::DeviceSpec& spec) const;
    void rescale(Device& device, base::BootTime now, const DeviceLimits& old) const;

    base::ChunkedArray<Device> devices_;
    base::ChunkedArray<std::string> names_;
    base::FlatIndex index_;
    base::Slab<DeviceLine> lines_;
    std::vector<LimitSet> limits_ = {LimitSet{}};  // 0: the default
    model::CoreSettings defaults_;
};

}  // namespace pollux::schedule
