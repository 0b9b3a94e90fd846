// What who operates the server allows beside addresses: programs that are run here.
#pragma once

#include "protocol/exec/exec_rules.hpp"

namespace pollux::runtime {

struct CommandRules {
    protocol::exec::ExecRules exec;
};

}  // namespace pollux::runtime
