// Defects of Pulse, a predecessor, in when a task is planned: each test is named after what went
// wrong there and shows that it does not happen here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "schedule/classic_interval.hpp"
#include "tests/regression/core_driver.hpp"

namespace pollux::tests {
namespace {

using model::AdaptiveMode;
using model::Outcome;
using model::Tier;
using schedule::OperatorVerb;
using schedule::Place;
using namespace std::chrono_literals;

// What a planning pass was there: every configured task is looked at, whatever it is doing.
void look_at_all(CoreDriver& driver, const model::TaskSpec& spec) {
    driver.apply(schedule::Tick{});
    driver.add(spec);
}

// A pass added the interval to a slot that was still to come, so a task whose interval was longer
// than the pass never ran again. Here a look at a task moves nothing.
TEST(PulseDefect, EveryPassPushesTheNextRunAway) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    const auto spec = fixed_task("c::x", 60s);
    for (int pass = 0; pass < 60; ++pass) {
        look_at_all(driver, spec);
        driver.run_for(10);
    }
    const auto starts = driver.starts_of("c::x");
    ASSERT_EQ(starts.size(), 11U);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        EXPECT_DOUBLE_EQ(starts[i].due_s, 60.0 * static_cast<double>(i));
    }
}

TEST(PulseDefect, EveryPassPushesAnAdaptiveRunAway) {
    auto settings = roomy_settings();
    settings.mode = AdaptiveMode::kOn;
    CoreDriver driver(settings);
    driver.set_worker(CoreDriver::always({.digest = 1}));
    const auto spec = adaptive_task("c::x", 5s, 60s, 300s);
    for (int pass = 0; pass < 360; ++pass) {
        look_at_all(driver, spec);
        driver.run_for(10);
    }
    ASSERT_GE(driver.starts_of("c::x").size(), 3600U / 93U);
    for (const double gap : driver.gaps("c::x")) EXPECT_LE(gap, 93);  // 1.5 x base, and its play
}

// A task that was due and waited for a free worker was planned anew, one interval later. Here it
// stays due, whatever is edited, until it runs.
TEST(PulseDefect, ADueTaskIsMovedLaterWhileItWaitsForAWorker) {
    auto settings = roomy_settings();
    settings.global_slots = 1;
    CoreDriver driver(settings);
    driver.add(long_job("c::holds-slot"));
    const auto spec = fixed_task("c::waits", 10s);
    driver.add(spec);
    for (int pass = 0; pass < 12; ++pass) {
        driver.run_for(10);
        look_at_all(driver, spec);
        driver.change_settings(settings);
        ASSERT_EQ(driver.slot("c::waits").place, Place::kReady);
        ASSERT_EQ(driver.next_due_s("c::waits"), 0);
    }
    driver.finish("c::holds-slot");
    EXPECT_TRUE(driver.runs("c::waits"));
}

// Nothing marked a task as being polled: one that took longer than the pass was started again
// beside itself. Here a run in flight is a closed gate for everybody.
TEST(PulseDefect, APollLongerThanTheTickOverlapsItself) {
    CoreDriver driver(roomy_settings());
    auto spec = fixed_task("c::slow", 10s);
    spec.timeout = 120s;
    driver.add(spec);
    for (int second = 0; second < 60; ++second) {
        look_at_all(driver, spec);
        driver.poke("c::slow");
        driver.operate(OperatorVerb::kTriggerNow, "c::slow");
        driver.run_for(1);
        ASSERT_EQ(driver.starts().size(), 1U);
        ASSERT_EQ(driver.core().in_flight(), 1U);
    }
}

// The next run was counted from the end of the last one. Here it is counted from the plan.
TEST(PulseDefect, EachPollDelaysTheNextByItsOwnDuration) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({.after = 700ms}));
    driver.add(fixed_task("c::x", 10s));
    driver.run_until(3600.5);
    const auto starts = driver.starts_of("c::x");
    ASSERT_EQ(starts.size(), 361U);
    EXPECT_NEAR(starts.back().at_s, 3600, 0.001);
}

// With adaptive polling off every task was made due at each pass, so a check of 60 s ran every
// 10 s. Here each task keeps its own base.
TEST(PulseDefect, AdaptiveOffPollsEverythingAtOneInterval) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.add(fixed_task("c::ten", 10s));
    driver.add(adaptive_task("c::sixty", 5s, 60s, 300s));
    driver.add(fixed_task("c::three-hundred", 300s));
    driver.run_until(599);
    EXPECT_EQ(driver.starts_of("c::ten").size(), 60U);
    EXPECT_EQ(driver.starts_of("c::sixty").size(), 10U);
    EXPECT_EQ(driver.starts_of("c::three-hundred").size(), 2U);
}

// And all of them became due at the same moment. Here a fleet is spread over its interval.
TEST(PulseDefect, AdaptiveOffStartsTheWholeFleetAtOnce) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.add_all(fleet("c", 600, fixed_task("", 60s)));
    driver.run_until(300);
    EXPECT_EQ(driver.starts().size(), 3000U);
    EXPECT_LE(driver.most_starts_within(1), 25U);  // 10 on average
}

// Urgency was only asked for between tasks due in the same nanosecond. Here the time decides who is
// due, and the tier who of these goes first.
TEST(PulseDefect, PriorityOnlyBreaksExactTies) {
    auto settings = roomy_settings();
    settings.global_slots = 1;
    CoreDriver driver(settings);
    driver.add(long_job("c::holds-slot"));
    driver.add(with_tier(fixed_task("c::low", 60s), Tier::kLow));
    driver.run_for(1);
    driver.add(with_tier(fixed_task("c::critical", 60s), Tier::kCritical));
    driver.finish("c::holds-slot");
    EXPECT_TRUE(driver.runs("c::critical"));
}

// What is planned was listed as it lay in the heap. Here it is in the order of time.
TEST(PulseDefect, ThePlanIsListedInHeapOrder) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.add_all(fleet("c", 50, fixed_task("", 60s)));
    driver.run_for(90);
    const auto plan = driver.core().plan(driver.now().boot, 20);
    ASSERT_EQ(plan.size(), 20U);
    for (std::size_t i = 1; i < plan.size(); ++i) EXPECT_LE(plan[i - 1].due, plan[i].due);
    for (int i = 0; i < 50; ++i) {
        const auto& slot = driver.slot("c::" + std::to_string(i));
        const bool listed = std::ranges::find(plan, driver.handle("c::" + std::to_string(i)),
                                              &schedule::PlanEntry::task) != plan.end();
        EXPECT_EQ(listed, slot.next_due <= plan.back().due) << i;
    }
}

// A poll that hung kept its worker for good; after as many of them as there were workers nothing
// was polled any more. Here a run holds its slot no longer than its timeout and a short grace.
TEST(PulseDefect, HungPollsEatAllWorkers) {
    auto settings = roomy_settings();
    settings.global_slots = 4;
    CoreDriver driver(settings);
    driver.set_worker(
        [](const std::string& key, double) { return Reply{.lost = key.starts_with("c::hangs")}; });
    for (const char* key : {"c::hangs-1", "c::hangs-2", "c::hangs-3", "c::hangs-4"}) {
        driver.add(fixed_task(key, 300s));
    }
    driver.add(fixed_task("c::fine", 10s));
    driver.run_until(30);
    ASSERT_TRUE(driver.starts_of("c::fine").empty()) << "all workers hang";
    driver.run_until(33);
    EXPECT_FALSE(driver.starts_of("c::fine").empty());
    driver.run_until(3600);
    EXPECT_GE(driver.starts_of("c::fine").size(), 300U);
}

// A missing maximum became five minutes even where the minimum was longer. Here max >= min holds.
TEST(PulseDefect, ALongMinimumLeavesTheMaximumBelowIt) {
    const auto config = schedule::normalised({.base = 10min, .min = 10min, .max = 1min});
    EXPECT_GE(config.max, config.min);
    EXPECT_EQ(schedule::classic_interval(config, {}).interval, 10min);
}

}  // namespace
}  // namespace pollux::tests
