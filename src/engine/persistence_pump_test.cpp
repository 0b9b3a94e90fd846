// Every test drives a real core; the store is the test itself, which answers as it likes.
#include "engine/persistence_pump.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "schedule/core_test_support.hpp"

namespace pollux::engine {
namespace {

using base::BootTime;
using base::Duration;
using schedule::ChangeKind;
using schedule::OperatorVerb;
using schedule::poll;
using namespace std::chrono_literals;
using Batch = std::shared_ptr<const WriteBatch>;
using Numbers = std::vector<std::uint64_t>;
using Keys = std::vector<std::string>;

constexpr std::uint64_t kFirst = 100;

Numbers numbers(const std::vector<TaskChange>& changes) {
    Numbers all;
    for (const TaskChange& one : changes) all.push_back(one.number);
    return all;
}

Keys keys(const Batch& batch) {
    Keys all;
    for (const auto& row : batch->rows) all.push_back(row.key);
    return all;
}

bool all_provisional(const std::vector<TaskChange>& changes, bool wanted) {
    return std::ranges::all_of(changes, [&](const auto& one) { return one.provisional == wanted; });
}

class Pump : public testing::Test {
  protected:
    void absorb() { pump_->absorb(h_.instant(), h_.core(), h_.out); }
    void restart(const PumpOptions& options) {
        pump_ = std::make_unique<PersistencePump>(kFirst, options);
    }
    // Rows that may wait.
    void add(const Keys& names) {
        std::vector<model::TaskSpec> specs;
        for (const auto& name : names) specs.push_back(poll(name));
        h_.add(std::move(specs));
        ASSERT_TRUE(h_.out.rejections.empty()) << h_.last_rejection();
        absorb();
    }
    // One change that must not be lost, each time.
    void flip(const std::string& key) {
        const bool on = h_.core().record(h_.handle(key)).enabled;
        h_.operate(on ? OperatorVerb::kDisable : OperatorVerb::kEnable, key);
        ASSERT_EQ(h_.out.changes.size(), 1U);
        absorb();
    }
    void remove(const std::string& key) {
        h_.remove(key);
        ASSERT_EQ(h_.out.forgets.size(), 1U);
        absorb();
    }
    Batch next() { return pump_->next_batch(h_.instant(), h_.core()); }
    Batch must_have() {
        Batch batch = next();
        EXPECT_NE(batch, nullptr);
        return batch ? batch : std::make_shared<const WriteBatch>();
    }
    std::vector<TaskChange> committed(const Batch& batch) {
        return pump_->committed(batch->sequence);
    }
    std::vector<TaskChange> failed(const Batch& batch) {
        return pump_->failed(h_.instant(), batch->sequence);
    }
    // Everything that stands in the pump is in the store afterwards.
    void drain() {
        h_.pass(2s);
        while (const Batch batch = next()) committed(batch);
        ASSERT_EQ(pump_->waiting(), 0U);
    }
    // Fails the batch again and again, for as long as told; returns what was let through.
    std::vector<TaskChange> keep_failing(Batch batch, Duration how_long) {
        std::vector<TaskChange> seen = failed(batch);
        for (const BootTime end = h_.now() + how_long; h_.now() < end;) {
            h_.pass(1s);
            batch = must_have();
            std::ranges::copy(failed(batch), std::back_inserter(seen));
        }
        return seen;
    }

    schedule::CoreHarness h_;
    std::unique_ptr<PersistencePump> pump_ = std::make_unique<PersistencePump>(kFirst);
};

// --- when a batch is made

TEST_F(Pump, WithNothingToDoThereIsNoBatch) {
    EXPECT_EQ(next(), nullptr);
    EXPECT_EQ(pump_->next_wake(), BootTime::max());
    h_.pass(1h);
    EXPECT_EQ(next(), nullptr);
    EXPECT_FALSE(pump_->failing());
    EXPECT_EQ(pump_->next_number(), kFirst);
}

TEST_F(Pump, WhatMayWaitIsGatheredForASecond) {
    const BootTime begin = h_.now();
    add({"c::a"});
    EXPECT_EQ(next(), nullptr);
    EXPECT_EQ(pump_->next_wake(), begin + 1s);
    h_.pass(1s - 1ns);
    add({"c::b"});
    EXPECT_EQ(next(), nullptr);
    EXPECT_EQ(pump_->next_wake(), begin + 1s) << "what comes later does not put it off";
    h_.pass(1ns);
    EXPECT_EQ(keys(must_have()), (Keys{"c::a", "c::b"}));
}

TEST_F(Pump, TheSecondIsCountedAnewForEachBatch) {
    add({"c::a"});
    h_.pass(1s);
    committed(must_have());
    EXPECT_EQ(pump_->next_wake(), BootTime::max());
    h_.pass(10s);
    add({"c::b"});
    EXPECT_EQ(pump_->next_wake(), h_.now() + 1s);
    EXPECT_EQ(next(), nullptr);
}

TEST_F(Pump, WhatMustNotBeLostIsCommittedAtOnceWithAllThatWaits) {
    add({"c::a", "c::b"});
    EXPECT_EQ(next(), nullptr);
    flip("c::b");
    EXPECT_LE(pump_->next_wake(), h_.now());
    const Batch batch = must_have();
    EXPECT_EQ(keys(batch), (Keys{"c::b", "c::a"}));
    EXPECT_EQ(numbers(batch->changes), (Numbers{kFirst}));
    EXPECT_EQ(pump_->waiting(), 0U);
}

TEST_F(Pump, ARemovalIsCommittedAtOnce) {
    add({"c::a"});
    drain();
    remove("c::a");
    const Batch batch = must_have();
    EXPECT_EQ(batch->removed, (Keys{"c::a"}));
    EXPECT_TRUE(batch->rows.empty());
    committed(batch);
    EXPECT_EQ(next(), nullptr);
    EXPECT_EQ(pump_->next_wake(), BootTime::max());
}

// --- invariant 1: at most one batch, kept until it is committed

TEST_F(Pump, WhileABatchIsUnderWayNothingElseIsHandedOut) {
    add({"c::a"});
    flip("c::a");
    const Batch batch = must_have();
    flip("c::a");
    h_.pass(1h);
    EXPECT_EQ(next(), nullptr);
    EXPECT_EQ(pump_->next_wake(), BootTime::max()) << "the answer of the store wakes";
    committed(batch);
    EXPECT_LE(pump_->next_wake(), h_.now());
    EXPECT_EQ(numbers(must_have()->changes), (Numbers{kFirst + 1}));
}

TEST_F(Pump, AFailedBatchIsTriedAgainUnchanged) {
    add({"c::a", "c::b"});
    drain();
    flip("c::a");
    remove("c::b");
    const Batch first = must_have();
    const WriteBatch copy = *first;
    EXPECT_TRUE(failed(first).empty());
    EXPECT_TRUE(pump_->failing());
    flip("c::a");  // comes too late for it
    const BootTime failed_at = h_.now();
    EXPECT_EQ(next(), nullptr) << "even what is urgent waits for the retry";
    EXPECT_EQ(pump_->next_wake(), failed_at + 1s);
    h_.pass(1s - 1ns);
    EXPECT_EQ(next(), nullptr);
    h_.pass(1ns);
    const Batch again = must_have();
    EXPECT_EQ(again->sequence, copy.sequence);
    EXPECT_EQ(again->removed, copy.removed);
    EXPECT_EQ(again->rows, copy.rows);
    EXPECT_EQ(numbers(again->changes), numbers(copy.changes));
    EXPECT_EQ(next(), nullptr);
    EXPECT_EQ(numbers(committed(again)), (Numbers{kFirst}));
    EXPECT_FALSE(pump_->failing());
    const Batch later = must_have();
    EXPECT_EQ(numbers(later->changes), (Numbers{kFirst + 1}));
    EXPECT_TRUE(later->removed.empty());
}

TEST_F(Pump, EachFailureWaitsAnew) {
    restart({.retry_every = 3s});
    add({"c::a"});
    flip("c::a");
    Batch batch = must_have();
    for (int i = 0; i < 4; ++i) {
        h_.pass(500ms);  // the store took its time
        failed(batch);
        EXPECT_EQ(pump_->next_wake(), h_.now() + 3s);
        h_.pass(3s);
        batch = must_have();
    }
    EXPECT_EQ(numbers(committed(batch)), (Numbers{kFirst}));
}

TEST_F(Pump, AnAnswerToAnotherBatchIsOurOwnFault) {
    EXPECT_DEATH(pump_->committed(1), "check failed");
    add({"c::a"});
    flip("c::a");
    const Batch batch = must_have();
    EXPECT_DEATH(pump_->committed(batch->sequence + 1), "check failed");
    EXPECT_DEATH(pump_->failed(h_.instant(), batch->sequence + 1), "check failed");
    committed(batch);
    EXPECT_DEATH(pump_->committed(batch->sequence), "check failed");
}

// --- rows

TEST_F(Pump, ATaskIsWrittenOnceAsItIsThen) {
    add({"c::a", "c::b"});
    flip("c::a");
    flip("c::b");
    flip("c::a");
    const Batch batch = must_have();
    EXPECT_EQ(keys(batch), (Keys{"c::a", "c::b"}));
    EXPECT_TRUE(batch->rows[0].enabled) << "disabled, and enabled again";
    EXPECT_FALSE(batch->rows[1].enabled);
    EXPECT_EQ(numbers(batch->changes), (Numbers{kFirst, kFirst + 1, kFirst + 2}));
}

TEST_F(Pump, ATaskThatChangesAfterItsRowWasTakenIsWrittenAgain) {
    add({"c::a"});
    flip("c::a");
    const Batch first = must_have();
    flip("c::a");
    committed(first);
    const Batch second = must_have();
    EXPECT_GT(second->sequence, first->sequence);
    EXPECT_EQ(keys(second), (Keys{"c::a"}));
    EXPECT_FALSE(first->rows[0].enabled);
    EXPECT_TRUE(second->rows[0].enabled);
}

TEST_F(Pump, ATaskThatIsGoneHasNoRow) {
    add({"c::a", "c::b"});
    remove("c::a");
    const Batch batch = must_have();
    EXPECT_EQ(batch->removed, (Keys{"c::a"}));
    EXPECT_EQ(keys(batch), (Keys{"c::b"}));
}

TEST_F(Pump, AKeyUsedAnewIsRemovedAndWrittenInOneBatch) {
    add({"c::a"});
    drain();
    remove("c::a");
    add({"c::a"});
    const Batch batch = must_have();
    EXPECT_EQ(batch->removed, (Keys{"c::a"}));
    EXPECT_EQ(keys(batch), (Keys{"c::a"}));
}

// --- more rows than fit

TEST_F(Pump, ChangesAndTheirRowsGoFirst) {
    restart({.rows_per_batch = 2});
    add({"c::a", "c::b", "c::c", "c::d", "c::e"});
    flip("c::d");
    const Batch first = must_have();
    EXPECT_EQ(keys(first), (Keys{"c::d", "c::a"}));
    EXPECT_EQ(numbers(committed(first)), (Numbers{kFirst}));
    const Batch second = must_have();
    EXPECT_EQ(keys(second), (Keys{"c::b", "c::c"}));
    EXPECT_TRUE(committed(second).empty());
    EXPECT_EQ(keys(must_have()), (Keys{"c::e"}));
}

// Otherwise a crash between two parts would keep a row and lose the change that it shows.
TEST_F(Pump, AllChangesGoWithTheirRowsHoweverMany) {
    restart({.rows_per_batch = 1});
    add({"c::a", "c::b", "c::c"});
    flip("c::a");
    flip("c::b");
    flip("c::a");
    const Batch batch = must_have();
    EXPECT_EQ(keys(batch), (Keys{"c::a", "c::b"}));
    EXPECT_EQ(numbers(committed(batch)), (Numbers{kFirst, kFirst + 1, kFirst + 2}));
    EXPECT_EQ(keys(must_have()), (Keys{"c::c"}));
}

TEST_F(Pump, WhatWasGatheredIsWrittenToItsEndWithoutAnotherSecond) {
    restart({.rows_per_batch = 2});
    add({"c::a", "c::b", "c::c"});
    h_.pass(1s);
    committed(must_have());
    EXPECT_LE(pump_->next_wake(), h_.now());
    EXPECT_EQ(keys(must_have()), (Keys{"c::c"}));
}

TEST_F(Pump, ExactlyAsManyRowsAsFitAreOneBatchHoweverOftenTheyWereAskedFor) {
    restart({.rows_per_batch = 2});
    add({"c::a", "c::b"});
    flip("c::b");
    flip("c::a");
    const Batch batch = must_have();
    EXPECT_EQ(keys(batch), (Keys{"c::b", "c::a"}));
    EXPECT_EQ(numbers(committed(batch)), (Numbers{kFirst, kFirst + 1}));
    EXPECT_EQ(next(), nullptr);
}

TEST_F(Pump, RemovalsAreInTheFirstBatch) {
    restart({.rows_per_batch = 1});
    add({"c::a"});
    drain();
    remove("c::a");
    add({"c::x", "c::a"});
    const Batch first = must_have();
    EXPECT_EQ(first->removed, (Keys{"c::a"}));
    EXPECT_EQ(keys(first), (Keys{"c::x"}));
    committed(first);
    const Batch second = must_have();
    EXPECT_TRUE(second->removed.empty()) << "the row of the new task must stay";
    EXPECT_EQ(keys(second), (Keys{"c::a"}));
}

TEST_F(Pump, ChangesThatComeBetweenTwoPartsStandBehindTheOlderOnes) {
    restart({.rows_per_batch = 2});
    add({"c::a", "c::b", "c::c"});
    flip("c::c");
    const Batch first = must_have();
    EXPECT_EQ(keys(first), (Keys{"c::c", "c::a"}));
    flip("c::a");
    EXPECT_EQ(numbers(committed(first)), (Numbers{kFirst}));
    const Batch second = must_have();
    EXPECT_EQ(keys(second), (Keys{"c::a", "c::b"})) << "a has changed since its row was taken";
    EXPECT_EQ(numbers(committed(second)), (Numbers{kFirst + 1}));
}

TEST_F(Pump, ASplitThatFailsInTheMiddleGoesOnWhereItWas) {
    restart({.rows_per_batch = 1});
    add({"c::a", "c::b"});
    flip("c::b");
    const Batch first = must_have();
    EXPECT_TRUE(failed(first).empty());
    h_.pass(1s);
    EXPECT_EQ(keys(must_have()), (Keys{"c::b"}));
    EXPECT_EQ(numbers(committed(first)), (Numbers{kFirst}));
    const Batch second = must_have();
    EXPECT_EQ(keys(second), (Keys{"c::a"}));
    EXPECT_TRUE(committed(second).empty());
}

// --- invariants 2 and 3: once as committed, at most once before that, in order

TEST_F(Pump, NothingIsSeenBeforeItIsCommitted) {
    add({"c::a"});
    flip("c::a");
    flip("c::a");
    const Batch batch = must_have();
    const auto seen = committed(batch);
    ASSERT_EQ(numbers(seen), (Numbers{kFirst, kFirst + 1}));
    EXPECT_TRUE(all_provisional(seen, false));
    EXPECT_EQ(seen[0].key, "c::a");
    EXPECT_EQ(seen[0].change.kind, ChangeKind::kEnabled);
    EXPECT_EQ(seen[0].change.to, 0);
    EXPECT_EQ(seen[1].change.to, 1);
    EXPECT_EQ(seen[0].at, h_.instant().wall);
    EXPECT_EQ(pump_->next_number(), kFirst + 2);
}

TEST_F(Pump, TheOrderIsThatOfTheCore) {
    add({"c::a", "c::b", "c::c"});
    Numbers seen;
    Batch batch;
    for (int i = 0; i < 6; ++i) {
        flip(std::string("c::") + "cab"[i % 3]);
        if (i % 2 == 0) batch = must_have();  // the odd ones wait behind it
        if (i % 2 == 1) std::ranges::copy(numbers(committed(batch)), std::back_inserter(seen));
    }
    while ((batch = next())) std::ranges::copy(numbers(committed(batch)), std::back_inserter(seen));
    EXPECT_EQ(seen, (Numbers{100, 101, 102, 103, 104, 105}));
}

TEST_F(Pump, AChangeIsAboutTheTaskThatHadTheKeyThen) {
    add({"c::a"});
    drain();
    flip("c::a");
    remove("c::a");
    const auto seen = committed(must_have());
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].key, "c::a");
}

TEST_F(Pump, AChangeOfATaskThatIsGoneKeepsItsKey) {
    add({"c::a"});
    drain();
    const model::TaskHandle gone = h_.handle("c::a");
    h_.step({schedule::OperatorAction{OperatorVerb::kDisable, "c::a", 0},
             schedule::TaskRemoved{"c::a", 0}});
    absorb();
    const Batch batch = must_have();
    EXPECT_TRUE(batch->rows.empty());
    const auto seen = committed(batch);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].key, "c::a");
    EXPECT_EQ(seen[0].change.task, gone);
}

TEST_F(Pump, AnAuditEntryIsWithTheRowsOfItsActAlsoWhenTheyAreClean) {
    add({"c::a", "c::b"});
    drain();
    const std::vector tasks = {h_.handle("c::a"), h_.handle("c::a")};
    model::AuditEntry entry;
    entry.action = "target.poll";
    pump_->record(h_.instant(), entry, tasks);
    EXPECT_EQ(pump_->audit_waiting(), 1U);
    const Batch batch = must_have();
    EXPECT_EQ(keys(batch), (Keys{"c::a"}));
    ASSERT_EQ(batch->audit.size(), 1U);
    // Another act while the first is under way waits for the next batch, and a failure keeps both.
    flip("c::b");
    pump_->record(h_.instant(), entry, std::vector{h_.handle("c::b")});
    EXPECT_EQ(next(), nullptr);
    pump_->failed(h_.instant(), batch->sequence);
    EXPECT_EQ(pump_->audit_waiting(), 2U);
    h_.pass(1s);
    EXPECT_EQ(must_have(), batch);
    committed(batch);
    const Batch second = must_have();
    EXPECT_EQ(keys(second), (Keys{"c::b"}));
    EXPECT_EQ(second->audit.size(), 1U);
    EXPECT_EQ(second->changes.size(), 1U);
    committed(second);
    EXPECT_EQ(pump_->audit_waiting(), 0U);
}

TEST_F(Pump, AShortFailureIsNotSeen) {
    add({"c::a"});
    flip("c::a");
    EXPECT_TRUE(keep_failing(must_have(), 4s).empty());
    h_.pass(1s - 1ns);
    EXPECT_EQ(next(), nullptr);
    h_.pass(1ns);
    const auto seen = committed(must_have());
    EXPECT_EQ(numbers(seen), (Numbers{kFirst}));
    EXPECT_TRUE(all_provisional(seen, false));
}

TEST_F(Pump, AfterFiveSecondsOfFailureChangesAreLetThroughOnce) {
    add({"c::a"});
    flip("c::a");
    const Batch batch = must_have();
    flip("c::a");  // behind the batch, and let through with it
    const auto early = keep_failing(batch, 5s);
    EXPECT_EQ(numbers(early), (Numbers{kFirst, kFirst + 1}));
    EXPECT_TRUE(all_provisional(early, true));
    h_.pass(1s);
    EXPECT_TRUE(keep_failing(must_have(), 10s).empty()) << "never twice as provisional";
    h_.pass(1s);
    const auto first = committed(must_have());
    const auto second = committed(must_have());
    EXPECT_EQ(numbers(first), (Numbers{kFirst}));
    EXPECT_EQ(numbers(second), (Numbers{kFirst + 1}));
    EXPECT_TRUE(all_provisional(first, false) && all_provisional(second, false));
    EXPECT_EQ(next(), nullptr);
}

TEST_F(Pump, WhatHappensWhileTheStoreFailsIsLetThroughToo) {
    add({"c::a"});
    flip("c::a");
    EXPECT_EQ(numbers(keep_failing(must_have(), 5s)), (Numbers{kFirst}));
    flip("c::a");
    h_.pass(1s);
    EXPECT_EQ(numbers(failed(must_have())), (Numbers{kFirst + 1}));
}

TEST_F(Pump, OneCommitEndsTheFailure) {
    add({"c::a"});
    flip("c::a");
    EXPECT_TRUE(keep_failing(must_have(), 4s).empty());
    h_.pass(1s);
    committed(must_have());
    EXPECT_FALSE(pump_->failing());
    flip("c::a");
    EXPECT_TRUE(keep_failing(must_have(), 4s).empty()) << "the five seconds begin anew";
    h_.pass(1s);
    EXPECT_EQ(numbers(failed(must_have())), (Numbers{kFirst + 1}));
}

TEST_F(Pump, ALongQueueIsLetThroughInParts) {
    restart({.provisional_limit = 2});
    add({"c::a"});
    for (int i = 0; i < 3; ++i) flip("c::a");
    const Batch batch = must_have();
    for (int i = 0; i < 2; ++i) flip("c::a");
    EXPECT_EQ(numbers(keep_failing(batch, 5s)), (Numbers{100, 101}));
    for (const Numbers& part : {Numbers{102, 103}, Numbers{104}, Numbers{}}) {
        h_.pass(1s);
        EXPECT_EQ(numbers(failed(must_have())), part);
    }
    h_.pass(1s);
    EXPECT_EQ(numbers(committed(must_have())), (Numbers{100, 101, 102}));
    EXPECT_EQ(numbers(committed(must_have())), (Numbers{103, 104}));
}

TEST_F(Pump, ChangesThatWaitBehindAFailingBatchAreLetThroughToo) {
    add({"c::a", "c::b"});
    h_.pass(1s);
    const Batch first = must_have();
    ASSERT_TRUE(first->changes.empty());
    flip("c::b");
    const auto early = keep_failing(first, 5s);
    EXPECT_EQ(numbers(early), (Numbers{kFirst}));
    EXPECT_TRUE(all_provisional(early, true));
    h_.pass(1s);
    EXPECT_TRUE(committed(must_have()).empty());
    const auto late = committed(must_have());
    EXPECT_EQ(numbers(late), (Numbers{kFirst}));
    EXPECT_TRUE(all_provisional(late, false));
}

}  // namespace
}  // namespace pollux::engine
