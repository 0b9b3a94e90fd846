// What a heard message does to polled tasks: the way from CoreLoop::poke to the order of a run.
// When exactly a poked task starts is tested with the core (schedule/core_poke_test.cpp).
#include <gmock/gmock.h>

#include "runtime/core_loop_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::Outcome;
using schedule::PokeReason;
using test::CoreStage;
using test::lamp_plan;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CoreLoopPoke, BringsAPollForwardWithItsReason) {
    CoreStage stage;
    stage.report(stage.add(lamp_plan("hall")), Outcome::kOk);
    ASSERT_TRUE(stage.holds(
        [](const CoreLoop::View& view) { return view.engine.core().stats().finished == 1; }));
    stage.core->poke({"lamp::hall"}, PokeReason::kTrap);
    const RunOrder order = stage.orders.wait_for(2).at(1).order;
    EXPECT_EQ(order.trigger, model::Trigger::kPoke) << "a minute before its time";
}

TEST(CoreLoopPoke, AStormDuringARunIsOneRunMore) {
    CoreStage stage;
    const RunOrder first = stage.add(lamp_plan("hall"));
    for (int i = 0; i < 1000; ++i) stage.core->poke({"lamp::hall"}, PokeReason::kWebhook);
    stage.report(first, Outcome::kOk);
    stage.report(stage.orders.wait_for(2).at(1).order, Outcome::kOk);
    ASSERT_TRUE(stage.holds(
        [](const CoreLoop::View& view) { return view.engine.core().stats().finished == 2; }));
    // The next one is a minute away: no poke is left.
    const double wait = stage.ask<double>([](const CoreLoop::View& view) {
        const auto& core = view.engine.core();
        return base::to_seconds(core.slot(core.find("lamp::hall")).next_due - view.now.boot);
    });
    EXPECT_GT(wait, 20);
    EXPECT_EQ(stage.orders.size(), 2U);
}

TEST(CoreLoopPoke, AKeyThatIsGoneIsToldAndTheOthersArePoked) {
    CoreStage stage;
    stage.report(stage.add(lamp_plan("hall")), Outcome::kOk);
    ASSERT_TRUE(stage.holds(
        [](const CoreLoop::View& view) { return view.engine.core().stats().finished == 1; }));
    stage.core->poke({"lamp::nobody", "lamp::hall", ""}, PokeReason::kTrap);
    EXPECT_EQ(stage.orders.wait_for(2).at(1).order.plan->key, "lamp::hall");
    const std::string line = stage.lines.wait_for("there is no such target any more");
    EXPECT_THAT(line, HasSubstr("key=lamp::nobody"));
    EXPECT_FALSE(stage.operate(schedule::OperatorVerb::kTriggerNow, "lamp::nobody"))
        << "an operator is told to his face";
}

TEST(CoreLoopPoke, WhatIsDownIsProbedOnceAndNotInAHurry) {
    CoreStage stage;
    RunOrder order = stage.add(lamp_plan("hall"));
    for (std::size_t failures = 1; failures <= 3; ++failures) {
        stage.report(order, Outcome::kTransient, "no answer within 5 s");
        if (failures == 3) break;
        // An operator does not wait for the ladder.
        ASSERT_TRUE(stage.holds([&](const CoreLoop::View& view) {
            return view.engine.core().stats().finished == failures;
        }));
        ASSERT_TRUE(stage.operate(schedule::OperatorVerb::kTriggerNow, "lamp::hall"));
        order = stage.orders.wait_for(failures + 1).at(failures).order;
    }
    EXPECT_NE(stage.lines.wait_for("breaker"), "");
    stage.core->poke({"lamp::hall"}, PokeReason::kTrap);
    const auto [wait, reason] =
        stage.ask<std::pair<double, std::string>>([](const CoreLoop::View& view) {
            const auto& core = view.engine.core();
            const auto task = core.find("lamp::hall");
            const auto story = core.explain("lamp::hall").value();
            return std::pair(
                base::to_seconds(core.slot(task).next_due - core.slot(task).last_answer()),
                story.gates[static_cast<std::size_t>(schedule::GateKind::kBreaker)].reason);
        });
    EXPECT_GE(wait, 4.9) << "five seconds after the last failure";
    EXPECT_LE(wait, 15.9) << "and before its own probe";
    EXPECT_THAT(reason, HasSubstr("open after 3 failures"));
    EXPECT_EQ(stage.orders.size(), 3U);
}

}  // namespace
}  // namespace pollux::runtime
