// What a person or a file asks for: one schedulable task, and the device it talks to. Plain data;
// validate.hpp says what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/tier.hpp"

namespace pollux::model {

enum class CadenceKind : std::uint8_t { kOnce, kFixed, kAdaptive };

// When a task should run. For a fixed cadence only `base` counts; for an adaptive one `base` is
// the interval while adaptive polling is off, and what the poll budget is counted from.
struct Cadence {
    CadenceKind kind = CadenceKind::kFixed;
    base::Duration min{};
    base::Duration base{};
    base::Duration max{};
    bool operator==(const Cadence&) const = default;

    static Cadence once() { return {.kind = CadenceKind::kOnce}; }
    static Cadence fixed(base::Duration every) {
        return {.kind = CadenceKind::kFixed, .min = every, .base = every, .max = every};
    }
    static Cadence adaptive(base::Duration min, base::Duration base, base::Duration max) {
        return {.kind = CadenceKind::kAdaptive, .min = min, .base = base, .max = max};
    }
};

enum class FailureProfile : std::uint8_t { kLadder, kPulse, kOpsconductor };

enum class ParentKind : std::uint8_t {
    kTask,    // another task: completed when it runs once, healthy when it recurs
    kDevice,  // a device: healthy as reported by ParentChanged
};

struct Parent {
    ParentKind kind = ParentKind::kTask;
    std::string name;  // task key or device name
    bool operator==(const Parent&) const = default;
};

enum class WhenUnmet : std::uint8_t {
    kHold,  // do not start at all: jobs, and resources behind a connection
    kSlow,  // still ask, at the slowest rate: a child that answers proves the edge wrong
};

// Met when any one parent is good. A task's needs are the AND of its groups.
struct NeedGroup {
    std::vector<Parent> any_of;
    WhenUnmet when_unmet = WhenUnmet::kHold;
    bool operator==(const NeedGroup&) const = default;
};

struct ResourceDemand {
    std::string resource;
    std::int64_t amount = 0;
    bool operator==(const ResourceDemand&) const = default;
};

enum class ParentFailure : std::uint8_t { kFail, kHold };

struct TaskSpec {
    std::string key;
    std::string device;  // empty: no device limits apply
    std::string region;  // empty: the local region
    Cadence cadence;
    Tier tier = Tier::kNormal;
    base::Duration timeout = std::chrono::seconds(30);
    std::optional<base::Duration> staleness_bound;
    FailureProfile failure_profile = FailureProfile::kLadder;
    bool enabled = true;
    bool adaptive = true;  // false: this task stays on its base whatever the switch says
    std::vector<NeedGroup> needs;
    std::vector<ResourceDemand> demand;
    std::int64_t slots = 1;
    std::int64_t max_attempts = 1;  // jobs only
    ParentFailure on_parent_failure = ParentFailure::kFail;
    std::uint64_t version = 0;  // of the configured object: what the sweep compares
    bool operator==(const TaskSpec&) const = default;
};

struct DeviceSpec {
    std::string name;
    double rate = 0;                    // polls per second; 0: the default of the settings
    std::uint32_t slots = 0;            // runs at once; 0: the default
    std::uint32_t slots_per_class = 0;  // runs at once and class; 0: the default
    bool operator==(const DeviceSpec&) const = default;
};

}  // namespace pollux::model
