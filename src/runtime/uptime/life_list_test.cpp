#include "runtime/uptime/life_list.hpp"

#include <gtest/gtest.h>

#include "runtime/uptime/uptime_days.hpp"

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;

const base::WallTime kStart = base::parse_utc("2026-03-10T00:00:00Z").value();
constexpr base::Duration kYear = 24h * 365;
constexpr std::int64_t kSecond = 1'000'000;

TEST(UptimeDays, KeepsWhatIsKnownHoweverFarApart) {
    UptimeDays days;
    days.add(UptimeState::kUp, kStart, kStart + 24h * 80);
    days.add(UptimeState::kUp, kStart + kYear, kStart + kYear + 1h);
    EXPECT_EQ(days.days().size(), 81U);
    EXPECT_TRUE(days.forget_after(day_of(kStart) + 79));
    EXPECT_FALSE(days.forget_after(day_of(kStart) + 79));
    EXPECT_EQ(days.days().size(), 80U);
    days.add(UptimeState::kUp, base::WallTime{}, kStart + 24h * 200);
    EXPECT_EQ(days.days().size(), 90U);
    EXPECT_EQ(days.days().front().day, day_of(kStart) + 110);
    // The same day twice is still a day, or it would not be read again.
    days.add(UptimeState::kUp, kStart + 24h * 199, kStart + 24h * 200);
    EXPECT_EQ(days.days().back().sum.up_us, 24 * 3600 * kSecond);
}

TEST(LifeList, AClockThatWasSetBackCutsALittleAndNotALot) {
    LifeList lives;
    EXPECT_FALSE(lives.begin(kStart));
    lives.touch(kStart + 48h);
    EXPECT_FALSE(lives.begin(kStart + kYear));
    lives.touch(kStart + kYear + 5min);
    EXPECT_TRUE(lives.begin(kStart + 47h));
    ASSERT_EQ(lives.lives().size(), 2U);
    EXPECT_EQ(lives.lives()[0], (LifeList::Life{kStart, kStart + 47h}));
    EXPECT_EQ(lives.lives()[1], (LifeList::Life{kStart + 47h, kStart + 47h}));
    EXPECT_FALSE(lives.begin(kStart - kYear));
    EXPECT_EQ(lives.lives().back().from, kStart + 47h);
}

TEST(LifeList, IsBoundedAndKeepsItsOrder) {
    LifeList lives;
    for (int i = 0; i < 1000; ++i) {
        lives.begin(kStart + 1h * i);
        lives.touch(kStart + 1h * i + 30min);
    }
    EXPECT_EQ(lives.lives().size(), LifeList::kMost);
    EXPECT_EQ(lives.lives().front().from, kStart);
    base::Duration seen{};
    lives.seen(kStart + 24h * 40, kStart + 24h * 41,
               [&](base::WallTime from, base::WallTime until) { seen += until - from; });
    EXPECT_EQ(seen, 12h);
    lives.begin(kStart);  // a clock that was set back
    EXPECT_EQ(lives.lives().back().from, kStart + 999h + 30min);
    lives.forget_before(kStart + 24h * 365);
    EXPECT_EQ(lives.lives().size(), 1U);
}

}  // namespace
}  // namespace pollux::runtime
