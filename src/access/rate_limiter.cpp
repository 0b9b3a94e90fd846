#include "access/rate_limiter.hpp"

#include <algorithm>

namespace pollux::access {

using namespace std::chrono_literals;

RateLimit rate_limit(RateClass rate_class) {
    switch (rate_class) {
        case RateClass::kPublic: return {1000, 1min};
        case RateClass::kGeneral: return {500, 1min};
        case RateClass::kAuth: return {10, 1min};
        case RateClass::kConfigWrite: return {30, 1min};
        case RateClass::kExport: return {5, 5min};
        case RateClass::kControl: return {10, 1min};
        case RateClass::kNone: break;
    }
    return {0, 1min};
}

RateLimiter::RateLimiter(base::SipKey key, std::size_t most_keys)
    : key_(key), most_keys_(most_keys) {}

// Makes `part` the newest one; those that left the window are counted off.
void RateLimiter::Window::advance(std::int64_t part) {
    if (part <= newest) return;
    const std::int64_t steps = std::min(part - newest, kSlots);
    for (std::int64_t i = 1; i <= steps; ++i) {
        std::uint16_t& count = at(newest + i);
        total -= count;
        count = 0;
    }
    newest = part;
}

void RateLimiter::forget_old(base::BootTime now) {
    while (!by_end_.empty() && by_end_.begin()->first <= now) {
        windows_.erase(by_end_.begin()->second);
        by_end_.erase(by_end_.begin());
    }
}

RateLimiter::Window& RateLimiter::window_for(const std::string& key, RateClass rate_class,
                                             base::BootTime now) {
    const auto found = windows_.find(key);
    // One part more than the window: the oldest part counts until all of it has left.
    const base::BootTime end = now + rate_limit(rate_class).window * 61 / 60;
    if (found != windows_.end()) {
        // Moved once per part at most, so that a busy client costs no tree operation per request.
        if (end - found->second.end >= rate_limit(rate_class).window / 60) {
            by_end_.erase({found->second.end, key});
            found->second.end = end + rate_limit(rate_class).window / 60;
            by_end_.emplace(found->second.end, key);
        }
        return found->second.window;
    }
    forget_old(now);
    if (windows_.size() >= most_keys_) {
        auto& shared = shared_[static_cast<std::size_t>(rate_class)];
        shared.resize(kShared);
        return shared[static_cast<std::size_t>(base::siphash24(key_, key) % kShared)];
    }
    const base::BootTime first_end = end + rate_limit(rate_class).window / 60;
    by_end_.emplace(first_end, key);
    return windows_.emplace(key, Kept{{}, first_end}).first->second.window;
}

RateDecision RateLimiter::admit(RateClass rate_class, const RateClient& client,
                                base::BootTime now) {
    const RateLimit limit = rate_limit(rate_class);
    const bool strict = rate_class == RateClass::kAuth || rate_class == RateClass::kControl;
    if (limit.requests == 0 || (client.direct_loopback && !strict)) return {};
    std::string key(1, static_cast<char>('0' + static_cast<int>(rate_class)));
    // A login is an attempt of an address, whoever it says it is.
    const bool by_principal = !client.principal.empty() && rate_class != RateClass::kAuth;
    key += by_principal ? 'p' : 'a';
    key += by_principal ? client.principal : client.address;

    const base::Duration part_length = limit.window / kParts;
    // Counted from kSlots on, so that the oldest part has a number soon after boot too.
    const std::int64_t part = now.ns / part_length.count() + kSlots;
    Window& window = window_for(key, rate_class, now);
    window.advance(part);
    RateDecision decision{.limited = true, .limit = limit.requests};
    const auto until_left = [&](std::int64_t counted) {
        return base::BootTime{counted * part_length.count()} - now;
    };
    if (window.total >= limit.requests) {
        decision.admitted = false;
        std::int64_t oldest = part - kParts;
        while (oldest < part && window.at(oldest) == 0) ++oldest;
        decision.retry_after_seconds =
            std::max<std::int64_t>(1, (until_left(oldest) + 999'999'999ns) / 1s);
    } else {
        ++window.at(part);
        ++window.total;
        decision.remaining = limit.requests - window.total;
    }
    decision.reset = until_left(window.newest);
    return decision;
}

}  // namespace pollux::access
