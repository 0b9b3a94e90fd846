#include "schedule/timing_table.hpp"

#include <gtest/gtest.h>

namespace pollux::schedule {
namespace {

Timing timing(std::uint32_t base_ms, std::uint16_t class_index = 0, std::uint32_t own_bound = 0) {
    return {base_ms, base_ms, base_ms, 30'000, own_bound, class_index};
}

TEST(TimingTable, EqualTimingsAreStoredOnce) {
    TimingTable table;
    const std::uint32_t a = table.acquire(timing(10'000));
    EXPECT_EQ(table.acquire(timing(10'000)), a);
    const std::uint32_t b = table.acquire(timing(20'000));
    EXPECT_NE(a, b);
    EXPECT_EQ(table[a].base_ms, 10'000u);
    EXPECT_EQ(table[b].base_ms, 20'000u);
    EXPECT_NE(table.acquire(timing(10'000, 1)), a) << "another class may have another bound";
}

TEST(TimingTable, AnEntryGoesWithItsLastUser) {
    TimingTable table;
    const std::uint32_t a = table.acquire(timing(10'000));
    table.acquire(timing(10'000));
    table.release(a);
    EXPECT_EQ(table.acquire(timing(10'000)), a) << "one user was left";
    table.release(a);
    table.release(a);
    const std::uint32_t b = table.acquire(timing(40'000));
    EXPECT_EQ(b, a) << "the entry is free again";
    EXPECT_EQ(table[b].base_ms, 40'000u);
    EXPECT_NE(table.acquire(timing(10'000)), b) << "and the index forgot the old timing";
}

// 60 s by default; where base is more than half of it, twice the base.
TEST(TimingTable, TheBoundWhereNobodySetOne) {
    TimingTable table;
    EXPECT_EQ(table.bound_ms(table.acquire(timing(100))), 60'000u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(10'000))), 60'000u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(30'000))), 60'000u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(30'001))), 60'002u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(300'000))), 600'000u);
}

TEST(TimingTable, ThatOfTheTaskWinsOverThatOfTheClass) {
    TimingTable table;
    table.set_bounds(60'000, {0, 45'000});
    EXPECT_EQ(table.bound_ms(table.acquire(timing(10'000, 0))), 60'000u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(10'000, 1))), 45'000u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(300'000, 1))), 45'000u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(10'000, 1, 20'000))), 20'000u);
    EXPECT_EQ(table.bound_ms(table.acquire(timing(10'000, 2))), 60'000u) << "a class not listed";
}

TEST(TimingTable, NewBoundsHoldForWhatIsInUse) {
    TimingTable table;
    const std::uint32_t plain = table.acquire(timing(10'000));
    const std::uint32_t own = table.acquire(timing(10'000, 0, 25'000));
    table.set_bounds(90'000, {});
    EXPECT_EQ(table.bound_ms(plain), 90'000u);
    EXPECT_EQ(table.bound_ms(own), 25'000u);
    table.set_bounds(90'000, {33'000});
    EXPECT_EQ(table.bound_ms(plain), 33'000u);
}

// The longest base that may be configured is 31 days: twice that does not fit into 32 bits.
TEST(TimingTable, TheBoundOfAVeryLongBaseIsNotShorterThanTheBase) {
    TimingTable table;
    const std::uint32_t month = 31U * 24 * 3600 * 1000;
    EXPECT_GE(table.bound_ms(table.acquire(timing(month))), month);
}

}  // namespace
}  // namespace pollux::schedule
