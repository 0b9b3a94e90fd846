#include "observe/base_unit.hpp"

#include <gtest/gtest.h>

namespace pollux::observe {
namespace {

TEST(BaseUnit, BitsAndTimesBecomeBytesAndSeconds) {
    EXPECT_EQ(base_unit("bits per second").unit, "bytes per second");
    EXPECT_EQ(base_unit("bits per second").factor * 1e9, 125e6);
    EXPECT_EQ(base_unit("bits").unit, "bytes");
    EXPECT_EQ(base_unit("milliseconds").unit, "seconds");
    EXPECT_EQ(base_unit("milliseconds").factor * 250, 0.25);
    EXPECT_EQ(base_unit("days").factor, 86400);
}

TEST(BaseUnit, EverythingElseStaysAsItIs) {
    for (const char* unit : {"", "bytes", "seconds", "percent", "packets per second", "celsius"}) {
        EXPECT_EQ(base_unit(unit).unit, unit);
        EXPECT_EQ(base_unit(unit).factor, 1);
    }
}

}  // namespace
}  // namespace pollux::observe
