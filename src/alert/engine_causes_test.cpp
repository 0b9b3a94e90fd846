// Who is to blame: parents are verified first, what they explain is suppressed, and sometimes it is
// ourselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alert/alert_test_support.hpp"

namespace pollux::alert {
namespace {

using model::AlertState;
using model::CauseKind;
using model::SuppressedBy;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// host -> access -> core
AlertFleet chain() {
    return fleet_of({"core", "access", "host"}, {{"access", {{"core"}}}, {"host", {{"access"}}}});
}

AlertFleet star(int hosts) {
    std::vector<std::string> names = {"core"};
    std::vector<DeviceFacts> topology;
    for (int i = 0; i < hosts; ++i) {
        names.push_back("h" + std::to_string(i));
        topology.push_back({names.back(), {{"core"}}});
    }
    return fleet_of(names, topology);
}

AlertFleet flat(int hosts) {
    std::vector<std::string> names;
    for (int i = 0; i < hosts; ++i) names.push_back("h" + std::to_string(i));
    return fleet_of(names);
}

std::size_t count(const EngineDriver& driver, AlertState state) {
    const auto all = driver.alerts();
    return static_cast<std::size_t>(std::ranges::count(all, state, &model::Alert::state));
}

TEST(Causes, AFailureSettlesAndBecomesActive) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({suspect("a")});
    EXPECT_THAT(driver.alerts(), IsEmpty());
    driver.give({down("a")});
    EXPECT_EQ(driver.last("a").state, AlertState::kPending);
    EXPECT_EQ(driver.last("a").type, "unreachable");
    driver.pass(2s);
    EXPECT_EQ(driver.last("a").state, AlertState::kActive);
    EXPECT_EQ(driver.incident_of("a").cause, CauseKind::kDevice);
    EXPECT_EQ(driver.incident_of("a").root, driver.last("a").id);
    driver.give({up("a")});
    EXPECT_EQ(driver.last("a").state, AlertState::kResolved);
    EXPECT_THAT(driver.told, SizeIs(2));
    EXPECT_THAT(driver.verified, IsEmpty());
}

TEST(Causes, TheFirstFailureIsEnoughWhereTheTargetSaysSo) {
    AlertFleet fleet = fleet_of({"a"});
    fleet.targets[0].failure_threshold = FailureThreshold::kFirst;
    fleet.targets[0].failure_type = "device_offline";
    EngineDriver driver(fleet);
    driver.give({suspect("a")});
    driver.pass(2s);
    EXPECT_EQ(driver.last("device_offline").state, AlertState::kActive);
}

TEST(Causes, AChildWaitsUntilItsParentsAreVerified) {
    EngineDriver driver(chain());
    driver.give({down("host")});
    EXPECT_THAT(driver.verified, UnorderedElementsAre("access", "core"));
    driver.pass(20s);
    EXPECT_EQ(driver.last("host").state, AlertState::kPending);
    driver.give({DeviceVerified{"access", true}});
    driver.pass(5s);
    EXPECT_EQ(driver.last("host").state, AlertState::kPending);
    driver.give({DeviceVerified{"core", true}});
    driver.pass(2s);
    EXPECT_EQ(driver.last("host").state, AlertState::kActive);
    EXPECT_FALSE(driver.last("host").unverified);
}

TEST(Causes, AParentThatDoesNotAnswerIsNotWaitedForWithoutEnd) {
    EngineDriver driver(chain());
    driver.give({down("host")});
    driver.pass(33s);
    EXPECT_EQ(driver.last("host").state, AlertState::kActive);
    EXPECT_TRUE(driver.last("host").unverified);
}

// What was asked by a process that died is asked by the next one, however long that took.
TEST(Causes, AQuestionThatDiedWithTheProcessIsAskedAgain) {
    EngineDriver driver(chain());
    driver.give({down("host")});
    EXPECT_THAT(driver.verified, UnorderedElementsAre("core", "access"));
    driver.give({DeviceVerified{"core", true}});
    driver.idle(5min);
    driver.verified.clear();
    driver.restart_deaf();
    EXPECT_THAT(driver.verified, ElementsAre("access")) << "the core has answered";
    driver.pass(20s);
    EXPECT_EQ(driver.last("host").state, AlertState::kPending);
    driver.give({DeviceVerified{"access", false}});
    driver.pass(1min);
    EXPECT_EQ(driver.last("host").state, AlertState::kSuppressed);
    EXPECT_FALSE(driver.last("host").unverified);
}

TEST(Causes, EachParentIsAskedOnceHoweverManyChildrenFail) {
    EngineDriver driver(star(50));
    std::vector<Input> all;
    for (int i = 0; i < 50; ++i) all.push_back(down("h" + std::to_string(i)));
    driver.give(all);
    EXPECT_THAT(driver.verified, ElementsAre("core"));
}

TEST(Causes, ADeadParentIsOneIncidentWithAllThatStandBehindIt) {
    EngineDriver driver(star(50));
    std::vector<Input> all;
    for (int i = 0; i < 50; ++i) all.push_back(down("h" + std::to_string(i)));
    driver.give(all);
    driver.give({DeviceVerified{"core", false}});
    driver.pass(1s);
    driver.give({down("core")});
    driver.pass(10s);
    EXPECT_EQ(count(driver, AlertState::kActive), 1U);
    EXPECT_EQ(count(driver, AlertState::kSuppressed), 50U);
    EXPECT_THAT(driver.incidents(), SizeIs(1));
    const model::Incident incident = driver.incident_of("core");
    EXPECT_EQ(incident.cause, CauseKind::kDevice);
    EXPECT_EQ(incident.root, driver.last("core").id);
    EXPECT_EQ(incident.affected, 50U);
    EXPECT_EQ(driver.last("h7").suppressed_by, SuppressedBy::kParent);
    EXPECT_EQ(driver.last("h7").incident, incident.id);
    EXPECT_THAT(driver.told, SizeIs(1));
}

TEST(Causes, RecoveryOfTheRootIsToldOnceAndWhatStaysDownIsItsOwn) {
    EngineDriver driver(star(3));
    driver.give({down("core")});
    driver.pass(5s);
    driver.give({down("h0"), down("h1"), down("h2")});
    driver.pass(5s);
    EXPECT_EQ(count(driver, AlertState::kSuppressed), 3U);
    EXPECT_THAT(driver.told, SizeIs(1));
    driver.verified.clear();
    driver.pass(10min);
    driver.give({up("core")});
    EXPECT_EQ(driver.last("core").state, AlertState::kResolved);
    EXPECT_EQ(count(driver, AlertState::kSuppressed), 3U);
    EXPECT_THAT(driver.verified, UnorderedElementsAre("h0", "h1", "h2"));
    driver.give({up("h0"), up("h1"), DeviceVerified{"h2", false}});
    EXPECT_EQ(count(driver, AlertState::kResolved), 3U);
    EXPECT_THAT(driver.told, SizeIs(1));  // the incident is not over: h2 is unclear
    driver.pass(2s);
    EXPECT_EQ(driver.last("h2").state, AlertState::kActive);
    EXPECT_NE(driver.last("h2").incident, driver.last("core").incident);
    ASSERT_THAT(driver.told, SizeIs(3));
    EXPECT_THAT(driver.told, ::testing::Contains(std::pair(
                                 Telling::kRecovery, std::string("snmp::core does not answer"))));
}

TEST(Causes, TheTopmostDeadDeviceIsTheRoot) {
    EngineDriver driver(chain());
    driver.give({down("host")});
    driver.give({DeviceVerified{"access", false}, DeviceVerified{"core", false}});
    driver.pass(3s);
    EXPECT_EQ(driver.last("host").suppressed_by, SuppressedBy::kParent);
    EXPECT_EQ(driver.incident_of("host").device, "core");
    driver.give({down("access"), down("core")});
    driver.pass(3s);
    EXPECT_THAT(driver.incidents(), SizeIs(1));
    EXPECT_EQ(driver.last("access").suppressed_by, SuppressedBy::kParent);
    EXPECT_EQ(driver.incident_of("core").root, driver.last("core").id);
    EXPECT_THAT(driver.told, SizeIs(1));
}

TEST(Causes, ADeviceInBetweenThatAnswersIsNotBehindADeadOne) {
    EngineDriver driver(chain());
    driver.give({down("core")});  // its agent died; it still forwards
    driver.pass(3s);
    driver.give({down("host")});
    EXPECT_THAT(driver.verified, ElementsAre("access"));
    driver.give({DeviceVerified{"access", true}});
    driver.pass(3s);
    EXPECT_EQ(driver.last("host").state, AlertState::kActive);
}

TEST(Causes, ARedundantParentMustBeDownWithAllOfItsGroup) {
    EngineDriver driver(
        fleet_of({"left", "right", "power", "host"}, {{"host", {{"left", "right"}, {"power"}}}}));
    driver.give({down("left")});
    driver.pass(3s);
    driver.give({down("host")});
    EXPECT_THAT(driver.verified, UnorderedElementsAre("right", "power"));
    driver.give({DeviceVerified{"right", true}, DeviceVerified{"power", true}});
    driver.pass(3s);
    EXPECT_EQ(driver.last("host").state, AlertState::kActive);
    // Soon after, the other one dies as well.
    driver.give({DeviceVerified{"right", false}, down("right")});
    driver.give({DeviceVerified{"power", true}});
    driver.pass(3s);
    EXPECT_EQ(driver.last("host").state, AlertState::kSuppressed);
    EXPECT_EQ(driver.incident_of("host").device, "left");
}

TEST(Causes, AParentThatDiesWithinTheSettleTimeTakesTheAlertBeforeItIsTold) {
    EngineDriver driver(star(1));
    driver.give({down("h0")});
    driver.give({DeviceVerified{"core", true}});
    driver.pass(1s);
    driver.give({down("core")});
    driver.pass(5s);
    EXPECT_EQ(driver.last("h0").suppressed_by, SuppressedBy::kParent);
    EXPECT_THAT(driver.told, SizeIs(1));
    EXPECT_THAT(driver.incidents(), SizeIs(1));
}

TEST(Causes, AParentThatDiesLaterTakesOverWhatWasTold) {
    EngineDriver driver(star(1));
    driver.give({down("h0")});
    driver.give({DeviceVerified{"core", true}});
    driver.pass(10s);
    const model::Alert alone = driver.last("h0");
    EXPECT_EQ(alone.state, AlertState::kActive);
    driver.give({down("core")});
    driver.pass(5s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kSuppressed);
    EXPECT_EQ(driver.last("h0").incident, driver.last("core").incident);
    ASSERT_THAT(driver.incidents(), SizeIs(2));
    EXPECT_EQ(driver.incidents()[0].merged_into, driver.incidents()[1].id);
    // Two problems, and the first ends as one of its own.
    const std::string host = driver.incidents()[0].title;
    const std::string core = driver.incidents()[1].title;
    using Told = std::vector<std::pair<Telling, std::string>>;
    Told expected = {
        {Telling::kProblem, host}, {Telling::kProblem, core}, {Telling::kRecovery, host}};
    EXPECT_EQ(driver.told, expected);
    driver.give({up("core"), up("h0")});
    expected.emplace_back(Telling::kRecovery, core);
    EXPECT_EQ(driver.told, expected);
}

TEST(Causes, WhatFailedLongBeforeItsParentStaysItsOwn) {
    EngineDriver driver(star(1));
    driver.give({down("h0")});
    driver.give({DeviceVerified{"core", true}});
    driver.pass(1h);
    driver.give({down("core")});
    driver.pass(10s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kActive);
    EXPECT_THAT(driver.incidents(), SizeIs(2));
}

TEST(Causes, OnlyWhatIsAboutAMissingAnswerIsSuppressed) {
    EngineDriver driver(star(1));
    driver.give({down("core")});
    driver.pass(5s);
    Observed silent = observed("snmp::h0", "heartbeat");
    silent.missing_answer = true;
    driver.give({silent, observed("snmp::h0", "disk")});
    driver.pass(5s);
    EXPECT_EQ(driver.last("heartbeat").suppressed_by, SuppressedBy::kParent);
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
}

TEST(Causes, AnAnswerThatIsAnErrorIsNotExplainedByAParent) {
    EngineDriver driver(star(1));
    driver.give({down("core")});
    driver.pass(5s);
    TargetHealth refused = down("h0");
    refused.permanent = true;
    refused.code = "http.401";
    driver.give({refused});
    EXPECT_EQ(driver.last("h0").state, AlertState::kActive);
}

TargetHealth answers_503(const std::string& device) {
    TargetHealth out = down(device);
    out.answered = true;
    out.code = "http.status";
    out.message = "503";
    return out;
}

TEST(Causes, AParentThatAnswersWithAnErrorExplainsNothing) {
    EngineDriver driver(star(2));
    driver.give({answers_503("core")});
    driver.pass(5s);
    EXPECT_EQ(driver.last("core").state, AlertState::kActive);
    EXPECT_EQ(driver.incident_of("core").title, "snmp::core fails");
    driver.give({down("h0")});
    driver.give({DeviceVerified{"core", true}});
    driver.pass(5s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kActive);
    EXPECT_EQ(driver.last("h0").suppressed_by, SuppressedBy::kNothing);
}

TEST(Causes, AParentThatAnswersAgainWithAnErrorLetsItsChildrenGo) {
    EngineDriver driver(star(1));
    driver.give({down("core")});
    driver.pass(3s);
    driver.give({down("h0")});
    driver.pass(3s);
    EXPECT_EQ(driver.last("h0").suppressed_by, SuppressedBy::kParent);
    driver.give({answers_503("core")});  // it boots: its web server is not ready yet
    driver.give({DeviceVerified{"h0", false}});
    driver.pass(5s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kActive);
    EXPECT_EQ(driver.last("core").state, AlertState::kActive);
}

TEST(Observer, SitesThatAllAnswerWithAnErrorAreNotUs) {
    EngineDriver driver(flat(20));
    std::vector<Input> all;
    for (int i = 0; i < 20; ++i) all.push_back(answers_503("h" + std::to_string(i)));
    driver.give(all);
    driver.pass(1min);
    EXPECT_FALSE(driver.engine().stats().impaired);
    EXPECT_EQ(count(driver, AlertState::kActive), 20U);
}

TEST(Causes, FailuresOfOneDeviceShareOneIncident) {
    AlertFleet fleet;
    fleet.targets = {target_on("a", "snmp"), target_on("a", "http")};
    EngineDriver driver(fleet);
    TargetHealth http = down("a");
    http.target = "http::a";
    driver.give({http});
    driver.pass(3s);
    EXPECT_EQ(driver.incident_of("a").cause, CauseKind::kAlert);  // a service, not the device
    driver.give({down("a")});
    driver.pass(3s);
    EXPECT_THAT(driver.incidents(), SizeIs(1));
    EXPECT_EQ(driver.incident_of("a").cause, CauseKind::kDevice);
    EXPECT_THAT(driver.told, SizeIs(1));
    Observed other = observed("snmp::a", "disk");
    driver.give({other});
    EXPECT_THAT(driver.incidents(), SizeIs(1));
}

TEST(Causes, ADeviceThatIsOnlyVerifiedDownIsAskedAgain) {
    EngineDriver driver(star(1));
    driver.give({down("h0")});
    driver.give({DeviceVerified{"core", false}});
    driver.pass(5s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kSuppressed);
    driver.verified.clear();
    driver.pass(1min);
    EXPECT_THAT(driver.verified, ElementsAre("core"));
    driver.give({DeviceVerified{"core", true}, DeviceVerified{"h0", false}});
    driver.pass(3s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kActive);
}

TEST(Causes, ALoopInTheTopologyIsTaken) {
    EngineDriver driver(
        fleet_of({"a", "b", "c"}, {{"a", {{"b"}}}, {"b", {{"c"}}}, {"c", {{"a"}}}}));
    driver.give({down("a"), down("b"), down("c")});
    driver.pass(1min);
    EXPECT_EQ(count(driver, AlertState::kPending), 0U);
    driver.give({up("a"), up("b"), up("c")});
    driver.pass(1min);
    EXPECT_EQ(count(driver, AlertState::kResolved), 3U);
}

TEST(Observer, ManyUnrelatedFailuresAreOurOwn) {
    EngineDriver driver(flat(100));
    std::vector<Input> all;
    for (int i = 0; i < 100; ++i) all.push_back(down("h" + std::to_string(i)));
    driver.give(all);
    driver.pass(10s);
    EXPECT_EQ(count(driver, AlertState::kActive), 0U);
    EXPECT_EQ(count(driver, AlertState::kSuppressed), 100U);
    EXPECT_EQ(driver.last("h3").suppressed_by, SuppressedBy::kObserver);
    ASSERT_THAT(driver.incidents(), SizeIs(1));
    EXPECT_EQ(driver.incidents()[0].cause, CauseKind::kObserver);
    EXPECT_EQ(driver.incidents()[0].title, "observer impaired");
    EXPECT_TRUE(driver.engine().stats().impaired);
    EXPECT_THAT(driver.told, SizeIs(1));
    // The uplink is back: all but one answer.
    std::vector<Input> back;
    for (int i = 1; i < 100; ++i) back.push_back(up("h" + std::to_string(i)));
    driver.give(back);
    EXPECT_FALSE(driver.engine().stats().impaired);
    driver.give({DeviceVerified{"h0", false}});
    driver.pass(5s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kActive);
    EXPECT_EQ(count(driver, AlertState::kResolved), 99U);
    EXPECT_THAT(driver.told, SizeIs(3));  // ours, its recovery, and the one that stayed down
}

TEST(Observer, FailuresThatComeSlowlyAreRecognisedBeforeTheyAreTold) {
    EngineDriver driver(flat(1000));
    // 30 in ten seconds are far from a fifth of all, but those that are asked do not answer either.
    for (int i = 0; i < 30; ++i) {
        driver.give({suspect("h" + std::to_string(i))});
        driver.pass(50ms);
    }
    driver.give({down("h0")});
    driver.pass(2s);
    EXPECT_EQ(driver.last("h0").state, AlertState::kPending);
    EXPECT_THAT(driver.verified, SizeIs(16));
    std::vector<Input> answers;
    for (const std::string& name : driver.verified) answers.push_back(DeviceVerified{name, false});
    driver.give(answers);
    EXPECT_EQ(driver.last("h0").suppressed_by, SuppressedBy::kObserver);
    EXPECT_EQ(count(driver, AlertState::kActive), 0U);
}

TEST(Observer, FailuresOfAFewAreTheirsWhenOthersAnswer) {
    EngineDriver driver(flat(1000));
    driver.give({down("h0"), down("h1"), down("h2"), down("h3")});
    driver.pass(2s);
    EXPECT_EQ(count(driver, AlertState::kPending), 4U);
    std::vector<Input> answers;
    for (const std::string& name : driver.verified) answers.push_back(DeviceVerified{name, true});
    driver.give(answers);
    EXPECT_EQ(count(driver, AlertState::kActive), 4U);
}

TEST(Observer, AQuestionThatNobodyAnswersHoldsForABoundedTime) {
    EngineDriver driver(flat(1000));
    driver.give({down("h0"), down("h1"), down("h2"), down("h3")});
    driver.pass(13s);
    EXPECT_EQ(count(driver, AlertState::kActive), 4U);
}

// Those who were asked by a process that died have not failed to answer.
TEST(Observer, ASampleThatDiedWithTheProcessIsTakenAgain) {
    EngineDriver driver(flat(25));
    for (int i = 0; i < 5; ++i) driver.give({down("h" + std::to_string(i))});
    driver.pass(3s);
    const std::size_t asked = driver.verified.size();
    ASSERT_GT(asked, 0U);
    driver.idle(15s);
    driver.verified.clear();
    driver.restart_deaf();
    EXPECT_EQ(driver.verified.size(), asked);
    driver.pass(2s);
    EXPECT_FALSE(driver.engine().stats().impaired);
    for (const std::string& name : std::vector(driver.verified)) {
        driver.give({DeviceVerified{name, true}});
    }
    driver.pass(10s);
    EXPECT_FALSE(driver.engine().stats().impaired);
    EXPECT_EQ(count(driver, AlertState::kActive), 5U);
}

TEST(Observer, OneDeadSwitchIsNotUs) {
    EngineDriver driver(star(100));
    std::vector<Input> all;
    for (int i = 0; i < 100; ++i) all.push_back(down("h" + std::to_string(i)));
    driver.give(all);
    driver.give({DeviceVerified{"core", false}});
    driver.pass(5s);
    driver.give({down("core")});
    driver.pass(5s);
    EXPECT_FALSE(driver.engine().stats().impaired);
    EXPECT_THAT(driver.incidents(), SizeIs(1));
    EXPECT_EQ(driver.incidents()[0].cause, CauseKind::kDevice);
}

TEST(Observer, AReportIsBelieved) {
    EngineDriver driver(flat(10));
    driver.give({ObserverReport{true, "DNS does not answer"}});
    ASSERT_THAT(driver.incidents(), SizeIs(1));
    EXPECT_EQ(driver.incidents()[0].notes.at(0).text, "DNS does not answer");
    driver.give({down("h1")});
    driver.pass(5min);
    EXPECT_EQ(driver.last("h1").suppressed_by, SuppressedBy::kObserver);
    driver.give({ObserverReport{false, ""}});
    driver.give({DeviceVerified{"h1", false}});
    driver.pass(3s);
    EXPECT_EQ(driver.last("h1").state, AlertState::kActive);
    EXPECT_NE(driver.incidents()[0].resolved_at, base::WallTime{});
}

// A rack whose switch nobody declared.
TEST(Observer, ManyThatFailAreNotOursWhenOthersAnswer) {
    EngineDriver driver(flat(25));
    driver.give({down("h0"), down("h1"), down("h2"), down("h3"), down("h4")});
    driver.pass(3s);
    EXPECT_EQ(count(driver, AlertState::kPending), 5U);
    EXPECT_THAT(driver.verified, SizeIs(16));
    std::vector<Input> answers;
    for (const std::string& name : driver.verified) answers.push_back(DeviceVerified{name, true});
    driver.give(answers);
    driver.pass(1min);
    EXPECT_FALSE(driver.engine().stats().impaired);
    EXPECT_EQ(count(driver, AlertState::kActive), 5U);
    for (const model::Incident& incident : driver.incidents()) {
        EXPECT_NE(incident.cause, CauseKind::kObserver);
    }
}

TEST(Observer, ASuspicionThatOthersDisproveEnds) {
    EngineDriver driver(flat(20));
    driver.give({down("h0"), down("h1"), down("h2"), down("h3"), down("h4")});
    driver.pass(3s);
    EXPECT_FALSE(driver.engine().stats().impaired) << "fifteen others are being asked";
    EXPECT_EQ(count(driver, AlertState::kPending), 5U);
    driver.pass(10s);
    EXPECT_TRUE(driver.engine().stats().impaired) << "and none of them answered";
    driver.verified.clear();
    driver.pass(1min + 1s);
    std::vector<Input> answers;
    for (const std::string& name : driver.verified) answers.push_back(DeviceVerified{name, true});
    EXPECT_THAT(answers, SizeIs(15));
    driver.give(answers);
    EXPECT_FALSE(driver.engine().stats().impaired);
    driver.pass(1min);
    EXPECT_EQ(count(driver, AlertState::kActive), 5U);
}

}  // namespace
}  // namespace pollux::alert
