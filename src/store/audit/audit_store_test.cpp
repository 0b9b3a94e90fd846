// The trail in both backends: with its act or not at all, in order, bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/audit/audit_test_support.hpp"
#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::ElementsAre;

class AuditStore : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override { open(); }
    void open() {
        AuditOptions audit;
        audit.key = key_;
        audit.committed = [this](const AuditHead& head) { told_.push_back(head.number); };
        if (std::string_view(GetParam()) == "memory") {
            store_ = open_memory_store(disk_, answers_.sink(), audit);
        } else {
            SqliteOptions options;
            options.audit = audit;
            store_ = open_sqlite_store(DataDirectory::open(folder_.path()).value(), answers_.sink(),
                                       options)
                         .value();
        }
    }
    void reopen() {
        ASSERT_TRUE(store_->close());
        store_.reset();
        open();
    }
    std::vector<std::uint64_t> numbers(const AuditQuery& query = {}) {
        std::vector<std::uint64_t> found;
        auto records = store_->audit(query);
        EXPECT_TRUE(records) << records.error().message;
        for (const auto& record : *records) found.push_back(record.number);
        return found;
    }

    std::shared_ptr<const AuditKey> key_ = AuditKey::random();
    TemporaryFolder folder_;
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::vector<std::uint64_t> told_;  // after the store is flushed
    Answers answers_;
    std::unique_ptr<Store> store_;
};

TEST_P(AuditStore, EntriesOfEveryKindOfBatchGetConsecutiveNumbersInTheOrderOfTheCommits) {
    auto tasks = task_batch(1, {task_row("a::1")});
    tasks->audit = {audit_entry(1), audit_entry(2)};
    ASSERT_TRUE(store_->submit(tasks));
    ObjectBatch objects;
    objects.writes = {{config_object("1", "one"), 0}};
    objects.audit = {audit_entry(3)};
    ASSERT_TRUE(apply(*store_, objects));
    const auto alone = apply(*store_, AuditBatch{{audit_entry(4), audit_entry(5)}, {}});
    ASSERT_TRUE(alone);
    EXPECT_EQ(alone->first, 4u);
    ObjectBatch only_entry;
    only_entry.audit = {audit_entry(6)};
    ASSERT_TRUE(apply(*store_, only_entry));
    const auto records = store_->audit({});
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 6u);
    for (std::uint64_t i = 0; i < 6; ++i) {
        EXPECT_EQ((*records)[i], (AuditRecord{6 - i, audit_entry(6 - i), false}));
    }
    EXPECT_EQ(store_->audit_head().number, 6u);
    EXPECT_EQ(store_->stats().audit_entries, 6u);
    EXPECT_THAT(told_, ElementsAre(2, 3, 5, 6));
}

TEST_P(AuditStore, AFailedBatchLeavesNoEntryAndNoGap) {
    append_entries(*store_, 1, 1);
    ObjectBatch conflict;
    conflict.writes = {{config_object("1", "one"), 7}};
    conflict.audit = {audit_entry(2)};
    const auto refused = apply(*store_, conflict);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "store.conflict");
    EXPECT_THAT(numbers(), ElementsAre(1));
    append_entries(*store_, 2, 1);
    EXPECT_THAT(numbers(), ElementsAre(2, 1));
}

TEST_P(AuditStore, ATaskBatchThatIsSubmittedAgainIsRecordedOnce) {
    auto tasks = task_batch(9, {task_row("a::1")});
    tasks->audit = {audit_entry(1)};
    ASSERT_TRUE(store_->submit(tasks));
    ASSERT_TRUE(store_->submit(tasks));
    store_->flush();
    EXPECT_EQ(answers_.all().size(), 2u);
    EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_P(AuditStore, TheChainGoesOnAfterAReopening) {
    append_entries(*store_, 1, 3);
    const AuditHead before = store_->audit_head();
    reopen();
    EXPECT_EQ(store_->audit_head(), before);
    append_entries(*store_, 4, 1);
    EXPECT_THAT(numbers(), ElementsAre(4, 3, 2, 1));
}

TEST_P(AuditStore, QueriesGoTheOtherWayToo) {
    append_entries(*store_, 1, 30);
    AuditQuery query;
    query.oldest_first = true;
    query.principal = "user:alice";
    query.limit = 3;
    EXPECT_THAT(numbers(query), ElementsAre(3, 6, 9));
    query.after = 24;
    EXPECT_THAT(numbers(query), ElementsAre(27, 30));
    query.before = 30;
    EXPECT_THAT(numbers(query), ElementsAre(27));
    query.after = UINT64_MAX;
    EXPECT_TRUE(numbers(query).empty());
}

TEST_P(AuditStore, QueriesFilterAndPage) {
    append_entries(*store_, 1, 30);
    AuditQuery query;
    query.principal = "user:alice";
    query.limit = 3;
    EXPECT_THAT(numbers(query), ElementsAre(30, 27, 24));
    query.before = 24;
    EXPECT_THAT(numbers(query), ElementsAre(21, 18, 15));
    query = {};
    query.action = "dlq.retry";
    query.object = "pve::node1";
    EXPECT_THAT(numbers(query), ElementsAre(21, 11, 1));
    query = {};
    query.action = "dlq.";
    query.limit = 2;
    EXPECT_THAT(numbers(query), ElementsAre(29, 27));
    query.action = "dlq";
    EXPECT_TRUE(numbers(query).empty());
    query = {};
    query.result = model::AuditResult::kRefused;
    EXPECT_THAT(numbers(query), ElementsAre(28, 21, 14, 7));
    query = {};
    query.from = audit_entry(5).at;
    query.to = audit_entry(8).at;
    EXPECT_THAT(numbers(query), ElementsAre(7, 6, 5));
}

TEST_P(AuditStore, AQueryIsBounded) {
    append_entries(*store_, 1, 1100);
    AuditQuery query;
    query.limit = 5000;
    EXPECT_EQ(numbers(query).size(), kMostAuditPerQuery);
}

TEST_P(AuditStore, RetentionRemovesTheOldestAndRecordsIt) {
    append_entries(*store_, 1, 20);
    AuditBatch batch;
    batch.retention = AuditRetention{audit_entry(11).at, audit_entry(30).at};
    auto done = apply(*store_, batch);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->removed, 10u);
    const auto records = store_->audit({});
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 11u);
    EXPECT_EQ(records->front().number, 21u);
    EXPECT_EQ(records->front().entry.action, "audit.retention");
    EXPECT_EQ(records->front().entry.object, "records 1 to 10");
    EXPECT_EQ(records->back().number, 11u);
    // Nothing more to remove: nothing to say.
    done = apply(*store_, batch);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->removed, 0u);
    EXPECT_EQ(store_->audit_head().number, 21u);
}

TEST_P(AuditStore, RetentionIsBoundedPerBatchAndTheTrailMayBecomeEmptyButForItsEntry) {
    append_entries(*store_, 1, 2100);
    AuditBatch batch;
    batch.retention = AuditRetention{audit_entry(5000).at, audit_entry(6000).at};
    EXPECT_EQ(apply(*store_, batch)->removed, kMostAuditRemovals);
    EXPECT_EQ(apply(*store_, batch)->removed, 100u);
    EXPECT_THAT(numbers(), ElementsAre(2102, 2101));
    reopen();
    EXPECT_EQ(store_->audit_head().number, 2102u);
}

INSTANTIATE_TEST_SUITE_P(Backends, AuditStore, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST(AuditStoreKey, WithoutAKeyAnActThatMustBeRecordedIsRefusedAndOthersAreNot) {
    TemporaryFolder folder;
    auto store = open_sqlite_store(DataDirectory::open(folder.path()).value(), {}).value();
    ObjectBatch batch;
    batch.writes = {{config_object("1", "one"), 0}};
    batch.audit = {audit_entry(1)};
    const auto refused = apply(*store, batch);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "store.audit_key");
    EXPECT_TRUE(load_all(*store)->objects.empty());
    batch.audit.clear();
    EXPECT_TRUE(apply(*store, batch));
}

}  // namespace
}  // namespace pollux::store
