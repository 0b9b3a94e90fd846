#include "access/permission.hpp"

namespace pollux::access {
namespace {

constexpr bool kTable[kRoles.size()][kPermissions.size()] = {
    //            read  operate manage audit self
    /* viewer   */ {true, false, false, false, true},
    /* operator */ {true, true, false, false, true},
    /* admin    */ {true, true, true, true, true},
    /* auditor  */ {true, false, false, true, true},
};

}  // namespace

bool allows(Role role, Permission permission) {
    return kTable[static_cast<std::size_t>(role)][static_cast<std::size_t>(permission)];
}

std::string_view to_string(Permission permission) {
    switch (permission) {
        case Permission::kRead: return "read";
        case Permission::kOperate: return "operate";
        case Permission::kManage: return "manage";
        case Permission::kAudit: return "audit";
        case Permission::kSelf: return "self";
    }
    return "unknown";
}

std::string_view to_string(Area area) {
    switch (area) {
        case Area::kMonitoring: return "monitoring";
        case Area::kSettings: return "settings";
        case Area::kFleet: return "fleet";
        case Area::kJobs: return "jobs";
        case Area::kAccess: return "access";
        case Area::kAudit: return "audit";
        case Area::kSystem: return "system";
    }
    return "unknown";
}

}  // namespace pollux::access
