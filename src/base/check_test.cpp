#include "base/check.hpp"

#include <gtest/gtest.h>

namespace pollux::base {
namespace {

TEST(Check, PassesAndEvaluatesOnce) {
    int calls = 0;
    POLLUX_CHECK(++calls == 1);
    POLLUX_CHECK_MSG(++calls == 2, "counted");
    EXPECT_EQ(calls, 2);
}

TEST(Check, IsAnExpression) {
    const auto positive = [](int value) { return POLLUX_CHECK(value > 0), value; };
    EXPECT_EQ(positive(3), 3);
}

TEST(Check, WorksInConstantExpressions) {
    constexpr auto kHalf = [](int value) constexpr {
        POLLUX_CHECK(value % 2 == 0);
        return value / 2;
    };
    static_assert(kHalf(4) == 2);
}

TEST(CheckDeathTest, NamesFileLineAndExpression) {
    EXPECT_DEATH(POLLUX_CHECK(1 + 1 == 3), "check_test.cpp:[0-9]+: check failed: 1 \\+ 1 == 3");
}

TEST(CheckDeathTest, AddsTheMessage) {
    EXPECT_DEATH(POLLUX_CHECK_MSG(false, "the moon is full"),
                 "check failed: false: the moon is full");
}

}  // namespace
}  // namespace pollux::base
