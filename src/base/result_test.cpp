#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace pollux::base {
namespace {

Result<int> parse_digit(char c) {
    if (c < '0' || c > '9') return config_error("digit.bad", "expected a digit");
    return c - '0';
}

TEST(Result, HoldsAValueOrAnError) {
    EXPECT_EQ(parse_digit('7').value(), 7);
    const Result<int> bad = parse_digit('x');
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error(), (Error{"digit.bad", ErrorClass::kConfig, "expected a digit"}));
}

TEST(Result, StatusIsSuccessByDefault) {
    const Status fine;
    EXPECT_TRUE(fine.has_value());
    const Status broken = internal_error("core.bug", "the plan is not ordered");
    ASSERT_FALSE(broken.has_value());
    EXPECT_EQ(broken.error().error_class, ErrorClass::kInternal);
}

TEST(Result, CarriesMoveOnlyValues) {
    Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
    const std::unique_ptr<int> taken = std::move(result).value();
    EXPECT_EQ(*taken, 5);
}

TEST(Result, MakeErrorTakesAnyClass) {
    const Status status = make_error(ErrorClass::kTransient, "snmp.timeout", "no answer in 2 s");
    EXPECT_EQ(status.error().error_class, ErrorClass::kTransient);
    EXPECT_EQ(status.error().code, "snmp.timeout");
}

TEST(Error, ComparesAllFields) {
    const Error error{"a.b", ErrorClass::kAuth, "m"};
    EXPECT_EQ(error, (Error{"a.b", ErrorClass::kAuth, "m"}));
    EXPECT_NE(error, (Error{"a.c", ErrorClass::kAuth, "m"}));
    EXPECT_NE(error, (Error{"a.b", ErrorClass::kConfig, "m"}));
    EXPECT_NE(error, (Error{"a.b", ErrorClass::kAuth, "n"}));
}

TEST(ErrorClass, NamesAreStable) {
    EXPECT_EQ(to_string(ErrorClass::kTransient), "transient");
    EXPECT_EQ(to_string(ErrorClass::kPermanent), "permanent");
    EXPECT_EQ(to_string(ErrorClass::kAuth), "auth");
    EXPECT_EQ(to_string(ErrorClass::kConfig), "config");
    EXPECT_EQ(to_string(ErrorClass::kInternal), "internal");
}

TEST(ErrorClassDeathTest, RefusesWhatIsNoEnumerator) {
    EXPECT_DEATH(static_cast<void>(to_string(static_cast<ErrorClass>(200))), "ErrorClass");
}

}  // namespace
}  // namespace pollux::base
