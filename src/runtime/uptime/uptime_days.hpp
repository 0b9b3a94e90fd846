// How long something was up and down, by day (UTC), for the last 90 days.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace pollux::runtime {

enum class UptimeState : std::uint8_t { kUnknown, kUp, kDown };
std::string_view to_string(UptimeState state);

// Days since 1970.
std::int64_t day_of(base::WallTime time);
base::WallTime start_of_day(std::int64_t day);
// "2026-01-31".
std::string day_text(std::int64_t day);

struct UptimeSum {
    std::int64_t up_us = 0;
    std::int64_t down_us = 0;

    void add(UptimeState state, std::int64_t us) {
        if (state == UptimeState::kUp) up_us += us;
        if (state == UptimeState::kDown) down_us += us;
    }
    // Nothing: nothing is known.
    std::optional<double> share() const {
        const std::int64_t known = up_us + down_us;
        if (known <= 0) return std::nullopt;
        return static_cast<double>(up_us) / static_cast<double>(known);
    }
    bool operator==(const UptimeSum&) const = default;
};

// Only days of which something is known, in their order.
class UptimeDays {
  public:
    static constexpr std::int64_t kKept = 90;

    struct Day {
        std::int64_t day = 0;
        UptimeSum sum;
        bool operator==(const Day&) const = default;
    };

    // Spreads a span over its days. Of a longer one the last kKept days count. The newest kKept
    // days of which something is known stay, however far they lie apart: a clock that is ahead for
    // a while must not cost what was.
    void add(UptimeState state, base::WallTime from, base::WallTime until);
    // Whether there was something.
    bool forget_after(std::int64_t day);

    const std::vector<Day>& days() const { return days_; }
    // As they were stored; what is not in order is left out.
    void recall(std::vector<Day> days);
    bool operator==(const UptimeDays&) const = default;

  private:
    std::vector<Day> days_;
};

}  // namespace pollux::runtime
