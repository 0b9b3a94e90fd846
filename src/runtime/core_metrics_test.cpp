#include "runtime/core_metrics.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runtime/insight_books.hpp"
#include "schedule/core_test_support.hpp"

namespace pollux::runtime {
namespace {

using model::FailureKind;
using model::Outcome;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr base::Instant kStart{base::BootTime{7'000'000'000'000},
                               base::WallTime{1'700'000'000'000'000}};

// A scheduler on a clock of its own, and the page of one moment.
class CoreMetrics : public testing::Test {
  protected:
    void step(const std::vector<schedule::Event>& events = {}) {
        engine_.step(now_, events, {}, out_);
        for (const auto& start : out_.commands.starts) {
            running_[engine_.core().key(start.task)] = start;
        }
    }
    void pass(base::Duration span) { now_ = {now_.boot + span, now_.wall + span}; }
    void add(std::vector<model::TaskSpec> specs) {
        step({schedule::CoreHarness::upsert(std::move(specs))});
    }
    void end(const std::string& key, Outcome outcome, FailureKind kind, double seconds) {
        const schedule::StartRun run = running_.at(key);
        running_.erase(key);
        const auto& slot = engine_.core().slot(run.task);
        stats_.ended(run.task.index, slot.class_index, model::is_success(outcome), kind, seconds);
        step({schedule::RunFinished{.task = run.task, .run = run.run, .outcome = outcome}});
    }
    std::string page() const {
        const std::map<std::uint32_t, CoreLoop::LastFailure> failures;
        const CoreLoop::View view{engine_, stats_,   failures, {},       now_,    {},
                                  jobs_,   batches_, queues_,  regions_, insight_};
        std::string text;
        write_core_metrics(view, text);
        return text;
    }
    // The samples of one family, without HELP and TYPE.
    std::string samples(const std::string& family) const {
        const std::string text = page();
        const std::string type = "# TYPE " + family + " ";
        const std::size_t at = text.find(type);
        if (at == std::string::npos) return "no such family";
        const std::size_t begin = text.find('\n', at) + 1;
        return text.substr(begin, std::min(text.find("# HELP", begin), text.size()) - begin);
    }

    base::Instant now_ = kStart;
    engine::Engine engine_{kStart, 1, 1, schedule::wide_settings({"lamp", "door"})};
    engine::Output out_;
    JobStats jobs_;
    BatchRing batches_;
    QueueHistory queues_{QueueHistory::kClasses};
    QueueHistory regions_{QueueHistory::kRegions};
    InsightBooks insight_{base::WallTime{}};
    PollStats stats_{100};
    std::map<std::string, schedule::StartRun> running_;
};

TEST_F(CoreMetrics, NamesLabelsAndBucketsOfASmallFleet) {
    add({schedule::poll("lamp::hall"), schedule::poll("lamp::cellar")});
    pass(2s);
    end("lamp::hall", Outcome::kOk, FailureKind::kNone, 0.3);
    end("lamp::cellar", Outcome::kTransient, FailureKind::kTimeout, 5.5);
    pass(4s);
    const std::string hall = "instance_type=\"lamp\",instance=\"hall\"";
    const std::string cellar = "instance_type=\"lamp\",instance=\"cellar\"";
    EXPECT_EQ(samples("pulse_monitor_poll_total"),
              fmt::format("pulse_monitor_poll_total{{{0},result=\"success\"}} 1\n"
                          "pulse_monitor_poll_total{{{0},result=\"error\"}} 0\n"
                          "pulse_monitor_poll_total{{{1},result=\"success\"}} 0\n"
                          "pulse_monitor_poll_total{{{1},result=\"error\"}} 1\n",
                          hall, cellar));
    EXPECT_EQ(
        samples("pulse_monitor_poll_errors_total"),
        fmt::format("pulse_monitor_poll_errors_total{{{},error_type=\"timeout\"}} 1\n", cellar));
    std::string buckets;
    for (const auto& [label, counts] :
         {std::pair{hall, std::pair{0.5, 0.3}}, std::pair{cellar, std::pair{10.0, 5.5}}}) {
        const std::string name = "pulse_monitor_poll_duration_seconds";
        for (const double bound : {0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0}) {
            buckets += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", name, label, bound,
                                   bound >= counts.first ? 1 : 0);
        }
        buckets += fmt::format("{}_bucket{{{},le=\"+Inf\"}} 1\n", name, label);
        buckets += fmt::format("{}_sum{{{}}} {}\n{}_count{{{}}} 1\n", name, label, counts.second,
                               name, label);
    }
    EXPECT_EQ(samples("pulse_monitor_poll_duration_seconds"), buckets);
    EXPECT_EQ(samples("pulse_monitor_poll_last_success_timestamp"),
              fmt::format("pulse_monitor_poll_last_success_timestamp{{{}}} 1700000002\n", hall));
    EXPECT_EQ(samples("pulse_monitor_poll_staleness_seconds"),
              fmt::format("pulse_monitor_poll_staleness_seconds{{{}}} 4\n"
                          "pulse_monitor_poll_staleness_seconds{{{}}} -1\n",
                          hall, cellar));
    EXPECT_EQ(samples("pollux_staleness_bound_seconds"),
              fmt::format("pollux_staleness_bound_seconds{{{}}} 120\n"
                          "pollux_staleness_bound_seconds{{{}}} 120\n",
                          hall, cellar));
    EXPECT_EQ(samples("pollux_targets"),
              "pollux_targets{class=\"lamp\",enabled=\"true\"} 2\n"
              "pollux_targets{class=\"lamp\",enabled=\"false\"} 0\n"
              "pollux_targets{class=\"door\",enabled=\"true\"} 0\n"
              "pollux_targets{class=\"door\",enabled=\"false\"} 0\n");
    EXPECT_EQ(samples("pollux_targets_never_seen"),
              "pollux_targets_never_seen{class=\"lamp\"} 1\n"
              "pollux_targets_never_seen{class=\"door\"} 0\n");
    EXPECT_EQ(samples("pulse_scheduler_breaker_failure_count"),
              fmt::format("pulse_scheduler_breaker_failure_count{{{}}} 1\n", cellar));
    EXPECT_EQ(samples("pulse_scheduler_breaker_state"),
              fmt::format("pulse_scheduler_breaker_state{{{}}} 0\n", cellar));
    EXPECT_EQ(samples("pulse_scheduler_dead_letter_depth"), "");
    EXPECT_EQ(samples("pollux_runs_started_total"), "pollux_runs_started_total 2\n");
    EXPECT_EQ(samples("pollux_runs_ended_total"),
              "pollux_runs_ended_total{how=\"finished\"} 2\n"
              "pollux_runs_ended_total{how=\"expired\"} 0\n"
              "pollux_runs_ended_total{how=\"cancelled\"} 0\n");
}

TEST_F(CoreMetrics, EveryFamilyStandsOnceWithHelpAndType) {
    add({schedule::poll("lamp::hall")});
    const std::string text = page();
    std::set<std::string> names;
    for (std::size_t at = 0; (at = text.find("# TYPE ", at)) != std::string::npos; ++at) {
        const std::string name = text.substr(at + 7, text.find(' ', at + 7) - at - 7);
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_THAT(text, HasSubstr("# HELP " + name + " "));
    }
    EXPECT_GT(names.size(), 25U);
    EXPECT_TRUE(text.ends_with('\n'));
}

TEST_F(CoreMetrics, TargetsUnderWayAndOverTheirBoundAreCounted) {
    add({schedule::poll("lamp::hall"), schedule::poll("lamp::cellar")});
    end("lamp::hall", Outcome::kOk, FailureKind::kNone, 0.1);
    EXPECT_THAT(samples("pulse_monitor_poll_inflight"),
                HasSubstr("pulse_monitor_poll_inflight{instance_type=\"lamp\"} 1\n"));
    EXPECT_THAT(samples("pollux_targets_over_bound"), HasSubstr("{class=\"lamp\"} 0\n"));
    pass(121s);
    EXPECT_THAT(samples("pollux_targets_over_bound"), HasSubstr("{class=\"lamp\"} 1\n"))
        << "the one that never answered is counted by itself";
}

TEST_F(CoreMetrics, ARemovedTargetDisappears) {
    add({schedule::poll("lamp::hall"), schedule::poll("lamp::cellar")});
    end("lamp::cellar", Outcome::kTransient, FailureKind::kDns, 0.1);
    end("lamp::hall", Outcome::kOk, FailureKind::kNone, 0.1);
    EXPECT_THAT(page(), HasSubstr("cellar"));
    const std::uint32_t index = engine_.core().find("lamp::cellar").index;
    step({schedule::TaskRemoved{"lamp::cellar", 0}});
    stats_.forget(index);
    EXPECT_THAT(page(), Not(HasSubstr("cellar")));
    EXPECT_THAT(page(), HasSubstr("hall"));
}

TEST_F(CoreMetrics, DisabledTargetsAreNotLate) {
    add({schedule::poll("lamp::hall")});
    end("lamp::hall", Outcome::kOk, FailureKind::kNone, 0.1);
    step({schedule::OperatorAction{schedule::OperatorVerb::kDisable, "lamp::hall", 0}});
    pass(1h);
    EXPECT_THAT(samples("pollux_targets_over_bound"), HasSubstr("{class=\"lamp\"} 0\n"));
    EXPECT_THAT(samples("pollux_targets"), HasSubstr("{class=\"lamp\",enabled=\"false\"} 1\n"));
    EXPECT_THAT(samples("pollux_planned_polls_per_second"), HasSubstr("{class=\"lamp\"} 0\n"));
}

TEST_F(CoreMetrics, AboveTheLimitClassesAreSummedAndTheWorstAreNamed) {
    stats_.set_target_limit(10);
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 80; ++i) specs.push_back(schedule::poll(fmt::format("lamp::n{:02}", i)));
    specs.push_back(schedule::poll("door::front"));
    add(std::move(specs));
    // n00 answered first and is the stalest, n79 is fresh.
    for (int i = 0; i < 80; ++i) {
        const model::TaskHandle task = engine_.core().find(fmt::format("lamp::n{:02}", i));
        stats_.ended(task.index, 0, true, FailureKind::kNone, 0.2);
        step({schedule::Observed{task, now_.boot, false}});
        pass(500ms);
    }
    EXPECT_EQ(samples("pulse_monitor_poll_total"),
              "pulse_monitor_poll_total{instance_type=\"lamp\",instance=\"*\",result=\"success\"} "
              "80\n"
              "pulse_monitor_poll_total{instance_type=\"lamp\",instance=\"*\",result=\"error\"} 0\n"
              "pulse_monitor_poll_total{instance_type=\"door\",instance=\"*\",result=\"success\"} "
              "0\n"
              "pulse_monitor_poll_total{instance_type=\"door\",instance=\"*\",result=\"error\"} "
              "0\n");
    EXPECT_THAT(samples("pulse_monitor_poll_duration_seconds"),
                HasSubstr("_count{instance_type=\"lamp\",instance=\"*\"} 80\n"));
    pass(80s);
    const std::string stale = samples("pulse_monitor_poll_staleness_seconds");
    EXPECT_EQ(std::ranges::count(stale, '\n'), static_cast<std::ptrdiff_t>(kWorstTargets));
    EXPECT_THAT(stale, HasSubstr("instance=\"n00\""));
    EXPECT_THAT(stale, HasSubstr("instance=\"front\"")) << "never answered since it was added";
    EXPECT_THAT(stale, Not(HasSubstr("instance=\"n60\"")));
    EXPECT_LT(stale.find("instance=\"n00\""), stale.find("instance=\"n10\"")) << "worst first";
}

TEST_F(CoreMetrics, AboveTheLimitFailingTargetsAreBounded) {
    stats_.set_target_limit(3);
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 8; ++i) specs.push_back(schedule::poll(fmt::format("lamp::n{}", i)));
    add(std::move(specs));
    for (int i = 0; i < 8; ++i) {
        end(fmt::format("lamp::n{}", i), Outcome::kTransient, FailureKind::kTimeout, 1);
    }
    const std::string counts = samples("pulse_scheduler_breaker_failure_count");
    EXPECT_EQ(std::ranges::count(counts, '\n'), 3);
    EXPECT_THAT(samples("pulse_monitor_poll_errors_total"),
                HasSubstr("instance=\"*\",error_type=\"timeout\"} 8\n"));
}

TEST_F(CoreMetrics, OpenBreakersTellWhenTheyTryAgain) {
    add({schedule::poll("lamp::hall")});
    for (int i = 0; i < 12; ++i) {
        if (!running_.contains("lamp::hall")) {
            now_ = {out_.wake_at, now_.wall + (out_.wake_at - now_.boot)};
            step();
            --i;
            continue;
        }
        end("lamp::hall", Outcome::kTransient, FailureKind::kTimeout, 1);
        const auto failure = engine_.core().failure(engine_.core().find("lamp::hall"));
        if (failure.breaker == model::BreakerState::kOpen) break;
    }
    pass(1s);
    EXPECT_EQ(samples("pulse_scheduler_breaker_state"),
              "pulse_scheduler_breaker_state{instance_type=\"lamp\",instance=\"hall\"} 2\n");
    // Since the first failure: three of them, 5 and 10 s apart, a fifth more or less.
    const std::string open = samples("pollux_breaker_open_seconds");
    EXPECT_THAT(open, HasSubstr("{instance_type=\"lamp\",instance=\"hall\"} 1"));
    EXPECT_GT(std::stod(open.substr(open.find("} ") + 2)), 12.0);
    EXPECT_LT(std::stod(open.substr(open.find("} ") + 2)), 20.0);
    EXPECT_THAT(samples("pulse_scheduler_breaker_retry_seconds"),
                HasSubstr("{instance_type=\"lamp\",instance=\"hall\"} "));
}

}  // namespace
}  // namespace pollux::runtime
