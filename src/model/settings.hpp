// Everything about the scheduler that can be changed while it runs. Plain data; validate.hpp says
// what is allowed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace pollux::model {

enum class AdaptiveMode : std::uint8_t {
    kOff,     // every task runs on its base
    kShadow,  // adaptive intervals are computed and reported, the base still decides
    kOn,
};

enum class PolicyKind : std::uint8_t { kFixed, kClassic, kAimd, kOptimal, kKnownRate };
enum class Preset : std::uint8_t { kBalanced, kFresh, kEconomy };

// What to do when the budget cannot keep every staleness bound: a low mean delay, or a short tail.
enum class DegradedChoice : std::uint8_t { kMeanFirst, kTailFirst };

inline constexpr std::array<std::string_view, 5> kPolicyNames = {"fixed", "classic", "aimd",
                                                                 "optimal", "oracle"};
inline constexpr std::array<std::string_view, 3> kPresetNames = {"balanced", "fresh", "economy"};

constexpr std::string_view to_string(PolicyKind policy) {
    return kPolicyNames[static_cast<std::size_t>(policy)];
}
constexpr std::string_view to_string(Preset preset) {
    return kPresetNames[static_cast<std::size_t>(preset)];
}

struct PresetLimits {
    double budget_share;  // of the sum of 1/base
    double stretch;       // how many times its base a quiet task may wait
    double exponent;      // T = g / (weight x rate)^exponent: 0.5 for the lowest mean delay
};

constexpr PresetLimits limits_of(Preset preset) {
    constexpr std::array<PresetLimits, 3> kLimits = {
        PresetLimits{1.0, 1.5, 0.42}, PresetLimits{1.0, 3.0, 0.5}, PresetLimits{0.5, 4.5, 0.5}};
    return kLimits[static_cast<std::size_t>(preset)];
}

struct ClassSettings {
    std::string name;
    std::uint32_t weight = 1;        // share of the starts beside other classes
    double rate = 0;                 // starts per second; 0: no limit of its own
    std::uint32_t slots = 0;         // runs at once; 0: no limit of its own
    bool host_slots_exempt = false;  // ICMP: does not count against the slots of a device
    PolicyKind policy = PolicyKind::kOptimal;
    Preset preset = Preset::kBalanced;
    std::optional<base::Duration> staleness_bound;
    bool operator==(const ClassSettings&) const = default;
};

struct ResourceSettings {
    std::string name;
    std::int64_t capacity = 0;
    bool operator==(const ResourceSettings&) const = default;
};

struct CoreSettings {
    AdaptiveMode mode = AdaptiveMode::kOff;
    double adaptive_percent = 100;  // of the tasks, by a stable hash of the key
    double global_rate = 100;       // starts per second
    std::uint32_t global_slots = 1024;
    std::uint32_t device_slots = 4;
    std::uint32_t device_class_slots = 1;
    double device_rate = 10;  // starts per second and device
    base::Duration staleness_bound = std::chrono::seconds(60);
    base::Duration aging_step = std::chrono::seconds(30);
    std::uint32_t max_starts_per_step = 100;
    double budget_headroom = 0.98;  // share of global_rate that the policies may plan with
    DegradedChoice degraded = DegradedChoice::kMeanFirst;
    std::uint64_t seed = 0;  // of phase, jitter and percentages
    std::vector<ClassSettings> classes;
    std::vector<ResourceSettings> resources;
    bool operator==(const CoreSettings&) const = default;
};

}  // namespace pollux::model
