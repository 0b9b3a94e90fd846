// Which SSH hosts are believed to be who they say.
#pragma once

#include <memory>

namespace pollux::protocol::ssh {

class HostKeys;

struct SshRules {
    std::shared_ptr<HostKeys> host_keys;  // null: none are known, new ones are believed
    bool strict = false;                  // refuse hosts that are not known
};

}  // namespace pollux::protocol::ssh
