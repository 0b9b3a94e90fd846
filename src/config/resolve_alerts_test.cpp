#include "config/resolve_alerts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"

namespace pollux::config {
namespace {

using model::FailureAlert;
using ::testing::ElementsAre;
using testing::expand_text;
using ::testing::HasSubstr;
using ::testing::Pair;
using namespace std::chrono_literals;

constexpr const char* kFleet = R"yaml(
defaults:
  failure_alert: never
  alerts: {cpu_high: {trigger: 70, clear: 60, for: 10m, severity: minor}}
groups:
  core:
    members: [sw1]
    failure_alert: first
    alerts:
      cpu_high: {trigger: 80, keep_firing_for: 5m}
      port_busy: {rows: {"Gi1/*": {trigger: 50, severity: info}, "Gi*": {trigger: 60, clear: 55}}}
    addons: [{name: snmp-system, alerts: {fan_failed: {severity: critical}}}]
devices:
  sw1: {address: 192.0.2.1, alerts: {port_busy: {rows: {"Gi1/*": {severity: major}}}}}
targets:
  snmp-system::sw1: {alerts: {cpu_high: {severity: critical}, down: {enabled: false}}}
)yaml";

TEST(ResolveAlerts, TheNearestLevelWinsPerField) {
    const auto expanded = expand_text(kFleet);
    ASSERT_TRUE(expanded.diagnostics.ok()) << expanded.diagnostics.text();
    const TargetPlanInput* target = expanded.target("snmp-system::sw1");
    ASSERT_NE(target, nullptr);
    const model::AlertPolicy& policy = target->alerts;
    EXPECT_EQ(policy.failure_alert, FailureAlert::kFirst);
    const model::AlertOverride cpu = model::override_of(policy.types.at("cpu_high"), "");
    EXPECT_EQ(cpu.severity, model::Severity::kCritical) << "of the target";
    EXPECT_EQ(cpu.trigger, 80) << "of the group";
    EXPECT_EQ(cpu.clear, std::nullopt) << "the clear of the defaults belongs to their trigger";
    EXPECT_EQ(cpu.sustained, 10min) << "of the defaults";
    EXPECT_EQ(cpu.keep_firing_for, 5min);
    EXPECT_EQ(policy.types.at("down").all.enabled, false);
    EXPECT_EQ(policy.types.at("fan_failed").all.severity, model::Severity::kCritical);
    // The most exact pattern first, merged over the levels.
    const model::AlertRule& busy = policy.types.at("port_busy");
    EXPECT_THAT(busy.rows, ElementsAre(Pair("Gi1/*", ::testing::_), Pair("Gi*", ::testing::_)));
    const model::AlertOverride port = model::override_of(busy, "Gi1/7");
    EXPECT_EQ(port.trigger, 50);
    EXPECT_EQ(port.clear, std::nullopt);
    EXPECT_EQ(port.severity, model::Severity::kMajor);
    EXPECT_EQ(model::override_of(busy, "Gi2/1").clear, 55);
    EXPECT_EQ(model::override_of(busy, "Te1/1"), model::AlertOverride{});
}

TEST(ResolveAlerts, GiveTheTermsOfAnAlert) {
    const testing::Catalogue catalogue;
    const model::Addon& addon = *catalogue.lookup().find("snmp-system")->second;
    model::AlertPolicy policy;
    EXPECT_EQ(model::alert_terms(addon, policy, "cpu_high", "").sustained, 1min) << "the addon's";
    policy.types["cpu_high"].all = {.enabled = false, .sustained = 3min};
    const model::AlertTerms terms = model::alert_terms(addon, policy, "cpu_high", "");
    EXPECT_FALSE(terms.enabled);
    EXPECT_EQ(terms.sustained, 3min);
    EXPECT_TRUE(model::alert_terms(addon, policy, "port_busy", "x").enabled);
}

TEST(ResolveAlerts, WithoutAWordFailuresAreConfirmed) {
    const auto expanded = expand_text("devices: {d: {addons: [snmp-system]}}");
    ASSERT_NE(expanded.target("snmp-system::d"), nullptr);
    EXPECT_EQ(expanded.target("snmp-system::d")->alerts, model::AlertPolicy{});
    EXPECT_EQ(model::AlertPolicy{}.failure_alert, FailureAlert::kConfirmed);
}

TEST(ResolveAlerts, InboundTargetsHaveThemToo) {
    const auto expanded =
        expand_text("devices: {d: {addons: [{name: traps, alerts: {linkDown: {for: 5m}}}]}}");
    ASSERT_TRUE(expanded.diagnostics.ok()) << expanded.diagnostics.text();
    ASSERT_EQ(expanded.expansion.inbound.size(), 1U);
    EXPECT_EQ(expanded.expansion.inbound[0].alerts.types.at("linkDown").all.sustained, 5min)
        << "the addon takes any type";
}

struct Refusal {
    const char* why;
    const char* text;
    const char* message;
};

TEST(ResolveAlerts, RefusesWhatDoesNotFitWithPlaceAndAdvice) {
    const Refusal cases[] = {
        {"unknown at a target", "targets: {snmp-system::d: {alerts: {cpu_hihg: {trigger: 1}}}}",
         "a.yaml:2: alerts: addon \"snmp-system\" has no condition or signal \"cpu_hihg\"; did you "
         "mean cpu_high?"},
        {"unknown for every addon", "defaults: {alerts: {zzzzzzzz: {trigger: 1}}}",
         "no addon has a condition or signal \"zzzzzzzz\""},
        {"clear on the wrong side", "defaults: {alerts: {cpu_high: {trigger: 80, clear: 82}}}",
         "\"cpu_high\": clear 82 lies on the wrong side of trigger 80; it is below it"},
        {"clear past the trigger of the addon", "defaults: {alerts: {cpu_high: {clear: 95}}}",
         "clear 95 lies on the wrong side of trigger 90"},
        {"in a row", "defaults: {alerts: {port_busy: {clear: 88, rows: {x: {clear: 99}}}}}",
         "\"port_busy\" of \"x\": clear 99"},
        {"rows of what has none", "defaults: {alerts: {cpu_high: {rows: {x: {enabled: false}}}}}",
         "\"cpu_high\" has no rows"},
        {"limit of a word", "defaults: {alerts: {down: {trigger: 3}}}",
         "\"down\" has no limit that could be moved"},
        {"limit of a signal", "defaults: {alerts: {fan_failed: {trigger: 3}}}",
         "\"fan_failed\" has no limit that could be moved"},
    };
    for (const Refusal& one : cases) {
        const auto expanded = expand_text(
            std::string("devices: {d: {addons: [snmp-system, http-status]}}\n") + one.text);
        EXPECT_FALSE(expanded.diagnostics.ok()) << one.why;
        EXPECT_THAT(expanded.diagnostics.text(), HasSubstr(one.message)) << one.why;
    }
}

TEST(ResolveAlerts, TheReaderNamesWhatItDoesNotKnow) {
    const auto text = testing::complaints(
        {"defaults: {failure_alert: later, alerts: {a: {severty: info}, b: {severity: clear}, c: "
         "{rows: {x: {for: 30d}}}}}"});
    EXPECT_THAT(text, HasSubstr("failure_alert"));
    EXPECT_THAT(text, HasSubstr("defaults.alerts.a.severty"));
    EXPECT_THAT(text, HasSubstr("defaults.alerts.b.severity"));
    EXPECT_THAT(text, HasSubstr("defaults.alerts.c.rows.x.for"));
}

TEST(AlertPolicy, PatternsFit) {
    using model::fits_pattern;
    EXPECT_TRUE(fits_pattern("Gi1/0/3", "Gi1/*"));
    EXPECT_TRUE(fits_pattern("Gi1/0/3", "*"));
    EXPECT_TRUE(fits_pattern("abcab", "*ab"));
    EXPECT_TRUE(fits_pattern("eth0", "eth?"));
    EXPECT_FALSE(fits_pattern("eth10", "eth?"));
    EXPECT_FALSE(fits_pattern("Gi2/1", "Gi1/*"));
    EXPECT_FALSE(fits_pattern("", "?"));
    EXPECT_TRUE(model::is_more_exact("eth0", "eth*"));
    EXPECT_TRUE(model::is_more_exact("eth1*", "eth*"));
}

}  // namespace
}  // namespace pollux::config
