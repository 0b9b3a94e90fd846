#include "alert/time_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace pollux::alert {
namespace {

using base::WallTime;

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kLongestShift = 4 * 3'600;  // by which clocks are ever set
constexpr int kMostSteps = 50'000;                 // of windows that follow each other

std::int64_t seconds_of(base::Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

}  // namespace

base::Result<Window> Window::compile(const model::CronWindow& window, const ZoneLookup& zones) {
    const auto cron = base::parse_cron(window.cron);
    if (!cron) return std::unexpected(cron.error());
    if (window.duration < kShortestWindow || window.duration > kLongestWindow) {
        return base::config_error("window.duration",
                                  fmt::format("a window lasts from {} to {}, not {}",
                                              base::format_duration(kShortestWindow),
                                              base::format_duration(kLongestWindow),
                                              base::format_duration(window.duration)));
    }
    auto zone = zones(window.zone);
    if (!zone) return std::unexpected(zone.error());
    Window result;
    result.cron_ = *cron;
    result.duration_ = window.duration;
    result.zone_ = std::move(*zone);
    return result;
}

std::optional<std::int64_t> Window::latest_start(WallTime now) const {
    const std::int64_t local = zone_->local_seconds(now);
    const std::int64_t today = base::detail::floor_div(local, kDay);
    const std::int64_t back = seconds_of(duration_) / kDay + 2;
    for (std::int64_t day = today + 1; day >= today - back; --day) {
        const std::chrono::sys_days date{std::chrono::days(day)};
        if (!cron_.on_day(date)) continue;
        for (unsigned minute = 24 * 60; minute-- > 0;) {
            if (!cron_.at(minute / 60, minute % 60)) continue;
            const std::int64_t start = day * kDay + std::int64_t{minute} * 60;
            // Clocks that were set back may have shown a later time before.
            if (start > local + kLongestShift) continue;
            if (zone_->moments_of(start).first <= now) return start;
        }
    }
    return std::nullopt;
}

WallTime Window::end_of(std::int64_t start) const {
    const WallTime begin = zone_->moments_of(start).first;
    const WallTime end = zone_->moments_of(start + seconds_of(duration_)).last;
    return end > begin ? end : begin + duration_;
}

std::optional<model::TimeRange> Window::covering(WallTime now) const {
    const auto start = latest_start(now);
    if (!start) return std::nullopt;
    WallTime end = end_of(*start);
    if (end <= now) return std::nullopt;
    for (int i = 0; i < kMostSteps && end - now < kLongestWindow; ++i) {
        const auto next = latest_start(end);
        const WallTime later = next ? end_of(*next) : end;
        if (later <= end) break;
        end = later;
    }
    return model::TimeRange{zone_->moments_of(*start).first, end};
}

base::Result<Windows> Windows::compile(const std::vector<model::CronWindow>& windows,
                                       const ZoneLookup& zones) {
    Windows result;
    for (const model::CronWindow& one : windows) {
        auto compiled = Window::compile(one, zones);
        if (!compiled) return std::unexpected(compiled.error());
        result.windows_.push_back(std::move(*compiled));
    }
    return result;
}

std::optional<WallTime> Windows::covered_until(WallTime now) const {
    std::optional<WallTime> end;
    for (int i = 0; i < kMostSteps; ++i) {
        const WallTime at = end.value_or(now);
        WallTime later = at;
        for (const Window& window : windows_) {
            if (const auto range = window.covering(at)) later = std::max(later, range->until);
        }
        if (later == at || later - now >= kLongestWindow) return later == at ? end : later;
        end = later;
    }
    return end;
}

}  // namespace pollux::alert
