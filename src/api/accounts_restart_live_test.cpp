// Accounts on a real SQLite store: what survives a restart, and what is on the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "api/accounts_test_support.hpp"

namespace pollux::api {
namespace {

using access::Permission;
using access::Role;
using test::kPassword;
using namespace std::chrono_literals;

std::string all_bytes_below(const std::string& folder) {
    std::string all;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
        if (!file.is_regular_file()) continue;
        std::ifstream in(file.path(), std::ios::binary);
        all.append(std::istreambuf_iterator<char>(in), {});
    }
    return all;
}

TEST(AccountsRestart, UsersTokensAndSessionsComeBack) {
    const net::test::TempDir folder;
    test::AccountBench bench(folder.path());
    ASSERT_TRUE(bench.add("root", {{Role::kAdmin, ""}}));
    ASSERT_TRUE(bench.add("alice", {{Role::kOperator, "site=berlin"}}));
    NewToken order{.name = "ci", .scopes = {"jobs:write"}, .expires = bench.wall + 100h};
    order.grants = std::vector<access::Grant>{{Role::kViewer, "site=berlin"}};
    const auto token = bench.token(order, bench.as_user("alice"));
    const auto session = bench.login("alice", kPassword, "2001:db8::1", true);
    ASSERT_TRUE(token && session);
    bench.pass(1h);
    ASSERT_TRUE(bench.accounts().by_session(session->secret.reveal()));
    ASSERT_TRUE(
        bench.wait<base::Status>([&](auto done) { bench.accounts().flush_uses(std::move(done)); }));
    const auto before = bench.stored();
    bench.restart();
    EXPECT_EQ(bench.stored(), before);
    EXPECT_FALSE(bench.accounts().waits_for_bootstrap());
    EXPECT_FALSE(bench.accounts().start_bootstrap());

    const auto by_token = bench.accounts().by_token(token->secret.reveal());
    ASSERT_TRUE(by_token);
    EXPECT_EQ(by_token->scopes, order.scopes);
    EXPECT_EQ(by_token->limits, order.grants);
    bench.pass(23h);  // within a day of the last use, which was written behind
    const auto by_session = bench.accounts().by_session(session->secret.reveal());
    ASSERT_TRUE(by_session);
    EXPECT_TRUE(access::may_on(*by_session, Permission::kOperate, {{"site", "berlin"}}));
    EXPECT_EQ(by_session->csrf, access::csrf_token(session->secret.reveal()));
    EXPECT_TRUE(bench.login("alice", kPassword));
    // And they can still be changed: versions came back too.
    EXPECT_TRUE(bench.edit("alice", {.display = "Alice"}));
}

TEST(AccountsRestart, NothingSecretIsOnTheDisk) {
    const net::test::TempDir folder;
    test::AccountBench bench(folder.path());
    const auto boot = bench.accounts().start_bootstrap();
    NewUser first;
    first.name = "root";
    first.password = base::Secret("the first fine password");
    ASSERT_TRUE(bench.wait<base::Result<User>>([&](auto done) {
        bench.accounts().bootstrap(*boot, std::move(first), {}, std::move(done));
    }));
    const auto token = bench.token({.name = "ci"}, bench.as_user("root"));
    const auto session = bench.login("root", "the first fine password");
    ASSERT_TRUE(token && session);
    ASSERT_FALSE(bench.login("root", "a guess that was wrong"));
    bench.restart();
    const std::string disk = all_bytes_below(folder.path());
    EXPECT_NE(disk.find("$argon2id$"), std::string::npos);
    EXPECT_NE(disk.find(token->token.hash), std::string::npos);
    for (const std::string& secret :
         {std::string("the first fine password"), std::string("a guess that was wrong"),
          boot->reveal(), token->secret.reveal(), session->secret.reveal(),
          access::csrf_token(session->secret.reveal())}) {
        EXPECT_EQ(disk.find(secret), std::string::npos);
    }
    // Nor in what the audit trail was told.
    for (const auto& entries : {bench.acts, bench.refusals}) {
        for (const model::AuditEntry& entry : entries) {
            const std::string text = entry.before + entry.after + entry.object + entry.reason;
            EXPECT_EQ(text.find("password"), std::string::npos) << text;
            EXPECT_EQ(text.find("plx"), std::string::npos) << text;
            EXPECT_EQ(text.find(token->token.hash), std::string::npos) << text;
        }
    }
}

TEST(AccountsRestart, ADamagedAccountIsToldAndLetsNobodyIn) {
    AccountBook book;
    model::ConfigObject good = to_object(User{.head = {"1", "alice", 1}}, base::WallTime{1});
    model::ConfigObject bad = good;
    bad.id = "2";
    bad.name = "bob";
    bad.body = R"({"grants":[{"role":"god"}],"password":"hush"})";
    model::ConfigObject broken = good;
    broken.kind = model::ObjectKind::kToken;
    broken.body = "{";
    const auto complaints = book.load({good, bad, broken});
    ASSERT_EQ(complaints.size(), 2u);
    for (const std::string& text : complaints) EXPECT_EQ(text.find("hush"), std::string::npos);
    EXPECT_EQ(book.users().size(), 1u);
    EXPECT_TRUE(book.tokens().empty());
}

}  // namespace
}  // namespace pollux::api
