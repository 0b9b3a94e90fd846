#include "access/permission.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace pollux::access {
namespace {

TEST(Permission, EachRoleHasExactlyWhatTheDocumentationSays) {
    const std::map<Role, std::set<Permission>> expected = {
        {Role::kViewer, {Permission::kRead, Permission::kSelf}},
        {Role::kOperator, {Permission::kRead, Permission::kOperate, Permission::kSelf}},
        {Role::kAdmin,
         {Permission::kRead, Permission::kOperate, Permission::kManage, Permission::kAudit,
          Permission::kSelf}},
        {Role::kAuditor, {Permission::kRead, Permission::kAudit, Permission::kSelf}},
    };
    for (const Role role : kRoles) {
        for (const Permission permission : kPermissions) {
            EXPECT_EQ(allows(role, permission), expected.at(role).contains(permission))
                << to_string(role) << " " << to_string(permission);
        }
    }
}

TEST(Permission, NamesAreUniqueAndRolesReadBack) {
    std::set<std::string_view> names;
    for (const Permission one : kPermissions) EXPECT_TRUE(names.insert(to_string(one)).second);
    std::set<std::string_view> areas;
    for (const Area one : kAreas) EXPECT_TRUE(areas.insert(to_string(one)).second);
    for (const Role role : kRoles) EXPECT_EQ(parse_role(to_string(role)), role);
    EXPECT_FALSE(parse_role("root"));
    EXPECT_FALSE(parse_role("Admin"));
    EXPECT_FALSE(parse_role(""));
}

}  // namespace
}  // namespace pollux::access
