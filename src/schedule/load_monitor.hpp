// Watches how late runs start and how long polls take, and turns overload into one factor by which
// all adaptive budgets shrink. Only work that is due counts as load: a long list of future polls is
// not a backlog.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.hpp"

namespace pollux::schedule {

// Quantiles over quarter-octave buckets from 1 ms up, with halving so that old values fade.
class DurationSketch {
  public:
    void add(base::Duration value);
    base::Duration quantile(double q) const;
    std::uint64_t count() const { return total_; }
    void clear();
    void halve();

  private:
    static constexpr std::size_t kBuckets = 96;
    std::array<std::uint32_t, kBuckets> count_{};
    std::uint64_t total_ = 0;
};

class LoadMonitor {
  public:
    void started(base::Duration lag) { lag_.add(lag); }
    void finished(base::Duration duration);

    // Once a second. saturated: work waits and no slot is free. rate_limited: work waits for the
    // global rate; the policies plan below that rate, so such a backlog drains by itself, and
    // cutting the budgets because of it would only make waves.
    void second(bool saturated, bool rate_limited);

    double pressure() const { return pressure_; }
    base::Duration p95_lag() const { return last_lag_; }
    base::Duration p95_duration() const { return durations_.quantile(0.95); }

  private:
    DurationSketch lag_;
    DurationSketch durations_;
    base::Duration last_lag_{};
    double pressure_ = 1;
    int hold_ = 0;
};

}  // namespace pollux::schedule
