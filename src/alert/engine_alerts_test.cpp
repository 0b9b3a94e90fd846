// One alert: identity, repetition, clearing, timing, staleness, flapping, bounds.
#include <gtest/gtest.h>

#include "alert/alert_test_support.hpp"

namespace pollux::alert {
namespace {

using model::AlertState;
using model::ResolvedBy;
using model::Severity;
using model::SuppressedBy;

constexpr auto kCleared = ObservedStep::kCleared;

Observed with_severity(Observed what, const std::string& severity) {
    what.signal.severity = severity;
    return what;
}

TargetFacts with_types(TargetFacts facts, std::vector<TypeFacts> types) {
    facts.types = types_of(std::move(types));
    return facts;
}

TEST(AlertEngine, RaisesAnAlertWithItsFactsAndEvidence) {
    EngineDriver driver(fleet_of({"a"}));
    Observed what = observed("snmp::a", "disk", ObservedStep::kRaised, "sda");
    what.signal.rule = "used > 90 %";
    what.signal.fields = {{"value", "93"}};
    what.signal.severity = "major";
    driver.give({what});
    const model::Alert alert = driver.last("disk");
    EXPECT_EQ(alert.state, AlertState::kActive);
    EXPECT_EQ(alert.severity, Severity::kMajor);
    EXPECT_EQ(alert.target, "snmp::a");
    EXPECT_EQ(alert.target_id, "id-snmp-a");
    EXPECT_EQ(alert.address, "192.0.2.a");
    EXPECT_EQ(alert.addon, "snmp");
    EXPECT_EQ(alert.subject, "sda");
    EXPECT_EQ(alert.labels.at("site"), "lab");
    EXPECT_EQ(alert.rule, "used > 90 %");
    EXPECT_EQ(alert.fields.at(0).second, "93");
    EXPECT_EQ(alert.active_since, driver.now().wall);
    EXPECT_TRUE(alert.previous.empty());
    const model::Incident incident = driver.incident_of("disk");
    EXPECT_EQ(incident.root, alert.id);
    EXPECT_EQ(incident.cause, model::CauseKind::kAlert);
    EXPECT_EQ(incident.severity, Severity::kMajor);
    ASSERT_EQ(driver.told.size(), 1U);
    EXPECT_EQ(driver.told[0].first, Telling::kProblem);
}

TEST(AlertEngine, ARepetitionCountsAndReplacesWhatIsSaid) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "disk")});
    Observed again = observed("snmp::a", "disk", ObservedStep::kUpdated);
    again.signal.message = "worse";
    again.signal.fields = {{"value", "97"}};
    driver.pass(1min);
    driver.give({again});
    EXPECT_EQ(driver.alerts().size(), 1U);
    const model::Alert alert = driver.last("disk");
    EXPECT_EQ(alert.occurrences, 2U);
    EXPECT_EQ(alert.message, "worse");
    EXPECT_EQ(alert.fields.at(0).second, "97");
    EXPECT_EQ(alert.last_seen - alert.first_seen, 1min);
    EXPECT_EQ(driver.alert_changes_of(alert.id), 2U);
    EXPECT_EQ(driver.told.size(), 1U);
}

TEST(AlertEngine, TakesTheCountOfTheSender) {
    EngineDriver driver(fleet_of({"a"}));
    Observed what = observed("snmp::a", "disk");
    what.occurrences = 5;  // this alert begins with the fifth
    driver.give({what});
    EXPECT_EQ(driver.last("disk").occurrences, 1U);
    what.occurrences = 9;
    driver.give({what});
    EXPECT_EQ(driver.last("disk").occurrences, 5U);
}

TEST(AlertEngine, ARecurrenceIsANewAlertThatNamesItsPredecessor) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "disk")});
    driver.give({observed("snmp::a", "disk", kCleared)});
    const model::Alert first = driver.last("disk");
    EXPECT_EQ(first.state, AlertState::kResolved);
    EXPECT_EQ(first.resolved_by, ResolvedBy::kRecovery);
    EXPECT_EQ(first.resolved_at, driver.now().wall);
    driver.pass(1h);
    driver.give({observed("snmp::a", "disk")});
    const model::Alert second = driver.last("disk");
    EXPECT_NE(second.id, first.id);
    EXPECT_EQ(second.previous, first.id);
    EXPECT_EQ(second.fingerprint, first.fingerprint);
    EXPECT_EQ(second.occurrences, 1U);
    EXPECT_NE(second.incident, first.incident);
}

TEST(AlertEngine, AMessageThatClearsIsNamedAsSuch) {
    EngineDriver driver(fleet_of({"a"}));
    Observed what = observed("snmp::a", "link_down");
    what.source = model::AlertSource::kMessage;
    driver.give({what});
    what.signal.clear = true;
    driver.give({what});
    EXPECT_EQ(driver.last("link_down").resolved_by, ResolvedBy::kClear);
}

TEST(AlertEngine, AClearOfNothingChangesNothing) {
    EngineDriver driver(fleet_of({"a"}));
    const Output& out = driver.give({observed("snmp::a", "disk", kCleared)});
    EXPECT_TRUE(out.alerts.empty());
    EXPECT_TRUE(out.incidents.empty());
    EXPECT_TRUE(out.memory.empty());
}

TEST(AlertEngine, OnlyTheTargetThatRaisedItResolvesIt) {
    AlertFleet fleet;
    for (const char* name : {"a", "b"}) {
        TargetFacts facts = target_on(name, "axis");
        facts.fingerprint = FingerprintStyle::kImported;
        facts.address = "10.0.0.5";  // two services behind one address
        fleet.targets.push_back(facts);
    }
    fleet.targets[1].addon = "axis";
    EngineDriver driver(fleet);
    driver.give({observed("axis::a", "storage_failure")});
    driver.give({observed("axis::b", "storage_failure")});
    EXPECT_EQ(driver.alerts().size(), 1U);
    EXPECT_EQ(driver.last("storage_failure").occurrences, 2U);
    driver.give({observed("axis::b", "storage_failure", kCleared)});
    EXPECT_EQ(driver.last("storage_failure").state, AlertState::kActive);
    EXPECT_EQ(driver.engine().stats().foreign_clears, 1U);
    driver.give({observed("axis::a", "storage_failure", kCleared)});
    EXPECT_EQ(driver.last("storage_failure").state, AlertState::kResolved);
}

TEST(AlertEngine, OursKeepsTwoServicesOnOneAddressApart) {
    AlertFleet fleet;
    fleet.targets = {target_on("a", "http"), target_on("b", "http")};
    fleet.targets[1].address = fleet.targets[0].address;
    EngineDriver driver(fleet);
    driver.give({observed("http::a", "slow"), observed("http::b", "slow")});
    EXPECT_EQ(driver.alerts().size(), 2U);
    driver.give({observed("http::b", "slow", kCleared)});
    EXPECT_EQ(driver.alerts()[0].state, AlertState::kActive);
    EXPECT_EQ(driver.alerts()[1].state, AlertState::kResolved);
}

TEST(AlertEngine, IsPendingWhileItsForRuns) {
    AlertFleet fleet;
    fleet.targets = {with_types(target_on("a"), {{.type = "cpu", .hold = 5min}})};
    EngineDriver driver(fleet);
    driver.give({observed("snmp::a", "cpu")});
    EXPECT_EQ(driver.last("cpu").state, AlertState::kPending);
    EXPECT_TRUE(driver.told.empty());
    EXPECT_EQ(driver.out().wake_at, driver.now().boot + 5min);
    driver.pass(4min);
    driver.give({observed("snmp::a", "cpu", kCleared)});  // not long enough
    EXPECT_EQ(driver.last("cpu").state, AlertState::kResolved);
    EXPECT_EQ(driver.last("cpu").active_since, base::WallTime{});
    driver.give({observed("snmp::a", "cpu")});
    driver.pass(5min);
    EXPECT_EQ(driver.last("cpu").state, AlertState::kActive);
    EXPECT_EQ(driver.told.size(), 1U);
}

TEST(AlertEngine, KeepsFiringAfterTheClearAndAcceptsAnother) {
    AlertFleet fleet;
    fleet.targets = {with_types(target_on("a"), {{.type = "cpu", .keep_firing_for = 5min}})};
    EngineDriver driver(fleet);
    driver.give({observed("snmp::a", "cpu")});
    driver.give({observed("snmp::a", "cpu", kCleared)});
    EXPECT_EQ(driver.last("cpu").state, AlertState::kActive);
    driver.pass(4min);
    driver.give({observed("snmp::a", "cpu")});
    driver.pass(1h);
    EXPECT_EQ(driver.last("cpu").state, AlertState::kActive);
    EXPECT_EQ(driver.last("cpu").occurrences, 2U);
    driver.give({observed("snmp::a", "cpu", kCleared)});
    driver.pass(5min);
    EXPECT_EQ(driver.last("cpu").state, AlertState::kResolved);
    EXPECT_EQ(driver.alerts().size(), 1U);
}

TEST(AlertEngine, WhatIsSaidForARowIsNearerThanWhatIsSaidForItsType) {
    const auto row = [](const std::string& name) {
        return observed("snmp::a", "busy", ObservedStep::kRaised, name);
    };
    AlertFleet fleet;
    fleet.targets = {with_types(
        target_on("a"), {{.type = "busy",
                          .severity = Severity::kMajor,
                          .hold = 5min,
                          .rows = {{"Gi1/1", {.sustained = 1min}},
                                   {"Gi1/*", {.severity = Severity::kInfo, .sustained = 2min}},
                                   {"lo*", {.enabled = false}},
                                   {"up", {.sustained = 0s, .keep_firing_for = 3min}}}}})};
    EngineDriver driver(fleet);
    driver.give({row("Gi1/1"), row("Gi1/2"), row("Gi2/1"), row("lo0"), row("up")});
    const auto states = [&] {
        std::map<std::string, AlertState> out;
        for (const model::Alert& alert : driver.alerts()) out[alert.subject] = alert.state;
        return out;
    };
    using Expected = std::map<std::string, AlertState>;
    constexpr auto kPending = AlertState::kPending;
    constexpr auto kActive = AlertState::kActive;
    EXPECT_EQ(
        states(),
        (Expected{{"Gi1/1", kPending}, {"Gi1/2", kPending}, {"Gi2/1", kPending}, {"up", kActive}}));
    driver.pass(1min);
    EXPECT_EQ(states()["Gi1/1"], kActive);
    EXPECT_EQ(states()["Gi1/2"], kPending);
    driver.pass(1min);
    EXPECT_EQ(states()["Gi1/2"], kActive);
    EXPECT_EQ(states()["Gi2/1"], kPending);
    EXPECT_EQ(driver.alerts()[0].severity, Severity::kInfo);  // of the wider pattern
    EXPECT_EQ(driver.alerts()[2].severity, Severity::kMajor);
    driver.give({observed("snmp::a", "busy", kCleared, "up"),
                 observed("snmp::a", "busy", kCleared, "Gi1/1")});
    EXPECT_EQ(states()["Gi1/1"], AlertState::kResolved);
    EXPECT_EQ(states()["up"], kActive);
    driver.pass(3min);
    EXPECT_EQ(states()["up"], AlertState::kResolved);
}

TEST(AlertEngine, TakesTheSeverityOfTheTypeBeforeTheOneOfTheSignal) {
    AlertFleet fleet;
    fleet.targets = {with_types(target_on("a"), {{.type = "cpu", .severity = Severity::kInfo}})};
    EngineDriver driver(fleet);
    driver.give({with_severity(observed("snmp::a", "cpu"), "critical")});
    EXPECT_EQ(driver.last("cpu").severity, Severity::kInfo);
}

TEST(AlertEngine, AHigherSeverityRaisesTheIncidentAndIsTold) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({with_severity(observed("snmp::a", "disk"), "warning")});
    driver.give({with_severity(observed("snmp::a", "disk"), "critical")});
    EXPECT_EQ(driver.incident_of("disk").severity, Severity::kCritical);
    ASSERT_EQ(driver.told.size(), 2U);
    EXPECT_EQ(driver.told[1].first, Telling::kUpdate);
    driver.give({with_severity(observed("snmp::a", "disk"), "warning")});
    EXPECT_EQ(driver.last("disk").severity, Severity::kWarning);
    EXPECT_EQ(driver.incident_of("disk").severity, Severity::kCritical);  // the highest so far
    EXPECT_EQ(driver.told.size(), 2U);
}

TEST(AlertEngine, MissingDataIsStaleAndResolvesNothing) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "disk")});
    TargetHealth stale = up("a");
    stale.health = Health::kStale;
    driver.give({stale});
    EXPECT_TRUE(driver.last("disk").stale);
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
    driver.pass(48h);
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);
    driver.give({up("a")});
    EXPECT_FALSE(driver.last("disk").stale);
    EXPECT_EQ(driver.last("disk").state, AlertState::kActive);  // an answer is not a clear
}

TEST(AlertEngine, ATargetThatFailsMakesItsOtherAlertsStale) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({observed("snmp::a", "disk")});
    driver.give({down("a")});
    EXPECT_TRUE(driver.last("disk").stale);
    driver.give({observed("snmp::a", "disk", ObservedStep::kUpdated)});
    EXPECT_FALSE(driver.last("disk").stale);
}

TEST(AlertEngine, RefusesAndCountsWhatIsTooMuch) {
    AlertSettings settings;
    settings.max_open = 2;
    settings.max_fields = 1;
    settings.max_text_bytes = 4;
    EngineDriver driver(fleet_of({"a"}), settings);
    Observed what = observed("snmp::a", "x", ObservedStep::kRaised, "1");
    what.signal.fields = {{"a", "1"}, {"b", "2"}};
    driver.give({what, observed("snmp::a", "x", ObservedStep::kRaised, "2"),
                 observed("snmp::a", "x", ObservedStep::kRaised, "3")});
    EXPECT_EQ(driver.alerts().size(), 2U);
    EXPECT_EQ(driver.engine().stats().refused, 1U);
    EXPECT_EQ(driver.alerts()[0].fields.size(), 1U);
    EXPECT_EQ(driver.alerts()[0].message, "x at");
    driver.give({observed("snmp::a", "x", kCleared, "1")});
    driver.give({observed("snmp::a", "x", ObservedStep::kRaised, "3")});
    EXPECT_EQ(driver.alerts().size(), 3U);
}

TEST(AlertEngine, ForgetsTheLongestUnchangedHistory) {
    AlertSettings settings;
    settings.max_histories = 2;
    EngineDriver driver(fleet_of({"a"}), settings);
    for (const char* row : {"1", "2", "3"}) {
        driver.give({observed("snmp::a", "x", ObservedStep::kRaised, row)});
        driver.give({observed("snmp::a", "x", kCleared, row)});
    }
    EXPECT_EQ(driver.engine().stats().histories, 2U);
    driver.give({observed("snmp::a", "x", ObservedStep::kRaised, "1")});
    EXPECT_TRUE(driver.alerts().back().previous.empty());
    driver.give({observed("snmp::a", "x", ObservedStep::kRaised, "3")});
    EXPECT_FALSE(driver.alerts().back().previous.empty());
}

TEST(AlertEngine, AFlappingSignalIsOneAlertAndAtMostThreeMessagesPerCoolDown) {
    EngineDriver driver(fleet_of({"a"}));
    const base::BootTime began = driver.now().boot;
    for (int i = 0; i < 60; ++i) {
        driver.give({observed("snmp::a", "link", i % 2 == 0 ? ObservedStep::kRaised : kCleared)});
        driver.pass(30s);
    }
    EXPECT_EQ(driver.alerts().size(), 2U);
    const model::Alert flapping = driver.last("link");
    EXPECT_TRUE(flapping.flapping);
    EXPECT_EQ(flapping.state, AlertState::kSuppressed);
    EXPECT_EQ(flapping.suppressed_by, SuppressedBy::kFlapping);
    EXPECT_GT(driver.engine().flap_percent(flapping.fingerprint), 90);
    EXPECT_EQ(driver.told.size(), 3U);
    EXPECT_EQ(driver.told.back().first, Telling::kProblem);  // the last word is not "it is well"
    driver.pass(16min);                                      // it ended cleared, and is steady now
    EXPECT_EQ(driver.last("link").state, AlertState::kResolved);
    ASSERT_EQ(driver.told.size(), 4U);
    EXPECT_EQ(driver.told[3].first, Telling::kRecovery);
    EXPECT_GT(driver.told_at[3] - began, 30min);
}

TEST(AlertEngine, WhatFlappedAndStaysRaisedIsActiveAgainWithoutAnotherMessage) {
    EngineDriver driver(fleet_of({"a"}));
    for (int i = 0; i < 7; ++i) {
        driver.give({observed("snmp::a", "link", i % 2 == 0 ? ObservedStep::kRaised : kCleared)});
        driver.pass(10s);
    }
    EXPECT_EQ(driver.last("link").suppressed_by, SuppressedBy::kFlapping);
    driver.pass(16min);
    EXPECT_EQ(driver.last("link").state, AlertState::kActive);
    EXPECT_FALSE(driver.last("link").flapping);
    EXPECT_EQ(driver.told.size(), 3U);
}

TEST(AlertEngine, RareChangesDoNotFlap) {
    EngineDriver driver(fleet_of({"a"}));
    for (int i = 0; i < 20; ++i) {
        driver.give({observed("snmp::a", "link", i % 2 == 0 ? ObservedStep::kRaised : kCleared)});
        driver.pass(10min);
    }
    EXPECT_EQ(driver.alerts().size(), 10U);
    EXPECT_EQ(driver.told.size(), 20U);
}

TEST(AlertEngine, TakesAlertsOfOtherSystems) {
    EngineDriver driver;
    External what;
    what.labels = {{"alertname", "Watchdog"}, {"severity", "page"}, {"job", "x"}};
    what.annotations = {{"summary", "it barks"}, {"description", "loudly"}};
    what.ends = driver.now().wall + base::Duration(5min);
    driver.give({what});
    EXPECT_EQ(driver.last("Watchdog").severity, Severity::kCritical);
    EXPECT_EQ(driver.last("Watchdog").title, "it barks");
    driver.pass(4min);
    what.ends = driver.now().wall + base::Duration(5min);
    driver.give({what});
    driver.pass(4min);
    EXPECT_EQ(driver.last("Watchdog").state, AlertState::kActive);
    driver.pass(1min);  // nobody repeated it in the time that was promised
    EXPECT_EQ(driver.last("Watchdog").resolved_by, ResolvedBy::kExpired);
    driver.pass(20min);
    what.ends = driver.now().wall + base::Duration(5min);
    driver.give({what});
    what.ends = driver.now().wall;
    driver.give({what});
    EXPECT_EQ(driver.last("Watchdog").resolved_by, ResolvedBy::kClear);
    EXPECT_EQ(driver.alerts().size(), 2U);
}

TEST(AlertEngine, IdsComeFromTimeAndSeedAlone) {
    EngineDriver one(fleet_of({"a"}));
    EngineDriver other(fleet_of({"a"}));
    one.give({observed("snmp::a", "disk")});
    other.give({observed("snmp::a", "disk")});
    EXPECT_EQ(one.last("disk"), other.last("disk"));
}

}  // namespace
}  // namespace pollux::alert
