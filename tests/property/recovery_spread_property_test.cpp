// After a restart: nothing is forgotten, nobody waits longer than an interval, and starts stay near
// the steady rate.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "schedule/recovery_spread.hpp"

namespace pollux::tests {
namespace {

using base::BootTime;
using schedule::RecoveringTask;

constexpr BootTime kNow{3'600'000'000'000};
constexpr std::size_t kBins = 48;
// Rounding, and the one start that is always allowed, in each group of equal interval.
constexpr double kPlay = 3;

std::vector<RecoveringTask> some_tasks(std::uint32_t first_number, std::uint32_t interval_ms) {
    const auto count = *rc::gen::inRange<std::uint32_t>(1, 400);
    const auto overdue_percent = *rc::gen::inRange(0, 101);
    std::vector<RecoveringTask> tasks;
    for (std::uint32_t i = 0; i < count; ++i) {
        RecoveringTask task;
        task.task = first_number + i;
        task.interval_ms = interval_ms;
        task.tier = static_cast<model::Tier>(*rc::gen::inRange(0, 4));
        task.key_hash = *rc::gen::arbitrary<std::uint64_t>();
        const bool overdue = *rc::gen::inRange(0, 100) < overdue_percent;
        const auto span = static_cast<std::int64_t>(interval_ms) * 1'000'000;
        task.due = overdue ? kNow - base::Duration(*rc::gen::inRange<std::int64_t>(0, 10 * span))
                           : kNow + base::Duration(*rc::gen::inRange<std::int64_t>(1, span));
        tasks.push_back(task);
    }
    return tasks;
}

// Starts in each part of the interval: of tasks that kept their time, and of those that were moved.
struct Histogram {
    std::array<double, kBins> kept{};
    std::array<double, kBins> moved{};
};

Histogram count_starts(const std::vector<RecoveringTask>& before,
                       const std::vector<RecoveringTask>& after, std::uint32_t interval_ms) {
    Histogram counts;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (after[i].interval_ms != interval_ms) continue;
        const double ahead = base::to_seconds(after[i].due - kNow) / (interval_ms * 1e-3);
        const auto bin = std::min(kBins - 1, static_cast<std::size_t>(ahead * kBins));
        (before[i].due > kNow ? counts.kept : counts.moved)[bin] += 1;
    }
    return counts;
}

void check(const std::vector<RecoveringTask>& before, const std::vector<RecoveringTask>& after,
           std::uint32_t interval_ms) {
    double members = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        RC_ASSERT(after[i].task == before[i].task);
        if (after[i].interval_ms != interval_ms) continue;
        ++members;
        const auto span = base::Duration(static_cast<std::int64_t>(interval_ms) * 1'000'000);
        RC_ASSERT(after[i].due >= kNow && after[i].due <= kNow + span);
        if (before[i].due > kNow) RC_ASSERT(after[i].due == before[i].due);
    }
    const Histogram counts = count_starts(before, after, interval_ms);
    const double per_bin = schedule::kRecoveryRate * members / kBins;
    for (std::size_t from = 0; from < kBins; ++from) {
        double moved = 0;
        double allowed = kPlay;
        for (std::size_t to = from; to < kBins; ++to) {
            moved += counts.moved[to];
            // Into the gaps that the others leave; inside a bin they may be uneven.
            allowed += std::max(per_bin * 0.5, per_bin - counts.kept[to]) + per_bin * 0.5;
            RC_ASSERT(moved <= allowed);
        }
    }
}

RC_GTEST_PROP(RecoverySpread, KeepsTheRateAndCoversAll, ()) {
    const std::vector<RecoveringTask> before = some_tasks(0, 60'000);
    std::vector<RecoveringTask> after = before;
    schedule::spread_overdue(after, kNow);
    check(before, after, 60'000);
}

RC_GTEST_PROP(RecoverySpread, MixedIntervalsAreSpreadEachOnItsOwn, ()) {
    constexpr std::array<std::uint32_t, 3> kIntervals = {10'000, 60'000, 300'000};
    std::vector<RecoveringTask> before;
    for (const std::uint32_t interval : kIntervals) {
        const auto more = some_tasks(static_cast<std::uint32_t>(before.size()), interval);
        before.insert(before.end(), more.begin(), more.end());
    }
    std::vector<RecoveringTask> after = before;
    schedule::spread_overdue(after, kNow);
    for (const std::uint32_t interval : kIntervals) check(before, after, interval);
}

// Critical tasks first, then those that have waited longest.
RC_GTEST_PROP(RecoverySpread, TheMostUrgentComeFirst, ()) {
    const std::vector<RecoveringTask> before = some_tasks(0, 60'000);
    std::vector<RecoveringTask> after = before;
    schedule::spread_overdue(after, kNow);
    for (std::size_t a = 0; a < after.size(); ++a) {
        for (std::size_t b = 0; b < after.size(); ++b) {
            if (before[a].due > kNow || before[b].due > kNow) continue;
            const bool first = before[a].tier != before[b].tier ? before[a].tier > before[b].tier
                                                                : before[a].due < before[b].due;
            if (first) RC_ASSERT(after[a].due <= after[b].due);
        }
    }
}

// The order of the input does not matter: two restarts from one store do the same.
RC_GTEST_PROP(RecoverySpread, TheOrderOfTheRowsDoesNotMatter, ()) {
    std::vector<RecoveringTask> forward = some_tasks(0, 60'000);
    std::vector<RecoveringTask> backward(forward.rbegin(), forward.rend());
    schedule::spread_overdue(forward, kNow);
    schedule::spread_overdue(backward, kNow);
    std::ranges::reverse(backward);
    for (std::size_t i = 0; i < forward.size(); ++i) RC_ASSERT(forward[i].due == backward[i].due);
}

}  // namespace
}  // namespace pollux::tests
