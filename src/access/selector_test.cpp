#include "access/selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/test_random.hpp"

namespace pollux::access {
namespace {

using ::testing::HasSubstr;

bool matches(std::string_view text, const Labels& labels) {
    const auto selector = Selector::parse(text);
    EXPECT_TRUE(selector) << text << (selector ? "" : selector.error().message);
    return selector && selector->matches(labels);
}

TEST(Selector, EachOperatorHoldsForTheRightLabels) {
    const Labels berlin = {{"site", "berlin"}, {"role", "a"}, {"x", ""}};
    EXPECT_TRUE(matches("", berlin));
    EXPECT_TRUE(matches("  ", {}));
    EXPECT_TRUE(matches("site=berlin", berlin));
    EXPECT_TRUE(matches("site == berlin", berlin));
    EXPECT_FALSE(matches("site=hamburg", berlin));
    EXPECT_FALSE(matches("site=berlin", {}));
    EXPECT_TRUE(matches("tier!=lab", berlin));
    EXPECT_FALSE(matches("site!=berlin", berlin));
    EXPECT_TRUE(matches("role in (b, a)", berlin));
    EXPECT_FALSE(matches("role in (b,c)", berlin));
    EXPECT_FALSE(matches("role notin (a,b)", berlin));
    EXPECT_TRUE(matches("other notin (a)", berlin));
    EXPECT_TRUE(matches("x", berlin));
    EXPECT_TRUE(matches("x=", berlin));
    EXPECT_FALSE(matches("!x", berlin));
    EXPECT_TRUE(matches("!y", berlin));
    EXPECT_TRUE(matches("site=berlin,tier!=lab,role in (a,b),!y,x", berlin));
    EXPECT_FALSE(matches("site=berlin,tier!=lab,role in (a,b),!x", berlin));
    EXPECT_TRUE(matches("site=köln", {{"site", "köln"}}));
}

TEST(Selector, RefusesWhatItDoesNotUnderstandAndSaysWhere) {
    for (const std::string_view text :
         {",", "a,", "a b", "=x", "!", "a!b", "a in b", "a in (b", "a in b)", "a=(b)", "a like b",
          "a=b c", "a in (b,c))", "!a=b", "ä=b", "a=\x01", "a=\xff", "a notin", "!!a"}) {
        const auto selector = Selector::parse(text);
        ASSERT_FALSE(selector) << text;
        EXPECT_EQ(selector.error().code, "access.selector");
    }
    EXPECT_THAT(Selector::parse("site=a,tier?b").error().message,
                ::testing::AllOf(HasSubstr("at character 12"), HasSubstr("expected")));
    EXPECT_FALSE(Selector::parse(std::string(3000, 'a')));
    std::string many = "a0";
    for (int i = 1; i < 40; ++i) many += ",a" + std::to_string(i);
    EXPECT_FALSE(Selector::parse(many));
}

TEST(Selector, CoversWhatIsNarrower) {
    const auto covers = [](std::string_view wide, std::string_view narrow) {
        return Selector::parse(wide)->covers(*Selector::parse(narrow));
    };
    EXPECT_TRUE(covers("", "site=a"));
    EXPECT_TRUE(covers("", ""));
    EXPECT_FALSE(covers("site=a", ""));
    EXPECT_TRUE(covers("site=a", "site=a,tier=lab"));
    EXPECT_FALSE(covers("site=a,tier=lab", "site=a"));
    EXPECT_TRUE(covers("site in (a,b)", "site=b"));
    EXPECT_FALSE(covers("site=b", "site in (a,b)"));
    EXPECT_TRUE(covers("site", "site=a"));
    EXPECT_FALSE(covers("site", "!site"));
    EXPECT_TRUE(covers("site!=a", "!site"));
    EXPECT_TRUE(covers("site!=a", "site=b"));
    EXPECT_FALSE(covers("site!=a", "site=a"));
    EXPECT_TRUE(covers("site!=a", "site notin (a,b)"));
    EXPECT_FALSE(covers("site notin (a,b)", "site!=a"));
}

std::string random_selector(base::TestRandom& random) {
    std::string text;
    const std::uint64_t count = random.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (i > 0) text += random.one_in(2) ? "," : " , ";
        const std::string key(1, static_cast<char>('a' + random.below(3)));
        const auto value = [&] { return std::string(1, static_cast<char>('p' + random.below(3))); };
        switch (random.below(6)) {
            case 0: text += key + "=" + value(); break;
            case 1: text += key + "!=" + value(); break;
            case 2: text += key + " in (" + value() + "," + value() + ")"; break;
            case 3: text += key + " notin (" + value() + ", " + value() + ")"; break;
            case 4: text += key; break;
            default: text += "!" + key; break;
        }
    }
    return text;
}

// Every set of labels with keys a to c and values p to r, or without them.
std::vector<Labels> all_labels() {
    std::vector<Labels> all;
    for (int i = 0; i < 64; ++i) {
        Labels labels;
        for (int key = 0, rest = i; key < 3; ++key, rest /= 4) {
            if (rest % 4 == 0) continue;
            labels[std::string(1, static_cast<char>('a' + key))] =
                std::string(1, static_cast<char>('p' + rest % 4 - 1));
        }
        all.push_back(std::move(labels));
    }
    return all;
}

RC_GTEST_PROP(Selector, TextReadsBackAndCoversIsSound, (std::uint64_t seed)) {
    base::TestRandom random(seed);
    const auto wide = Selector::parse(random_selector(random));
    const auto narrow = Selector::parse(random_selector(random));
    RC_ASSERT(wide.has_value());
    RC_ASSERT(narrow.has_value());
    const auto again = Selector::parse(wide->text());
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *wide);
    RC_ASSERT(again->text() == wide->text());
    RC_ASSERT(wide->covers(*wide));
    const bool covers = wide->covers(*narrow);
    for (const Labels& labels : all_labels()) {
        RC_ASSERT(again->matches(labels) == wide->matches(labels));
        if (covers && narrow->matches(labels)) RC_ASSERT(wide->matches(labels));
    }
}

RC_GTEST_PROP(Selector, AnyTextIsReadOrRefused, (const std::string& text)) {
    const auto selector = Selector::parse(text);
    if (!selector) {
        RC_ASSERT(selector.error().code == "access.selector");
        return;
    }
    const auto again = Selector::parse(selector->text());
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *selector);
}

}  // namespace
}  // namespace pollux::access
