// What only the store on disk has: files, rights, damage, trimming.
#include "store/sqlite/sqlite_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "store/sqlite/database.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::HasSubstr;

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

void overwrite(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

base::Result<std::unique_ptr<Store>> open_at(const std::string& path, SqliteOptions options = {}) {
    auto directory = DataDirectory::open(path);
    if (!directory) return std::unexpected(directory.error());
    return open_sqlite_store(*directory, {}, options);
}

TEST(SqliteStore, FilesAreForTheirOwnerOnly) {
    TemporaryFolder folder;
    const std::string path = folder.file("data");
    auto store = open_at(path);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(apply(**store, {{}, {{config_object("1", "one"), 0}}, ""}));
    for (const char* name : {"", "/state.db", "/state.db-wal", "/pollux.lock"}) {
        struct stat found{};
        ASSERT_EQ(stat((path + name).c_str(), &found), 0) << name;
        EXPECT_EQ(found.st_mode & 077U, 0u) << name;
    }
    EXPECT_GT((*store)->stats().bytes_on_disk, 4096u);
}

TEST(SqliteStore, ACleanStopLeavesOneFile) {
    TemporaryFolder folder;
    auto store = open_at(folder.path());
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->submit(task_batch(1, {task_row("a::b")})));
    ASSERT_TRUE((*store)->close());
    EXPECT_TRUE(std::filesystem::exists(folder.file("state.db")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("state.db-wal")));
    EXPECT_FALSE((*store)->changes({})) << "reading after the end is an error, not a crash";
    EXPECT_FALSE(load_all(**store));
}

TEST(SqliteStore, PeopleCanReadTheColumns) {
    TemporaryFolder folder;
    auto store = open_at(folder.path());
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->submit(task_batch(1, {task_row("pve::n1"), task_row("pve::n1#slow")})));
    ASSERT_TRUE(apply(**store, {{}, {{config_object("1", "n1", R"({"region":"basel"})"), 0}}, ""}));
    auto database = Database::open(folder.file("state.db"), {false, true, "", ""});
    ASSERT_TRUE(database);
    const auto ask = [&](const char* sql) { return (*database)->integer(sql).value(); };
    EXPECT_EQ(ask("SELECT count(*) FROM task_state WHERE breaker = 2 AND dead_letter = 3"), 2);
    EXPECT_EQ(ask("SELECT next_due FROM task_state LIMIT 1"), 1'700'000'000'000'001);
    EXPECT_EQ(ask("SELECT count(*) FROM object WHERE body ->> 'region' = 'basel'"), 1);
    EXPECT_EQ(ask("SELECT count(DISTINCT partition) FROM (SELECT partition FROM task_state UNION "
                  "SELECT partition FROM object)"),
              1)
        << "a device and its tasks are in one partition";
}

TEST(SqliteStore, TheOldestChangesGoFirst) {
    TemporaryFolder folder;
    SqliteOptions options;
    options.most_changes = 100;
    auto store = open_at(folder.path(), options);
    ASSERT_TRUE(store);
    for (std::uint64_t i = 0; i < 25; ++i) {
        auto batch = task_batch(i);
        for (std::uint64_t k = 1; k <= 10; ++k) {
            batch->changes.push_back(task_change(i * 10 + k, "a::b"));
        }
        ASSERT_TRUE((*store)->submit(batch));
    }
    (*store)->flush();
    ChangeQuery query;
    query.limit = 1000;
    auto found = (*store)->changes(query);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 100u);
    EXPECT_EQ(found->front().number, 151u);
}

TEST(SqliteStore, ADamagedRowIsLeftOutAndNamed) {
    TemporaryFolder folder;
    auto store = open_at(folder.path());
    ASSERT_TRUE(store);
    ASSERT_TRUE(
        (*store)->submit(task_batch(1, {task_row("a::1"), task_row("a::2"), task_row("a::3")})));
    ASSERT_TRUE((*store)->close());
    store->reset();
    {
        auto database = Database::open(folder.file("state.db"), {false, false, "", ""});
        ASSERT_TRUE(database);
        ASSERT_TRUE((*database)->execute(
            "UPDATE task_state SET record = x'0102' WHERE key = 'a::2';"
            "UPDATE task_state SET record = (SELECT record FROM task_state WHERE key = 'a::1') "
            "WHERE key = 'a::3'"));
    }
    store = open_at(folder.path());
    ASSERT_TRUE(store);
    auto all = load_all(**store);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->tasks.size(), 1u);
    EXPECT_EQ(all->state.damaged_rows, 2u);
    ASSERT_EQ(all->state.damage.size(), 2u);
    EXPECT_THAT(all->state.damage[0], HasSubstr("a::2"));
}

TEST(SqliteStore, AFileThatIsNoDatabaseIsRefusedAndKept) {
    TemporaryFolder folder;
    const std::string text(10'000, 'z');
    overwrite(folder.file("state.db"), text);
    auto store = open_at(folder.path());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, "store.corrupt");
    EXPECT_THAT(store.error().message, HasSubstr("state.db"));
    EXPECT_THAT(store.error().message, HasSubstr("left as it is"));
    EXPECT_EQ(content(folder.file("state.db")), text);
}

TEST(SqliteStore, DamageAfterACrashIsFoundAndTheFileKept) {
    TemporaryFolder folder;
    std::string bytes;
    {
        auto store = open_at(folder.path());
        ASSERT_TRUE(store);
        std::vector<model::TaskRecord> rows;
        for (int i = 0; i < 2000; ++i) rows.push_back(task_row(fmt::format("a::{}", i)));
        ASSERT_TRUE((*store)->submit(task_batch(1, rows)));
        ASSERT_TRUE((*store)->close());
    }
    {
        auto database = Database::open(folder.file("state.db"), {false, false, "", ""});
        ASSERT_TRUE((*database)->execute("UPDATE meta SET value = 0 WHERE name = 'clean_stop'"));
    }
    bytes = content(folder.file("state.db"));
    ASSERT_GT(bytes.size(), 100'000u);
    // In the middle of the rows of tasks, behind what an opening needs.
    const std::size_t middle = bytes.size() / 2;
    for (std::size_t at = middle; at < middle + 4000; ++at) bytes[at] = '\x5a';
    overwrite(folder.file("state.db"), bytes);
    auto store = open_at(folder.path());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, "store.corrupt");
    EXPECT_EQ(content(folder.file("state.db")), bytes);
    SqliteOptions unchecked;
    unchecked.check_below_bytes = 0;
    EXPECT_TRUE(open_at(folder.path(), unchecked)) << "a large file is not read whole at the start";
}

TEST(SqliteStore, AFolderThatCannotBeMadeIsNamed) {
    auto store = open_at("/proc/no-such-folder");
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, "store.access");
    EXPECT_THAT(store.error().message, HasSubstr("/proc/no-such-folder"));
}

TEST(DataDirectoryTest, IsHeldByOneOnlyAndNamesTheHolder) {
    TemporaryFolder folder;
    auto first = DataDirectory::open(folder.path());
    ASSERT_TRUE(first);
    auto second = DataDirectory::open(folder.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, "store.locked");
    EXPECT_THAT(second.error().message, HasSubstr(fmt::format("process {}", getpid())));
    EXPECT_THAT(second.error().message, HasSubstr(folder.path()));
    first->reset();
    EXPECT_TRUE(DataDirectory::open(folder.path()));
}

TEST(DataDirectoryTest, AnotherProcessIsKeptOutAndADeadOneIsNot) {
    TemporaryFolder folder;
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    const pid_t child = fork();
    if (child == 0) {
        auto held = DataDirectory::open(folder.path());
        const char told = held ? 'y' : 'n';
        static_cast<void>(!write(pipe_fds[1], &told, 1));
        for (;;) pause();
    }
    char told = 0;
    ASSERT_EQ(read(pipe_fds[0], &told, 1), 1);
    ASSERT_EQ(told, 'y');
    auto refused = DataDirectory::open(folder.path());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("process {}", child)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    EXPECT_TRUE(DataDirectory::open(folder.path()));
}

}  // namespace
}  // namespace pollux::store
