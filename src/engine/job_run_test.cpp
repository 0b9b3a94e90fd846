// The end of a run of a job is written with the change that it causes: a crash loses both or
// neither.
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "schedule/core_test_support.hpp"

namespace pollux::engine {
namespace {

using namespace std::chrono_literals;

base::Instant at(base::Duration since) {
    return {base::BootTime{} + 1h + since, base::WallTime{1'000'000'000} + since};
}

TEST(JobRuns, TheEndOfARunIsInTheBatchOfItsChange) {
    Engine engine(at(0s), 1, 1, schedule::wide_settings({"c"}));
    Output out;
    const std::vector<schedule::Event> submitted = {schedule::TasksUpserted{
        std::make_shared<const std::vector<model::TaskSpec>>(std::vector{schedule::job("c::a")}),
        0}};
    engine.step(at(0s), submitted, {}, out);
    ASSERT_EQ(out.commands.starts.size(), 1U);
    const schedule::StartRun start = out.commands.starts.front();
    model::JobRun run;
    run.key = "c::a";
    run.run = start.run;
    engine.note(at(0s), run);
    EXPECT_LE(engine.pump().next_wake(), at(1s).boot) << "its begin is written soon by itself";

    engine.step(at(1s), {}, {}, out);
    ASSERT_TRUE(out.batch);
    ASSERT_EQ(out.batch->runs.size(), 1U);
    const std::uint64_t first = out.batch->sequence;

    // It ends while that batch is under way: what belongs together waits together.
    run.finished = at(1s).wall;
    run.output = "done";
    engine.note(at(1s), run);
    schedule::RunFinished finished;
    finished.task = start.task;
    finished.run = start.run;
    const std::vector<schedule::Event> ended = {finished};
    engine.step(at(1s), ended, {}, out);
    EXPECT_FALSE(out.batch);
    const std::vector<StoreAnswer> failed = {{first, false}};
    engine.step(at(2s), {}, failed, out);
    const std::vector<StoreAnswer> answer = {{first, true}};
    engine.step(at(4s), {}, {}, out);
    ASSERT_TRUE(out.batch);
    EXPECT_EQ(out.batch->sequence, first) << "the first again, as it was";
    ASSERT_EQ(out.batch->runs.size(), 1U);
    EXPECT_EQ(out.batch->runs[0].output, "");
    engine.step(at(4s), {}, answer, out);
    ASSERT_TRUE(out.batch);
    ASSERT_EQ(out.batch->runs.size(), 1U);
    EXPECT_EQ(out.batch->runs[0].output, "done");
    ASSERT_EQ(out.batch->changes.size(), 1U);
    EXPECT_EQ(out.batch->changes[0].change.kind, schedule::ChangeKind::kJob);
    ASSERT_EQ(out.batch->rows.size(), 1U);
    EXPECT_EQ(out.batch->rows[0].job, model::JobState::kCompleted);
}

}  // namespace
}  // namespace pollux::engine
