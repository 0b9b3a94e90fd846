#include "runtime/scheduler_history.hpp"

#include <algorithm>

namespace pollux::runtime {
namespace {

struct Shape {
    base::Duration step;
    std::size_t points;
};
constexpr std::array<Shape, 3> kShapes = {Shape{std::chrono::seconds(5), 180},
                                          Shape{std::chrono::minutes(1), 360},
                                          Shape{std::chrono::minutes(5), 288}};

std::int64_t microseconds(base::Duration duration) {
    return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

void raise(std::uint32_t& most, std::size_t now) {
    most = std::max(most, static_cast<std::uint32_t>(now));
}

}  // namespace

double SchedulerHistory::Point::lag_quantile(double share) const {
    const double wanted = share * started;
    double before = 0;
    for (std::size_t i = 0; i < kLagBuckets; ++i) {
        const double here = lag[i];
        if (here == 0 || before + here < wanted) {
            before += here;
            continue;
        }
        // What is above the last bound has no upper end to speak of.
        if (i == kLagBounds.size()) return kLagBounds.back();
        const double low = i == 0 ? 0 : kLagBounds[i - 1];
        return low + (kLagBounds[i] - low) * (wanted - before) / here;
    }
    return 0;
}

SchedulerHistory::SchedulerHistory() {
    for (std::size_t i = 0; i < kTracks; ++i) tracks_[i].resize(kShapes[i].points);
}

SchedulerHistory::Point& SchedulerHistory::at(std::size_t track, base::WallTime now) {
    const std::int64_t number = now.us / microseconds(kShapes[track].step);
    std::vector<Point>& ring = tracks_[track];
    Point& point = ring[static_cast<std::size_t>(number) % ring.size()];
    if (point.number != number) {
        point = Point{};
        point.number = number;
    }
    return point;
}

void SchedulerHistory::started(base::WallTime now, base::Duration lag) {
    const double seconds = base::to_seconds(lag);
    const auto bound = std::lower_bound(kLagBounds.begin(), kLagBounds.end(), seconds);
    const auto bucket = static_cast<std::size_t>(bound - kLagBounds.begin());
    for (std::size_t i = 0; i < kTracks; ++i) {
        Point& point = at(i, now);
        ++point.started;
        ++point.lag[bucket];
    }
}

void SchedulerHistory::ended(base::WallTime now, bool failed) {
    for (std::size_t i = 0; i < kTracks; ++i) {
        Point& point = at(i, now);
        ++point.finished;
        if (failed) ++point.failed;
    }
}

void SchedulerHistory::seen(base::WallTime now, std::size_t ready, std::size_t in_flight,
                            std::size_t tasks) {
    for (std::size_t i = 0; i < kTracks; ++i) {
        Point& point = at(i, now);
        raise(point.ready, ready);
        raise(point.in_flight, in_flight);
        raise(point.tasks, tasks);
    }
}

base::Duration SchedulerHistory::step_of(HistorySpan span) {
    return kShapes[static_cast<std::size_t>(span)].step;
}

base::WallTime SchedulerHistory::time_of(HistorySpan span, const Point& point) {
    return base::WallTime{point.number * microseconds(step_of(span))};
}

std::vector<SchedulerHistory::Point> SchedulerHistory::points(HistorySpan span,
                                                              base::WallTime now) const {
    const std::vector<Point>& ring = tracks_[static_cast<std::size_t>(span)];
    const std::int64_t newest = now.us / microseconds(step_of(span));
    const std::int64_t oldest = newest - static_cast<std::int64_t>(ring.size());
    std::vector<Point> found;
    for (const Point& point : ring) {
        // A clock that was set back leaves points of the future behind.
        if (point.number > oldest && point.number <= newest) found.push_back(point);
    }
    std::ranges::sort(found, {}, &Point::number);
    if (found.size() > 1 && found.back().number == newest) found.pop_back();
    return found;
}

}  // namespace pollux::runtime
