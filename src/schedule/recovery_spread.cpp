#include "schedule/recovery_spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/math.hpp"

namespace pollux::schedule {
namespace {

constexpr double kGroupsPerOctave = 8;
constexpr double kRateStep = 1.02;
constexpr double kMostRate = 10;

using Group = std::vector<RecoveringTask*>;

bool goes_first(const RecoveringTask* a, const RecoveringTask* b) {
    if (a->tier != b->tier) return a->tier > b->tier;
    if (a->due != b->due) return a->due < b->due;
    return a->key_hash < b->key_hash;
}

// How many starts each bin of one interval holds, and each window of ten seconds. Rounds repeat, so
// the end of the interval meets its beginning. Where bins hold less than a few starts each, a start
// counts in part in the bins around it: what one bin has too much, its neighbours have too little.
class Load {
  public:
    Load(double horizon_ns, std::size_t tasks)
        : bins_(std::clamp(static_cast<std::size_t>(horizon_ns / kCoarseNs), kFewBins, kManyBins)),
          bin_ns_(horizon_ns / static_cast<double>(bins_)),
          window_(std::clamp(kWindowNs / bin_ns_, 1.0, static_cast<double>(bins_))),
          // A window that begins inside a bin touches one bin more than it is wide.
          width_(std::min(static_cast<std::size_t>(std::ceil(window_)) + 1, bins_)),
          reach_(std::min(static_cast<std::size_t>(kFewStarts * static_cast<double>(bins_) /
                                                   static_cast<double>(2 * tasks)),
                          (bins_ - 1) / 2)),
          in_bin_(bins_, 0),
          in_window_(bins_, 0) {
        if (bin_ns_ > kWindowNs) width_ = 1;  // intervals of days: the bins alone must do
    }

    std::size_t bins() const { return bins_; }
    double bin_ns() const { return bin_ns_; }
    double window() const { return window_; }  // in bins
    const std::vector<double>& in_bin() const { return in_bin_; }
    void add(std::size_t bin, double count) {
        const double part = count / static_cast<double>(2 * reach_ + 1);
        for (std::size_t i = 0; i <= 2 * reach_; ++i) {
            in_bin_[(bin + bins_ - reach_ + i) % bins_] += part;
        }
        for (std::size_t i = 0; i < width_; ++i) in_window_[(bin + bins_ - i) % bins_] += count;
    }
    double fullest_window(std::size_t bin) const {
        double most = 0;
        for (std::size_t i = 0; i < width_; ++i) {
            most = std::max(most, in_window_[(bin + bins_ - i) % bins_]);
        }
        return most;
    }

  private:
    static constexpr double kWindowNs = 1e10;
    static constexpr double kCoarseNs = 1.25e9;
    static constexpr double kFewStarts = 4;
    static constexpr std::size_t kFewBins = 240;
    static constexpr std::size_t kManyBins = 100'000;

    std::size_t bins_;
    double bin_ns_;
    double window_;
    std::size_t width_;
    std::size_t reach_;  // bins to each side
    std::vector<double> in_bin_;
    std::vector<double> in_window_;  // by the bin they begin with
};

// Finds room for `count` more starts, the earliest first, at `rate` times the steady one. Counts
// them in `placed`; returns how many found none.
std::size_t fill(Load& load, std::vector<std::size_t>& placed, std::size_t count,
                 double steady_per_bin, double rate) {
    const double per_bin = rate * steady_per_bin;
    const double per_window = std::max(1.0, per_bin * load.window());
    // Room that one bin leaves unused is not saved up: it would come out as a burst later. One
    // start is always allowed, so that a handful of tasks need not wait for their share.
    double room = 1;
    const std::vector<double> before = load.in_bin();
    for (std::size_t bin = 0; bin < load.bins() && count > 0; ++bin) {
        room = std::min(room, 1.0) + std::max(0.0, per_bin - before[bin]);
        const double fits = std::min(room, per_window - load.fullest_window(bin));
        if (fits < 1) continue;
        const auto starts = std::min(static_cast<std::size_t>(fits), count);
        load.add(bin, static_cast<double>(starts));
        placed[bin] += starts;
        room -= static_cast<double>(starts);
        count -= starts;
    }
    return count;
}

void spread_group(Group& group, base::BootTime now) {
    std::uint32_t shortest_ms = group.front()->interval_ms;
    for (const RecoveringTask* one : group) shortest_ms = std::min(shortest_ms, one->interval_ms);
    const double horizon_ns = std::max(1U, shortest_ms) * 1e6;
    Load load(horizon_ns, group.size());
    Group overdue;
    for (RecoveringTask* one : group) {
        if (one->due <= now) {
            overdue.push_back(one);
            continue;
        }
        const double ahead = static_cast<double>((one->due - now).count()) / load.bin_ns();
        load.add(static_cast<std::size_t>(ahead) % load.bins(), 1);
    }
    std::ranges::sort(overdue, goes_first);
    const double steady = static_cast<double>(group.size()) / static_cast<double>(load.bins());
    std::vector<std::size_t> placed(load.bins(), 0);
    // What was planned may stand so unevenly that not all find room: then a little more each time.
    std::size_t left = overdue.size();
    for (double rate = kRecoveryRate; left > 0 && rate < kMostRate; rate *= kRateStep) {
        left = fill(load, placed, left, steady, rate);
    }
    placed.back() += left;
    std::size_t next = 0;
    for (std::size_t bin = 0; bin < load.bins(); ++bin) {
        for (std::size_t i = 0; i < placed[bin]; ++i, ++next) {
            const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(placed[bin]);
            const double at = (static_cast<double>(bin) + (next == 0 ? 0 : share)) * load.bin_ns();
            overdue[next]->due = now + base::Duration(static_cast<std::int64_t>(at));
        }
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
