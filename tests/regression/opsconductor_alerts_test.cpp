// Defects of OpsConductor, a predecessor, in its alert engine. Each test is named after what went
// wrong there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alert/alert_test_support.hpp"
#include "derive/signal_keeper.hpp"
#include "extract/compiled_addon.hpp"

namespace pollux::tests {
namespace {

using namespace std::chrono_literals;
using alert::ChangeKind;
using alert::EngineDriver;
using alert::fleet_of;
using alert::Observed;
using alert::observed;
using alert::ObservedStep;
using model::AlertState;
using model::ResolvedBy;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A webhook of such a manifest, all the way: message, signals, what changed, engine.
class Inbound {
  public:
    explicit Inbound(const std::string& clear_events)
        : compiled_(extract::compile(R"({"id": "x", "name": "X", "method": "webhook",
            "webhook": {"endpoint_path": "/webhooks/x"},
            "parser": {"field_mappings": {"alert_type": "t", "status": "status"}},
            "alert_mappings": [{"group": "g", "alerts": [{"alert_type": "fan"},
                {"alert_type": "link_down"},
                {"alert_type": "link_up", "severity": "clear", "clears": ["link_down"]}]}],
            "clear_events": )" + clear_events +
                                         "}",
                                     "x.json")),
          driver_(imported_target()) {}

    void post(const std::string& body) {
        ASSERT_NE(compiled_.addon, nullptr) << compiled_.diagnostics.text();
        model::WebhookMessage content;
        content.body = body;
        content.content_type = "application/json";
        model::InboundMessage message{"192.0.2.1", {}, std::move(content)};
        const auto signals = compiled_.addon->signals(message);
        for (const auto& change : keeper_.apply(signals, driver_.now().wall)) {
            Observed what;
            what.target = "x::a";
            what.source = model::AlertSource::kMessage;
            what.signal = change.signal;
            what.step = static_cast<ObservedStep>(change.step);
            what.occurrences = change.occurrences;
            driver_.give({what});
        }
    }
    EngineDriver& driver() { return driver_; }

  private:
    static alert::AlertFleet imported_target() {
        alert::AlertFleet out;
        out.targets = {alert::target_on("a", "x")};
        out.targets[0].fingerprint = alert::FingerprintStyle::kImported;
        return out;
    }
    extract::CompileResult compiled_;
    derive::SignalKeeper keeper_;
    EngineDriver driver_;
};

// The fingerprint had the type with its suffix, so that the alert it meant stayed open for ever.
TEST(OpsConductorAlertDefect, AClearBySuffixDoesNotHitTheBaseAlert) {
    Inbound inbound(R"({"method": "suffix", "clear_suffix": "_clear"})");
    inbound.post(R"({"t": "fan"})");
    ASSERT_EQ(inbound.driver().last("fan").state, AlertState::kActive);
    inbound.post(R"({"t": "fan_clear"})");
    EXPECT_EQ(inbound.driver().last("fan").state, AlertState::kResolved);
    EXPECT_THAT(inbound.driver().alerts(), SizeIs(1));
}

TEST(OpsConductorAlertDefect, AClearByFieldValueHitsTheBaseAlert) {
    Inbound inbound(
        R"({"method": "field_value", "clear_field": "status", "clear_values": ["OK"]})");
    inbound.post(R"({"t": "fan", "status": "bad"})");
    inbound.post(R"({"t": "fan", "status": "ok"})");
    EXPECT_EQ(inbound.driver().last("fan").resolved_by, ResolvedBy::kClear);
    EXPECT_THAT(inbound.driver().alerts(), SizeIs(1));
}

// A mapping of severity `clear` was an alert of its own, which nothing linked to what it ends.
TEST(OpsConductorAlertDefect, ARecoveryEventIsAnAlertOfItsOwn) {
    Inbound inbound(R"({"method": "reconciliation"})");
    inbound.post(R"({"t": "link_down"})");
    inbound.post(R"({"t": "link_up"})");
    EXPECT_EQ(inbound.driver().last("link_down").state, AlertState::kResolved);
    EXPECT_THAT(inbound.driver().alerts(), SizeIs(1));
}

TEST(OpsConductorAlertDefect, AResolutionIsToldTwice) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "fan")});
    driver.give({observed("snmp::a", "fan", ObservedStep::kCleared)});
    driver.give({observed("snmp::a", "fan", ObservedStep::kCleared)});
    EXPECT_THAT(driver.alert_events, ElementsAre(std::pair(ChangeKind::kCreated, "raised"),
                                                 std::pair(ChangeKind::kResolved, "recovered")));
}

TEST(OpsConductorAlertDefect, AClearOfNothingMakesARowOnlyToResolveIt) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "fan", ObservedStep::kCleared)});
    EXPECT_THAT(driver.alerts(), IsEmpty());
    EXPECT_THAT(driver.alert_events, IsEmpty());
}

TEST(OpsConductorAlertDefect, WhereAResolutionCameFromIsNotKept) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "polled")});
    Observed trap = observed("snmp::a", "heard");
    trap.source = model::AlertSource::kMessage;
    driver.give({trap, observed("snmp::a", "by_hand")});
    trap.step = ObservedStep::kCleared;
    alert::Act act;
    act.who = "ada";
    act.verb = alert::ActVerb::kResolve;
    act.alerts = {driver.last("by_hand").id};
    driver.give({observed("snmp::a", "polled", ObservedStep::kCleared), trap, act});
    EXPECT_EQ(driver.last("polled").resolved_by, ResolvedBy::kRecovery);
    EXPECT_EQ(driver.last("heard").resolved_by, ResolvedBy::kClear);
    EXPECT_EQ(driver.last("by_hand").resolved_by, ResolvedBy::kOperator);
    EXPECT_EQ(driver.last("by_hand").resolved_who, "ada");
}

// Deleting a target resolved all alerts of its address, those of other addons too, in silence.
TEST(OpsConductorAlertDefect, DeletingATargetResolvesAlertsOfOthersWithoutAnEvent) {
    alert::AlertFleet fleet;
    fleet.targets = {alert::target_on("a", "snmp"), alert::target_on("a", "http")};
    EngineDriver driver(fleet);
    driver.give({observed("snmp::a", "fan"), observed("http::a", "slow")});
    driver.alert_events.clear();
    fleet.targets.erase(fleet.targets.begin());
    driver.load(fleet);
    EXPECT_THAT(driver.alert_events, ElementsAre(std::pair(ChangeKind::kResolved, "reconciled")));
    EXPECT_EQ(driver.last("fan").resolved_by, ResolvedBy::kReconciled);
    EXPECT_EQ(driver.last("slow").state, AlertState::kActive);
}

TEST(OpsConductorAlertDefect, DisablingATypeResolvesItsAlertsWithoutAnEvent) {
    alert::AlertFleet fleet = fleet_of({"a"});
    EngineDriver driver(fleet);
    driver.give({observed("snmp::a", "fan")});
    driver.alert_events.clear();
    fleet.targets[0].types = alert::types_of({{.type = "fan", .enabled = false}});
    driver.load(fleet);
    EXPECT_THAT(driver.alert_events, ElementsAre(std::pair(ChangeKind::kResolved, "reconciled")));
}

// The clean-up at the start resolved alerts of types that had been disabled meanwhile, in silence.
TEST(OpsConductorAlertDefect, TheCleanUpAtTheStartSaysNothing) {
    alert::AlertFleet fleet = fleet_of({"a"});
    EngineDriver driver(fleet);
    driver.give({observed("snmp::a", "fan")});
    driver.alert_events.clear();
    fleet.targets[0].types = alert::types_of({{.type = "fan", .enabled = false}});
    driver.restart_with(fleet);
    driver.give({});
    EXPECT_THAT(driver.alert_events, ElementsAre(std::pair(ChangeKind::kResolved, "reconciled")));
}

TEST(OpsConductorAlertDefect, TwoDisksOfOneDeviceShareAnAlert) {
    alert::AlertFleet fleet = fleet_of({"a"});
    fleet.targets[0].fingerprint = alert::FingerprintStyle::kImported;
    EngineDriver driver(fleet);
    driver.give({observed("snmp::a", "disk", ObservedStep::kRaised, "sda"),
                 observed("snmp::a", "disk", ObservedStep::kRaised, "sdb")});
    EXPECT_THAT(driver.alerts(), SizeIs(2));
    driver.give({observed("snmp::a", "disk", ObservedStep::kCleared, "sda")});
    EXPECT_EQ(driver.alerts()[0].state, AlertState::kResolved);
    EXPECT_EQ(driver.alerts()[1].state, AlertState::kActive);
}

// Kept as it was: without fingerprint fields the hash is theirs, and an acknowledgement outlives a
// repetition.
TEST(OpsConductorAlertKept, FingerprintAndAcknowledgement) {
    alert::AlertFleet fleet = fleet_of({"a"});
    fleet.targets[0].fingerprint = alert::FingerprintStyle::kImported;
    fleet.targets[0].addon = "axis";
    fleet.targets[0].address = "10.0.0.5";
    EngineDriver driver(fleet);
    driver.give({observed("snmp::a", "storage_failure")});
    EXPECT_EQ(driver.last("storage_failure").fingerprint, "fa47cadcacf6e172d3aa9614ef71acac");
    alert::Act act;
    act.alerts = {driver.last("storage_failure").id};
    driver.give({act, observed("snmp::a", "storage_failure")});
    EXPECT_EQ(driver.last("storage_failure").state, AlertState::kAcknowledged);
}

}  // namespace
}  // namespace pollux::tests
