#include "lab/interface_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pollux::lab {
namespace {

using model::SnmpType;
using model::SnmpValue;

// Which running total of an interface a column shows.
enum Flow : std::uint64_t { kIn = 0, kOut = 1, kInErrors = 2, kOutErrors = 3, kFlows = 4 };

constexpr std::uint64_t kOctetsPerPacket = 700;

std::uint64_t speed(const Device& device, std::uint32_t index) {
    const std::uint64_t hash = device.chances().hash(Purpose::kInterface, 3'000'000ULL + index);
    return hash % 8 == 0 ? 10'000'000'000ULL : 1'000'000'000ULL;
}

std::uint64_t item(std::uint32_t index, Flow flow) { return index * kFlows + flow; }

// From 1 kB/s to 16 MB/s, evenly in the logarithm.
std::uint64_t octets_per_second(const Device& device, std::uint32_t index, Flow flow) {
    return 1000ULL << device.chances().hash(Purpose::kCounter, item(index, flow), -1) % 15;
}

std::uint64_t octets(const Device& device, std::uint32_t index, Flow flow, FleetTime now) {
    return device.counter(item(index, flow), octets_per_second(device, index, flow), now);
}

void integer(SnmpValue& value, std::int64_t number) {
    value.type = SnmpType::kInteger;
    value.integer = number;
}
void number(SnmpValue& value, SnmpType type, std::uint64_t amount) {
    value.type = type;
    value.unsigned_value = type == SnmpType::kCounter64 ? amount : amount & 0xFFFFFFFFU;
}
template <class... Args>
void text(SnmpValue& value, fmt::format_string<Args...> format, Args&&... args) {
    value.type = SnmpType::kOctetString;
    value.bytes.clear();
    fmt::format_to(std::back_inserter(value.bytes), format, std::forward<Args>(args)...);
}

void hardware_address(const Device& device, std::uint32_t index, SnmpValue& value) {
    value.type = SnmpType::kOctetString;
    value.bytes = hardware_address_of(device, index);
}

void octets32(const Device& device, std::uint32_t index, Flow flow, FleetTime now,
              SnmpValue& value) {
    number(value, SnmpType::kCounter32,
           device.counter32(item(index, flow), octets_per_second(device, index, flow), now));
}

// Most packets are unicast; `part` in the thousand are of the asked sort.
std::uint64_t packets(const Device& device, std::uint32_t index, Flow flow, std::uint64_t part,
                      FleetTime now) {
    return octets(device, index, flow, now) / (kOctetsPerPacket * 1000 / part);
}

}  // namespace

std::string hardware_address_of(const Device& device, std::uint32_t index) {
    const std::uint32_t a = device.address();
    std::string bytes;
    for (const std::uint32_t byte : {2U, a >> 16U, a >> 8U, a, index >> 8U, index}) {
        bytes.push_back(static_cast<char>(byte & 0xFFU));
    }
    return bytes;
}

std::uint32_t ticks(base::Duration duration) {
    return static_cast<std::uint32_t>(duration.count() / 10'000'000);
}

InterfaceState interface_state(const Device& device, std::uint32_t index, FleetTime now) {
    const Chances& chances = device.chances();
    InterfaceState state;
    const FleetTime boot = device.booted_at(now);
    state.changed_at = boot;
    if (chances.hash(Purpose::kInterface, 1'000'000ULL + index) % 20 == 0) {
        state.admin_up = false;
        state.oper = OperStatus::kDown;
        return state;
    }
    // A device as a whole changes once per change_period(): one of four happenings changes
    // something, and the happenings are shared by all its interfaces.
    const base::Duration period = device.change_period() * device.interfaces() / 4;
    const auto happening = chances.last(now, period, Purpose::kInterface, index);
    // Most of what is not up waits for something, as ports of people who left do: that is a change
    // and no trouble. A link that breaks is rare.
    const double chance = chances.unit(Purpose::kInterface, 2'000'000ULL + index, happening.number);
    state.oper = chance >= 0.15    ? OperStatus::kUp
                 : chance >= 0.002 ? OperStatus::kDormant
                                   : OperStatus::kDown;
    state.changed_at = std::max(boot, happening.at);
    return state;
}

void read_if_column(const Device& device, std::uint32_t index, std::uint32_t column, FleetTime now,
                    SnmpValue& value) {
    switch (column) {
        case 1: return integer(value, index);
        case 2: return text(value, "GigabitEthernet0/{}", index);
        case 3: return integer(value, 6);
        case 4: return integer(value, 1500);
        case 5:
            return number(value, SnmpType::kGauge32,
                          std::min<std::uint64_t>(speed(device, index), 0xFFFFFFFFU));
        case 6: return hardware_address(device, index, value);
        case 7: return integer(value, interface_state(device, index, now).admin_up ? 1 : 2);
        case 8:
            return integer(value,
                           static_cast<std::int64_t>(interface_state(device, index, now).oper));
        case 9: {
            const auto since =
                interface_state(device, index, now).changed_at - device.booted_at(now);
            return number(value, SnmpType::kTimeTicks, ticks(since));
        }
        case 10: return octets32(device, index, kIn, now, value);
        case 11: return number(value, SnmpType::kCounter32, packets(device, index, kIn, 900, now));
        case 14:
            return number(value, SnmpType::kCounter32,
                          device.counter(item(index, kInErrors), 1, now) / 200);
        case 16: return octets32(device, index, kOut, now, value);
        case 17: return number(value, SnmpType::kCounter32, packets(device, index, kOut, 900, now));
        case 20:
            return number(value, SnmpType::kCounter32,
                          device.counter(item(index, kOutErrors), 1, now) / 500);
        default: return number(value, SnmpType::kCounter32, 0);  // discards, unknown protocols
    }
}

void read_ifx_column(const Device& device, std::uint32_t index, std::uint32_t column, FleetTime now,
                     SnmpValue& value) {
    switch (column) {
        case 1: return text(value, "Gi0/{}", index);
        case 2: return number(value, SnmpType::kCounter32, packets(device, index, kIn, 60, now));
        case 3: return number(value, SnmpType::kCounter32, packets(device, index, kIn, 40, now));
        case 4: return number(value, SnmpType::kCounter32, packets(device, index, kOut, 60, now));
        case 5: return number(value, SnmpType::kCounter32, packets(device, index, kOut, 40, now));
        case 6: return number(value, SnmpType::kCounter64, octets(device, index, kIn, now));
        case 7: return number(value, SnmpType::kCounter64, packets(device, index, kIn, 900, now));
        case 8: return number(value, SnmpType::kCounter64, packets(device, index, kIn, 60, now));
        case 9: return number(value, SnmpType::kCounter64, packets(device, index, kIn, 40, now));
        case 10: return number(value, SnmpType::kCounter64, octets(device, index, kOut, now));
        case 11: return number(value, SnmpType::kCounter64, packets(device, index, kOut, 900, now));
        case 12: return number(value, SnmpType::kCounter64, packets(device, index, kOut, 60, now));
        case 13: return number(value, SnmpType::kCounter64, packets(device, index, kOut, 40, now));
        case 15: return number(value, SnmpType::kGauge32, speed(device, index) / 1'000'000);
        case 18:
            if (index == 1) return text(value, "uplink");
            return text(value, "");
        case 19: return number(value, SnmpType::kTimeTicks, 0);
        default: return integer(value, column == 14 || column == 17 ? 1 : 2);
    }
}

}  // namespace pollux::lab
