// Why is it not running? Every place has an answer: the first closed gate, what opens it, and a
// sentence that a person can read. And the other views: plan, queue, freshness.
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using base::BootTime;
using model::BreakerState;
using model::Outcome;
using model::Tier;
using namespace std::chrono_literals;

const Gate* first_closed(const Explanation& story) {
    for (const Gate& gate : story.gates) {
        if (!gate.open) return &gate;
    }
    return nullptr;
}

// The answer for a task in `place`: closed by `gate`, with this sentence, until then.
void expect_story(const CoreHarness& h, const std::string& key, Place place, GateKind gate,
                  const std::string& verdict, BootTime until) {
    SCOPED_TRACE(key);
    const Explanation story = h.explain(key);
    EXPECT_EQ(story.key, key);
    EXPECT_EQ(story.place, place) << to_string(story.place);
    ASSERT_EQ(story.gates.size(), kGateCount);
    for (std::size_t i = 0; i < kGateCount; ++i) {
        EXPECT_EQ(story.gates[i].kind, static_cast<GateKind>(i)) << "in their order";
        EXPECT_EQ(story.gates[i].reason.empty(), story.gates[i].open) << story.gates[i].reason;
    }
    const Gate* closed = first_closed(story);
    ASSERT_NE(closed, nullptr) << "all gates are open, but it does not run";
    EXPECT_EQ(to_string(closed->kind), to_string(gate));
    EXPECT_EQ(story.verdict, verdict);
    EXPECT_EQ(story.wakes_at, until);
}

constexpr BootTime kByAnEvent = BootTime::max();

TEST(CoreExplain, UnknownKeys) {
    CoreHarness h;
    const auto story = h.core().explain("c::nobody");
    ASSERT_FALSE(story);
    EXPECT_EQ(story.error().code, "task.unknown");
    EXPECT_EQ(story.error().message, "task \"c::nobody\" does not exist");
}

TEST(CoreExplain, Disabled) {
    CoreHarness h;
    auto spec = poll("c::a");
    spec.enabled = false;
    h.add({spec});
    expect_story(h, "c::a", Place::kDisabled, GateKind::kEnabled,
                 "enabled: disabled, until somebody enables it", kByAnEvent);
}

TEST(CoreExplain, Scheduled) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    h.pass(15s);
    h.step();
    expect_story(h, "c::a", Place::kScheduled, GateKind::kDue, "due: not yet, in 45 s",
                 h.now() + 45s);
}

TEST(CoreExplain, WaitingForNeeds) {
    CoreHarness h;
    auto child = job("c::child");
    child.needs = {any_of({"c::a", "c::b"}), any_of({"c::d"}),
                   any_of({"c::a"}, model::WhenUnmet::kSlow)};
    h.add({job("c::a"), job("c::b"), job("c::d"), child});
    expect_story(h, "c::child", Place::kWaitsForNeeds, GateKind::kNeeds,
                 "needs: waits for \"c::a\" or \"c::b\" and \"c::d\"", kByAnEvent);
    h.finish("c::b");
    expect_story(h, "c::child", Place::kWaitsForNeeds, GateKind::kNeeds,
                 "needs: waits for \"c::d\"", kByAnEvent);
}

TEST(CoreExplain, WaitingForADevice) {
    CoreHarness h;
    auto child = poll("c::child");
    child.needs = {needs_device("switch-1")};
    h.add({child});
    const Explanation story = h.explain("c::child");
    EXPECT_EQ(story.place, Place::kWaitsForNeeds);
    EXPECT_NE(story.verdict.find("device"), std::string::npos) << story.verdict;
    EXPECT_NE(story.verdict.find("to be healthy"), std::string::npos) << story.verdict;
}

// Which device? That is what the person at the screen has to know.
TEST(CoreExplain, WaitingForADeviceNamesIt) {
    CoreHarness h;
    auto child = poll("c::child");
    child.needs = {needs_device("switch-1")};
    h.add({child});
    EXPECT_NE(h.explain("c::child").verdict.find("\"switch-1\""), std::string::npos);
}

TEST(CoreExplain, OpenBreakerAndDeadLetter) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    for (int i = 0; i < 5; ++i) {
        if (!h.runs("c::a")) {
            ASSERT_TRUE(h.run_to_start("c::a"));
        }
        h.finish("c::a", Outcome::kTransient);
        const Explanation story = h.explain("c::a");
        const Gate& breaker = story.gates[static_cast<std::size_t>(GateKind::kBreaker)];
        EXPECT_EQ(breaker.open, i < 2) << "failure " << i + 1;
        if (i < 2) continue;
        EXPECT_EQ(breaker.until, h.slot("c::a").next_due);
        EXPECT_NE(breaker.reason.find("open after " + std::to_string(i + 1) + " failures in a row"),
                  std::string::npos)
            << breaker.reason;
        EXPECT_EQ(breaker.reason.find("dead letter: max_retry_attempts") != std::string::npos,
                  i == 4)
            << breaker.reason;
    }
    const Explanation story = h.explain("c::a");
    EXPECT_EQ(story.failure.consecutive, 5u);
    EXPECT_EQ(story.failure.breaker, BreakerState::kOpen);
    EXPECT_EQ(story.attempts, 5u);
    EXPECT_EQ(story.wakes_at, h.slot("c::a").next_due);
}

TEST(CoreExplain, Running) {
    CoreHarness h;
    h.add({poll("c::a")});
    h.pass(12s);
    h.step();
    expect_story(h, "c::a", Place::kRunning, GateKind::kInFlight,
                 "in flight: run 1.1 has been going for 12 s, its lease ends in 20 s",
                 h.now() + 20s);
}

TEST(CoreExplain, EndedAndFaulted) {
    CoreHarness h;
    h.add({job("c::a")});
    h.finish("c::a");
    EXPECT_EQ(h.explain("c::a").place, Place::kEnded);
    EXPECT_EQ(h.explain("c::a").verdict, "the job has ended: completed");
}

TEST(CoreExplain, ReadyWithItsPlaceInLine) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder")});
    for (int i = 0; i < 3; ++i) {
        h.pass(1s);
        h.add({job("c::" + std::to_string(i))});
    }
    auto urgent = job("c::urgent");
    urgent.tier = Tier::kCritical;
    h.add({urgent});
    for (int i = 0; i < 3; ++i) {
        const Explanation story = h.explain("c::" + std::to_string(i));
        EXPECT_TRUE(story.ready);
        EXPECT_EQ(story.place_in_line, static_cast<std::size_t>(i) + 1) << "behind the urgent one";
    }
    EXPECT_EQ(h.explain("c::urgent").place_in_line, 0u);
    expect_story(h, "c::0", Place::kReady, GateKind::kAdmission, "admission: all 1 slots are taken",
                 kByAnEvent);
    EXPECT_FALSE(h.explain("c::holder").ready);
}

TEST(CoreExplain, ReadyAndOnlyWaitingForItsTurn) {
    auto settings = wide_settings();
    settings.max_starts_per_step = 1;
    CoreHarness h(settings);
    h.add({job("c::a"), job("c::b"), job("c::d")});
    const Explanation story = h.explain("c::d");
    EXPECT_EQ(story.place, Place::kReady);
    EXPECT_EQ(first_closed(story), nullptr);
    EXPECT_EQ(story.verdict, "ready: " + std::to_string(story.place_in_line) + " tasks go first");
}

TEST(CoreExplain, RatesSayWhenTheyOpen) {
    auto settings = wide_settings({"c", "d"});
    settings.global_rate = 2;
    settings.classes[1].rate = 0.1;
    CoreHarness h(settings);
    h.add({job("c::a"), job("c::b")});
    expect_story(h, "c::b", Place::kReady, GateKind::kAdmission,
                 "admission: all 2 starts per second are used", h.now() + 500ms);
    h.run_for(5s);
    h.add({job("d::a"), job("d::b")});
    const BootTime first = h.now();
    h.run_for(1s);
    expect_story(h, "d::b", Place::kReady, GateKind::kAdmission,
                 "admission: the starts per second of its class are used", first + 10s);
}

TEST(CoreExplain, SlotsOfTheClass) {
    auto settings = wide_settings();
    settings.classes[0].slots = 1;
    CoreHarness h(settings);
    h.add({job("c::a"), job("c::b")});
    expect_story(h, "c::b", Place::kReady, GateKind::kAdmission,
                 "admission: all slots of its class are taken", kByAnEvent);
}

TEST(CoreExplain, Regions) {
    CoreHarness h;
    auto far = job("c::far");
    far.region = "basel";
    h.add({far});
    expect_story(h, "c::far", Place::kRegionQueue, GateKind::kAdmission,
                 "admission: region \"basel\" has no worker", kByAnEvent);
    auto second = job("c::second");
    second.region = "basel";
    h.add({second});
    h.credit("basel", 1);
    expect_story(h, "c::second", Place::kRegionQueue, GateKind::kAdmission,
                 "admission: the workers of region \"basel\" are all busy", kByAnEvent);
}

TEST(CoreExplain, Devices) {
    auto settings = wide_settings({"c", "d", "e"});
    settings.device_slots = 2;
    settings.device_class_slots = 1;
    settings.device_rate = 2;
    CoreHarness h(settings);
    h.add({poll_on("c::a", "box", 600s)});
    const BootTime first = h.now();
    h.add({poll_on("d::a", "box", 600s)});
    expect_story(h, "d::a", Place::kDeviceRate, GateKind::kAdmission,
                 "admission: device \"box\" has had its polls per second", first + 500ms);
    h.run_for(2s);
    h.add({poll_on("e::a", "box", 600s)});
    expect_story(h, "e::a", Place::kDeviceQueue, GateKind::kAdmission,
                 "admission: device \"box\" has 2 runs going, no more are allowed", kByAnEvent);
    h.finish("d::a");
    h.run_for(2s);
    h.finish("e::a");
    h.run_for(2s);
    h.add({poll_on("c::b", "box", 600s)});
    expect_story(h, "c::b", Place::kDeviceQueue, GateKind::kAdmission,
                 "admission: \"c::a\" of the same class runs on this device", kByAnEvent);
}

TEST(CoreExplain, Resources) {
    auto settings = wide_settings();
    settings.resources = {{"lane", 3}};
    CoreHarness h(settings);
    auto spec = job("c::a");
    spec.demand = {{"lane", 2}};
    h.add({spec});
    spec.key = "c::b";
    h.add({spec});
    expect_story(h, "c::b", Place::kResourceQueue, GateKind::kAdmission,
                 "admission: resource \"lane\" has 1 of 3 free", kByAnEvent);
}

TEST(CoreExplain, AllThatIsClosedIsListed) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    settings.resources = {{"lane", 1}};
    CoreHarness h(settings);
    auto spec = job("c::a");
    spec.demand = {{"lane", 1}};
    h.add({spec});
    spec.key = "c::b";
    h.add({spec});
    EXPECT_EQ(h.explain("c::b").verdict,
              "admission: all 1 slots are taken; resource \"lane\" has 0 of 1 free");
}

TEST(CoreExplain, NamesOfGatesPlacesAndLimits) {
    EXPECT_EQ(to_string(GateKind::kEnabled), "enabled");
    EXPECT_EQ(to_string(GateKind::kAdmission), "admission");
    EXPECT_EQ(to_string(Place::kFree), "free");
    EXPECT_EQ(to_string(Place::kReady), "ready");
    EXPECT_EQ(to_string(Place::kFaulted), "faulted");
    EXPECT_EQ(to_string(LimitedBy::kNothing), "nothing");
    EXPECT_EQ(to_string(LimitedBy::kFixed), "a fixed interval");
}

// --- interval and freshness

TEST(CoreExplain, TheStoryOfAnInterval) {
    auto settings = wide_settings();
    settings.mode = model::AdaptiveMode::kOn;
    CoreHarness h(settings);
    auto spec = adaptive("c::a", 5s, 10s, 60s);
    spec.tier = Tier::kHigh;
    h.add({spec, poll("c::fixed", 30s), job("c::job")});
    h.finish("c::a");
    const IntervalStory story = h.explain("c::a").interval;
    EXPECT_EQ(story.policy, model::PolicyKind::kOptimal);
    EXPECT_FALSE(story.shadow);
    EXPECT_EQ(story.weight, 3.0);
    EXPECT_GT(story.believed_rate, 0);
    EXPECT_GT(story.multiplier, 0);
    EXPECT_GT(story.wished, 0s);
    EXPECT_GE(story.chosen, 5s);
    EXPECT_LE(story.chosen, 15s);
    EXPECT_GT(story.pool_budget, 0);
    EXPECT_GT(story.pool_planned, 0);
    const IntervalStory fixed = h.explain("c::fixed").interval;
    EXPECT_EQ(fixed.policy, model::PolicyKind::kFixed);
    EXPECT_EQ(fixed.limited_by, LimitedBy::kFixed);
    EXPECT_EQ(fixed.in_force, 30s);
    EXPECT_EQ(h.explain("c::job").interval.in_force, 0s);
}

TEST(CoreExplain, Freshness) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    Freshness fresh = h.core().freshness(h.handle("c::a"), h.now());
    EXPECT_FALSE(fresh.known);
    EXPECT_EQ(fresh.last_success, BootTime::min());
    h.finish("c::a", {.digest = 5});
    const BootTime answered = h.now();
    h.pass(30s);
    fresh = h.core().freshness(h.handle("c::a"), h.now());
    EXPECT_TRUE(fresh.known);
    EXPECT_EQ(fresh.last_success, answered);
    EXPECT_EQ(fresh.last_mutation, answered);
    EXPECT_EQ(fresh.last_error, BootTime::min());
    EXPECT_TRUE(fresh.has_digest);
    EXPECT_EQ(fresh.digest, 5u);
    EXPECT_EQ(fresh.age, 30s);
    EXPECT_EQ(fresh.bound, 60s);
    EXPECT_EQ(fresh.expected_age, 10s);
    EXPECT_DOUBLE_EQ(fresh.score, 0.5) << "half of the bound";
    EXPECT_EQ(h.explain("c::a").freshness.digest, 5u);
}

TEST(CoreExplain, WhenTheMeaningChanged) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    h.finish("c::a", {.digest = 5});
    const BootTime first = h.now();
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a", {.digest = 5});
    EXPECT_EQ(h.slot("c::a").last_mutation, first);
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a", {.digest = 6});
    EXPECT_EQ(h.slot("c::a").last_mutation, h.now());
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a");
    EXPECT_LT(h.slot("c::a").last_mutation, h.now()) << "an answer without a digest says nothing";
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(h.slot("c::a").last_mutation, h.now()) << "going down is a change";
    EXPECT_EQ(h.slot("c::a").last_error, h.now());
}

// --- plan and queue

TEST(CoreExplain, ThePlanIsOrdered) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 100; ++i) specs.push_back(poll("c::" + std::to_string(i), 300s));
    h.add(specs);
    h.pass(30s);
    h.step();
    const auto plan = h.core().plan(h.now(), 1000);
    EXPECT_EQ(plan.size(), 99u) << "all but the one that runs";
    for (std::size_t i = 1; i < plan.size(); ++i) EXPECT_LE(plan[i - 1].due, plan[i].due) << i;
    for (const PlanEntry& one : plan) {
        EXPECT_EQ(one.due, h.core().slot(one.task).next_due);
    }
    EXPECT_LE(plan.front().due, h.now()) << "what is overdue comes first";
    const auto few = h.core().plan(h.now(), 7);
    ASSERT_EQ(few.size(), 7u);
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(few[i].task, plan[i].task);
    EXPECT_TRUE(h.core().plan(h.now(), 0).empty());
}

TEST(CoreExplain, TheQueue) {
    auto settings = wide_settings({"a", "b", "empty"});
    settings.classes[0].slots = 1;
    CoreHarness h(settings);
    h.add({job("a::0"), job("a::1"), job("a::2"), poll("b::0", 60s)});
    h.finish("b::0");
    QueueSnapshot queue = h.core().queue_snapshot(h.now());
    EXPECT_EQ(queue.depth, 3u) << "two wait for their turn, one for its time";
    EXPECT_EQ(queue.due_soon, 2u);
    ASSERT_EQ(queue.per_class.size(), 2u) << "classes without tasks are left out";
    EXPECT_EQ(queue.per_class[0].class_name, "a");
    EXPECT_EQ(queue.per_class[0].tasks, 2u);
    EXPECT_EQ(queue.per_class[0].ready, 2u);
    EXPECT_EQ(queue.per_class[1].class_name, "b");
    EXPECT_EQ(queue.per_class[1].ready, 0u);
    h.pass(48s);
    EXPECT_EQ(h.core().queue_snapshot(h.now()).due_soon, 3u) << "due within 12 s";
}

TEST(CoreExplain, SizesAreReported) {
    CoreHarness h;
    const std::size_t before = h.core().memory_bytes();
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 5000; ++i) specs.push_back(poll("c::" + std::to_string(i)));
    h.add(specs);
    EXPECT_EQ(h.core().size(), 5000u);
    EXPECT_GE(h.core().capacity(), 5000u);
    const double each = static_cast<double>(h.core().memory_bytes() - before) / 5000;
    EXPECT_LT(each, 400) << "bytes of a task: a million of them must stay cheap";
    EXPECT_EQ(h.core().planner().adaptive(h.handle("c::0").index), false);
    EXPECT_EQ(h.core().pressure(), 1.0);
    EXPECT_FALSE(h.core().budget_infeasible());
}

}  // namespace
}  // namespace pollux::schedule
