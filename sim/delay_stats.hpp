// How well a fleet was watched: what every policy is judged by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/change_process.hpp"

namespace pollux::sim {

// Weighted delays: the mean from exact sums, percentiles from a histogram (640 kB, no allocation
// after construction, however many are added).
class DelayStats {
  public:
    static constexpr double kBucketSeconds = 0.01;
    static constexpr double kLimitSeconds = 800.0;

    DelayStats();

    // delay_s >= 0.
    void add(double delay_s, double weight);

    std::uint64_t count() const { return count_; }
    double largest_s() const { return largest_s_; }

    // These are 0 while nothing was added.
    double mean_s() const { return weight_ > 0.0 ? weighted_sum_s_ / weight_ : 0.0; }
    // The delay that `share` of the weight does not exceed, to half a bucket; beyond the limit
    // the largest delay.
    double percentile_s(double share) const;

  private:
    std::vector<double> weight_in_bucket_;
    double weight_ = 0.0;
    double weighted_sum_s_ = 0.0;
    double largest_s_ = 0.0;
    std::uint64_t count_ = 0;
};

struct SimMetrics {
    // From a change to the answer that could show it, over all changes, by weight of the target.
    double mean_delay_s = 0.0;
    double p50_delay_s = 0.0;
    double p95_delay_s = 0.0;
    double p99_delay_s = 0.0;
    // From the death of a device that was quiet for an hour to the next answer; 0 if none died.
    double quiet_down_mean_s = 0.0;
    double quiet_down_p99_s = 0.0;
    double freshness = 0.0;         // share of target time in which what is shown is current
    double over_bound_share = 0.0;  // share of healthy target time with data older than the bound
    double max_gap_s = 0.0;         // oldest data shown of a healthy target
    double polls_per_s = 0.0;       // over the whole measured time
    std::uint64_t events = 0;
    std::uint64_t polls = 0;  // those the statistics rest on, see PollObserver
};

struct ObserverOptions {
    double warm_up_s = 0.0;  // nothing before is measured
    double bound_s = 60.0;   // healthy data should never be older
};

// What one poll found.
struct Sight {
    bool ok = true;            // up; a poll of a device that is down fails
    bool changed = false;      // the device differs from what the previous poll of it found
    double tau_s = 0.0;        // time between the two looks
    std::uint64_t digest = 0;  // ChangeProcess::digest at the look
};

// Collects the metrics of one run of a fleet. A poll counts when the previous poll of its target
// was at or after the end of the warm-up, so that each counted interval lies in the measured time.
class PollObserver {
  public:
    PollObserver(std::size_t targets, const ObserverOptions& options);

    // A poll looked at the device at looked_s and its result was known at known_s >= looked_s.
    // Consumes the changes of the process up to the look; nobody else may. Per target, polls come
    // in the order of time and do not overlap.
    Sight on_poll(std::size_t target, ChangeProcess& process, double looked_s, double known_s);

    // An instant poll.
    Sight on_poll(std::size_t target, ChangeProcess& process, double now_s) {
        return on_poll(target, process, now_s, now_s);
    }

    // As of the end of the simulation. Bound and gap include the interval that is still open for
    // each target: one that is never asked again must not drop out of sight.
    SimMetrics metrics(double end_s) const;

  private:
    struct Watched {
        double looked_s = 0.0;       // of the previous poll
        double known_s = 0.0;        // of the previous poll
        double last_change_s = 0.0;  // up/down only
        bool ok = true;              // at the previous poll
    };
    struct Gaps {
        double healthy_s = 0.0;
        double over_bound_s = 0.0;
        double largest_s = 0.0;

        void add(double from_s, double until_s, double looked_s, double bound_s);
    };

    Consumed consume(Watched& watched, ChangeProcess& process, double looked_s, double known_s,
                     bool counts);

    ObserverOptions options_;
    std::vector<Watched> watched_;
    DelayStats delays_;
    DelayStats quiet_down_;
    Gaps gaps_;
    double counted_s_ = 0.0;
    double current_s_ = 0.0;
    std::uint64_t counted_polls_ = 0;
    std::uint64_t polls_after_warm_up_ = 0;
};

}  // namespace pollux::sim
