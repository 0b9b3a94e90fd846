#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/accounts_test_support.hpp"

namespace pollux::api {
namespace {

using access::Grant;
using access::Permission;
using access::Role;
using test::kPassword;
using namespace std::chrono_literals;

class AccountRenewalTest : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(bench_.add("root", {{Role::kAdmin, ""}}));
        ASSERT_TRUE(bench_.add("alice", {{Role::kOperator, ""}}));
    }
    Accounts& accounts() { return bench_.accounts(); }
    access::Principal with_token(base::WallTime expires = {}) {
        const auto made = bench_.token({.name = "ci", .expires = expires}, bench_.as_user("alice"));
        EXPECT_TRUE(made);
        return accounts().by_token(made->secret.reveal()).value();
    }
    void revoke() {
        EXPECT_TRUE(bench_.wait<base::Status>(
            [&](auto done) { accounts().revoke_token(bench_.admin(), "ci", std::move(done)); }));
    }

    test::AccountBench bench_;
};

TEST_F(AccountRenewalTest, ARevokedTokenIsOverAlsoWhenAnotherHasItsName) {
    const access::Principal principal = with_token();
    const std::string login = accounts().login_of(principal);
    EXPECT_TRUE(accounts().renewed(principal, login));
    revoke();
    EXPECT_FALSE(accounts().renewed(principal, login));
    const access::Principal another = with_token();
    EXPECT_FALSE(accounts().renewed(principal, login));
    EXPECT_TRUE(accounts().renewed(another, accounts().login_of(another)));
}

TEST_F(AccountRenewalTest, GrantsAreThoseOfNow) {
    const access::Principal principal = with_token();
    const std::string login = accounts().login_of(principal);
    ASSERT_TRUE(bench_.edit("alice", {.grants = std::vector<Grant>{{Role::kViewer, "a=b"}}}));
    const auto weaker = accounts().renewed(principal, login);
    ASSERT_TRUE(weaker);
    EXPECT_FALSE(may(*weaker, Permission::kOperate));
    ASSERT_TRUE(bench_.edit("alice", {.disabled = true}));
    EXPECT_FALSE(accounts().renewed(principal, login));
}

TEST_F(AccountRenewalTest, ATokenEndsWithItsTimeAndWithItsOwner) {
    const access::Principal expiring = with_token(bench_.wall + 1h);
    const std::string login = accounts().login_of(expiring);
    EXPECT_TRUE(accounts().renewed(expiring, login));
    bench_.pass(1h);
    EXPECT_FALSE(accounts().renewed(expiring, login));
    revoke();
    const access::Principal principal = with_token();
    const std::string other = accounts().login_of(principal);
    ASSERT_TRUE(bench_.remove("alice"));
    EXPECT_FALSE(accounts().renewed(principal, other));
}

TEST_F(AccountRenewalTest, ASessionEndsWithItsLogoutAndByItself) {
    const auto session = [&] {
        const auto in = bench_.login("alice", kPassword);
        EXPECT_TRUE(in);
        return accounts().by_session(in->secret.reveal()).value();
    };
    const access::Principal first = session();
    const access::Principal second = session();
    const std::string login = accounts().login_of(first);
    EXPECT_TRUE(accounts().renewed(first, login));
    EXPECT_TRUE(bench_.wait<base::Status>(
        [&](auto done) { accounts().logout({.principal = first}, std::move(done)); }));
    EXPECT_FALSE(accounts().renewed(first, login));
    const std::string other = accounts().login_of(second);
    EXPECT_TRUE(accounts().renewed(second, other));
    bench_.pass(24h * 40);
    EXPECT_FALSE(accounts().renewed(second, other));
}

}  // namespace
}  // namespace pollux::api
