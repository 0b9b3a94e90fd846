// Quiet hours, silences and acknowledgements: nothing leaks, nothing is forgotten. Named after what
// people complained about in other systems.
#include <gtest/gtest.h>

#include "alert/planner_test_support.hpp"

namespace pollux::alert {
namespace {

using model::Severity;
using testing::hours;
using testing::kStart;
using testing::Lines;
using testing::minutes;
using testing::seconds;
using testing::World;

// Quiet from 13:00 to 15:00; the world begins at 12:00.
World quiet_world() {
    World world;
    world.routes[0].quiet = {{"0 13 * * *", hours(2), "UTC"}};
    world.configure();
    return world;
}

TEST(PlannerRegression, QuietHoursLeakRecoveries) {
    World world = quiet_world();
    const std::string incident = world.open("web");
    world.advance(minutes(90));
    ASSERT_EQ(world.told(), Lines{"problem ops"});
    world.resolve(incident);
    world.run_until(kStart + hours(2) + minutes(59));
    EXPECT_EQ(world.sent.size(), 1U) << "a recovery waits like a problem";
    world.run_until(kStart + hours(4));
    EXPECT_EQ(world.told(), (Lines{"problem ops", "recovery ops"}));
    EXPECT_EQ(world.sent[1].made, kStart + hours(3));
}

TEST(PlannerRegression, QuietHoursForgetProblems) {
    World world = quiet_world();
    world.advance(minutes(90));
    world.open("web");
    world.run_until(kStart + hours(2) + minutes(59));
    EXPECT_TRUE(world.sent.empty());
    world.run_until(kStart + hours(4));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
}

TEST(PlannerRegression, WhatBeganAndEndedInQuietHoursIsToldInOneSummary) {
    World world = quiet_world();
    world.advance(minutes(90));
    for (const char* device : {"a", "b", "c"}) {
        const std::string incident = world.open(device);
        world.advance(minutes(5));
        world.resolve(incident);
    }
    EXPECT_TRUE(world.sent.empty());
    world.run_until(kStart + hours(4));
    ASSERT_EQ(world.told(), Lines{"digest ops"});
    EXPECT_NE(world.sent[0].body.find("3 incidents: 0 open, 3 over"), std::string::npos)
        << world.sent[0].body;
    EXPECT_EQ(world.planner->cases(), 0U);
    EXPECT_EQ(world.planner->groups(), 0U);
}

TEST(PlannerRegression, AcknowledgedAlertsAreNotifiedAgain) {
    World world;
    world.routes[0].repeat = minutes(10);
    world.receivers.push_back(testing::receiver("lead"));
    world.routes[0].escalation = {{minutes(30), {"lead"}}};
    world.configure();
    const std::string incident = world.open("web", Severity::kMinor);
    world.advance(minutes(1));
    world.acknowledge(incident);
    // Polls go on, and each gives the alert again with a new time and count.
    for (int i = 0; i < 200; ++i) {
        world.advance(seconds(20));
        ++world.root(incident).occurrences;
        world.root(incident).last_seen = world.now;
        ++world.root(incident).version;
        world.give(incident);
    }
    world.set_severity(incident, Severity::kCritical);
    world.restart();
    world.advance(hours(2));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
}

TEST(PlannerRegression, AcknowledgedBeforeItWasToldIsNotTold) {
    World world;
    world.configure();
    const std::string incident = world.open("web");
    world.acknowledge(incident);
    world.advance(hours(1));
    world.resolve(incident);
    world.advance(hours(1));
    EXPECT_TRUE(world.sent.empty());
}

TEST(PlannerRegression, BurstOfResolvedMessagesAfterARestart) {
    World world;
    world.receivers = {testing::receiver("ops", 10)};
    world.configure();
    std::vector<std::string> incidents;
    for (int i = 0; i < 200; ++i) {
        incidents.push_back(world.open("guest-" + std::to_string(i)));
        world.advance(seconds(10));
    }
    const std::size_t before = world.sent.size();
    world.restart();
    world.advance(minutes(2));
    // All were found well while the monitor was starting.
    for (const std::string& incident : incidents) world.resolve(incident);
    world.advance(minutes(1));
    EXPECT_LE(world.sent.size() - before, 11U + 1U) << "ten messages, then one digest";
    world.advance(minutes(5));
    EXPECT_EQ(world.told().back(), "digest ops");
    // And those that were told before are not told again by the next restart.
    const std::size_t after = world.sent.size();
    world.restart();
    for (const std::string& incident : incidents) world.give(incident);
    world.advance(hours(1));
    EXPECT_EQ(world.sent.size(), after);
}

TEST(PlannerRegression, ADisabledAlertIsStillSent) {
    World world;
    world.configure();
    world.silence("off", "web", hours(8));
    const std::string incident = world.open("web");
    world.advance(hours(1));
    world.resolve(incident);
    world.advance(hours(10));
    EXPECT_TRUE(world.sent.empty()) << "began and ended within a silence";
}

TEST(PlannerHold, WhatIsOpenWhenItsSilenceEndsIsToldThen) {
    World world;
    world.configure();
    world.silence("work", "web", hours(2));
    world.open("web");
    world.open("db");
    world.advance(hours(1));
    EXPECT_EQ(world.told(), Lines{"problem ops"}) << "only of db";
    world.advance(hours(2));
    ASSERT_EQ(world.told(), (Lines{"problem ops", "problem ops"}));
    EXPECT_EQ(world.sent[1].made, kStart + hours(2));
}

TEST(PlannerHold, ASilenceHoldsRecoveriesToo) {
    World world;
    world.configure();
    const std::string incident = world.open("web");
    world.advance(minutes(10));
    world.silence("work", "web", hours(2));
    world.resolve(incident);
    world.advance(hours(1));
    EXPECT_EQ(world.sent.size(), 1U);
    EXPECT_TRUE(world.planner->end_silence("work", world.now));
    world.advance(minutes(1));
    EXPECT_EQ(world.told(), (Lines{"problem ops", "recovery ops"}));
}

TEST(PlannerHold, AFlexibleSilenceBeginsWithTheFirstAlert) {
    World world;
    world.configure();
    model::Silence silence;
    silence.id = "patch";
    silence.matchers = {{"device", model::MatchOperator::kEqual, "web"}};
    silence.kind = model::SilenceKind::kFlexible;
    silence.from = world.now;
    silence.until = world.now + hours(6);
    silence.duration = hours(1);
    ASSERT_TRUE(world.planner->put_silence(silence));
    world.advance(hours(3));
    world.open("web");
    EXPECT_EQ(world.silences.at("patch").started, kStart + hours(3)) << "handed out to be stored";
    world.advance(minutes(59));
    EXPECT_TRUE(world.sent.empty());
    world.advance(minutes(2));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
}

}  // namespace
}  // namespace pollux::alert
