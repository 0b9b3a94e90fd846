// What the levels of the fleet say about the alerts of one target, taken together and checked
// against its addon. Used by expand.cpp.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/levels.hpp"
#include "model/addon.hpp"
#include "model/alert_policy.hpp"

namespace pollux::config {

struct AlertComplaint {
    std::string place;    // path for Places
    std::string message;  // what is wrong, and what to do
};

// The nearest level wins for each field; what is said for a row is nearer than what is said for
// all. `known` are the types of all addons: settings of a device or a group may name one that only
// some of its addons have.
model::AlertPolicy resolve_alerts(const Levels& levels, const model::Addon& addon,
                                  const std::set<std::string, std::less<>>& known,
                                  std::vector<AlertComplaint>& complaints);

}  // namespace pollux::config
