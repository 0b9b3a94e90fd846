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

base::Instant at(base::Duration since) { return {base::BootTime{} + since, kNow + since}; }

TEST(WorkerBoard, TellsWhoIsSilentAndWhoFails) {
    WorkerBoard board;
    board.seen("pollux-io-0", kNow, WorkCounts{1, 20, 3, 4096});
    board.seen("pollux-store", kNow, std::nullopt);
    board.set_failing("pollux-store", true);
    auto rows = board.rows(kNow + 5s);
    ASSERT_THAT(rows, SizeIs(2));
    EXPECT_EQ(rows[0].name, "pollux-io-0");
    EXPECT_EQ(rows[0].kind, "shard");
    EXPECT_EQ(rows[0].status, "ok");
    EXPECT_EQ(rows[0].work, (WorkCounts{1, 20, 3, 4096}));
    EXPECT_EQ(rows[1].kind, "store");
    EXPECT_EQ(rows[1].status, "failing");
    rows = board.rows(kNow + 6s);
    EXPECT_EQ(rows[0].status, "silent");
    EXPECT_EQ(rows[0].last_seen, kNow);
}

TEST(WorkerBoard, AddsUpThreadsOfOneNameAndComparesTwoReadings) {
    WorkerBoard board;
    const base::Instant start = at(1h);
    board.measure({{"pollux-job", 1.0}, {"pollux-job", 2.0}, {"pollux", 5.0}}, start);
    auto rows = board.rows(kNow);
    ASSERT_THAT(rows, SizeIs(2));
    EXPECT_EQ(rows[0].kind, "main");
    EXPECT_EQ(rows[0].status, "running") << "nobody asked it";
    EXPECT_EQ(rows[1].kind, "jobs");
    EXPECT_EQ(rows[1].threads, 2U);
    EXPECT_DOUBLE_EQ(rows[1].cpu_seconds, 3.0);
    EXPECT_DOUBLE_EQ(rows[1].cpu_share, 0.0);
    board.measure({{"pollux-job", 2.0}, {"pollux-job", 2.0}, {"pollux", 5.0}}, at(1h + 4s));
    rows = board.rows(kNow);
    EXPECT_DOUBLE_EQ(rows[0].cpu_share, 0.0);
    EXPECT_DOUBLE_EQ(rows[1].cpu_share, 0.25);
    board.measure({{"pollux-job", 2.0}, {"pollux", 5.0}}, at(1h + 8s));
    EXPECT_DOUBLE_EQ(board.rows(kNow)[1].cpu_share, 0.0) << "one of them ended";
}

TEST(WorkerBoard, KeepsADayInStepsOfFiveMinutes) {
    WorkerBoard board;
    const base::Duration begin = 3800s;  // 100 s after the begin of a step
    board.measure({{"pollux-job", 10.0}, {"pollux-job", 0.0}}, at(begin));
    board.seen("pollux-job", kNow + begin, WorkCounts{1, 20, 3});
    board.measure({{"pollux-job", 12.0}, {"pollux-job", 0.0}}, at(begin + 4s));
    board.seen("pollux-job", kNow + begin, WorkCounts{1, 25, 3});
    board.measure({{"pollux-job", 12.0}, {"pollux-job", 2.0}}, at(begin + 12s));
    EXPECT_THAT(board.points("pollux-job", kNow + begin + 12s), SizeIs(0)) << "under way";
    const auto points = board.points("pollux-job", kNow + begin + 5min);
    ASSERT_THAT(points, SizeIs(1));
    EXPECT_EQ(points[0].at.us % (300 * 1'000'000), 0);
    EXPECT_DOUBLE_EQ(points[0].cpu_share, 4.0 / 24);
    EXPECT_EQ(points[0].completed, 25U);
    EXPECT_EQ(points[0].failed, 3U);
    EXPECT_THAT(board.points("pollux-job", kNow + begin + 24h + 5min), SizeIs(0));
    EXPECT_THAT(board.points("nobody", kNow), SizeIs(0));
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
