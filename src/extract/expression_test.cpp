#include "extract/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "extract/value_math.hpp"

namespace pollux::extract {
namespace {

using model::Value;
using ::testing::HasSubstr;

std::optional<std::uint16_t> resolve(std::string_view name) {
    if (name.size() != 1 || name[0] < 'a' || name[0] > 'd') return std::nullopt;
    return static_cast<std::uint16_t>(name[0] - 'a');
}

Value run(std::string_view text, std::vector<Value> values = {}) {
    const auto compiled = Expression::compile(text, resolve);
    EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
    return compiled ? compiled->evaluate(values) : Value();
}

std::string fault(std::string_view text) {
    const auto compiled = Expression::compile(text, resolve);
    EXPECT_FALSE(compiled.has_value()) << text;
    return compiled ? "" : compiled.error().message;
}

Value i(std::int64_t value) { return value; }
const Value kNull;

TEST(Expression, ComputesWithPrecedence) {
    EXPECT_EQ(run("1 + 2 * 3"), i(7));
    EXPECT_EQ(run("(1 + 2) * 3"), i(9));
    EXPECT_EQ(run("10 - 4 - 3"), i(3));
    EXPECT_EQ(run("-2 * -3"), i(6));
    EXPECT_EQ(run("7 % 4"), i(3));
    EXPECT_EQ(run("6 / 3"), i(2));
    EXPECT_EQ(run("7 / 2"), Value(3.5));
    EXPECT_EQ(run("1e3 + 0.5"), Value(1000.5));
    EXPECT_EQ(run("'a' + \"b\""), Value(std::string("ab")));
    EXPECT_EQ(run("1 < 2 and 2 < 3"), Value(true));
    EXPECT_EQ(run("not true or 1 == 1.0"), Value(true));
    EXPECT_EQ(run("!false && true || false"), Value(true));
    EXPECT_EQ(run("a > 5 ? 'high' : a > 2 ? 'mid' : 'low'", {i(3)}), Value(std::string("mid")));
}

TEST(Expression, IntegersAreExact) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(run("a - 1", {Value(most)}), Value(most - 1));
    EXPECT_EQ(run("9223372036854775807 + 1"), Value(std::uint64_t{1} << 63U));
    EXPECT_EQ(run("a * 2", {Value(most)}), Value(static_cast<double>(most) * 2));
    EXPECT_EQ(run("a * a", {Value(most)}),
              Value(static_cast<double>(most) * static_cast<double>(most)));
    EXPECT_EQ(run("a == b", {i(9007199254740993), Value(9007199254740992.0)}), Value(false));
    EXPECT_EQ(run("a > b", {i(9007199254740993), Value(9007199254740992.0)}), Value(true));
    EXPECT_EQ(run("a % b", {i(std::numeric_limits<std::int64_t>::min()), i(-1)}), i(0));
    EXPECT_EQ(run("-a", {i(std::numeric_limits<std::int64_t>::min())}),
              Value(std::uint64_t{1} << 63U));
}

TEST(Expression, WhatHasNoAnswerIsNull) {
    EXPECT_EQ(run("1 / 0"), kNull);
    EXPECT_EQ(run("1.0 / 0"), kNull);
    EXPECT_EQ(run("1 % 0"), kNull);
    EXPECT_EQ(run("a + 1"), kNull);
    EXPECT_EQ(run("'a' * 2"), kNull);
    EXPECT_EQ(run("true + 1"), kNull);
    EXPECT_EQ(run("a == null", {i(1)}), kNull);
    EXPECT_EQ(run("'a' < 1"), kNull);
    EXPECT_EQ(run("1e308 * 10"), kNull);
    EXPECT_EQ(run("not 3"), kNull);
    EXPECT_EQ(run("3 ? 1 : 2"), kNull);
    EXPECT_EQ(run("2.5 % 2"), kNull);
    EXPECT_EQ(run("min(1, 'a')"), kNull);
}

TEST(Expression, LogicKnowsWhatNullLeavesOpen) {
    EXPECT_EQ(run("false and a"), Value(false));
    EXPECT_EQ(run("a and false"), Value(false));
    EXPECT_EQ(run("true or a"), Value(true));
    EXPECT_EQ(run("a or true"), Value(true));
    EXPECT_EQ(run("a and true"), kNull);
    EXPECT_EQ(run("a or false"), kNull);
    EXPECT_EQ(run("coalesce(a, b, 7)", {kNull, i(5)}), i(5));
    EXPECT_EQ(run("exists(a)"), Value(false));
}

TEST(Expression, Functions) {
    EXPECT_EQ(run("min(3, 1.5, 2)"), Value(1.5));
    EXPECT_EQ(run("max(3, 9)"), i(9));
    EXPECT_EQ(run("abs(-4)"), i(4));
    EXPECT_EQ(run("abs(2.5)"), Value(2.5));
    EXPECT_EQ(run("round(2.5)"), Value(3.0));
    EXPECT_EQ(run("round(-2.5)"), Value(-3.0));
    EXPECT_EQ(run("round(3.14159, 2)"), Value(3.14));
    EXPECT_EQ(run("floor(-1.5)"), Value(-2.0));
    EXPECT_EQ(run("ceil(1.2)"), Value(2.0));
    EXPECT_EQ(run("contains('abc', 'b')"), Value(true));
    EXPECT_EQ(run("starts_with('abc', 'b')"), Value(false));
    EXPECT_EQ(run("ends_with('abc', 'bc')"), Value(true));
    EXPECT_EQ(run("upper(lower('AbC'))"), Value(std::string("ABC")));
    EXPECT_EQ(run("length('abc')"), i(3));
    EXPECT_EQ(run("number(' 12.5 ')"), Value(12.5));
    EXPECT_EQ(run("number('12 volts')"), kNull);
    EXPECT_EQ(run("number(true)"), i(1));
    EXPECT_EQ(run("text(1.5)"), Value(std::string("1.5")));
    EXPECT_EQ(run("capture('box@192.0.2.1', '@([0-9.]+)')"), Value(std::string("192.0.2.1")));
    EXPECT_EQ(run("capture('ab', '(?P<x>a)(?P<value>b)')"), Value(std::string("b")));
    EXPECT_EQ(run("capture('ab', \"'?b\")"), Value(std::string("b")));
    EXPECT_EQ(run("capture('ab', 'c')"), kNull);
    EXPECT_EQ(run("capture(12, '1')"), kNull);
    EXPECT_EQ(run("capture(null, '1')"), kNull);
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
    EXPECT_THAT(fault("1 +"), HasSubstr("at character 4"));
    EXPECT_THAT(fault("1 2"), HasSubstr("an operator was wanted"));
    EXPECT_THAT(fault("zz + 1"), HasSubstr("\"zz\" is no name"));
    EXPECT_THAT(fault("rond(1)"), HasSubstr("did you mean round?"));
    EXPECT_THAT(fault("min()"), HasSubstr("min needs 1"));
    EXPECT_THAT(fault("abs(1, 2)"), HasSubstr("at most 1"));
    EXPECT_THAT(fault("(1"), HasSubstr(") was wanted"));
    EXPECT_THAT(fault("'a"), HasSubstr("closing quote"));
    EXPECT_THAT(fault("true ? 1"), HasSubstr(": was wanted"));
    EXPECT_THAT(fault("1.2.3"), HasSubstr("no number"));
    EXPECT_THAT(fault(""), HasSubstr("a name, a number"));
    EXPECT_THAT(fault("capture('a', a)"), HasSubstr("a pattern in quotes"));
    EXPECT_THAT(fault("capture('a', '(')"), HasSubstr("no regular expression"));
}

TEST(Expression, IsBounded) {
    EXPECT_THAT(fault(std::string(100, '(') + "1"), HasSubstr("deeper"));
    EXPECT_THAT(fault(std::string(100, '-') + "1"), HasSubstr("deeper"));
    std::string many = "1";
    for (int n = 0; n < 300; ++n) many += "+1";
    EXPECT_THAT(fault(many), HasSubstr("more than 256 parts"));
    EXPECT_THAT(fault(std::string(5000, ' ')), HasSubstr("longer"));
    const auto good = Expression::compile("a + b * a", resolve);
    EXPECT_THAT(good->names(), ::testing::ElementsAre(0, 1));
    EXPECT_EQ(good->nodes(), 5U);
}

}  // namespace
}  // namespace pollux::extract
