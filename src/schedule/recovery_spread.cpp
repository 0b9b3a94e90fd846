#include "schedule/recovery_spread.hpp"

#include <algorithm>
#include <map>

#include "base/math.hpp"

namespace pollux::schedule {
namespace {

constexpr std::size_t kBins = 240;
constexpr double kGroupsPerOctave = 8;

using Group = std::vector<RecoveringTask*>;

bool goes_first(const RecoveringTask* a, const RecoveringTask* b) {
    if (a->tier != b->tier) return a->tier > b->tier;
    if (a->due != b->due) return a->due < b->due;
    return a->key_hash < b->key_hash;
}

void spread_group(Group& group, base::BootTime now) {
    std::uint32_t shortest_ms = group.front()->interval_ms;
    for (const RecoveringTask* one : group) shortest_ms = std::min(shortest_ms, one->interval_ms);
    const double horizon_ns = std::max(1U, shortest_ms) * 1e6;
    const double bin_ns = horizon_ns / kBins;
    std::vector<double> taken(kBins, 0);
    Group overdue;
    for (RecoveringTask* one : group) {
        if (one->due <= now) {
            overdue.push_back(one);
            continue;
        }
        const double ahead = static_cast<double>((one->due - now).count()) / bin_ns;
        if (ahead < static_cast<double>(kBins)) taken[static_cast<std::size_t>(ahead)] += 1;
    }
    std::ranges::sort(overdue, goes_first);
    const double per_bin = kRecoveryRate * static_cast<double>(group.size()) / kBins;
    // Room that one bin leaves unused is not saved up: it would come out as a burst later. One
    // start is always allowed, so that a handful of tasks need not wait for their share.
    double room = 1;
    std::size_t next = 0;
    for (std::size_t bin = 0; bin < kBins && next < overdue.size(); ++bin) {
        room = std::min(room, 1.0) + std::max(0.0, per_bin - taken[bin]);
        const auto fits = std::min(static_cast<std::size_t>(room), overdue.size() - next);
        for (std::size_t i = 0; i < fits; ++i) {
            const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(fits);
            const double at =
                (static_cast<double>(bin) + (bin == 0 && i == 0 ? 0 : share)) * bin_ns;
            overdue[next + i]->due = now + base::Duration(static_cast<std::int64_t>(at));
        }
        next += fits;
        room -= static_cast<double>(fits);
    }
    // Rounding may leave a few: the end of the interval is the latest that was promised.
    for (; next < overdue.size(); ++next) {
        overdue[next]->due = now + base::Duration(static_cast<std::int64_t>(horizon_ns * 0.999));
    }
}

}  // namespace

void spread_overdue(std::vector<RecoveringTask>& tasks, base::BootTime now) {
    std::map<std::int64_t, Group> groups;
    for (RecoveringTask& one : tasks) {
        const double octave = base::fixed_log2(std::max(1U, one.interval_ms));
        groups[static_cast<std::int64_t>(octave * kGroupsPerOctave)].push_back(&one);
    }
    for (auto& [interval, group] : groups) spread_group(group, now);
}

}  // namespace pollux::schedule
