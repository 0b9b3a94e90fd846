#include "base/uuid.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pollux::base {
namespace {

TEST(Uuid, HasTheExampleOfTheStandard) {
    // RFC 9562, appendix A.6: Tuesday, February 22, 2022 2:22:22.00 PM GMT-05:00.
    EXPECT_EQ(make_uuid7(WallTime{1'645'557'742'000'000}, 0xCC3, 0x18C4DC0C0C07398FULL),
              "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

TEST(Uuid, VersionAndVariantStandWhateverTheBits) {
    const auto all = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(make_uuid7(WallTime{0}, all, all), "00000000-0000-7fff-bfff-ffffffffffff");
    EXPECT_EQ(make_uuid7(WallTime{0}, 0, 0), "00000000-0000-7000-8000-000000000000");
    EXPECT_EQ(make_uuid7(WallTime::min(), 0, 0), "00000000-0000-7000-8000-000000000000");
}

TEST(Uuid, LaterOnesSortLater) {
    EXPECT_LT(make_uuid7(WallTime{1'000'000}, ~0ULL, ~0ULL), make_uuid7(WallTime{1'001'000}, 0, 0));
}

TEST(Uuid, KnowsItsForm) {
    EXPECT_TRUE(is_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
    EXPECT_FALSE(is_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398"));
    EXPECT_FALSE(is_uuid("017f22e2-79b0-7cc3-98c4-dc0c0c07398F"));
    EXPECT_FALSE(is_uuid("017f22e2079b0-7cc3-98c4-dc0c0c07398f"));
    EXPECT_FALSE(is_uuid(""));
}

TEST(Uuid, TellsWhenItWasMade) {
    const WallTime made{1'700'000'123'456'000};
    EXPECT_EQ(uuid7_time(make_uuid7(made, ~0ULL, ~0ULL)), made);
    EXPECT_EQ(uuid7_time(make_uuid7(WallTime{}, 0, 0)), WallTime{});
    EXPECT_EQ(uuid7_time("0190a5e0-0000-4000-8000-000000000000"), std::nullopt) << "another kind";
    EXPECT_EQ(uuid7_time("0190a5e0"), std::nullopt);
    EXPECT_EQ(uuid7_time(""), std::nullopt);
}

}  // namespace
}  // namespace pollux::base
