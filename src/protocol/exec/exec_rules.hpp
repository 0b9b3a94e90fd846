// Which programs may be run. Manifests are data that people share; what this machine runs is the
// decision of who operates it, so it stands in settings: folders whose programs may all be run, and
// single programs beside them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace pollux::protocol::exec {

struct ExecRules {
    std::vector<std::string> folders;  // `plugin_folders`
    std::vector<std::string> allow;    // `exec_allow`
    bool operator==(const ExecRules&) const = default;
};

// The absolute path of a program that may be run: a name is looked up in the folders, a path must
// lie directly in one of them or be allowed by itself. Errors "exec.not_allowed" and
// "exec.not_found" name the setting to change.
base::Result<std::string> find_program(const ExecRules& rules, std::string_view name);

}  // namespace pollux::protocol::exec
