// One-shot work: needs, retries, what happens when a parent fails, and urgency that is inherited.
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::JobState;
using model::Outcome;
using model::Tier;
using model::Trigger;
using namespace std::chrono_literals;

JobState state(const CoreHarness& h, const std::string& key) { return h.slot(key).job; }

TEST(CoreJobs, RunsOnceAndEnds) {
    CoreHarness h;
    h.add({job("c::a")});
    ASSERT_EQ(h.out.starts.size(), 1u);
    EXPECT_EQ(h.out.starts.front().trigger, Trigger::kJob);
    h.finish("c::a");
    EXPECT_EQ(h.place("c::a"), Place::kEnded);
    EXPECT_EQ(state(h, "c::a"), JobState::kCompleted);
    const auto seen = h.changes_of("c::a", ChangeKind::kJob);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].from, static_cast<std::uint8_t>(JobState::kPending));
    EXPECT_EQ(seen[0].to, static_cast<std::uint8_t>(JobState::kCompleted));
    ASSERT_FALSE(h.out.persists.empty());
    EXPECT_EQ(h.out.persists.back().durability, Durability::kBeforeSeen);
    h.run_for(1h);
    EXPECT_EQ(h.starts.size(), 1u);
}

TEST(CoreJobs, DegradedIsASuccess) {
    CoreHarness h;
    h.add({job("c::a")});
    h.finish("c::a", Outcome::kDegraded);
    EXPECT_EQ(state(h, "c::a"), JobState::kCompleted);
}

// A ready job starts in the step in which its last need is met.
TEST(CoreJobs, StartsInTheStepThatMeetsItsLastNeed) {
    CoreHarness h;
    h.add({job("c::a"), job("c::b"), job("c::child", {"c::a", "c::b"})});
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
    h.pass(3s);
    h.finish("c::a");
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
    h.pass(3s);
    h.finish("c::b");
    ASSERT_EQ(h.out.starts.size(), 1u);
    EXPECT_EQ(h.out.starts.front().task, h.handle("c::child"));
    EXPECT_EQ(h.out.starts.front().due, h.now()) << "its lag is counted from here";
}

TEST(CoreJobs, ParentsMayStandAnywhereInTheBatch) {
    CoreHarness h;
    h.add({job("c::child", {"c::parent"}), job("c::parent")});
    EXPECT_TRUE(h.rejections.empty()) << h.last_rejection();
    EXPECT_TRUE(h.runs("c::parent"));
    h.finish("c::parent");
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreJobs, AParentThatIsDoneAlreadyCounts) {
    CoreHarness h;
    h.add({job("c::parent")});
    h.finish("c::parent");
    h.add({job("c::child", {"c::parent"})});
    EXPECT_TRUE(h.runs("c::child"));
    h.remove("c::parent");
    EXPECT_TRUE(h.rejections.empty()) << "what is done may go: " << h.last_rejection();
}

TEST(CoreJobs, AnyOfAGroupIsEnough) {
    CoreHarness h;
    auto child = job("c::child");
    child.needs = {any_of({"c::a", "c::b"})};
    h.add({job("c::a"), job("c::b"), child});
    h.finish("c::a", Outcome::kPermanent);
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds) << "the other one may still do it";
    h.finish("c::b");
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreJobs, ARecurringParentMustBeHealthy) {
    CoreHarness h;
    h.add({poll("c::link"), job("c::child", {"c::link"})});
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
    h.finish("c::link");
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreJobs, ADeviceMayBeANeed) {
    CoreHarness h;
    auto child = job("c::child");
    child.needs = {needs_device("box")};
    h.add({child});
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
    h.parent("box", true);
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreJobs, AFailedParentFailsItsChildren) {
    CoreHarness h;
    h.add({job("c::a"), job("c::b", {"c::a"}), job("c::c", {"c::b"}), job("c::other")});
    h.finish("c::a", Outcome::kPermanent);
    for (const std::string key : {"c::a", "c::b", "c::c"}) {
        EXPECT_EQ(state(h, key), JobState::kFailed) << key;
        EXPECT_EQ(h.place(key), Place::kEnded) << key;
        EXPECT_EQ(h.changes_of(key, ChangeKind::kJob).size(), 1u) << key << ": told once";
    }
    EXPECT_EQ(state(h, "c::other"), JobState::kPending);
}

TEST(CoreJobs, AFailedParentHoldsItsChildrenWhereTheyAskForIt) {
    CoreHarness h;
    auto child = job("c::child", {"c::parent"});
    child.on_parent_failure = model::ParentFailure::kHold;
    h.add({job("c::parent"), child});
    h.finish("c::parent", Outcome::kPermanent);
    EXPECT_EQ(state(h, "c::child"), JobState::kPending);
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
    h.run_for(1h);
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
}

TEST(CoreJobs, AChildOfAFailedParentFailsWhenItIsAdded) {
    CoreHarness h;
    h.add({job("c::parent")});
    h.finish("c::parent", Outcome::kPermanent);
    h.add({job("c::child", {"c::parent"})});
    EXPECT_EQ(state(h, "c::child"), JobState::kFailed);
}

// Disabled while its parent failed: it must not wait for ever when it is enabled.
TEST(CoreJobs, AChildEnabledAfterItsParentFailedFails) {
    CoreHarness h;
    auto child = job("c::child", {"c::parent"});
    child.enabled = false;
    h.add({job("c::parent"), child});
    h.finish("c::parent", Outcome::kPermanent);
    h.operate(OperatorVerb::kEnable, "c::child");
    EXPECT_EQ(state(h, "c::child"), JobState::kFailed);
}

TEST(CoreJobs, ACancelledParentCountsAsFailed) {
    CoreHarness h;
    h.add({job("c::a"), job("c::b", {"c::a"})});
    h.operate(OperatorVerb::kCancelJob, "c::a");
    EXPECT_EQ(state(h, "c::a"), JobState::kCancelled);
    EXPECT_EQ(state(h, "c::b"), JobState::kFailed);
    ASSERT_EQ(h.out.cancels.size(), 1u) << "its run is stopped";
    EXPECT_EQ(h.core().stats().cancelled, 1u);
}

// A hundred thousand jobs in a row fail at once: no recursion, and cost only once.
TEST(CoreJobs, AChainOfAHundredThousandFailsAtOnce) {
    constexpr int kLength = 100'000;
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    specs.reserve(kLength);
    specs.push_back(job("c::0"));
    for (int i = 1; i < kLength; ++i) {
        specs.push_back(job("c::" + std::to_string(i), {"c::" + std::to_string(i - 1)}));
    }
    h.add(std::move(specs));
    ASSERT_TRUE(h.rejections.empty()) << h.last_rejection();
    const std::size_t before = h.core().needs().work();
    h.finish("c::0", Outcome::kPermanent);
    EXPECT_EQ(h.out.changes.size(), static_cast<std::size_t>(kLength));
    EXPECT_EQ(state(h, "c::" + std::to_string(kLength - 1)), JobState::kFailed);
    EXPECT_EQ(h.core().needs().work() - before, static_cast<std::size_t>(kLength - 1));
}

TEST(CoreJobs, ACompletionCostsWhatItsChildrenCost) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs{job("c::a"), job("c::b")};
    for (int i = 0; i < 5; ++i) specs.push_back(job("c::a" + std::to_string(i), {"c::a"}));
    for (int i = 0; i < 3000; ++i) specs.push_back(job("c::b" + std::to_string(i), {"c::b"}));
    h.add(specs);
    std::size_t before = h.core().needs().work();
    h.finish("c::a");
    EXPECT_EQ(h.core().needs().work() - before, 5u);
    before = h.core().needs().work();
    h.finish("c::a0");
    EXPECT_EQ(h.core().needs().work() - before, 0u);
    h.finish("c::b");
    EXPECT_EQ(h.core().needs().work() - before, 3000u);
    EXPECT_EQ(h.core().in_flight(), 3004u);
}

TEST(CoreJobs, RetriesUpToItsAttempts) {
    CoreHarness h;
    auto spec = job("c::a");
    spec.max_attempts = 3;
    h.add({spec});
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(h.place("c::a"), Place::kScheduled);
    EXPECT_GE(h.wait_s("c::a"), 4);
    EXPECT_LE(h.wait_s("c::a"), 6) << "5 s, +-20 %";
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_EQ(h.starts.back().command.attempt, 2u);
    h.finish("c::a", Outcome::kTransient);
    EXPECT_GE(h.wait_s("c::a"), 8);
    EXPECT_LE(h.wait_s("c::a"), 12);
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(state(h, "c::a"), JobState::kFailed);
    EXPECT_EQ(h.starts.size(), 3u);
}

TEST(CoreJobs, ARetryMaySucceed) {
    CoreHarness h;
    auto spec = job("c::a");
    spec.max_attempts = 2;
    h.add({spec, job("c::child", {"c::a"})});
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(state(h, "c::child"), JobState::kPending) << "not lost yet";
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a");
    EXPECT_EQ(state(h, "c::a"), JobState::kCompleted);
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreJobs, APermanentFailureIsNotRetried) {
    CoreHarness h;
    auto spec = job("c::a");
    spec.max_attempts = 10;
    h.add({spec});
    h.finish("c::a", Outcome::kPermanent);
    EXPECT_EQ(state(h, "c::a"), JobState::kFailed);
}

TEST(CoreJobs, AnInterruptedJobIsRunAgainAndNotCounted) {
    CoreHarness h;
    h.add({job("c::a")});  // one attempt
    for (int i = 0; i < 4; ++i) {
        h.step({RunExpired{h.running.at("c::a").task, h.running.at("c::a").run}});
        ASSERT_EQ(state(h, "c::a"), JobState::kPending) << i;
        h.running.clear();
        ASSERT_TRUE(h.run_to_start("c::a"));
    }
    h.finish("c::a");
    EXPECT_EQ(state(h, "c::a"), JobState::kCompleted);
}

TEST(CoreJobs, AJobThatTakesItsWorkerDownFiveTimesFails) {
    CoreHarness h;
    h.worker = [](const std::string&) {
        return WorkerReply{.outcome = Outcome::kInterrupted, .after = 100ms};
    };
    h.add({job("c::a")});
    h.run_for(1h);
    EXPECT_EQ(state(h, "c::a"), JobState::kFailed);
    EXPECT_EQ(h.starts.size(), 5u);
}

// --- urgency

TEST(CoreJobs, AParentIsAsUrgentAsWhoWaitsForIt) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder")});
    auto grandparent = job("c::grandparent");
    grandparent.tier = Tier::kLow;
    auto parent = job("c::parent", {"c::grandparent"});
    parent.tier = Tier::kLow;
    h.add({grandparent, parent});
    h.add({job("c::other")});
    auto child = job("c::child", {"c::parent"});
    child.tier = Tier::kCritical;
    h.add({child});
    EXPECT_EQ(h.slot("c::grandparent").run_tier, Tier::kCritical) << "through the whole chain";
    EXPECT_EQ(h.slot("c::parent").run_tier, Tier::kCritical);
    h.finish("c::holder");
    EXPECT_TRUE(h.runs("c::grandparent")) << "before the normal one that was ready";
    h.finish("c::grandparent");
    EXPECT_TRUE(h.runs("c::parent"));
    h.finish("c::parent");
    EXPECT_TRUE(h.runs("c::child"));
    h.finish("c::child");
    EXPECT_TRUE(h.runs("c::other"));
}

TEST(CoreJobs, ALessUrgentChildLowersNothing) {
    CoreHarness h;
    auto parent = job("c::parent");
    parent.tier = Tier::kHigh;
    auto child = job("c::child", {"c::parent"});
    child.tier = Tier::kLow;
    h.add({parent, child});
    EXPECT_EQ(h.slot("c::parent").run_tier, Tier::kHigh);
    EXPECT_EQ(h.slot("c::child").run_tier, Tier::kLow);
}

// The edit makes the child urgent: so is what it waits for.
TEST(CoreJobs, AnEditedUrgencyIsInheritedToo) {
    CoreHarness h;
    auto settings = h.core().settings();
    settings.global_slots = 1;
    h.change_settings(settings);
    h.add({job("c::holder")});
    auto child = job("c::child", {"c::parent"});
    h.add({job("c::parent"), child});
    child.tier = Tier::kCritical;
    h.add({child});
    EXPECT_EQ(h.slot("c::child").tier, Tier::kCritical);
    EXPECT_EQ(h.slot("c::parent").run_tier, Tier::kCritical);
}

// --- edits

TEST(CoreJobs, AnEditThatTakesTheNeedAwayStartsTheJob) {
    CoreHarness h;
    h.add({job("c::parent"), job("c::child", {"c::parent"})});
    h.add({job("c::child")});
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreJobs, AnEditMayAddANeed) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder"), job("c::parent"), job("c::child")});
    h.add({job("c::child", {"c::parent"})});
    EXPECT_EQ(h.place("c::child"), Place::kWaitsForNeeds);
    h.finish("c::holder");
    EXPECT_TRUE(h.runs("c::parent"));
    h.finish("c::parent");
    EXPECT_TRUE(h.runs("c::child"));
}

TEST(CoreJobs, ADisabledJobWaitsAndARunInFlightMayFinish) {
    CoreHarness h;
    h.add({job("c::a")});
    h.operate(OperatorVerb::kDisable, "c::a");
    EXPECT_TRUE(h.runs("c::a"));
    h.finish("c::a");
    EXPECT_EQ(state(h, "c::a"), JobState::kCompleted);
    auto spec = job("c::b");
    spec.enabled = false;
    h.add({spec});
    h.run_for(60s);
    EXPECT_EQ(h.starts_of("c::b").size(), 0u);
    h.operate(OperatorVerb::kEnable, "c::b");
    EXPECT_TRUE(h.runs("c::b"));
}

TEST(CoreJobs, ADisabledJobIsNotRetried) {
    CoreHarness h;
    auto spec = job("c::a");
    spec.max_attempts = 5;
    h.add({spec});
    h.operate(OperatorVerb::kDisable, "c::a");
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(state(h, "c::a"), JobState::kCancelled);
}

}  // namespace
}  // namespace pollux::schedule
