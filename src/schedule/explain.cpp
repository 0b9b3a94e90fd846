#include "schedule/explain.hpp"

#include <array>

namespace pollux::schedule {

std::string_view to_string(GateKind gate) {
    constexpr std::array<std::string_view, kGateCount> kNames = {
        "enabled", "due", "needs", "breaker", "in flight", "admission"};
    return kNames[static_cast<std::size_t>(gate)];
}

std::string_view to_string(Place place) {
    constexpr std::array<std::string_view, 12> kNames = {
        "free",           "disabled",    "scheduled",    "waiting for needs",
        "ready",          "device rate", "device queue", "region queue",
        "resource queue", "running",     "ended",        "faulted"};
    return kNames[static_cast<std::size_t>(place)];
}

std::string_view to_string(LimitedBy limit) {
    constexpr std::array<std::string_view, 7> kNames = {
        "nothing",    "the minimum",   "the stretch limit", "the staleness bound",
        "idle drift", "a parent down", "a fixed interval"};
    return kNames[static_cast<std::size_t>(limit)];
}

}  // namespace pollux::schedule
