#include "access/principal.hpp"

#include <gtest/gtest.h>

namespace pollux::access {
namespace {

Principal user(std::vector<Grant> grants) {
    return {.name = "alice", .kind = "user", .grants = std::move(grants)};
}

TEST(Principal, RoleTimesPermissionTimesScopeIsWhatBothLeave) {
    for (const Role role : kRoles) {
        Principal principal = user({{role, ""}});
        principal.kind = "token";
        for (const std::string_view scope : kScopeNames) {
            principal.scopes = {std::string(scope)};
            for (const Permission permission : kPermissions) {
                bool anywhere = false;
                for (const Area area : kAreas) {
                    const bool both =
                        allows(role, permission) && scope_covers(scope, permission, area);
                    anywhere = anywhere || both;
                    EXPECT_EQ(may(principal, permission, area), both)
                        << to_string(role) << " " << scope << " " << to_string(permission);
                    EXPECT_EQ(may_on(principal, permission, area, {{"a", "b"}}), both);
                    EXPECT_EQ(may_everywhere(principal, permission, area), both);
                }
                EXPECT_EQ(may(principal, permission), anywhere);
            }
        }
        principal.scopes.clear();
        for (const Permission permission : kPermissions) {
            EXPECT_EQ(may(principal, permission), allows(role, permission));
        }
    }
}

TEST(Principal, NobodyWithoutALoginMayAnything) {
    const Principal nobody;
    for (const Permission permission : kPermissions) {
        EXPECT_FALSE(may(nobody, permission));
        EXPECT_FALSE(may_on(nobody, permission, {}));
        for (const Area area : kAreas) EXPECT_FALSE(may_everywhere(nobody, permission, area));
    }
    Principal looker = nobody;
    looker.grants = {{Role::kViewer, ""}};
    EXPECT_TRUE(may(looker, Permission::kRead));
    EXPECT_FALSE(may(looker, Permission::kSelf));
    EXPECT_EQ(audit_name(nobody), "anonymous");
    EXPECT_EQ(audit_name(user({})), "user:alice");
}

TEST(Principal, SomebodyWithoutGrantsHasOnlyHimself) {
    const Principal alice = user({});
    for (const Permission permission : kPermissions) {
        EXPECT_EQ(may(alice, permission), permission == Permission::kSelf);
    }
}

TEST(Principal, AGrantHoldsOnItsObjectsOnly) {
    const Principal alice = user({{Role::kViewer, ""}, {Role::kAdmin, "site=berlin"}});
    EXPECT_TRUE(may(alice, Permission::kManage));
    EXPECT_TRUE(may_on(alice, Permission::kManage, {{"site", "berlin"}}));
    EXPECT_FALSE(may_on(alice, Permission::kManage, {{"site", "rome"}}));
    EXPECT_FALSE(may_on(alice, Permission::kManage, {}));
    EXPECT_TRUE(may_on(alice, Permission::kRead, {{"site", "rome"}}));
    EXPECT_FALSE(may_everywhere(alice, Permission::kManage, Area::kAccess));
    EXPECT_TRUE(may_everywhere(alice, Permission::kRead, Area::kFleet));
}

TEST(Principal, OnAllThatASelectorSelectsIsDecidedByTheSelectorAlone) {
    const Principal alice = user({{Role::kOperator, "site=berlin"}});
    const Principal others = user({{Role::kOperator, "site!=berlin"}});
    const auto all = [](const Principal& who, std::string_view selector) {
        return may_on_all(who, Permission::kOperate, Area::kMonitoring,
                          Selector::parse(selector).value());
    };
    EXPECT_TRUE(all(alice, "site=berlin"));
    EXPECT_TRUE(all(alice, "site=berlin,role=core"));
    EXPECT_FALSE(all(alice, "role=core")) << "some of them are elsewhere";
    EXPECT_FALSE(all(alice, ""));
    EXPECT_FALSE(all(others, "role=core")) << "no label is no proof";
    EXPECT_TRUE(all(others, "site=rome"));
    EXPECT_TRUE(all(user({{Role::kOperator, ""}}), ""));
    EXPECT_FALSE(all(user({{Role::kViewer, ""}}), ""));
}

TEST(Principal, ASelectorThatCannotBeReadSelectsNothing) {
    const Principal alice = user({{Role::kAdmin, "site==(="}});
    EXPECT_FALSE(may_on(alice, Permission::kRead, {}));
    EXPECT_FALSE(may_on(alice, Permission::kRead, {{"site", ""}}));
}

TEST(Principal, LimitsOfATokenNarrowAndNeverAdd) {
    Principal token = user({{Role::kOperator, "site=berlin"}});
    token.kind = "token";
    token.limits = std::vector<Grant>{{Role::kAdmin, ""}};
    EXPECT_TRUE(may_on(token, Permission::kOperate, {{"site", "berlin"}}));
    EXPECT_FALSE(may_on(token, Permission::kOperate, {{"site", "rome"}}));
    EXPECT_FALSE(may(token, Permission::kManage));
    token.limits = std::vector<Grant>{{Role::kViewer, "tier=lab"}};
    EXPECT_FALSE(may_on(token, Permission::kRead, {{"site", "berlin"}}));
    EXPECT_TRUE(may_on(token, Permission::kRead, {{"site", "berlin"}, {"tier", "lab"}}));
    EXPECT_FALSE(may(token, Permission::kOperate));
    token.limits = std::vector<Grant>{};
    EXPECT_FALSE(may(token, Permission::kRead));
}

TEST(Principal, NobodyGrantsWhatHeDoesNotHave) {
    const Principal admin = user({{Role::kAdmin, ""}});
    for (const Role role : kRoles) {
        EXPECT_TRUE(may_grant(admin, {{role, ""}, {role, "site=x"}}));
        EXPECT_FALSE(may_grant(Principal{}, {{role, ""}}));
    }
    EXPECT_FALSE(may_grant(user({{Role::kOperator, ""}}), {{Role::kAdmin, ""}}));
    EXPECT_FALSE(may_grant(user({{Role::kOperator, ""}}), {{Role::kAuditor, ""}}));
    EXPECT_TRUE(may_grant(user({{Role::kOperator, ""}}), {{Role::kViewer, ""}}));
    const Principal berlin = user({{Role::kAdmin, "site=berlin"}});
    EXPECT_FALSE(may_grant(berlin, {{Role::kViewer, ""}}));
    EXPECT_FALSE(may_grant(berlin, {{Role::kViewer, "site=rome"}}));
    EXPECT_TRUE(may_grant(berlin, {{Role::kAdmin, "site=berlin,tier=lab"}}));
    Principal scoped = admin;
    scoped.kind = "token";
    scoped.scopes = {"settings:write"};
    EXPECT_FALSE(may_grant(scoped, {{Role::kViewer, ""}}));
    scoped.scopes = {"admin"};
    EXPECT_TRUE(may_grant(scoped, {{Role::kAdmin, ""}}));
    scoped.limits = std::vector<Grant>{{Role::kOperator, ""}};
    EXPECT_FALSE(may_grant(scoped, {{Role::kAdmin, ""}}));
    const auto refused = may_grant(berlin, {{Role::kAdmin, ""}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "access.escalation");
}

TEST(Principal, GrantsHaveOneForm) {
    const auto grants = normal_grants(
        {{Role::kAdmin, " b , a == x"}, {Role::kViewer, ""}, {Role::kAdmin, "a=x,b"}});
    ASSERT_TRUE(grants);
    EXPECT_EQ(*grants, (std::vector<Grant>{{Role::kViewer, ""}, {Role::kAdmin, "a=x,b"}}));
    EXPECT_FALSE(normal_grants({{Role::kAdmin, "a=="}, {Role::kAdmin, "("}}));
    EXPECT_FALSE(normal_grants(std::vector<Grant>(33)));
}

}  // namespace
}  // namespace pollux::access
