#include "runtime/core_loop.hpp"

#include <gmock/gmock.h>

#include <future>

#include "runtime/core_loop_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::FailureKind;
using model::Outcome;
using schedule::ChangeKind;
using schedule::OperatorVerb;
using test::answers;
using test::CoreStage;
using test::Dispatched;
using test::kPatience;
using test::lamp_plan;
using test::ToldStore;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

TEST(CoreLoop, ARunGoesToItsShardWithThePlanInForce) {
    CoreStage stage;
    auto plan = lamp_plan("hall");
    plan->shard = 1;
    stage.add(plan);
    const Dispatched first = stage.orders.wait_for(1).at(0);
    EXPECT_EQ(first.shard, 1U);
    EXPECT_EQ(first.order.plan, plan);
    EXPECT_EQ(first.order.run.epoch, 1U);
    EXPECT_GT(first.order.deadline, net::boot_now());
    stage.report(first.order, Outcome::kOk);

    auto changed = lamp_plan("hall", {"10.0.0.9"});
    CoreEdit edit = CoreStage::with({}, {changed});
    edit.poked = {"lamp::hall", "lamp::nobody"};
    EXPECT_THAT(stage.edit(std::move(edit)), IsEmpty());
    const Dispatched second = stage.orders.wait_for(2).at(1);
    EXPECT_EQ(second.order.plan, changed) << "asked at once, and as the edit says";
    EXPECT_EQ(second.order.trigger, model::Trigger::kPoke);
    EXPECT_EQ(second.shard, 0U);
}

TEST(CoreLoop, ARunWithoutAPlanEndsAsFailed) {
    CoreStage stage;
    EXPECT_THAT(stage.edit(CoreStage::with({schedule::poll("lamp::hall")}, {})), IsEmpty());
    EXPECT_TRUE(stage.holds([](const auto& view) {
        const auto& stats = view.engine.core().stats();
        return stats.finished > 0 && stats.finished == stats.started;
    }));
    const auto failure = stage.failure_of("lamp::hall");
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, "poll.no_plan");
    EXPECT_THAT(failure->message, HasSubstr("lamp::hall"));
    EXPECT_EQ(stage.orders.size(), 0U);
}

TEST(CoreLoop, ARunWithAProblemEndsAsFailedWithItsReason) {
    CoreStage stage;
    auto plan = lamp_plan("hall");
    plan->asks.clear();
    plan->problem = "the variable LAMP_TOKEN is not set";
    EXPECT_THAT(stage.edit(CoreStage::with({schedule::poll("lamp::hall")}, {plan})), IsEmpty());
    const std::string line = stage.lines.wait_for("target is down");
    EXPECT_THAT(line, HasSubstr("key=lamp::hall"));
    EXPECT_THAT(line, HasSubstr("reason=\"the variable LAMP_TOKEN is not set\""));
    const auto failure = stage.failure_of("lamp::hall");
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, "poll.configuration");
    EXPECT_EQ(stage.orders.size(), 0U);
    const auto errors = stage.ask<std::uint64_t>([](const CoreLoop::View& view) {
        return view.stats.of_class(0)
            .polls.errors[static_cast<std::size_t>(FailureKind::kConfiguration)];
    });
    EXPECT_GE(errors, 1U);

    // The reason goes with the problem.
    CoreEdit mended = CoreStage::with({}, {lamp_plan("hall")});
    mended.poked = {"lamp::hall"};
    EXPECT_THAT(stage.edit(std::move(mended)), IsEmpty());
    stage.report(stage.orders.wait_for(1).at(0).order, Outcome::kOk);
    EXPECT_THAT(stage.lines.wait_for("target is up"), HasSubstr("reason=\"\""));
    EXPECT_FALSE(stage.failure_of("lamp::hall"));
}

TEST(CoreLoop, WhatIsRefusedIsSaidAndChangesNothing) {
    CoreStage stage;
    const auto errors = stage.edit(CoreStage::with(
        {schedule::poll("lamp::hall"), schedule::poll("lamp::hall", base::Duration{-1})}, {}));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_THAT(stage.lines.text(), HasSubstr("the core refused an edit"));
    EXPECT_EQ(stage.ask<std::size_t>([](const auto& view) { return view.engine.core().size(); }),
              0U);
    CoreEdit removal;
    removal.removed = {"lamp::nobody"};
    stage.edit(std::move(removal));
    EXPECT_FALSE(stage.operate(OperatorVerb::kTriggerNow, "lamp::nobody"));
}

TEST(CoreLoop, AnOperatorStartsARunAtOnce) {
    CoreStage stage;
    stage.report(stage.add(lamp_plan("hall")), Outcome::kOk);
    ASSERT_TRUE(stage.operate(OperatorVerb::kTriggerNow, "lamp::hall"));
    EXPECT_EQ(stage.orders.wait_for(2).at(1).order.trigger, model::Trigger::kOperator);
    EXPECT_FALSE(stage.operate(OperatorVerb::kTriggerNow, ""));
}

TEST(CoreLoop, ARemovedTaskIsCancelledAndForgotten) {
    CoreStage stage;
    const RunOrder order = stage.add(lamp_plan("hall"));
    CoreEdit edit;
    edit.removed = {"lamp::hall"};
    EXPECT_THAT(stage.edit(std::move(edit)), IsEmpty());
    EXPECT_EQ(stage.cancels.wait_for(1).at(0).run, order.run);
    EXPECT_EQ(stage.forgotten.wait_for(1).at(0), "lamp::hall");
    stage.report(order, Outcome::kTransient, "too late");
    EXPECT_EQ(stage.ask<std::uint64_t>([](const CoreLoop::View& view) {
        return view.stats.of_class(0).polls.failures();
    }),
              0U);
    EXPECT_EQ(stage.ask<bool>([&](const CoreLoop::View& view) {
        return view.plan(order.task.index) == nullptr && view.failures.empty();
    }),
              true);
}

TEST(CoreLoop, KeepsTheLastFailureOfATaskUntilItAnswers) {
    CoreStage stage;
    stage.report(stage.add(lamp_plan("hall")), Outcome::kTransient, "no answer within 5 s");
    EXPECT_THAT(stage.lines.wait_for("poll failed"), HasSubstr("code=http.timeout"));
    ASSERT_TRUE(stage.failure_of("lamp::hall"));
    EXPECT_EQ(stage.failure_of("lamp::hall")->message, "no answer within 5 s");
    ASSERT_TRUE(stage.operate(OperatorVerb::kTriggerNow, "lamp::hall"));
    const RunOrder interrupted = stage.orders.wait_for(2).at(1).order;
    stage.report(interrupted, Outcome::kInterrupted);
    EXPECT_TRUE(stage.failure_of("lamp::hall")) << "our own doing says nothing about the device";
    ASSERT_TRUE(stage.operate(OperatorVerb::kTriggerNow, "lamp::hall"));
    stage.report(stage.orders.wait_for(3).at(2).order, Outcome::kOk);
    EXPECT_TRUE(stage.holds([](const auto& view) { return view.failures.empty(); }));
    const auto polls = stage.ask<PollCounts>(
        [](const CoreLoop::View& view) { return view.stats.of_class(0).polls; });
    EXPECT_EQ(polls.success, 1U);
    EXPECT_EQ(polls.failures(), 1U);
}

TEST(CoreLoop, AChangeIsSeenOnlyAfterItsCommit) {
    ToldStore store;
    CoreStage stage(&store);
    stage.report(stage.add(lamp_plan("hall")), Outcome::kOk);
    const auto batch = store.batches.wait_for(1).at(0);
    ASSERT_EQ(batch->changes.size(), 1U);
    EXPECT_TRUE(answers(*stage.core));
    EXPECT_EQ(stage.published.size(), 0U);
    EXPECT_THAT(stage.lines.text(), testing::Not(HasSubstr("target is up")));
    stage.core->answer({batch->sequence, true}, nullptr);
    const engine::TaskChange change = stage.published.wait_for(1).at(0);
    EXPECT_EQ(change.number, 40U);
    EXPECT_FALSE(change.provisional);
    EXPECT_THAT(stage.lines.wait_for("target is up"), HasSubstr("provisional=false"));
}

TEST(CoreLoop, WhenTheStoreFailsAChangeIsProvisional) {
    ToldStore store;
    CoreStage stage(&store, {.provisional_after = 0s, .retry_every = 10ms});
    stage.report(stage.add(lamp_plan("hall")), Outcome::kOk);
    const auto first = store.batches.wait_for(1).at(0);
    const base::Error full{"store.disk_full", base::ErrorClass::kTransient, "no space left"};
    stage.core->answer({first->sequence, false}, &full);
    EXPECT_THAT(stage.lines.wait_for("store cannot commit"), HasSubstr("no space left"));
    const auto again = store.batches.wait_for(2).at(1);
    ASSERT_FALSE(again->changes.empty());
    EXPECT_EQ(again->changes[0].number, first->changes[0].number);
    EXPECT_THAT(stage.lines.wait_for("target is up"), HasSubstr("provisional=true"));
    EXPECT_TRUE(stage.ask<bool>([](const auto& view) { return view.engine.pump().failing(); }));
    stage.core->answer({again->sequence, true}, nullptr);
    const auto published = stage.published.wait_for(2);
    ASSERT_EQ(published.size(), 2U);
    EXPECT_TRUE(published[0].provisional);
    EXPECT_FALSE(published[1].provisional);
    EXPECT_EQ(published[0].number, published[1].number);
    EXPECT_NE(stage.lines.wait_for("store commits again"), "");
}

TEST(CoreLoop, ABatchThatWasNotAcceptedIsTriedAgain) {
    ToldStore store;
    store.refusals = 1;
    CoreStage stage(&store, {.retry_every = 10ms});
    stage.report(stage.add(lamp_plan("hall")), Outcome::kOk);
    const auto batches = store.batches.wait_for(2);
    ASSERT_GE(batches.size(), 2U);
    stage.core->answer({batches[1]->sequence, true}, nullptr);
    EXPECT_EQ(stage.published.wait_for(1).at(0).number, 40U);
}

TEST(CoreLoop, TheEndWaitsForRunsAndWritesThemDown) {
    CoreStage stage;
    const RunOrder order = stage.add(lamp_plan("hall"));
    auto ended = std::async(std::launch::async, [&] { stage.core->stop(kPatience); });
    EXPECT_EQ(ended.wait_for(50ms), std::future_status::timeout) << "a run is under way";
    stage.report(order, Outcome::kOk);
    ended.get();
    stage.flush();
    const std::scoped_lock lock(stage.disk->mutex);
    ASSERT_TRUE(stage.disk->content.tasks.contains("lamp::hall"));
    EXPECT_TRUE(stage.disk->content.tasks.at("lamp::hall").was_up);
}

TEST(CoreLoop, ACoreThatNeverStartedJustGoes) {
    ToldStore store;
    test::LogLines lines;
    CoreLoop core(store, lines.log(), {}, 1, 10);
    core.stop(1s);
}

TEST(CoreLoop, AnswersAndCountsItsTurns) {
    CoreStage stage;
    EXPECT_TRUE(answers(*stage.core));
    const std::uint64_t before = stage.core->turns();
    EXPECT_THAT(stage.edit({}), IsEmpty());
    EXPECT_GT(stage.core->turns(), before);
    stage.core->set_target_limit(7);
    EXPECT_EQ(stage.ask<std::size_t>([](const auto& view) { return view.stats.target_limit(); }),
              7U);
}

}  // namespace
}  // namespace pollux::runtime
