// State from the store: what was learned and what went wrong is still known, overdue work is
// spread, and a clock that was changed puts nobody to sleep.
#include <gtest/gtest.h>

#include <set>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using base::BootTime;
using base::Duration;
using model::BreakerState;
using model::DeadLetterReason;
using model::JobState;
using model::Outcome;
using model::Tier;
using namespace std::chrono_literals;

TEST(CoreRestore, ARecordComesBackAsItWas) {
    CoreHarness h;
    const auto spec = poll("c::a", 60s);
    h.add({spec});
    h.finish("c::a", {.digest = 77});
    h.pass(20s);
    h.step();
    const model::TaskRecord before = h.core().record(h.handle("c::a"));
    EXPECT_EQ(before.key, "c::a");
    EXPECT_TRUE(before.has_digest);
    EXPECT_EQ(before.digest, 77u);
    EXPECT_EQ(before.attempt, 1u);
    EXPECT_EQ(before.interval_ms, 60'000u);
    h.restart(5s, {spec});
    EXPECT_EQ(h.core().record(h.handle("c::a")), before) << "not a field is lost";
    EXPECT_NEAR(h.wait_s("c::a"), 35, 1e-5) << "its slot is where it was";
    EXPECT_TRUE(h.changes.empty()) << "a restart is no news about the device";
    h.run_for(36s);
    ASSERT_TRUE(h.runs("c::a"));
    h.finish("c::a", {.digest = 77});
    EXPECT_EQ(h.core().record(h.handle("c::a")).last_mutation, before.last_mutation)
        << "the same digest is no change";
}

TEST(CoreRestore, AFailingTaskComesBackWithAllOfIt) {
    CoreHarness h;
    const auto spec = poll("c::a", 60s);
    h.add({spec});
    h.finish("c::a");
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(h.run_to_start("c::a"));
        h.finish("c::a", Outcome::kTransient);
    }
    const FailureStory before = h.failure("c::a");
    const double wait = h.wait_s("c::a");
    ASSERT_EQ(before.dead_letter, DeadLetterReason::kMaxRetryAttempts);
    h.restart(2s, {spec});
    const FailureStory after = h.failure("c::a");
    EXPECT_EQ(after.consecutive, 6u);
    EXPECT_EQ(after.breaker, BreakerState::kOpen);
    EXPECT_EQ(after.dead_letter, DeadLetterReason::kMaxRetryAttempts);
    EXPECT_EQ(after.dead_letter_entries, before.dead_letter_entries);
    EXPECT_NEAR(h.seconds(after.dead_letter_since), h.seconds(before.dead_letter_since), 1e-5);
    EXPECT_NEAR(h.seconds(after.first_failure), h.seconds(before.first_failure), 1e-5);
    EXPECT_NEAR(h.wait_s("c::a"), wait - 2, 1e-5) << "the same next probe";
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_EQ(h.starts.back().command.trigger, model::Trigger::kProbe);
    h.finish("c::a");
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kNone);
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kHealth).size(), 1u) << "and now it is up again";
}

TEST(CoreRestore, AProbeThatWasInFlightIsMadeAgain) {
    CoreHarness h;
    const auto spec = poll("c::a", 60s);
    h.add({spec});
    for (int i = 0; i < 3; ++i) {
        if (!h.runs("c::a")) {
            ASSERT_TRUE(h.run_to_start("c::a"));
        }
        h.finish("c::a", Outcome::kTransient);
    }
    ASSERT_TRUE(h.run_to_start("c::a"));
    ASSERT_EQ(h.failure("c::a").breaker, BreakerState::kHalfOpen);
    h.restart(1s, {spec});
    EXPECT_EQ(h.failure("c::a").consecutive, 3u) << "the lost run does not count";
    ASSERT_TRUE(h.runs("c::a")) << "it was due, and is due again";
    EXPECT_EQ(h.running.at("c::a").trigger, model::Trigger::kProbe);
    EXPECT_EQ(h.running.at("c::a").run.epoch, 2u) << "no id ever returns";
}

TEST(CoreRestore, TheGrownDelayOfTheProfilePulseIsKept) {
    CoreHarness h;
    auto spec = poll("c::a", 60s);
    spec.failure_profile = model::FailureProfile::kPulse;
    h.add({spec});
    for (int i = 0; i < 3; ++i) {
        if (!h.runs("c::a")) {
            ASSERT_TRUE(h.run_to_start("c::a"));
        }
        h.finish("c::a", Outcome::kTransient);
    }
    EXPECT_EQ(h.core().record(h.handle("c::a")).failure.breaker_delay, 40s);
    h.restart(1s, {spec});
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a", Outcome::kTransient);
    EXPECT_NEAR(h.wait_s("c::a"), 300, 1e-5) << "the shift rule goes on from 40 s";
}

TEST(CoreRestore, WhatWasLearnedIsKept) {
    auto settings = wide_settings();
    settings.mode = model::AdaptiveMode::kOn;
    CoreHarness h(settings);
    const auto spec = adaptive("c::a", 1s, 10s, 60s);
    h.add({spec});
    for (std::uint64_t i = 0; i < 30; ++i) {
        if (!h.runs("c::a")) {
            ASSERT_TRUE(h.run_to_start("c::a"));
        }
        h.finish("c::a", {.digest = i});
    }
    const auto before = h.core().record(h.handle("c::a")).learned;
    const double rate = h.explain("c::a").interval.believed_rate;
    EXPECT_GT(rate, 1e-2) << "a change at every answer";
    h.restart(1s, {spec});
    EXPECT_EQ(h.core().record(h.handle("c::a")).learned, before);
    EXPECT_NEAR(h.explain("c::a").interval.believed_rate, rate, rate * 0.02);
}

TEST(CoreRestore, DisabledStaysDisabled) {
    CoreHarness h;
    const auto spec = poll("c::a");
    h.add({spec});
    h.finish("c::a");
    h.operate(OperatorVerb::kDisable, "c::a");
    h.restart(1h, {spec});
    EXPECT_EQ(h.place("c::a"), Place::kDisabled);
    h.run_for(1h);
    EXPECT_TRUE(h.starts.empty());
    h.operate(OperatorVerb::kEnable, "c::a");
    EXPECT_TRUE(h.runs("c::a"));
}

TEST(CoreRestore, AnEditCountsMoreThanWhatWasSwitchedBefore) {
    CoreHarness h;
    auto spec = poll("c::a");
    h.add({spec});
    h.finish("c::a");
    h.operate(OperatorVerb::kDisable, "c::a");
    ++spec.version;
    h.restart(1h, {spec});
    EXPECT_NE(h.place("c::a"), Place::kDisabled);
    spec.enabled = false;
    ++spec.version;
    h.restart(1h, {spec});
    EXPECT_EQ(h.place("c::a"), Place::kDisabled);
}

TEST(CoreRestore, JobsGoOnWhereTheyWere) {
    CoreHarness h;
    auto retried = job("c::retried");
    retried.max_attempts = 5;
    const std::vector<model::TaskSpec> specs = {job("c::done"),
                                                job("c::failed"),
                                                job("c::running"),
                                                job("c::waiting", {"c::running"}),
                                                job("c::next", {"c::done"}),
                                                retried,
                                                job("c::lost", {"c::failed"})};
    h.add({specs[0], specs[1], specs[2], specs[3], specs[5]});
    h.finish("c::done");
    h.finish("c::failed", Outcome::kPermanent);
    h.finish("c::retried", Outcome::kTransient);
    h.add({specs[4]});
    auto rows = std::make_shared<std::vector<RestoredTask>>();
    for (const auto& spec : specs) {
        const auto handle = h.core().find(spec.key);
        rows->push_back(
            {spec, h.core().is_live(handle) ? h.core().record(handle) : model::TaskRecord{}});
    }
    h.restart_with(1s, rows);
    EXPECT_EQ(h.slot("c::done").job, JobState::kCompleted);
    EXPECT_EQ(h.place("c::done"), Place::kEnded);
    EXPECT_EQ(h.slot("c::failed").job, JobState::kFailed);
    EXPECT_TRUE(h.runs("c::running")) << "its run was lost with the process: again";
    EXPECT_TRUE(h.runs("c::next")) << "so was this one, and its need is still met";
    EXPECT_EQ(h.place("c::waiting"), Place::kWaitsForNeeds);
    EXPECT_EQ(h.place("c::retried"), Place::kScheduled) << "its delay is not over";
    EXPECT_EQ(h.slot("c::lost").job, JobState::kFailed) << "its parent failed";
    h.finish("c::running");
    EXPECT_TRUE(h.runs("c::waiting"));
    h.run_for(6s);
    EXPECT_TRUE(h.runs("c::retried"));
}

TEST(CoreRestore, OneBadRowDoesNotKeepTheRestOut) {
    CoreHarness h;
    auto rows = std::make_shared<std::vector<RestoredTask>>();
    rows->push_back({poll("nope::a"), {}});
    rows->push_back({poll("c::good"), {}});
    rows->push_back({poll("c::bad", -1s), {}});
    rows->push_back({poll("c::good"), {}});
    auto greedy = job("c::greedy");
    greedy.demand = {{"tape", 1}};
    rows->push_back({greedy, {}});
    auto orphan = job("c::orphan", {"c::nobody"});
    rows->push_back({orphan, {}});
    h.step({TasksRestored{rows, 5}});
    EXPECT_EQ(h.core().size(), 2u);
    EXPECT_EQ(h.out.rejections.size(), 4u) << "each bad row is named";
    for (const auto& one : h.out.rejections) EXPECT_EQ(one.correlation, 5u);
    EXPECT_TRUE(h.core().is_live(h.core().find("c::good")));
    h.step({TasksRestored{rows, 6}});
    EXPECT_EQ(h.core().size(), 2u) << "restored twice is refused";
    h.run_for(61s);
    EXPECT_TRUE(h.runs("c::good"));
}

// The rows that form the cycle are bad; the others must be watched.
TEST(CoreRestore, ACycleInTheStoreDoesNotKeepTheRestOut) {
    CoreHarness h;
    auto rows = std::make_shared<std::vector<RestoredTask>>();
    rows->push_back({job("c::x", {"c::y"}), {}});
    rows->push_back({job("c::y", {"c::x"}), {}});
    rows->push_back({poll("c::good"), {}});
    h.step({TasksRestored{rows, 5}});
    EXPECT_FALSE(h.out.rejections.empty());
    EXPECT_TRUE(h.core().is_live(h.core().find("c::good")));
}

TEST(CoreRestore, AClockSetBackPostponesNobodyBeyondItsLongestInterval) {
    CoreHarness h;
    const std::vector<model::TaskSpec> specs = {poll("c::fixed", 60s),
                                                adaptive("c::wide", 5s, 10s, 300s)};
    h.add(specs);
    h.finish("c::fixed");
    h.finish("c::wide");
    h.restart(1s, specs, -24h * 365);
    EXPECT_LE(h.wait_s("c::fixed"), 60);
    EXPECT_LE(h.wait_s("c::wide"), 300);
    EXPECT_LE(h.slot("c::fixed").last_success, h.now()) << "nothing happened in the future";
    EXPECT_GE(h.core().freshness(h.handle("c::fixed"), h.now()).age, 0s);
}

TEST(CoreRestore, AClockSetAheadMakesThemOverdueAndSpreadsThem) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 100; ++i) specs.push_back(poll("c::" + std::to_string(i), 60s));
    h.add(specs);
    h.worker = [](const std::string&) { return WorkerReply{}; };
    h.run_for(60s);
    h.restart(1s, specs, 24h * 365);
    EXPECT_LE(h.starts.size(), 2u);
    h.run_for(60s);
    std::set<std::string> seen;
    for (const auto& one : h.starts) seen.insert(one.key);
    EXPECT_EQ(seen.size(), 100u);
}

TEST(CoreRestore, ANeverPlannedRowIsDueNow) {
    CoreHarness h;
    auto rows = std::make_shared<std::vector<RestoredTask>>();
    rows->push_back({poll("c::a"), {}});
    h.restart_with(1s, rows);
    h.step();
    EXPECT_TRUE(h.runs("c::a"));
}

TEST(CoreRestore, ParentsOfTheFleetAreKnownAgain) {
    CoreHarness h;
    auto child = poll("c::child", 60s);
    child.needs = {any_of({"c::link"})};
    const std::vector<model::TaskSpec> specs = {child, poll("c::link", 60s)};
    h.add(specs);
    h.finish("c::link");
    h.run_for(60s);
    if (h.runs("c::child")) h.finish("c::child");
    h.restart(10s, specs);
    EXPECT_NE(h.place("c::child"), Place::kWaitsForNeeds) << "the link was up";
}

// --- the promises about recovery, with figures

struct Fleet {
    std::vector<Duration> intervals;
    Duration downtime;
};

class CoreRecovery : public testing::TestWithParam<Fleet> {
  protected:
    static constexpr int kTasks = 3000;
    // A fleet in its steady state, then the pause.
    void prepare() {
        std::vector<RestoredTask> rows;
        for (int i = 0; i < kTasks; ++i) {
            const Duration interval =
                GetParam().intervals[static_cast<std::size_t>(i) % GetParam().intervals.size()];
            RestoredTask row{poll("c::" + std::to_string(i), interval), {}};
            row.spec.tier = i % 50 == 0 ? Tier::kCritical : Tier::kNormal;
            row.record.key = row.spec.key;
            row.record.interval_ms = static_cast<std::uint32_t>(interval.count() / 1'000'000);
            const Duration phase = interval / kTasks * i;
            row.record.next_due = h_.instant().wall + phase;
            row.record.last_success = row.record.next_due - interval;
            rows.push_back(row);
            intervals_[row.spec.key] = interval;
            steady_ += 10 / base::to_seconds(interval);  // in a window of 10 s
        }
        h_.worker = [](const std::string&) { return WorkerReply{.after = 20ms}; };
        h_.restart_with(GetParam().downtime,
                        std::make_shared<std::vector<RestoredTask>>(std::move(rows)));
        begin_ = h_.now();
    }
    CoreHarness h_;
    BootTime begin_;
    double steady_ = 0;
    std::map<std::string, Duration> intervals_;
};

TEST_P(CoreRecovery, NoBurstNoGapNoRepair) {
    prepare();
    const Duration longest = *std::ranges::max_element(GetParam().intervals);
    h_.run_for(longest + 10s);
    std::size_t most = 0;
    for (std::size_t first = 0, last = 0; last < h_.starts.size(); ++last) {
        while (h_.starts[last].at - h_.starts[first].at >= 10s) ++first;
        most = std::max(most, last - first + 1);
    }
    const double allowed = static_cast<double>(GetParam().intervals.size()) + 1;
    EXPECT_LE(static_cast<double>(most), 1.2 * steady_ + allowed + 1e-6) << "steady: " << steady_;

    std::map<std::string, BootTime> first_start;
    for (const auto& one : h_.starts) first_start.emplace(one.key, one.at);
    ASSERT_EQ(first_start.size(), static_cast<std::size_t>(kTasks));
    for (const auto& [key, at] : first_start) {
        ASSERT_LE(at - begin_, intervals_.at(key) + 2ms) << key << ": later than one interval";
    }
    EXPECT_EQ(h_.core().stats().sweep_repairs, 0u);
    EXPECT_EQ(h_.spins, 0u);
}

INSTANTIATE_TEST_SUITE_P(Fleets, CoreRecovery,
                         testing::Values(Fleet{{10s}, 1s}, Fleet{{10s}, 30s}, Fleet{{10s}, 2h},
                                         Fleet{{60s}, 1s}, Fleet{{60s}, 30s}, Fleet{{60s}, 2h},
                                         Fleet{{300s}, 1s}, Fleet{{300s}, 30s}, Fleet{{300s}, 2h},
                                         Fleet{{10s, 60s, 300s}, 1s}, Fleet{{10s, 60s, 300s}, 30s},
                                         Fleet{{10s, 60s, 300s}, 2h}));

TEST(CoreRestore, CriticalAndLongestOverdueFirst) {
    CoreHarness h;
    auto rows = std::make_shared<std::vector<RestoredTask>>();
    for (int i = 0; i < 200; ++i) {
        RestoredTask row{poll("c::" + std::to_string(i), 60s), {}};
        row.spec.tier = i % 10 == 0 ? Tier::kCritical : Tier::kNormal;
        row.record.interval_ms = 60'000;
        row.record.next_due = h.instant().wall - std::chrono::seconds((i * 37) % 200 + 1);
        rows->push_back(row);
    }
    h.worker = [](const std::string&) { return WorkerReply{}; };
    h.restart_with(10min, rows);
    h.run_for(59s);
    ASSERT_GE(h.starts.size(), 200u);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(h.slot(h.starts[i].key).tier, Tier::kCritical) << "start " << i;
    }
    int last = 1000;
    for (std::size_t i = 20; i < 200; ++i) {
        const int overdue = (std::stoi(h.starts[i].key.substr(3)) * 37) % 200 + 1;
        EXPECT_LE(overdue, last) << "start " << i;
        last = overdue;
    }
}

TEST(CoreRestore, DeadLettersAndBreakersKeepThroughADowntime) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 40; ++i) specs.push_back(poll("c::" + std::to_string(i), 60s));
    h.worker = [](const std::string& key) {
        return WorkerReply{.outcome =
                               std::stoi(key.substr(3)) < 8 ? Outcome::kPermanent : Outcome::kOk};
    };
    h.add(specs);
    h.run_for(30min);
    std::vector<FailureStory> before;
    for (int i = 0; i < 8; ++i) before.push_back(h.failure("c::" + std::to_string(i)));
    h.restart(2h, specs);
    for (std::size_t i = 0; i < 8; ++i) {
        const FailureStory after = h.failure("c::" + std::to_string(i));
        EXPECT_EQ(after.dead_letter, DeadLetterReason::kPermanentFailure) << i;
        EXPECT_EQ(after.consecutive, before[i].consecutive) << i;
        const bool probing = h.runs("c::" + std::to_string(i));
        EXPECT_EQ(after.breaker, probing ? BreakerState::kHalfOpen : before[i].breaker) << i;
    }
    EXPECT_EQ(h.failure("c::20").consecutive, 0u);
}

}  // namespace
}  // namespace pollux::schedule
