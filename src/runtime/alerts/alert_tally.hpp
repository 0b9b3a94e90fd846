// How many alerts there are, together and of each target: what lists and overviews show. Taken on
// the desk's thread without copying alerts. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "model/alert.hpp"

namespace pollux::runtime {

// Alerts of one target that need somebody: active or acknowledged.
struct TargetAlerts {
    model::Severity worst = model::Severity::kInfo;
    std::uint32_t open = 0;
    std::uint32_t acknowledged = 0;  // of these
};

// Of one open incident, as far as its alerts are seen.
struct IncidentTally {
    std::uint32_t active = 0;
    std::uint32_t acknowledged = 0;
    std::uint32_t suppressed = 0;

    // Somebody has all of what needs somebody.
    bool is_acknowledged() const { return active == 0 && acknowledged > 0; }
};

struct AlertTally {
    std::map<std::string, IncidentTally, std::less<>> incidents;  // by id
    std::map<std::string, TargetAlerts, std::less<>> targets;     // only those with open ones
    std::uint64_t open = 0;                                       // active and acknowledged
    std::uint64_t suppressed = 0;  // true, but the consequence of something else
    std::uint64_t silenced = 0;    // of the open ones
    bool impaired = false;         // we ourselves are cut off
};

using AlertSight = std::function<bool(const model::Alert&)>;  // empty: all

}  // namespace pollux::runtime
