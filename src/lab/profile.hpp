// How a simulated fleet behaves: which kinds of devices it has, how often they change, what breaks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "lab/fault.hpp"

namespace pollux::lab {

// What an HTTP device is like.
enum class Personality : std::uint8_t {
    kJson,       // status as JSON
    kXml,        // the same as XML
    kBasic,      // JSON behind basic authentication
    kDigestMd5,  // JSON behind digest authentication (RFC 7616)
    kDigestSha256,
    kBearer,       // JSON behind a bearer token
    kApiKey,       // JSON behind X-API-Key
    kSlow,         // answers after 1 to 4 s
    kDrip,         // one byte per second
    kFlapping,     // up and down by schedule: resets, 500, silence
    kHuge,         // 1 GiB of JSON
    kGzip,         // compressed
    kGarbage,      // bytes that are not JSON, or not even HTTP
    kRedirect,     // to the real page, by one hop
    kWrongType,    // JSON that claims to be an image
    kRateLimited,  // 429 with Retry-After when asked more than once in 5 s
};
inline constexpr std::size_t kPersonalities = 16;
inline constexpr std::array<std::string_view, kPersonalities> kPersonalityNames = {
    "json",    "xml",      "basic",      "digest-md5",  "digest-sha256", "bearer",
    "api-key", "slow",     "drip",       "flapping",    "huge",          "gzip",
    "garbage", "redirect", "wrong-type", "rate-limited"};

constexpr std::string_view to_string(Personality personality) {
    return kPersonalityNames[static_cast<std::size_t>(personality)];
}
std::optional<Personality> parse_personality(std::string_view name);

// A fault that comes and goes by itself, at moments of its own on every device.
struct FaultPlan {
    FaultKind kind = FaultKind::kDown;
    double share = 1;  // of the devices that can have it at all
    base::Duration every = std::chrono::hours(1);
    base::Duration lasts = std::chrono::minutes(1);  // half to one and a half of it
    std::uint32_t amount = 0;
};

struct Profile {
    std::string name;
    std::uint32_t interfaces_min = 4;
    std::uint32_t interfaces_max = 24;
    // How often the slowest and the fastest device change something that matters; between them
    // evenly in the logarithm.
    base::Duration slowest_change = std::chrono::hours(24);
    base::Duration fastest_change = std::chrono::minutes(5);
    base::Duration reboot_every{};  // zero: never
    std::vector<FaultPlan> faults;
    std::vector<std::pair<Personality, double>> personalities;  // with their weights
    double tls_share = 0.2;                                     // of the HTTP devices
};

// "calm": nothing breaks; "demo": a bit of everything; "storm": much of everything.
base::Result<Profile> find_profile(std::string_view name);
const std::vector<std::string_view>& profile_names();

}  // namespace pollux::lab
