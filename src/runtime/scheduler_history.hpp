// How the scheduler did over the last minutes, hours and day: starts, ends, lag and the most that
// waited, in steps. Owned by the core loop; not thread-safe. In memory only.
//
// Invariants
// 1. Bounded: three rings of fixed length, made at once.
// 2. Counting takes no search and no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "observe/histogram.hpp"

namespace pollux::runtime {

enum class HistorySpan : std::uint8_t { kQuarter, kSixHours, kDay };

class SchedulerHistory {
  public:
    // From due to start, in seconds.
    static constexpr const auto& kLagBounds = observe::kQueueWaitBounds;
    static constexpr std::size_t kLagBuckets = kLagBounds.size() + 1;

    struct Point {
        std::int64_t number = -1;  // of the step since 1970; -1: nothing was counted
        std::uint32_t started = 0;
        std::uint32_t finished = 0;
        std::uint32_t failed = 0;     // of these
        std::uint32_t ready = 0;      // the most at once
        std::uint32_t in_flight = 0;  // the most at once
        std::uint32_t tasks = 0;      // the most at once
        std::array<std::uint32_t, kLagBuckets> lag{};

        // In seconds: the place inside its bucket as if the bucket were filled evenly. 0: nothing
        // started.
        double lag_quantile(double share) const;
    };

    SchedulerHistory();

    void started(base::WallTime now, base::Duration lag);
    void ended(base::WallTime now, bool failed);
    void seen(base::WallTime now, std::size_t ready, std::size_t in_flight, std::size_t tasks);

    static base::Duration step_of(HistorySpan span);
    static base::WallTime time_of(HistorySpan span, const Point& point);
    // Oldest first. Without the step under way, which is not whole yet, unless it is the only one.
    std::vector<Point> points(HistorySpan span, base::WallTime now) const;

  private:
    static constexpr std::size_t kTracks = 3;
    // The point of the step that `now` falls into.
    Point& at(std::size_t track, base::WallTime now);

    std::array<std::vector<Point>, kTracks> tracks_;
};

}  // namespace pollux::runtime
