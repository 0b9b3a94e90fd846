// What a token is for. A scope never gives anything: it only leaves a part of what the owner may.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "access/permission.hpp"
#include "base/result.hpp"

namespace pollux::access {

inline constexpr std::array<std::string_view, 9> kScopeNames = {"monitoring:read",
                                                                "monitoring:write",
                                                                "settings:read",
                                                                "settings:write",
                                                                "jobs:read",
                                                                "jobs:write",
                                                                "audit:read",
                                                                "admin",
                                                                "*"};

// Whether the scope leaves this permission in this area; false for a name that is none.
bool scope_covers(std::string_view scope, Permission permission, Area area);

// No scopes at all leave everything.
bool scopes_cover(const std::vector<std::string>& scopes, Permission permission, Area area);

// Each is a scope, and none stands twice. The error names the first that is wrong.
base::Status check_scopes(const std::vector<std::string>& scopes);

}  // namespace pollux::access
