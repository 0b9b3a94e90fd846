#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/accounts_test_support.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Grant;
using access::Permission;
using access::Role;
using test::kPassword;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class AccountTokensTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(bench_.add("root", {{Role::kAdmin, ""}}));
        ASSERT_TRUE(bench_.add("alice", {{Role::kOperator, ""}}));
    }
    Accounts& accounts() { return bench_.accounts(); }
    std::string code(NewToken token, const Actor& actor) {
        const auto made = bench_.token(std::move(token), actor);
        return made ? "ok" : made.error().code;
    }

    test::AccountBench bench_;
};

TEST_F(AccountTokensTest, ATokenActsAsItsOwnerWithinItsScopes) {
    const auto made =
        bench_.token({.name = "CI", .scopes = {"monitoring:read"}}, bench_.as_user("alice"));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(access::is_token("plx_", made->secret.reveal()));
    const auto principal = accounts().by_token(made->secret.reveal());
    ASSERT_TRUE(principal);
    EXPECT_EQ(audit_name(*principal), "token:ci");
    EXPECT_EQ(principal->owner, "alice");
    EXPECT_TRUE(may(*principal, Permission::kRead, Area::kMonitoring));
    EXPECT_FALSE(may(*principal, Permission::kRead, Area::kJobs));
    EXPECT_FALSE(may(*principal, Permission::kOperate));
    EXPECT_EQ(bench_.acts.back().action, "token.create");
    EXPECT_THAT(bench_.acts.back().after, Not(HasSubstr(made->token.hash)));
}

TEST_F(AccountTokensTest, ATokenIsWeakerWhenItsOwnerIs) {
    const auto made = bench_.token({.name = "t"}, bench_.as_user("alice"));
    ASSERT_TRUE(made);
    EXPECT_TRUE(may(*accounts().by_token(made->secret.reveal()), Permission::kOperate));
    ASSERT_TRUE(bench_.edit("alice", {.grants = std::vector<Grant>{{Role::kViewer, "a=b"}}}));
    const auto weaker = accounts().by_token(made->secret.reveal());
    ASSERT_TRUE(weaker);
    EXPECT_FALSE(may(*weaker, Permission::kOperate));
    EXPECT_TRUE(may_on(*weaker, Permission::kRead, {{"a", "b"}}));
    EXPECT_FALSE(may_on(*weaker, Permission::kRead, {}));
}

TEST_F(AccountTokensTest, ATokenExpiresAndIsRevoked) {
    NewToken order{.name = "t", .expires = bench_.wall + 1h};
    const auto made = bench_.token(order, bench_.as_user("alice"));
    ASSERT_TRUE(made);
    bench_.pass(1h - 1us);
    EXPECT_TRUE(accounts().by_token(made->secret.reveal()));
    bench_.pass(1us);
    const auto expired = accounts().by_token(made->secret.reveal());
    ASSERT_FALSE(expired);
    EXPECT_EQ(expired.error().code, "access.token_expired");
    order.name = "late";
    EXPECT_EQ(code(order, bench_.as_user("alice")), "access.expires");

    const auto other = bench_.token({.name = "other"}, bench_.as_user("alice"));
    const auto revoke = [&](const Actor& actor, const std::string& name) {
        const auto status = bench_.wait<base::Status>(
            [&](auto done) { accounts().revoke_token(actor, name, std::move(done)); });
        return status ? std::string("ok") : status.error().code;
    };
    ASSERT_TRUE(bench_.add("bob", {{Role::kOperator, ""}}));
    EXPECT_EQ(revoke(bench_.as_user("bob"), "other"), "access.no_token");
    EXPECT_TRUE(accounts().by_token(other->secret.reveal()));
    EXPECT_EQ(revoke(bench_.as_user("alice"), "other"), "ok");
    EXPECT_EQ(accounts().by_token(other->secret.reveal()).error().code, "access.token");
    EXPECT_EQ(revoke(bench_.admin(), "t"), "ok");
    EXPECT_EQ(revoke(bench_.admin(), "t"), "access.no_token");
}

TEST_F(AccountTokensTest, WhatIsNoTokenIsRefusedWithoutSayingWhy) {
    const auto made = bench_.token({.name = "t"}, bench_.as_user("alice"));
    const std::string stranger =
        access::make_token(access::kTokenPrefix, test::random_bytes()).reveal();
    for (const std::string& text : {std::string(), std::string("plx_"), stranger,
                                    made->secret.reveal() + "x", made->token.hash}) {
        const auto refused = accounts().by_token(text);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, "access.token");
        EXPECT_EQ(refused.error().message, "the API token is not valid");
    }
}

TEST_F(AccountTokensTest, NamesAndScopesAreChecked) {
    const Actor alice = bench_.as_user("alice");
    EXPECT_EQ(code({.name = "a b"}, alice), "access.token_name");
    EXPECT_EQ(code({.name = "t", .scopes = {"root"}}, alice), "access.scope");
    EXPECT_EQ(code({.name = "t"}, alice), "ok");
    EXPECT_EQ(code({.name = "T"}, bench_.as_user("root")), "access.exists");
    EXPECT_EQ(code({.name = "u", .owner = "nobody"}, bench_.admin()), "access.no_user");
    Actor anonymous;
    EXPECT_EQ(code({.name = "v"}, anonymous), "access.forbidden");
}

TEST_F(AccountTokensTest, ATokenMakesNothingStrongerThanItself) {
    const auto reader =
        bench_.token({.name = "reader", .scopes = {"monitoring:read"}}, bench_.as_user("root"));
    const Actor as_reader{.principal = *accounts().by_token(reader->secret.reveal())};
    EXPECT_EQ(code({.name = "x"}, as_reader), "access.forbidden");
    EXPECT_EQ(code({.name = "x", .scopes = {"monitoring:read"}}, as_reader), "access.forbidden");
    EXPECT_FALSE(bench_.add("mallory", {{Role::kViewer, ""}}, as_reader));

    NewToken narrow{.name = "narrow", .scopes = {"*"}};
    narrow.grants = std::vector<Grant>{{Role::kViewer, ""}};
    const auto viewer = bench_.token(narrow, bench_.as_user("root"));
    ASSERT_TRUE(viewer);
    const Actor as_viewer{.principal = *accounts().by_token(viewer->secret.reveal())};
    EXPECT_EQ(code({.name = "wide"}, as_viewer), "access.escalation");
    narrow.name = "same";
    EXPECT_EQ(code(narrow, as_viewer), "ok");
    EXPECT_FALSE(bench_.add("mallory", {{Role::kViewer, ""}}, as_viewer));
    EXPECT_FALSE(
        bench_.edit("alice", {.password = base::Secret("another fine password")}, as_viewer));
}

TEST_F(AccountTokensTest, OnesOwnTokenCannotBeGivenMoreThanOneHas) {
    NewToken order{.name = "t"};
    order.grants = std::vector<Grant>{{Role::kAdmin, ""}};
    EXPECT_EQ(code(order, bench_.as_user("alice")), "access.escalation");
    order.grants = std::vector<Grant>{{Role::kViewer, "site=berlin"}};
    EXPECT_EQ(code(order, bench_.as_user("alice")), "ok");
    order.name = "for-root";
    order.owner = "root";
    EXPECT_EQ(code(order, bench_.as_user("alice")), "access.forbidden");
    EXPECT_EQ(code(order, bench_.admin()), "ok");
}

TEST_F(AccountTokensTest, LastUseIsWrittenBehind) {
    const auto made = bench_.token({.name = "t"}, bench_.as_user("alice"));
    const std::size_t acts = bench_.acts.size();
    bench_.pass(5s);
    ASSERT_TRUE(accounts().by_token(made->secret.reveal()));
    EXPECT_EQ(accounts().book().token("t")->last_used, bench_.wall);
    ASSERT_TRUE(
        bench_.wait<base::Status>([&](auto done) { accounts().flush_uses(std::move(done)); }));
    const std::uint64_t version = accounts().book().token("t")->head.version;
    EXPECT_EQ(version, 2u);
    ASSERT_TRUE(
        bench_.wait<base::Status>([&](auto done) { accounts().flush_uses(std::move(done)); }));
    EXPECT_EQ(accounts().book().token("t")->head.version, version)
        << "nothing new, nothing written";
    EXPECT_EQ(bench_.acts.size(), acts) << "a use is no act";
    bench_.restart();
    EXPECT_EQ(accounts().book().token("t")->last_used, bench_.wall);
}

}  // namespace
}  // namespace pollux::api
