#include "config/secret_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SecretReference, ReadsAndWritesEveryKind) {
    const struct {
        const char* text;
        SecretKind kind;
        const char* name;
        const char* described;
    } cases[] = {{"${SNMP_KEY}", SecretKind::kEnvironment, "SNMP_KEY", "${SNMP_KEY}"},
                 {"file:/run/secret", SecretKind::kFile, "/run/secret", "file:/run/secret"},
                 {"vault:portal", SecretKind::kVault, "portal", "vault:portal"},
                 {"hunter2", SecretKind::kLiteral, "", "(secret)"},
                 {"pa${ss}", SecretKind::kLiteral, "", "(secret)"}};
    for (const auto& one : cases) {
        const auto reference = parse_secret_reference(one.text);
        ASSERT_TRUE(reference) << one.text;
        EXPECT_EQ(reference->kind, one.kind);
        EXPECT_EQ(reference->name, one.name);
        EXPECT_EQ(reveal(*reference), one.text);
        EXPECT_EQ(describe(*reference), one.described);
    }
}

TEST(SecretReference, RefusesWithoutShowing) {
    for (const char* text : {"", "${}", "${A-B}", "${9A}", "${planted", "file:planted", "vault:"}) {
        const auto reference = parse_secret_reference(text);
        ASSERT_FALSE(reference) << text;
        EXPECT_THAT(reference.error().message, Not(HasSubstr("planted")));
    }
}

TEST(SecretReference, FillsInCredentials) {
    Credential credential;
    credential.username = "monitor";
    credential.password = parse_secret_reference("${PASSWORD}").value();
    credential.community = parse_secret_reference("literal").value();
    const auto good = resolve("portal", credential, [](const SecretReference& reference) {
        return base::Result<base::Secret>(base::Secret("value of " + reference.name));
    });
    ASSERT_TRUE(good);
    EXPECT_EQ(good->username, "monitor");
    EXPECT_EQ(good->password.reveal(), "value of PASSWORD");
    EXPECT_EQ(good->community.reveal(), "literal");
    EXPECT_TRUE(good->token.empty());

    const auto bad = resolve("portal", credential, [](const SecretReference& reference) {
        return base::Result<base::Secret>(base::config_error(
            "credentials.unset", "the variable " + reference.name + " is not set"));
    });
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().message,
              "credential \"portal\", password: the variable PASSWORD is not set");
    EXPECT_EQ(bad.error().code, "credentials.unset");
}

}  // namespace
}  // namespace pollux::config
