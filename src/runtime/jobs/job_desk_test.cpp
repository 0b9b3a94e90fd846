#include "runtime/jobs/job_desk.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <semaphore>
#include <thread>

#include "runtime/jobs/job_metrics.hpp"
#include "runtime/jobs/job_test_support.hpp"
#include "store/store_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::JobPhase;
using test::JobStage;
using test::worker_type;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

// Work that the test lets go on, one run after another.
class Work {
  public:
    JobType type() {
        return worker_type("step", 1, [this](const model::JobSpec& job, JobControl& control) {
            control.log("begun " + job.name);
            control.progress(1, 2, "half");
            ++begun;
            while (!open_ && !control.cancelled()) std::this_thread::sleep_for(1ms);
            JobResult result;
            result.output = "did " + job.name;
            if (job.labels.contains("fails")) {
                result = {.outcome = model::Outcome::kTransient,
                          .exit_status = 7,
                          .code = "test.failed",
                          .message = "as told",
                          .output = "tried " + job.name};
            }
            return result;
        });
    }
    void open() { open_ = true; }
    void shut() { open_ = false; }
    std::atomic<int> begun = 0;

  private:
    std::atomic<bool> open_ = false;
};

class JobDeskTest : public testing::Test {
  protected:
    void open(std::vector<model::ResourceSettings> resources = {{"cpu", 2}}) {
        stage.reset();
        stage = std::make_unique<JobStage>(
            test::StageOptions{.folder = folder.path(), .resources = std::move(resources)},
            std::vector{work.type()});
    }
    std::vector<std::string> submit(const std::string& text) {
        const auto done = stage->submit(text);
        EXPECT_TRUE(done) << (done ? "" : done.error().message);
        return done ? done->ids : std::vector<std::string>{};
    }

    store::TemporaryFolder folder;
    Work work;
    std::unique_ptr<JobStage> stage;
};

TEST_F(JobDeskTest, AJobRunsAndItsResultIsKept) {
    open();
    const auto ids = submit("{name: a, type: step, labels: {team: ops}, arguments: {n: 3}}");
    ASSERT_EQ(ids.size(), 1U);
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kRunning));
    // Its worker begins a little later than the core says so.
    EXPECT_TRUE(stage->until([&] { return stage->get(ids[0]).progress.text == "half"; }));
    EXPECT_THAT(stage->desk().live_log(ids[0]), ElementsAre("begun a"));
    work.open();
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kCompleted));
    ASSERT_TRUE(stage->until([&] { return stage->get(ids[0]).ended_at.us != 0; }));
    const auto runs = stage->desk().runs(ids[0]).value();
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].output, "did a");
    EXPECT_EQ(runs[0].outcome, model::Outcome::kOk);
    EXPECT_THAT(runs[0].log, ElementsAre("begun a"));
    EXPECT_GT(runs[0].finished, runs[0].started);
    const JobView view = stage->get(ids[0]);
    EXPECT_EQ(view.spec.created_by, "user:test");
    EXPECT_EQ(view.attempts, 1U);
    std::vector<JobEventKind> kinds;
    for (const JobEvent& event : stage->events) kinds.push_back(event.kind);
    EXPECT_THAT(kinds, Contains(JobEventKind::kSubmitted));
    EXPECT_THAT(kinds, Contains(JobEventKind::kStarted));
    EXPECT_THAT(kinds, Contains(JobEventKind::kProgress));
    EXPECT_EQ(kinds.back(), JobEventKind::kEnded);
    EXPECT_EQ(stage->events.back().phase, JobPhase::kCompleted);
}

TEST_F(JobDeskTest, WhatIsWrongIsRefusedWholeAndStoresNothing) {
    open();
    const auto refused = stage->submit(
        "jobs:\n  - {name: a, type: step}\n  - {name: b, type: step, depends_on: [c], "
        "resources: {cpu: 3}}\n  - {name: d, type: step, depends_on: [d]}");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "job.invalid");
    EXPECT_THAT(refused.error().message, HasSubstr("\"b\" needs \"c\""));
    EXPECT_THAT(refused.error().message, HasSubstr("3 of resource \"cpu\" are wanted"));
    EXPECT_THAT(refused.error().message, HasSubstr("circle: \"d\" needs \"d\""));
    EXPECT_EQ(stage->desk().size(), 0U);
    stage->close();
    open();
    EXPECT_EQ(stage->restored(), 0U);
}

TEST_F(JobDeskTest, NeedsResourcesAndPositionAreSeen) {
    open();
    const auto ids = submit(
        "jobs:\n"
        "  - {name: a, type: step, resources: {cpu: 2}}\n"
        "  - {name: b, type: step, resources: {cpu: 1}}\n"
        "  - {name: c, type: step, depends_on: [a]}\n");
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kRunning));
    const JobView waiting = stage->get(ids[1]);
    EXPECT_EQ(waiting.phase, JobPhase::kReady);
    EXPECT_TRUE(waiting.ready_for);
    ASSERT_TRUE(waiting.position);
    ASSERT_TRUE(waiting.estimate);
    EXPECT_EQ(*waiting.estimate, 30s * static_cast<int>(*waiting.position))
        << "nothing has ended yet: half a minute each";
    EXPECT_THAT(waiting.verdict, HasSubstr("cpu"));
    EXPECT_EQ(stage->get(ids[2]).phase, JobPhase::kBlocked);

    const auto held = stage->cancel(ids[2]);
    ASSERT_TRUE(held);
    EXPECT_THAT(*held, ElementsAre(ids[2]));
    work.open();
    ASSERT_TRUE(stage->reaches(ids[1], JobPhase::kCompleted));
    EXPECT_EQ(stage->get(ids[2]).phase, JobPhase::kCancelled);
    EXPECT_EQ(work.begun, 2);
}

TEST_F(JobDeskTest, AFailedJobIsTriedAsOftenAsItSaysAndThenFailsItsChildren) {
    open();
    work.open();
    const auto ids = submit(
        "jobs:\n"
        "  - {name: a, type: step, labels: {fails: y}, retry: {attempts: 3, backoff: 1ms}}\n"
        "  - {name: b, type: step, depends_on: [a]}\n"
        "  - {name: c, type: step, depends_on: [a], on_parent_failure: hold}\n");
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kFailed));
    EXPECT_TRUE(stage->reaches(ids[1], JobPhase::kFailed));
    EXPECT_EQ(stage->get(ids[2]).phase, JobPhase::kBlocked);
    EXPECT_EQ(work.begun, 3);
    ASSERT_TRUE(stage->until([&] { return stage->desk().runs(ids[0]).value().size() == 3; }));
    const auto runs = stage->desk().runs(ids[0]).value();
    for (const auto& run : runs) {
        EXPECT_EQ(run.code, "test.failed");
        EXPECT_EQ(run.exit_status, 7);
        EXPECT_EQ(run.output, "tried a");
    }
    EXPECT_EQ(stage->get(ids[0]).failure, "as told");

    // Tried again by a person: it fails again, and what failed with it stays as it was.
    ASSERT_TRUE(stage->retry(ids[0]));
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kFailed));
    EXPECT_TRUE(stage->until([&] { return work.begun == 6; }));
    EXPECT_EQ(stage->get(ids[1]).phase, JobPhase::kFailed);
}

TEST_F(JobDeskTest, StepsThatAreNotAllowedChangeNothing) {
    open();
    const auto ids = submit("{name: a, type: step}");
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kRunning));
    for (const base::Status& status :
         {stage->retry(ids[0]), stage->hold(ids[0]), stage->release(ids[0])}) {
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().code, "job.transition");
        EXPECT_THAT(status.error().message, HasSubstr("running"));
    }
    work.open();
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kCompleted));
    const auto cancelled = stage->cancel(ids[0]);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, "job.transition");
    EXPECT_EQ(cancelled.error().message,
              "a job that is completed cannot become cancelled: nothing was changed");
    EXPECT_FALSE(stage->retry(ids[0]));
    EXPECT_EQ(stage->get(ids[0]).phase, JobPhase::kCompleted);
    const auto unknown = stage->cancel("nobody");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, "job.unknown");
}

TEST_F(JobDeskTest, HeldJobsStayWhereTheyAreAlsoOverARestart) {
    open();
    const auto ids = submit(
        "jobs:\n  - {name: a, type: step, hold: true}\n"
        "  - {name: b, type: step, depends_on: [a]}\n");
    EXPECT_TRUE(stage->get(ids[0]).held);
    EXPECT_EQ(stage->get(ids[0]).phase, JobPhase::kPending);
    ASSERT_TRUE(stage->hold(ids[1]));
    EXPECT_TRUE(stage->get(ids[1]).held);
    EXPECT_FALSE(stage->hold(ids[1])) << "it is held already";
    stage->close();
    open();
    work.open();
    EXPECT_TRUE(stage->get(ids[0]).held);
    EXPECT_TRUE(stage->get(ids[1]).held);
    ASSERT_TRUE(stage->release(ids[0]));
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kCompleted));
    EXPECT_EQ(stage->get(ids[1]).phase, JobPhase::kPending);
    ASSERT_TRUE(stage->release(ids[1]));
    EXPECT_TRUE(stage->reaches(ids[1], JobPhase::kCompleted));
}

TEST_F(JobDeskTest, CancelMayTakeAllThatNeedsItAlong) {
    open();
    const auto ids = submit(
        "jobs:\n  - {name: a, type: step}\n"
        "  - {name: b, type: step, depends_on: [a]}\n"
        "  - {name: c, type: step, depends_on: [b]}\n"
        "  - {name: d, type: step}\n");
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kRunning));
    EXPECT_THAT(stage->desk().impact(ids[0]).value(), UnorderedElementsAre(ids[1], ids[2]));
    const auto gone = stage->cancel(ids[0], true);
    ASSERT_TRUE(gone) << gone.error().message;
    EXPECT_THAT(*gone, UnorderedElementsAre(ids[0], ids[1], ids[2]));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(stage->get(ids[i]).phase, JobPhase::kCancelled);
    work.open();
    EXPECT_TRUE(stage->reaches(ids[3], JobPhase::kCompleted));
    EXPECT_TRUE(stage->until([&] {
        const auto runs = stage->desk().runs(ids[0]).value();
        return runs.size() == 1 && runs[0].finished.us != 0 &&
               runs[0].outcome == model::Outcome::kInterrupted;
    })) << "its run was stopped, which is no failure";
}

TEST_F(JobDeskTest, ListsAreFilteredAndPaged) {
    open();
    work.open();
    std::string text = "jobs:\n";
    for (int i = 0; i < 25; ++i) {
        text += "  - {name: j" + std::to_string(i) + ", type: step, labels: {half: \"" +
                std::to_string(i % 2) + "\"}" + (i == 0 ? ", hold: true" : "") + "}\n";
    }
    const auto ids = submit(text);
    for (std::size_t i = 1; i < ids.size(); ++i) {
        ASSERT_TRUE(stage->reaches(ids[i], JobPhase::kCompleted));
    }
    ASSERT_TRUE(stage->until(
        [&] { return stage->list({.phase = JobPhase::kCompleted}).jobs.size() == 24; }));
    std::vector<std::string> seen;
    JobFilter filter;
    filter.limit = 10;
    for (;;) {
        const JobPage page = stage->list(filter);
        EXPECT_EQ(page.stored, 25U);
        for (const JobView& view : page.jobs) seen.push_back(view.spec.id);
        if (page.next.empty()) break;
        filter.before = page.next;
    }
    EXPECT_EQ(seen, std::vector<std::string>(ids.rbegin(), ids.rend()))
        << "newest first, each once";
    EXPECT_EQ(stage->list({.labels = {{"half", "1"}}}).jobs.size(), 12U);
    const JobPage waiting = stage->list({.phase = JobPhase::kPending});
    ASSERT_EQ(waiting.jobs.size(), 1U);
    EXPECT_EQ(waiting.jobs[0].spec.name, "j0");
    EXPECT_THAT(stage->list({.phase = JobPhase::kRunning}).jobs, IsEmpty());
    EXPECT_THAT(stage->list({.type = "other"}).jobs, IsEmpty());
}

TEST_F(JobDeskTest, TheGraphOfABatchHasLevelsAndItsCriticalPath) {
    open();
    const auto done = stage->submit(
        "jobs:\n  - {name: a, type: step, estimate: 10s}\n"
        "  - {name: b, type: step, estimate: 1s}\n"
        "  - {name: c, type: step, depends_on: [a, b], estimate: 5s}\n");
    ASSERT_TRUE(done);
    const auto graph = stage->answer<JobGraphView>(
        [&](auto then) { stage->desk().graph(done->batch, std::move(then)); });
    ASSERT_TRUE(graph);
    EXPECT_THAT(graph->levels, ElementsAre(0, 0, 1));
    EXPECT_THAT(graph->critical_path.jobs, ElementsAre(0, 2));
    EXPECT_EQ(graph->critical_path.length, 15s);
    EXPECT_EQ(graph->jobs[2].phase, JobPhase::kBlocked);
    work.open();
}

TEST_F(JobDeskTest, WhatHasEndedLongAgoGoesUnlessSomebodyWaitsForIt) {
    open();
    work.open();
    const auto ids = submit(
        "jobs:\n  - {name: a, type: step}\n  - {name: b, type: step}\n"
        "  - {name: c, type: step, depends_on: [b], hold: true}\n");
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kCompleted));
    ASSERT_TRUE(stage->reaches(ids[1], JobPhase::kCompleted));
    ASSERT_TRUE(stage->until(
        [&] { return stage->list({.phase = JobPhase::kCompleted}).jobs.size() == 2; }));
    stage->desk().tick(net::wall_now());
    EXPECT_EQ(stage->desk().size(), 3U) << "a month has not passed";
    stage->desk().tick(net::wall_now() + 31 * 24h);
    ASSERT_TRUE(stage->until([&] { return stage->desk().size() == 2; }));
    EXPECT_TRUE(stage->desk().key_of(ids[0]).empty());
    stage->close();
    open();
    EXPECT_EQ(stage->restored(), 2U) << "and it is gone from the store";
    EXPECT_TRUE(stage->release(ids[2]));
    EXPECT_TRUE(stage->reaches(ids[2], JobPhase::kCompleted));
}

TEST_F(JobDeskTest, ThePageOfMetricsCountsJobsByType) {
    open();
    work.open();
    const auto ids = submit(
        "jobs:\n  - {name: a, type: step, resources: {cpu: 2}}\n"
        "  - {name: b, type: step, labels: {fails: y}}\n");
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kCompleted));
    ASSERT_TRUE(stage->reaches(ids[1], JobPhase::kFailed));
    test::Inbox<std::string> box;
    stage->core().ask([&](const CoreLoop::View& view) {
        std::string page;
        write_job_metrics(view, page);
        box.put(page);
    });
    const std::string page = box.wait_for(1).at(0);
    EXPECT_THAT(page, HasSubstr("pollux_jobs{type=\"step\",state=\"completed\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pollux_jobs{type=\"step\",state=\"running\"} 0\n"));
    EXPECT_THAT(page, HasSubstr("pollux_job_runs_total{type=\"step\",result=\"ok\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pollux_job_runs_total{type=\"step\",result=\"failed\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pollux_job_start_seconds_count{type=\"step\"} 2\n"));
    EXPECT_THAT(page, HasSubstr("pollux_start_batch_size_sum 2\n"));
    EXPECT_THAT(page, HasSubstr("pollux_resource_capacity{resource=\"cpu\"} 2\n"));
}

TEST_F(JobDeskTest, TheLastBatchesAreKeptWithWhatWasHeld) {
    open();
    const auto ids = submit("{name: a, type: step, resources: {cpu: 2}}");
    ASSERT_TRUE(stage->reaches(ids[0], JobPhase::kRunning));
    test::Inbox<std::deque<BatchRecord>> box;
    stage->core().ask([&](const CoreLoop::View& view) { box.put(view.batches.batches()); });
    const auto batches = box.wait_for(1).at(0);
    ASSERT_EQ(batches.size(), 1U);
    EXPECT_EQ(batches[0].starts, 1U);
    EXPECT_EQ(batches[0].ready, 1U);
    EXPECT_THAT(batches[0].resources, ElementsAre(BatchRecord::Resource{"cpu", 2, 2}));
    work.open();
}

}  // namespace
}  // namespace pollux::runtime
