// kill -9 at random moments: an act and its entry are both there or neither, and the trail fits.
#include <gtest/gtest.h>

#include "base/test_random.hpp"
#include "store/audit/audit_test_support.hpp"
#include "store/audit/audit_verify.hpp"
#include "store/audit/checkpoint.hpp"
#include "store/durable_file.hpp"
#include "store/sqlite/kill_test_support.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

constexpr int kRounds = 8;

base::Secret test_secret() { return base::Secret(std::string(32, 'k')); }

// The child: each batch changes a row and an object and tells of both in one entry each.
[[noreturn]] void act_for_ever(const std::string& path, int pipe_fd) {
    auto directory = DataDirectory::open(path);
    if (!directory) _exit(2);
    SqliteOptions options;
    options.audit.key = std::make_shared<const AuditKey>(test_secret());
    auto store = open_sqlite_store(*directory, {}, options);
    if (!store) _exit(3);
    auto all = load_all(**store);
    if (!all) _exit(4);
    std::uint64_t version = all->objects.empty() ? 0 : all->objects.front().version;
    std::uint64_t attempt = all->tasks.empty() ? 0 : all->tasks.front().attempt;
    for (std::uint64_t sequence = 1;; ++sequence) {
        auto tasks =
            task_batch(sequence, {task_row("a::1", static_cast<std::uint32_t>(++attempt))});
        tasks->audit = {audit_entry(attempt)};
        tasks->audit[0].action = "task.act";
        tasks->audit[0].object = std::to_string(attempt);
        if (!(*store)->submit(tasks)) _exit(5);
        ObjectBatch objects;
        objects.writes = {{config_object("1", "one"), version}};
        objects.audit = {audit_entry(version)};
        objects.audit[0].action = "object.act";
        objects.audit[0].object = std::to_string(++version);
        if (!apply(**store, std::move(objects))) _exit(6);
        report(pipe_fd, version);
    }
}

TEST(AuditKill, ActAndEntryAreBothThereOrNeither) {
    TemporaryFolder folder;
    base::TestRandom random(99);
    const auto key = std::make_shared<const AuditKey>(test_secret());
    for (int round = 0; round < kRounds; ++round) {
        const auto reports = run_and_kill(
            [&](int pipe_fd) { act_for_ever(folder.path(), pipe_fd); }, random.below(60'000));
        ASSERT_FALSE(reports.empty()) << "round " << round;
        const std::uint64_t reported = reports.back();
        SqliteOptions options;
        options.audit.key = key;
        auto store =
            open_sqlite_store(DataDirectory::open(folder.path()).value(), {}, options).value();
        const auto all = load_all(*store);
        ASSERT_TRUE(all);
        const auto newest = [&](const char* action) {
            AuditQuery query;
            query.action = action;
            query.limit = 1;
            return store->audit(query)->at(0).entry.object;
        };
        EXPECT_EQ(newest("task.act"), std::to_string(all->tasks.at(0).attempt));
        EXPECT_EQ(newest("object.act"), std::to_string(all->objects.at(0).version));
        EXPECT_GE(all->objects.at(0).version, reported);
        // Each act has one entry: as many as acts of both kinds.
        EXPECT_EQ(store->audit_head().number,
                  all->tasks.at(0).attempt + all->objects.at(0).version);
        ASSERT_TRUE(store->close());
        ASSERT_TRUE(replace_file(
            folder.file(kCheckpointFile),
            to_line(make_checkpoint(*key, store->audit_head(), base::WallTime{1})) + "\n"));
        auto database = open_state_for_reading(folder.path());
        ASSERT_TRUE(database);
        const auto report = verify_audit(**database, *key, folder.file(kCheckpointFile));
        ASSERT_TRUE(report);
        EXPECT_EQ(report->found, 0u) << report->findings.front().text;
    }
}

}  // namespace
}  // namespace pollux::store
