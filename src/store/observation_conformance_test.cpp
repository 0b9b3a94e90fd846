// The rules of store.hpp about messages of devices, for every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "store/sqlite/fault_vfs_test_support.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::ElementsAre;

Observation observation(const std::string& key, std::int64_t received_us = 1'000) {
    return {.id = 0,
            .target_id = "id-of-" + key,
            .key = key,
            .received = base::WallTime{received_us},
            .source = "127.0.0.1",
            .kind = model::ProtocolKind::kWebhook,
            .signals = "[{\"type\":\"x\"}]",
            .text = "hello"};
}

std::vector<std::string> keys_of(const std::vector<Observation>& rows) {
    std::vector<std::string> keys;
    for (const Observation& row : rows) keys.push_back(row.key);
    return keys;
}

class ObservationConformance : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        FaultVfs::instance().set(DiskFault::kNone);
        open();
    }
    void TearDown() override { FaultVfs::instance().set(DiskFault::kNone); }
    void open() {
        store_.reset();
        if (std::string(GetParam()) == "memory") {
            store_ = open_memory_store(disk_, {});
            return;
        }
        auto directory = DataDirectory::open(folder_.path());
        ASSERT_TRUE(directory) << directory.error().message;
        SqliteOptions options;
        options.vfs = FaultVfs::kName;
        auto store = open_sqlite_store(*directory, {}, options);
        ASSERT_TRUE(store) << store.error().message;
        store_ = std::move(*store);
    }
    base::Result<std::uint64_t> write(ObservationBatch batch) {
        auto result = std::make_shared<std::optional<base::Result<std::uint64_t>>>();
        auto accepted =
            store_->submit(std::move(batch), [result](auto answer) { *result = answer; });
        if (!accepted) return std::unexpected(accepted.error());
        store_->flush();
        return result->value();
    }
    std::vector<Observation> all() { return store_->observations({.limit = 1000}).value(); }

    TemporaryFolder folder_;
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<Store> store_;
};

TEST_P(ObservationConformance, WhatWasCommittedIsReadBackAsItWas) {
    ObservationBatch batch;
    batch.rows = {observation("hook::a", 5), observation("hook::b", 6)};
    batch.rows[1].kind = model::ProtocolKind::kPush;
    batch.rows[1].text = std::string("zero\0inside", 11);
    EXPECT_EQ(write(batch).value(), 1u);
    EXPECT_EQ(write({{observation("hook::c")}, {}, {}}).value(), 3u);
    EXPECT_EQ(write({}).value(), 0u) << "nothing was written";
    open();
    const auto rows = all();
    ASSERT_EQ(rows.size(), 3u);
    for (std::size_t i = 0; i < 2; ++i) {
        Observation expected = batch.rows[i];
        expected.id = i + 1;
        EXPECT_EQ(rows[i], expected);
    }
    EXPECT_EQ(store_->stats().reads, 1u);
}

TEST_P(ObservationConformance, IdsRiseAlsoWhenEveryRowIsGone) {
    ASSERT_EQ(write({{observation("a::b"), observation("a::b")}, {}, {}}).value(), 1u);
    ObservationBatch late;
    late.keep.not_before = base::WallTime{2'000};
    ASSERT_TRUE(write(late));
    EXPECT_TRUE(all().empty()) << "a batch without rows trims too";
    open();
    EXPECT_EQ(write({{observation("a::b")}, {}, {}}).value(), 3u);
}

TEST_P(ObservationConformance, TheOldestGoByCountAndByKeyAndByAge) {
    ObservationBatch batch;
    batch.keep = {.most = 5, .most_per_key = 3, .not_before = base::WallTime::min()};
    for (int i = 0; i < 4; ++i) batch.rows.push_back(observation("loud::x", 100 + i));
    ASSERT_TRUE(write(batch));
    EXPECT_EQ(all().size(), 3u) << "one target has at most three";
    batch.rows = {observation("a::1", 200), observation("a::2", 201), observation("a::3", 202)};
    ASSERT_TRUE(write(batch));
    EXPECT_THAT(keys_of(all()), ElementsAre("loud::x", "loud::x", "a::1", "a::2", "a::3"));
    open();  // counts are found again
    batch.rows = {observation("a::4", 203)};
    ASSERT_TRUE(write(batch));
    EXPECT_THAT(keys_of(all()), ElementsAre("loud::x", "a::1", "a::2", "a::3", "a::4"));
    batch.rows.clear();
    batch.keep.not_before = base::WallTime{202};
    ASSERT_TRUE(write(batch));
    EXPECT_THAT(keys_of(all()), ElementsAre("a::3", "a::4"));
}

TEST_P(ObservationConformance, QueriesAreBoundedAndChoose) {
    ObservationBatch batch;
    for (int i = 0; i < 1200; ++i) {
        batch.rows.push_back(observation(i % 2 == 0 ? "a::even" : "a::odd"));
    }
    ASSERT_TRUE(write(batch));
    EXPECT_EQ(store_->observations({.limit = 5000}).value().size(), 1000u);
    const auto newest = store_->observations({.newest_first = true, .limit = 2}).value();
    ASSERT_EQ(newest.size(), 2u);
    EXPECT_EQ(newest[0].id, 1200u);
    EXPECT_EQ(newest[1].id, 1199u);
    const auto odd =
        store_->observations({.after = 10, .before = 16, .key = "a::odd", .limit = 10}).value();
    ASSERT_EQ(odd.size(), 2u);
    EXPECT_EQ(odd[0].id, 12u);
    EXPECT_EQ(odd[1].id, 14u);
    EXPECT_TRUE(store_->observations({.key = "a::none"}).value().empty());
}

TEST_P(ObservationConformance, MemoryComesWithTheRowsInOneTransaction) {
    ObservationBatch batch;
    batch.rows = {observation("push::a")};
    batch.memory = {{"push::a", "first"}};
    ASSERT_TRUE(write(batch));
    batch.memory = {{"push::a", "second"}};
    ASSERT_TRUE(write(batch));
    open();
    const auto loaded = load_all(*store_);
    ASSERT_TRUE(loaded);
    ASSERT_EQ(loaded->memory.size(), 1u);
    EXPECT_EQ(loaded->memory[0].bytes, "second");
}

TEST_P(ObservationConformance, StatsCountTheCommits) {
    ASSERT_TRUE(write({{observation("a::b"), observation("a::c")}, {{"a::b", "x"}}, {}}));
    EXPECT_EQ(store_->stats().observation_commits, 1u);
    EXPECT_EQ(store_->stats().rows, 3u);
}

TEST_P(ObservationConformance, AfterTheCloseNothingIsTaken) {
    ASSERT_TRUE(store_->close());
    const auto late = store_->submit(ObservationBatch{}, {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, "store.closed");
}

INSTANTIATE_TEST_SUITE_P(Backends, ObservationConformance, testing::Values("memory", "sqlite"),
                         [](const auto& kind) { return std::string(kind.param); });

using ObservationFaults = ObservationConformance;

TEST_P(ObservationFaults, AFailedCommitLeavesNothingAndTheNextOneCountsRight) {
    ObservationBatch batch;
    batch.keep = {.most = 100, .most_per_key = 2, .not_before = base::WallTime::min()};
    batch.rows = {observation("a::b"), observation("a::b")};
    ASSERT_TRUE(write(batch));
    FaultVfs::instance().set(DiskFault::kFull);
    batch.memory = {{"a::b", "x"}};
    const auto failed = write(batch);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, "store.disk_full");
    FaultVfs::instance().set(DiskFault::kNone);
    EXPECT_EQ(all().size(), 2u);
    EXPECT_EQ(write({{observation("a::b")}, {}, batch.keep}).value(), 3u);
    EXPECT_EQ(all().size(), 2u);
    EXPECT_TRUE(load_all(*store_)->memory.empty());
}

INSTANTIATE_TEST_SUITE_P(Disk, ObservationFaults, testing::Values("sqlite"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace pollux::store
