// What the simulator found in earlier versions of the core: the shortest sequence of each.
#include <gtest/gtest.h>

#include <string>

#include "sim/invariants_test_support.hpp"

namespace pollux::sim {
namespace {

using model::Outcome;

schedule::RunFinished ended(const schedule::StartRun& start) {
    schedule::RunFinished finished;
    finished.task = start.task;
    finished.run = start.run;
    return finished;
}

// `last` ages while the class is full and reserves its slots. Then the class is free again, but
// `first`, which is older and stands before it, is refused by that reservation, and a refusal by
// the class ends its turn: `last` is never tried, and nothing of the class ever starts again.
TEST(EngineStories, AReservationDoesNotLockOutItsClass) {
    model::CoreSettings settings = checker_settings();
    settings.classes[1].slots = 2;
    settings.resources = {{"lane", 1}};
    CheckedEngine e(settings);
    const auto add_job = [&](const std::string& key, bool lane) {
        model::TaskSpec job = job_named(key);
        job.timeout = std::chrono::hours(1);
        if (lane) job.demand = {{"lane", 1}};
        e.add({job});
    };
    add_job("b::holds-lane", true);
    add_job("b::first", true);  // waits for the lane
    e.pass(100);
    add_job("b::fills-class", false);
    add_job("b::last", true);  // waits for the class
    e.pass(100);
    ASSERT_EQ(e.starts().size(), 2U);
    const auto running = e.starts();
    for (const auto& start : running) {
        e.tell_checker(ended(start));
        e.step({ended(start)});
    }
    e.pass(600);
    EXPECT_GT(e.starts().size(), 2U) << e.core().explain("b::first")->verdict;
}

// A task that was moved inside one tick of the wheel stands there twice, and both count against the
// limit of the plan: the last task drops out.
TEST(EngineStories, APlanOfTheWholeFleetIsComplete) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.add({recurring("a::y")});
    e.finish(Outcome::kOk);
    e.jump(1.0005);
    const auto task = e.core().find("a::x");
    e.step({schedule::Observed{task, e.now() - std::chrono::microseconds(100), false},
            schedule::Observed{task, e.now(), false}});
    e.jump(1);
    e.step({schedule::Observed{e.core().find("a::y"), e.now(), false}});
    EXPECT_EQ(e.core().plan(e.now(), e.core().size()).size(), 2U);
}

}  // namespace
}  // namespace pollux::sim
