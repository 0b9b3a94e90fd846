// Tasks and settings change while the core runs: nothing is lost, nothing is postponed.
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::Outcome;
using model::Tier;
using namespace std::chrono_literals;

TEST(CoreEdits, AShorterIntervalHoldsAtOnce) {
    CoreHarness h;
    h.add({poll("c::a", 3600s)});
    h.finish("c::a");
    h.pass(100s);
    h.add({poll("c::a", 60s)});
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 60) << "not after the old hour";
    EXPECT_TRUE(h.out.starts.empty());
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a");
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 60);
}

TEST(CoreEdits, ALongerIntervalNeverPostponesAPendingSlot) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    h.pass(10s);
    h.add({poll("c::a", 3600s)});
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 50);
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a");
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 3600);
}

TEST(CoreEdits, AnEditDuringARunHoldsForTheNext) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    auto spec = poll("c::a", 20s);
    spec.timeout = 5s;
    h.add({spec});
    EXPECT_TRUE(h.runs("c::a"));
    EXPECT_TRUE(h.out.cancels.empty());
    h.finish("c::a");
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 20);
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_EQ(h.running.at("c::a").deadline - h.now(), 5s);
}

TEST(CoreEdits, WhoWaitsKeepsItsPlaceInLine) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder")});
    h.add({job("c::first")});
    h.pass(1s);
    h.add({job("c::second")});
    h.pass(1s);
    auto edited = job("c::first");
    edited.timeout = 7s;
    h.add({edited});
    EXPECT_EQ(h.place("c::first"), Place::kReady);
    h.finish("c::holder");
    EXPECT_TRUE(h.runs("c::first")) << "an edit does not send it to the end";
    EXPECT_EQ(h.running.at("c::first").deadline - h.now(), 7s);
}

// Its entry from before the edit is still in line: when it starts, its class seems to have one more
// task, and a check ends the process.
TEST(CoreEdits, AnEditedTaskStandsInLineOnce) {
    auto settings = wide_settings();
    settings.classes[0].slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder")});
    h.add({job("c::waits")});
    h.pass(1s);
    auto edited = job("c::waits");
    edited.timeout = 7s;
    h.add({edited});
    h.pass(1s);
    h.finish("c::holder");
    EXPECT_TRUE(h.runs("c::waits"));
    EXPECT_EQ(h.core().ready(), 0u);
}

// The same when it is edited in the step in which it became ready.
TEST(CoreEdits, ATaskAddedAndEditedInOneStepStandsInLineOnce) {
    auto settings = wide_settings();
    settings.classes[0].slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder")});
    h.step({CoreHarness::upsert({job("c::waits")}), CoreHarness::upsert({job("c::waits")})});
    h.finish("c::holder");
    EXPECT_TRUE(h.runs("c::waits"));
}

TEST(CoreEdits, WhoWaitsForTheOldDemandAsksAnew) {
    auto settings = wide_settings({"c", "d"});
    settings.resources = {{"lane", 1}};
    settings.device_class_slots = 1;
    CoreHarness h(settings);
    const auto with_lane = [](model::TaskSpec spec) {
        spec.demand = {{"lane", 1}};
        return spec;
    };
    h.add({with_lane(job("c::holder")), with_lane(job("c::waits"))});
    ASSERT_EQ(h.place("c::waits"), Place::kResourceQueue);
    h.pass(1s);
    h.add({job("c::waits")});
    EXPECT_TRUE(h.runs("c::waits")) << "it no longer needs the lane";

    h.add({poll_on("d::a", "box"), poll_on("d::b", "box")});
    ASSERT_EQ(h.place("d::b"), Place::kDeviceQueue);
    h.pass(1s);
    h.add({poll_on("d::b", "other")});
    EXPECT_TRUE(h.runs("d::b")) << "another device";

    auto far = job("c::far");
    far.region = "basel";
    h.add({far});
    ASSERT_EQ(h.place("c::far"), Place::kRegionQueue);
    h.pass(1s);
    far.region = "";
    h.add({far});
    EXPECT_TRUE(h.runs("c::far"));
}

TEST(CoreEdits, AnEditedTaskLeavesNoTraceWhereItWaited) {
    auto settings = wide_settings({"a", "b", "c"});
    settings.device_slots = 1;
    CoreHarness h(settings);
    for (const std::string one : {"a", "b", "c"}) h.add({poll_on(one + "::x", "box")});
    h.pass(1s);
    h.add({poll_on("b::x", "other")});
    EXPECT_TRUE(h.runs("b::x"));
    h.finish("a::x");
    EXPECT_TRUE(h.runs("c::x"));
    h.run_for(30s);
    EXPECT_EQ(h.starts_of("b::x").size(), 1u);
}

TEST(CoreEdits, WhoWaitsForTheRateOfItsDevicePassesTheTurnOn) {
    auto settings = wide_settings();
    settings.device_rate = 0.1;
    CoreHarness h(settings);
    h.add(
        {poll_on("c::a", "box", 600s), poll_on("c::b", "box", 600s), poll_on("c::d", "box", 600s)});
    ASSERT_EQ(h.place("c::b"), Place::kDeviceRate);
    h.remove("c::b");
    h.run_for(11s);
    EXPECT_TRUE(h.runs("c::d"));
}

TEST(CoreEdits, DisablingAndEnablingByAnEdit) {
    CoreHarness h;
    auto spec = poll("c::a", 60s);
    h.add({spec});
    h.finish("c::a");
    spec.enabled = false;
    h.add({spec});
    EXPECT_EQ(h.place("c::a"), Place::kDisabled);
    h.add({spec});
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kEnabled).size(), 1u) << "once is enough";
    spec.enabled = true;
    h.add({spec});
    EXPECT_EQ(h.place("c::a"), Place::kScheduled);
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kEnabled).size(), 2u);
    EXPECT_EQ(h.starts.size(), 1u) << "its slot is still ahead";
}

TEST(CoreEdits, AnEditKeepsTheFailures) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a", Outcome::kTransient);
    const auto due = h.slot("c::a").next_due;
    h.add({poll("c::a", 30s)});
    EXPECT_EQ(h.failure("c::a").consecutive, 1u);
    EXPECT_EQ(h.slot("c::a").next_due, due) << "the ladder decides";
}

TEST(CoreEdits, AnySpellingOfAKeyFindsIt) {
    CoreHarness h;
    h.add({poll("c::caf\xc3\xa9")});
    const std::string decomposed = "c::cafe\xcc\x81";
    EXPECT_TRUE(h.core().is_live(h.core().find(decomposed)));
    EXPECT_TRUE(h.core().explain(decomposed));
    h.operate(OperatorVerb::kDisable, decomposed);
    EXPECT_FALSE(h.slot("c::caf\xc3\xa9").has(kFlagEnabled));
    h.step({TaskRemoved{decomposed}});
    EXPECT_EQ(h.core().size(), 0U);
}

TEST(CoreEdits, VersionsAreRemembered) {
    CoreHarness h;
    auto spec = poll("c::a");
    spec.version = 3;
    h.add({spec});
    EXPECT_TRUE(h.core().matches_version("c::a", 3));
    EXPECT_FALSE(h.core().matches_version("c::a", 4));
    EXPECT_FALSE(h.core().matches_version("c::b", 3));
    spec.version = 4;
    h.add({spec});
    EXPECT_TRUE(h.core().matches_version("c::a", 4));
}

TEST(CoreEdits, ARemovedTaskIsForgottenWhole) {
    auto settings = wide_settings();
    settings.device_class_slots = 1;
    CoreHarness h(settings);
    h.add({poll_on("c::a", "box"), poll_on("c::b", "box")});
    const StartRun run = h.running.at("c::a");
    h.remove("c::a");
    ASSERT_EQ(h.out.cancels.size(), 1u);
    EXPECT_EQ(h.out.cancels[0].run, run.run);
    ASSERT_EQ(h.out.forgets.size(), 1u);
    EXPECT_EQ(h.out.forgets[0].key, "c::a");
    EXPECT_TRUE(h.runs("c::b")) << "what it held is free";
    EXPECT_EQ(h.core().size(), 1u);
    EXPECT_FALSE(h.core().is_live(run.task));
    h.step({RunFinished{run.task, run.run}, Poked{run.task, PokeReason::kTrap},
            Observed{run.task, h.now(), true}});
    EXPECT_EQ(h.core().stats().stale_results, 1u);
    EXPECT_EQ(h.core().stats().pokes_ignored, 2u);
    h.add({poll("c::a")});
    EXPECT_TRUE(h.runs("c::a"));
    EXPECT_NE(h.handle("c::a"), run.task) << "the old handle stays useless";
}

TEST(CoreEdits, ARemovedFailingTaskLeavesNoBurden) {
    CoreHarness h;
    h.add({poll("c::a"), poll("c::b")});
    for (int i = 0; i < 6; ++i) {
        if (!h.runs("c::a")) {
            ASSERT_TRUE(h.run_to_start("c::a"));
        }
        h.finish("c::a", Outcome::kTransient);
    }
    h.remove("c::a");
    h.add({poll("c::a")});
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
    EXPECT_EQ(h.slot("c::a").attempt, 1u);
}

// --- settings

TEST(CoreEdits, MoreSlotsAreUsedAtOnce) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    for (int i = 0; i < 5; ++i) h.add({job("c::" + std::to_string(i))});
    EXPECT_EQ(h.running.size(), 1u);
    settings.global_slots = 4;
    h.change_settings(settings);
    EXPECT_EQ(h.running.size(), 4u);
    settings.global_slots = 2;
    h.change_settings(settings);
    h.finish("c::0");
    EXPECT_EQ(h.running.size(), 3u) << "fewer slots: nobody new until there is room";
}

TEST(CoreEdits, NewClassesMayComeAndEmptyOnesMayGo) {
    CoreHarness h(wide_settings({"a", "b"}));
    h.add({poll("b::x")});
    auto settings = wide_settings({"new", "b"});
    h.change_settings(settings);
    EXPECT_TRUE(h.rejections.empty()) << h.last_rejection();
    h.add({poll("new::x"), poll("b::y")});
    EXPECT_TRUE(h.rejections.empty()) << h.last_rejection();
    EXPECT_EQ(h.core().settings().classes[h.slot("b::x").class_index].name, "b")
        << "tasks keep their class whatever the order of the list";
    EXPECT_EQ(h.core().settings().classes[h.slot("new::x").class_index].name, "new");
    EXPECT_EQ(h.slot("b::x").class_index, h.slot("b::y").class_index);
}

TEST(CoreEdits, StalenessBoundsFollowTheSettings) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    EXPECT_EQ(h.core().freshness(h.handle("c::a"), h.now()).bound, 60s);
    auto settings = h.core().settings();
    settings.classes[0].staleness_bound = 45s;
    h.change_settings(settings);
    EXPECT_EQ(h.core().freshness(h.handle("c::a"), h.now()).bound, 45s);
    settings.classes[0].staleness_bound.reset();
    settings.staleness_bound = 90s;
    h.change_settings(settings);
    EXPECT_EQ(h.core().freshness(h.handle("c::a"), h.now()).bound, 90s);
}

TEST(CoreEdits, NewAgingHoldsForWhoWaits) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder")});
    auto low = job("c::low");
    low.tier = Tier::kLow;
    h.add({low});
    h.pass(9s);
    h.add({job("c::normal")});
    settings.aging_step = 5s;
    h.change_settings(settings);
    h.finish("c::holder");
    EXPECT_TRUE(h.runs("c::low")) << "one step in nine seconds makes it normal, and it is older";
}

}  // namespace
}  // namespace pollux::schedule
