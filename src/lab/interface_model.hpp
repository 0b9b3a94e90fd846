// The interfaces of a simulated device: the columns of ifTable and ifXTable (RFC 2863) as functions
// of device, interface and time.
#pragma once

#include <cstdint>
#include <string>

#include "lab/device.hpp"
#include "model/reply.hpp"

namespace pollux::lab {

// Hundredths of a second, as TimeTicks count; they wrap after 497 days.
std::uint32_t ticks(base::Duration duration);

// As ifOperStatus counts.
enum class OperStatus : std::uint8_t { kUp = 1, kDown = 2, kDormant = 5 };

struct InterfaceState {
    bool admin_up = true;
    OperStatus oper = OperStatus::kUp;
    FleetTime changed_at{};  // not before the device booted
};
InterfaceState interface_state(const Device& device, std::uint32_t index, FleetTime now);

// The hardware address of an interface, six bytes.
std::string hardware_address_of(const Device& device, std::uint32_t index);

void read_if_column(const Device& device, std::uint32_t index, std::uint32_t column, FleetTime now,
                    model::SnmpValue& value);
void read_ifx_column(const Device& device, std::uint32_t index, std::uint32_t column, FleetTime now,
                     model::SnmpValue& value);

}  // namespace pollux::lab
