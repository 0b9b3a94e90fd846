// Acts of people with their entries in the audit trail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/test_random.hpp"
#include "net/test_process.hpp"
#include "runtime/core_loop_test_support.hpp"
#include "store/audit/audit_key.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;
using namespace test;
using schedule::OperatorVerb;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

using Answer = base::Result<OperateResult>;

model::AuditEntry entry(std::string action) {
    model::AuditEntry one;
    one.principal = "user:alice";
    one.address = "127.0.0.1";
    one.action = std::move(action);
    one.reason = "because";
    one.request_id = "r1";
    return one;
}

Answer operate(CoreLoop& core, schedule::OperatorAction action,
               std::optional<model::AuditEntry> recorded) {
    Inbox<Answer> box;
    core.operate(std::move(action), std::move(recorded),
                 [&](Answer answer) { box.put(std::move(answer)); });
    const auto all = box.wait_for(1);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Answer(OperateResult{}) : all[0];
}

// Polls the lamp until its breaker is open.
void break_lamp(CoreStage& stage, const std::string& key) {
    RunOrder order = stage.add(lamp_plan(key.substr(6)));
    for (int i = 0; i < 20; ++i) {
        const std::size_t before = stage.orders.size();
        stage.report(order, model::Outcome::kPermanent, "no answer");
        const bool open = stage.ask<bool>([&](const CoreLoop::View& view) {
            const auto& core = view.engine.core();
            return core.failure(core.find(key)).breaker == model::BreakerState::kOpen;
        });
        if (open) return;
        stage.core->poke({key}, schedule::PokeReason::kOperator);
        order = stage.orders.wait_for(before + 1).at(before).order;
    }
    FAIL() << "the breaker did not open";
}

std::vector<store::ChainedRecord> trail(CoreStage& stage) {
    const std::scoped_lock lock(stage.disk->mutex);
    std::vector<store::ChainedRecord> all;
    for (const auto& [number, record] : stage.disk->content.audit) all.push_back(record);
    return all;
}

TEST(CoreLoopAudit, AnActIsAnsweredAfterItsEntryWasCommittedWithStateBeforeAndAfter) {
    CoreStage stage;
    stage.add(lamp_plan("hall"));
    const Answer answer =
        operate(*stage.core, {OperatorVerb::kDisable, "lamp::hall", 0}, entry("target.disable"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->before.enabled);
    EXPECT_FALSE(answer->after.enabled);
    EXPECT_EQ(answer->count, 1u);
    const auto records = trail(stage);
    ASSERT_EQ(records.size(), 1u);
    const model::AuditEntry& kept = records[0].entry;
    EXPECT_EQ(kept.principal, "user:alice");
    EXPECT_EQ(kept.object, "lamp::hall");
    EXPECT_EQ(kept.result, model::AuditResult::kAllowed);
    EXPECT_EQ(kept.reason, "because");
    EXPECT_THAT(kept.before, HasSubstr(R"("enabled":true)"));
    EXPECT_THAT(kept.after, HasSubstr(R"("enabled":false)"));
    EXPECT_GT(kept.at.us, 0);
    const std::scoped_lock lock(stage.disk->mutex);
    EXPECT_FALSE(stage.disk->content.tasks.at("lamp::hall").enabled);
}

TEST(CoreLoopAudit, AResetOfABreakerTellsBothStates) {
    CoreStage stage;
    break_lamp(stage, "lamp::hall");
    const Answer answer = operate(*stage.core, {OperatorVerb::kResetBreaker, "lamp::hall", 0},
                                  entry("breaker.reset"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->before.breaker, model::BreakerState::kOpen);
    EXPECT_EQ(answer->after.breaker, model::BreakerState::kHalfOpen);
    EXPECT_GT(answer->before.failures, 0u);
    EXPECT_GT(answer->after.next_due.us, 0);
    const auto records = trail(stage);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_THAT(records[0].entry.before, HasSubstr(R"("breaker":"open")"));
    EXPECT_THAT(records[0].entry.after, HasSubstr(R"("breaker":"half_open")"));
}

TEST(CoreLoopAudit, WhatTheCoreRefusesIsRecordedAsFailedAndChangesNothing) {
    CoreStage stage;
    stage.add(lamp_plan("hall"));
    Answer answer = operate(*stage.core, {OperatorVerb::kResetBreaker, "lamp::hall", 0},
                            entry("breaker.reset"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "operator.nothing_to_do");
    answer = operate(*stage.core, {OperatorVerb::kEnable, "lamp::nobody", 0}, entry("enable"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "task.unknown");
    const auto records = trail(stage);
    ASSERT_EQ(records.size(), 2u);
    for (const auto& record : records) {
        EXPECT_EQ(record.entry.result, model::AuditResult::kFailed);
    }
    EXPECT_THAT(records[0].entry.after, HasSubstr("operator.nothing_to_do"));
}

TEST(CoreLoopAudit, WithoutAnEntryNothingIsRecorded) {
    CoreStage stage;
    stage.add(lamp_plan("hall"));
    const Answer answer =
        operate(*stage.core, {OperatorVerb::kDisable, "lamp::hall", 0}, std::nullopt);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->after.enabled);
    stage.flush();
    EXPECT_TRUE(trail(stage).empty());
}

TEST(CoreLoopAudit, ABulkActTellsWhichTasksItTouchedAndTakesAFilter) {
    CoreStage stage;
    for (const char* key : {"lamp::a", "lamp::b", "lamp::c"}) break_lamp(stage, key);
    schedule::OperatorAction action{OperatorVerb::kResetAllBreakers, "", 0};
    action.filter = std::make_shared<const schedule::OperatorFilter>(
        schedule::OperatorFilter{{"lamp::b", "lamp::nobody", "lamp::b"}, ""});
    Answer answer = operate(*stage.core, action, entry("breaker.reset_all"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_THAT(answer->keys, ElementsAre("lamp::b"));
    EXPECT_EQ(answer->count, 1u);
    action.filter =
        std::make_shared<const schedule::OperatorFilter>(schedule::OperatorFilter{{}, "radio"});
    answer = operate(*stage.core, action, entry("breaker.reset_all"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "operator.nothing_to_do");
    const auto records = trail(stage);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].entry.object, "*");
    EXPECT_EQ(records[0].entry.after, R"({"count":1,"keys":["lamp::b"]})");
    EXPECT_EQ(records[1].entry.object, "lamp::b");
    EXPECT_EQ(records[2].entry.result, model::AuditResult::kFailed);
}

// A name without its states would not say what was done to it.
TEST(CoreLoopAudit, ABulkActHasARecordOfEachTaskWithItsOwnStates) {
    CoreStage stage;
    for (const char* key : {"lamp::a", "lamp::b", "lamp::c"}) break_lamp(stage, key);
    const Answer answer =
        operate(*stage.core, {OperatorVerb::kResetAllBreakers, "", 0}, entry("breaker.reset"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->count, 3u);
    const auto records = trail(stage);
    ASSERT_EQ(records.size(), 4u);
    EXPECT_EQ(records[0].entry.object, "*");
    std::vector<std::string> objects;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const model::AuditEntry& one = records[i].entry;
        objects.push_back(one.object);
        EXPECT_EQ(one.principal, "user:alice");
        EXPECT_EQ(one.action, "breaker.reset");
        EXPECT_EQ(one.reason, "because");
        EXPECT_EQ(one.request_id, "r1");
        EXPECT_EQ(one.result, model::AuditResult::kAllowed);
        EXPECT_THAT(one.before, HasSubstr(R"("breaker":"open")")) << one.object;
        EXPECT_THAT(one.after, HasSubstr(R"("breaker":"half_open")")) << one.object;
        EXPECT_THAT(one.after, HasSubstr(R"("failures":)"));
        EXPECT_THAT(one.after, HasSubstr(R"("next_due":")"));
    }
    EXPECT_THAT(objects, UnorderedElementsAre("lamp::a", "lamp::b", "lamp::c"));
}

TEST(CoreLoopAudit, TheRowsOfAnActAreInTheBatchOfItsEntry) {
    ToldStore told;
    CoreStage stage(&told);
    stage.add(lamp_plan("hall"));
    Inbox<Answer> box;
    stage.core->operate({OperatorVerb::kTriggerNow, "lamp::hall", 0}, entry("target.poll"),
                        [&](Answer answer) { box.put(std::move(answer)); });
    stage.core->operate({OperatorVerb::kDisable, "lamp::hall", 0}, entry("target.disable"),
                        [&](Answer answer) { box.put(std::move(answer)); });
    // One batch is under way at a time: answer until both entries came by.
    std::size_t entries = 0;
    for (std::size_t i = 0; entries < 2; ++i) {
        const auto batches = told.batches.wait_for(i + 1);
        ASSERT_GT(batches.size(), i);
        const auto& batch = batches[i];
        entries += batch->audit.size();
        for (const auto& one : batch->audit) {
            if (one.result == model::AuditResult::kFailed) continue;
            ASSERT_EQ(batch->rows.size(), 1u);
            EXPECT_EQ(batch->rows[0].key, "lamp::hall");
            if (one.action == "target.disable") {
                EXPECT_FALSE(batch->rows[0].enabled);
            }
        }
        EXPECT_LT(box.size(), 3u);
        stage.core->answer({batch->sequence, true}, nullptr);
    }
    EXPECT_EQ(box.wait_for(2).size(), 2u);
}

TEST(CoreLoopAudit, WhatCannotBeCommittedInTimeIsAnsweredWithAnErrorAndStaysInForce) {
    ToldStore told;
    engine::PumpOptions pump;
    pump.provisional_after = 50ms;
    pump.retry_every = 10ms;
    CoreStage stage(&told, pump);
    stage.edit(CoreStage::with({schedule::poll("lamp::hall")}, {lamp_plan("hall")}));
    // The store never answers.
    const Answer answer =
        operate(*stage.core, {OperatorVerb::kDisable, "lamp::hall", 0}, entry("target.disable"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "store.not_committed");
    EXPECT_THAT(answer.error().message, HasSubstr("in force"));
    EXPECT_TRUE(stage.holds([](const CoreLoop::View& view) {
        const auto& core = view.engine.core();
        return !core.slot(core.find("lamp::hall")).has(schedule::kFlagEnabled) &&
               view.engine.pump().audit_waiting() == 1;
    }));
}

TEST(CoreLoopAudit, AnActThatWaitsWhenTheLoopStopsIsAnswered) {
    ToldStore told;
    Inbox<Answer> box;
    {
        CoreStage stage(&told);
        stage.edit(CoreStage::with({schedule::poll("lamp::hall")}, {lamp_plan("hall")}));
        stage.core->operate({OperatorVerb::kDisable, "lamp::hall", 0}, entry("target.disable"),
                            [&](Answer answer) { box.put(std::move(answer)); });
        ASSERT_TRUE(stage.holds(
            [](const CoreLoop::View& view) { return view.engine.pump().audit_waiting() == 1; }));
    }
    const auto answers = box.wait_for(1);
    ASSERT_EQ(answers.size(), 1u);
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().code, "core.stopped");
}

// --- kill -9 ------------------------------------------------------------------------------------

base::Secret test_secret() { return base::Secret(std::string(32, 'k')); }

base::Result<std::unique_ptr<store::Store>> open_store(const std::string& path,
                                                       store::AnswerSink sink) {
    auto directory = store::DataDirectory::open(path);
    if (!directory) return std::unexpected(directory.error());
    store::SqliteOptions options;
    options.audit.key = std::make_shared<const store::AuditKey>(test_secret());
    return store::open_sqlite_store(*directory, std::move(sink), options);
}

// The child: disables and enables a lamp over and over, through a core on a real store.
[[noreturn]] void act_for_ever(const std::string& path, int pipe_fd) {
    std::unique_ptr<CoreLoop> core;
    auto store = open_store(path, [&](engine::StoreAnswer answer, const base::Error* why) {
        core->answer(answer, why);
    });
    if (!store) _exit(2);
    std::vector<schedule::RestoredTask> restored;
    store::LoadVisitor visitor;
    visitor.task = [&](model::TaskRecord&& record) {
        restored.push_back({schedule::poll("lamp::hall"), std::move(record)});
    };
    auto loaded = (*store)->load(visitor);
    if (!loaded) _exit(3);
    bool enabled = restored.empty() || restored[0].record.enabled;
    LogLines lines;
    CoreWiring wiring;
    wiring.dispatch = [](std::size_t, std::vector<RunOrder>) {};
    wiring.cancel = [](std::vector<RunCancel>, std::shared_ptr<const PollPlan>) {};
    core = std::make_unique<CoreLoop>(**store, lines.log(), std::move(wiring), 1, 100);
    core->start(loaded->epoch, loaded->first_change, schedule::wide_settings({"lamp"}));
    CoreEdit edit =
        restored.empty() ? CoreStage::with({schedule::poll("lamp::hall")}, {}) : CoreEdit{};
    if (!restored.empty()) {
        edit.restored = std::make_shared<const std::vector<schedule::RestoredTask>>(restored);
    }
    core->edit(std::move(edit), [](std::vector<base::Error>) {});
    for (;;) {
        enabled = !enabled;
        const Answer answer = operate(
            *core, {enabled ? OperatorVerb::kEnable : OperatorVerb::kDisable, "lamp::hall", 0},
            entry(enabled ? "target.enable" : "target.disable"));
        if (!answer) _exit(4);
        const char told = enabled ? '1' : '0';
        static_cast<void>(!write(pipe_fd, &told, 1));
    }
}

TEST(CoreLoopAuditKill, TheStateOfATaskIsWhatTheNewestEntrySaysAfterEveryKill) {
    net::test::TempDir folder;
    const std::string path = folder.file("data");
    base::TestRandom random(4);
    for (int round = 0; round < 6; ++round) {
        int fds[2];
        ASSERT_EQ(pipe(fds), 0);
        const pid_t child = fork();
        if (child == 0) {
            close(fds[0]);
            act_for_ever(path, fds[1]);
        }
        close(fds[1]);
        std::size_t told = 0;
        char byte = 0;
        if (read(fds[0], &byte, 1) == 1) ++told;
        usleep(static_cast<useconds_t>(random.below(80'000)));
        kill(child, SIGKILL);
        while (read(fds[0], &byte, 1) == 1) ++told;
        close(fds[0]);
        waitpid(child, nullptr, 0);
        ASSERT_GT(told, 0u) << "round " << round;

        auto store = open_store(path, {});
        ASSERT_TRUE(store) << store.error().message;
        std::optional<bool> enabled;
        store::LoadVisitor visitor;
        visitor.task = [&](model::TaskRecord&& record) { enabled = record.enabled; };
        ASSERT_TRUE((*store)->load(visitor));
        store::AuditQuery query;
        query.limit = 1;
        const auto newest = (*store)->audit(query);
        ASSERT_TRUE(newest);
        ASSERT_EQ(newest->size(), 1u);
        ASSERT_TRUE(enabled.has_value());
        EXPECT_EQ(newest->at(0).entry.action, *enabled ? "target.enable" : "target.disable");
        EXPECT_GE((*store)->audit_head().number, told);
    }
}

TEST(CoreLoopAudit, APausedTargetIsNotEnabledAndTheRefusalIsRecorded) {
    CoreStage stage;
    auto plan = lamp_plan("hall");
    plan->paused = "its addon is disabled";
    stage.add(plan);
    for (const OperatorVerb verb : {OperatorVerb::kEnable, OperatorVerb::kTriggerNow}) {
        const Answer refused = operate(*stage.core, {verb, "lamp::hall"}, entry("target.enable"));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, "addon.disabled");
        EXPECT_EQ(refused.error().message, "its addon is disabled");
    }
    EXPECT_TRUE(operate(*stage.core, {OperatorVerb::kDisable, "lamp::hall"}, entry("x")));
    const auto records = trail(stage);
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].entry.result, model::AuditResult::kFailed);
    EXPECT_EQ(records[0].entry.after, "addon.disabled: its addon is disabled");
    EXPECT_EQ(records[2].entry.result, model::AuditResult::kAllowed);
}

}  // namespace
}  // namespace pollux::runtime
