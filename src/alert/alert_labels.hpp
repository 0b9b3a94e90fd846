// The labels of an alert, as matchers of routes and silences, Alertmanager and templates see them:
// those of its device, and over them what every alert has: alertname (its type), severity,
// category, addon, device, target, subject, address, source. What is empty is not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/alert.hpp"

namespace pollux::alert {

// A device is in several groups: a matcher on `group` holds if any of them fits (for != and !~: if
// none does). As a plain label, `group` is the nearest one.
struct MatchLabels {
    model::AlertLabels values;
    std::vector<std::string> groups;

    std::string_view find(std::string_view label) const;  // empty: not there
    bool operator==(const MatchLabels&) const = default;
};

MatchLabels labels_of(const model::Alert& alert);

// An incident of our own has no alert: its labels are made up from what it is.
MatchLabels labels_of(const model::Incident& incident);

}  // namespace pollux::alert
