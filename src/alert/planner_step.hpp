// What one call of NotificationPlanner::step() carries along, and the keys of rows. Used by the
// files of the planner only.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "alert/notification_planner.hpp"

namespace pollux::alert {

namespace planner {

// Names hold no control characters, so these never meet.
inline constexpr std::string_view kGroupKey = "group\n";
inline constexpr std::string_view kChannelKey = "channel\n";
inline constexpr std::string_view kFlapKey = "flap\n";
inline constexpr std::string_view kUnroutedKey = "unrouted\n";  // a wake only, not a row
inline constexpr std::string_view kMetaKey = "planner";

inline std::string channel_key(std::string_view receiver, std::string_view channel) {
    return std::string(kChannelKey) + std::string(receiver) + '\n' + std::string(channel);
}
inline std::string flap_key(std::string_view fingerprint, std::string_view receiver) {
    return std::string(kFlapKey) + std::string(fingerprint) + '\n' + std::string(receiver);
}

}  // namespace planner

struct NotificationPlanner::Step {
    base::WallTime now;
    PlannerOutput& out;
    std::set<std::string, std::less<>> touched{};     // groups to look at
    std::set<std::string, std::less<>> moved{};       // incidents that lost an alert to another
    std::set<std::string, std::less<>> past_flaps{};  // causes and receivers in a digest
    std::set<std::string, std::less<>> dirty{};       // keys of rows that changed
    std::map<std::string, std::vector<planner::DigestLine>, std::less<>> past{};  // by receiver
};

}  // namespace pollux::alert
