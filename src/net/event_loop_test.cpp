#include "net/event_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace pollux::net {
namespace {

using std::chrono::milliseconds;

class EventLoopTest : public testing::Test {
  protected:
    void turn(base::Duration longest = milliseconds(200)) { loop->run_once(longest); }

    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
};

struct PipeReader final : FdHandler {
    explicit PipeReader(EventLoop& the_loop) : loop(the_loop) {
        if (pipe(fds.data()) != 0) std::abort();
    }
    ~PipeReader() {
        close(fds[0]);
        close(fds[1]);
    }
    void on_ready(int fd, std::uint32_t events) override {
        seen |= events;
        char byte = 0;
        if (read(fd, &byte, 1) == 1) got += byte;
        if (also_unwatch >= 0) loop.unwatch(also_unwatch);
    }
    void write_byte(char byte) { ASSERT_EQ(write(fds[1], &byte, 1), 1); }

    EventLoop& loop;
    std::array<int, 2> fds{};
    std::string got;
    std::uint32_t seen = 0;
    int also_unwatch = -1;
};

TEST_F(EventLoopTest, CallsWhoWaitsForADescriptor) {
    PipeReader reader(*loop);
    ASSERT_TRUE(loop->watch(reader.fds[0], EPOLLIN, reader));
    reader.write_byte('a');
    turn();
    EXPECT_EQ(reader.got, "a");
    turn(milliseconds(1));
    EXPECT_EQ(reader.got, "a");
    loop->unwatch(reader.fds[0]);
    reader.write_byte('b');
    turn(milliseconds(1));
    EXPECT_EQ(reader.got, "a");
    EXPECT_EQ(loop->watched(), 0U);
}

TEST_F(EventLoopTest, DoesNotCallWhatWasUnwatchedInTheSameTurn) {
    PipeReader first(*loop);
    PipeReader second(*loop);
    ASSERT_TRUE(loop->watch(first.fds[0], EPOLLIN, first));
    ASSERT_TRUE(loop->watch(second.fds[0], EPOLLIN, second));
    first.also_unwatch = second.fds[0];
    second.also_unwatch = first.fds[0];
    first.write_byte('x');
    second.write_byte('x');
    turn();
    EXPECT_EQ(first.got.size() + second.got.size(), 1U);
}

TEST_F(EventLoopTest, AnEventOfAnEarlierUseOfADescriptorIsNotDelivered) {
    PipeReader first(*loop);
    PipeReader second(*loop);
    ASSERT_TRUE(loop->watch(first.fds[0], EPOLLIN, first));
    loop->unwatch(first.fds[0]);
    ASSERT_TRUE(loop->watch(first.fds[0], EPOLLIN, second));
    first.write_byte('x');
    turn();
    EXPECT_EQ(first.got, "");
    EXPECT_EQ(second.got, "x");
    loop->unwatch(first.fds[0]);
}

TEST_F(EventLoopTest, RefusesADescriptorThatIsNone) {
    PipeReader reader(*loop);
    const auto status = loop->watch(900, EPOLLIN, reader);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, "net.system");
    EXPECT_THAT(status.error().message, testing::HasSubstr("900"));
}

TEST_F(EventLoopTest, TimersFireInOrderAndNeverEarly) {
    std::string order;
    Timer late(*loop, [&] { order += 'l'; });
    Timer soon(*loop, [&] { order += 's'; });
    Timer same(*loop, [&] { order += 'm'; });
    const auto start = loop->now();
    late.arm(start + milliseconds(6));
    soon.arm(start + milliseconds(2));
    same.arm(start + milliseconds(2));
    while (late.armed()) {
        turn();
        if (!soon.armed()) {
            EXPECT_GE(loop->now() - start, milliseconds(2));
        }
    }
    EXPECT_GE(loop->now() - start, milliseconds(6));
    EXPECT_EQ(order, "sml");
    EXPECT_EQ(loop->timers(), 0U);
}

TEST_F(EventLoopTest, ATimerCanBeMovedCancelledAndDestroyedInItsOwnCall) {
    int fired = 0;
    auto suicidal = std::make_unique<Timer>(*loop, [] {});
    suicidal = std::make_unique<Timer>(*loop, [&] {
        suicidal.reset();
        ++fired;
    });
    Timer cancelled(*loop, [&] { fired += 100; });
    suicidal->arm(loop->now());
    cancelled.arm(loop->now());
    cancelled.cancel();
    turn();
    EXPECT_EQ(fired, 1);

    Timer moved(*loop, [&] { fired += 10; });
    moved.arm(loop->now());
    moved.arm(loop->now() + std::chrono::hours(1));
    turn(milliseconds(1));
    EXPECT_EQ(fired, 1);
}

TEST_F(EventLoopTest, WhatIsArmedForNowInATurnWaitsForTheNext) {
    int fired = 0;
    Timer again(*loop, [] {});
    Timer* self = nullptr;
    Timer repeating(*loop, [&] {
        ++fired;
        self->arm(loop->now());
    });
    self = &repeating;
    repeating.arm(loop->now());
    turn();
    EXPECT_EQ(fired, 1);
    turn();
    EXPECT_EQ(fired, 2);
}

TEST_F(EventLoopTest, ManyTimersKeepTheirOrder) {
    std::vector<std::unique_ptr<Timer>> timers;
    std::vector<int> fired;
    const auto start = loop->now();
    for (int i = 0; i < 500; ++i) {
        const int rank = (i * 7919) % 500;
        timers.push_back(std::make_unique<Timer>(*loop, [&fired, rank] { fired.push_back(rank); }));
        timers.back()->arm(start + std::chrono::microseconds(rank));
    }
    for (std::size_t i = 0; i < timers.size(); i += 3) timers[i]->cancel();
    while (loop->timers() > 0) turn();
    EXPECT_EQ(fired.size(), 500U - 167U);
    EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST_F(EventLoopTest, RunsWhatOtherThreadsPost) {
    int sum = 0;
    std::thread other([&] {
        for (int i = 1; i <= 1000; ++i) loop->post([&sum, i] { sum += i; });
        loop->post([&] { loop->stop(); });
    });
    loop->run();
    other.join();
    EXPECT_EQ(sum, 500'500);
    EXPECT_TRUE(loop->stopped());
}

TEST_F(EventLoopTest, StopEndsAWaitFromAnotherThread) {
    std::thread other([&] { loop->stop(); });
    loop->run();
    other.join();
}

// A device's answer on one pipe, and somebody who gives up waiting for it after a while.
TEST_F(EventLoopTest, AfterAStallAnswersAreHeardBeforeAnybodyGivesUp) {
    constexpr int kAsked = 400;  // more than one look at the kernel brings
    std::vector<std::unique_ptr<PipeReader>> answers;
    std::vector<std::unique_ptr<Timer>> patience;
    int heard = 0;
    int given_up_on = 0;
    for (int i = 0; i < kAsked; ++i) {
        PipeReader& answer = *answers.emplace_back(std::make_unique<PipeReader>(*loop));
        ASSERT_TRUE(loop->watch(answer.fds[0], EPOLLIN, answer));
        answer.write_byte('a');
        patience.push_back(std::make_unique<Timer>(
            *loop, [&given_up_on, &answer] { given_up_on += answer.got.empty() ? 1 : 0; }));
        patience.back()->arm_in(milliseconds(1));
    }
    std::this_thread::sleep_for(milliseconds(120));
    turn();
    for (const auto& answer : answers) {
        heard += answer->got == "a" ? 1 : 0;
        loop->unwatch(answer->fds[0]);
    }
    EXPECT_EQ(heard, kAsked);
    EXPECT_EQ(given_up_on, 0);
}

TEST_F(EventLoopTest, KnowsItsLongestTurn) {
    loop->post([] { std::this_thread::sleep_for(milliseconds(5)); });
    turn();
    EXPECT_GE(loop->take_longest_turn(), milliseconds(5));
    EXPECT_EQ(loop->take_longest_turn(), base::Duration::zero());
}

}  // namespace
}  // namespace pollux::net
