#include "lab/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::lab {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Profile calm() {
    Profile profile;
    profile.name = "calm";
    profile.personalities = {{Personality::kJson, 5},           {Personality::kXml, 1},
                             {Personality::kBasic, 1},          {Personality::kDigestMd5, 0.5},
                             {Personality::kDigestSha256, 0.5}, {Personality::kBearer, 0.5},
                             {Personality::kApiKey, 0.5},       {Personality::kGzip, 1}};
    return profile;
}

Profile demo() {
    Profile profile = calm();
    profile.name = "demo";
    profile.slowest_change = hours(4);
    profile.fastest_change = seconds(30);
    profile.reboot_every = hours(6);
    profile.personalities.insert(profile.personalities.end(), {{Personality::kSlow, 0.3},
                                                               {Personality::kDrip, 0.05},
                                                               {Personality::kFlapping, 0.5},
                                                               {Personality::kHuge, 0.05},
                                                               {Personality::kGarbage, 0.1},
                                                               {Personality::kRedirect, 0.3},
                                                               {Personality::kWrongType, 0.1},
                                                               {Personality::kRateLimited, 0.1}});
    profile.faults = {
        {.kind = FaultKind::kDown, .share = 0.2, .every = minutes(40), .lasts = minutes(2)},
        {.kind = FaultKind::kBlackHole, .share = 0.1, .every = minutes(60), .lasts = minutes(3)},
        {.kind = FaultKind::kLoss,
         .share = 0.1,
         .every = minutes(20),
         .lasts = minutes(5),
         .amount = 20},
        {.kind = FaultKind::kLatency,
         .share = 0.1,
         .every = minutes(20),
         .lasts = minutes(5),
         .amount = 400},
        {.kind = FaultKind::kAuthFailure, .share = 0.02, .every = hours(2), .lasts = minutes(10)},
        {.kind = FaultKind::kGarbage, .share = 0.02, .every = hours(1), .lasts = minutes(1)},
        {.kind = FaultKind::kServerError, .share = 0.05, .every = hours(1), .lasts = minutes(2)},
    };
    return profile;
}

Profile storm() {
    Profile profile = demo();
    profile.name = "storm";
    profile.slowest_change = minutes(10);
    profile.fastest_change = seconds(5);
    profile.reboot_every = minutes(30);
    for (FaultPlan& plan : profile.faults) {
        plan.share = std::min(1.0, plan.share * 3);
        plan.every = plan.every / 10;
        plan.lasts = std::max<base::Duration>(plan.lasts / 4, seconds(20));
    }
    profile.faults.push_back(
        {.kind = FaultKind::kWrongId, .share = 0.1, .every = minutes(10), .lasts = seconds(30)});
    profile.faults.push_back(
        {.kind = FaultKind::kWalkLoop, .share = 0.1, .every = minutes(10), .lasts = seconds(30)});
    return profile;
}

Profile switches() {
    Profile profile = calm();
    profile.name = "switches";
    profile.interfaces_min = 48;
    profile.interfaces_max = 48;
    return profile;
}

}  // namespace

std::optional<Personality> parse_personality(std::string_view name) {
    const auto* found = std::find(kPersonalityNames.begin(), kPersonalityNames.end(), name);
    if (found == kPersonalityNames.end()) return std::nullopt;
    return static_cast<Personality>(found - kPersonalityNames.begin());
}

const std::vector<std::string_view>& profile_names() {
    static const std::vector<std::string_view> names = {"calm", "demo", "storm", "switches"};
    return names;
}

base::Result<Profile> find_profile(std::string_view name) {
    if (name == "calm") return calm();
    if (name == "demo") return demo();
    if (name == "storm") return storm();
    if (name == "switches") return switches();
    return base::config_error(
        "lab.profile", fmt::format("there is no profile {}; choose one of {}", base::quoted(name),
                                   fmt::join(profile_names(), ", ")));
}

}  // namespace pollux::lab
