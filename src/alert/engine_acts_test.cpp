// What people do with alerts and incidents, and what the fleet does to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alert/alert_test_support.hpp"

namespace pollux::alert {
namespace {

using model::AlertState;
using model::ResolvedBy;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Act act(ActVerb verb, const std::string& id) {
    Act out;
    out.ticket = 5;
    out.who = "ada";
    out.verb = verb;
    out.alerts = {id};
    return out;
}

class Acts : public ::testing::Test {
  protected:
    Acts() : driver(fleet_of({"a", "b"})) { driver.give({observed("snmp::a", "disk")}); }
    std::string id() const { return driver.last("disk").id; }
    EngineDriver driver;
};

TEST_F(Acts, AcknowledgesAndSurvivesRepetitions) {
    Act what = act(ActVerb::kAcknowledge, id());
    what.note = "on it";
    const Output& out = driver.give({what});
    ASSERT_THAT(out.results, SizeIs(1));
    EXPECT_EQ(out.results[0].status, ActStatus::kDone);
    EXPECT_EQ(out.results[0].ticket, 5U);
    driver.give({observed("snmp::a", "disk")});
    EXPECT_EQ(driver.last("disk").state, AlertState::kAcknowledged);
    EXPECT_EQ(driver.last("disk").acknowledged->by, "ada");
    EXPECT_EQ(driver.last("disk").acknowledged->note, "on it");
    EXPECT_EQ(driver.last("disk").occurrences, 2U);
    driver.give({act(ActVerb::kUnacknowledge, id())});
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
    EXPECT_FALSE(driver.last("disk").acknowledged);
}

TEST_F(Acts, AnAcknowledgementExpires) {
    Act what = act(ActVerb::kAcknowledge, id());
    what.until = driver.now().wall + base::Duration(1h);
    driver.give({what});
    driver.pass(59min);
    EXPECT_EQ(driver.last("disk").state, AlertState::kAcknowledged);
    driver.pass(1min);
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
}

TEST_F(Acts, AHigherSeverityEndsAnAcknowledgementThatIsNotSticky) {
    Observed worse = observed("snmp::a", "disk");
    worse.signal.severity = "critical";
    Act what = act(ActVerb::kAcknowledge, id());
    what.sticky = false;
    driver.give({what, observed("snmp::a", "disk")});
    EXPECT_EQ(driver.last("disk").state, AlertState::kAcknowledged);
    driver.give({worse});
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
}

TEST_F(Acts, AStickyAcknowledgementStays) {
    Observed worse = observed("snmp::a", "disk");
    worse.signal.severity = "critical";
    driver.give({act(ActVerb::kAcknowledge, id()), worse});
    EXPECT_EQ(driver.last("disk").state, AlertState::kAcknowledged);
}

TEST_F(Acts, RefusesWhatDoesNotFitTheStateAndChangesNothing) {
    driver.give({act(ActVerb::kAcknowledge, id())});
    const model::Alert before = driver.last("disk");
    driver.give({act(ActVerb::kAcknowledge, id())});
    EXPECT_EQ(driver.out().results.at(0).status, ActStatus::kWrongState);
    EXPECT_THAT(driver.out().results.at(0).message, HasSubstr("acknowledged"));
    EXPECT_TRUE(driver.out().alerts.empty());
    EXPECT_EQ(driver.last("disk"), before);
    driver.give({act(ActVerb::kResolve, "nobody")});
    EXPECT_EQ(driver.out().results.at(0).status, ActStatus::kUnknown);
    driver.give({act(ActVerb::kResolve, id())});
    driver.give({act(ActVerb::kResolve, id())});
    EXPECT_EQ(driver.out().results.at(0).status, ActStatus::kUnknown);
    EXPECT_TRUE(driver.out().alerts.empty());
    driver.give({down("b")});
    driver.give({act(ActVerb::kAcknowledge, driver.last("b").id)});
    EXPECT_THAT(driver.out().results.at(0).message, HasSubstr("pending"));
}

TEST_F(Acts, RefusesAnAcknowledgementUntilThePast) {
    Act what = act(ActVerb::kAcknowledge, id());
    what.until = driver.now().wall;
    driver.give({what});
    EXPECT_EQ(driver.out().results.at(0).status, ActStatus::kWrongState);
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
}

TEST_F(Acts, ResolvesByHandWithTheName) {
    driver.give({act(ActVerb::kResolve, id())});
    EXPECT_EQ(driver.last("disk").resolved_by, ResolvedBy::kOperator);
    EXPECT_EQ(driver.last("disk").resolved_who, "ada");
    EXPECT_NE(driver.incidents()[0].resolved_at, base::WallTime{});
}

TEST_F(Acts, RemovesWithoutResolving) {
    driver.give({act(ActVerb::kRemove, id())});
    EXPECT_EQ(driver.out().alerts.at(0).kind, ChangeKind::kRemoved);
    EXPECT_EQ(driver.engine().stats().open_alerts, 0U);
    EXPECT_EQ(driver.engine().stats().open_incidents, 0U);
}

TEST_F(Acts, AnIncidentStandsForItsAlerts) {
    driver.give({down("b")});
    driver.pass(3s);
    Act what = act(ActVerb::kNote, "");
    what.alerts.clear();
    what.incident = driver.incident_of("b").id;
    what.note = "the fan is on fire";
    driver.give({what});
    EXPECT_EQ(driver.incident_of("b").notes.at(0).text, "the fan is on fire");
    EXPECT_EQ(driver.incident_of("b").notes.at(0).by, "ada");
    what.verb = ActVerb::kAcknowledge;
    driver.give({what});
    EXPECT_EQ(driver.last("b").state, AlertState::kAcknowledged);
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
    what.incident = "nothing";
    driver.give({what});
    EXPECT_EQ(driver.out().results.at(0).status, ActStatus::kUnknown);
}

TEST_F(Acts, NotesAreBounded) {
    AlertSettings settings;
    settings.max_notes = 2;
    EngineDriver small(fleet_of({"a"}), settings);
    small.give({observed("snmp::a", "disk")});
    for (const char* text : {"1", "2", "3"}) {
        Act what = act(ActVerb::kNote, small.last("disk").id);
        what.note = text;
        small.give({what});
    }
    ASSERT_THAT(small.incident_of("disk").notes, SizeIs(2));
    EXPECT_EQ(small.incident_of("disk").notes[0].text, "2");
}

TEST_F(Acts, WhatIsGoneOrDisabledIsReconciledWithAnEvent) {
    driver.give({observed("snmp::b", "fan"), observed("snmp::b", "cpu")});
    AlertFleet fleet = fleet_of({"b"});
    fleet.targets[0].types = types_of({{.type = "cpu"}, {.type = "fan", .enabled = false}});
    driver.load(fleet);
    EXPECT_EQ(driver.last("disk").resolved_by, ResolvedBy::kReconciled);  // no target
    EXPECT_EQ(driver.last("fan").resolved_by, ResolvedBy::kReconciled);   // no type
    EXPECT_EQ(driver.last("cpu").state, AlertState::kActive);
    fleet.targets[0].types = types_of({}, true);
    driver.load(fleet);
    EXPECT_EQ(driver.last("cpu").resolved_by, ResolvedBy::kReconciled);
    EXPECT_EQ(driver.engine().stats().open_incidents, 0U);
}

TEST_F(Acts, ARenamedTargetKeepsItsAlert) {
    AlertFleet fleet = fleet_of({"a", "b"});
    fleet.targets[0].key = "snmp::z";
    fleet.targets[0].device = "z";
    driver.load(fleet);
    EXPECT_EQ(driver.last("disk").target, "snmp::z");
    EXPECT_EQ(driver.last("disk").device, "z");
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
    driver.give({observed("snmp::z", "disk", ObservedStep::kCleared)});
    EXPECT_EQ(driver.last("disk").state, AlertState::kResolved);
}

TEST_F(Acts, AnImportedFingerprintFollowsANewAddress) {
    AlertFleet fleet = fleet_of({"c"});
    fleet.targets[0].fingerprint = FingerprintStyle::kImported;
    driver.load(fleet);
    driver.give({observed("snmp::c", "fan")});
    const std::string before = driver.last("fan").fingerprint;
    fleet.targets[0].address = "198.51.100.1";
    driver.load(fleet);
    EXPECT_NE(driver.last("fan").fingerprint, before);
    EXPECT_EQ(driver.last("fan").address, "198.51.100.1");
    driver.give({observed("snmp::c", "fan", ObservedStep::kCleared)});
    EXPECT_EQ(driver.last("fan").state, AlertState::kResolved);
}

TEST_F(Acts, WhenAParentIsTakenOutItsChildrenAreVerifiedAnew) {
    const std::vector<DeviceFacts> topology = {{"b", {{"a"}}}};
    driver.load(fleet_of({"a", "b"}, topology));
    driver.give({down("a"), down("b")});
    driver.pass(5s);
    EXPECT_EQ(driver.last("b").suppressed_by, model::SuppressedBy::kParent);
    driver.load(fleet_of({"b"}));
    driver.give({DeviceVerified{"b", false}});
    driver.pass(5s);
    EXPECT_EQ(driver.last("b").state, AlertState::kActive);
}

}  // namespace
}  // namespace pollux::alert
