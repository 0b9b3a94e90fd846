// The gates one by one: what keeps a task from starting, and what opens it. Limits on devices,
// regions, resources and rates are in core_admission_test.cpp.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::Outcome;
using model::Trigger;
using model::WhenUnmet;
using namespace std::chrono_literals;

// --- due

TEST(CoreGates, ASingleNewTaskStartsAtOnce) {
    CoreHarness h;
    h.add({poll("c::a")});
    ASSERT_EQ(h.out.starts.size(), 1u);
    const StartRun& start = h.out.starts.front();
    EXPECT_EQ(start.task, h.handle("c::a"));
    EXPECT_EQ(start.run, (model::RunId{1, 1})) << "epoch and counter";
    EXPECT_EQ(start.due, h.now());
    EXPECT_EQ(start.deadline, h.now() + 30s) << "the timeout of the spec";
    EXPECT_EQ(start.attempt, 1u);
    EXPECT_EQ(start.trigger, Trigger::kSchedule);
    EXPECT_FALSE(start.fresh_login);
    EXPECT_EQ(h.place("c::a"), Place::kRunning);
}

TEST(CoreGates, ABulkOfNewTasksIsPhasedOverTheInterval) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 600; ++i) specs.push_back(poll("c::" + std::to_string(i)));
    h.add(specs);
    EXPECT_TRUE(h.out.starts.empty());
    h.worker = [](const std::string&) { return WorkerReply{}; };
    h.run_for(60s);
    EXPECT_EQ(h.starts.size(), 600u) << "each one once within its interval";
    std::map<int, int> per_slice;
    for (const auto& start : h.starts) ++per_slice[static_cast<int>(h.seconds(start.at) / 6)];
    for (const auto& [slice, count] : per_slice) EXPECT_NEAR(count, 60, 30) << "slice " << slice;
}

TEST(CoreGates, ThePhaseIsAHashOfTheKey) {
    const auto dues = [](const std::vector<std::string>& names) {
        CoreHarness h;
        std::vector<model::TaskSpec> specs;
        for (const auto& name : names) specs.push_back(poll("c::" + name));
        h.add(specs);
        std::map<std::string, double> all;
        for (const auto& name : names) all[name] = h.wait_s("c::" + name);
        return all;
    };
    std::vector<std::string> names;
    for (int i = 0; i < 50; ++i) names.push_back(std::to_string(i));
    const auto first = dues(names);
    std::ranges::reverse(names);
    EXPECT_EQ(dues(names), first) << "neither the order nor anything else decides";
}

TEST(CoreGates, SinglesInAStormAreNotAllAtOnce) {
    CoreHarness h;
    for (int i = 0; i < 100; ++i) h.add({poll("c::" + std::to_string(i))});
    EXPECT_LE(h.starts.size(), 16u) << "a burst of sixteen, then one a second, the rest is phased";
    h.pass(3s);
    h.add({poll("c::later")});
    EXPECT_TRUE(h.runs("c::later"));
}

TEST(CoreGates, TheNextDueIsAnchoredOnThePlan) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    const base::BootTime planned = h.starts.front().at;
    for (int round = 1; round <= 5; ++round) {
        h.pass(7s);  // each run takes seven seconds
        h.finish("c::a");
        EXPECT_EQ(h.slot("c::a").next_due, planned + round * 60s) << "no drift";
        ASSERT_TRUE(h.run_to_start("c::a"));
        EXPECT_EQ(h.now(), planned + round * 60s);
    }
}

TEST(CoreGates, MissedSlotsAreSkipped) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    const base::BootTime planned = h.now();
    h.pass(25s);
    h.finish("c::a");
    EXPECT_EQ(h.slot("c::a").next_due, planned + 30s) << "10 s and 20 s are over, not made up for";
    h.pass(500s);
    h.step();
    EXPECT_EQ(h.starts_of("c::a").size(), 2u) << "late once, not fifty times";
    h.finish("c::a");
    EXPECT_EQ(h.slot("c::a").next_due, planned + 530s);
}

TEST(CoreGates, NeverBeforeItIsDue) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    for (int i = 0; i < 59; ++i) {
        h.pass(1s);
        h.step();
        ASSERT_TRUE(h.out.starts.empty()) << i;
    }
    h.pass(1s);
    h.step();
    EXPECT_EQ(h.out.starts.size(), 1u);
}

TEST(CoreGates, IntervalsBeyondTheWheel) {
    CoreHarness h;
    h.add({poll("c::a", 24h * 31)});
    h.finish("c::a");
    h.pass(24h * 31 - 1s);
    h.step();
    EXPECT_TRUE(h.out.starts.empty());
    h.pass(1s);
    h.step();
    EXPECT_EQ(h.out.starts.size(), 1u);
}

TEST(CoreGates, WakeAtIsTheNextThingToDo) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    h.worker = [](const std::string&) { return WorkerReply{}; };
    h.run_for(10min);
    EXPECT_EQ(h.starts_of("c::a").size(), 11u);
    for (std::size_t i = 1; i < h.starts.size(); ++i) {
        EXPECT_EQ(h.starts[i].at - h.starts[i - 1].at, 60s) << "a step at every wake-up is enough";
    }
    EXPECT_EQ(h.spins, 0u);
}

// --- enabled

TEST(CoreGates, ADisabledTaskWaitsToBeEnabled) {
    CoreHarness h;
    auto spec = poll("c::a");
    spec.enabled = false;
    h.add({spec});
    EXPECT_EQ(h.place("c::a"), Place::kDisabled);
    h.run_for(10min);
    EXPECT_TRUE(h.starts.empty());
    h.operate(OperatorVerb::kEnable, "c::a");
    EXPECT_TRUE(h.runs("c::a"));
    const auto seen = h.changes_of("c::a", ChangeKind::kEnabled);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].from, 0);
    EXPECT_EQ(seen[0].to, 1);
}

// --- in flight

TEST(CoreGates, NeverTwoRunsOfOneTask) {
    CoreHarness h;
    auto spec = poll("c::a", 1s);
    spec.timeout = 60s;
    h.add({spec});
    for (int i = 0; i < 30; ++i) {
        h.pass(1s);
        h.step({Poked{h.handle("c::a"), PokeReason::kTrap}});
    }
    EXPECT_EQ(h.starts.size(), 1u);
    EXPECT_EQ(h.core().in_flight(), 1u);
}

TEST(CoreGates, ALostRunIsTakenBackAtTheEndOfItsLease) {
    CoreHarness h;
    auto spec = poll("c::a");
    spec.timeout = 10s;
    h.add({spec});
    const model::RunId lost = h.out.starts.front().run;
    h.run_for(11s);
    EXPECT_TRUE(h.runs("c::a")) << "deadline and a grace for the result to travel";
    h.run_for(1500ms);
    ASSERT_EQ(h.core().stats().expired, 1u);
    EXPECT_EQ(h.failure("c::a").consecutive, 0u) << "interrupted never counts as a failure";
    EXPECT_LE(h.wait_s("c::a"), 1.5) << "asked again soon";
    h.run_for(2s);
    ASSERT_TRUE(h.runs("c::a"));
    EXPECT_NE(h.running.at("c::a").run, lost);
    h.step({RunFinished{h.handle("c::a"), lost, Outcome::kPermanent}});
    EXPECT_EQ(h.core().stats().stale_results, 1u) << "the late answer finds nothing";
    EXPECT_TRUE(h.runs("c::a"));
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
}

TEST(CoreGates, AnExpiredLeaseTellsTheWorkerToStop) {
    CoreHarness h;
    auto spec = poll("c::a");
    spec.timeout = 10s;
    h.add({spec});
    const model::RunId lost = h.out.starts.front().run;
    h.pass(12s);
    h.step();
    ASSERT_EQ(h.out.cancels.size(), 1u);
    EXPECT_EQ(h.out.cancels.front().run, lost);
}

TEST(CoreGates, AHolderThatIsGoneEndsItsRunAtOnce) {
    CoreHarness h;
    h.add({poll("c::a")});
    const StartRun start = h.running.at("c::a");
    h.step({RunExpired{start.task, start.run}});
    EXPECT_EQ(h.core().stats().expired, 1u);
    EXPECT_EQ(h.core().in_flight(), 0u);
    EXPECT_TRUE(h.out.cancels.empty()) << "there is nobody to tell";
    h.step({RunExpired{start.task, start.run}});
    EXPECT_EQ(h.core().stats().stale_results, 1u) << "said twice";
    EXPECT_EQ(h.core().stats().expired, 1u);
}

TEST(CoreGates, ResultsThatDoNotBelongAreCountedAndIgnored) {
    CoreHarness h;
    h.add({poll("c::a")});
    const StartRun start = h.running.at("c::a");
    h.step({RunFinished{start.task, {0, start.run.counter}}});
    h.step({RunFinished{start.task, {1, 99}}});
    h.step({RunFinished{{77, 1}, start.run}});
    h.step({RunFinished{{start.task.index, start.task.generation + 1}, start.run}});
    EXPECT_EQ(h.core().stats().stale_results, 4u);
    EXPECT_EQ(h.core().stats().finished, 0u);
    h.finish("c::a");
    h.step({RunFinished{start.task, start.run, Outcome::kTransient}});
    EXPECT_EQ(h.core().stats().stale_results, 5u) << "delivered twice, applied once";
    EXPECT_EQ(h.core().stats().finished, 1u);
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
}

TEST(CoreGates, EveryStartHasExactlyOneEnd) {
    CoreHarness h;
    for (int i = 0; i < 10; ++i) h.add({poll("c::" + std::to_string(i))});
    ASSERT_EQ(h.core().in_flight(), 10u);
    h.finish("c::0");
    h.finish("c::1", Outcome::kTransient);
    h.remove("c::2");
    h.step({RunExpired{h.running.at("c::3").task, h.running.at("c::3").run}});
    const CoreStats& stats = h.core().stats();
    EXPECT_EQ(stats.finished, 2u);
    EXPECT_EQ(stats.cancelled, 1u);
    EXPECT_EQ(stats.expired, 1u);
    EXPECT_EQ(stats.started,
              stats.finished + stats.expired + stats.cancelled + h.core().in_flight());
}

TEST(CoreGates, TimeThatGoesBackCountsAsTheLatest) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    h.finish("c::a");
    h.pass(9s);
    h.step();
    h.pass(-5s);
    h.step();
    h.pass(6s);
    h.step();
    EXPECT_EQ(h.starts_of("c::a").size(), 2u);
}

// --- needs of recurring tasks

TEST(CoreGates, AResourceBehindAConnectionIsHeldWhileThatIsDown) {
    CoreHarness h;
    auto child = poll("c::child");
    child.needs = {any_of({"c::link"})};
    h.add({poll("c::link"), child});
    EXPECT_TRUE(h.runs("c::link"));
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds) << "nothing is known about the link";
    h.finish("c::link");
    EXPECT_LE(h.wait_s("c::child"), 60) << "released, spread over an interval";
    h.run_for(60s);
    EXPECT_TRUE(h.runs("c::child"));
    EXPECT_EQ(h.starts_of("c::child").front().command.trigger, Trigger::kPoke);
    h.finish("c::child");

    // One failure is confirmed first; the third one is the link down.
    for (int failures = 1; failures <= 3; ++failures) {
        if (!h.runs("c::link")) {
            ASSERT_TRUE(h.run_to_start("c::link"));
        }
        if (h.runs("c::child")) h.finish("c::child");
        h.finish("c::link", Outcome::kTransient);
    }
    const std::size_t before = h.starts_of("c::child").size();
    h.run_for(70s);
    EXPECT_EQ(h.starts_of("c::child").size(), before);
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
}

TEST(CoreGates, AChildOfADeadParentIsStillAskedAtItsSlowestRate) {
    CoreHarness h;
    auto child = adaptive("c::child", 5s, 10s, 80s);
    child.needs = {needs_device("switch", WhenUnmet::kSlow)};
    h.add({child});
    EXPECT_TRUE(h.runs("c::child")) << "an unknown parent holds nothing back";
    h.finish("c::child");
    EXPECT_DOUBLE_EQ(h.wait_s("c::child"), 10);
    h.parent("switch", false);
    h.run_for(10s);
    ASSERT_TRUE(h.runs("c::child"));
    h.finish("c::child");
    EXPECT_DOUBLE_EQ(h.wait_s("c::child"), 80) << "max, while the parent is down";
    EXPECT_EQ(h.explain("c::child").interval.limited_by, LimitedBy::kParent);
    h.parent("switch", true);
    EXPECT_LE(h.wait_s("c::child"), 10) << "back to its base within one";
}

TEST(CoreGates, OneHealthyParentIsEnough) {
    CoreHarness h;
    auto child = poll("c::child");
    child.needs = {
        {{{model::ParentKind::kDevice, "a"}, {model::ParentKind::kDevice, "b"}}, WhenUnmet::kHold}};
    h.add({child});
    h.parent("a", false);
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
    h.parent("b", true);
    EXPECT_NE(h.place("c::child"), Place::kWaitsForNeeds);
    h.run_for(60s);
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreGates, ManyHeldChildrenComeBackSpread) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 200; ++i) {
        auto child = poll("c::" + std::to_string(i), 300s);
        child.needs = {needs_device("link")};
        specs.push_back(child);
    }
    h.add(specs);
    h.run_for(300s);
    EXPECT_TRUE(h.starts.empty());
    h.parent("link", true);
    h.worker = [](const std::string&) { return WorkerReply{}; };
    h.run_for(10s);
    EXPECT_LT(h.starts.size(), 70u) << "a sixth of them, more or less";
    h.run_for(51s);
    EXPECT_EQ(h.starts.size(), 200u) << "all within a minute";
}

TEST(CoreGates, NewsAboutADeviceThatNobodyNeedsChangesNoTask) {
    CoreHarness h;
    h.add({poll_on("c::a", "switch")});
    const auto before = h.picture();
    h.parent("unknown", false);
    h.parent("switch", false);
    EXPECT_EQ(h.picture().records, before.records);
    EXPECT_EQ(h.picture().places, before.places);
    EXPECT_TRUE(h.rejections.empty());
}

// The news came before the child: it must not be lost.
TEST(CoreGates, AChildThatComesLaterKnowsThatItsParentIsHealthy) {
    CoreHarness h;
    h.parent("switch", true);
    auto child = poll("c::child");
    child.needs = {needs_device("switch")};
    h.add({child});
    h.run_for(60s);
    EXPECT_TRUE(h.runs("c::child"));
}

}  // namespace
}  // namespace pollux::schedule
