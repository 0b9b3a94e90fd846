#include "schedule/wait_queue.hpp"

#include <gtest/gtest.h>

#include "base/test_random.hpp"

namespace pollux::schedule {
namespace {

std::vector<std::uint32_t> drained(WaitQueue& queue) {
    std::vector<std::uint32_t> order;
    while (!queue.empty()) order.push_back(queue.pop().task);
    return order;
}

TEST(WaitQueue, TheLowestRankGoesFirst) {
    WaitQueue queue;
    EXPECT_TRUE(queue.empty());
    queue.push({30, base::BootTime{1}, 1});
    queue.push({-10, base::BootTime{2}, 2});
    queue.push({20, base::BootTime{3}, 3});
    EXPECT_EQ(queue.size(), 3u);
    const Waiter first = queue.pop();
    EXPECT_EQ(first.task, 2u);
    EXPECT_EQ(first.ready_since, base::BootTime{2});
    EXPECT_EQ(first.rank, -10);
    EXPECT_EQ(drained(queue), (std::vector<std::uint32_t>{3, 1}));
    EXPECT_TRUE(queue.empty());
}

TEST(WaitQueue, EqualRanksGoByTask) {
    WaitQueue queue;
    for (const std::uint32_t task : {5U, 1U, 4U, 2U, 3U}) queue.push({7, base::BootTime{}, task});
    EXPECT_EQ(drained(queue), (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
}

TEST(WaitQueue, DropsTheDeadAndKeepsTheOrder) {
    WaitQueue queue;
    base::TestRandom random(1);
    for (std::uint32_t task = 0; task < 1000; ++task) {
        queue.push({static_cast<std::int64_t>(random.below(500)), base::BootTime{}, task});
    }
    queue.drop([](const Waiter& waiter) { return waiter.task % 3 != 0; });
    EXPECT_EQ(queue.size(), 334u);
    std::int64_t last = -1;
    while (!queue.empty()) {
        const Waiter waiter = queue.pop();
        ASSERT_EQ(waiter.task % 3, 0u);
        ASSERT_GE(waiter.rank, last);
        last = waiter.rank;
    }
}

}  // namespace
}  // namespace pollux::schedule
