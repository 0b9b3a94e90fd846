#include "runtime/scheduler_history.hpp"

#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;

constexpr base::WallTime kMidnight{std::int64_t{1'700'006'400} * 1'000'000};

base::WallTime at(base::Duration after) { return kMidnight + after; }

TEST(SchedulerHistory, CountsInSteps) {
    SchedulerHistory history;
    EXPECT_TRUE(history.points(HistorySpan::kQuarter, at(0s)).empty());
    history.started(at(1s), 5ms);
    history.started(at(4s), 5ms);
    history.ended(at(4s), false);
    history.ended(at(6s), true);
    history.seen(at(1s), 3, 1, 10);
    history.seen(at(2s), 1, 2, 9);
    const auto points = history.points(HistorySpan::kQuarter, at(12s));
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(SchedulerHistory::time_of(HistorySpan::kQuarter, points[0]), kMidnight);
    EXPECT_EQ(points[0].started, 2U);
    EXPECT_EQ(points[0].finished, 1U);
    EXPECT_EQ(points[0].failed, 0U);
    EXPECT_EQ(points[0].ready, 3U) << "the most";
    EXPECT_EQ(points[0].in_flight, 2U);
    EXPECT_EQ(points[0].tasks, 10U);
    EXPECT_EQ(points[1].failed, 1U);
    const auto hours = history.points(HistorySpan::kSixHours, at(12s));
    ASSERT_EQ(hours.size(), 1U) << "the only step is shown although it is under way";
    EXPECT_EQ(hours[0].finished, 2U);
}

TEST(SchedulerHistory, LeavesOutTheStepUnderWay) {
    SchedulerHistory history;
    history.started(at(1s), 1ms);
    history.started(at(6s), 1ms);
    EXPECT_EQ(history.points(HistorySpan::kQuarter, at(7s)).size(), 1U);
    EXPECT_EQ(history.points(HistorySpan::kQuarter, at(10s)).size(), 2U);
}

TEST(SchedulerHistory, RingsWrapAndAreBounded) {
    SchedulerHistory history;
    for (int second = 0; second < 100'000; second += 5) {
        history.started(at(std::chrono::seconds(second)), 1ms);
    }
    const auto now = at(100'000s);
    const struct {
        HistorySpan span;
        std::size_t points;
        std::uint32_t each;
    } wanted[] = {{HistorySpan::kQuarter, 179, 1},
                  {HistorySpan::kSixHours, 359, 12},
                  {HistorySpan::kDay, 287, 60}};
    for (const auto& one : wanted) {
        const auto points = history.points(one.span, now);
        ASSERT_EQ(points.size(), one.points);
        for (std::size_t i = 1; i < points.size(); ++i) {
            EXPECT_EQ(points[i].number, points[i - 1].number + 1);
            EXPECT_EQ(points[i].started, one.each);
        }
    }
    EXPECT_TRUE(history.points(HistorySpan::kQuarter, now + 1h).empty());
}

TEST(SchedulerHistory, AClockThatIsSetBackLeavesNothingOfTheFuture) {
    SchedulerHistory history;
    history.started(at(1h), 1ms);
    history.started(at(0s), 1ms);
    EXPECT_EQ(history.points(HistorySpan::kDay, at(6min)).size(), 1U);
}

TEST(SchedulerHistory, QuantilesLieInsideTheirBuckets) {
    SchedulerHistory::Point point;
    EXPECT_EQ(point.lag_quantile(0.5), 0);
    point.started = 100;
    point.lag[0] = 90;  // up to 10 ms
    point.lag[2] = 10;  // 50 to 100 ms
    EXPECT_GT(point.lag_quantile(0.5), 0.001);
    EXPECT_LE(point.lag_quantile(0.5), 0.01);
    EXPECT_NEAR(point.lag_quantile(0.95), 0.075, 0.001);
    point = {};
    point.started = 1;
    point.lag.back() = 1;
    EXPECT_EQ(point.lag_quantile(0.95), 60);
}

}  // namespace
}  // namespace pollux::runtime
