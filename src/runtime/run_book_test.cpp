#include "runtime/run_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/core_loop_test_support.hpp"
#include "runtime/insight_books.hpp"

namespace pollux::runtime {
namespace {

using model::Outcome;
using test::CoreStage;

constexpr base::WallTime kStart{1'000'000'000};

std::shared_ptr<const PollPlan> plan_for(const std::string& key) {
    auto plan = std::make_shared<PollPlan>();
    plan->key = key;
    plan->class_name = "lamp";
    plan->device = "hall";
    return plan;
}

base::WallTime at(int seconds) { return kStart + std::chrono::seconds(seconds); }

RunReport report_of(std::uint32_t task, std::uint64_t run, Outcome outcome = Outcome::kOk) {
    RunReport report;
    report.task = {task, 1};
    report.run = {1, run};
    report.outcome = outcome;
    report.duration = std::chrono::milliseconds(20);
    if (!model::is_success(outcome)) {
        report.code = "http.timeout";
        report.message = "no answer";
    }
    return report;
}

// One whole run of a task, a second long.
void run(RunBook& book, std::uint32_t task, int number, Outcome outcome = Outcome::kOk,
         RunBook::Before before = {.known = true}) {
    const auto id = static_cast<std::uint64_t>(number);
    book.began(task, {1, id}, at(number), std::chrono::milliseconds(number));
    book.ended(report_of(task, id, outcome), before, at(number + 1));
}

std::vector<std::uint32_t> lags(const RunBook::Page& page, std::size_t limit = 100) {
    std::vector<std::uint32_t> out;
    for (const RunRecord& record : page.newest(limit)) out.push_back(record.lag_ms);
    return out;
}

TEST(RunBook, KeepsTheLastFiftyInOrder) {
    RunBook book(kStart);
    EXPECT_EQ(book.of(3), nullptr);
    for (int i = 1; i <= 49; ++i) run(book, 3, i);
    EXPECT_FALSE(book.of(3)->dropped());
    for (int i = 50; i <= 123; ++i) run(book, 3, i);
    const RunBook::Page& page = *book.of(3);
    EXPECT_EQ(page.size(), RunBook::kMostRuns);
    EXPECT_TRUE(page.dropped());
    EXPECT_THAT(lags(page, 3), testing::ElementsAre(123, 122, 121));
    const auto all = lags(page);
    ASSERT_EQ(all.size(), 50U);
    EXPECT_EQ(all.back(), 74U);
    EXPECT_TRUE(std::ranges::is_sorted(all, std::greater()));
    EXPECT_EQ(page.last()->started, at(123));
    EXPECT_EQ(page.last()->duration_us, 20'000U);
}

TEST(RunBook, ALargeFleetKeepsFewerOfEachAndMoreAgainWhenItShrinks) {
    RunBook book(kStart, 100);
    for (int i = 1; i <= 50; ++i) run(book, 0, i);
    EXPECT_EQ(book.of(0)->size(), 50U);
    for (std::uint32_t task = 1; task < 10; ++task) run(book, task, 1);
    EXPECT_EQ(book.room(), 10U);
    run(book, 0, 51);
    EXPECT_THAT(lags(*book.of(0)), testing::ElementsAre(51, 50, 49, 48, 47, 46, 45, 44, 43, 42));
    run(book, 0, 52);
    for (std::uint32_t task = 1; task < 10; ++task) book.forget(task);
    EXPECT_EQ(book.tasks(), 1U);
    run(book, 0, 53);
    run(book, 0, 54);
    EXPECT_THAT(lags(*book.of(0)),
                testing::ElementsAre(54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43));
    for (std::uint32_t task = 1; task < 100; ++task) run(book, task, 1);
    EXPECT_EQ(book.room(), RunBook::kLeastRuns);
}

TEST(RunBook, OnlyTheRunUnderWayCounts) {
    RunBook book(kStart);
    book.began(1, {1, 7}, at(0), {});
    book.ended(report_of(1, 6), {}, at(1));
    EXPECT_EQ(book.of(1)->size(), 0U);
    EXPECT_EQ(book.of(1)->last(), nullptr);
    book.ended(report_of(1, 7), {}, at(1));
    book.ended(report_of(1, 7), {}, at(2));
    EXPECT_EQ(book.of(1)->size(), 1U);
    book.ended(report_of(9, 7), {}, at(2));
    EXPECT_EQ(book.of(9), nullptr);
}

TEST(RunBook, SaysSinceWhenATargetIsAsItIs) {
    RunBook book(kStart);
    run(book, 0, 10, Outcome::kOk, {.known = true, .up = true});
    EXPECT_EQ(book.of(0)->since(), base::WallTime{}) << "it was up before, who knows since when";
    run(book, 0, 20, Outcome::kDegraded);
    EXPECT_EQ(book.of(0)->since(), at(21));
    run(book, 0, 30, Outcome::kInterrupted);
    run(book, 0, 35, Outcome::kDegraded, {.known = true, .up = true});
    EXPECT_EQ(book.of(0)->since(), at(21)) << "our own doing says nothing about the device";
    run(book, 0, 40, Outcome::kTransient);
    run(book, 0, 50, Outcome::kPermanent);
    EXPECT_EQ(book.of(0)->since(), at(41));
    run(book, 1, 10, Outcome::kOk, {.known = true, .up = false});
    EXPECT_EQ(book.of(1)->since(), at(11)) << "an earlier life left it down";
    run(book, 2, 10, Outcome::kOk, {.known = false});
    EXPECT_EQ(book.of(2)->since(), at(11)) << "its first answer";
}

TEST(RunBook, ARunThatWasCutOffChangesNothingOfHowATargetIs) {
    RunBook book(kStart);
    run(book, 0, 10, Outcome::kInterrupted);
    EXPECT_EQ(book.of(0)->last_counted(), std::nullopt);
    run(book, 0, 20, Outcome::kDegraded);
    run(book, 0, 30, Outcome::kInterrupted);
    EXPECT_EQ(book.of(0)->last()->outcome, Outcome::kInterrupted);
    EXPECT_EQ(book.of(0)->last_counted(), Outcome::kDegraded);
    run(book, 0, 40, Outcome::kOk, {.known = true, .up = true});
    EXPECT_EQ(book.of(0)->last_counted(), Outcome::kOk);
    EXPECT_EQ(book.of(0)->since(), at(41)) << "it was degraded before";
}

TEST(RunBook, RunsAreLookedAtFromTheNewestOnWhereTheyAre) {
    RunBook book(kStart);
    for (int i = 1; i <= 70; ++i) run(book, 0, i);
    const RunBook::Page& page = *book.of(0);
    EXPECT_EQ(&page.recent(0), page.last());
    const auto copies = page.newest(page.size());
    for (std::size_t back = 0; back < page.size(); ++back) {
        ASSERT_EQ(page.recent(back).lag_ms, copies[back].lag_ms);
    }
}

TEST(RunBook, WordsOfAFailureAreSharedWhileTheyAreTheSame) {
    RunBook book(kStart);
    run(book, 0, 1, Outcome::kTransient);
    run(book, 0, 2, Outcome::kTransient);
    const auto both = book.of(0)->newest(2);
    EXPECT_EQ(both[0].words, both[1].words);
    EXPECT_EQ(both[0].words->code, "http.timeout");
    run(book, 0, 3);
    EXPECT_EQ(book.of(0)->last()->words, nullptr);
    RunReport long_one = report_of(0, 4, Outcome::kTransient);
    long_one.message = std::string(2000, 'x');
    book.began(0, {1, 4}, at(4), {});
    book.ended(long_one, {}, at(5));
    EXPECT_EQ(book.of(0)->last()->words->message.size(), RunBook::kLongestWords);
}

TEST(RunBook, IsWrittenByTheCore) {
    CoreStage stage;
    const RunOrder order = stage.add(plan_for("lamp::hall"));
    RunReport report;
    report.task = order.task;
    report.run = order.run;
    report.trigger = order.trigger;
    report.duration = std::chrono::milliseconds(5);
    report.cost.requests = 2;
    report.cost.bytes = 300;
    report.cost.phases[static_cast<std::size_t>(RunPhase::kWait)] = std::chrono::milliseconds(4);
    stage.core->deliver({report});
    ASSERT_TRUE(stage.holds([](const auto& view) { return view.engine.core().in_flight() == 0; }));
    using Runs = std::vector<RunRecord>;
    const Runs runs = stage.ask<Runs>([&](const auto& view) {
        const auto* page = view.insight.runs.of(order.task.index);
        return page == nullptr ? Runs() : page->newest(10);
    });
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].outcome, Outcome::kOk);
    EXPECT_EQ(runs[0].requests, 2U);
    EXPECT_EQ(runs[0].bytes, 300U);
    EXPECT_EQ(runs[0].phases_us[static_cast<std::size_t>(RunPhase::kWait)], 4000U);
    EXPECT_FALSE(runs[0].changed);
    const auto started = stage.ask<std::uint32_t>([](const auto& view) {
        std::uint32_t sum = 0;
        for (const auto& point : view.insight.history.points(HistorySpan::kDay, view.now.wall)) {
            sum += point.started;
        }
        return sum;
    });
    EXPECT_EQ(started, 1U);
    const auto cost = stage.ask<CostSum>(
        [&](const auto& view) { return view.insight.costs.of(order.task.index, view.now.wall); });
    EXPECT_EQ(cost.runs, 1U);
    EXPECT_EQ(cost.bytes, 300U);
}

}  // namespace
}  // namespace pollux::runtime
