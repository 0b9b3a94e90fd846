#include "access/scope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace pollux::access {
namespace {

using Covered = std::set<std::pair<Area, Permission>>;

constexpr auto R = Permission::kRead;
constexpr auto O = Permission::kOperate;
constexpr auto M = Permission::kManage;
constexpr auto A = Permission::kAudit;
constexpr auto S = Permission::kSelf;

// Written by hand, as docs/security.md has it.
std::map<std::string_view, Covered> expected() {
    std::map<std::string_view, Covered> table;
    table["monitoring:read"] = {{Area::kMonitoring, R}, {Area::kFleet, R}, {Area::kSystem, R}};
    table["monitoring:write"] = {{Area::kMonitoring, R},
                                 {Area::kMonitoring, O},
                                 {Area::kMonitoring, M},
                                 {Area::kFleet, R},
                                 {Area::kSystem, R}};
    table["settings:read"] = {{Area::kSettings, R}, {Area::kFleet, R}, {Area::kSystem, R}};
    table["settings:write"] = {{Area::kSettings, R}, {Area::kSettings, O}, {Area::kSettings, M},
                               {Area::kFleet, R},    {Area::kFleet, O},    {Area::kFleet, M},
                               {Area::kSystem, R}};
    table["jobs:read"] = {{Area::kJobs, R}};
    table["jobs:write"] = {{Area::kJobs, R}, {Area::kJobs, O}, {Area::kJobs, M}};
    table["audit:read"] = {{Area::kAudit, R}, {Area::kAudit, A}};
    for (const Area area : kAreas) {
        for (const Permission permission : kPermissions) {
            table["admin"].emplace(area, permission);
            table["*"].emplace(area, permission);
        }
    }
    for (auto& [scope, covered] : table) covered.emplace(Area::kSystem, S);
    return table;
}

TEST(Scope, EachScopeCoversExactlyWhatTheDocumentationSays) {
    const auto table = expected();
    ASSERT_EQ(table.size(), kScopeNames.size());
    for (const std::string_view scope : kScopeNames) {
        for (const Area area : kAreas) {
            for (const Permission permission : kPermissions) {
                EXPECT_EQ(scope_covers(scope, permission, area),
                          table.at(scope).contains({area, permission}))
                    << scope << " " << to_string(permission) << " " << to_string(area);
            }
        }
    }
}

TEST(Scope, NoScopesLeaveEverythingAndAnUnknownOneNothing) {
    for (const Area area : kAreas) {
        for (const Permission permission : kPermissions) {
            EXPECT_TRUE(scopes_cover({}, permission, area));
            EXPECT_FALSE(scopes_cover({"root", "monitoring", ""}, permission, area));
        }
    }
    EXPECT_TRUE(scopes_cover({"jobs:read", "audit:read"}, A, Area::kAudit));
}

TEST(Scope, ChecksNames) {
    EXPECT_TRUE(check_scopes({}));
    EXPECT_TRUE(check_scopes({"monitoring:read", "*"}));
    const auto wrong = check_scopes({"monitoring:reed"});
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, ::testing::HasSubstr("perhaps monitoring:read"));
    EXPECT_FALSE(check_scopes({"jobs:read", "jobs:read"}));
    EXPECT_FALSE(check_scopes({""}));
}

}  // namespace
}  // namespace pollux::access
