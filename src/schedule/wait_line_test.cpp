#include "schedule/wait_line.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/test_random.hpp"

namespace pollux::schedule {
namespace {

const auto everybody = [](const Waiter&) { return true; };

std::vector<std::uint32_t> drained(WaitLine& line, WaitLine::Group& group) {
    std::vector<std::uint32_t> order;
    while (group.waiting > 0) {
        order.push_back(line.first(group, everybody).task);
        line.take_first(group);
    }
    return order;
}

TEST(WaitLine, TheLowestRankGoesFirst) {
    WaitLine line;
    EXPECT_TRUE(line.empty());
    auto& group = line.group(0, 0);
    line.push(group, {30, 1, 1}, everybody);
    line.push(group, {-10, 2, 1}, everybody);
    line.push(group, {20, 3, 1}, everybody);
    EXPECT_EQ(group.waiting, 3U);
    EXPECT_EQ(drained(line, group), (std::vector<std::uint32_t>{2, 3, 1}));
}

TEST(WaitLine, EqualRanksGoByTask) {
    WaitLine line;
    auto& group = line.group(0, 0);
    for (const std::uint32_t task : {5U, 1U, 4U, 2U, 3U}) line.push(group, {7, task, 1}, everybody);
    EXPECT_EQ(drained(line, group), (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
}

TEST(WaitLine, ClassAndDemandMakeAGroup) {
    WaitLine line;
    line.push(line.group(1, 0), {1, 10, 1}, everybody);
    line.push(line.group(1, 2), {1, 11, 1}, everybody);
    line.push(line.group(2, 0), {1, 12, 1}, everybody);
    line.push(line.group(1, 0), {2, 13, 1}, everybody);
    EXPECT_EQ(line.groups().size(), 3U);
    EXPECT_EQ(line.find(1, 0)->waiting, 2U);
    EXPECT_EQ(line.find(2, 2), nullptr);
    EXPECT_EQ(drained(line, *line.find(1, 0)), (std::vector<std::uint32_t>{10, 13}));
}

TEST(WaitLine, AGroupLivesWhileSomebodyWaitsOrWasCalled) {
    WaitLine line;
    auto& group = line.group(1, 0);
    line.push(group, {1, 10, 1}, everybody);
    line.take_first(group);
    group.called = 1;
    line.drop_empty_groups();
    ASSERT_FALSE(line.empty());
    line.find(1, 0)->called = 0;
    line.drop_empty_groups();
    EXPECT_TRUE(line.empty());
}

TEST(WaitLine, WhoWentElsewhereIsPassedOver) {
    WaitLine line;
    auto& group = line.group(0, 0);
    const auto odd = [](const Waiter& waiter) { return waiter.task % 2 == 1; };
    for (std::uint32_t task = 0; task < 6; ++task) line.push(group, {task, task, 1}, odd);
    group.waiting = 3;
    EXPECT_EQ(line.first(group, odd).task, 1U);
    line.take_first(group);
    EXPECT_EQ(line.first(group, odd).task, 3U);
}

TEST(WaitLine, TheDeadDoNotPileUp) {
    WaitLine line;
    auto& group = line.group(0, 0);
    base::TestRandom random(1);
    std::set<std::uint32_t> living;
    const auto live = [&](const Waiter& waiter) { return living.contains(waiter.ticket); };
    for (std::uint32_t ticket = 1; ticket < 10'000; ++ticket) {
        line.push(group, {static_cast<std::int64_t>(random.below(500)), ticket % 7, ticket}, live);
        living.insert(ticket);
        if (living.size() > 20) {
            living.erase(living.begin());
            --group.waiting;
        }
    }
    EXPECT_LE(group.heap.size(), 70U);
    std::int64_t last = -1;
    for (; group.waiting > 0; line.take_first(group)) {
        const Waiter& waiter = line.first(group, live);
        ASSERT_GE(waiter.rank, last);
        ASSERT_TRUE(living.contains(waiter.ticket));
        last = waiter.rank;
    }
}

}  // namespace
}  // namespace pollux::schedule
