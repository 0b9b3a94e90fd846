// What the store on disk does while the disk is full or fails, and after.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>

#include "store/alert_test_support.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/fault_vfs_test_support.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::HasSubstr;

std::unique_ptr<Store> open_at(const std::string& path, Answers& answers,
                               const std::string& vfs = "") {
    static_cast<void>(FaultVfs::instance());  // registers it
    auto directory = DataDirectory::open(path);
    if (!directory) throw std::runtime_error(directory.error().message);
    SqliteOptions options;
    options.vfs = vfs;
    auto store = open_sqlite_store(*directory, answers.sink(), options);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
}

std::string integrity(const std::string& path) {
    auto database = Database::open(path + "/state.db", {false, true, "", ""});
    if (!database) return database.error().message;
    auto statement = (*database)->prepare("PRAGMA integrity_check");
    if (!statement) return statement.error().message;
    auto row = statement->step();
    if (!row) return row.error().message;
    return std::string(statement->text(0));
}

struct FaultCase {
    DiskFault fault;
    int writes_left;
    const char* code;
};

void PrintTo(const FaultCase& one, std::ostream* out) { *out << one.code; }

class SqliteFaults : public testing::TestWithParam<FaultCase> {
  protected:
    void SetUp() override { FaultVfs::instance().set(DiskFault::kNone); }
    void TearDown() override { FaultVfs::instance().set(DiskFault::kNone); }
};

TEST_P(SqliteFaults, CommitsFailLoudlyNothingIsLostAndWritingGoesOn) {
    TemporaryFolder folder;
    Answers answers;
    auto store = open_at(folder.path(), answers, FaultVfs::kName);
    ASSERT_TRUE(store->submit(task_batch(1, {task_row("a::before")})));
    ASSERT_TRUE(apply(*store, {{}, {{config_object("1", "before"), 0}}, ""}));

    FaultVfs::instance().set(GetParam().fault, GetParam().writes_left);
    std::vector<model::TaskRecord> many;
    for (int i = 0; i < 500; ++i) many.push_back(task_row(fmt::format("a::during-{}", i)));
    ASSERT_TRUE(store->submit(task_batch(2, many)));
    store->flush();
    auto refused = apply(*store, {{}, {{config_object("2", "during"), 0}}, ""});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, GetParam().code);
    EXPECT_EQ(refused.error().error_class, base::ErrorClass::kTransient);
    EXPECT_THAT(refused.error().message, HasSubstr("state.db"));
    const auto during = answers.all();
    ASSERT_EQ(during.size(), 2u);
    EXPECT_FALSE(during[1].answer.committed);
    ASSERT_TRUE(during[1].why);
    EXPECT_EQ(during[1].why->code, GetParam().code);
    EXPECT_TRUE(store->stats().failing);
    EXPECT_EQ(store->stats().failures, 2u);
    EXPECT_GT(FaultVfs::instance().failed_calls(), 0);

    // What was committed can still be read, and what failed is not to be seen.
    auto all = load_all(*store);
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->tasks.size(), 1u);
    EXPECT_EQ(all->objects.size(), 1u);

    FaultVfs::instance().set(DiskFault::kNone);
    ASSERT_TRUE(store->submit(task_batch(2, many)));
    EXPECT_TRUE(apply(*store, {{}, {{config_object("2", "during"), 0}}, ""}));
    EXPECT_TRUE(answers.all()[2].answer.committed);
    EXPECT_FALSE(store->stats().failing);
    ASSERT_TRUE(store->close());
    store.reset();

    EXPECT_EQ(integrity(folder.path()), "ok");
    store = open_at(folder.path(), answers);
    all = load_all(*store);
    EXPECT_EQ(all->tasks.size(), 501u);
    EXPECT_EQ(all->objects.size(), 2u);
}

TEST_P(SqliteFaults, OpeningOnAFaultyDiskSaysSoAndLeavesTheFileUsable) {
    TemporaryFolder folder;
    Answers answers;
    open_at(folder.path(), answers)->submit(task_batch(1, {task_row("a::b")})).value();
    FaultVfs::instance().set(GetParam().fault, GetParam().writes_left);
    {
        auto directory = DataDirectory::open(folder.path());
        ASSERT_TRUE(directory);
        auto store = open_sqlite_store(*directory, {}, {FaultVfs::kName, 100, 0});
        if (GetParam().writes_left == 0) {
            ASSERT_FALSE(store);
            EXPECT_EQ(store.error().code, GetParam().code);
        }
    }
    FaultVfs::instance().set(DiskFault::kNone);
    auto store = open_at(folder.path(), answers);
    EXPECT_EQ(load_all(*store)->tasks.size(), 1u);
}

TEST_P(SqliteFaults, ABatchOfAlertsIsWholeOrAbsent) {
    TemporaryFolder folder;
    Answers answers;
    auto store = open_at(folder.path(), answers, FaultVfs::kName);
    AlertBatch before;
    before.alerts = {alert_row(1)};
    before.memory = {{"engine", "before"}};
    before.cursors = {{"change", 1}};
    ASSERT_TRUE(apply(*store, before));

    FaultVfs::instance().set(GetParam().fault, GetParam().writes_left);
    AlertBatch batch;
    batch.removed_memory = {"engine"};
    batch.alerts = {alert_row(1, model::AlertState::kResolved)};
    batch.incidents = {incident_row(1)};
    for (std::uint64_t i = 2; i <= 500; ++i) {
        batch.alerts.push_back(alert_row(i));
        batch.events.push_back(event_row(i, i, 1));
        batch.notifications.push_back(notification_row(i));
    }
    batch.cursors = {{"change", 500}};
    const auto refused = apply(*store, batch);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, GetParam().code);
    auto loaded = load_alerts(*store);
    EXPECT_EQ(loaded.alerts, before.alerts);
    EXPECT_TRUE(loaded.incidents.empty());
    EXPECT_TRUE(loaded.notifications.empty());
    EXPECT_EQ(loaded.memory.at("engine"), "before");
    EXPECT_EQ(loaded.cursors, before.cursors);
    EXPECT_TRUE(store->alert_reader().events({}).value().rows.empty());

    FaultVfs::instance().set(DiskFault::kNone);
    ASSERT_TRUE(apply(*store, batch)) << "the same batch once more";
    ASSERT_TRUE(store->close());
    store.reset();
    EXPECT_EQ(integrity(folder.path()), "ok");
    store = open_at(folder.path(), answers);
    loaded = load_alerts(*store);
    EXPECT_EQ(loaded.alerts.size(), 499U);
    EXPECT_EQ(loaded.notifications, batch.notifications);
    EXPECT_EQ(loaded.cursors, batch.cursors);
    EXPECT_EQ(loaded.state.alert_numbers, (AlertNumbers{500, 1, 500, 500}));
}

INSTANTIATE_TEST_SUITE_P(Faults, SqliteFaults,
                         testing::Values(FaultCase{DiskFault::kFull, 0, "store.disk_full"},
                                         FaultCase{DiskFault::kShortOfSpace, 9, "store.disk_full"},
                                         FaultCase{DiskFault::kWriteFails, 0, "store.io"},
                                         FaultCase{DiskFault::kSyncFails, 0, "store.io"}));

// A crash while the disk is full: the log holds a half-written batch, which must not be seen.
TEST(SqliteFaultsTest, ACrashInTheMiddleOfAFailedBatchLosesNothingCommitted) {
    TemporaryFolder folder;
    TemporaryFolder image;
    Answers answers;
    auto store = open_at(folder.path(), answers, FaultVfs::kName);
    ASSERT_TRUE(store->submit(task_batch(1, {task_row("a::before")})));
    store->flush();
    FaultVfs::instance().set(DiskFault::kShortOfSpace, 7);
    std::vector<model::TaskRecord> many;
    for (int i = 0; i < 500; ++i) many.push_back(task_row(fmt::format("a::during-{}", i)));
    ASSERT_TRUE(store->submit(task_batch(2, many)));
    store->flush();
    for (const char* name : {"state.db", "state.db-wal"}) {
        std::filesystem::copy_file(folder.file(name), image.file(name));
    }
    FaultVfs::instance().set(DiskFault::kNone);
    ASSERT_FALSE(answers.all().at(1).answer.committed);
    auto after = open_at(image.path(), answers);
    EXPECT_EQ(load_all(*after)->tasks.size(), 1u);
    EXPECT_FALSE(load_all(*after)->state.clean_stop);
}

// The real thing where it can be had: a file system of 2 MB, filled by somebody else.
TEST(SqliteFaultsTest, ARealFullFileSystem) {
    TemporaryFolder folder;
    const bool mounted =
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m,mode=0700") == 0;
    if (!mounted) GTEST_SKIP() << "no right to mount: the faults above are the proof here";
    struct Unmount {
        std::string path;
        ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
    } unmount{folder.path()};
    Answers answers;
    auto store = open_at(folder.path(), answers);
    ASSERT_TRUE(store->submit(task_batch(1, {task_row("a::before")})));
    store->flush();
    const std::string ballast = folder.file("ballast");
    const int fd = ::open(ballast.c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_GE(fd, 0);
    const std::string block(4096, 'x');
    while (write(fd, block.data(), block.size()) > 0) {
    }
    ::close(fd);
    std::vector<model::TaskRecord> many;
    for (int i = 0; i < 2000; ++i) many.push_back(task_row(fmt::format("a::during-{}", i)));
    ASSERT_TRUE(store->submit(task_batch(2, many)));
    store->flush();
    ASSERT_EQ(answers.all().size(), 2u);
    ASSERT_FALSE(answers.all()[1].answer.committed);
    EXPECT_EQ(answers.all()[1].why->code, "store.disk_full");
    EXPECT_THAT(answers.all()[1].why->message, HasSubstr("free space"));
    ASSERT_EQ(unlink(ballast.c_str()), 0);
    ASSERT_TRUE(store->submit(task_batch(2, many)));
    store->flush();
    EXPECT_TRUE(answers.all().at(2).answer.committed);
    ASSERT_TRUE(store->close());
    store.reset();
    EXPECT_EQ(integrity(folder.path()), "ok");
    store = open_at(folder.path(), answers);
    EXPECT_EQ(load_all(*store)->tasks.size(), 2001u);
    store.reset();
}

// Somebody has the file open in a shell and holds a lock: slow, then a clear failure, then fine.
TEST(SqliteFaultsTest, AForeignLockIsBusyNotFatal) {
    TemporaryFolder folder;
    Answers answers;
    auto store = open_at(folder.path(), answers);
    auto other = Database::open(folder.file("state.db"), {false, false, "", ""});
    ASSERT_TRUE(other);
    ASSERT_TRUE((*other)->execute("BEGIN IMMEDIATE"));
    ASSERT_TRUE(store->submit(task_batch(1, {task_row("a::b")})));
    store->flush();
    ASSERT_FALSE(answers.all().at(0).answer.committed);
    EXPECT_EQ(answers.all()[0].why->code, "store.busy");
    ASSERT_TRUE((*other)->execute("ROLLBACK"));
    ASSERT_TRUE(store->submit(task_batch(1, {task_row("a::b")})));
    store->flush();
    EXPECT_TRUE(answers.all().at(1).answer.committed);
}

}  // namespace
}  // namespace pollux::store
