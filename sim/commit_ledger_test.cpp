// What people see and what survives: each rule is broken on purpose, and exactly that rule is
// found.
#include "sim/commit_ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/invariants_test_support.hpp"

namespace pollux::sim {
namespace {

using model::Outcome;
using schedule::ChangeKind;

engine::TaskChange change_of(std::uint64_t number, const std::string& key, ChangeKind kind,
                             std::uint8_t from, std::uint8_t to) {
    engine::TaskChange change;
    change.number = number;
    change.key = key;
    change.change.kind = kind;
    change.change.from = from;
    change.change.to = to;
    return change;
}

engine::WriteBatch batch_of(std::uint64_t sequence, std::vector<engine::TaskChange> changes) {
    engine::WriteBatch batch;
    batch.sequence = sequence;
    batch.changes = std::move(changes);
    return batch;
}

struct Told {
    Violations violations;
    CommitLedger ledger{violations};
    base::BootTime now;

    void at(double seconds) { now = base::BootTime{} + base::from_seconds(seconds); }
};

const engine::TaskChange kDown = change_of(1, "a::x", ChangeKind::kHealth, 1, 0);
const engine::TaskChange kUp = change_of(2, "a::x", ChangeKind::kHealth, 0, 1);

TEST(CommitLedger, WhatIsShownAfterItsCommitIsRight) {
    Told t;
    t.ledger.batch_sent(batch_of(1, {kDown, kUp}));
    t.ledger.shown(t.now, {});
    t.ledger.batch_committed(t.now, 1);
    t.ledger.shown(t.now, {kDown, kUp});
    EXPECT_EQ(t.violations.total(), 0U);
}

TEST(CommitLedger, FindsAChangeSeenBeforeItsCommit) {
    Told t;
    t.ledger.batch_sent(batch_of(1, {kDown}));
    t.ledger.shown(t.now, {kDown});
    EXPECT_EQ(t.violations.of(Rule::kUncommitted), 1U);
    EXPECT_EQ(t.violations.total(), 1U);
}

TEST(CommitLedger, FindsChangesOutOfOrder) {
    Told t;
    t.ledger.batch_sent(batch_of(1, {kDown, kUp}));
    t.ledger.batch_committed(t.now, 1);
    t.ledger.shown(t.now, {kUp, kDown});
    EXPECT_EQ(t.violations.of(Rule::kOutOfOrder), 1U);
    EXPECT_EQ(t.violations.total(), 1U);
}

TEST(CommitLedger, FindsACommittedChangeThatIsNotShown) {
    Told t;
    t.ledger.batch_sent(batch_of(1, {kDown}));
    t.ledger.batch_committed(t.now, 1);
    t.ledger.shown(t.now, {});
    t.ledger.shown(t.now, {});
    EXPECT_EQ(t.violations.of(Rule::kNotShown), 1U) << "told once";
    EXPECT_EQ(t.violations.total(), 1U);
}

TEST(CommitLedger, FindsAProvisionalChangeWhileCommitsWork) {
    engine::TaskChange early = kDown;
    early.provisional = true;
    Told t;
    t.ledger.batch_sent(batch_of(1, {kDown}));
    t.ledger.batch_failed(t.now);
    t.at(4.9);
    t.ledger.shown(t.now, {early});
    EXPECT_EQ(t.violations.of(Rule::kProvisional), 1U);
    t.at(5);
    engine::TaskChange other = kUp;
    other.provisional = true;
    t.ledger.shown(t.now, {other});
    EXPECT_EQ(t.violations.total(), 1U) << "after five seconds of failures it is right";
    t.ledger.shown(t.now, {other});
    EXPECT_EQ(t.violations.of(Rule::kProvisional), 2U) << "but only once";
}

TEST(CommitLedger, FindsAChangeThatDoesNotFollowTheLast) {
    Told t;
    t.ledger.batch_sent(batch_of(1, {kDown, change_of(2, "a::x", ChangeKind::kHealth, 1, 0)}));
    t.ledger.batch_committed(t.now, 1);
    EXPECT_EQ(t.violations.of(Rule::kChain), 1U);
    EXPECT_EQ(t.violations.total(), 1U);
}

// Fails until it is a dead letter with an open breaker, and everything is committed.
model::TaskRecord fail_until_dead(CheckedEngine& e) {
    e.add({recurring("a::x")});
    model::TaskRecord row;
    for (int i = 0; i < 5; ++i) {
        const std::size_t before = e.starts().size();
        e.finish(Outcome::kTransient);
        while (e.starts().size() == before) e.pass(1);
        const auto& rows = e.newest_rows();
        const auto own = std::ranges::find(rows, "a::x", &model::TaskRecord::key);
        if (own != rows.end()) row = *own;
    }
    EXPECT_EQ(row.failure.dead_letter, model::DeadLetterReason::kMaxRetryAttempts);
    EXPECT_NE(row.failure.breaker, model::BreakerState::kClosed);
    EXPECT_EQ(e.all_broken(), Rules{});
    e.crash();
    e.boot();
    return row;
}

TEST(CommitLedger, WhatWasCommittedIsFoundAgain) {
    CheckedEngine e;
    const model::TaskRecord row = fail_until_dead(e);
    e.restore({{recurring("a::x"), row}});
    EXPECT_EQ(e.all_broken(), Rules{});
}

// Stores that lose what they acknowledged: a label, the count behind it, the row, the task.
TEST(CommitLedger, FindsALostDeadLetter) {
    CheckedEngine e;
    model::TaskRecord row = fail_until_dead(e);
    row.failure.dead_letter = model::DeadLetterReason::kNone;
    e.restore({{recurring("a::x"), row}});
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNotDurable});
}

TEST(CommitLedger, FindsALostBreaker) {
    CheckedEngine e;
    model::TaskRecord row = fail_until_dead(e);
    row.failure.breaker = model::BreakerState::kClosed;
    e.restore({{recurring("a::x"), row}});
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNotDurable});
}

TEST(CommitLedger, FindsALostCountOfFailures) {
    CheckedEngine e;
    model::TaskRecord row = fail_until_dead(e);
    --row.failure.consecutive;
    e.restore({{recurring("a::x"), row}});
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNotDurable});
}

TEST(CommitLedger, FindsALostRowAndALostTask) {
    for (const bool with_spec : {true, false}) {
        CheckedEngine e;
        fail_until_dead(e);
        std::vector<schedule::RestoredTask> found;
        if (with_spec) found.push_back({recurring("a::x"), {}});
        e.restore(found);
        EXPECT_EQ(e.all_broken(), Rules{Rule::kNotDurable}) << with_spec;
    }
}

// The change was committed, but not the row that it belongs to.
TEST(CommitLedger, FindsAChangeWithoutItsRow) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.step();
    const auto rows = e.newest_rows();
    ASSERT_EQ(rows.size(), 1U);
    e.pass(60);
    e.jump(0.01);
    e.tell_checker(e.result(Outcome::kTransient));
    e.step({e.result(Outcome::kTransient)}, [](engine::Output& out) {
        ASSERT_TRUE(out.batch && !out.batch->changes.empty());
        auto emptied = std::make_shared<engine::WriteBatch>(*out.batch);
        emptied->rows.clear();
        out.batch = std::move(emptied);
    });
    e.step();
    ASSERT_EQ(e.all_broken(), Rules{});
    e.crash();
    e.boot();
    e.restore({{recurring("a::x"), rows.back()}});
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNotDurable});
}

TEST(CommitLedger, FindsATaskThatIsEnabledAgainByARestart) {
    CheckedEngine e;
    e.add({recurring("a::x")});
    e.finish(Outcome::kOk);
    e.invariants().operated("a::x");
    e.step({schedule::OperatorAction{schedule::OperatorVerb::kDisable, "a::x"}});
    e.step();
    ASSERT_EQ(e.all_broken(), Rules{});
    model::TaskRecord row = e.newest_rows().back();
    ASSERT_FALSE(row.enabled);
    row.enabled = true;
    e.crash();
    e.boot();
    e.restore({{recurring("a::x"), row}});
    EXPECT_EQ(e.all_broken(), Rules{Rule::kNotDurable});
}

}  // namespace
}  // namespace pollux::sim
