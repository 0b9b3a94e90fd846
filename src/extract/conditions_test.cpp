// Conditions of manifests: what they become, and what is refused with which advice.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract/compiled_addon.hpp"

namespace pollux::extract {
namespace {

using model::ConditionKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string manifest(std::string_view conditions, std::string_view rest = "") {
    return fmt::format(R"yaml(schema: pollux/1
name: box
version: 1.0.0
protocol: http
parameters: {{limit: {{default: ""}}}}
http:
  base: "http://{{host}}"
  endpoints: [{{name: main, path: /, format: json}}]
metrics:
  - {{name: used, endpoint: main, path: $.used}}
  - {{name: packets, type: counter, endpoint: main, path: $.packets}}
  - {{name: serial, type: text, endpoint: main, path: $.serial}}
conditions:
  - {{{}}}
{})yaml",
                       conditions, rest);
}

std::shared_ptr<const CompiledAddon> compiled(const std::string& text) {
    CompileResult result = compile(text, "box.yaml");
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

model::ConditionDef condition(std::string_view text) {
    const auto addon = compiled(manifest(text));
    if (addon == nullptr || addon->addon().conditions.empty()) return {};
    return addon->addon().conditions.front();
}

TEST(ManifestConditions, HaveStepsOfSeverity) {
    const auto full = condition(
        R"(name: full, metric: used, trigger: "> 80", clear: "< 75", severity: minor,
           severities: {critical: "> 95", major: "> 90"})");
    EXPECT_THAT(full.steps, ElementsAre(model::SeverityStep{90, 85, "major"},
                                        model::SeverityStep{95, 90, "critical"}));
}

TEST(ManifestConditions, CarryTheirPatience) {
    const auto full = condition(
        R"(name: full, metric: used, trigger: "> 80", failures: 3, recoveries: 2, min_delta: 1.5,
           for: 10m, keep_firing_for: 5m, show: [serial], after_clear: true)");
    EXPECT_EQ(full.failures, 3);
    EXPECT_EQ(full.recoveries, 2);
    EXPECT_EQ(full.min_delta, 1.5);
    EXPECT_EQ(full.sustained, 10min);
    EXPECT_EQ(full.keep_firing_for, 5min);
    EXPECT_TRUE(full.after_clear);
    EXPECT_THAT(full.show, ElementsAre(2));
}

TEST(ManifestConditions, WatchMoreThanValues) {
    const auto filling =
        condition(R"(name: filling, metric: used, rate: hour, window: 30m, trigger: "> 5")");
    EXPECT_EQ(filling.kind, ConditionKind::kRate);
    EXPECT_EQ(filling.rate_unit, 1h);
    EXPECT_EQ(filling.window, 30min);
    const auto gone = condition("name: gone, metric: packets, absent: 10m");
    EXPECT_EQ(gone.kind, ConditionKind::kAbsent);
    EXPECT_EQ(gone.absent, 10min);
    EXPECT_EQ(condition("name: swapped, metric: serial, changed: true").kind,
              ConditionKind::kChanged);
}

TEST(ManifestConditions, AreListedAsTypesOfAlerts) {
    const auto addon = compiled(manifest(R"(name: full, metric: used, trigger: "> 80", for: 10m)",
                                         R"yaml(
  - {name: limited, metric: used, trigger: "> {limit}", explained_by: swapped}
  - {name: swapped, metric: serial, changed: true}
signals: [{type: broken, when: "used < 0"}]
signal_types: {broken: {keep_firing_for: 1m}, other: {}}
)yaml"));
    ASSERT_NE(addon, nullptr);
    const model::Addon& box = addon->addon();
    EXPECT_EQ(box.conditions.size(), 2U) << "an empty parameter leaves one out";
    std::vector<std::string> names;
    for (const model::AlertType& type : box.alert_types) names.push_back(type.name);
    EXPECT_THAT(names, ElementsAre("broken", "full", "limited", "other", "swapped"));
    EXPECT_EQ(model::find_alert_type(box, "full")->sustained, 10min);
    EXPECT_EQ(model::find_alert_type(box, "broken")->keep_firing_for, 1min);
    EXPECT_FALSE(model::find_alert_type(box, "broken")->by_condition);
    EXPECT_TRUE(model::find_alert_type(box, "limited")->by_condition);
    EXPECT_EQ(model::find_alert_type(box, "nothing"), nullptr);
    EXPECT_FALSE(box.any_alert_type);
    const auto special = specialise(addon, {{"limit", "7"}});
    ASSERT_TRUE(special.has_value());
    EXPECT_EQ((*special)->addon().conditions[1].explained_by, 2);
}

struct Refusal {
    const char* condition;
    const char* message;
};

TEST(ManifestConditions, AreRefusedWithAdvice) {
    const Refusal cases[] = {
        {R"(name: a, metric: used)", "trigger"},
        {R"(name: a, metric: packets, rate: hour, trigger: "> 1")", "a counter is a rate already"},
        {R"(name: a, metric: used, window: 5m, trigger: "> 1")", "window: belongs to `rate`"},
        {R"(name: a, metric: used, changed: true)", "for a number write `rate`"},
        {R"(name: a, metric: serial, changed: true, absent: 5m)", "make two conditions"},
        {R"(name: a, metric: used, absent: 5m, trigger: "> 3")", "have no limit"},
        {R"(name: a, metric: used, absent: 40h)", "absent"},
        {R"(name: a, metric: used, absent: 5m, after_clear: true)", "after_clear: fits"},
        {R"(name: a, metric: used, trigger: "> 80", severities: {critical: "> 70"})",
         "do not rise: critical at 70 comes after warning at 80"},
        {R"(name: a, metric: used, trigger: "> 80", severities: {info: "> 90"})", "do not rise"},
        {R"(name: a, metric: used, trigger: "> 80", severities: {critical: "< 90"})",
         "write it like \"> 80\""},
        {R"(name: a, metric: used, trigger: "> 80", severities: {urgent: "> 90"})",
         "is no severity"},
        {R"(name: a, metric: serial, trigger: "== x", severities: {critical: "> 90"})",
         "fit a trigger with"},
        {R"(name: a, metric: used, trigger: "> 1", failures: 0)", "failures"},
        {R"(name: a, metric: used, trigger: "> 1", for: 30d)", "for"},
        {R"(name: a, metric: used, trigger: "> 1", show: [nothing])",
         "no metric of the same group"},
        {R"(name: a, metric: used, trigger: "> 1", explained_by: b)", "no condition of this addon"},
        {R"(name: a, metric: used, trigger: "> 1", explained_by: a)", "the condition itself"},
    };
    for (const Refusal& one : cases) {
        const CompileResult result = compile(manifest(one.condition), "box.yaml");
        EXPECT_EQ(result.addon, nullptr) << one.condition;
        EXPECT_THAT(result.diagnostics.text(), HasSubstr(one.message)) << one.condition;
        EXPECT_THAT(result.diagnostics.text(), HasSubstr("box.yaml:1")) << "with its line";
    }
    const CompileResult taken = compile(manifest(R"(name: full, metric: used, trigger: "> 80")",
                                                 "signals: [{type: full, when: \"used > 1\"}]"),
                                        "box.yaml");
    EXPECT_THAT(taken.diagnostics.text(), HasSubstr("is the name of a condition"));
}

}  // namespace
}  // namespace pollux::extract
