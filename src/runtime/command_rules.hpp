// What who operates the server allows beside addresses: programs that are run here, and hosts whose
// keys are believed.
#pragma once

#include "protocol/exec/exec_rules.hpp"
#include "protocol/ssh/ssh_rules.hpp"

namespace pollux::runtime {

struct CommandRules {
    protocol::exec::ExecRules exec;
    protocol::ssh::SshRules ssh;
};

}  // namespace pollux::runtime
