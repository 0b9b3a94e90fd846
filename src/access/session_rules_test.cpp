#include "access/session_rules.hpp"

#include <gtest/gtest.h>

namespace pollux::access {
namespace {

using namespace std::chrono_literals;

constexpr base::WallTime kMade{1'800'000'000'000'000};

TEST(SessionRules, EndsWhenIdleForADay) {
    const SessionLimits limits;
    EXPECT_TRUE(session_lives(limits, kMade, kMade, true, kMade + 24h - 1us));
    EXPECT_FALSE(session_lives(limits, kMade, kMade, true, kMade + 24h));
    EXPECT_TRUE(session_lives(limits, kMade, kMade + 23h, true, kMade + 40h));
}

TEST(SessionRules, EndsAfterItsLifeHoweverBusyItIs) {
    const SessionLimits limits;
    EXPECT_FALSE(session_lives(limits, kMade, kMade + 24h - 1s, false, kMade + 24h));
    EXPECT_TRUE(session_lives(limits, kMade, kMade + 24h - 1s, true, kMade + 24h));
    EXPECT_TRUE(session_lives(limits, kMade, kMade + 720h - 1s, true, kMade + 720h - 1us));
    EXPECT_FALSE(session_lives(limits, kMade, kMade + 720h - 1s, true, kMade + 720h));
}

TEST(SessionRules, AClockThatWasSetBackEndsWhatCameFromLater) {
    const SessionLimits limits;
    EXPECT_TRUE(session_lives(limits, kMade, kMade, false, kMade - 1min));
    EXPECT_FALSE(session_lives(limits, kMade, kMade, false, kMade - 1h));
    EXPECT_FALSE(session_lives(limits, kMade - 2h, kMade, false, kMade - 1h));
}

}  // namespace
}  // namespace pollux::access
