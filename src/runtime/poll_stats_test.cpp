#include "runtime/poll_stats.hpp"

#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using model::FailureKind;
using model::Trigger;

TEST(PollStats, CountsByClassAndTarget) {
    PollStats stats(10);
    EXPECT_EQ(stats.of(3), nullptr);
    stats.ended(3, 1, true, FailureKind::kNone, 0.2);
    stats.ended(3, 1, false, FailureKind::kTimeout, 5);
    stats.ended(4, 1, false, FailureKind::kAuth, 0.05);
    ASSERT_NE(stats.of(3), nullptr);
    EXPECT_EQ(stats.of(3)->success, 1U);
    EXPECT_EQ(stats.of(3)->failures(), 1U);
    EXPECT_EQ(stats.of(3)->errors[static_cast<std::size_t>(FailureKind::kTimeout)], 1U);
    EXPECT_DOUBLE_EQ(stats.of(3)->duration.sum(), 5.2);
    EXPECT_EQ(stats.of_class(1).polls.success, 1U);
    EXPECT_EQ(stats.of_class(1).polls.failures(), 2U);
    EXPECT_EQ(stats.of_class(1).polls.duration.total(), 3U);
    EXPECT_EQ(stats.of_class(0).polls.duration.total(), 0U);
    EXPECT_EQ(stats.of_class(900).polls.success, 0U) << "a class nobody polled";
}

TEST(PollStats, WaitsAreNeverNegative) {
    PollStats stats(1);
    stats.started(0, -3);
    stats.started(2, 0.3);
    EXPECT_EQ(stats.of_class(0).wait.counts()[0], 1U);
    EXPECT_EQ(stats.of_class(0).wait.sum(), 0);
    EXPECT_EQ(stats.lag().total(), 2U);
    EXPECT_DOUBLE_EQ(stats.lag().sum(), 0.3);
    EXPECT_EQ(stats.lag().quantile(0.99), 0.5);
}

TEST(PollStats, AboveTheLimitOnlyClassesAreCounted) {
    PollStats stats(2);
    for (std::uint32_t task = 0; task < 5; ++task) {
        stats.ended(task, 0, true, FailureKind::kNone, 0.1);
    }
    EXPECT_NE(stats.of(0), nullptr);
    EXPECT_NE(stats.of(1), nullptr);
    EXPECT_EQ(stats.of(2), nullptr);
    EXPECT_EQ(stats.of_class(0).polls.success, 5U);
    // A place that became free is used by the next one.
    stats.forget(0);
    stats.forget(0);
    stats.forget(4);
    stats.ended(4, 0, true, FailureKind::kNone, 0.1);
    EXPECT_EQ(stats.of(0), nullptr);
    ASSERT_NE(stats.of(4), nullptr);
    EXPECT_EQ(stats.of(4)->success, 1U);
    stats.ended(3, 0, true, FailureKind::kNone, 0.1);
    EXPECT_EQ(stats.of(3), nullptr);
}

TEST(PollStats, TheCountsOfATargetGoWithItThoseOfItsClassStay) {
    PollStats stats(2);
    stats.ended(7, 0, false, FailureKind::kDns, 0.1);
    stats.forget(7);
    stats.forget(1000);
    EXPECT_EQ(stats.of(7), nullptr);
    EXPECT_EQ(stats.of_class(0).polls.failures(), 1U);
    stats.ended(7, 0, true, FailureKind::kNone, 0.1);
    EXPECT_EQ(stats.of(7)->failures(), 0U) << "another task in the same place";
}

TEST(PollStats, ALowerLimitForgetsTargets) {
    PollStats stats(3);
    for (std::uint32_t task = 0; task < 3; ++task) {
        stats.ended(task, 0, true, FailureKind::kNone, 0.1);
    }
    stats.set_target_limit(1);
    EXPECT_EQ(stats.target_limit(), 1U);
    std::size_t left = 0;
    for (std::uint32_t task = 0; task < 3; ++task) left += stats.of(task) != nullptr ? 1U : 0U;
    EXPECT_EQ(left, 1U);
    stats.set_target_limit(2);
    stats.ended(0, 0, true, FailureKind::kNone, 0.1);
    EXPECT_NE(stats.of(0), nullptr);
    stats.set_target_limit(0);
    stats.ended(0, 0, true, FailureKind::kNone, 0.1);
    EXPECT_EQ(stats.of(0), nullptr);
}

TEST(PollStats, CountsRecoveriesByWhatFoundThem) {
    PollStats stats(1);
    stats.recovered(1, Trigger::kProbe);
    stats.recovered(1, Trigger::kProbe);
    stats.recovered(1, Trigger::kJob);
    stats.problems(1, 3);
    const ClassCounts& counts = stats.of_class(1);
    EXPECT_EQ(counts.recoveries[static_cast<std::size_t>(Trigger::kProbe)], 2U);
    EXPECT_EQ(counts.recoveries[static_cast<std::size_t>(Trigger::kJob)], 1U);
    EXPECT_EQ(counts.problems, 3U);
}

}  // namespace
}  // namespace pollux::runtime
