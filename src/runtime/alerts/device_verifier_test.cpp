// Whether a device lives, asked of the core: what counts as an answer.
#include "runtime/alerts/device_verifier.hpp"

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "runtime/core_loop_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::Outcome;
using test::CoreStage;
using test::Inbox;
using test::lamp_plan;

class DeviceVerifierTest : public testing::Test {
  protected:
    DeviceVerifierTest() {
        auto tasks = std::make_shared<DeviceTasks>();
        (*tasks)["hall"] = {"lamp::hall"};
        thread_ = std::thread([this] { loop_->run(); });
        on_loop([this, tasks] {
            verifier_ = std::make_unique<DeviceVerifier>(
                loop_, *stage.core, [this](std::vector<DeviceVerifier::Verdict> verdicts) {
                    for (const auto& one : verdicts) verdicts_.put(one);
                });
            verifier_->set_tasks(tasks);
        });
    }
    ~DeviceVerifierTest() override {
        on_loop([this] { verifier_.reset(); });
        loop_->stop();
        thread_.join();
    }

    void on_loop(std::function<void()> work) {
        std::promise<void> done;
        loop_->post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    void verify() {
        on_loop([this] { verifier_->verify({"hall"}); });
    }
    // The next run of the lamp; ends as it is told.
    RunOrder next_order() {
        const auto orders = stage.orders.wait_for(++orders_);
        EXPECT_EQ(orders.size(), orders_);
        return orders.back().order;
    }
    void end(const RunOrder& order, Outcome outcome, Heard heard = Heard::kSilence) {
        RunReport report;
        report.task = order.task;
        report.run = order.run;
        report.trigger = order.trigger;
        report.outcome = outcome;
        report.heard = heard;
        if (!model::is_success(outcome)) report.code = "http.status";
        stage.core->deliver({report});
    }
    // The verdict that comes next.
    bool up() {
        const auto verdicts = verdicts_.wait_for(++heard_);
        EXPECT_EQ(verdicts.size(), heard_);
        return verdicts.size() == heard_ && verdicts.back().up;
    }
    void add_well() {
        stage.add(lamp_plan("hall"));
        end(next_order(), Outcome::kOk);
        ASSERT_TRUE(stage.holds(
            [](const CoreLoop::View& view) { return view.engine.core().stats().finished == 1; }));
    }

    CoreStage stage;

  private:
    std::shared_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
    std::unique_ptr<DeviceVerifier> verifier_;
    Inbox<DeviceVerifier::Verdict> verdicts_;
    std::size_t heard_ = 0;
    std::size_t orders_ = 0;
    std::thread thread_;
};

TEST_F(DeviceVerifierTest, SilenceOfAllTasksIsDownByAFreshConnection) {
    add_well();
    verify();
    const RunOrder order = next_order();
    EXPECT_TRUE(order.fresh_login);
    end(order, Outcome::kTransient);
    EXPECT_FALSE(up());
}

TEST_F(DeviceVerifierTest, AnAnswerThatIsAnErrorProvesThatItLives) {
    add_well();
    verify();
    end(next_order(), Outcome::kTransient, Heard::kAnswer);
    EXPECT_TRUE(up());
    verify();
    end(next_order(), Outcome::kPermanent, Heard::kAnswer);
    EXPECT_TRUE(up());
}

TEST_F(DeviceVerifierTest, APollThatWasUnderWayDoesNotCount) {
    stage.add(lamp_plan("hall"));
    const RunOrder before = next_order();
    verify();
    end(before, Outcome::kTransient);
    const RunOrder asked = next_order();
    EXPECT_TRUE(asked.fresh_login);
    end(asked, Outcome::kOk);
    EXPECT_TRUE(up()) << "the failure of the first one was not the answer";
}

TEST_F(DeviceVerifierTest, WhatWasNotAskedSaysNothing) {
    add_well();
    verify();
    end(next_order(), Outcome::kPermanent, Heard::kNothing);
    verify();
    end(next_order(), Outcome::kOk);
    EXPECT_TRUE(up()) << "the only verdict";
}

}  // namespace
}  // namespace pollux::runtime
