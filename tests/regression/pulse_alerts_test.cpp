// Complaints about the alerts of Pulse, a predecessor, as far as an engine can answer for them. The
// numbers are those of its issues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alert/alert_test_support.hpp"

namespace pollux::tests {
namespace {

using namespace std::chrono_literals;
using alert::down;
using alert::EngineDriver;
using alert::fleet_of;
using alert::observed;
using alert::ObservedStep;
using alert::suspect;
using alert::Telling;
using alert::up;
using model::AlertState;
using ::testing::IsEmpty;
using ::testing::SizeIs;

alert::AlertFleet fleet_without_failure_alert() {
    alert::AlertFleet out = fleet_of({"a"});
    out.targets[0].types = alert::types_of({{.type = "unreachable", .enabled = false}});
    return out;
}

alert::Act acknowledge(const std::string& id) {
    alert::Act out;
    out.who = "ada";
    out.alerts = {id};
    return out;
}

// #1721, #493
TEST(PulseAlertComplaint, AnOfflineAlertThatIsDisabledIsStillSent) {
    EngineDriver driver(fleet_without_failure_alert());
    driver.give({down("a")});
    driver.pass(1h);
    EXPECT_THAT(driver.alerts(), IsEmpty());
    EXPECT_THAT(driver.told, IsEmpty());
}

// #1721: also one that was open when it was disabled.
TEST(PulseAlertComplaint, AnOpenOfflineAlertSurvivesItsDisabling) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({down("a")});
    driver.pass(5s);
    driver.load(fleet_without_failure_alert());
    EXPECT_EQ(driver.last("a").state, AlertState::kResolved);
    driver.give({down("a")});
    driver.pass(1h);
    EXPECT_THAT(driver.alerts(), SizeIs(1));
}

// #937: each backup stopped the guest for a moment.
TEST(PulseAlertComplaint, BackupsFlipTheAlertAndNotifyAgain) {
    EngineDriver driver(fleet_of({"a"}));
    for (int i = 0; i < 8; ++i) {
        driver.give({observed("snmp::a", "powered_off")});
        driver.pass(1min);
        driver.give({observed("snmp::a", "powered_off", ObservedStep::kCleared)});
        driver.pass(1min);
    }
    EXPECT_THAT(driver.told, SizeIs(3));
    EXPECT_TRUE(driver.last("powered_off").flapping);
}

// #921, #975, #1488: the beginning was set anew every 20 s, and with it what people had decided.
TEST(PulseAlertComplaint, AnAcknowledgementIsLostWithTheNextPoll) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "cpu")});
    const model::Alert first = driver.last("cpu");
    driver.give({acknowledge(first.id)});
    for (int i = 0; i < 100; ++i) {
        driver.pass(20s);
        driver.give({observed("snmp::a", "cpu")});
    }
    EXPECT_EQ(driver.last("cpu").id, first.id);
    EXPECT_EQ(driver.last("cpu").state, AlertState::kAcknowledged);
    EXPECT_EQ(driver.last("cpu").first_seen, first.first_seen);
    EXPECT_EQ(driver.last("cpu").active_since, first.active_since);
    EXPECT_THAT(driver.told, SizeIs(1));
}

// #975: acknowledged alerts came back after a restart.
TEST(PulseAlertComplaint, AnAcknowledgementIsLostWithARestart) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "cpu")});
    driver.give({acknowledge(driver.last("cpu").id)});
    driver.restart();
    driver.give({observed("snmp::a", "cpu")});
    EXPECT_EQ(driver.last("cpu").state, AlertState::kAcknowledged);
    EXPECT_THAT(driver.told, SizeIs(1));
}

// #397: a guest that is off kept its last load, and the alert of it.
TEST(PulseAlertComplaint, AnOldValueIsShownAsIfItWereTrue) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "cpu")});
    driver.give({down("a")});
    EXPECT_TRUE(driver.last("cpu").stale);
}

// #1179
TEST(PulseAlertComplaint, AResolvedAlertHasNoDuration) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "cpu")});
    driver.pass(7min);
    driver.restart();
    driver.give({observed("snmp::a", "cpu", ObservedStep::kCleared)});
    EXPECT_EQ(driver.last("cpu").resolved_at - driver.last("cpu").first_seen, 7min);
}

// #2160
TEST(PulseAlertComplaint, ARestartIsABurstOfResolvedMessages) {
    EngineDriver driver(fleet_of({"a", "b", "c"}));
    driver.give({observed("snmp::a", "cpu"), observed("snmp::b", "cpu"), down("c")});
    driver.pass(10s);
    EXPECT_THAT(driver.told, SizeIs(3));
    driver.restart();
    driver.give({});
    driver.pass(24h);
    EXPECT_THAT(driver.told, SizeIs(3));
    EXPECT_EQ(driver.engine().stats().open_alerts, 3U);
}

// #1441, #1311
TEST(PulseAlertComplaint, ADeadNodeRaisesNothing) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({down("a")});
    driver.pass(2s);
    EXPECT_EQ(driver.last("a").state, AlertState::kActive);
    EXPECT_THAT(driver.told, SizeIs(1));
}

// #1701: the first polls after a start failed, and all was offline.
TEST(PulseAlertComplaint, ARestartOfTheMonitorIsAFalseOffline) {
    std::vector<std::string> names;
    for (int i = 0; i < 30; ++i) names.push_back("n" + std::to_string(i));
    EngineDriver driver(fleet_of(names));
    driver.restart();
    for (const std::string& name : names) driver.give({suspect(name)});
    driver.pass(30s);
    for (const std::string& name : names) driver.give({up(name)});
    driver.pass(1h);
    EXPECT_THAT(driver.alerts(), IsEmpty());
}

// #405, #630, #104: one member that could not be reached made all of the cluster look down.
TEST(PulseAlertComplaint, OneUnreachableMemberIsTheWholeCluster) {
    EngineDriver driver(fleet_of({"a", "b", "c"}));
    driver.give({down("a")});
    driver.pass(1min);
    EXPECT_THAT(driver.alerts(), SizeIs(1));
}

}  // namespace
}  // namespace pollux::tests
