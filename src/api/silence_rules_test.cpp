#include "api/silence_rules.hpp"

#include <gtest/gtest.h>

#include "document/parse.hpp"
#include "model/matcher.hpp"

namespace pollux::api {
namespace {

using access::Permission;
using access::Role;

document::Node parsed(std::string_view text) {
    document::Diagnostics diagnostics;
    return document::parse_json(text, "body", diagnostics).root;
}

bool may(std::string selector, std::string_view match,
         Permission permission = Permission::kOperate) {
    access::Principal who;
    who.kind = "user";
    who.name = "eve";
    who.grants = {{Role::kOperator, std::move(selector)}};
    return may_on_silence(who, permission, matchers_of(parsed(match)));
}

TEST(SilenceRules, WhoHasAPartMustNameItInTheSilence) {
    EXPECT_TRUE(may("site=berlin", R"({"match":["site=\"berlin\"","device=~\"sw.*\""]})"));
    EXPECT_TRUE(may("site=berlin", R"({"match":{"site":"berlin"}})"));
    EXPECT_TRUE(may("site=berlin", R"({"match":"{site=\"berlin\", role!=\"core\"}"})"));
    EXPECT_FALSE(may("site=berlin", R"({"match":["device=\"sw1\""]})"))
        << "a device may have moved";
    EXPECT_FALSE(may("site=berlin", R"({"match":["site=~\"berlin\""]})"));
    EXPECT_FALSE(may("site=berlin", R"({"match":["site!=\"rome\""]})"));
    EXPECT_FALSE(may("site!=rome", R"({"match":["device=\"sw1\""]})"))
        << "it may have the label all the same";
    EXPECT_TRUE(may("site!=rome", R"({"match":["site=\"berlin\""]})"));
    EXPECT_FALSE(may("site=berlin", R"({"match":["site=\"\""]})"));
    EXPECT_FALSE(may("site=berlin", "{}"));
}

TEST(SilenceRules, WhoHasEverythingMayAny) {
    EXPECT_TRUE(may("", R"({"match":["device=\"sw1\""]})"));
    EXPECT_FALSE(may("", R"({"match":["device=\"sw1\""]})", Permission::kManage));
}

TEST(SilenceRules, AValueThatNoSelectorCanHoldProvesNothing) {
    EXPECT_FALSE(may("site=berlin", R"({"match":["site=\"berlin,site=rome\""]})"));
    EXPECT_TRUE(may("site=berlin", R"({"match":["site=\"berlin\"","note=\"a, b (c)\""]})"));
}

}  // namespace
}  // namespace pollux::api
