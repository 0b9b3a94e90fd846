#include "runtime/alerts/alert_ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_test_support.hpp"
#include "runtime/core_loop_test_support.hpp"

namespace pollux::runtime {
namespace {

using net::test::turn_until;

class AlertLedgerTest : public testing::Test {
  protected:
    AlertLedgerTest() {
        AlertLedger::Outlets outlets;
        outlets.news = [this](const std::vector<AlertNews>& news) {
            for (const AlertNews& one : news) news_.push_back(one);
        };
        outlets.deliver = [this](std::vector<model::Notification> rows) {
            for (model::Notification& row : rows) delivered_.push_back(std::move(row));
        };
        outlets.uncommitted = [this](auto rows) { uncommitted_ = std::move(rows); };
        ledger_ = std::make_unique<AlertLedger>(loop_, store_, log_.log(), std::move(outlets));
    }

    void raise(const std::string& id, const std::string& title = "") {
        alert::AlertChange change;
        change.kind = alert::ChangeKind::kCreated;
        change.alert.id = id;
        change.alert.title = title;
        ledger_->add(std::move(change), base::WallTime{1});
    }
    void notify(const std::string& id) {
        model::Notification row;
        row.id = id;
        row.body = R"({"provisional":false})";
        ledger_->add(std::move(row), true, true);
    }
    // Made and over again.
    void pass(const std::string& id, std::int64_t at) {
        raise(id);
        alert::AlertChange change;
        change.kind = alert::ChangeKind::kResolved;
        change.alert.id = id;
        change.alert.state = model::AlertState::kResolved;
        change.alert.resolved_at = base::WallTime{at};
        ledger_->add(std::move(change), base::WallTime{at});
    }
    void answer(bool good) {
        ASSERT_FALSE(store_.alert_batches.empty());
        auto done = std::move(store_.alert_batches.front().second);
        store_.alert_batches.erase(store_.alert_batches.begin());
        if (good) {
            done(store::AlertCommit{});
        } else {
            done(base::make_error(base::ErrorClass::kTransient, "store.disk_full", "no room"));
        }
        const std::size_t before = ++answers_;
        loop_->post([this, before] { heard_ = before; });
        ASSERT_TRUE(turn_until(*loop_, [&] { return heard_ == before; }));
    }
    // The next attempt after a failure.
    void wait_for_attempt() {
        ASSERT_TRUE(turn_until(*loop_, [&] { return !store_.alert_batches.empty(); }));
    }
    const store::AlertBatch& batch() { return store_.alert_batches.front().first; }

    std::shared_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
    test::ToldStore store_;
    test::LogLines log_;
    std::vector<AlertNews> news_;
    std::vector<model::Notification> delivered_;
    std::shared_ptr<const store::UncommittedAlerts> uncommitted_;
    std::unique_ptr<AlertLedger> ledger_;
    std::size_t answers_ = 0;
    std::size_t heard_ = 0;
};

TEST_F(AlertLedgerTest, TellsAfterTheCommitAndNotBefore) {
    raise("a");
    notify("n");
    ledger_->set_cursor("polls", 7);
    ledger_->commit();
    ASSERT_EQ(store_.alert_batches.size(), 1U);
    EXPECT_EQ(batch().alerts.size(), 1U);
    EXPECT_EQ(batch().notifications.size(), 1U);
    EXPECT_EQ(batch().cursors.at("polls"), 7U);
    EXPECT_TRUE(news_.empty());
    EXPECT_TRUE(delivered_.empty());
    answer(true);
    ASSERT_EQ(news_.size(), 1U);
    EXPECT_FALSE(news_[0].provisional);
    ASSERT_EQ(delivered_.size(), 1U);
    EXPECT_FALSE(delivered_[0].provisional);
    EXPECT_TRUE(ledger_->idle());
}

TEST_F(AlertLedgerTest, WhatComesMeanwhileIsTheNextBatch) {
    raise("a", "first");
    ledger_->commit();
    raise("b");
    raise("b", "newer");
    ledger_->commit();
    ASSERT_EQ(store_.alert_batches.size(), 1U);  // one at a time
    answer(true);
    ASSERT_EQ(store_.alert_batches.size(), 1U);
    ASSERT_EQ(batch().alerts.size(), 1U);
    EXPECT_EQ(batch().alerts[0].title, "newer");
    answer(true);
    EXPECT_EQ(news_.size(), 3U);
}

TEST_F(AlertLedgerTest, AFailureIsTriedAgainWithWhatCameSince) {
    raise("a", "old");
    ledger_->commit();
    answer(false);
    raise("a", "new");
    raise("b");
    EXPECT_TRUE(ledger_->failing());
    wait_for_attempt();
    ASSERT_EQ(batch().alerts.size(), 2U);
    EXPECT_EQ(batch().alerts[0].title, "new");
    EXPECT_TRUE(news_.empty());
    answer(true);
    EXPECT_EQ(news_.size(), 3U);
    EXPECT_FALSE(ledger_->failing());
}

TEST_F(AlertLedgerTest, AfterSecondsOfFailuresPeopleAreToldProvisionallyAndOnceMoreAfterTheCommit) {
    raise("a");
    notify("n");
    std::optional<base::Status> answered;
    ledger_->add_act(model::AuditEntry{}, [&](base::Status status) { answered = status; });
    ledger_->commit();
    while (news_.empty()) {
        wait_for_attempt();
        answer(false);
    }
    ASSERT_EQ(news_.size(), 1U);
    EXPECT_TRUE(news_[0].provisional);
    ASSERT_EQ(delivered_.size(), 1U);
    EXPECT_TRUE(delivered_[0].provisional);
    EXPECT_EQ(delivered_[0].body, R"({"provisional":true})");
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->error().code, "store.not_committed");
    wait_for_attempt();
    EXPECT_EQ(batch().alerts.size(), 1U);
    EXPECT_EQ(batch().audit.size(), 1U);
    ASSERT_EQ(batch().notifications.size(), 1U);
    EXPECT_EQ(batch().notifications[0].body, R"({"provisional":false})");
    answer(true);
    ASSERT_EQ(news_.size(), 2U);
    EXPECT_FALSE(news_[1].provisional);
    EXPECT_EQ(delivered_.size(), 1U);  // the deliverer has it already
}

TEST_F(AlertLedgerTest, WhileItFailsOnlyTheNewestNewsOfEachRowAreKeptForTheCommit) {
    raise("a", "1");
    raise("b", "1");
    ledger_->commit();
    while (news_.empty()) {
        wait_for_attempt();
        answer(false);
    }
    for (int i = 2; i <= 4; ++i) {
        alert::AlertChange change;
        change.kind = alert::ChangeKind::kUpdated;
        change.alert.id = "a";
        change.alert.title = std::to_string(i);
        ledger_->add(std::move(change), base::WallTime{1});
        wait_for_attempt();
        answer(false);
    }
    ASSERT_EQ(news_.size(), 5U) << "each is told as provisional";
    news_.clear();
    wait_for_attempt();
    answer(true);
    ASSERT_EQ(news_.size(), 3U) << "that both were made, and how the one is now";
    const auto& last = std::get<alert::AlertChange>(news_[2].change);
    EXPECT_EQ(last.kind, alert::ChangeKind::kUpdated);
    EXPECT_EQ(last.alert.title, "4");
    EXPECT_FALSE(news_[2].provisional);
}

TEST_F(AlertLedgerTest, NewsThatAreTooManyAreLeftOutAndThatIsTold) {
    raise("first");
    ledger_->commit();  // no answer comes
    constexpr std::size_t kMany = 2 * AlertLedger::kMostNews;
    for (std::size_t i = 0; i < kMany; ++i) raise("a" + std::to_string(i));
    answer(true);
    news_.clear();
    answer(true);
    ASSERT_EQ(news_.size(), AlertLedger::kMostNews + 1);
    EXPECT_EQ(std::get<alert::AlertChange>(news_[0].change).alert.id,
              "a" + std::to_string(AlertLedger::kMostNews));
    EXPECT_EQ(std::get<NewsLost>(news_.back().change).count, AlertLedger::kMostNews);
}

TEST_F(AlertLedgerTest, RowsThatAreOverAreBoundedAndWhatIsOpenOrStoredIsNot) {
    raise("stored");
    ledger_->commit();
    answer(true);
    raise("open");
    ledger_->commit();
    answer(false);
    alert::AlertChange over;
    over.kind = alert::ChangeKind::kResolved;
    over.alert.id = "stored";
    over.alert.state = model::AlertState::kResolved;
    over.alert.resolved_at = base::WallTime{1};
    ledger_->add(std::move(over), base::WallTime{1});
    constexpr std::size_t kMany = 5 * AlertLedger::kMostOver;
    for (std::size_t i = 0; i < kMany; ++i) {
        pass("a" + std::to_string(i), static_cast<std::int64_t>(100 + i));
        model::Notification row;
        row.id = "n" + std::to_string(i);
        row.made = base::WallTime{static_cast<std::int64_t>(100 + i)};
        ledger_->add(row, true, true);
        row.state = model::DeliveryState::kDelivered;
        ledger_->add(row, false);
        EXPECT_LE(ledger_->waiting(), 4 * AlertLedger::kMostOver + 2);
    }
    notify("waits");
    wait_for_attempt();
    answer(false);  // what comes back from the store is bounded as well
    EXPECT_LE(ledger_->waiting(), 4 * AlertLedger::kMostOver + 3);
    EXPECT_GE(ledger_->waiting(), 2 * AlertLedger::kMostOver);
    EXPECT_EQ(ledger_->given_up() + ledger_->waiting(), 2 * kMany + 3);
    wait_for_attempt();
    std::set<std::string> ids;
    for (const model::Alert& alert : batch().alerts) ids.insert(alert.id);
    EXPECT_TRUE(ids.contains("open"));
    EXPECT_TRUE(ids.contains("stored")) << "the store has it as open";
    EXPECT_TRUE(ids.contains("a" + std::to_string(kMany - 1)));
    EXPECT_FALSE(ids.contains("a0")) << "the oldest go";
    const auto waits = std::ranges::find(batch().notifications, "waits", &model::Notification::id);
    EXPECT_NE(waits, batch().notifications.end());
    EXPECT_THAT(log_.text(), testing::HasSubstr("too many wait to be written"));
    answer(true);
    EXPECT_EQ(ledger_->waiting(), 0U);
}

TEST_F(AlertLedgerTest, WhatTheStoreNeverHadNeedNotBeRemovedFromIt) {
    raise("stored");
    ledger_->commit();
    answer(true);
    raise("a");
    ledger_->commit();
    for (const char* id : {"a", "stored"}) {
        alert::AlertChange gone;
        gone.kind = alert::ChangeKind::kRemoved;
        gone.alert.id = id;
        ledger_->add(std::move(gone), base::WallTime{2});
    }
    answer(false);
    wait_for_attempt();
    EXPECT_TRUE(batch().alerts.empty());
    EXPECT_THAT(batch().removed_alerts, testing::ElementsAre("stored"));
    answer(true);
}

TEST_F(AlertLedgerTest, ActsAreRefusedWhileTooManyEntriesWait) {
    EXPECT_TRUE(ledger_->room_for_acts());
    for (std::size_t i = 0; i < AlertLedger::kMostEntries; ++i) {
        ledger_->add_act(model::AuditEntry{}, nullptr);
    }
    EXPECT_EQ(ledger_->room_for_acts().error().code, "store.queue_full");
    ledger_->commit();
    EXPECT_FALSE(ledger_->room_for_acts()) << "they wait for the answer";
    answer(true);
    EXPECT_TRUE(ledger_->room_for_acts());
}

TEST_F(AlertLedgerTest, WhatIsNotCommittedIsShownOnceItIsToldAndUntilItIsWritten) {
    raise("a", "old");
    ledger_->commit();
    while (news_.empty()) {
        wait_for_attempt();
        EXPECT_EQ(uncommitted_, nullptr);
        answer(false);
    }
    ASSERT_NE(uncommitted_, nullptr);
    EXPECT_EQ(uncommitted_->alerts.at("a").title, "old");
    raise("a", "new");
    alert::AlertChange gone;
    gone.kind = alert::ChangeKind::kRemoved;
    gone.alert.id = "b";
    ledger_->add(std::move(gone), base::WallTime{2});
    wait_for_attempt();
    answer(false);
    EXPECT_EQ(uncommitted_->alerts.at("a").title, "new");
    EXPECT_TRUE(uncommitted_->removed_alerts.contains("b"));
    wait_for_attempt();
    answer(true);
    EXPECT_EQ(uncommitted_, nullptr);
}

TEST_F(AlertLedgerTest, ARemovedAlertIsRemovedWhateverWaited) {
    raise("a");
    ledger_->commit();
    answer(true);
    raise("b");
    for (const char* id : {"a", "b"}) {
        alert::AlertChange gone;
        gone.kind = alert::ChangeKind::kRemoved;
        gone.alert.id = id;
        ledger_->add(std::move(gone), base::WallTime{2});
    }
    ledger_->commit();
    EXPECT_TRUE(batch().alerts.empty());
    EXPECT_THAT(batch().removed_alerts, testing::ElementsAre("a"));
    answer(true);
}

TEST_F(AlertLedgerTest, EmptyMemoryIsErased) {
    ledger_->add_memory("k", "bytes");
    ledger_->add_memory("gone", "");
    ledger_->commit();
    ASSERT_EQ(batch().memory.size(), 1U);
    EXPECT_EQ(batch().memory[0].key, "k");
    EXPECT_THAT(batch().removed_memory, testing::ElementsAre("gone"));
    answer(true);
}

TEST_F(AlertLedgerTest, AnActIsAnsweredAtTheEndWhateverHappens) {
    std::optional<base::Status> answered;
    ledger_->add_act(std::nullopt, [&](base::Status status) { answered = status; });
    ledger_->commit();
    ledger_.reset();
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->error().code, "alert.stopped");
}

}  // namespace
}  // namespace pollux::runtime
