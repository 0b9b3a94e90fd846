#include "api/accounts.hpp"

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

const std::vector<Grant> kAdmin = {{Role::kAdmin, ""}};
const std::vector<Grant> kViewer = {{Role::kViewer, ""}};

class AccountsTest : public ::testing::Test {
  protected:
    Accounts& accounts() { return bench_.accounts(); }
    base::Result<User> bootstrap(const base::Secret& token, const std::string& name) {
        NewUser user;
        user.name = name;
        user.password = base::Secret(std::string(kPassword));
        return bench_.wait<base::Result<User>>(
            [&](auto done) { accounts().bootstrap(token, std::move(user), {}, std::move(done)); });
    }
    std::string login_code(const std::string& name, std::string_view password,
                           const std::string& address = "192.0.2.1") {
        const auto result = bench_.login(name, password, address);
        return result ? "ok" : result.error().error.code;
    }

    test::AccountBench bench_;
};

// --- the first admin
// ------------------------------------------------------------------------------

TEST_F(AccountsTest, BootstrapMakesTheFirstAdminOnce) {
    ASSERT_TRUE(accounts().waits_for_bootstrap());
    const auto token = accounts().start_bootstrap();
    ASSERT_TRUE(token);
    const auto made = bootstrap(*token, "Root");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->head.name, "root");
    EXPECT_TRUE(is_admin(*made));
    EXPECT_FALSE(accounts().waits_for_bootstrap());
    const auto again = bootstrap(*token, "second");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, "access.bootstrap");
    EXPECT_FALSE(accounts().start_bootstrap());
    EXPECT_EQ(login_code("root", kPassword), "ok");
    ASSERT_EQ(bench_.acts.size(), 2u);
    EXPECT_EQ(bench_.acts[0].action, "access.bootstrap");
}

TEST_F(AccountsTest, ABootstrapTokenEndsWithTheNextStartAndAfterADay) {
    const auto first = accounts().start_bootstrap();
    const auto second = accounts().start_bootstrap();
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(bootstrap(*first, "root"));
    bench_.pass(24h);
    EXPECT_FALSE(bootstrap(*second, "root"));
    EXPECT_TRUE(accounts().waits_for_bootstrap());
    bench_.restart();
    EXPECT_FALSE(bootstrap(*second, "root")) << "no token is valid before one is printed";
    const auto third = accounts().start_bootstrap();
    EXPECT_TRUE(bootstrap(*third, "root"));
}

TEST_F(AccountsTest, TwoBootstrapsAtOnceMakeOneAdmin) {
    const auto token = accounts().start_bootstrap();
    std::vector<base::Result<User>> results;
    for (const char* name : {"one", "two"}) {
        NewUser user;
        user.name = name;
        user.password = base::Secret(std::string(kPassword));
        accounts().bootstrap(*token, std::move(user), {},
                             [&](auto result) { results.push_back(std::move(result)); });
    }
    bench_.turn_until([&] { return results.size() == 2; });
    EXPECT_EQ(accounts().book().users().size(), 1u);
    EXPECT_NE(results[0].has_value(), results[1].has_value());
}

// --- login
// ----------------------------------------------------------------------------------------

TEST_F(AccountsTest, ALoginOpensASessionThatKnowsItsUser) {
    ASSERT_TRUE(bench_.add("alice", {{Role::kOperator, "site=berlin"}}));
    const auto logged_in = bench_.login("ALICE", kPassword);
    ASSERT_TRUE(logged_in);
    const auto principal = accounts().by_session(logged_in->secret.reveal());
    ASSERT_TRUE(principal);
    EXPECT_EQ(principal->name, "alice");
    EXPECT_EQ(principal->kind, "user");
    EXPECT_EQ(principal->csrf, access::csrf_token(logged_in->secret.reveal()));
    EXPECT_TRUE(access::may_on(*principal, Permission::kOperate, {{"site", "berlin"}}));
    EXPECT_EQ(bench_.acts.back().action, "session.login");
    EXPECT_EQ(bench_.acts.back().principal, "user:alice");
    EXPECT_EQ(bench_.acts.back().address, "192.0.2.1");
}

TEST_F(AccountsTest, EveryReasonForARefusedLoginReadsTheSame) {
    ASSERT_TRUE(bench_.add("root", kAdmin));
    ASSERT_TRUE(bench_.add("alice", kViewer));
    ASSERT_TRUE(bench_.add("off", kViewer));
    ASSERT_TRUE(bench_.edit("off", {.disabled = true}));
    NewUser without;
    without.name = "service";
    ASSERT_TRUE(bench_.wait<base::Result<User>>(
        [&](auto done) { accounts().create_user(bench_.admin(), without, std::move(done)); }));
    std::set<std::string> messages;
    int address = 0;
    for (const auto& [name, password] :
         std::vector<std::pair<std::string, std::string>>{{"alice", "wrong password"},
                                                          {"nobody", std::string(kPassword)},
                                                          {"off", std::string(kPassword)},
                                                          {"service", ""},
                                                          {"not a name!", std::string(kPassword)},
                                                          {"", ""}}) {
        const auto result = bench_.login(name, password, std::to_string(++address));
        ASSERT_FALSE(result) << name;
        EXPECT_EQ(result.error().error.code, "access.login_failed");
        messages.insert(result.error().error.message);
    }
    EXPECT_EQ(messages.size(), 1u);
    EXPECT_EQ(bench_.refusals.size(), 6u);
}

TEST_F(AccountsTest, FiveFailuresLockTheUserEverywhereAndTheAddressForEverybody) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    ASSERT_TRUE(bench_.add("bob", kViewer));
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(login_code("alice", "wrong password", "evil"), "access.login_failed");
    }
    const auto locked = bench_.login("alice", kPassword, "home");
    ASSERT_FALSE(locked);
    EXPECT_EQ(locked.error().error.code, "access.locked");
    EXPECT_EQ(locked.error().retry_after, 15min);
    EXPECT_EQ(login_code("bob", kPassword, "evil"), "access.locked");
    EXPECT_EQ(login_code("bob", kPassword, "home"), "ok");
    bench_.pass(15min);
    EXPECT_EQ(login_code("alice", kPassword, "evil"), "ok");
}

TEST_F(AccountsTest, ManyLoginsAtOnceGetNoMoreGuessesThanOneByOne) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    std::map<std::string, int> codes;
    int answers = 0;
    for (int i = 0; i < 40; ++i) {
        LoginAttempt attempt;
        attempt.user = "alice";
        attempt.password = base::Secret("guess number " + std::to_string(i));
        attempt.address_key = "address " + std::to_string(i);
        accounts().login(std::move(attempt), [&](auto result) {
            ++answers;
            ++codes[result ? "ok" : result.error().error.code];
        });
    }
    bench_.turn_until([&] { return answers == 40; });
    EXPECT_EQ(codes["access.login_failed"], 5);
    EXPECT_EQ(codes["access.locked"], 35);
}

TEST_F(AccountsTest, TooManyHashesAtOnceAreRefusedAndCountForNothing) {
    AccountOptions slow = test::AccountBench::quick();
    slow.cost = {.operations = 2, .memory = 32U << 20U};
    test::AccountBench bench({}, slow);
    int busy = 0;
    int answers = 0;
    for (int i = 0; i < 60; ++i) {
        LoginAttempt attempt;
        attempt.user = "user" + std::to_string(i);
        attempt.address_key = attempt.user;
        bench.accounts().login(std::move(attempt), [&](auto result) {
            ++answers;
            busy += result.error().error.code == "access.busy" ? 1 : 0;
        });
    }
    bench.turn_until([&] { return answers == 60; });
    EXPECT_EQ(answers, 60);
    EXPECT_GE(busy, 60 - 16 - 2 - 10);
}

TEST_F(AccountsTest, SessionsEndByIdlenessByAgeAndByLogout) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    const auto plain = bench_.login("alice", kPassword);
    const auto remembered = bench_.login("alice", kPassword, "192.0.2.1", true);
    ASSERT_TRUE(plain && remembered);
    for (int hour = 0; hour < 23; ++hour) {
        bench_.pass(1h);
        EXPECT_TRUE(accounts().by_session(plain->secret.reveal()));
        EXPECT_TRUE(accounts().by_session(remembered->secret.reveal()));
    }
    bench_.pass(1h);
    EXPECT_FALSE(accounts().by_session(plain->secret.reveal()));
    EXPECT_TRUE(accounts().by_session(remembered->secret.reveal()));
    bench_.pass(24h);
    EXPECT_FALSE(accounts().by_session(remembered->secret.reveal()));
    ASSERT_TRUE(
        bench_.wait<base::Status>([&](auto done) { accounts().flush_uses(std::move(done)); }));
    EXPECT_TRUE(accounts().book().sessions().empty()) << "what is over is removed";

    const auto third = bench_.login("alice", kPassword);
    const auto principal = accounts().by_session(third->secret.reveal());
    ASSERT_TRUE(principal);
    ASSERT_TRUE(bench_.wait<base::Status>(
        [&](auto done) { accounts().logout({.principal = *principal}, std::move(done)); }));
    EXPECT_FALSE(accounts().by_session(third->secret.reveal()));
    EXPECT_FALSE(accounts().by_session(""));
    EXPECT_FALSE(accounts().by_session("x"));
}

TEST_F(AccountsTest, OneUserHasAtMostTwentySessions) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    std::vector<std::string> secrets;
    for (int i = 0; i < 22; ++i) {
        bench_.pass(1s);
        secrets.push_back(bench_.login("alice", kPassword)->secret.reveal());
    }
    EXPECT_EQ(accounts().book().sessions().size(), 20u);
    EXPECT_FALSE(accounts().by_session(secrets[0]));
    EXPECT_FALSE(accounts().by_session(secrets[1]));
    EXPECT_TRUE(accounts().by_session(secrets[2]));
    EXPECT_TRUE(accounts().by_session(secrets[21]));
}

// --- passwords
// ------------------------------------------------------------------------------------

TEST_F(AccountsTest, OnesOwnPasswordNeedsTheOldOneAndEndsOtherSessions) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    const auto here = bench_.login("alice", kPassword);
    const auto elsewhere = bench_.login("alice", kPassword);
    const auto principal = accounts().by_session(here->secret.reveal());
    const auto change = [&](std::string_view old_password, std::string_view password) {
        const auto result = bench_.wait<std::expected<void, LoginRefusal>>([&](auto done) {
            accounts().change_own_password(
                {.principal = *principal}, base::Secret(std::string(old_password)),
                base::Secret(std::string(password)), "home", std::move(done));
        });
        return result ? std::string("ok") : result.error().error.code;
    };
    EXPECT_EQ(change("wrong password", "another fine password"), "access.login_failed");
    EXPECT_EQ(change(kPassword, "short"), "access.password");
    EXPECT_EQ(change(kPassword, "another fine password"), "ok");
    EXPECT_TRUE(accounts().by_session(here->secret.reveal()));
    EXPECT_FALSE(accounts().by_session(elsewhere->secret.reveal()));
    EXPECT_EQ(login_code("alice", kPassword), "access.login_failed");
    EXPECT_EQ(login_code("alice", "another fine password"), "ok");
    // A stolen session does not guess the password either.
    for (int i = 0; i < 5; ++i) change("wrong password", "a third fine password");
    EXPECT_EQ(change("another fine password", "a third fine password"), "access.locked");
}

TEST_F(AccountsTest, AnAdminSetsAPasswordAndTheUsersSessionsEnd) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    const auto session = bench_.login("alice", kPassword);
    ASSERT_TRUE(bench_.edit("alice", {.password = base::Secret("another fine password")}));
    EXPECT_FALSE(accounts().by_session(session->secret.reveal()));
    EXPECT_EQ(login_code("alice", "another fine password"), "ok");
}

// --- users
// ----------------------------------------------------------------------------------------

TEST_F(AccountsTest, OnlyAdminsOfEverythingManageUsers) {
    ASSERT_TRUE(bench_.add("root", kAdmin));
    int number = 0;
    for (const std::vector<Grant>& grants :
         {std::vector<Grant>{}, kViewer, std::vector<Grant>{{Role::kOperator, ""}},
          std::vector<Grant>{{Role::kAuditor, ""}},
          std::vector<Grant>{{Role::kAdmin, "site=berlin"}}}) {
        const std::string name = "user" + std::to_string(++number);
        ASSERT_TRUE(bench_.add(name, grants));
        const Actor actor = bench_.as_user(name);
        const auto refused = bench_.add("new" + name, kViewer, actor);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, "access.forbidden");
        EXPECT_FALSE(bench_.edit("root", {.disabled = true}, actor));
        EXPECT_FALSE(bench_.edit(name, {.grants = kAdmin}, actor)) << "nobody promotes himself";
        EXPECT_FALSE(bench_.remove("root", actor));
    }
    EXPECT_EQ(bench_.refusals.size(), 5u * 4);
    EXPECT_EQ(bench_.refusals[0].result, model::AuditResult::kRefused);
}

TEST_F(AccountsTest, TheLastAdminStays) {
    ASSERT_TRUE(bench_.add("root", kAdmin));
    ASSERT_TRUE(bench_.add("berlin", {{Role::kAdmin, "site=berlin"}}));
    for (const UserEdit& edit : {UserEdit{.grants = kViewer}, UserEdit{.disabled = true},
                                 UserEdit{.grants = std::vector<Grant>{}}}) {
        const auto refused = bench_.edit("root", edit);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, "access.last_admin");
    }
    EXPECT_FALSE(bench_.remove("root"));
    EXPECT_TRUE(bench_.edit("root", {.display = "Root"}));
    ASSERT_TRUE(bench_.add("second", kAdmin));
    EXPECT_TRUE(bench_.edit("root", {.grants = kViewer}));
    EXPECT_FALSE(bench_.remove("second"));
}

TEST_F(AccountsTest, TwoAdminsWhoDemoteEachOtherLeaveOne) {
    ASSERT_TRUE(bench_.add("one", kAdmin));
    ASSERT_TRUE(bench_.add("two", kAdmin));
    std::vector<bool> results;
    for (const char* name : {"one", "two"}) {
        accounts().change_user(bench_.admin(), name, {.grants = kViewer},
                               [&](auto result) { results.push_back(result.has_value()); });
    }
    bench_.turn_until([&] { return results.size() == 2; });
    EXPECT_THAT(results, ::testing::UnorderedElementsAre(true, false));
    EXPECT_EQ(accounts().book().admins(), 1u);
}

TEST_F(AccountsTest, AUserIsFoundWithoutCaseAndThereIsOneOfAName) {
    ASSERT_TRUE(bench_.add("Alice", kViewer));
    const auto again = bench_.add("ALICE", kViewer);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, "access.exists");
    EXPECT_FALSE(bench_.add("a/b", kViewer));
    EXPECT_TRUE(bench_.edit("aLICE", {.display = "Alice A."}));
    EXPECT_EQ(accounts().book().user("alice")->display, "Alice A.");
    EXPECT_EQ(bench_.edit("nobody", {.disabled = true}).error().code, "access.no_user");
    EXPECT_EQ(bench_.remove("nobody").error().code, "access.no_user");
}

TEST_F(AccountsTest, AnEditOfAnOldVersionIsRefused) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    ASSERT_TRUE(bench_.edit("alice", {.display = "A", .version = 1}));
    const auto late = bench_.edit("alice", {.display = "B", .version = 1});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, "access.changed");
    EXPECT_EQ(accounts().book().user("alice")->head.version, 2u);
    EXPECT_EQ(bench_.remove("alice", std::nullopt, 1).error().code, "access.changed");
    ASSERT_NE(accounts().book().user("alice"), nullptr);
    EXPECT_TRUE(bench_.remove("alice", std::nullopt, 2));
}

TEST_F(AccountsTest, ARemovedOrDisabledUserIsOutAtOnce) {
    ASSERT_TRUE(bench_.add("root", kAdmin));
    for (const bool removed : {false, true}) {
        ASSERT_TRUE(bench_.add("alice", kViewer));
        const auto session = bench_.login("alice", kPassword);
        const auto token = bench_.token({.name = "t"}, bench_.as_user("alice"));
        ASSERT_TRUE(session && token);
        ASSERT_TRUE(accounts().by_token(token->secret.reveal()));
        if (removed) {
            ASSERT_TRUE(bench_.remove("alice"));
        } else {
            ASSERT_TRUE(bench_.edit("alice", {.disabled = true}));
        }
        EXPECT_FALSE(accounts().by_session(session->secret.reveal()));
        EXPECT_FALSE(accounts().by_token(token->secret.reveal()));
        EXPECT_TRUE(accounts().book().sessions_of("alice").empty());
        if (!removed) {
            ASSERT_TRUE(bench_.remove("alice"));
        }
        EXPECT_TRUE(accounts().book().tokens().empty()) << "tokens go with their owner";
    }
}

TEST_F(AccountsTest, WhatTheStoreDoesNotTakeChangesNothing) {
    ASSERT_TRUE(bench_.add("root", kAdmin));
    bench_.store_full = true;
    const auto refused = bench_.add("alice", kViewer);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "store.queue_full");
    EXPECT_EQ(accounts().book().user("alice"), nullptr);
    bench_.store_full = false;
    EXPECT_TRUE(bench_.add("alice", kViewer));
}

TEST_F(AccountsTest, SessionsAreEndedByTheirUserOrAnAdmin) {
    ASSERT_TRUE(bench_.add("alice", kViewer));
    ASSERT_TRUE(bench_.add("bob", kViewer));
    const auto first = bench_.login("alice", kPassword);
    const auto second = bench_.login("alice", kPassword);
    ASSERT_TRUE(bench_.login("alice", kPassword));
    const auto end = [&](Actor actor, std::optional<std::string> id) {
        const auto result = bench_.wait<base::Result<std::size_t>>([&](auto done) {
            accounts().end_sessions(std::move(actor), "alice", std::move(id), std::move(done));
        });
        return result ? std::to_string(*result) : result.error().code;
    };
    EXPECT_EQ(end(bench_.as_user("bob"), std::nullopt), "access.forbidden");
    Actor alice{.principal = *accounts().by_session(first->secret.reveal())};
    EXPECT_EQ(end(alice, second->session.head.id), "1");
    EXPECT_EQ(end(alice, second->session.head.id), "access.no_session");
    EXPECT_FALSE(accounts().by_session(second->secret.reveal()));
    EXPECT_EQ(end(alice, std::nullopt), "1") << "all but the one that asks";
    EXPECT_TRUE(accounts().by_session(first->secret.reveal()));
    EXPECT_EQ(end(bench_.admin(), std::nullopt), "1");
    EXPECT_FALSE(accounts().by_session(first->secret.reveal()));
}

}  // namespace
}  // namespace pollux::api
