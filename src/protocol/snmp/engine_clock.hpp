// Our notion of another engine's clock (RFC 3414 2.3): how often it was started, and for how many
// seconds it runs. Only authenticated messages move it, and only forward.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "protocol/snmp/v3_message.hpp"

namespace pollux::protocol::snmp {

inline constexpr std::uint32_t kTimeWindow = 150;  // seconds

class EngineClock {
  public:
    EngineClock() = default;
    EngineClock(std::uint32_t boots, std::uint32_t time, base::BootTime now)
        : boots_(boots), latest_(time), at_(now) {}

    std::uint32_t boots() const { return boots_; }
    std::uint32_t time(base::BootTime now) const {
        const auto passed = std::chrono::duration_cast<std::chrono::seconds>(now - at_).count();
        const std::int64_t time = std::int64_t{latest_} + std::max<std::int64_t>(passed, 0);
        return static_cast<std::uint32_t>(std::min<std::int64_t>(time, kMaxBoots));
    }

    // An authenticated message says this: RFC 3414 3.2.7 b, for the side that is not
    // authoritative. False: it is outside of the time window.
    bool accept(std::uint32_t boots, std::uint32_t time, base::BootTime now) {
        if (boots > boots_ || (boots == boots_ && time > latest_)) {
            *this = EngineClock(boots, time, now);
        }
        if (boots_ == kMaxBoots || boots < boots_) return false;
        return std::int64_t{time} + kTimeWindow >= std::int64_t{this->time(now)};
    }

    bool operator==(const EngineClock&) const = default;

  private:
    std::uint32_t boots_ = 0;
    std::uint32_t latest_ = 0;  // the newest time that was heard
    base::BootTime at_;         // when
};

}  // namespace pollux::protocol::snmp
