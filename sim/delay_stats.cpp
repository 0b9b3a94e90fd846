#include "sim/delay_stats.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace pollux::sim {
namespace {

constexpr auto kBuckets =
    static_cast<std::size_t>(DelayStats::kLimitSeconds / DelayStats::kBucketSeconds);
constexpr double kQuietSeconds = 3600.0;

}  // namespace

DelayStats::DelayStats() : weight_in_bucket_(kBuckets + 1, 0.0) {}

void DelayStats::add(double delay_s, double weight) {
    POLLUX_CHECK(delay_s >= 0.0 && weight > 0.0);
    // Compared before it is converted: a delay may exceed every integer.
    const std::size_t bucket =
        delay_s < kLimitSeconds ? static_cast<std::size_t>(delay_s / kBucketSeconds) : kBuckets;
    weight_in_bucket_[bucket] += weight;
    weight_ += weight;
    weighted_sum_s_ += weight * delay_s;
    largest_s_ = std::max(largest_s_, delay_s);
    ++count_;
}

double DelayStats::percentile_s(double share) const {
    if (count_ == 0) return 0.0;
    double below = 0.0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
        below += weight_in_bucket_[bucket];
        if (below >= share * weight_) return (static_cast<double>(bucket) + 0.5) * kBucketSeconds;
    }
    return largest_s_;
}

// Time from `from_s` to `until_s`, in which data of age (time - looked_s) was shown.
void PollObserver::Gaps::add(double from_s, double until_s, double looked_s, double bound_s) {
    healthy_s += until_s - from_s;
    over_bound_s += std::max(0.0, until_s - std::max(from_s, looked_s + bound_s));
    largest_s = std::max(largest_s, until_s - looked_s);
}

PollObserver::PollObserver(std::size_t targets, const ObserverOptions& options)
    : options_(options), watched_(targets) {}

Consumed PollObserver::consume(Watched& watched, ChangeProcess& process, double looked_s,
                               double known_s, bool counts) {
    return process.consume_until(looked_s, [&](const ChangeEvent& event) {
        const bool was_quiet = event.at_s - watched.last_change_s >= kQuietSeconds;
        watched.last_change_s = event.at_s;
        if (!counts) return;
        const double delay_s = known_s - event.at_s;
        delays_.add(delay_s, process.weight());
        if (event.went_down && was_quiet) quiet_down_.add(delay_s, 1.0);
    });
}

Sight PollObserver::on_poll(std::size_t target, ChangeProcess& process, double looked_s,
                            double known_s) {
    Watched& watched = watched_[target];
    POLLUX_CHECK(looked_s >= watched.known_s && known_s >= looked_s);
    const bool counts = watched.looked_s >= options_.warm_up_s;
    const Consumed consumed = consume(watched, process, looked_s, known_s, counts);
    if (counts) {
        // What was shown until now turned wrong with the first change after the previous look,
        // even if this look came too early to see it.
        const double wrong_s = std::min(consumed.first_event_s, process.next_event_s());
        counted_s_ += known_s - watched.known_s;
        current_s_ += std::clamp(wrong_s, watched.known_s, known_s) - watched.known_s;
        if (watched.ok) gaps_.add(watched.known_s, known_s, watched.looked_s, options_.bound_s);
        ++counted_polls_;
    }
    if (looked_s >= options_.warm_up_s) ++polls_after_warm_up_;
    const Sight sight{.ok = !process.down(),
                      .changed = consumed.changed,
                      .tau_s = looked_s - watched.looked_s,
                      .digest = process.digest()};
    watched.looked_s = looked_s;
    watched.known_s = known_s;
    watched.ok = sight.ok;
    return sight;
}

SimMetrics PollObserver::metrics(double end_s) const {
    const double warm_up_s = options_.warm_up_s;
    Gaps gaps = gaps_;
    for (const Watched& watched : watched_) {
        const double from_s = std::max(watched.known_s, warm_up_s);
        if (!watched.ok || from_s >= end_s) continue;
        gaps.add(from_s, end_s, std::max(watched.looked_s, warm_up_s), options_.bound_s);
    }
    SimMetrics m;
    m.mean_delay_s = delays_.mean_s();
    m.p50_delay_s = delays_.percentile_s(0.50);
    m.p95_delay_s = delays_.percentile_s(0.95);
    m.p99_delay_s = delays_.percentile_s(0.99);
    m.quiet_down_mean_s = quiet_down_.mean_s();
    m.quiet_down_p99_s = quiet_down_.percentile_s(0.99);
    m.freshness = counted_s_ > 0.0 ? current_s_ / counted_s_ : 0.0;
    m.over_bound_share = gaps.healthy_s > 0.0 ? gaps.over_bound_s / gaps.healthy_s : 0.0;
    m.max_gap_s = gaps.largest_s;
    const double measured_s = end_s - warm_up_s;
    m.polls_per_s = measured_s > 0.0 ? static_cast<double>(polls_after_warm_up_) / measured_s : 0.0;
    m.events = delays_.count();
    m.polls = counted_polls_;
    return m;
}

}  // namespace pollux::sim
