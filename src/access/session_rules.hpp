// How long a session lives.
#pragma once

#include "base/time.hpp"

namespace pollux::access {

struct SessionLimits {
    base::Duration idle = std::chrono::hours(24);  // without a request
    base::Duration life = std::chrono::hours(24);  // whatever is asked
    base::Duration remembered =
        std::chrono::hours(720);  // the same, for who asked to be remembered
};

// A session lives while both hold: used within `idle`, and younger than its life. A clock that was
// set back does not make it immortal: a session from the future is over.
bool session_lives(const SessionLimits& limits, base::WallTime created, base::WallTime last_seen,
                   bool remember, base::WallTime now);

// When it ends if nobody uses it from `last_seen` on.
base::WallTime session_end(const SessionLimits& limits, base::WallTime created,
                           base::WallTime last_seen, bool remember);

}  // namespace pollux::access
