#include "alert/notification_planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "alert/planner_test_support.hpp"

namespace pollux::alert {
namespace {

using model::DeliveryState;
using model::Severity;
using ::testing::HasSubstr;
using testing::hours;
using testing::Lines;
using testing::minutes;
using testing::seconds;
using testing::World;

TEST(NotificationPlanner, AnIncidentIsToldOnceAndItsEndOnce) {
    World world;
    world.configure();
    const std::string incident = world.open("web");
    EXPECT_TRUE(world.sent.empty()) << "group_wait holds the first message";
    world.advance(seconds(10));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
    world.give(incident);
    world.give(incident);
    world.advance(hours(10));
    world.resolve(incident);
    world.advance(hours(10));
    EXPECT_EQ(world.told(), (Lines{"problem ops", "recovery ops"}));
    EXPECT_LT(world.sent[0].number, world.sent[1].number);
    EXPECT_EQ(world.sent[0].incident, incident);
    EXPECT_EQ(world.planner->cases(), 0U);
    EXPECT_EQ(world.planner->groups(), 0U);
    EXPECT_EQ(world.rows.size(), 1U) << "what is left is the number";
}

TEST(NotificationPlanner, WhatIsOverBeforeTheFirstMessageIsNotTold) {
    World world;
    world.configure();
    const std::string incident = world.open("web");
    world.advance(seconds(2));
    world.resolve(incident);
    world.advance(hours(1));
    EXPECT_TRUE(world.sent.empty());
    EXPECT_EQ(world.planner->cases(), 0U);
}

TEST(NotificationPlanner, ChildrenOfAnIncidentAreListedNotTold) {
    World world;
    world.configure();
    const std::string incident = world.open("core");
    world.incidents[incident].affected = 50;
    PlannerInput input;
    input.incidents.push_back(world.incidents[incident]);
    for (std::uint64_t i = 0; i < 50; ++i) {
        model::Alert child = world.root(incident);
        child.id = "child-" + std::to_string(i);
        child.number = 100 + i;
        child.state = model::AlertState::kSuppressed;
        child.suppressed_by = model::SuppressedBy::kParent;
        input.alerts.push_back(child);
    }
    world.step(input);
    world.advance(minutes(1));
    ASSERT_EQ(world.told(), Lines{"problem ops"});
    EXPECT_NE(world.sent[0].body.find("\"more\":31"), std::string::npos) << world.sent[0].body;
    EXPECT_NE(world.sent[0].body.find("\"affected\":50"), std::string::npos);
    world.resolve(incident);
    EXPECT_EQ(world.told(), (Lines{"problem ops", "recovery ops"}));
}

TEST(NotificationPlanner, AHigherSeverityIsAnUpdateALowerOneIsNot) {
    World world;
    world.configure();
    const std::string incident = world.open("web", Severity::kWarning);
    world.advance(seconds(10));
    world.set_severity(incident, Severity::kCritical);
    world.set_severity(incident, Severity::kMinor);
    world.set_severity(incident, Severity::kCritical);
    world.advance(hours(1));
    EXPECT_EQ(world.told(), (Lines{"problem ops", "update ops"}));
}

TEST(NotificationPlanner, RemindersComeWhileItIsOpenAndNobodyHasIt) {
    World world;
    world.routes[0].repeat = hours(1);
    world.configure();
    const std::string incident = world.open("web");
    world.advance(hours(2) + minutes(1));
    EXPECT_EQ(world.told(), (Lines{"problem ops", "reminder ops", "reminder ops"}));
    world.acknowledge(incident);
    world.advance(hours(5));
    EXPECT_EQ(world.sent.size(), 3U);
    world.end_acknowledgement(incident);
    world.advance(minutes(1));
    EXPECT_EQ(world.sent.size(), 4U) << "the reminder that was due meanwhile";
}

TEST(NotificationPlanner, EscalationGoesOnUntilSomebodyAcknowledges) {
    World world;
    world.receivers.push_back(testing::receiver("lead"));
    world.receivers.push_back(testing::receiver("boss"));
    world.routes[0].escalation = {{minutes(15), {"lead"}}, {minutes(30), {"boss"}}};
    world.configure();
    const std::string incident = world.open("web");
    world.advance(minutes(20));
    EXPECT_EQ(world.told(), (Lines{"problem ops", "escalation lead"}));
    world.acknowledge(incident);
    world.advance(hours(1));
    EXPECT_EQ(world.sent.size(), 2U);
    world.resolve(incident);
    EXPECT_EQ(world.told(),
              (Lines{"problem ops", "escalation lead", "recovery lead", "recovery ops"}))
        << "those who were told hear of the end, and nobody else";
}

TEST(NotificationPlanner, IncidentsThatAgreeInTheirLabelsShareAMessage) {
    World world;
    world.routes[0].group_by = {"site"};
    world.routes[0].group_wait = seconds(30);
    world.configure();
    const std::string a = world.open("a", Severity::kMajor, {{"site", "berlin"}});
    const std::string b = world.open("b", Severity::kMajor, {{"site", "berlin"}});
    world.open("c", Severity::kMajor, {{"site", "munich"}});
    world.advance(minutes(1));
    EXPECT_EQ(world.told(), (Lines{"problem ops", "problem ops"}));
    const std::string d = world.open("d", Severity::kMajor, {{"site", "berlin"}});
    world.advance(minutes(1));
    EXPECT_EQ(world.sent.size(), 2U) << "group_interval is not over";
    world.advance(minutes(5));
    ASSERT_EQ(world.sent.size(), 3U);
    EXPECT_EQ(world.told()[2], "update ops");
    world.resolve(a);
    world.resolve(b);
    world.resolve(d);
    world.advance(minutes(6));
    ASSERT_EQ(world.sent.size(), 4U);
    EXPECT_EQ(world.told()[3], "recovery ops");
    for (const std::size_t i : {2U, 3U}) EXPECT_EQ(world.sent[i].incident, a) << "one order";
}

TEST(NotificationPlanner, TwoRoutesToOneReceiverTellOnce) {
    World world;
    world.routes = {testing::route("first", {"ops"}), testing::route("second", {"ops", "lead"})};
    world.routes[0].go_on = true;
    world.receivers.push_back(testing::receiver("lead"));
    world.configure();
    const std::string incident = world.open("web");
    world.advance(minutes(1));
    world.resolve(incident);
    EXPECT_EQ(world.told(),
              (Lines{"problem ops", "problem lead", "recovery ops", "recovery lead"}));
}

TEST(NotificationPlanner, TheOwnerIsNamedByALabel) {
    World world;
    world.routes[0].receivers = {"label:owner"};
    world.receivers.push_back(testing::receiver("storage-team"));
    world.configure();
    world.open("nas", Severity::kMajor, {{"owner", "storage-team"}});
    world.open("web", Severity::kMajor, {{"owner", "nobody-we-know"}});
    world.advance(minutes(1));
    EXPECT_EQ(world.told(), Lines{"problem storage-team"});
}

TEST(NotificationPlanner, AFlappingAlertLeadsToAtMostThreeMessagesPerCoolDown) {
    World world;
    world.configure();
    const base::WallTime begin = world.now;
    for (int i = 0; i < 60; ++i) {
        const std::string incident = world.open("web");
        world.advance(seconds(30));
        world.resolve(incident);
        world.advance(seconds(30));
    }
    world.advance(hours(2));
    for (const model::Notification& one : world.sent) {
        const auto within = std::ranges::count_if(world.sent, [&](const auto& other) {
            return other.made >= one.made && other.made < one.made + world.settings.flap_cool_down;
        });
        EXPECT_LE(within, 3) << base::to_seconds(one.made - begin);
    }
    EXPECT_EQ(world.sent.back().kind, model::NotificationKind::kDigest)
        << "what came and went unheard is told in the end";
    EXPECT_EQ(world.planner->cases(), 0U);
    EXPECT_LE(world.rows.size(), 2U);
}

TEST(NotificationPlanner, AStableIncidentIsNeverTakenForFlapping) {
    World world;
    world.configure();
    const std::string incident = world.open("web", Severity::kInfo);
    for (const Severity severity :
         {Severity::kWarning, Severity::kMinor, Severity::kMajor, Severity::kCritical}) {
        world.advance(minutes(1));
        world.set_severity(incident, severity);
    }
    world.resolve(incident);
    EXPECT_EQ(world.sent.size(), 6U);
}

TEST(NotificationPlanner, AboveTheLimitOfAChannelThereIsOneDigest) {
    World world;
    world.receivers = {testing::receiver("ops", 5)};
    world.configure();
    std::vector<std::string> incidents;
    for (int i = 0; i < 30; ++i) incidents.push_back(world.open("host-" + std::to_string(i)));
    world.advance(seconds(30));
    EXPECT_EQ(world.sent.size(), 5U);
    world.advance(minutes(2));
    ASSERT_EQ(world.sent.size(), 6U);
    EXPECT_EQ(world.told().back(), "digest ops");
    EXPECT_NE(world.sent.back().body.find("25 incidents: 25 open, 0 over"), std::string::npos)
        << world.sent.back().body;
    for (const std::string& incident : incidents) world.resolve(incident);
    world.advance(minutes(3));
    ASSERT_EQ(world.sent.size(), 12U);
    EXPECT_EQ(world.told().back(), "digest ops");
}

TEST(NotificationPlanner, WhereProgramsReadEveryProblemAndEveryEndIsAMessageOfItsOwn) {
    World world;
    world.receivers = {testing::receiver("ops", 5)};
    world.receivers[0].channels[0].digests = false;
    world.configure();
    std::vector<std::string> incidents;
    for (int i = 0; i < 30; ++i) incidents.push_back(world.open("host-" + std::to_string(i)));
    world.advance(minutes(2));
    for (const std::string& incident : incidents) world.resolve(incident);
    world.advance(minutes(10));
    EXPECT_EQ(world.sent.size(), 60U);
    for (const std::string& incident : incidents) {
        Lines kinds;
        for (const model::Notification& one : world.sent) {
            if (one.incident == incident) kinds.emplace_back(to_string(one.kind));
        }
        EXPECT_EQ(kinds, (Lines{"problem", "recovery"})) << incident;
    }
}

TEST(NotificationPlanner, ADigestNamesTheIncidentsAsOtherMessagesDo) {
    for (const bool restart : {false, true}) {
        World world;
        world.receivers = {testing::receiver("ops", 1)};
        world.routes[0].group_by = {"site"};
        world.configure();
        world.open("a", Severity::kMajor, {{"site", "x"}});
        world.advance(seconds(10));
        world.open("b", Severity::kMajor, {{"site", "y"}});
        world.open("c", Severity::kMajor, {{"site", "y"}});
        world.advance(seconds(10));
        ASSERT_EQ(world.told(), Lines{"problem ops"});
        if (restart) world.restart();
        world.advance(minutes(2));
        ASSERT_EQ(world.told(), (Lines{"problem ops", "digest ops"}));
        EXPECT_THAT(world.sent[1].body, HasSubstr(R"("about":["incident-2"])")) << "the leader";
        EXPECT_THAT(world.sent[1].body, HasSubstr("2 incidents: 2 open, 0 over"));
    }
}

TEST(NotificationPlanner, NothingIsSentUntilAlertsAreReviewed) {
    World world;
    world.settings.review = true;
    world.configure();
    const std::string over = world.open("first");
    const std::string open = world.open("second");
    world.advance(minutes(1));
    world.resolve(over);
    ASSERT_EQ(world.sent.size(), 3U);
    for (const model::Notification& one : world.sent) EXPECT_EQ(one.state, DeliveryState::kHeld);
    world.settings.review = false;
    world.configure();
    world.advance(minutes(10));
    ASSERT_EQ(world.sent.size(), 4U) << "what is still open is told when alerts are switched on";
    EXPECT_EQ(world.sent[3].incident, open);
    EXPECT_EQ(world.sent[3].state, DeliveryState::kWaiting);
    std::set<std::string> ids;
    for (const model::Notification& one : world.sent) ids.insert(one.id);
    EXPECT_EQ(ids.size(), world.sent.size());
}

TEST(NotificationPlanner, NoRecoveryWhereTheProblemCouldNotBeDelivered) {
    World world;
    world.configure();
    const std::string incident = world.open("web");
    world.advance(minutes(1));
    PlannerInput input;
    input.answers = {world.sent[0]};
    input.answers[0].state = DeliveryState::kFailed;
    world.step(input);
    world.resolve(incident);
    world.advance(minutes(1));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
}

TEST(NotificationPlanner, AnIncidentWaitsForARouteThatHasHours) {
    World world;
    world.routes[0].only_during = {{"0 13 * * *", hours(8), "UTC"}};
    world.configure();
    world.open("web");
    world.advance(minutes(59));
    EXPECT_TRUE(world.sent.empty());
    world.advance(minutes(2));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
}

TEST(NotificationPlanner, WhenItsRouteIsRemovedAnIncidentIsRoutedAnew) {
    World world;
    world.routes = {testing::route("night", {"ops"})};
    world.routes[0].quiet = {{"0 0 * * *", hours(24), "UTC"}};
    world.configure();
    world.open("web");
    world.advance(hours(1));
    EXPECT_TRUE(world.sent.empty());
    world.routes = {testing::route("day", {"ops"})};
    world.configure();
    world.advance(minutes(1));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
}

TEST(NotificationPlanner, WhoHeardOfAnIncidentHearsOnceThatItIsPartOfAnother) {
    for (const bool restart : {false, true}) {
        World world;
        world.configure();
        const std::string child = world.open("web");
        world.advance(minutes(1));
        const std::string parent = world.open("core");
        world.merge(child, parent);
        if (restart) world.restart();
        world.advance(minutes(1));
        ASSERT_EQ(world.told(), (Lines{"problem ops", "recovery ops", "problem ops"}));
        const model::Notification& closing = world.sent[1];
        EXPECT_EQ(closing.incident, child);
        EXPECT_THAT(closing.body, HasSubstr(R"("id":"incident-1")"));
        EXPECT_THAT(closing.body, HasSubstr("web is down (now part of: core is down)"));
        EXPECT_THAT(closing.body, HasSubstr(R"("state":"resolved")"));
        EXPECT_EQ(world.sent[2].incident, parent);
        // The root of the first goes on and ends as part of the other.
        world.root(child).state = model::AlertState::kResolved;
        ++world.root(child).version;
        PlannerInput input;
        input.alerts = {world.root(child)};
        world.step(input);
        world.resolve(parent);
        world.advance(minutes(1));
        EXPECT_EQ(world.told().back(), "recovery ops");
        EXPECT_EQ(world.sent.back().incident, parent);
        EXPECT_EQ(world.sent.size(), 4U);
        EXPECT_EQ(world.planner->cases(), 0U);
    }
}

TEST(NotificationPlanner, WhatNobodyHeardOfBecomesPartOfAnotherInSilence) {
    World world;
    world.routes[0].quiet = {{"5 12 * * *", minutes(30), "UTC"}};
    world.configure();
    const std::string waits = world.open("web");  // for others, until the group is told
    const std::string parent = world.open("core");
    world.merge(waits, parent);
    world.advance(minutes(6));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
    const std::string held = world.open("mail");  // by quiet hours
    world.advance(minutes(1));
    world.merge(held, parent);
    world.advance(hours(1));
    EXPECT_EQ(world.told(), Lines{"problem ops"});
}

TEST(NotificationPlanner, QuietHoursHoldTheWordThatItIsPartOfAnother) {
    for (const bool restart : {false, true}) {
        World world;
        world.routes[0].quiet = {{"5 12 * * *", minutes(30), "UTC"}};
        world.configure();
        const std::string child = world.open("web");
        const std::string parent = world.open("core");
        world.advance(minutes(6));
        world.merge(child, parent);
        world.advance(minutes(1));
        EXPECT_EQ(world.told(), (Lines{"problem ops", "problem ops"}));
        world.resolve(parent);
        if (restart) world.restart();
        world.advance(hours(1));
        ASSERT_EQ(world.told(),
                  (Lines{"problem ops", "problem ops", "recovery ops", "recovery ops"}));
        EXPECT_THAT(world.sent[2].body, HasSubstr("web is down (now part of: core is down)"));
    }
}

TEST(NotificationPlanner, AGroupEndsUnderTheNameUnderWhichItBegan) {
    World world;
    world.routes[0].group_by = {"site"};
    world.configure();
    const std::string first = world.open("a", Severity::kMinor, {{"site", "x"}});
    world.advance(minutes(1));
    const std::string worse = world.open("b", Severity::kCritical, {{"site", "x"}});
    world.advance(hours(1));
    world.resolve(first);
    world.resolve(worse);
    world.advance(hours(1));
    ASSERT_EQ(world.told(), (Lines{"problem ops", "update ops", "update ops", "recovery ops"}));
    for (const model::Notification& one : world.sent) {
        EXPECT_THAT(one.body, HasSubstr(R"("id":"incident-1","opened_at")"));
    }
}

TEST(NotificationPlanner, TheTestButtonReachesEveryChannelOfAReceiver) {
    World world;
    world.settings.review = true;
    world.configure();
    const auto sent = world.planner->test("ops", world.now);
    ASSERT_TRUE(sent);
    ASSERT_EQ(sent->size(), 1U);
    EXPECT_EQ(sent->front().state, DeliveryState::kWaiting);
    EXPECT_EQ(sent->front().id.size(), 32U);
    EXPECT_FALSE(world.planner->test("nobody", world.now));
}

}  // namespace
}  // namespace pollux::alert
