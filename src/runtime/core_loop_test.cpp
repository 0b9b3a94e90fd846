#include "runtime/core_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <optional>

#include "runtime/runtime_test_support.hpp"
#include "schedule/core_test_support.hpp"
#include "store/memory/memory_store.hpp"

namespace pollux::runtime {
namespace {

using model::FailureKind;
using model::Outcome;
using schedule::ChangeKind;
using schedule::OperatorVerb;
using test::answers;
using test::Inbox;
using test::kPatience;
using test::lamp_plan;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// A store that answers when it is told to, and may refuse.
class ToldStore final : public store::Store {
  public:
    base::Result<store::LoadedState> load(const store::LoadVisitor&) override { return {}; }
    base::Status submit(std::shared_ptr<const engine::WriteBatch> batch) override {
        batches.put(batch);
        if (refusals.fetch_sub(1) > 0) {
            return base::make_error(base::ErrorClass::kTransient, "store.queue_full", "full");
        }
        return {};
    }
    base::Status submit(store::ObjectBatch, store::ObjectDone) override { return {}; }
    base::Status submit(store::MemoryBatch, store::MemoryDone) override { return {}; }
    base::Status submit(store::ObservationBatch, store::ObservationDone) override { return {}; }
    void flush() override {}
    base::Status close() override { return {}; }
    base::Result<std::vector<store::StoredChange>> changes(const store::ChangeQuery&) override {
        return {};
    }
    base::Result<std::vector<store::Observation>> observations(
        const store::ObservationQuery&) override {
        return {};
    }
    base::Result<std::vector<store::SettingsVersion>> settings_versions(std::uint64_t,
                                                                        std::size_t) override {
        return {};
    }
    store::StoreStats stats() const override { return {}; }

    Inbox<std::shared_ptr<const engine::WriteBatch>> batches;
    std::atomic<int> refusals = 0;
};

struct Dispatched {
    std::size_t shard = 0;
    RunOrder order;
};

// A core whose shards are played by the test, over the memory store or one that is told.
class CoreStage {
  public:
    explicit CoreStage(ToldStore* told = nullptr, engine::PumpOptions pump = {}) {
        if (told == nullptr) {
            store_ = store::open_memory_store(
                disk, [this](engine::StoreAnswer answer, const base::Error* why) {
                    core->answer(answer, why);
                });
            EXPECT_TRUE(store_->load({}));
        }
        CoreWiring wiring;
        wiring.dispatch = [this](std::size_t shard, std::vector<RunOrder> all) {
            for (RunOrder& order : all) orders.put({shard, std::move(order)});
        };
        wiring.cancel = [this](std::vector<RunCancel> all, std::shared_ptr<const PollPlan>) {
            for (const RunCancel& one : all) cancels.put(one);
        };
        wiring.forgotten = [this](std::uint32_t, const PollPlan& plan) { forgotten.put(plan.key); };
        wiring.published = [this](const engine::TaskChange& change) { published.put(change); };
        store::Store& used = told == nullptr ? *store_ : static_cast<store::Store&>(*told);
        core = std::make_unique<CoreLoop>(used, lines.log(), std::move(wiring), 2, 100);
        core->start(1, 40, schedule::wide_settings({"lamp"}), pump);
    }
    ~CoreStage() {
        core->stop(0s);
        if (store_) store_->close().value();
    }

    void flush() { store_->flush(); }
    std::vector<base::Error> edit(CoreEdit edit) {
        Inbox<std::vector<base::Error>> box;
        core->edit(std::move(edit), [&](std::vector<base::Error> errors) { box.put(errors); });
        return box.wait_for(1).at(0);
    }
    // One lamp that is polled every minute, and its first run.
    RunOrder add(const std::shared_ptr<const PollPlan>& plan) {
        const std::size_t before = orders.size();
        EXPECT_THAT(edit(with({schedule::poll(plan->key)}, {plan})), IsEmpty());
        return orders.wait_for(before + 1).at(before).order;
    }
    static CoreEdit with(std::vector<model::TaskSpec> specs,
                         std::vector<std::shared_ptr<const PollPlan>> plans) {
        CoreEdit edit;
        edit.upserted = std::make_shared<const std::vector<model::TaskSpec>>(std::move(specs));
        edit.plans = std::move(plans);
        return edit;
    }
    base::Status operate(OperatorVerb verb, std::string key) {
        Inbox<base::Status> box;
        core->operate({verb, std::move(key), 0}, [&](base::Status status) { box.put(status); });
        return box.wait_for(1).at(0);
    }
    void report(const RunOrder& order, Outcome outcome, std::string message = "") {
        RunReport report;
        report.task = order.task;
        report.run = order.run;
        report.trigger = order.trigger;
        report.outcome = outcome;
        if (!model::is_success(outcome)) {
            report.kind = FailureKind::kTimeout;
            report.code = "http.timeout";
            report.message = std::move(message);
        }
        core->deliver({report});
    }
    template <class Answer>
    Answer ask(std::function<Answer(const CoreLoop::View&)> question) {
        Inbox<Answer> box;
        core->ask([&](const CoreLoop::View& view) { box.put(question(view)); });
        return box.wait_for(1).at(0);
    }
    std::optional<CoreLoop::LastFailure> failure_of(const std::string& key) {
        return ask<std::optional<CoreLoop::LastFailure>>([&](const CoreLoop::View& view) {
            const auto found = view.failures.find(view.engine.core().find(key).index);
            return found == view.failures.end() ? std::nullopt : std::optional(found->second);
        });
    }
    // Asks until it holds: turns of the core come one after the other.
    bool holds(std::function<bool(const CoreLoop::View&)> condition) {
        const auto end = std::chrono::steady_clock::now() + kPatience;
        while (std::chrono::steady_clock::now() < end) {
            if (ask<bool>(condition)) return true;
        }
        return false;
    }

    test::LogLines lines{observe::LogLevel::kDebug};
    Inbox<Dispatched> orders;
    Inbox<RunCancel> cancels;
    Inbox<std::string> forgotten;
    Inbox<engine::TaskChange> published;
    std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
    std::unique_ptr<CoreLoop> core;

  private:
    std::unique_ptr<store::Store> store_;
};

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
