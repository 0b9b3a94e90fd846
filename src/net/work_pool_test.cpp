#include "net/work_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace pollux::net {
namespace {

TEST(WorkPool, RunsWhatWasAcceptedBeforeItEnds) {
    std::atomic<int> ran = 0;
    {
        WorkPool pool(3, 1000);
        for (int i = 0; i < 500; ++i) ASSERT_TRUE(pool.submit([&ran] { ++ran; }));
    }
    EXPECT_EQ(ran, 500);
}

TEST(WorkPool, RefusesWhatItCannotQueue) {
    std::promise<void> go;
    std::promise<void> started;
    std::atomic<int> ran = 0;
    {
        WorkPool pool(1, 2);
        ASSERT_TRUE(pool.submit([&, wait = go.get_future()]() mutable {
            started.set_value();
            wait.wait();
        }));
        started.get_future().wait();
        EXPECT_TRUE(pool.submit([&ran] { ++ran; }));
        EXPECT_TRUE(pool.submit([&ran] { ++ran; }));
        EXPECT_EQ(pool.waiting(), 2U);
        const base::Status refused = pool.submit([&ran] { ++ran; });
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, "net.pool-full");
        EXPECT_EQ(refused.error().error_class, base::ErrorClass::kTransient);
        go.set_value();
    }
    EXPECT_EQ(ran, 2);
}

TEST(WorkPool, UsesAllItsThreads) {
    std::promise<void> first;
    std::promise<void> second;
    WorkPool pool(2, 10);  // goes first, and waits for its work
    // Each waits for the other: one thread alone would never end.
    ASSERT_TRUE(pool.submit([&, other = second.get_future()]() mutable {
        first.set_value();
        other.wait();
    }));
    ASSERT_TRUE(pool.submit([&, other = first.get_future()]() mutable {
        second.set_value();
        other.wait();
    }));
}

TEST(WorkPool, TakesWorkFromManyThreads) {
    std::atomic<int> ran = 0;
    std::atomic<int> accepted = 0;
    {
        WorkPool pool(2, 64);
        std::vector<std::thread> callers;
        for (int i = 0; i < 4; ++i) {
            callers.emplace_back([&] {
                for (int k = 0; k < 200; ++k) {
                    if (pool.submit([&ran] { ++ran; })) ++accepted;
                }
            });
        }
        for (std::thread& caller : callers) caller.join();
    }
    EXPECT_EQ(ran, accepted);
    EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace pollux::net
