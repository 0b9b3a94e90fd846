// What people ask for: it happens inside all budgets, and what cannot be done says why.
#include <gtest/gtest.h>

#include <array>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {

class CoreInspector {
  public:
    static void park_as_faulted(SchedulerCore& core, model::TaskHandle task) {
        core.leave_place(task.index);
        core.tasks_[task.index].place = Place::kFaulted;
    }
};

namespace {

using model::BreakerState;
using model::DeadLetterReason;
using model::JobState;
using model::Outcome;
using model::Tier;
using model::Trigger;
using namespace std::chrono_literals;

void fail(CoreHarness& h, const std::string& key, int times,
          Outcome outcome = Outcome::kTransient) {
    for (int i = 0; i < times; ++i) {
        if (!h.runs(key) && !h.run_to_start(key)) return;
        h.finish(key, outcome);
    }
}

void expect_refusal(CoreHarness& h, const std::string& code, const std::string& text) {
    ASSERT_EQ(h.out.rejections.size(), 1u) << "expected: " << text;
    EXPECT_EQ(h.out.rejections[0].error.code, code);
    EXPECT_NE(h.out.rejections[0].error.message.find(text), std::string::npos)
        << h.out.rejections[0].error.message;
}

TEST(CoreOperator, TriggerNow) {
    CoreHarness h;
    h.add({poll("c::a", 3600s)});
    h.finish("c::a");
    h.pass(10s);
    h.operate(OperatorVerb::kTriggerNow, "c::a");
    ASSERT_EQ(h.out.starts.size(), 1u);
    EXPECT_EQ(h.out.starts.front().trigger, Trigger::kOperator);
    EXPECT_EQ(h.out.starts.front().due, h.now());
    h.finish("c::a");
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 3600);
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_EQ(h.starts.back().command.trigger, Trigger::kSchedule);
}

TEST(CoreOperator, ATriggerIsUrgentButWaitsForItsSlot) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    auto low = poll("c::low", 3600s);
    low.tier = Tier::kLow;
    h.add({low});
    h.finish("c::low");
    h.add({job("c::running")});
    auto high = job("c::high");
    high.tier = Tier::kHigh;
    h.add({high});
    h.operate(OperatorVerb::kTriggerNow, "c::low");
    EXPECT_FALSE(h.runs("c::low")) << "nothing skips a budget";
    h.finish("c::running");
    EXPECT_TRUE(h.runs("c::low")) << "but a person goes before the rest";
    h.finish("c::low");
    EXPECT_EQ(h.slot("c::low").run_tier, Tier::kLow) << "for this one run only";
}

TEST(CoreOperator, WhatCannotBeTriggeredSaysWhy) {
    auto settings = wide_settings();
    settings.classes[0].slots = 1;
    CoreHarness h(settings);
    const auto trigger = [&](const std::string& key) { h.operate(OperatorVerb::kTriggerNow, key); };
    h.add({poll("c::a")});
    trigger("c::a");
    expect_refusal(h, "operator.nothing_to_do", "\"c::a\": it is running now");
    h.add({poll("c::b")});
    trigger("c::b");
    expect_refusal(h, "operator.nothing_to_do", "it is due already and waits for its turn");
    h.operate(OperatorVerb::kDisable, "c::b");
    trigger("c::b");
    expect_refusal(h, "operator.nothing_to_do", "it is disabled: enable it first");
    h.add({job("c::child", {"c::a"})});
    trigger("c::child");
    expect_refusal(h, "operator.nothing_to_do", "it waits for what it needs");
    h.finish("c::a");
    h.finish("c::child");
    trigger("c::child");
    expect_refusal(h, "operator.nothing_to_do", "the job has ended");
    trigger("c::nobody");
    expect_refusal(h, "task.unknown", "task \"c::nobody\" does not exist");
    EXPECT_EQ(h.core().stats().rejected_events, 6u);
}

TEST(CoreOperator, ARefusalCarriesTheCorrelation) {
    CoreHarness h;
    h.step({OperatorAction{OperatorVerb::kTriggerNow, "c::x", 4711}});
    ASSERT_EQ(h.out.rejections.size(), 1u);
    EXPECT_EQ(h.out.rejections[0].correlation, 4711u);
    EXPECT_EQ(h.out.rejections[0].error.error_class, base::ErrorClass::kConfig);
}

TEST(CoreOperator, DisableAndEnable) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    h.pass(10s);
    h.operate(OperatorVerb::kDisable, "c::a");
    EXPECT_EQ(h.place("c::a"), Place::kDisabled);
    EXPECT_EQ(h.out.persists.back().durability, Durability::kBeforeSeen);
    h.run_for(20s);
    h.operate(OperatorVerb::kEnable, "c::a");
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 30) << "its slot is still ahead";
    h.operate(OperatorVerb::kDisable, "c::a");
    h.run_for(1h);
    EXPECT_EQ(h.starts.size(), 1u);
    h.operate(OperatorVerb::kEnable, "c::a");
    EXPECT_TRUE(h.runs("c::a")) << "its slot passed long ago";
    std::vector<int> seen;
    for (const auto& one : h.changes_of("c::a", ChangeKind::kEnabled)) seen.push_back(one.to);
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 0, 1}));
}

TEST(CoreOperator, DisablingTwiceOrEnablingTwiceIsNothingToDo) {
    CoreHarness h;
    h.add({poll("c::a")});
    h.operate(OperatorVerb::kEnable, "c::a");
    expect_refusal(h, "operator.nothing_to_do", "it is enabled");
    h.operate(OperatorVerb::kDisable, "c::a");
    h.operate(OperatorVerb::kDisable, "c::a");
    expect_refusal(h, "operator.nothing_to_do", "it is disabled");
    h.add({job("c::j")});
    h.finish("c::j");
    h.operate(OperatorVerb::kEnable, "c::j");
    expect_refusal(h, "operator.nothing_to_do", "the job has ended");
}

TEST(CoreOperator, ADisabledTaskMayFinishItsRun) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    h.operate(OperatorVerb::kDisable, "c::a");
    EXPECT_EQ(h.place("c::a"), Place::kRunning);
    EXPECT_TRUE(h.out.cancels.empty());
    h.finish("c::a");
    EXPECT_EQ(h.place("c::a"), Place::kDisabled);
    EXPECT_NE(h.slot("c::a").last_success, base::BootTime::min()) << "the answer counts";
    h.run_for(60s);
    EXPECT_EQ(h.starts.size(), 1u);
}

TEST(CoreOperator, ATaskEnabledAgainDuringItsRunGoesOn) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    h.operate(OperatorVerb::kDisable, "c::a");
    h.operate(OperatorVerb::kEnable, "c::a");
    h.finish("c::a");
    EXPECT_EQ(h.place("c::a"), Place::kScheduled);
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 10);
}

TEST(CoreOperator, DisablingWhoWaitsLetsTheNextOneGo) {
    auto settings = wide_settings({"a", "b", "c"});
    settings.device_slots = 1;
    CoreHarness h(settings);
    for (const std::string one : {"a", "b", "c"}) h.add({poll_on(one + "::x", "box")});
    h.operate(OperatorVerb::kDisable, "b::x");
    h.finish("a::x");
    EXPECT_TRUE(h.runs("c::x"));
}

TEST(CoreOperator, ResetBreakerProbesNow) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.operate(OperatorVerb::kResetBreaker, "c::a");
    expect_refusal(h, "operator.nothing_to_do", "its breaker is closed");
    fail(h, "c::a", 4);
    h.operate(OperatorVerb::kResetBreaker, "c::a");
    EXPECT_TRUE(h.rejections.size() == 1) << h.last_rejection();
    h.step();
    ASSERT_TRUE(h.runs("c::a"));
    EXPECT_EQ(h.starts.back().command.trigger, Trigger::kProbe);
    EXPECT_EQ(h.failure("c::a").consecutive, 4u) << "the history stays";
    h.operate(OperatorVerb::kResetBreaker, "c::a");
    expect_refusal(h, "operator.nothing_to_do", "its probe is running now");
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(h.failure("c::a").consecutive, 5u) << "a probe that fails goes back with it";
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kOpen);
}

// Who was told "half open" must be told that it opened again.
TEST(CoreOperator, AFailedProbeAfterAResetIsTold) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    fail(h, "c::a", 3);
    h.operate(OperatorVerb::kResetBreaker, "c::a");
    h.step();
    h.finish("c::a", Outcome::kTransient);
    const auto seen = h.changes_of("c::a", ChangeKind::kBreaker);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back().to, static_cast<std::uint8_t>(h.failure("c::a").breaker))
        << "the last that was told is what holds";
}

// The shift rule of the profile: the second trip waits five minutes, whoever asked for the probe.
TEST(CoreOperator, AFailedProbeAfterAResetGrowsThePulseDelay) {
    CoreHarness h;
    auto spec = poll("c::a", 60s);
    spec.failure_profile = model::FailureProfile::kPulse;
    h.add({spec});
    fail(h, "c::a", 3);
    h.operate(OperatorVerb::kResetBreaker, "c::a");
    h.step();
    h.finish("c::a", Outcome::kTransient);
    EXPECT_DOUBLE_EQ(h.wait_s("c::a"), 300);
}

TEST(CoreOperator, RetryDeadLetter) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    fail(h, "c::a", 3);
    h.operate(OperatorVerb::kRetryDeadLetter, "c::a");
    expect_refusal(h, "operator.nothing_to_do", "it is not a dead letter");
    fail(h, "c::a", 3, Outcome::kPermanent);
    ASSERT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kPermanentFailure);
    EXPECT_GT(h.wait_s("c::a"), 200);
    h.operate(OperatorVerb::kRetryDeadLetter, "c::a");
    h.step();
    EXPECT_TRUE(h.runs("c::a"));
    h.finish("c::a");
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kNone);
}

TEST(CoreOperator, RemoveDeadLetterTakesTheLabelOffAndDisables) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.operate(OperatorVerb::kRemoveDeadLetter, "c::a");
    expect_refusal(h, "operator.nothing_to_do", "it is not a dead letter");
    fail(h, "c::a", 5);
    h.changes.clear();
    h.operate(OperatorVerb::kRemoveDeadLetter, "c::a");
    EXPECT_EQ(h.place("c::a"), Place::kDisabled);
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kDeadLetter).size(), 1u);
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kBreaker).size(), 1u);
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kEnabled).size(), 1u);
    h.run_for(1h);
    EXPECT_EQ(h.starts.size(), 5u);
    h.operate(OperatorVerb::kEnable, "c::a");
    ASSERT_TRUE(h.runs("c::a"));
    EXPECT_EQ(h.running.at("c::a").trigger, Trigger::kSchedule);
}

TEST(CoreOperator, AClearedDeadLetterIsPolledOnWithoutItsHistory) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.operate(OperatorVerb::kClearDeadLetter, "c::a");
    expect_refusal(h, "operator.nothing_to_do", "it is not a dead letter");
    fail(h, "c::a", 5);
    h.operate(OperatorVerb::kClearDeadLetter, "c::a");
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kNone);
    h.step();
    ASSERT_TRUE(h.runs("c::a"));
    h.operate(OperatorVerb::kDisable, "c::a");
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(h.failure("c::a").consecutive, 1u) << "it begins anew";
}

// Refused means that nothing was done.
TEST(CoreOperator, RemovingTheDeadLetterOfADisabledTaskIsNotRefused) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    fail(h, "c::a", 5);
    h.operate(OperatorVerb::kDisable, "c::a");
    h.operate(OperatorVerb::kRemoveDeadLetter, "c::a");
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kNone);
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
}

// What nothing would probe is refused: success would be a promise that nobody keeps.
TEST(CoreOperator, ResetAndRetryOfWhatIsDisabledOrFaultedSayWhyAndChangeNothing) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    fail(h, "c::a", 5);
    h.operate(OperatorVerb::kDisable, "c::a");
    const auto before = h.picture();
    for (const OperatorVerb verb : {OperatorVerb::kResetBreaker, OperatorVerb::kRetryDeadLetter}) {
        h.operate(verb, "c::a");
        expect_refusal(h, "operator.nothing_to_do", "\"c::a\": it is disabled");
        EXPECT_NE(h.last_rejection().find("enable it first"), std::string::npos);
        EXPECT_EQ(h.picture(), before);
    }
    h.operate(OperatorVerb::kEnable, "c::a");
    h.operate(OperatorVerb::kRetryDeadLetter, "c::a");
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    h.step();
    EXPECT_TRUE(h.runs("c::a"));

    h.add({poll("c::b", 60s)});
    fail(h, "c::b", 5);
    CoreInspector::park_as_faulted(h.core(), h.handle("c::b"));
    h.operate(OperatorVerb::kRetryDeadLetter, "c::b");
    expect_refusal(h, "operator.nothing_to_do", "it is faulted");
}

// It is due and what it needs holds it: the wish is kept, and it probes when the gate opens.
TEST(CoreOperator, AResetOfWhatWaitsForItsNeedsProbesWhenTheyAreMet) {
    CoreHarness h;
    auto spec = poll("c::a", 60s);
    spec.needs = {needs_device("router")};
    h.add({spec});
    h.parent("router", true);
    fail(h, "c::a", 5);
    ASSERT_EQ(h.failure("c::a").consecutive, 5u);
    h.parent("router", false);
    h.run_for(2h);
    ASSERT_EQ(h.place("c::a"), Place::kWaitsForNeeds);
    h.changes.clear();
    h.operate(OperatorVerb::kResetBreaker, "c::a");
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    EXPECT_EQ(h.place("c::a"), Place::kWaitsForNeeds) << "nothing skips a gate";
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kHalfOpen);
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kBreaker).size(), 1u);
    h.operate(OperatorVerb::kRetryDeadLetter, "c::a");
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    h.parent("router", true);
    ASSERT_TRUE(h.run_to_start("c::a", 1min)) << "spread with all that waited for the router";
    EXPECT_EQ(h.failure("c::a").consecutive, 5u) << "the history stays";
    h.finish("c::a");
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kNone);
}

TEST(CoreOperator, AResetOfWhatIsDueAlreadyLetsItProbeInItsTurn) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    h.add({poll("c::a", 60s)});
    fail(h, "c::a", 5);
    ASSERT_EQ(h.failure("c::a").consecutive, 5u);
    h.run_for(base::from_seconds(h.wait_s("c::a") - 1));
    h.add({job("c::long")});
    ASSERT_TRUE(h.runs("c::long"));
    h.run_for(2s);
    ASSERT_TRUE(is_due_and_waiting(h.place("c::a")));
    h.operate(OperatorVerb::kResetBreaker, "c::a");
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kHalfOpen);
    EXPECT_FALSE(h.runs("c::a")) << "nothing skips a budget";
    h.finish("c::long");
    ASSERT_TRUE(h.runs("c::a"));
    EXPECT_EQ(h.running.at("c::a").trigger, Trigger::kProbe);
}

// All at once would be the flood that the breakers prevented.
TEST(CoreOperator, RetryAllIsSpreadAndMostUrgentFirst) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 30; ++i) {
        specs.push_back(poll("c::" + std::to_string(i), 60s));
        specs.back().tier = i == 17 ? Tier::kCritical : Tier::kNormal;
    }
    h.worker = [](const std::string&) { return WorkerReply{.outcome = Outcome::kPermanent}; };
    h.add(specs);
    h.run_for(3min);
    h.worker = [](const std::string&) { return WorkerReply{}; };
    const std::size_t before = h.starts.size();
    const base::BootTime asked = h.now();
    h.operate(OperatorVerb::kRetryAllDeadLetters);
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    h.run_for(29s);
    ASSERT_GE(h.starts.size(), before + 20);
    EXPECT_EQ(h.starts[before].key, "c::17");
    EXPECT_LE(h.starts.size(), before + 31) << "one a second";
    for (std::size_t i = before + 1; i < h.starts.size(); ++i) {
        EXPECT_GE(base::to_seconds(h.starts[i].at - asked), static_cast<double>(i - before) - 1.0)
            << i;
    }
    h.run_for(2min);
    for (int i = 0; i < 30; ++i) {
        EXPECT_EQ(h.failure("c::" + std::to_string(i)).dead_letter, DeadLetterReason::kNone) << i;
    }
}

// 3,000 tasks a minute are 50 starts a second; acts on many may add ten more, however many acts.
TEST(CoreOperator, BulkRetriesShareOneSpreadOfAFifthOfTheSteadyRate) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 3000; ++i) specs.push_back(poll("c::" + std::to_string(i), 60s));
    bool cured = false;
    h.worker = [&](const std::string& key) {
        const bool locked = key.size() <= 5 && !cured;  // c::0 to c::99 and so on
        return WorkerReply{.outcome = locked ? Outcome::kPermanent : Outcome::kOk};
    };
    h.add(specs);
    h.run_for(3min);
    std::vector<std::string> dead;
    for (const auto& spec : specs) {
        if (h.failure(spec.key).dead_letter != DeadLetterReason::kNone) dead.push_back(spec.key);
    }
    ASSERT_EQ(dead.size(), 100u);
    cured = true;
    const auto retry = [&](std::vector<std::string> keys) {
        OperatorAction action{OperatorVerb::kRetryAllDeadLetters, "", 1};
        action.filter = std::make_shared<const OperatorFilter>(OperatorFilter{std::move(keys), ""});
        h.step({action});
        EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    };
    const base::BootTime asked = h.now();
    const std::size_t first = h.starts.size();
    retry({dead.begin(), dead.begin() + 50});
    retry({dead.begin() + 50, dead.end()});
    // The same again, by somebody impatient: they have their places already.
    retry({dead.begin(), dead.begin() + 50});
    h.run_for(12s);
    std::array<std::size_t, 12> probes{};
    std::size_t all = 0;
    for (std::size_t i = first; i < h.starts.size(); ++i) {
        if (h.starts[i].command.trigger != Trigger::kProbe) continue;
        ++probes.at(static_cast<std::size_t>(base::to_seconds(h.starts[i].at - asked)));
        ++all;
    }
    EXPECT_EQ(all, 100u) << "the second act goes on behind the first";
    for (std::size_t second = 0; second < 10; ++second) {
        EXPECT_LE(probes[second], 11u) << second;
        EXPECT_GE(probes[second], 9u) << second;
    }
    // What is over leaves no debt: an act after a pause begins at once.
    h.run_for(1min);
    h.worker = [&](const std::string& key) {
        return WorkerReply{.outcome = key == "c::7" ? Outcome::kPermanent : Outcome::kOk};
    };
    h.run_for(3min);
    ASSERT_EQ(h.failure("c::7").dead_letter, DeadLetterReason::kPermanentFailure);
    const base::BootTime again = h.now();
    retry({"c::7"});
    h.step();
    EXPECT_EQ(h.starts_of("c::7").back().at, again);
}

TEST(CoreOperator, ResetAllBreakersOnlyTouchesOpenOnes) {
    CoreHarness h;
    h.operate(OperatorVerb::kResetAllBreakers);
    expect_refusal(h, "operator.nothing_to_do", "no breaker is open");
    h.operate(OperatorVerb::kRetryAllDeadLetters);
    expect_refusal(h, "operator.nothing_to_do", "there are no dead letters");
    h.add({poll("c::open", 300s)});
    h.add({poll("c::confirming", 300s)});
    fail(h, "c::open", 4);
    fail(h, "c::confirming", 1);
    const auto due = h.slot("c::confirming").next_due;
    h.operate(OperatorVerb::kResetAllBreakers);
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    h.step();
    EXPECT_TRUE(h.runs("c::open"));
    EXPECT_EQ(h.slot("c::confirming").next_due, due);
}

TEST(CoreOperator, ResetAllBreakersRetriesDeadLettersThatNeverOpenedOne) {
    CoreHarness h;
    h.worker = [](const std::string&) { return WorkerReply{.outcome = Outcome::kPermanent}; };
    h.add({poll("c::locked", 300s)});
    h.run_for(1min);
    ASSERT_EQ(h.failure("c::locked").dead_letter, DeadLetterReason::kPermanentFailure);
    ASSERT_EQ(h.failure("c::locked").breaker, BreakerState::kClosed);
    const std::size_t before = h.starts.size();
    h.operate(OperatorVerb::kResetAllBreakers);
    EXPECT_TRUE(h.out.rejections.empty()) << h.last_rejection();
    h.run_for(1s);
    EXPECT_EQ(h.starts.size(), before + 1);
}

TEST(CoreOperator, ABulkActTellsWhomItTouchedAndTakesAFilter) {
    CoreHarness h(wide_settings({"b", "c"}));
    h.worker = [](const std::string&) { return WorkerReply{.outcome = Outcome::kPermanent}; };
    h.add({poll("c::a", 60s), poll("c::b", 60s), poll("b::x", 60s)});
    h.run_for(3min);
    const auto act = [&](OperatorFilter filter) {
        OperatorAction action{OperatorVerb::kRetryAllDeadLetters, "", 77};
        action.filter = std::make_shared<const OperatorFilter>(std::move(filter));
        h.step({action});
    };
    act({{"c::a"}, "b"});
    expect_refusal(h, "operator.nothing_to_do", "there are no dead letters");
    EXPECT_TRUE(h.out.acted.empty());
    const base::BootTime due = h.slot("b::x").next_due;
    act({{}, "b"});
    ASSERT_EQ(h.out.acted.size(), 1U);
    EXPECT_EQ(h.out.acted[0].correlation, 77U);
    EXPECT_EQ(h.out.acted[0].tasks, std::vector{h.handle("b::x")});
    ASSERT_EQ(h.out.acted[0].before.size(), 1U);
    EXPECT_EQ(h.out.acted[0].before[0].next_due, due);
    EXPECT_LT(h.slot("b::x").next_due, due);
    act({{"c::b", "c::nobody", "c::b"}, ""});
    ASSERT_EQ(h.out.acted.size(), 1U);
    EXPECT_EQ(h.out.acted[0].tasks, std::vector{h.handle("c::b")});
    EXPECT_GT(h.slot("c::a").next_due, h.now()) << "not asked for";
}

TEST(CoreOperator, CancelJob) {
    CoreHarness h;
    h.add({poll("c::poll"), job("c::waiting", {"c::poll"}), job("c::running")});
    h.operate(OperatorVerb::kCancelJob, "c::poll");
    expect_refusal(h, "operator.not_a_job", "\"c::poll\" recurs: disable it instead");
    h.operate(OperatorVerb::kCancelJob, "c::waiting");
    EXPECT_EQ(h.slot("c::waiting").job, JobState::kCancelled);
    EXPECT_TRUE(h.out.cancels.empty());
    const StartRun running = h.running.at("c::running");
    h.operate(OperatorVerb::kCancelJob, "c::running");
    ASSERT_EQ(h.out.cancels.size(), 1u);
    EXPECT_EQ(h.out.cancels[0].run, running.run);
    EXPECT_EQ(h.slot("c::running").job, JobState::kCancelled);
    h.step({RunFinished{running.task, running.run}});
    EXPECT_EQ(h.slot("c::running").job, JobState::kCancelled) << "too late";
    h.operate(OperatorVerb::kCancelJob, "c::running");
    expect_refusal(h, "operator.nothing_to_do", "the job has ended (cancelled)");
}

}  // namespace
}  // namespace pollux::schedule
