#include "schedule/recovery_spread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/test_random.hpp"

namespace pollux::schedule {
namespace {

using base::BootTime;
using base::Duration;
using namespace std::chrono_literals;

constexpr BootTime kNow{1'000'000'000'000'000};
constexpr Duration kWindow = 10s;

enum class Phases { kEven, kRandom };

// A fleet in its steady state, looked at after a pause: dues are spread over the interval that
// would have followed the end.
std::vector<RecoveringTask> fleet(const std::vector<Duration>& intervals, std::uint32_t count,
                                  Duration downtime, Phases phases = Phases::kEven) {
    base::TestRandom random(5);
    std::vector<RecoveringTask> tasks;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Duration interval = intervals[i % intervals.size()];
        const double phase =
            phases == Phases::kEven ? static_cast<double>(i) / count : random.between(0, 1);
        RecoveringTask one;
        one.task = i;
        one.due = kNow - downtime + base::from_seconds(base::to_seconds(interval) * phase);
        one.interval_ms = static_cast<std::uint32_t>(interval.count() / 1'000'000);
        one.key_hash = random.next();
        tasks.push_back(one);
    }
    return tasks;
}

double steady_rate(const std::vector<RecoveringTask>& tasks) {
    double rate = 0;
    for (const auto& one : tasks) rate += 1e3 / one.interval_ms;
    return rate;
}

// The most starts in any window, when every task goes on at its interval.
std::size_t busiest_window(const std::vector<RecoveringTask>& tasks, Duration horizon,
                           Duration window = kWindow) {
    std::vector<std::int64_t> starts;
    for (const auto& one : tasks) {
        const Duration step = std::chrono::milliseconds(one.interval_ms);
        for (BootTime at = one.due; at < kNow + horizon; at += step) starts.push_back(at.ns);
    }
    std::ranges::sort(starts);
    std::size_t most = 0;
    for (std::size_t first = 0, last = 0; last < starts.size(); ++last) {
        while (starts[last] - starts[first] >= window.count()) ++first;
        most = std::max(most, last - first + 1);
    }
    return most;
}

struct Case {
    std::vector<Duration> intervals;
    Duration downtime;
};

// Long enough to see how the first round meets the second.
Duration two_rounds(const Case& one) {
    return *std::ranges::max_element(one.intervals) * 11 / 10 + kWindow;
}

class RecoverySpread : public testing::TestWithParam<Case> {};

TEST_P(RecoverySpread, NeverMoreThanOneFifthAboveSteady) {
    auto tasks = fleet(GetParam().intervals, 3000, GetParam().downtime);
    const double steady = steady_rate(tasks) * base::to_seconds(kWindow);
    spread_overdue(tasks, kNow);
    const double most = static_cast<double>(busiest_window(tasks, two_rounds(GetParam())));
    // One start at once is allowed for each kind of interval; a window may begin inside a bin.
    const double allowed = static_cast<double>(GetParam().intervals.size()) + 1;
    EXPECT_LE(most, 1.2 * steady + allowed + 1e-6) << "steady would be " << steady;
}

// A bin that is more than full by chance must take room from its neighbours.
TEST_P(RecoverySpread, NeitherWhenThePhasesWereUneven) {
    auto tasks = fleet(GetParam().intervals, 3000, GetParam().downtime, Phases::kRandom);
    // What was planned already, and is kept, may be above that by chance.
    auto planned = tasks;
    std::erase_if(planned, [](const auto& one) { return one.due <= kNow; });
    const double kept = static_cast<double>(busiest_window(planned, two_rounds(GetParam())));
    const double steady = steady_rate(tasks) * base::to_seconds(kWindow);
    spread_overdue(tasks, kNow);
    const double most = static_cast<double>(busiest_window(tasks, two_rounds(GetParam())));
    const double allowed = static_cast<double>(GetParam().intervals.size()) + 1;
    EXPECT_LE(most, std::max(1.2 * steady, kept) + allowed + 1e-6) << "steady would be " << steady;
}

TEST_P(RecoverySpread, EverybodyIsCoveredWithinOneInterval) {
    auto tasks = fleet(GetParam().intervals, 3000, GetParam().downtime);
    const auto before = tasks;
    spread_overdue(tasks, kNow);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        ASSERT_GE(tasks[i].due, kNow) << "nobody is planned into the past";
        ASSERT_LE(tasks[i].due, kNow + std::chrono::milliseconds(tasks[i].interval_ms));
        if (before[i].due > kNow) {
            ASSERT_EQ(tasks[i].due, before[i].due) << "who is not overdue keeps its time";
        }
    }
}

TEST_P(RecoverySpread, TheSameOnEveryMachine) {
    auto a = fleet(GetParam().intervals, 3000, GetParam().downtime);
    auto b = a;
    std::ranges::reverse(b);
    spread_overdue(a, kNow);
    spread_overdue(b, kNow);
    std::ranges::reverse(b);
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].due, b[i].due) << "the order of the rows must not matter";
    }
}

INSTANTIATE_TEST_SUITE_P(Fleets, RecoverySpread,
                         testing::Values(Case{{10s}, 1s}, Case{{10s}, 30s}, Case{{10s}, 2h},
                                         Case{{60s}, 1s}, Case{{60s}, 30s}, Case{{60s}, 2h},
                                         Case{{300s}, 1s}, Case{{300s}, 30s}, Case{{300s}, 2h},
                                         Case{{10s, 60s}, 30s}, Case{{10s, 60s, 300s}, 1s},
                                         Case{{10s, 60s, 300s}, 30s}, Case{{10s, 60s, 300s}, 2h}));

// Far fewer tasks than bins: a bin with one start has much more than its share, and the empty ones
// around it must not be filled as if they were free.
TEST(RecoverySpreadOfFew, NoSecondIsCrowded) {
    for (const std::uint32_t count : {12U, 60U, 200U}) {
        for (const Duration downtime : {300ms, 1000ms, 2500ms}) {
            auto tasks = fleet({4s}, count, downtime);
            spread_overdue(tasks, kNow);
            EXPECT_LE(static_cast<double>(busiest_window(tasks, 9s, 1s)), 1.2 * count / 4 + 3)
                << count << " tasks, " << base::to_seconds(downtime) << " s";
        }
    }
}

TEST(RecoverySpreadOrder, CriticalThenLongestOverdue) {
    std::vector<RecoveringTask> tasks;
    const std::array<model::Tier, 4> tiers = {model::Tier::kLow, model::Tier::kNormal,
                                              model::Tier::kHigh, model::Tier::kCritical};
    for (std::uint32_t i = 0; i < 400; ++i) {
        tasks.push_back(
            {i, kNow - std::chrono::seconds(1 + (i * 37) % 400), 60'000, tiers[i % 4], i});
    }
    const auto stored = tasks;
    spread_overdue(tasks, kNow);
    std::ranges::sort(tasks, {}, &RecoveringTask::due);
    for (std::size_t i = 1; i < tasks.size(); ++i) {
        const auto& before = tasks[i - 1];
        const auto& after = tasks[i];
        ASSERT_GE(before.tier, after.tier) << "place " << i;
        if (before.tier == after.tier) {
            ASSERT_LE(stored[before.task].due, stored[after.task].due) << "place " << i;
        }
    }
    EXPECT_EQ(tasks.front().due, kNow) << "the first one need not wait";
}

TEST(RecoverySpreadOrder, AHandfulStartsSoon) {
    std::vector<RecoveringTask> tasks;
    for (std::uint32_t i = 0; i < 3; ++i) tasks.push_back({i, kNow - 60s, 300'000, {}, i});
    spread_overdue(tasks, kNow);
    std::ranges::sort(tasks, {}, &RecoveringTask::due);
    EXPECT_EQ(tasks[0].due, kNow);
    EXPECT_LE(tasks[1].due, kNow + 90s);
    EXPECT_LE(tasks[2].due, kNow + 180s);
}

TEST(RecoverySpreadOrder, TakesNothingAndIntervalsOfZero) {
    std::vector<RecoveringTask> tasks;
    spread_overdue(tasks, kNow);
    tasks.push_back({0, BootTime::min(), 0, {}, 1});
    tasks.push_back({1, kNow - 1s, 0, {}, 2});
    spread_overdue(tasks, kNow);
    for (const auto& one : tasks) {
        EXPECT_GE(one.due, kNow);
        EXPECT_LE(one.due, kNow + 1ms);
    }
}

}  // namespace
}  // namespace pollux::schedule
