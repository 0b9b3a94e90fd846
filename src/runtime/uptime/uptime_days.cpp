#include "runtime/uptime/uptime_days.hpp"

#include <algorithm>
#include <utility>

namespace pollux::runtime {
namespace {

constexpr std::int64_t kDayUs = 86'400'000'000;

}  // namespace

std::string_view to_string(UptimeState state) {
    switch (state) {
        case UptimeState::kUp: return "up";
        case UptimeState::kDown: return "down";
        case UptimeState::kUnknown: break;
    }
    return "unknown";
}

std::int64_t day_of(base::WallTime time) {
    const std::int64_t day = time.us / kDayUs;
    return time.us < 0 && time.us % kDayUs != 0 ? day - 1 : day;
}

base::WallTime start_of_day(std::int64_t day) { return base::WallTime{day * kDayUs}; }

std::string day_text(std::int64_t day) { return base::format_utc(start_of_day(day)).substr(0, 10); }

void UptimeDays::add(UptimeState state, base::WallTime from, base::WallTime until) {
    if (state == UptimeState::kUnknown || from >= until) return;
    const std::int64_t last = day_of(base::WallTime{until.us - 1});
    from = std::max(from, start_of_day(last - kKept + 1));
    while (from < until) {
        const std::int64_t day = day_of(from);
        const base::WallTime end = std::min(until, start_of_day(day + 1));
        auto place = std::ranges::lower_bound(days_, day, {}, &Day::day);
        if (place == days_.end() || place->day != day) place = days_.insert(place, {day, {}});
        place->sum.add(state, end.us - from.us);
        // A clock that was set back shows the same hour twice.
        place->sum.up_us = std::min(place->sum.up_us, kDayUs);
        place->sum.down_us = std::min(place->sum.down_us, kDayUs);
        from = end;
    }
    const auto too_many = std::max(std::ssize(days_) - kKept, std::ptrdiff_t{0});
    days_.erase(days_.begin(), days_.begin() + too_many);
}

bool UptimeDays::forget_after(std::int64_t day) {
    return std::erase_if(days_, [&](const Day& one) { return one.day > day; }) > 0;
}

void UptimeDays::recall(std::vector<Day> days) {
    days_.clear();
    for (const Day& day : days) {
        const bool follows = days_.empty() || days_.back().day < day.day;
        const bool possible = day.sum.up_us >= 0 && day.sum.down_us >= 0 &&
                              day.sum.up_us <= kDayUs && day.sum.down_us <= kDayUs &&
                              std::cmp_less(days_.size(), kKept);
        if (follows && possible) days_.push_back(day);
    }
}

}  // namespace pollux::runtime
