#include "access/credential_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::access {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CredentialRules, UserNamesAreFoldedAndBounded) {
    EXPECT_EQ(*normal_user_name("Alice"), "alice");
    EXPECT_EQ(*normal_user_name("a.b_c-d@example.org"), "a.b_c-d@example.org");
    EXPECT_EQ(normal_user_name(std::string(64, 'a'))->size(), 64u);
    for (const std::string& bad :
         {std::string(), std::string(65, 'a'), std::string("a b"), std::string("a/b"),
          std::string("ä"), std::string("a\n"), std::string("."), std::string(".."),
          std::string("a:b"), std::string("a\0b", 3)}) {
        const auto name = normal_user_name(bad);
        ASSERT_FALSE(name) << bad;
        EXPECT_EQ(name.error().code, "access.user_name");
    }
    EXPECT_FALSE(normal_token_name("ci@host"));
    EXPECT_EQ(*normal_token_name("CI-1"), "ci-1");
}

TEST(CredentialRules, PasswordsAreLongAndNotTheObviousOnes) {
    const auto code = [](std::string_view user, std::string password) {
        const auto status = check_password(user, base::Secret(std::move(password)));
        return status ? std::string("ok") : status.error().message;
    };
    EXPECT_EQ(code("alice", "correct horse"), "ok");
    EXPECT_EQ(code("alice", "0123456789a"), "ok");
    EXPECT_EQ(code("alice", std::string(1023, 'a') + "b"), "ok");
    EXPECT_THAT(code("alice", "short"), HasSubstr("too short"));
    EXPECT_THAT(code("alice", "äöüäöüäöü"), HasSubstr("too short"));
    EXPECT_EQ(code("alice", "äöüäöüäöüß"), "ok");
    EXPECT_THAT(code("alice", std::string(1025, 'a')), HasSubstr("too long"));
    EXPECT_THAT(code("alice@home.org", "Alice@Home.org"), HasSubstr("name"));
    EXPECT_THAT(code("alice", "Password123"), HasSubstr("tried first"));
    EXPECT_THAT(code("alice", "qqqqqqqqqqqq"), HasSubstr("tried first"));
    EXPECT_THAT(code("alice", std::string("abcdefghijk\0", 12)), HasSubstr("zero"));
    EXPECT_THAT(code("alice", "abcdefghijk\xff"), HasSubstr("UTF-8"));
    EXPECT_THAT(code("alice", "hush"), Not(HasSubstr("hush")));
}

}  // namespace
}  // namespace pollux::access
