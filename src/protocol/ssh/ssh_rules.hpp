// Which SSH hosts are believed to be who they say, and how long connections are kept.
#pragma once

#include <memory>

#include "base/time.hpp"

namespace pollux::protocol::ssh {

class HostKeys;

struct SshRules {
    std::shared_ptr<HostKeys> host_keys;  // null: none are known, new ones are believed
    bool strict = false;                  // refuse hosts that are not known
    // Then an unused connection is closed. More than an hour, so that a host sees at most one login
    // an hour, whatever its interval is.
    base::Duration idle = std::chrono::minutes(65);
};

}  // namespace pollux::protocol::ssh
