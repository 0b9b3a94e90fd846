// The four urgency tiers. Numbers are internal (higher is more urgent); people see the names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pollux::model {

enum class Tier : std::uint8_t { kLow = 0, kNormal = 1, kHigh = 2, kCritical = 3 };

inline constexpr std::size_t kTierCount = 4;
inline constexpr std::array<std::string_view, kTierCount> kTierNames = {"low", "normal", "high",
                                                                        "critical"};

constexpr std::string_view to_string(Tier tier) {
    return kTierNames[static_cast<std::size_t>(tier)];
}

constexpr std::optional<Tier> parse_tier(std::string_view text) {
    for (std::size_t i = 0; i < kTierCount; ++i) {
        if (kTierNames[i] == text) return static_cast<Tier>(i);
    }
    return std::nullopt;
}

// How much one second of unseen change weighs: what the interval policy spends the budget by.
constexpr double weight_of(Tier tier) {
    constexpr std::array<double, kTierCount> kWeights = {0.3, 1.0, 3.0, 10.0};
    return kWeights[static_cast<std::size_t>(tier)];
}

}  // namespace pollux::model
