// What pages about the fleet read from a core that runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/fleet_snapshot.hpp"
#include "api/insight_pages.hpp"
#include "api/insight_test_support.hpp"
#include "api/overview.hpp"
#include "runtime/core_loop_test_support.hpp"
#include "runtime/insight_books.hpp"

namespace pollux::api {
namespace {

using model::Outcome;
using runtime::RunOrder;
using runtime::TargetState;

class FleetCore : public testing::Test {
  protected:
    FleetCore() {
        auto plan = std::make_shared<runtime::PollPlan>();
        plan->key = "lamp::hall";
        plan->class_name = "lamp";
        plan->device = "hall";
        order_ = stage_.add(plan);
    }
    // Ends the run that is under way and starts another one.
    void end_run(Outcome outcome) {
        stage_.report(order_, outcome);
        ASSERT_TRUE(stage_.holds([this](const auto& view) {
            const auto* runs = view.insight.runs.of(order_.task.index);
            return runs != nullptr && runs->size() == ended_ + 1;
        }));
        ++ended_;
        ASSERT_TRUE(stage_.operate(schedule::OperatorVerb::kTriggerNow, "lamp::hall"));
        order_ = stage_.orders.wait_for(ended_ + 1).at(ended_).order;
    }
    FleetSnapshot wanted() const {
        auto targets = std::make_shared<alert::AlertFleet>();
        targets->targets.emplace_back().key = "lamp::hall";
        auto image = std::make_shared<runtime::FleetImage>();
        image->alerts.fleet = targets;
        config::TargetPlanInput& task = image->expansion.targets.emplace_back();
        task.key = "lamp::hall";
        task.target = "lamp::hall";
        image->expansion.tasks.emplace_back();
        image->inbound = std::make_shared<runtime::InboundImage>();
        auto view = std::make_shared<runtime::FleetView>();
        view->image = image;
        FleetSnapshot fleet;
        fleet.frame = std::make_shared<const FleetFrame>(view);
        fleet.shown = fleet.frame->seen_by(test::viewer_of(""));
        return fleet;
    }
    TargetState state() {
        return stage_.ask<TargetState>([this](const auto& core) {
            FleetSnapshot fleet = wanted();
            take_polled(core, fleet);
            return fleet.rows.at(0).state;
        });
    }

    runtime::test::CoreStage stage_;
    RunOrder order_;
    std::size_t ended_ = 0;
};

TEST_F(FleetCore, ARunThatWasCutOffDoesNotMakeATargetWell) {
    ASSERT_NO_FATAL_FAILURE(end_run(Outcome::kDegraded));
    EXPECT_EQ(state(), TargetState::kDegraded);
    ASSERT_NO_FATAL_FAILURE(end_run(Outcome::kInterrupted));
    EXPECT_EQ(state(), TargetState::kDegraded);
    ASSERT_NO_FATAL_FAILURE(end_run(Outcome::kOk));
    EXPECT_EQ(state(), TargetState::kUp);
}

TEST_F(FleetCore, RatesAreOfTheRunsThatEnded) {
    ASSERT_NO_FATAL_FAILURE(end_run(Outcome::kOk));
    ASSERT_NO_FATAL_FAILURE(end_run(Outcome::kInterrupted));
    ASSERT_NO_FATAL_FAILURE(end_run(Outcome::kTransient));
    const auto rates =
        stage_.ask<PollRates>([this](const auto& core) { return rates_of(core, wanted()); });
    EXPECT_DOUBLE_EQ(rates.per_second, 3.0 / 60);
    EXPECT_DOUBLE_EQ(rates.success_ratio.value(), 0.5);
}

TEST_F(FleetCore, SharesAreOfAllAlsoWhenOneIsAskedFor) {
    ASSERT_NO_FATAL_FAILURE(end_run(Outcome::kOk));
    const auto costs = [this](const char* key) {
        return stage_.ask<CostFacts>([this, key](const auto& core) {
            const FleetSnapshot fleet = wanted();
            return cost_facts(core, *fleet.frame, fleet.shown, {.key = key, .device = ""});
        });
    };
    EXPECT_EQ(costs("lamp::hall").rows.size(), 1U);
    EXPECT_EQ(costs("lamp::hall").total.runs, 1U);
    EXPECT_EQ(costs("lamp::attic").rows.size(), 0U);
    EXPECT_EQ(costs("lamp::attic").total.runs, 1U);
}

}  // namespace
}  // namespace pollux::api
