// Which alerts share an incident although nothing suppresses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "alert/alert_engine.hpp"
#include "alert/alert_test_support.hpp"

namespace pollux::alert {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Observed port(int number, ObservedStep step = ObservedStep::kRaised) {
    Observed out = observed("snmp::a", "link_down", step, "Gi1/" + std::to_string(number));
    out.signal.title = "Port " + std::to_string(number) + " is down";
    out.signal.severity = "minor";
    return out;
}

std::size_t incidents_of(const EngineDriver& driver, const std::string& type) {
    std::set<std::string> out;
    for (const model::Alert& alert : driver.alerts()) {
        if (alert.type == type) out.insert(alert.incident);
    }
    return out.size();
}

TEST(Incidents, ALineCardIsOneIncidentWithOneRecovery) {
    EngineDriver driver(fleet_of({"a"}));
    std::vector<Input> all;
    for (int i = 1; i <= 48; ++i) all.emplace_back(port(i));
    driver.give(all);
    EXPECT_EQ(driver.incidents().size(), 1U);
    EXPECT_EQ(driver.incidents()[0].affected, 47U);
    EXPECT_THAT(driver.told, ElementsAre(Pair(Telling::kProblem, "Port 1 is down")));
    for (const model::Alert& alert : driver.alerts()) {
        EXPECT_EQ(alert.state, model::AlertState::kActive) << "none of them is explained away";
    }
    driver.pass(2min);
    for (int i = 1; i < 48; ++i) driver.give({port(i, ObservedStep::kCleared)});
    EXPECT_EQ(driver.told.size(), 1U) << "the first and most of the others are well again";
    driver.give({port(48, ObservedStep::kCleared)});
    EXPECT_THAT(driver.told.back(), Pair(Telling::kRecovery, "Port 1 is down"));
    EXPECT_EQ(driver.told.size(), 2U);
}

TEST(Incidents, WhatComesAMinuteLaterIsNotHiddenByTheFirst) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({port(1)});
    driver.pass(50s);
    driver.give({port(2)});
    driver.pass(10s);
    driver.give({port(3)});
    EXPECT_EQ(driver.incidents().size(), 2U);
    EXPECT_EQ(driver.told.size(), 2U) << "and a chain of them has an end";
}

TEST(Incidents, ARestartBetweenThemChangesNothing) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({port(1)});
    driver.pass(20s);
    driver.restart();
    driver.give({port(2)});
    EXPECT_EQ(driver.incidents().size(), 1U);
    EXPECT_EQ(driver.told.size(), 1U);
}

TEST(Incidents, OtherTypesAndOtherTargetsAreTheirOwn) {
    EngineDriver driver(fleet_of({"a", "b"}));
    Observed elsewhere = port(1);
    elsewhere.target = "snmp::b";
    driver.give({port(1), elsewhere, observed("snmp::a", "busy", ObservedStep::kRaised, "Gi1/1")});
    EXPECT_EQ(driver.incidents().size(), 3U);
    EXPECT_EQ(incidents_of(driver, "link_down"), 2U);
}

TEST(Incidents, AWorseOneThatJoinsIsAnUpdate) {
    EngineDriver driver(fleet_of({"a"}));
    driver.give({port(1)});
    Observed worse = port(2);
    worse.signal.severity = "critical";
    driver.give({worse});
    EXPECT_THAT(driver.told, ElementsAre(Pair(Telling::kProblem, "Port 1 is down"),
                                         Pair(Telling::kUpdate, "Port 1 is down")));
    EXPECT_EQ(driver.incidents()[0].severity, model::Severity::kCritical);
}

TEST(Incidents, NothingIsGatheredWhereThatIsSwitchedOff) {
    AlertSettings settings;
    settings.gather = {};
    EngineDriver driver(fleet_of({"a"}), settings);
    driver.give({port(1), port(2)});
    EXPECT_EQ(driver.incidents().size(), 2U);
}

}  // namespace
}  // namespace pollux::alert
