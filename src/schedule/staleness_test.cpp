#include "schedule/staleness.hpp"

#include <gtest/gtest.h>

namespace pollux::schedule {
namespace {

using base::BootTime;
using base::Duration;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr BootTime kNow{1'000'000'000'000'000};

StalenessScore score_at_age(Duration age, Duration max_stale = kDefaultMaxStale) {
    return staleness_score(
        {.tracked = true, .last_success = kNow - age, .now = kNow, .max_stale = max_stale});
}

TEST(Staleness, GrowsWithAgeUpToOne) {
    EXPECT_EQ(score_at_age(Duration::zero()), (StalenessScore{0, true}));
    EXPECT_DOUBLE_EQ(score_at_age(seconds(45), seconds(60)).score, 0.75);
    EXPECT_EQ(score_at_age(seconds(60), seconds(60)).score, 1);
    EXPECT_EQ(score_at_age(seconds(600), seconds(60)).score, 1);
    EXPECT_GT(score_at_age(nanoseconds(1)).score, 0);
}

TEST(Staleness, DefaultBound) {
    for (const Duration bound : {Duration::zero(), Duration{seconds(-300)}}) {
        EXPECT_DOUBLE_EQ(score_at_age(seconds(150), bound).score, 0.5);
    }
}

TEST(Staleness, SuccessInTheFutureIsFresh) {
    EXPECT_EQ(score_at_age(minutes(-60)), (StalenessScore{0, true}));
}

TEST(Staleness, NeverSucceededIsStaleAndUntrackedIsUnknown) {
    StalenessInput input;
    input.now = kNow;
    EXPECT_EQ(staleness_score(input), (StalenessScore{0, false}));
    input.tracked = true;
    EXPECT_EQ(staleness_score(input), (StalenessScore{1, true}));
    input.tracked = false;
    input.last_success = kNow - seconds(10);
    EXPECT_EQ(staleness_score(input), (StalenessScore{0, false}));
}

TEST(Staleness, ExtremeTimesStayInRange) {
    const StalenessScore score =
        staleness_score({.tracked = true, .last_success = BootTime::min(), .now = BootTime::max()});
    EXPECT_EQ(score, (StalenessScore{1, true}));
}

}  // namespace
}  // namespace pollux::schedule
