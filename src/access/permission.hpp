// What a route asks for, and the one table of which role has it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "access/role.hpp"

namespace pollux::access {

enum class Permission : std::uint8_t {
    kRead,     // see states, plans, settings
    kOperate,  // poll now, run jobs
    kManage,   // change what is configured; breakers and dead letters; users and tokens
    kAudit,    // read the audit trail
    kSelf,     // one's own password, sessions and tokens: anybody who is logged in
};

inline constexpr std::array<Permission, 5> kPermissions = {Permission::kRead, Permission::kOperate,
                                                           Permission::kManage, Permission::kAudit,
                                                           Permission::kSelf};

std::string_view to_string(Permission permission);

bool allows(Role role, Permission permission);

// What a route is about. Scopes of tokens are given by area.
enum class Area : std::uint8_t { kMonitoring, kSettings, kFleet, kJobs, kAccess, kAudit, kSystem };

inline constexpr std::array<Area, 7> kAreas = {Area::kMonitoring, Area::kSettings, Area::kFleet,
                                               Area::kJobs,       Area::kAccess,   Area::kAudit,
                                               Area::kSystem};

std::string_view to_string(Area area);

}  // namespace pollux::access
