// The clock of the simulated fleet and its chances: every fact about a device is a function of
// (seed, device, time), so the same seed gives the same fleet, and nothing has to be remembered.
#pragma once

#include <cstdint>

#include "base/siphash.hpp"
#include "base/time.hpp"

namespace pollux::lab {

// Since the fleet began; the devices are older than that, so negative times are fine.
using FleetTime = base::Duration;

// What a hash is drawn for, so that two facts of one device do not go together.
enum class Purpose : std::uint64_t {
    kShape = 1,  // what the device is
    kUptime,     // when it booted, seen from the start
    kReboot,     // scheduled reboots
    kFault,      // scheduled faults; plus the number of the kind
    kLoss = 32,  // which packets are lost
    kInterface,  // state of an interface
    kCounter,    // speed of a counter
    kTemperature,
    kDisk,
    kStatus,
    kGarbage,
    kDelay,
};

// The chances of one device.
class Chances {
  public:
    Chances() = default;
    Chances(std::uint64_t seed, std::uint64_t device) : key_{seed, device} {}

    std::uint64_t hash(Purpose purpose, std::uint64_t item = 0, std::int64_t epoch = 0) const {
        return base::siphash24(key_, static_cast<std::uint64_t>(purpose), item,
                               static_cast<std::uint64_t>(epoch));
    }
    double unit(Purpose purpose, std::uint64_t item = 0, std::int64_t epoch = 0) const {
        return base::unit_interval(hash(purpose, item, epoch));
    }
    // A whole number from `low` to `high`.
    std::int64_t between(std::int64_t low, std::int64_t high, Purpose purpose,
                         std::uint64_t item = 0, std::int64_t epoch = 0) const {
        const auto span = static_cast<std::uint64_t>(high - low + 1);
        return low + static_cast<std::int64_t>(hash(purpose, item, epoch) % span);
    }

    // Something that happens once per `period` on average, each time at a moment of its own.
    // Which happening was the last at `time`, and when it was. period > 0.
    struct Happening {
        std::int64_t number = 0;
        FleetTime at{};
    };
    Happening last(FleetTime time, base::Duration period, Purpose purpose,
                   std::uint64_t item = 0) const {
        const std::int64_t slot = base::detail::floor_div(time.count(), period.count());
        const Happening here{slot, moment(slot, period, purpose, item)};
        if (here.at <= time) return here;
        return {slot - 1, moment(slot - 1, period, purpose, item)};
    }

  private:
    FleetTime moment(std::int64_t slot, base::Duration period, Purpose purpose,
                     std::uint64_t item) const {
        // Exact in integers: the same on every machine.
        const std::uint64_t offset =
            hash(purpose, item, slot) % static_cast<std::uint64_t>(period.count());
        return FleetTime{slot * period.count() + static_cast<std::int64_t>(offset)};
    }

    base::SipKey key_;
};

}  // namespace pollux::lab
