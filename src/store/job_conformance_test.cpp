// The rules of store.hpp about jobs, for every backend; and the copy of the state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/migrations.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/state_schema.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobRow job_row(const std::string& id) {
    return {"job-http::" + id, id, "batch", base::WallTime{7}, "{\"id\":\"" + id + "\"}"};
}

model::JobRun job_run(const std::string& id, std::uint64_t counter, bool ended = true) {
    model::JobRun run;
    run.key = "job-http::" + id;
    run.run = {1, counter};
    run.attempt = static_cast<std::uint32_t>(counter);
    run.started = base::WallTime{1000};
    if (!ended) return run;
    run.finished = base::WallTime{2000};
    run.outcome = model::Outcome::kTransient;
    run.exit_status = 3;
    run.code = "http.status";
    run.message = "no";
    run.output = "a\nb";
    run.truncated = true;
    run.log = {"one", "two"};
    return run;
}

class JobConformance : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override { open(); }
    void open() {
        store_.reset();
        if (std::string(GetParam()) == "memory") {
            store_ = open_memory_store(disk_, {});
            return;
        }
        auto directory = DataDirectory::open(folder_.path());
        ASSERT_TRUE(directory) << directory.error().message;
        auto store = open_sqlite_store(*directory, {});
        ASSERT_TRUE(store) << store.error().message;
        store_ = std::move(*store);
    }
    base::Status write(JobBatch batch) {
        auto result = std::make_shared<std::optional<base::Status>>();
        auto accepted =
            store_->submit(std::move(batch), [result](auto answer) { *result = answer; });
        if (!accepted) return accepted;
        store_->flush();
        return result->value();
    }
    std::vector<JobRow> jobs() {
        std::vector<JobRow> all;
        LoadVisitor visitor;
        visitor.job = [&](JobRow&& row) { all.push_back(std::move(row)); };
        EXPECT_TRUE(store_->load(visitor));
        return all;
    }
    void submit(std::shared_ptr<engine::WriteBatch> batch) {
        ASSERT_TRUE(store_->submit(std::move(batch)));
        store_->flush();
    }

    TemporaryFolder folder_;
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<Store> store_;
};

TEST_P(JobConformance, JobsAreThereAfterAReopeningInTheOrderOfTheirIds) {
    ASSERT_TRUE(write({{job_row("b"), job_row("a")}, {}}));
    ASSERT_TRUE(write({{job_row("c")}, {}}));
    EXPECT_EQ(store_->stats().job_commits, 2U);
    open();
    EXPECT_THAT(jobs(), ElementsAre(job_row("a"), job_row("b"), job_row("c")));
    ASSERT_TRUE(write({{}, {"job-http::b"}}));
    EXPECT_THAT(jobs(), ElementsAre(job_row("a"), job_row("c")));
}

TEST_P(JobConformance, AJobThatIsThereAlreadyLetsTheWholeBatchFail) {
    ASSERT_TRUE(write({{job_row("a")}, {}}));
    const auto status = write({{job_row("b"), job_row("a")}, {}});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, "store.conflict");
    EXPECT_THAT(status.error().message, HasSubstr("job-http::a"));
    EXPECT_THAT(jobs(), ElementsAre(job_row("a"))) << "nothing of it was applied";
    EXPECT_TRUE(write({{job_row("b")}, {}}));
}

TEST_P(JobConformance, RunsComeWithTheStateOfTheirTaskAndGoWithIt) {
    ASSERT_TRUE(write({{job_row("a"), job_row("b")}, {}}));
    auto batch = task_batch(1, {task_row("job-http::a"), task_row("job-http::b")});
    batch->runs = {job_run("a", 1), job_run("a", 2), job_run("nobody", 3)};
    submit(batch);
    open();
    EXPECT_THAT(store_->job_runs("job-http::a").value(),
                ElementsAre(job_run("a", 1), job_run("a", 2)));
    EXPECT_THAT(store_->job_runs("job-http::nobody").value(), IsEmpty());
    submit(task_batch(2, {}, {"job-http::a"}));
    EXPECT_THAT(jobs(), ElementsAre(job_row("b")));
    EXPECT_THAT(store_->job_runs("job-http::a").value(), IsEmpty());
    EXPECT_EQ(load_all(*store_)->tasks.size(), 1U);
}

TEST_P(JobConformance, ARunUnderWayAtTheEndOfAProcessIsInterrupted) {
    ASSERT_TRUE(write({{job_row("a")}, {}}));
    auto batch = task_batch(1);
    batch->runs = {job_run("a", 1, false)};
    submit(batch);
    EXPECT_EQ(store_->job_runs("job-http::a").value().at(0).finished.us, model::kNever);
    open();
    const auto runs = store_->job_runs("job-http::a").value();
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].outcome, model::Outcome::kInterrupted);
    EXPECT_NE(runs[0].finished.us, model::kNever);
}

TEST_P(JobConformance, OnlyTheNewestRunsAreKept) {
    ASSERT_TRUE(write({{job_row("a")}, {}}));
    for (std::uint64_t i = 1; i <= model::kMostRunsPerJob + 5; ++i) {
        auto batch = task_batch(i);
        batch->runs = {job_run("a", i)};
        submit(batch);
    }
    const auto runs = store_->job_runs("job-http::a").value();
    ASSERT_EQ(runs.size(), model::kMostRunsPerJob);
    EXPECT_EQ(runs.front().run.counter, 6U);
}

INSTANTIATE_TEST_SUITE_P(Backends, JobConformance, testing::Values("memory", "sqlite"),
                         [](const auto& param) { return std::string(param.param); });

TEST(SqliteCopy, IsWholeAndMadeBesideCommits) {
    TemporaryFolder folder;
    auto store = open_sqlite_store(DataDirectory::open(folder.path()).value(), {}).value();
    std::vector<model::TaskRecord> rows;
    for (int i = 0; i < 20'000; ++i) rows.push_back(task_row(fmt::format("a::{}", i)));
    ASSERT_TRUE(store->submit(task_batch(1, rows)));
    store->flush();
    const std::string copy = folder.file("copy.db");
    int asked = 0;
    const auto status = store->back_up(copy, [&] {
        // Somebody commits between any two parts.
        EXPECT_TRUE(store->submit(task_batch(static_cast<std::uint64_t>(2 + asked),
                                             {task_row(fmt::format("b::{}", asked))})));
        store->flush();
        return ++asked < 10'000;
    });
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_GT(asked, 3);
    auto database = Database::open(copy, {false, true, "", ""}).value();
    EXPECT_EQ(database->integer("SELECT count(*) FROM task_state").value(), 20'000)
        << "one moment, before the first of them";
    auto check = database->prepare("PRAGMA integrity_check").value();
    ASSERT_TRUE(check.step().value());
    EXPECT_EQ(check.text(0), "ok");
    EXPECT_FALSE(std::filesystem::exists(copy + ".part"));
    EXPECT_TRUE(store->compact());

    const auto stopped = store->back_up(folder.file("other.db"), [] { return false; });
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, "store.stopped");
    EXPECT_FALSE(std::filesystem::exists(folder.file("other.db")));
    EXPECT_FALSE(std::filesystem::exists(folder.file("other.db.part")));
    EXPECT_FALSE(store->back_up("/nonexistent/x.db", [] { return true; }));
}

TEST(SqliteCopy, AFileWithRoomGivesItBack) {
    TemporaryFolder folder;
    auto store = open_sqlite_store(DataDirectory::open(folder.path()).value(), {}).value();
    std::vector<model::TaskRecord> rows;
    std::vector<std::string> keys;
    for (int i = 0; i < 20'000; ++i) {
        keys.push_back(fmt::format("a::{}", i));
        rows.push_back(task_row(keys.back()));
    }
    ASSERT_TRUE(store->submit(task_batch(1, rows)));
    ASSERT_TRUE(store->compact());
    const auto before = std::filesystem::file_size(folder.file("state.db"));
    ASSERT_TRUE(store->submit(task_batch(2, {}, keys)));
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(store->compact());
    EXPECT_LT(std::filesystem::file_size(folder.file("state.db")), before / 4);
    EXPECT_EQ(load_all(*store)->tasks.size(), 0U);
}

TEST(JobSchema, TheWayBackTakesTheTasksOfJobsWithIt) {
    TemporaryFolder folder;
    {
        auto store = open_sqlite_store(DataDirectory::open(folder.path()).value(), {}).value();
        ASSERT_TRUE(store->submit(JobBatch{{job_row("a")}, {}}, {}));
        ASSERT_TRUE(store->submit(task_batch(1, {task_row("job-http::a"), task_row("x::b")})));
    }
    auto database = Database::open(folder.file("state.db"), {false, false, "", ""}).value();
    const int newest = state_schema().newest();
    ASSERT_TRUE(migrate_to(*database, state_schema(), 4));
    EXPECT_EQ(database->integer("SELECT count(*) FROM task_state").value(), 1)
        << "an older program would take it for a target that went";
    ASSERT_TRUE(migrate_to(*database, state_schema(), newest));
    EXPECT_EQ(database->integer("SELECT count(*) FROM job").value(), 0);
}

}  // namespace
}  // namespace pollux::store
