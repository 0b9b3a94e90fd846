// What the alert engine knows about targets, types and topology: an immutable snapshot of the
// fleet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/alert.hpp"
#include "model/alert_policy.hpp"

namespace pollux::alert {

enum class FingerprintStyle : std::uint8_t {
    kOwn,       // over target id, addon, type and subject
    kImported,  // the documented hash of imported dialects: over addon, type and address
};

enum class FailureThreshold : std::uint8_t {
    kConfirmed,  // when the confirmations of the failure ladder are through
    kFirst,      // with the first failure
};

struct TypeFacts {
    std::string type;
    bool enabled = true;
    std::optional<model::Severity> severity{};  // instead of the one that the signal names
    base::Duration hold{};                      // `for`: pending so long, raised all the time
    base::Duration keep_firing_for{};           // open so long after the clear
    // It says that an answer did not come, so a dead device on the way explains it.
    bool missing_answer = false;
    // What is said for some rows (the subjects of alerts) is nearer than the above: by name or
    // pattern, the most exact first, as in model::AlertRule.
    std::vector<std::pair<std::string, model::AlertOverride>> rows{};
    bool operator==(const TypeFacts&) const = default;
};

// Sorted by type. Shared by all targets for which it is the same.
struct AlertTypes {
    std::vector<TypeFacts> types;
    bool closed = false;  // there are no others: an open alert of a type that is not listed is over
    bool operator==(const AlertTypes&) const = default;
};

struct TargetFacts {
    std::string key;  // `addon::device`
    std::string id;
    std::string device;
    std::string address;
    std::string addon;
    std::string category;
    model::AlertLabels labels;
    std::vector<std::string> groups;  // nearest first
    FingerprintStyle fingerprint = FingerprintStyle::kOwn;
    bool enabled = true;  // and its addon is
    FailureThreshold failure_threshold = FailureThreshold::kConfirmed;
    std::string failure_type = "unreachable";  // the manifest's alert_on_failure
    std::string failure_title;                 // empty: made up
    model::Severity failure_severity = model::Severity::kCritical;
    std::shared_ptr<const AlertTypes> types;  // nullptr: all enabled, no timing
};

// A device is reachable if in each group at least one member is.
using ParentGroups = std::vector<std::vector<std::string>>;

struct DeviceFacts {
    std::string name;
    ParentGroups parents;
};

// Keys, ids and device names are unique. A device of a target needs no entry in `devices` unless it
// has parents. Loops in the topology are taken: a device on its own way up is passed over.
struct AlertFleet {
    std::vector<TargetFacts> targets;
    std::vector<DeviceFacts> devices;
};

}  // namespace pollux::alert
