// kill -9 at random moments: what was reported as committed is there afterwards.
#include <gtest/gtest.h>

#include <set>

#include "base/test_random.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/kill_test_support.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

constexpr int kRounds = 10;
constexpr std::uint64_t kPerRound = 1'000'000;  // more sequences than a round can reach
constexpr int kRowsPerBatch = 20;

// The child: batches one after another, each sequence written to the pipe once it is committed.
[[noreturn]] void commit_for_ever(const std::string& path, int pipe_fd, std::uint64_t first) {
    auto directory = DataDirectory::open(path);
    if (!directory) _exit(2);
    auto store =
        open_sqlite_store(*directory, [pipe_fd](engine::StoreAnswer answer, const base::Error*) {
            if (answer.committed) report(pipe_fd, answer.sequence);
        });
    if (!store) _exit(3);
    for (std::uint64_t sequence = first;; ++sequence) {
        auto batch = task_batch(sequence);
        for (int i = 0; i < kRowsPerBatch; ++i) {
            // Each row tells the newest batch that wrote it.
            auto row = task_row(fmt::format("a::{}", i));
            row.digest = sequence;
            batch->rows.push_back(row);
        }
        batch->changes = {task_change(sequence, "a::0")};
        while (!(*store)->submit(batch)) (*store)->flush();
    }
}

TEST(SqliteKill, EveryReportedBatchSurvives) {
    TemporaryFolder folder;
    base::TestRandom random(20240717);
    std::uint64_t total = 0;
    std::uint64_t newest = 0;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t first = static_cast<std::uint64_t>(round) * kPerRound + 1;
        const auto reported =
            run_and_kill([&](int pipe_fd) { commit_for_ever(folder.path(), pipe_fd, first); },
                         random.below(120'000));
        ASSERT_FALSE(reported.empty()) << "round " << round;
        for (std::size_t i = 0; i < reported.size(); ++i) ASSERT_EQ(reported[i], first + i);
        total += reported.size();
        newest = reported.back();
        {
            auto database = Database::open(folder.file("state.db"), {false, true, "", ""});
            ASSERT_TRUE(database);
            auto check = (*database)->prepare("PRAGMA integrity_check");
            ASSERT_TRUE(check->step().value());
            ASSERT_EQ(check->text(0), "ok") << "round " << round;
        }
        auto directory = DataDirectory::open(folder.path());
        ASSERT_TRUE(directory);
        auto store = open_sqlite_store(*directory, {});
        ASSERT_TRUE(store) << store.error().message;
        auto all = load_all(**store);
        ASSERT_TRUE(all);
        EXPECT_FALSE(all->state.clean_stop);
        EXPECT_EQ(all->state.epoch, static_cast<std::uint32_t>(2 * round + 2));
        ASSERT_EQ(all->tasks.size(), static_cast<std::size_t>(kRowsPerBatch));
        // Whole or not at all: all rows are of one batch, the last reported or the one after it.
        std::set<std::uint64_t> digests;
        for (const auto& task : all->tasks) digests.insert(task.digest);
        ASSERT_EQ(digests.size(), 1u);
        EXPECT_GE(*digests.begin(), newest);
        // Every reported change is there, in pages.
        std::set<std::uint64_t> stored;
        ChangeQuery query;
        query.after = first - 1;
        query.limit = kMostChangesPerQuery;
        for (;;) {
            auto page = (*store)->changes(query);
            ASSERT_TRUE(page);
            for (const auto& change : *page) stored.insert(change.number);
            if (page->size() < query.limit) break;
            query.after = page->back().number;
        }
        for (const auto sequence : reported) ASSERT_TRUE(stored.contains(sequence)) << sequence;
        EXPECT_EQ(*stored.rbegin(), *digests.begin());
    }
    EXPECT_GE(total, static_cast<std::uint64_t>(kRounds));
}

}  // namespace
}  // namespace pollux::store
