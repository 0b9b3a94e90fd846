// What `pollux audit verify` finds in a real state.db.
#include "store/audit/audit_verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_random.hpp"
#include "store/audit/audit_test_support.hpp"
#include "store/audit/checkpointer.hpp"
#include "store/durable_file.hpp"
#include "store/secret_vault.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRecords = 200;

class AuditVerify : public testing::Test {
  protected:
    void SetUp() override {
        auto vault = SecretVault::open(sources());
        ASSERT_TRUE(vault);
        key_ = AuditKey::open_or_make(folder_.file(kAuditKeyFile), *vault).value();
    }
    KeySources sources() const {
        KeySources sources;
        sources.key_file = folder_.file("pollux.key");
        return sources;
    }
    std::unique_ptr<Store> open() const {
        SqliteOptions options;
        options.audit.key = key_;
        return open_sqlite_store(DataDirectory::open(folder_.path()).value(), {}, options).value();
    }
    // As the server does; the checkpoint of the stop is the last record.
    void fill(std::uint64_t first, std::uint64_t count) const {
        auto store = open();
        AuditCheckpointer checkpointer(key_, [](const auto&) {}, {100, 1h, 10'000});
        ASSERT_TRUE(checkpointer.start(checkpoints(), store->audit_head()));
        append_entries(*store, first, count);
        checkpointer.note(store->audit_head());
        ASSERT_TRUE(store->close());
        checkpointer.stop();
    }
    std::string checkpoints() const { return folder_.file(kCheckpointFile); }
    void sql(const std::string& text) const {
        auto database = Database::open(folder_.file(kStateFile), {false, false, "", ""});
        ASSERT_TRUE(database);
        const auto status = (*database)->execute(text);
        ASSERT_TRUE(status) << status.error().message;
    }
    AuditReport verify() const {
        auto database = open_state_for_reading(folder_.path());
        EXPECT_TRUE(database) << database.error().message;
        auto report = verify_audit(**database, *key_, checkpoints());
        EXPECT_TRUE(report) << report.error().message;
        return *report;
    }
    static std::vector<std::string> codes(const AuditReport& report) {
        std::vector<std::string> all;
        for (const auto& finding : report.findings) all.push_back(finding.code);
        return all;
    }
    static bool finds(const AuditReport& report, std::string_view code, std::uint64_t number) {
        return std::ranges::any_of(report.findings, [&](const AuditFinding& one) {
            return one.code == code && one.number == number;
        });
    }

    TemporaryFolder folder_;
    std::shared_ptr<const AuditKey> key_;
};

TEST_F(AuditVerify, FindsNothingInATrailAsItWasWritten) {
    fill(1, kRecords);
    const AuditReport report = verify();
    EXPECT_EQ(report.found, 0u) << report.findings.front().text;
    EXPECT_EQ(report.records, kRecords);
    EXPECT_EQ(report.first, 1u);
    EXPECT_EQ(report.last, kRecords);
    EXPECT_EQ(report.newest_checkpoint, kRecords);
    EXPECT_GE(report.checkpoints, 2u);
}

TEST_F(AuditVerify, ReadsBesideAServerThatWrites) {
    fill(1, 10);
    auto store = open();
    append_entries(*store, 11, 5);
    const AuditReport report = verify();
    EXPECT_EQ(report.found, 0u);
    EXPECT_EQ(report.last, 15u);
    EXPECT_EQ(report.newest_checkpoint, 10u);
}

TEST_F(AuditVerify, FindsABitThatWasFlippedOnDiskInEachRecord) {
    fill(1, kRecords);
    base::TestRandom random(8);
    auto database = Database::open(folder_.file(kStateFile), {false, false, "", ""}).value();
    const auto flip = [&](std::uint64_t number, std::size_t byte, unsigned mask) {
        std::string bytes;
        {
            auto read = database->prepare("SELECT record FROM audit WHERE number = ?1").value();
            read.bind(1, number);
            ASSERT_TRUE(read.step().value());
            bytes = read.blob(0);
        }
        char& changed = bytes[byte % bytes.size()];
        changed = static_cast<char>(changed ^ static_cast<char>(mask));
        auto write = database->prepare("UPDATE audit SET record = ?2 WHERE number = ?1").value();
        write.bind(1, number);
        write.bind_blob(2, bytes);
        ASSERT_TRUE(write.run());
    };
    for (std::uint64_t number = 1; number <= kRecords; number += 3) {
        const std::size_t byte = random.below(10'000);
        const unsigned mask = 1U << random.below(8);
        flip(number, byte, mask);
        ASSERT_TRUE(finds(verify(), "audit.changed", number)) << number;
        flip(number, byte, mask);
    }
    EXPECT_EQ(verify().found, 0u);
}

TEST_F(AuditVerify, FindsDeletedAndSwappedRecords) {
    fill(1, kRecords);
    sql("DELETE FROM audit WHERE number = 50");
    EXPECT_TRUE(finds(verify(), "audit.missing", 50));
    sql("UPDATE audit SET number = number - 1 WHERE number = 51");
    EXPECT_TRUE(finds(verify(), "audit.moved", 50));
    sql("UPDATE audit SET number = -1 WHERE number = 90;"
        "UPDATE audit SET number = 90 WHERE number = 91;"
        "UPDATE audit SET number = 91 WHERE number = -1;");
    const AuditReport report = verify();
    EXPECT_TRUE(finds(report, "audit.moved", 90));
    EXPECT_TRUE(finds(report, "audit.moved", 91));
}

TEST_F(AuditVerify, FindsEachCutAtOrBeforeTheLastCheckpoint) {
    fill(1, kRecords);
    for (std::uint64_t last = kRecords; last > 0; last -= 7) {
        sql(fmt::format("DELETE FROM audit WHERE number >= {}", last));
        const AuditReport report = verify();
        ASSERT_TRUE(finds(report, "audit.cut", last)) << last;
        if (last < 7) break;
    }
    sql("DELETE FROM audit");
    EXPECT_TRUE(finds(verify(), "audit.cut", 1));
}

TEST_F(AuditVerify, ACutAfterTheLastCheckpointCannotBeFoundAndTheReportSaysHowFarItKnows) {
    fill(1, 100);
    {
        auto store = open();
        append_entries(*store, 101, 10);
    }
    sql("DELETE FROM audit WHERE number > 103");
    const AuditReport report = verify();
    EXPECT_EQ(report.found, 0u);
    EXPECT_EQ(report.newest_checkpoint, 100u);
    EXPECT_EQ(report.last, 103u);
}

TEST_F(AuditVerify, ATrailThatWentOnAfterACutIsFound) {
    fill(1, 100);
    sql("DELETE FROM audit WHERE number > 90");
    fill(1091, 20);  // other entries than those that were cut off
    const AuditReport report = verify();
    EXPECT_TRUE(finds(report, "audit.rewritten", 100)) << report.found;
}

TEST_F(AuditVerify, FindsDamagedAndMissingCheckpoints) {
    fill(1, 100);
    const std::string good = read_file(checkpoints(), 1 << 20)->value();
    std::string bad = good;
    bad[20] = bad[20] == '1' ? '2' : '1';
    ASSERT_TRUE(replace_file(checkpoints(), bad));
    EXPECT_THAT(codes(verify()), testing::Contains("audit.checkpoint"));
    std::filesystem::remove(checkpoints());
    EXPECT_THAT(codes(verify()), testing::ElementsAre("audit.no_checkpoints"));
    // Two lines that changed places.
    const std::size_t middle = good.find('\n') + 1;
    ASSERT_TRUE(replace_file(checkpoints(), good.substr(middle) + good.substr(0, middle)));
    EXPECT_THAT(codes(verify()), testing::ElementsAre("audit.checkpoint_order"));
}

TEST_F(AuditVerify, RetentionKeepsTheTrailVerifiable) {
    fill(1, kRecords);
    {
        auto store = open();
        AuditBatch batch;
        batch.retention = AuditRetention{audit_entry(101).at, audit_entry(300).at};
        EXPECT_EQ(apply(*store, batch)->removed, 100u);
        batch.retention->before = audit_entry(151).at;
        EXPECT_EQ(apply(*store, batch)->removed, 50u);
    }
    AuditReport report = verify();
    EXPECT_EQ(report.found, 0u) << report.findings.front().text;
    EXPECT_EQ(report.first, 151u);
    EXPECT_EQ(report.removed, 150u);
    // Removing by hand what retention would have removed later is not the same.
    sql("DELETE FROM audit WHERE number = 151");
    EXPECT_TRUE(finds(verify(), "audit.missing", 151));
    sql("UPDATE audit_anchor SET first = 152");
    EXPECT_TRUE(finds(verify(), "audit.anchor", 152));
    sql("DELETE FROM audit_anchor");
    EXPECT_TRUE(finds(verify(), "audit.missing", 1));
}

TEST_F(AuditVerify, ANewMasterKeyKeepsOldRecordsVerifiable) {
    fill(1, 50);
    {
        auto store = open();
        ASSERT_TRUE(store->load({}));
        auto rotated = rotate_key_file(*store, sources().key_file, [&](const SecretVault& both) {
            return AuditKey::reseal(folder_.file(kAuditKeyFile), both);
        });
        ASSERT_TRUE(rotated) << rotated.error().message;
    }
    auto vault = SecretVault::open(sources());
    ASSERT_TRUE(vault);
    const std::string old_id = key_->id();
    key_ = AuditKey::open(folder_.file(kAuditKeyFile), *vault).value();
    EXPECT_EQ(key_->id(), old_id);
    fill(51, 50);
    const AuditReport report = verify();
    EXPECT_EQ(report.found, 0u);
    EXPECT_EQ(report.records, 100u);
}

TEST_F(AuditVerify, AKeySealedUnderAnotherMasterKeyIsRefusedWithBothNames) {
    std::filesystem::remove(sources().key_file);
    auto other = SecretVault::open(sources());
    ASSERT_TRUE(other);
    const auto key = AuditKey::open(folder_.file(kAuditKeyFile), *other);
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code, "audit.key");
    EXPECT_THAT(key.error().message, testing::HasSubstr(other->key_id()));
    std::ofstream(folder_.file(kAuditKeyFile), std::ios::app) << "x";
    EXPECT_FALSE(AuditKey::open(folder_.file(kAuditKeyFile), *other));
}

TEST_F(AuditVerify, ALostKeyIsReplacedAndTheOldRecordsAreFoundUncheckable) {
    fill(1, 20);
    std::filesystem::remove(folder_.file(kAuditKeyFile));
    auto vault = SecretVault::open(sources());
    key_ = AuditKey::open_or_make(folder_.file(kAuditKeyFile), *vault).value();
    fill(21, 5);
    const AuditReport report = verify();
    EXPECT_EQ(report.records, 25u);
    EXPECT_EQ(std::ranges::count(codes(report), "audit.unknown_key"), 20);
}

}  // namespace
}  // namespace pollux::store
