// The checker can fail: each rule is broken on purpose, and exactly that rule is found.
#include "sim/invariants.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sim/invariants_test_support.hpp"

namespace pollux::sim {
namespace {

using model::Outcome;
using model::Trigger;
using schedule::CoreInspector;
using schedule::Place;
using namespace std::chrono_literals;

TEST(Invariants, AnHonestEngineBreaksNothing) {
    CheckedEngine e;
    e.add({recurring("a::x", "d"), recurring("b::x", "d"), job_named("b::job")});
    for (const Outcome outcome : {Outcome::kOk, Outcome::kTransient, Outcome::kPermanent}) {
        e.finish(outcome);
        e.pass(200);
    }
    EXPECT_EQ(e.all_broken(), Rules{});
    EXPECT_GE(e.starts().size(), 5U) << "nothing happened";
}

TEST(Invariants, FindsTwoRunsOfOneTask) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    ASSERT_EQ(e.starts().size(), 1U);
    e.start_falsely({e.invented("a::x")});
    EXPECT_EQ(e.broken(), Rules{Rule::kTwoRuns});
}

TEST(Invariants, FindsARunThatOutlivesItsTask) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.step({schedule::TaskRemoved{"a::x"}},
           [](engine::Output& out) { out.commands.cancels.clear(); });
    e.invariants().full_check(e.now(), e.engine());
    EXPECT_EQ(e.violations().of(Rule::kTwoRuns), 1U);
}

// Tasks that came with others wait for their first turn: nothing runs yet.
std::vector<model::TaskSpec> bulk(const std::vector<model::TaskSpec>& wanted) {
    std::vector<model::TaskSpec> specs = wanted;
    for (int i = 0; i < 40; ++i) specs.push_back(recurring("a::filler-" + std::to_string(i)));
    return specs;
}

TEST(Invariants, FindsAStartBeforeItsTime) {
    CheckedEngine e;
    e.add(bulk({recurring("a::x")}));
    auto start = e.invented("a::x");
    start.due = e.now() + 1s;
    e.start_falsely({start});
    EXPECT_EQ(e.broken(), Rules{Rule::kBeforeDue});
}

TEST(Invariants, FindsARunWithoutTimeToAnswer) {
    CheckedEngine e;
    e.add(bulk({recurring("a::x")}));
    auto start = e.invented("a::x");
    start.deadline = e.now();
    e.start_falsely({start});
    EXPECT_EQ(e.broken(), Rules{Rule::kDeadline});
}

TEST(Invariants, FindsAnOldEpoch) {
    CheckedEngine e;
    e.add(bulk({recurring("a::x")}));
    auto start = e.invented("a::x");
    --start.run.epoch;
    e.start_falsely({start});
    EXPECT_EQ(e.broken(), Rules{Rule::kEpoch});
}

TEST(Invariants, FindsAStartSoonerThanTheInterval) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.pass(30);
    auto start = e.invented("a::x");
    start.trigger = Trigger::kSchedule;
    e.start_falsely({start});
    EXPECT_EQ(e.broken(), Rules{Rule::kTooSoon});
}

TEST(Invariants, FindsAStartSoonerThanTheFailureAllows) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kTransient);
    e.pass(1);
    auto start = e.invented("a::x");
    start.trigger = Trigger::kConfirm;
    e.start_falsely({start});
    EXPECT_EQ(e.broken(), Rules{Rule::kTooSoon});
}

TEST(Invariants, AllowsAnEarlyStartThatSomebodyAskedFor) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kTransient);
    e.invariants().poked("a::x");
    auto start = e.invented("a::x");
    start.trigger = Trigger::kConfirm;
    e.start_falsely({start});
    EXPECT_EQ(e.broken(), Rules{});
}

TEST(Invariants, FindsADisabledTaskThatStarts) {
    CheckedEngine e;
    model::TaskSpec spec = recurring("a::x");
    spec.enabled = false;
    e.add({spec});
    e.start_falsely({e.invented("a::x")});
    EXPECT_EQ(e.broken(), Rules{Rule::kDisabled});
}

TEST(Invariants, FindsAStartBeforeItsNeedsAreMet) {
    CheckedEngine e;
    model::TaskSpec behind_device = recurring("a::x");
    behind_device.needs = {{{{model::ParentKind::kDevice, "switch"}}}};
    model::TaskSpec after_job = job_named("b::second");
    after_job.needs = {{{{model::ParentKind::kTask, "b::first"}}}};
    e.add({behind_device, job_named("b::first"), after_job});
    e.start_falsely({e.invented("a::x"), e.invented("b::second")});
    EXPECT_EQ(e.broken(), Rules{Rule::kNeeds});
    EXPECT_EQ(e.violations().of(Rule::kNeeds), 2U);
}

TEST(Invariants, FindsARoutineStartThroughAnOpenBreaker) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    for (int i = 0; i < 3; ++i) {
        const std::size_t before = e.starts().size();
        e.finish(Outcome::kTransient);
        while (e.starts().size() == before && i < 2) e.pass(1);
    }
    ASSERT_EQ(e.core().failure(e.core().find("a::x")).breaker, model::BreakerState::kOpen);
    e.jump(18);
    auto start = e.invented("a::x");
    start.trigger = Trigger::kSchedule;
    ASSERT_EQ(e.broken(), Rules{});
    e.start_falsely({start});
    EXPECT_EQ(e.broken(), Rules{Rule::kBreaker});
}

// A driver that reports something else than what the device said.
TEST(Invariants, FindsLabelsThatDoNotFollowTheAnswers) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.tell_checker(e.result(Outcome::kTransient));
    e.step({e.result(Outcome::kOk)});
    EXPECT_EQ(e.all_broken(), Rules{Rule::kBreaker});
}

// One more start than fits, on one device and in one class.
Rules break_limit(const std::function<void(model::CoreSettings&)>& narrow, int starts,
                  const char* second_class = "a") {
    model::CoreSettings settings = checker_settings();
    narrow(settings);
    CheckedEngine e(settings);
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < starts; ++i) {
        const std::string name = i + 1 < starts ? "a" : second_class;
        specs.push_back(recurring(name + "::x" + std::to_string(i), "d"));
    }
    e.add(bulk(specs));
    std::vector<schedule::StartRun> wrong;
    for (const auto& spec : specs) wrong.push_back(e.invented(spec.key));
    e.start_falsely({wrong.begin(), wrong.end() - 1});
    EXPECT_EQ(e.broken(), Rules{}) << "up to the limit all is well";
    e.start_falsely({wrong.back()});
    return e.broken();
}

TEST(Invariants, FindsMoreStartsThanARateAllows) {
    using Settings = model::CoreSettings;
    EXPECT_EQ(break_limit([](Settings& s) { s.global_rate = 8; }, 5), Rules{Rule::kGlobalRate});
    EXPECT_EQ(break_limit([](Settings& s) { s.classes[0].rate = 8; }, 5), Rules{Rule::kClassRate});
    EXPECT_EQ(break_limit([](Settings& s) { s.device_rate = 8; }, 5), Rules{Rule::kDeviceRate});
}

TEST(Invariants, FindsMoreRunsThanThereAreSlots) {
    using Settings = model::CoreSettings;
    EXPECT_EQ(break_limit([](Settings& s) { s.global_slots = 3; }, 4), Rules{Rule::kGlobalSlots});
    EXPECT_EQ(break_limit([](Settings& s) { s.classes[0].slots = 3; }, 4),
              Rules{Rule::kClassSlots});
    EXPECT_EQ(break_limit([](Settings& s) { s.device_slots = 3; }, 4, "b"),
              Rules{Rule::kDeviceSlots});
    EXPECT_EQ(break_limit([](Settings& s) { s.device_class_slots = 3; }, 4),
              Rules{Rule::kDeviceClassSlots});
}

TEST(Invariants, FindsAResourceOverItsCapacity) {
    CheckedEngine e;
    model::TaskSpec one = recurring("a::one");
    one.demand = {{"lane", 1}};
    model::TaskSpec two = recurring("a::two");
    two.demand = {{"lane", 2}};
    e.add(bulk({one, two}));
    e.start_falsely({e.invented("a::two")});
    EXPECT_EQ(e.broken(), Rules{});
    e.start_falsely({e.invented("a::one")});
    EXPECT_EQ(e.broken(), Rules{Rule::kResources});
}

TEST(Invariants, FindsBooksThatDoNotAgree) {
    CheckedEngine e;
    model::TaskSpec lane = job_named("b::lane");
    lane.demand = {{"lane", 2}};
    e.add({lane});
    e.tell_checker(e.result(Outcome::kOk));  // and nobody tells the core
    e.step();
    EXPECT_EQ(e.all_broken(), (Rules{Rule::kBooks, Rule::kRunCounts}));
    EXPECT_EQ(e.violations().of(Rule::kBooks), 2U) << "the slot and the lane";
}

TEST(Invariants, FindsAStartThatWasNotTold) {
    CheckedEngine e;
    e.add(bulk({}));
    e.jump(60);
    e.step({}, [](engine::Output& out) { out.commands.starts.clear(); });
    EXPECT_TRUE(e.all_broken().contains(Rule::kRunCounts));
}

// The core takes a result that, as far as anybody outside knows, is of a run that is over.
TEST(Invariants, FindsAResultAcceptedFromAnOldEpoch) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    schedule::RunFinished old = e.result(Outcome::kOk);
    --old.run.epoch;
    e.tell_checker(old);
    e.step({e.result(Outcome::kOk)});
    EXPECT_EQ(e.violations().of(Rule::kStaleResult), 1U);
}

TEST(Invariants, AResultThatIsLeftOutIsRight) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    const schedule::RunFinished twice = e.result(Outcome::kOk);
    e.finish(Outcome::kOk);
    schedule::RunFinished old = twice;
    --old.run.epoch;
    for (const auto& late : {twice, old}) {
        e.tell_checker(late);
        e.step({late});
    }
    EXPECT_EQ(e.core().stats().stale_results, 2U);
    EXPECT_EQ(e.all_broken(), Rules{});
}

TEST(Invariants, FindsDataThatNobodyReported) {
    CheckedEngine e;
    e.add(bulk({recurring("a::x")}));
    e.jump(0.1);
    e.slot("a::x").last_success = e.now();
    e.invariants().full_check(e.now(), e.engine());
    EXPECT_EQ(e.all_broken(), Rules{Rule::kData});
}

TEST(Invariants, FindsARepairOfTheSweep) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.pass(7);
    e.slot("a::x").next_due = base::BootTime{};  // its timer knows nothing of it
    e.pass(2);
    EXPECT_TRUE(e.all_broken().contains(Rule::kSweep));
    EXPECT_EQ(e.violations().of(Rule::kSweep), 1U) << "told once";
}

TEST(Invariants, FindsAFaultedTask) {
    CheckedEngine e;
    ++CoreInspector::stats(e.core()).faulted_tasks;
    e.step();
    EXPECT_EQ(e.all_broken(), Rules{Rule::kFaulted});
}

TEST(Invariants, FindsACoreThatNobodyWakes) {
    CheckedEngine e;
    e.step({}, [](engine::Output& out) { out.wake_at = base::BootTime::max(); });
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNoWake});
}

TEST(Invariants, FindsAPlanOutOfOrderOrIncomplete) {
    CheckedEngine e;
    e.add(bulk({}));
    auto plan = e.core().plan(e.now(), e.core().size());
    ASSERT_GE(plan.size(), 2U);
    e.invariants().check_plan(e.now(), plan, plan.size());
    ASSERT_EQ(e.all_broken(), Rules{});
    std::swap(plan.front(), plan.back());
    e.invariants().check_plan(e.now(), plan, plan.size());
    EXPECT_EQ(e.violations().of(Rule::kPlan), 1U);
    std::swap(plan.front(), plan.back());
    plan.pop_back();
    e.invariants().check_plan(e.now(), plan, plan.size() + 1);
    EXPECT_EQ(e.violations().of(Rule::kPlan), 2U);
}

TEST(Invariants, FindsATaskThatNothingWakes) {
    for (const Place place :
         {Place::kDisabled, Place::kWaitsForNeeds, Place::kDeviceRate, Place::kDeviceQueue,
          Place::kResourceQueue, Place::kReady, Place::kRunning, Place::kEnded}) {
        CheckedEngine e;
        e.add(bulk({recurring("a::x", "d")}));
        e.slot("a::x").place = place;
        e.invariants().full_check(e.now(), e.engine());
        // Of a run that does not exist both the task and the count speak.
        EXPECT_EQ(e.violations().of(Rule::kPlace), place == Place::kRunning ? 2U : 1U)
            << "place " << static_cast<int>(place);
    }
}

TEST(Invariants, FindsATaskThatOversleptOrWaitsThoughDisabled) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.jump(70);
    e.invariants().full_check(e.now(), e.engine());
    EXPECT_EQ(e.violations().of(Rule::kPlace), 1U);
    e.step();
    e.finish(Outcome::kOk);
    e.slot("a::x").set(schedule::kFlagEnabled, false);
    e.invariants().full_check(e.now(), e.engine());
    EXPECT_EQ(e.violations().of(Rule::kPlace), 2U);
}

TEST(Invariants, FindsAHealthyTaskOlderThanItsBound) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.jump(120);
    e.step();
    ASSERT_EQ(e.all_broken(), Rules{}) << "twice the base is the bound";
    e.finish(Outcome::kOk);
    e.jump(130);
    e.step();
    EXPECT_EQ(e.all_broken(), Rules{Rule::kAge});
}

TEST(Invariants, FindsWhatIsNotFreshLongAfterTheFaults) {
    const auto nothing_is_broken = [](const std::string&) { return false; };
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.invariants().calm_check(e.now(), e.engine(), nothing_is_broken);
    ASSERT_EQ(e.all_broken(), Rules{});
    e.jump(1000);
    e.invariants().calm_check(e.now(), e.engine(), nothing_is_broken);
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNotCalm});
    EXPECT_EQ(e.violations().total(), 1U);
    e.invariants().calm_check(e.now(), e.engine(), [](const std::string&) { return true; });
    EXPECT_EQ(e.violations().total(), 1U) << "a device that is down may be stale";
}

TEST(Invariants, FindsAJobThatNeverEnds) {
    CheckedEngine e;
    e.add({job_named("b::job")});
    e.invariants().calm_check(e.now(), e.engine(), [](const std::string&) { return false; });
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNotCalm});
}

}  // namespace
}  // namespace pollux::sim
