#include "model/matcher.hpp"

#include <gtest/gtest.h>

namespace pollux::model {
namespace {

using Op = MatchOperator;

TEST(Matcher, ReadsWhatAlertmanagerReads) {
    EXPECT_EQ(*parse_matcher(R"(severity="critical")"),
              (LabelMatcher{"severity", Op::kEqual, "critical"}));
    EXPECT_EQ(*parse_matcher(R"( site =~ "ber.*" )"),
              (LabelMatcher{"site", Op::kMatches, "ber.*"}));
    EXPECT_EQ(*parse_matcher("a!=b"), (LabelMatcher{"a", Op::kNotEqual, "b"}));
    EXPECT_EQ(*parse_matcher("a!~b c"), (LabelMatcher{"a", Op::kNotMatches, "b c"}));
    EXPECT_EQ(*parse_matcher("a="), (LabelMatcher{"a", Op::kEqual, ""}));
    EXPECT_EQ(*parse_matcher(R"(a="q\"b\\n\d+\n")"),
              (LabelMatcher{"a", Op::kEqual, "q\"b\\n\\d+\n"}));
    EXPECT_EQ(*parse_matcher(R"("rack unit"="7")"), (LabelMatcher{"rack unit", Op::kEqual, "7"}));
}

TEST(Matcher, ListsStandInBracesOrNot) {
    const std::vector<LabelMatcher> two = {{"a", Op::kEqual, "x,y}"}, {"b", Op::kNotMatches, "z"}};
    EXPECT_EQ(*parse_matchers(R"({a="x,y}", b!~"z"})"), two);
    EXPECT_EQ(*parse_matchers(R"(a="x,y}",b!~z)"), two);
    EXPECT_EQ(*parse_matchers(R"({a="x,y}",b!~z,})"), two);
    EXPECT_TRUE(parse_matchers("{}")->empty());
    EXPECT_TRUE(parse_matchers("")->empty());
}

TEST(Matcher, MistakesAreTold) {
    for (const char* text : {"a", "=b", "{a=b", "a=\"b", "{a=b}c", "{,}", "a=b}", "a b", "\"a\""}) {
        EXPECT_FALSE(parse_matchers(text)) << text;
    }
    std::string many;
    for (int i = 0; i < 100; ++i) many += "a=b,";
    EXPECT_FALSE(parse_matchers(many));
    EXPECT_FALSE(parse_matcher("a=b\",c=d"));
}

TEST(Matcher, WhatIsPrintedIsReadBack) {
    const std::vector<LabelMatcher> matchers = {{"site", Op::kMatches, R"(b\d+"q")"},
                                                {"rack unit", Op::kNotEqual, "a\nb, c}"},
                                                {"rack-unit", Op::kEqual, ""},
                                                {"a\"b", Op::kNotMatches, "\\"}};
    EXPECT_EQ(*parse_matchers(to_string(matchers)), matchers);
    for (const LabelMatcher& one : matchers) EXPECT_EQ(*parse_matcher(to_string(one)), one);
    EXPECT_EQ(to_string(LabelMatcher{"a", Op::kEqual, "b"}), R"(a="b")");
}

TEST(Matcher, ExpressionsAreAnchoredAndBounded) {
    const auto compiled = CompiledMatcher::compile({"site", Op::kMatches, "ber|mun"});
    ASSERT_TRUE(compiled);
    EXPECT_TRUE(compiled->holds("ber"));
    EXPECT_FALSE(compiled->holds("berlin"));
    EXPECT_FALSE(compiled->holds(""));
    EXPECT_FALSE(CompiledMatcher::compile({"a", Op::kMatches, "("}));
    EXPECT_FALSE(CompiledMatcher::compile({"a", Op::kMatches, "((a{1000}){1000}){1000}"}));
    EXPECT_FALSE(CompiledMatcher::compile({"a", Op::kMatches, std::string(5'000, 'a')}));
    EXPECT_FALSE(CompiledMatcher::compile({"", Op::kEqual, "a"}));
}

TEST(Matcher, ALabelThatIsNotThereIsEmpty) {
    EXPECT_TRUE(CompiledMatcher::compile({"a", Op::kEqual, ""})->holds(""));
    EXPECT_TRUE(CompiledMatcher::compile({"a", Op::kNotEqual, "x"})->holds(""));
    EXPECT_TRUE(CompiledMatcher::compile({"a", Op::kMatches, ".*"})->holds(""));
    EXPECT_FALSE(CompiledMatcher::compile({"a", Op::kNotMatches, ".*"})->holds("x"));
}

}  // namespace
}  // namespace pollux::model
