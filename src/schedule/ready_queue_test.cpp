#include "schedule/ready_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace pollux::schedule {
namespace {

using base::BootTime;
using model::Tier;
using namespace std::chrono_literals;

BootTime at(double second) { return BootTime{} + base::from_seconds(second); }

class ReadyQueueTest : public testing::Test {
  protected:
    ReadyQueueTest() : queue_(tasks_) {
        for (std::uint16_t c = 0; c < 4; ++c) queue_.set_class_weight(c, 1);
    }
    std::uint32_t ready(std::uint16_t class_index, Tier tier, BootTime since) {
        const std::uint32_t task = tasks_.add("t::" + std::to_string(tasks_.capacity()));
        tasks_[task].class_index = class_index;
        tasks_[task].run_tier = tier;
        push(task, since);
        return task;
    }
    void push(std::uint32_t task, BootTime since) {
        tasks_[task].ready_since = since;
        tasks_[task].place = Place::kReady;
        queue_.push(task);
    }
    void leave(std::uint32_t task) {
        queue_.note_left(task);
        tasks_[task].place = Place::kRunning;
    }
    // Starts up to `limit` tasks in one turn, as the core does; the tasks in order.
    std::vector<std::uint32_t> turn(BootTime now, std::size_t limit = 1'000'000) {
        std::vector<std::uint32_t> order;
        queue_.begin_turn(now);
        while (order.size() < limit) {
            const auto task = queue_.next();
            if (!task) break;
            queue_.started();
            leave(*task);
            order.push_back(*task);
        }
        return order;
    }
    TaskTable tasks_;
    ReadyQueue queue_;
};

using Tasks = std::vector<std::uint32_t>;

TEST_F(ReadyQueueTest, NobodyIsReady) {
    EXPECT_EQ(queue_.size(), 0u);
    EXPECT_EQ(turn(at(1)), Tasks{});
    EXPECT_EQ(queue_.class_count(), 4u);
}

TEST_F(ReadyQueueTest, LongestReadyFirst) {
    const auto a = ready(0, Tier::kNormal, at(1));
    const auto b = ready(0, Tier::kNormal, at(2));
    const auto c = ready(0, Tier::kNormal, at(3));
    EXPECT_EQ(queue_.size(), 3u);
    EXPECT_EQ(queue_.size(0, Tier::kNormal), 3u);
    EXPECT_EQ(turn(at(4)), (Tasks{a, b, c}));
    EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(ReadyQueueTest, HigherTierFirst) {
    const auto low = ready(0, Tier::kLow, at(1));
    const auto normal = ready(1, Tier::kNormal, at(2));
    const auto critical = ready(2, Tier::kCritical, at(4));
    const auto high = ready(0, Tier::kHigh, at(3));
    EXPECT_EQ(turn(at(5)), (Tasks{critical, high, normal, low}));
}

TEST_F(ReadyQueueTest, OneTierHigherForEachStepWaited) {
    EXPECT_EQ(queue_.effective_tier(Tier::kLow, at(0), at(29.999)), Tier::kLow);
    EXPECT_EQ(queue_.effective_tier(Tier::kLow, at(0), at(30)), Tier::kNormal);
    EXPECT_EQ(queue_.effective_tier(Tier::kLow, at(0), at(60)), Tier::kHigh);
    EXPECT_EQ(queue_.effective_tier(Tier::kLow, at(0), at(90)), Tier::kCritical);
    EXPECT_EQ(queue_.effective_tier(Tier::kLow, at(0), at(1e9)), Tier::kCritical);
    EXPECT_EQ(queue_.effective_tier(Tier::kHigh, at(0), at(30)), Tier::kCritical);
    EXPECT_EQ(queue_.effective_tier(Tier::kNormal, at(10), at(0)), Tier::kNormal)
        << "a time that went back takes nothing away";
    queue_.set_aging_step(10s);
    EXPECT_EQ(queue_.effective_tier(Tier::kLow, at(0), at(30)), Tier::kCritical);
}

TEST_F(ReadyQueueTest, AnAgedTaskGoesBeforeAFreshOneOfTheSameTier) {
    const auto old_low = ready(0, Tier::kLow, at(0));
    const auto critical = ready(0, Tier::kCritical, at(89));
    EXPECT_EQ(turn(at(89.5), 1), Tasks{critical});
    const auto second = ready(0, Tier::kCritical, at(90));
    EXPECT_EQ(turn(at(91)), (Tasks{old_low, second})) << "aged to critical, and ready for longer";
}

// 1000 of A and 10 of B wait: B is through within 22 starts.
TEST_F(ReadyQueueTest, EqualWeightsTakeTurns) {
    for (int i = 0; i < 1000; ++i) ready(0, Tier::kNormal, at(1));
    std::uint32_t last_b = 0;
    for (int i = 0; i < 10; ++i) last_b = ready(1, Tier::kNormal, at(2));
    const auto order = turn(at(3));
    ASSERT_EQ(order.size(), 1010u);
    const auto place = std::ranges::find(order, last_b) - order.begin();
    EXPECT_LT(place, 22) << "starts until the last of B";
}

TEST_F(ReadyQueueTest, WeightsAreShares) {
    queue_.set_class_weight(0, 3);
    queue_.set_class_weight(1, 1);
    for (int i = 0; i < 600; ++i) {
        ready(0, Tier::kNormal, at(1));
        ready(1, Tier::kNormal, at(1));
    }
    std::map<std::uint16_t, int> starts;
    // In small turns: the share must not depend on where a turn ends.
    for (int i = 0; i < 80; ++i) {
        for (const std::uint32_t task : turn(at(2), 5)) ++starts[tasks_[task].class_index];
    }
    EXPECT_EQ(starts[0] + starts[1], 400);
    EXPECT_NEAR(starts[0], 300, 3);
    EXPECT_NEAR(starts[1], 100, 3);
}

TEST_F(ReadyQueueTest, SmallTurnsAreFairToo) {
    for (int i = 0; i < 100; ++i) {
        for (std::uint16_t c = 0; c < 4; ++c) ready(c, Tier::kNormal, at(1));
    }
    std::map<std::uint16_t, int> starts;
    for (int i = 0; i < 200; ++i) {
        for (const std::uint32_t task : turn(at(2), 1)) ++starts[tasks_[task].class_index];
    }
    for (std::uint16_t c = 0; c < 4; ++c) EXPECT_EQ(starts[c], 50) << "class " << c;
}

TEST_F(ReadyQueueTest, AWeightOfZeroCountsAsOne) {
    queue_.set_class_weight(0, 0);
    const auto a = ready(0, Tier::kNormal, at(1));
    EXPECT_EQ(turn(at(2)), Tasks{a});
}

TEST_F(ReadyQueueTest, ParkedIsNotCharged) {
    std::map<std::uint16_t, int> starts;
    for (int i = 0; i < 50; ++i) ready(0, Tier::kNormal, at(1));
    for (int i = 0; i < 50; ++i) ready(1, Tier::kNormal, at(1));
    queue_.begin_turn(at(2));
    int parked = 0;
    while (const auto task = queue_.next()) {
        if (tasks_[*task].class_index == 0 && parked < 25) {
            queue_.parked();
            leave(*task);
            ++parked;
            continue;
        }
        queue_.started();
        leave(*task);
        if (starts[0] + starts[1] < 20) ++starts[tasks_[*task].class_index];
    }
    EXPECT_EQ(parked, 25);
    EXPECT_EQ(starts[0], 10) << "who was parked took nothing from the share of its class";
    EXPECT_EQ(starts[1], 10);
    EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(ReadyQueueTest, ABlockedClassIsNotAskedAgainInThisTurn) {
    const auto a = ready(0, Tier::kCritical, at(1));
    const auto b = ready(1, Tier::kLow, at(2));
    queue_.begin_turn(at(3));
    EXPECT_EQ(queue_.next(), a);
    queue_.class_blocked();
    EXPECT_EQ(queue_.next(), b) << "others go on";
    queue_.started();
    leave(b);
    EXPECT_EQ(queue_.next(), std::nullopt);
    EXPECT_EQ(queue_.size(), 1u) << "it is still ready";
    EXPECT_EQ(turn(at(4)), Tasks{a});
}

TEST_F(ReadyQueueTest, WhoComesBackKeepsThePlaceThatItHad) {
    const auto first = ready(0, Tier::kNormal, at(1));
    const auto second = ready(0, Tier::kNormal, at(2));
    const auto third = ready(0, Tier::kNormal, at(3));
    leave(first);
    leave(second);
    tasks_[first].place = Place::kDeviceQueue;
    tasks_[second].place = Place::kDeviceQueue;
    push(second, at(2));
    push(first, at(1));
    EXPECT_EQ(queue_.size(), 3u);
    EXPECT_EQ(turn(at(5)), (Tasks{first, second, third}));
}

TEST_F(ReadyQueueTest, WhoLeftIsNotChosen) {
    const auto a = ready(0, Tier::kNormal, at(1));
    const auto b = ready(0, Tier::kNormal, at(2));
    const auto c = ready(0, Tier::kHigh, at(3));
    leave(a);
    leave(c);
    EXPECT_EQ(queue_.size(), 1u);
    EXPECT_EQ(turn(at(5)), Tasks{b});
}

// Among equals of its tier the classes take turns, so the place is an estimate from the age.
TEST_F(ReadyQueueTest, PlaceInLine) {
    const auto low = ready(0, Tier::kLow, at(0));
    const auto a = ready(0, Tier::kNormal, at(1));
    const auto b = ready(1, Tier::kNormal, at(2));
    const auto critical = ready(2, Tier::kCritical, at(3));
    EXPECT_EQ(queue_.place_in_line(critical, at(4)), 0u);
    EXPECT_EQ(queue_.place_in_line(a, at(4)), 1u);
    EXPECT_EQ(queue_.place_in_line(b, at(4)), 2u);
    EXPECT_EQ(queue_.place_in_line(low, at(4)), 3u);
    EXPECT_EQ(queue_.place_in_line(low, at(30)), 1u) << "aged to normal, and ready first";
    leave(a);
    EXPECT_EQ(queue_.place_in_line(b, at(4)), 1u) << "who left is not counted";
}

// Its old entry is still there and looks alive again.
TEST_F(ReadyQueueTest, WhoLeavesAndComesBackIsCountedOnce) {
    const auto a = ready(0, Tier::kNormal, at(1));
    const auto b = ready(0, Tier::kNormal, at(2));
    leave(a);
    push(a, at(1));
    EXPECT_EQ(queue_.place_in_line(b, at(4)), 1u);
}

TEST_F(ReadyQueueTest, MemoryFollowsTheReadyTasks) {
    const std::size_t empty = queue_.memory_bytes();
    for (int i = 0; i < 1000; ++i) ready(0, Tier::kNormal, at(1));
    EXPECT_GE(queue_.memory_bytes(), empty + 1000 * 16);
    turn(at(2));
    queue_.begin_turn(at(3));
    EXPECT_LT(queue_.memory_bytes(), empty + 1000 * 16) << "nothing is kept for who started";
}

TEST_F(ReadyQueueTest, LeavingTwiceIsOurOwnFault) {
    const auto a = ready(0, Tier::kNormal, at(1));
    leave(a);
    EXPECT_DEATH(queue_.note_left(a), "check failed");
}

}  // namespace
}  // namespace pollux::schedule
