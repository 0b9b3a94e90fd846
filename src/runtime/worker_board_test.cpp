#include "runtime/worker_board.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

constexpr base::WallTime kNow{1'700'000'000'000'000};

TEST(WorkerBoard, TellsWhoIsSilentAndWhoFails) {
    WorkerBoard board;
    board.seen("pollux-io-0", kNow, WorkCounts{1, 20, 3});
    board.seen("pollux-store", kNow, std::nullopt);
    board.set_failing("pollux-store", true);
    auto rows = board.rows(kNow + 5s);
    ASSERT_THAT(rows, SizeIs(2));
    EXPECT_EQ(rows[0].name, "pollux-io-0");
    EXPECT_EQ(rows[0].kind, "shard");
    EXPECT_EQ(rows[0].status, "ok");
    EXPECT_EQ(rows[0].work, (WorkCounts{1, 20, 3}));
    EXPECT_EQ(rows[1].kind, "store");
    EXPECT_EQ(rows[1].status, "failing");
    rows = board.rows(kNow + 6s);
    EXPECT_EQ(rows[0].status, "silent");
    EXPECT_EQ(rows[0].last_seen, kNow);
}

TEST(WorkerBoard, AddsUpThreadsOfOneNameAndComparesTwoReadings) {
    WorkerBoard board;
    const base::BootTime start = base::BootTime{} + 1h;
    board.measure({{"pollux-job", 1.0}, {"pollux-job", 2.0}, {"pollux", 5.0}}, start);
    auto rows = board.rows(kNow);
    ASSERT_THAT(rows, SizeIs(2));
    EXPECT_EQ(rows[0].kind, "main");
    EXPECT_EQ(rows[1].kind, "jobs");
    EXPECT_EQ(rows[1].threads, 2U);
    EXPECT_DOUBLE_EQ(rows[1].cpu_seconds, 3.0);
    EXPECT_DOUBLE_EQ(rows[1].cpu_share, 0.0);
    board.measure({{"pollux-job", 2.0}, {"pollux-job", 2.0}, {"pollux", 5.0}}, start + 4s);
    rows = board.rows(kNow);
    EXPECT_DOUBLE_EQ(rows[0].cpu_share, 0.0);
    EXPECT_DOUBLE_EQ(rows[1].cpu_share, 0.25);
    board.measure({{"pollux-job", 2.0}, {"pollux", 5.0}}, start + 8s);
    EXPECT_DOUBLE_EQ(board.rows(kNow)[1].cpu_share, 0.0) << "one of them ended";
}

TEST(WorkerBoard, TheKernelCountsWhatAThreadTakes) {
    std::atomic<bool> stop = false;
    std::thread busy([&stop] {
        pthread_setname_np(pthread_self(), "pollux-busy");
        while (!stop) {
        }
    });
    double seconds = 0;
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    while (seconds < 0.05 && std::chrono::steady_clock::now() < give_up) {
        for (const ThreadStats& thread : thread_stats()) {
            if (thread.name == "pollux-busy") seconds = thread.cpu_seconds;
        }
    }
    stop = true;
    busy.join();
    EXPECT_GE(seconds, 0.05);
}

}  // namespace
}  // namespace pollux::runtime
