// How well the interval policies spend a poll budget: every promise of docs/adaptive-polling.md,
// measured in one run with the production engine against simulated fleets, beside fixed polling,
// the classic formula and the oracle that knows the true rates.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "sim/world.hpp"

namespace {

using pollux::model::PolicyKind;
using pollux::model::Preset;
using pollux::sim::Scenario;
using pollux::sim::WorldOptions;
using pollux::sim::WorldReport;

struct Options {
    std::vector<std::uint64_t> seeds = {11, 12, 13};
    double hours = 12;
};

struct Case {
    Scenario scenario;
    PolicyKind policy;
    Preset preset;
    std::size_t targets = 2000;
    auto operator<=>(const Case&) const = default;
};

using Results = std::map<std::pair<Case, std::uint64_t>, WorldReport>;

std::string name_of(const Case& one) {
    return fmt::format("{}/{}/{}", to_string(one.scenario), to_string(one.policy),
                       to_string(one.preset));
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    const auto add = [&](PolicyKind policy, Preset preset, std::vector<Scenario> scenarios) {
        for (const Scenario one : scenarios) cases.push_back({one, policy, preset});
    };
    using enum Scenario;
    add(PolicyKind::kFixed, Preset::kBalanced, {kA, kB, kBp, kBw, kC, kD, kE, kIdle});
    add(PolicyKind::kOptimal, Preset::kFresh, {kA, kB, kBp, kBw, kC, kD, kE});
    add(PolicyKind::kKnownRate, Preset::kFresh, {kB, kBp, kBw, kC, kE});
    add(PolicyKind::kOptimal, Preset::kBalanced, {kB, kBw, kC, kD, kIdle});
    add(PolicyKind::kOptimal, Preset::kEconomy, {kB, kBp, kBw, kC, kE, kIdle});
    add(PolicyKind::kClassic, Preset::kBalanced, {kA, kB, kC, kD});
    for (const Preset preset : {Preset::kFresh, Preset::kBalanced, Preset::kEconomy}) {
        cases.push_back({kB, PolicyKind::kOptimal, preset, 4000});
    }
    return cases;
}

Results run_all(const std::vector<Case>& cases, const Options& options) {
    std::vector<std::pair<Case, std::uint64_t>> jobs;
    for (const std::uint64_t seed : options.seeds) {
        for (const Case& one : cases) jobs.emplace_back(one, seed);
    }
    std::vector<WorldReport> reports(jobs.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> done = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < jobs.size(); i = next++) {
            WorldOptions world;
            world.scenario = jobs[i].first.scenario;
            world.policy = jobs[i].first.policy;
            world.preset = jobs[i].first.preset;
            world.targets = jobs[i].first.targets;
            world.hours = options.hours;
            world.seed = jobs[i].second;
            reports[i] = pollux::sim::World(world).run();
            fmt::print(stderr, "\r\x1b[K{} of {} runs done, last: {} seed {}", ++done, jobs.size(),
                       name_of(jobs[i].first), jobs[i].second);
        }
    };
    std::vector<std::thread> threads;
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < cores; ++i) threads.emplace_back(work);
    for (auto& thread : threads) thread.join();
    std::fputs("\r\x1b[K", stderr);
    Results results;
    for (std::size_t i = 0; i < jobs.size(); ++i) results.emplace(jobs[i], reports[i]);
    return results;
}

class Judge {
  public:
    Judge(const Results& results, const Options& options) : results_(results), options_(options) {}

    double mean_of(const Case& one, double pollux::sim::SimMetrics::* field) const {
        double sum = 0;
        for (const std::uint64_t seed : options_.seeds) {
            sum += results_.at({one, seed}).metrics.*field;
        }
        return sum / static_cast<double>(options_.seeds.size());
    }

    // Polls of a target that changes state every few minutes against those of one that stays up for
    // hours, worst seed; 0 if a run had none of either, so that nothing measured is a goal missed.
    double flappers_against_quiet(const Case& one) const {
        double worst = std::numeric_limits<double>::infinity();
        for (const std::uint64_t seed : options_.seeds) {
            const WorldReport& report = results_.at({one, seed});
            const bool both = report.flapper_polls_per_s > 0 && report.quiet_polls_per_s > 0;
            worst =
                std::min(worst, both ? report.flapper_polls_per_s / report.quiet_polls_per_s : 0.0);
        }
        return worst;
    }

    void goal(const std::string& what, double value, bool at_most, double limit,
              const char* unit = "") {
        const bool ok = at_most ? value <= limit : value >= limit;
        fmt::print("  {} {:<58} {:>9.4g}{} (goal {} {:.4g}{})\n", ok ? "ok  " : "MISS", what, value,
                   unit, at_most ? "<=" : ">=", limit, unit);
        (ok ? passed_ : failed_) += 1;
    }

    int passed() const { return passed_; }
    int failed() const { return failed_; }

  private:
    const Results& results_;
    const Options& options_;
    int passed_ = 0;
    int failed_ = 0;
};

constexpr auto kMean = &pollux::sim::SimMetrics::mean_delay_s;
constexpr auto kP99 = &pollux::sim::SimMetrics::p99_delay_s;
constexpr auto kPolls = &pollux::sim::SimMetrics::polls_per_s;
constexpr auto kQuiet = &pollux::sim::SimMetrics::quiet_down_mean_s;

Case fixed(Scenario s) { return {s, PolicyKind::kFixed, Preset::kBalanced}; }
Case optimal(Scenario s, Preset p) { return {s, PolicyKind::kOptimal, p}; }
Case oracle(Scenario s) { return {s, PolicyKind::kKnownRate, Preset::kFresh}; }

void judge_fresh(Judge& judge, const Results& results, const Options& options) {
    using enum Scenario;
    const std::vector<std::pair<Scenario, double>> gaps = {
        {kB, 1.06}, {kBp, 1.06}, {kBw, 1.06}, {kE, 1.06}, {kC, 1.15}};
    fmt::print("preset fresh\n");
    for (const auto& [scenario, limit] : gaps) {
        double worst = 0;
        for (const std::uint64_t seed : options.seeds) {
            worst = std::max(
                worst, results.at({optimal(scenario, Preset::kFresh), seed}).metrics.mean_delay_s /
                           results.at({oracle(scenario), seed}).metrics.mean_delay_s);
        }
        judge.goal(
            fmt::format("{}: mean delay against the oracle, worst seed", to_string(scenario)),
            worst, true, limit, "x");
    }
    const std::vector<std::pair<Scenario, double>> gains = {{kB, 2.0}, {kBp, 2.4}, {kBw, 2.2},
                                                            {kC, 2.2}, {kE, 2.2},  {kD, 1.8}};
    for (const auto& [scenario, least] : gains) {
        judge.goal(fmt::format("{}: mean delay lower than fixed by", to_string(scenario)),
                   judge.mean_of(fixed(scenario), kMean) /
                       judge.mean_of(optimal(scenario, Preset::kFresh), kMean),
                   false, least, "x");
    }
    judge.goal("a: nothing to gain, mean delay against fixed",
               judge.mean_of(optimal(kA, Preset::kFresh), kMean) / judge.mean_of(fixed(kA), kMean),
               true, 1.06, "x");
}

void judge_balanced(Judge& judge) {
    using enum Scenario;
    fmt::print("preset balanced (default)\n");
    for (const Scenario scenario : {kB, kBw, kC}) {
        const Case ours = optimal(scenario, Preset::kBalanced);
        judge.goal(fmt::format("{}: mean delay lower than fixed by", to_string(scenario)),
                   judge.mean_of(fixed(scenario), kMean) / judge.mean_of(ours, kMean), false, 1.8,
                   "x");
        judge.goal(fmt::format("{}: p99 delay against fixed", to_string(scenario)),
                   judge.mean_of(ours, kP99) / judge.mean_of(fixed(scenario), kP99), true, 1.3,
                   "x");
    }
    judge.goal(
        "d: time to notice that a quiet device died, against fixed",
        judge.mean_of(optimal(kD, Preset::kBalanced), kQuiet) / judge.mean_of(fixed(kD), kQuiet),
        true, 1.6, "x");
    judge.goal("idle: polls against fixed",
               100 * judge.mean_of(optimal(kIdle, Preset::kBalanced), kPolls) /
                   judge.mean_of(fixed(kIdle), kPolls),
               true, 70, " %");
}

void judge_economy(Judge& judge) {
    using enum Scenario;
    fmt::print("preset economy\n");
    for (const Scenario scenario : {kB, kBp, kBw, kC, kE}) {
        const Case ours = optimal(scenario, Preset::kEconomy);
        judge.goal(
            fmt::format("{}: mean delay against fixed at twice the polls", to_string(scenario)),
            judge.mean_of(ours, kMean) / judge.mean_of(fixed(scenario), kMean), true,
            scenario == kB ? 1.05 : 1.0, "x");
        judge.goal(fmt::format("{}: polls against fixed", to_string(scenario)),
                   100 * judge.mean_of(ours, kPolls) / judge.mean_of(fixed(scenario), kPolls), true,
                   50, " %");
    }
    judge.goal("idle: polls against fixed",
               100 * judge.mean_of(optimal(kIdle, Preset::kEconomy), kPolls) /
                   judge.mean_of(fixed(kIdle), kPolls),
               true, 42, " %");
}

void judge_bounds(Judge& judge, const Results& results) {
    fmt::print("in all\n");
    double over = 0;
    double overspent = 0;
    double violations = 0;
    for (const auto& [which, report] : results) {
        violations += static_cast<double>(report.violations);
        if (which.first.policy != PolicyKind::kOptimal) continue;
        over = std::max(over, report.metrics.over_bound_share);
        overspent = std::max(overspent, report.metrics.polls_per_s / 98.0);
    }
    judge.goal("largest share of time over the staleness bound, N <= 4000", over, true, 0);
    judge.goal("most polls per second against the budget", overspent, true, 1, "x");
    judge.goal("violations of an invariant", violations, true, 0);
    for (const auto& [preset, least] : {std::pair{Preset::kBalanced, 1.0}, {Preset::kFresh, 2.0}}) {
        judge.goal(fmt::format("{}: a flapping target is polled more often than a quiet one by",
                               to_string(preset)),
                   judge.flappers_against_quiet(optimal(Scenario::kD, preset)), false, least, "x");
    }
}

void print_rows(const std::vector<Case>& cases, const Judge& judge) {
    fmt::print("{:<26}{:>8}{:>8}{:>8}{:>10}{:>9}{:>9}\n", "scenario/policy/preset", "mean s",
               "p95 s", "p99 s", "quiet s", "gap s", "polls/s");
    for (const Case& one : cases) {
        fmt::print(
            "{:<26}{:>8.2f}{:>8.1f}{:>8.1f}{:>10.1f}{:>9.1f}{:>9.2f}{}\n", name_of(one),
            judge.mean_of(one, kMean), judge.mean_of(one, &pollux::sim::SimMetrics::p95_delay_s),
            judge.mean_of(one, kP99), judge.mean_of(one, kQuiet),
            judge.mean_of(one, &pollux::sim::SimMetrics::max_gap_s), judge.mean_of(one, kPolls),
            one.targets == 2000 ? "" : fmt::format("  N={}", one.targets));
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--quick") == 0) {
            options.seeds = {11};
            options.hours = 4;
        } else {
            fmt::print(
                "usage: bench_policy [--quick]\n"
                "  Runs every promise of the interval policies: N=2000, 98 polls/s, 12 "
                "measured hours, seeds 11-13.\n"
                "  --quick: one seed, 4 measured hours; figures are noisier.\n");
            return std::strcmp(argv[i], "--help") == 0 ? 0 : 2;
        }
    }
    const auto start = std::chrono::steady_clock::now();
    const auto cases = all_cases();
    const Results results = run_all(cases, options);
    Judge judge(results, options);
    print_rows(cases, judge);
    judge_fresh(judge, results, options);
    judge_balanced(judge);
    judge_economy(judge);
    judge_bounds(judge, results);
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{} goals met, {} missed, {:.0f} s\n", judge.passed(), judge.failed(), wall);
    return judge.failed() == 0 ? 0 : 1;
}
