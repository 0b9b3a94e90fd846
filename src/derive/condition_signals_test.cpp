// Conditions from values to what people are told.
#include "derive/condition_signals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "derive/condition_test_support.hpp"

namespace pollux::derive {
namespace {

using test::Bench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

TEST(Conditions, SayWhatIsWrongInWords) {
    Bench bench;
    bench.add("high").summary = "Busy.";
    EXPECT_THAT(bench.poll({{"eth0", 93.5}, {"eth1", 3}}), ElementsAre("+high[eth0] warning"));
    EXPECT_EQ(bench.told.title, "Busy (eth0): 93.5 %");
    EXPECT_EQ(bench.told.message, "use is 93.5 %, above 90 %");
    EXPECT_EQ(bench.told.rule, "use > 90 (clear at <= 85)");
    EXPECT_EQ(bench.told.category, "test");
    EXPECT_THAT(bench.told.fields,
                ElementsAre(Pair("metric", "use"), Pair("value", "93.5"), Pair("unit", "percent"),
                            Pair("trigger", "90"), Pair("clear", "85")));
    EXPECT_THAT(bench.poll({{"eth0", 87}, {"eth1", 87}}), IsEmpty()) << "between";
    EXPECT_THAT(bench.poll({{"eth0", 40}, {"eth1", 3}}), ElementsAre("-high[eth0] warning"));
    EXPECT_EQ(bench.told.message, "use is 40 %");
}

TEST(Conditions, AWordThatSaysNothingNewIsLeftOutOfTheTitle) {
    Bench bench;
    model::ConditionDef& link = bench.add("link_down", Bench::kModel);
    link.word = "fault";
    link.comparison = model::Comparison::kEqual;
    EXPECT_THAT(bench.poll({}, "fault"), ElementsAre("+link_down warning"));
    EXPECT_EQ(bench.told.title, "link_down: fault");
    link.summary = "The link is down.";
    bench.poll({}, "ok");
    bench.poll({}, "fault");
    EXPECT_EQ(bench.told.title, "The link is down");
    EXPECT_EQ(bench.told.message, "model is fault");
}

TEST(Conditions, AreSilentWhileAllIsWell) {
    Bench bench;
    bench.add("high");
    bench.value(10);
    EXPECT_EQ(bench.seen.alarms, 0U) << "nothing to send";
    bench.value(95);
    const std::uint64_t raised = bench.seen.alarms;
    EXPECT_NE(raised, 0U);
    bench.value(97);
    EXPECT_EQ(bench.seen.alarms, raised) << "the same as before: nothing to send";
    bench.value(10);
    EXPECT_NE(bench.seen.alarms, 0U) << "that it is over";
    bench.value(10);
    EXPECT_EQ(bench.seen.alarms, 0U);
}

TEST(Conditions, NoValueLeavesThemAsTheyAre) {
    Bench bench;
    bench.add("high");
    bench.poll({{"eth0", 95}});
    EXPECT_THAT(bench.poll({}), IsEmpty());
    EXPECT_THAT(bench.last.open, ElementsAre(Pair("high", "eth0")));
    EXPECT_THAT(bench.poll({{"eth0", 1}}), ElementsAre("-high[eth0] warning"));
}

TEST(Conditions, ARowThatIsForgottenEndsWithAReason) {
    Bench bench;
    bench.add("high");
    bench.poll({{"eth0", 95}, {"eth1", 1}});
    EXPECT_THAT(bench.poll({{"eth1", 1}}, "m1", 23h), IsEmpty()) << "undecided";
    EXPECT_THAT(bench.poll({{"eth1", 1}}, "m1", 2h), ElementsAre("-high[eth0] warning"));
    EXPECT_THAT(bench.told.message, HasSubstr("eth0 was not seen for 1 d and is forgotten"));
    EXPECT_THAT(bench.poll({{"eth0", 95}}), ElementsAre("+high[eth0] warning"));
}

TEST(Conditions, CountPollsInARowAcrossARestart) {
    Bench bench;
    model::ConditionDef& high = bench.add("high");
    high.failures = 3;
    high.recoveries = 2;
    EXPECT_THAT(bench.value(95), IsEmpty());
    EXPECT_THAT(bench.value(10), IsEmpty()) << "the row begins anew";
    EXPECT_THAT(bench.value(95), IsEmpty());
    bench.restart();
    EXPECT_THAT(bench.value(95), IsEmpty());
    EXPECT_THAT(bench.poll({}), IsEmpty()) << "no value counts for nothing";
    EXPECT_THAT(bench.value(95), ElementsAre("+high warning"));
    EXPECT_THAT(bench.value(10), IsEmpty());
    bench.restart();
    EXPECT_THAT(bench.value(10), ElementsAre("-high warning"));
}

TEST(Conditions, OneAlertRisesAndFallsInSeverity) {
    Bench bench;
    model::ConditionDef& high = bench.add("high");
    high.steps = {{95, 90, "major"}, {99, 94, "critical"}};
    EXPECT_THAT(bench.value(91), ElementsAre("+high warning"));
    EXPECT_THAT(bench.value(99.5), ElementsAre("~high critical"));
    EXPECT_EQ(bench.told.message, "use is 99.5 %, above 99 %");
    EXPECT_THAT(bench.value(94.5), IsEmpty()) << "inside the hysteresis of critical";
    EXPECT_THAT(bench.value(93), ElementsAre("~high major"));
    bench.restart();
    EXPECT_THAT(bench.value(89), ElementsAre("~high warning"));
    EXPECT_THAT(bench.value(80), ElementsAre("-high warning"));
}

TEST(Conditions, TellAnUpdateWhenTheValueMovedFarEnough) {
    Bench bench;
    bench.add("high").min_delta = 3;
    bench.value(91);
    EXPECT_THAT(bench.value(93), IsEmpty());
    EXPECT_THAT(bench.value(94), ElementsAre("~high warning"));
    EXPECT_EQ(bench.told.message, "use is 94 %, above 90 %");
    EXPECT_THAT(bench.value(96.9), IsEmpty()) << "since the last update";
    EXPECT_THAT(bench.value(91), ElementsAre("~high warning"));
}

TEST(Conditions, WhatIsWrongFromTheFirstLookOnWaitsToBeClear) {
    Bench bench;
    bench.add("high").after_clear = true;
    EXPECT_THAT(bench.poll({{"eth0", 95}, {"eth1", 5}}), IsEmpty());
    EXPECT_EQ(bench.seen.conditions.at(0).level, model::Level::kTriggered) << "shown, not told";
    EXPECT_THAT(bench.last.open, ElementsAre(Pair("high", "eth0")));
    bench.restart();
    EXPECT_THAT(bench.poll({{"eth0", 96}, {"eth1", 95}}), ElementsAre("+high[eth1] warning"));
    EXPECT_THAT(bench.poll({{"eth0", 80}, {"eth1", 95}}), IsEmpty()) << "nothing was raised";
    EXPECT_THAT(bench.poll({{"eth0", 95}, {"eth1", 95}}), ElementsAre("+high[eth0] warning"));
    EXPECT_THAT(bench.poll({{"eth0", 5}, {"eth1", 5}}),
                UnorderedElementsAre("-high[eth0] warning", "-high[eth1] warning"));
}

TEST(Conditions, AnAlertOutlivesALostMemoryOfWhatWasClear) {
    Bench bench;
    bench.add("high").after_clear = true;
    bench.value(5);
    EXPECT_THAT(bench.value(95), ElementsAre("+high warning"));
    bench.memory = TargetMemory();
    EXPECT_THAT(bench.value(95), IsEmpty());
    EXPECT_EQ(bench.keeper.raised().size(), 1U) << "still wrong";
    EXPECT_THAT(bench.value(5), ElementsAre("-high warning"));
}

TEST(Conditions, WatchHowFastAGaugeMoves) {
    Bench bench;
    model::ConditionDef& filling = bench.add("filling");
    filling.kind = model::ConditionKind::kRate;
    filling.rate_unit = 1h;
    filling.trigger = 60;
    filling.clear = 60;
    EXPECT_THAT(bench.value(10), IsEmpty()) << "one value is no rate";
    EXPECT_THAT(bench.value(10.5), IsEmpty());
    EXPECT_THAT(bench.value(12.5), ElementsAre("+filling warning"));
    EXPECT_EQ(bench.told.message, "use changes by 120 % per hour, above 60 % per hour");
    EXPECT_THAT(bench.poll({}), IsEmpty());
    EXPECT_THAT(bench.value(13), IsEmpty()) << "not known: there was no value before";
    EXPECT_THAT(bench.value(13), ElementsAre("-filling warning"));
}

TEST(Conditions, ARateOverAWindowLooksPastANoisyMinute) {
    Bench bench;
    model::ConditionDef& filling = bench.add("filling");
    filling.kind = model::ConditionKind::kRate;
    filling.rate_unit = 1h;
    filling.window = 10min;
    filling.trigger = 30;
    filling.clear = 30;
    for (int minute = 0; minute < 20; ++minute) {
        const double noise = minute % 2 == 0 ? 2 : 0;  // 120 per hour from poll to poll
        EXPECT_THAT(bench.value(10 + noise), IsEmpty()) << minute;
        if (minute == 12) bench.restart();
    }
    std::vector<std::string> told;
    for (int minute = 0; minute < 10 && told.empty(); ++minute) told = bench.value(10 + minute);
    EXPECT_THAT(told, ElementsAre("+filling warning"));
}

TEST(Conditions, NoticeThatAValueIsMissing) {
    Bench bench;
    model::ConditionDef& gone = bench.add("gone");
    gone.kind = model::ConditionKind::kAbsent;
    gone.absent = 10min;
    bench.poll({{"a", 1}, {"b", 1}});
    EXPECT_THAT(bench.poll({{"b", 1}}), IsEmpty());
    EXPECT_THAT(bench.poll({{"b", 1}}, "m1", 9min), IsEmpty());
    bench.restart();
    EXPECT_THAT(bench.poll({{"b", 1}}), ElementsAre("+gone[a] warning"));
    EXPECT_THAT(bench.told.message, HasSubstr("use was in no answer for 10 min"));
    EXPECT_EQ(bench.told.rule, "use absent for 10 min");
    EXPECT_THAT(bench.poll({{"b", 1}}), IsEmpty());
    EXPECT_THAT(bench.poll({{"a", 1}, {"b", 1}}), ElementsAre("-gone[a] warning"));
    EXPECT_EQ(bench.told.message, "use is there again");
    EXPECT_THAT(bench.poll({{"b", 1}}, "m1", 1h), IsEmpty()) << "the time begins anew";
}

TEST(Conditions, NoticeAChangeAndExplainByIt) {
    Bench bench;
    model::ConditionDef& renewed = bench.add("renewed", Bench::kModel);
    renewed.kind = model::ConditionKind::kChanged;
    renewed.severity = "info";
    renewed.summary = "It was replaced.";
    model::ConditionDef& high = bench.add("high");
    high.explained_by = 0;
    high.show = {Bench::kModel};
    EXPECT_THAT(bench.poll({{"", 95}}, "m1"), ElementsAre("+high warning")) << "the first is none";
    EXPECT_EQ(bench.told.message, "use is 95 %, above 90 %; model is m1");
    EXPECT_THAT(bench.poll({{"", 2}}, "m2"),
                UnorderedElementsAre("+renewed info", "-high warning"));
    EXPECT_THAT(bench.poll({{"", 2}}, "m2"), ElementsAre("-renewed info"));
    bench.poll({{"", 95}}, "m2");
    bench.poll({{"", 2}}, "m3");
    const auto& signals = bench.last.signals;
    const auto cleared = std::ranges::find(signals, "high", &model::Signal::type);
    ASSERT_NE(cleared, signals.end());
    EXPECT_EQ(cleared->message, "use is 2 %; It was replaced");
}

TEST(Conditions, TheFleetMovesLimitsForTargetsAndRows) {
    Bench bench;
    bench.add("high").steps = {{95, 90, "critical"}};
    model::AlertRule& rule = bench.policy.types["high"];
    rule.all.trigger = 97;
    rule.rows = {{"eth0", {.enabled = false}},
                 {"Gi1/*", {.trigger = 70, .severity = model::Severity::kMinor}}};
    EXPECT_THAT(bench.poll({{"eth0", 99}, {"eth1", 96}, {"eth2", 98}, {"Gi1/3", 75}}),
                UnorderedElementsAre("+high[eth2] critical", "+high[Gi1/3] minor"));
    EXPECT_THAT(bench.poll({{"eth0", 99}, {"eth1", 96}, {"eth2", 93}, {"Gi1/3", 66}}), IsEmpty())
        << "clear keeps its distance of 5";
    EXPECT_THAT(bench.poll({{"eth0", 99}, {"eth1", 96}, {"eth2", 91}, {"Gi1/3", 64}}),
                UnorderedElementsAre("-high[eth2] critical", "-high[Gi1/3] minor"));
}

TEST(Conditions, AnEditedLimitKeepsWhatStillMakesSense) {
    Bench bench;
    bench.add("high");
    bench.poll({{"a", 92}, {"b", 99}});
    model::AlertRule& rule = bench.policy.types["high"];
    rule.all = {.trigger = 95, .clear = 90};
    // The new limits are told; 92 lies between them, so nothing ends.
    EXPECT_THAT(bench.poll({{"a", 92}, {"b", 99}}),
                UnorderedElementsAre("~high[a] warning", "~high[b] warning"));
    rule.rows = {{"b", {.enabled = false}}};
    EXPECT_THAT(bench.poll({{"a", 92}, {"b", 99}}), ElementsAre("-high[b] warning"));
    EXPECT_EQ(bench.told.message, "the fleet has switched this alert off");
    rule.rows.clear();
    EXPECT_THAT(bench.poll({{"a", 92}, {"b", 99}}), ElementsAre("+high[b] warning"));
}

TEST(Conditions, WhatAnEarlierProcessRaisedStaysUntilItIsDecided) {
    Bench bench;
    bench.addon.metrics[Bench::kUse].per_row = false;
    bench.add("high");
    bench.value(95);
    bench.memory = TargetMemory();  // was not written before the crash
    EXPECT_THAT(bench.poll({}), IsEmpty());
    EXPECT_THAT(bench.value(87), IsEmpty()) << "between says nothing";
    const std::uint64_t open = bench.seen.alarms;
    EXPECT_THAT(bench.value(10), ElementsAre("-high warning"));
    EXPECT_NE(bench.seen.alarms, open) << "so the shard sends it";
}

TEST(Conditions, AMemoryWithoutStatesIsUnderstood) {
    base::ByteWriter old;  // version 1: one series of `use`, raised
    old.u8(1);
    old.zigzag(1'000'000'000);
    old.boolean(true);
    old.boolean(false);
    old.varint(0);
    old.varint(0);
    old.varint(1);
    old.varint(Bench::kUse);
    old.boolean(false);
    old.string("eth0");
    old.u8(2);
    old.zigzag(0);
    old.varint(2);
    old.f64(95);
    Bench bench;
    bench.add("high");
    bench.memory = TargetMemory::decode(old.view(), bench.now).value();
    EXPECT_TRUE(bench.memory.active(0, 0));
    bench.poll({{"eth0", 88}});
    ASSERT_EQ(bench.last.signals.size(), 1U) << "still raised";
    EXPECT_EQ(bench.last.signals[0].message, "use is 95 %, above 90 %");
    bench.poll({{"eth0", 1}});
    EXPECT_TRUE(bench.last.signals[0].clear);
}

}  // namespace
}  // namespace pollux::derive
