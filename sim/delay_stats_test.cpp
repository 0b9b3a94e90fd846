#include "sim/delay_stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pollux::sim {
namespace {

constexpr ChangeParameters kQuiet{};  // never changes

// The process with these mean lengths whose first event takes the device down.
ChangeProcess starts_up(double mean_up_s, double mean_down_s) {
    const ChangeParameters parameters{
        .mean_calm_s = mean_up_s, .mean_burst_s = mean_down_s, .kind = ChangeKind::kUpDown};
    for (std::uint64_t seed = 1;; ++seed) {
        ChangeProcess process(parameters, seed);
        if (!process.down()) return process;
    }
}

TEST(DelayStats, EmptyIsZero) {
    const DelayStats stats;
    EXPECT_EQ(stats.mean_s(), 0.0);
    EXPECT_EQ(stats.percentile_s(0.99), 0.0);
}

TEST(DelayStats, PercentilesAgreeWithASortedVector) {
    Rng rng(1);
    DelayStats stats;
    std::vector<std::pair<double, double>> sorted;  // delay, weight
    double weight_sum = 0.0;
    double weighted = 0.0;
    for (int i = 0; i < 100'000; ++i) {
        const double delay_s = rng.exponential(20.0);
        const double weight = rng.uniform() < 0.1 ? 10.0 : 1.0;
        stats.add(delay_s, weight);
        sorted.emplace_back(delay_s, weight);
        weight_sum += weight;
        weighted += weight * delay_s;
    }
    std::sort(sorted.begin(), sorted.end());
    EXPECT_NEAR(stats.mean_s(), weighted / weight_sum, 1e-9);
    for (const double share : {0.5, 0.95, 0.99, 0.9999}) {
        double below = 0.0;
        double expected = 0.0;
        for (const auto& [delay_s, weight] : sorted) {
            below += weight;
            expected = delay_s;
            if (below >= share * weight_sum) break;
        }
        EXPECT_NEAR(stats.percentile_s(share), expected, DelayStats::kBucketSeconds) << share;
    }
    EXPECT_EQ(stats.count(), 100'000U);
    EXPECT_EQ(stats.largest_s(), sorted.back().first);
}

TEST(DelayStats, BeyondTheLimitItIsTheLargest) {
    DelayStats stats;
    stats.add(799.999, 1.0);
    stats.add(800.0, 1.0);
    stats.add(1e30, 1.0);
    EXPECT_NEAR(stats.percentile_s(0.3), 800.0, 0.01);
    EXPECT_EQ(stats.percentile_s(0.99), 1e30);
}

TEST(PollObserver, CountsADelayPerEvent) {
    ChangeProcess process({.rate_per_s = 0.1, .weight = 3.0}, 1);
    const double first_s = process.next_event_s();
    PollObserver observer(1, {});
    const Sight sight = observer.on_poll(0, process, first_s + 2.0);
    EXPECT_TRUE(sight.ok);
    EXPECT_TRUE(sight.changed);
    EXPECT_EQ(sight.tau_s, first_s + 2.0);
    EXPECT_EQ(sight.digest, process.digest());
    const SimMetrics m = observer.metrics(first_s + 2.0);
    EXPECT_EQ(m.events, process.digest());
    EXPECT_EQ(m.polls, 1U);
    EXPECT_LE(m.mean_delay_s, 2.0);
    EXPECT_NEAR(m.freshness, first_s / (first_s + 2.0), 1e-12);
    EXPECT_EQ(m.max_gap_s, first_s + 2.0);
}

TEST(PollObserver, FixedPollingOfPoissonMatchesTheory) {
    constexpr double kInterval = 20.0;
    constexpr double kRate = 0.01;
    constexpr double kWarmUp = 1000.0;
    constexpr double kEnd = 401'000.0;
    std::vector<ChangeProcess> fleet;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        fleet.emplace_back(ChangeParameters{.rate_per_s = kRate}, seed);
    }
    PollObserver observer(fleet.size(), {.warm_up_s = kWarmUp, .bound_s = 15.0});
    for (double now_s = kInterval; now_s <= kEnd; now_s += kInterval) {
        for (std::size_t i = 0; i < fleet.size(); ++i) observer.on_poll(i, fleet[i], now_s);
    }
    const SimMetrics m = observer.metrics(kEnd);
    EXPECT_NEAR(m.mean_delay_s, kInterval / 2.0, 0.1);
    EXPECT_NEAR(m.p50_delay_s, 10.0, 0.2);
    EXPECT_NEAR(m.p95_delay_s, 19.0, 0.1);
    EXPECT_NEAR(m.p99_delay_s, 19.8, 0.05);
    // (1 - e^(-0.2)) / 0.2
    EXPECT_NEAR(m.freshness, 0.90635, 0.002);
    EXPECT_NEAR(m.over_bound_share, 0.25, 1e-4);
    EXPECT_EQ(m.max_gap_s, kInterval);
    EXPECT_NEAR(m.polls_per_s, 1.0, 1e-3);
    EXPECT_EQ(m.polls, 20U * 20'000U);
    EXPECT_NEAR(static_cast<double>(m.events), 20 * kRate * 400'000.0, 1000.0);
    EXPECT_EQ(m.quiet_down_mean_s, 0.0);
    EXPECT_EQ(m.quiet_down_p99_s, 0.0);
}

TEST(PollObserver, OnlyIntervalsAfterTheWarmUpCount) {
    ChangeProcess process(kQuiet, 1);
    PollObserver observer(1, {.warm_up_s = 100.0, .bound_s = 60.0});
    observer.on_poll(0, process, 10.0);
    observer.on_poll(0, process, 99.0);   // previous poll before the warm-up
    observer.on_poll(0, process, 130.0);  // still
    EXPECT_EQ(observer.metrics(130.0).polls, 0U);
    observer.on_poll(0, process, 160.0);
    const SimMetrics m = observer.metrics(160.0);
    EXPECT_EQ(m.polls, 1U);
    EXPECT_EQ(m.max_gap_s, 30.0);
    EXPECT_EQ(m.freshness, 1.0);
    EXPECT_EQ(m.over_bound_share, 0.0);
    EXPECT_EQ(m.polls_per_s, 2.0 / 60.0);  // the load is that of all polls in the measured time
}

TEST(PollObserver, ATargetNeverAskedAgainIsNotForgotten) {
    ChangeProcess process(kQuiet, 1);
    PollObserver observer(2, {.warm_up_s = 100.0, .bound_s = 60.0});
    observer.on_poll(0, process, 200.0);
    const SimMetrics m = observer.metrics(1000.0);
    EXPECT_EQ(m.max_gap_s, 900.0);  // target 1, since the end of the warm-up
    EXPECT_NEAR(m.over_bound_share, (740.0 + 840.0) / 1700.0, 1e-12);
}

TEST(PollObserver, DownTimeIsNotHealthyTime) {
    ChangeProcess process = starts_up(50.0, 1e9);
    const double down_s = process.next_event_s();
    PollObserver observer(1, {.bound_s = 60.0});
    const Sight sight = observer.on_poll(0, process, down_s + 1.0);
    EXPECT_FALSE(sight.ok);
    EXPECT_TRUE(sight.changed);
    const Sight still = observer.on_poll(0, process, down_s + 1001.0);
    EXPECT_FALSE(still.ok);
    EXPECT_FALSE(still.changed);
    const SimMetrics m = observer.metrics(down_s + 5000.0);
    EXPECT_EQ(m.max_gap_s, down_s + 1.0);
}

TEST(PollObserver, QuietDownNeedsAnHourWithoutChange) {
    ChangeProcess process = starts_up(3600.0, 600.0);
    ChangeProcess reference = process;
    std::vector<double> expected;
    PollObserver observer(1, {});
    double last_s = 0.0;
    for (double now_s = 30.0; now_s < 100.0 * kDaySeconds; now_s += 30.0) {
        observer.on_poll(0, process, now_s);
        reference.consume_until(now_s, [&](const ChangeEvent& event) {
            if (event.went_down && event.at_s - last_s >= 3600.0)
                expected.push_back(now_s - event.at_s);
            last_s = event.at_s;
        });
    }
    ASSERT_GT(expected.size(), 300U);
    double sum = 0.0;
    for (const double delay_s : expected) sum += delay_s;
    std::sort(expected.begin(), expected.end());
    const SimMetrics m = observer.metrics(100.0 * kDaySeconds);
    EXPECT_NEAR(m.quiet_down_mean_s, sum / static_cast<double>(expected.size()), 1e-9);
    const std::size_t rank = (expected.size() * 99 + 99) / 100 - 1;
    EXPECT_NEAR(m.quiet_down_p99_s, expected[rank], 0.01);
    EXPECT_LT(expected.size(), m.events / 2);
}

TEST(PollObserver, OutageBetweenTwoPollsCountsButIsNotSeen) {
    ChangeProcess process = starts_up(1000.0, 5.0);
    ChangeProcess reference = process;
    reference.consume_until(reference.next_event_s());
    PollObserver observer(1, {});
    const Sight sight = observer.on_poll(0, process, reference.next_event_s());
    EXPECT_TRUE(sight.ok);
    EXPECT_FALSE(sight.changed);
    EXPECT_EQ(observer.metrics(1.0).events, 2U);
}

// A poll that takes time: changes before the look are known with the result, changes after it are
// left for the next poll but make what is shown wrong at once.
TEST(PollObserver, LookAndResultMayLieApart) {
    ChangeProcess process({.rate_per_s = 0.001}, 5);
    const double event_s = process.next_event_s();
    PollObserver observer(1, {.bound_s = 10.0});
    const Sight before = observer.on_poll(0, process, event_s - 1.0, event_s + 3.0);
    EXPECT_FALSE(before.changed);
    EXPECT_NEAR(observer.metrics(event_s + 3.0).freshness, event_s / (event_s + 3.0), 1e-12);
    const Sight after = observer.on_poll(0, process, event_s + 4.0, event_s + 6.0);
    EXPECT_TRUE(after.changed);
    EXPECT_NEAR(after.tau_s, 5.0, 1e-9);
    const SimMetrics m = observer.metrics(event_s + 6.0);
    EXPECT_NEAR(m.mean_delay_s, 6.0, 1e-9);
    EXPECT_NEAR(m.freshness, event_s / (event_s + 6.0), 1e-12);
    EXPECT_NEAR(m.max_gap_s, event_s + 3.0, 1e-9);  // the age of the data, not the time between
}

}  // namespace
}  // namespace pollux::sim
