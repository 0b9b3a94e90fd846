// What can be wrong with a simulated device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "lab/fleet_time.hpp"

namespace pollux::lab {

enum class FaultKind : std::uint8_t {
    kDown,            // SNMP: silence; HTTP: every connection is reset
    kBlackHole,       // SNMP: silence; HTTP: connections open and nobody ever answers
    kLoss,            // amount: percent of the packets (HTTP: of the requests) without an answer
    kLatency,         // amount: milliseconds before every answer
    kWrongCommunity,  // SNMP: the community was changed on the device
    kAuthFailure,     // HTTP: 401 whatever is sent; SNMP: like a wrong community
    kServerError,     // HTTP: 500; SNMP: genErr
    kGarbage,         // answers that no reader can read
    kWrongId,         // SNMP: the answer has another request id
    kWrongAddress,    // SNMP: the answer comes from a neighbour's address
    kWalkLoop,        // SNMP: GETNEXT answers with the name it was asked for
    kWalkEndless,     // SNMP: GETNEXT finds a next row for ever
    kReboot,          // once, when it is set: uptime and counters begin again
    kCounterWrap,     // once, when it is set: 32-bit counters pass their end within 10 s
};
inline constexpr std::size_t kFaultKinds = 14;
inline constexpr std::array<std::string_view, kFaultKinds> kFaultNames = {
    "down",      "black-hole",   "loss",    "latency",     "wrong-community",
    "auth",      "server-error", "garbage", "wrong-id",    "wrong-address",
    "walk-loop", "walk-endless", "reboot",  "counter-wrap"};

constexpr std::string_view to_string(FaultKind kind) {
    return kFaultNames[static_cast<std::size_t>(kind)];
}
constexpr std::optional<FaultKind> parse_fault_kind(std::string_view name) {
    for (std::size_t i = 0; i < kFaultKinds; ++i) {
        if (kFaultNames[i] == name) return static_cast<FaultKind>(i);
    }
    return std::nullopt;
}

struct Fault {
    FaultKind kind = FaultKind::kDown;
    FleetTime until = FleetTime::max();
    std::uint32_t amount = 0;  // percent or milliseconds, see the kind
};

// The faults that hold at a moment.
struct FaultState {
    std::uint32_t kinds = 0;  // one bit per kind
    std::uint32_t loss_percent = 0;
    std::uint32_t latency_ms = 0;

    bool has(FaultKind kind) const { return (kinds >> static_cast<unsigned>(kind) & 1U) != 0; }
    void add(FaultKind kind, std::uint32_t amount) {
        kinds |= 1U << static_cast<unsigned>(kind);
        if (kind == FaultKind::kLoss) loss_percent = std::max(loss_percent, amount);
        if (kind == FaultKind::kLatency) latency_ms = std::max(latency_ms, amount);
    }
};

}  // namespace pollux::lab
