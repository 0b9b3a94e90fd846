#include "access/scope.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::access {
namespace {

// One line of what a scope leaves. Everybody sees about himself (kSelf in kSystem: who am I).
struct Part {
    std::string_view scope;
    Area area;
    bool write;  // kOperate and kManage beside kRead
};

constexpr Part kParts[] = {
    {"monitoring:read", Area::kMonitoring, false},
    {"monitoring:read", Area::kFleet, false},
    {"monitoring:read", Area::kSystem, false},
    {"monitoring:write", Area::kMonitoring, true},
    {"monitoring:write", Area::kFleet, false},
    {"monitoring:write", Area::kSystem, false},
    {"settings:read", Area::kSettings, false},
    {"settings:read", Area::kFleet, false},
    {"settings:read", Area::kSystem, false},
    {"settings:write", Area::kSettings, true},
    {"settings:write", Area::kFleet, true},
    {"settings:write", Area::kSystem, false},
    {"jobs:read", Area::kJobs, false},
    {"jobs:write", Area::kJobs, true},
};

bool is_scope(std::string_view name) {
    return std::ranges::find(kScopeNames, name) != kScopeNames.end();
}

}  // namespace

bool scope_covers(std::string_view scope, Permission permission, Area area) {
    if (scope == "*" || scope == "admin") return true;
    if (!is_scope(scope)) return false;
    if (permission == Permission::kSelf) return area == Area::kSystem;
    if (scope == "audit:read") {
        return area == Area::kAudit &&
               (permission == Permission::kAudit || permission == Permission::kRead);
    }
    if (permission == Permission::kAudit) return false;
    return std::ranges::any_of(kParts, [&](const Part& part) {
        return part.scope == scope && part.area == area &&
               (part.write || permission == Permission::kRead);
    });
}

bool scopes_cover(const std::vector<std::string>& scopes, Permission permission, Area area) {
    return scopes.empty() || std::ranges::any_of(scopes, [&](const std::string& scope) {
               return scope_covers(scope, permission, area);
           });
}

base::Status check_scopes(const std::vector<std::string>& scopes) {
    for (std::size_t i = 0; i < scopes.size(); ++i) {
        if (!is_scope(scopes[i])) {
            const auto near = base::nearest(scopes[i], kScopeNames);
            return base::config_error(
                "access.scope",
                fmt::format("{} is no scope{}; scopes are {}", base::quoted(scopes[i]),
                            near ? fmt::format(", perhaps {} is meant", *near) : std::string(),
                            fmt::join(kScopeNames, ", ")));
        }
        if (std::find(scopes.begin(), scopes.begin() + static_cast<std::ptrdiff_t>(i), scopes[i]) !=
            scopes.begin() + static_cast<std::ptrdiff_t>(i)) {
            return base::config_error("access.scope",
                                      fmt::format("scope {} stands twice", scopes[i]));
        }
    }
    return {};
}

}  // namespace pollux::access
