#include "base/cron.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::base {
namespace {

using namespace std::chrono;
using ::testing::HasSubstr;

TEST(Cron, FieldsAreListsRangesAndSteps) {
    const auto cron = parse_cron("*/15 8-18/2,22 1,15 jan-mar,DEC mon");
    ASSERT_TRUE(cron) << cron.error().message;
    EXPECT_TRUE(cron->at(8, 0));
    EXPECT_TRUE(cron->at(22, 45));
    EXPECT_FALSE(cron->at(9, 0));
    EXPECT_FALSE(cron->at(8, 14));
    EXPECT_TRUE(cron->on_day(2026y / January / 15));
    EXPECT_FALSE(cron->on_day(2026y / April / 15));
}

TEST(Cron, EitherOfTwoRestrictedDaysIsEnough) {
    const auto either = parse_cron("0 0 13 * 5");
    ASSERT_TRUE(either);
    EXPECT_TRUE(either->on_day(2026y / November / 13)) << "a Friday and the 13th";
    EXPECT_TRUE(either->on_day(2026y / November / 20)) << "a Friday";
    EXPECT_TRUE(either->on_day(2026y / October / 13)) << "a Tuesday, the 13th";
    EXPECT_FALSE(either->on_day(2026y / October / 14));
    const auto both = parse_cron("0 0 */2 * 5");
    ASSERT_TRUE(both);
    EXPECT_FALSE(both->on_day(2026y / November / 20)) << "a star leaves both to hold";
}

TEST(Cron, SevenIsSundayToo) {
    EXPECT_EQ(parse_cron("0 0 * * 7"), parse_cron("0 0 * * 0"));
    EXPECT_EQ(parse_cron("@weekly"), parse_cron("0 0 * * sun"));
    EXPECT_TRUE(parse_cron("0 0 29 2 *"));
}

TEST(Cron, MistakesAreToldWithTheFieldAndWhatIsRight) {
    for (const char* text :
         {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
          "* * * * 8", "5-1 * * * *", "*/0 * * * *", "a * * * *", "1, * * * *", "-1 * * * *",
          "0 0 31 2 *", "0 0 30 feb *", "@never", "1-2-3 * * * *", "0x1 * * * *"}) {
        const auto cron = parse_cron(text);
        ASSERT_FALSE(cron) << text;
        EXPECT_EQ(cron.error().code, "cron.invalid");
    }
    EXPECT_THAT(parse_cron("* 24 * * *").error().message, HasSubstr("is no hour"));
    EXPECT_THAT(parse_cron("0 0 31 2 *").error().message, HasSubstr("never comes"));
}

}  // namespace
}  // namespace pollux::base
