#include "access/session_rules.hpp"

#include <algorithm>

namespace pollux::access {
namespace {

constexpr base::Duration kClockSlack = std::chrono::minutes(5);

}  // namespace

base::WallTime session_end(const SessionLimits& limits, base::WallTime created,
                           base::WallTime last_seen, bool remember) {
    return std::min(last_seen + limits.idle,
                    created + (remember ? limits.remembered : limits.life));
}

bool session_lives(const SessionLimits& limits, base::WallTime created, base::WallTime last_seen,
                   bool remember, base::WallTime now) {
    const bool from_the_future = created > now + kClockSlack || last_seen > now + kClockSlack;
    return !from_the_future && now < session_end(limits, created, last_seen, remember);
}

}  // namespace pollux::access
