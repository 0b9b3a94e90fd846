#include "feed/sentinel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::feed {
namespace {

using namespace std::chrono_literals;

constexpr base::BootTime at(base::Duration time) { return base::BootTime{} + time; }

TEST(Heartbeat, BeatsEachIntervalWhileWeAreWell) {
    Heartbeat heartbeat(30s, at(0s));
    EXPECT_TRUE(heartbeat.due(at(0s), true));
    EXPECT_FALSE(heartbeat.due(at(29s), true));
    EXPECT_TRUE(heartbeat.due(at(30s), true));
    EXPECT_FALSE(heartbeat.due(at(60s), false)) << "unwell: silence";
    EXPECT_FALSE(heartbeat.due(at(61s), true)) << "and it is not made up for";
    EXPECT_TRUE(heartbeat.due(at(90s), true));
    // After a sleep one is sent, not all that were missed.
    EXPECT_TRUE(heartbeat.due(at(1000s), true));
    EXPECT_FALSE(heartbeat.due(at(1001s), true));
    EXPECT_EQ(heartbeat.next(), at(1020s));
}

TEST(PeerWatch, ThreeMissesRaiseOnceAndRecoveryIsToldOnce) {
    PeerWatch watch;
    const base::WallTime now{1'000'000};
    EXPECT_EQ(watch.checked(true, now), PeerChange::kFound);
    EXPECT_EQ(watch.checked(false, now + 30s), PeerChange::kNone);
    EXPECT_EQ(watch.checked(false, now + 60s), PeerChange::kNone);
    EXPECT_EQ(watch.checked(false, now + 90s), PeerChange::kLost);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(watch.checked(false, now + 120s), PeerChange::kNone);
    EXPECT_TRUE(watch.lost());
    EXPECT_EQ(watch.last_seen(), now);
    EXPECT_EQ(watch.checked(true, now + 200s), PeerChange::kRecovered);
    EXPECT_EQ(watch.checked(true, now + 230s), PeerChange::kNone);
    EXPECT_EQ(watch.last_seen(), now + 230s);
}

TEST(PeerWatch, OneThatFlickersIsNotLost) {
    PeerWatch watch;
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(watch.checked(i % 3 == 2, base::WallTime{i}),
                  i == 2 ? PeerChange::kFound : PeerChange::kNone);
    }
    EXPECT_FALSE(watch.lost());
}

TEST(PeerWatch, OneThatNeverAnsweredIsLostToo) {
    PeerWatch watch;
    watch.checked(false, {});
    watch.checked(false, {});
    EXPECT_EQ(watch.checked(false, {}), PeerChange::kLost);
    EXPECT_EQ(watch.last_seen(), base::WallTime{});
    EXPECT_EQ(watch.checked(true, base::WallTime{1}), PeerChange::kRecovered);
    EXPECT_EQ(watch.checked(true, base::WallTime{2}), PeerChange::kNone);
}

}  // namespace
}  // namespace pollux::feed
