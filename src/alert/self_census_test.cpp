#include "alert/self_census.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::alert {
namespace {

using namespace std::chrono_literals;

// A thousand targets, each polled once a minute, read every ten seconds.
class SelfCensusTest : public ::testing::Test {
  protected:
    SelfSnapshot take(std::vector<SelfReading::Failing> failing, std::uint64_t failures = 0) {
        now += 10s;
        reading.success += 160;
        reading.success_seconds += 16;
        reading.failures += failures;
        reading.failing = std::move(failing);
        SelfSnapshot out;
        census.take(now, reading, out);
        return out;
    }
    static std::vector<SelfReading::Failing> group(std::uint32_t in_row, bool known) {
        std::vector<SelfReading::Failing> out;
        for (std::uint32_t task = 0; task < 100; ++task) out.push_back({task, in_row, known});
        return out;
    }

    SelfCensus census;
    SelfReading reading;
    base::BootTime now{3'600'000'000'000};
};

TEST_F(SelfCensusTest, WhatNobodyKnowsOfIsCounted) {
    take({});
    SelfReading::Failing one{7, 6, false, true, now - 11min};
    const SelfSnapshot self = take({one}, 1);
    EXPECT_EQ(self.dead_letters, 1U);
    EXPECT_EQ(self.open_breakers, 1U);
    EXPECT_EQ(self.longest_open_breaker, 11min + 10s);
    EXPECT_NEAR(*self.success_ratio, 160.0 / 161, 1e-9);
    EXPECT_NEAR(*self.average_poll_s, 0.1, 1e-9);
}

TEST_F(SelfCensusTest, WhatPeopleKnowOfIsLeftOut) {
    take({});
    const SelfSnapshot self = take({{7, 6, true, true, now - 11min}}, 1);
    EXPECT_EQ(self.dead_letters, 0U);
    EXPECT_EQ(self.open_breakers, 0U);
    EXPECT_EQ(self.longest_open_breaker, 0s);
    EXPECT_EQ(self.success_ratio, 1.0);
}

TEST_F(SelfCensusTest, AFailureThatIsToldLaterIsLeftOutFromItsBeginning) {
    take({});
    const SelfSnapshot before = take(group(2, false), 200);
    EXPECT_LT(*before.success_ratio, 0.7);
    const SelfSnapshot told = take(group(3, true), 100);
    EXPECT_EQ(told.success_ratio, 1.0);
}

TEST_F(SelfCensusTest, WhatFailedAndWasWellAtTheNextReadingCounts) {
    take({});
    const SelfSnapshot self = take({}, 40);
    EXPECT_NEAR(*self.success_ratio, 0.8, 1e-9);
}

TEST_F(SelfCensusTest, ANewFailureOfWhatWasKnownOnceIsNotKnown) {
    take({});
    take(group(3, true), 300);
    take({});
    const SelfSnapshot self = take(group(1, false), 100);
    EXPECT_LT(*self.success_ratio, 0.9);
}

TEST_F(SelfCensusTest, RatesAreOfTheLastMinutesOnly) {
    take({});
    take({}, 1000);
    SelfSnapshot self;
    for (int i = 0; i < 32; ++i) self = take({});
    EXPECT_EQ(self.success_ratio, 1.0);
}

TEST_F(SelfCensusTest, WithoutPollsNothingIsMeasured) {
    SelfSnapshot out;
    census.take(now, {}, out);
    census.take(now + 10s, {}, out);
    EXPECT_FALSE(out.success_ratio);
    EXPECT_FALSE(out.average_poll_s);
}

}  // namespace
}  // namespace pollux::alert
