#include "runtime/task_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/core_loop_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::Outcome;
using test::CoreStage;

std::shared_ptr<const PollPlan> plan_for(const std::string& key, std::string problem = "") {
    auto plan = std::make_shared<PollPlan>();
    plan->key = key;
    plan->class_name = "lamp";
    plan->device = std::string(name_of(key));
    plan->problem = std::move(problem);
    return plan;
}

TaskRow row_of(CoreStage& stage, const std::string& key) {
    return stage.ask<TaskRow>(
        [&](const CoreLoop::View& view) { return task_row(view, view.engine.core().find(key)); });
}

TEST(TaskRows, AFreshTaskShowsItsTimesAndNoFailure) {
    CoreStage stage;
    const RunOrder order = stage.add(plan_for("lamp::hall"));
    const base::WallTime before = net::wall_now();
    stage.report(order, Outcome::kOk);
    ASSERT_TRUE(stage.holds([](const auto& view) { return view.engine.core().in_flight() == 0; }));
    const TaskRow row = row_of(stage, "lamp::hall");
    EXPECT_EQ(row.key, "lamp::hall");
    EXPECT_EQ(row.class_name, "lamp");
    EXPECT_TRUE(row.enabled && row.recurring);
    EXPECT_EQ(row.place, schedule::Place::kScheduled);
    EXPECT_GE(row.last_success, before - std::chrono::milliseconds(1));
    EXPECT_EQ(row.last_error, base::WallTime{}) << "it never failed";
    EXPECT_GT(row.next_due, row.last_success);
    EXPECT_FALSE(row.failure);
}

TEST(TaskRows, AFailingTaskShowsWhatIsKnownOfIt) {
    CoreStage stage;
    const RunOrder order = stage.add(plan_for("lamp::hall"));
    stage.report(order, Outcome::kTransient, "no answer");
    ASSERT_TRUE(stage.holds([](const auto& view) { return view.engine.core().in_flight() == 0; }));
    const TaskRow row = row_of(stage, "lamp::hall");
    ASSERT_TRUE(row.failure);
    EXPECT_EQ(row.failure->consecutive, 1U);
    EXPECT_EQ(row.failure->code, "http.timeout");
    EXPECT_EQ(row.failure->message, "no answer");
    EXPECT_FALSE(row.failure->permanent || row.failure->open() || row.failure->dead());
    EXPECT_NE(row.failure->first_failure, base::WallTime{});
    EXPECT_EQ(row.failure->breaker_since, base::WallTime{}) << "it is closed";
    EXPECT_EQ(row.last_success, base::WallTime{});
    EXPECT_EQ(row.age, base::Duration::max());
}

TEST(TaskRows, WhatCannotBePolledSaysWhy) {
    CoreStage stage;
    stage.edit(CoreStage::with({schedule::poll("lamp::cellar")},
                               {plan_for("lamp::cellar", "the credential \"c\" has no password")}));
    ASSERT_TRUE(stage.holds([](const auto& view) { return view.failures.size() == 1; }));
    const TaskRow row = row_of(stage, "lamp::cellar");
    EXPECT_EQ(row.problem, "the credential \"c\" has no password");
    ASSERT_TRUE(row.failure);
    EXPECT_TRUE(row.failure->permanent);
}

TEST(TaskRows, WordsOfAFailureAreKeptOverARestart) {
    CoreStage stage;
    const RunOrder order = stage.add(plan_for("lamp::hall"));
    stage.report(order, Outcome::kTransient, "no answer");
    ASSERT_TRUE(stage.holds([](const auto& view) { return view.failures.size() == 1; }));
    stage.core->stop(std::chrono::seconds(0));
    stage.flush();
    EXPECT_EQ(stage.disk->content.memory.count("failure/lamp::hall"), 1U);
}

TEST(TaskRows, KeysFallIntoClassAndName) {
    EXPECT_EQ(class_of("pve::node::1"), "pve");
    EXPECT_EQ(name_of("pve::node::1"), "node::1");
    EXPECT_EQ(name_of("plain"), "plain");
}

}  // namespace
}  // namespace pollux::runtime
