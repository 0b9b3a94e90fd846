// How often one client may use a class of routes: a sliding window per client and class. Pure:
// `now` is handed in. Owned by one thread.
//
// Invariants
// 1. No window of a class's length ever holds more than its limit of admitted requests of one key.
//    (Counts are kept by sixtieths of the window and leave when their whole part is past, so that a
//    client may wait up to a sixtieth longer than an exact window would make it.)
// 2. Memory is bounded. When the table is full of live keys, newcomers share counters chosen by a
//    keyed hash: nobody gets a fresh window by bringing many keys.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"

namespace pollux::access {

enum class RateClass : std::uint8_t {
    kPublic,  // open pages and reads of the configuration
    kGeneral,
    kAuth,  // login, bootstrap, passwords
    kConfigWrite,
    kExport,   // export and import
    kControl,  // breakers and dead letters
    kNone,     // not limited
};
inline constexpr std::size_t kRateClasses = 7;

struct RateLimit {
    std::uint32_t requests = 0;  // 0: no limit
    base::Duration window = std::chrono::minutes(1);
};

RateLimit rate_limit(RateClass rate_class);

struct RateDecision {
    bool admitted = true;
    bool limited = false;  // false: this class or client has no limit, and nothing below counts
    std::uint32_t limit = 0;
    std::uint32_t remaining = 0;
    base::Duration reset = base::Duration::zero();  // until the whole limit is there again
    std::int64_t retry_after_seconds = 0;           // of a refused one, at least 1
};

struct RateClient {
    std::string_view principal = {};  // empty: nobody is logged in, the address counts
    std::string_view address = {};    // IPv6: its /64
    bool direct_loopback = false;     // exempt but for kAuth and kControl
};

class RateLimiter {
  public:
    explicit RateLimiter(base::SipKey key, std::size_t most_keys = 16'384);

    RateDecision admit(RateClass rate_class, const RateClient& client, base::BootTime now);
    std::size_t size() const { return windows_.size(); }

  private:
    static constexpr std::int64_t kParts = 60;          // of a window
    static constexpr std::int64_t kSlots = kParts + 1;  // the oldest is only partly past
    static constexpr std::size_t kShared = 256;

    struct Window {
        std::int64_t newest = 0;  // number of the part that was counted last
        std::uint32_t total = 0;
        std::array<std::uint16_t, kSlots> counts{};
        std::uint16_t& at(std::int64_t part) {
            return counts[static_cast<std::size_t>(part % kSlots)];
        }
        void advance(std::int64_t part);
    };

    Window& window_for(const std::string& key, RateClass rate_class, base::BootTime now);
    void forget_old(base::BootTime now);

    base::SipKey key_;
    std::size_t most_keys_;
    struct Kept {
        Window window;
        base::BootTime end;  // everything counted has left by then
    };
    std::map<std::string, Kept, std::less<>> windows_;
    std::set<std::pair<base::BootTime, std::string>> by_end_;
    std::array<std::vector<Window>, kRateClasses> shared_;
};

}  // namespace pollux::access
