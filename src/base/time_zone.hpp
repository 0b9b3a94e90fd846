// A time zone: which offset from UTC the clocks of a place show, now and by its rule for the
// future. Made from the bytes of a TZif file (RFC 8536), which the caller reads; immutable, may be
// used by several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace pollux::base {

// The rule at the end of a TZif file, in the form of POSIX TZ: "CET-1CEST,M3.5.0,M10.5.0/3".
// Offsets are seconds east of UTC.
struct ZoneRule {
    enum class DayForm : std::uint8_t { kJulian, kZeroBased, kMonthWeekDay };
    struct Change {
        DayForm form = DayForm::kJulian;
        int month = 0;
        int week = 0;
        int day = 0;          // of the year, or of the week
        int seconds = 7'200;  // local, from midnight; may be negative or past a day
        bool operator==(const Change&) const = default;
    };
    int standard = 0;
    std::optional<int> summer;
    Change begin;  // of summer time
    Change end;

    std::int64_t offset_at(std::int64_t unix_seconds) const;
    bool operator==(const ZoneRule&) const = default;
};

std::optional<ZoneRule> parse_zone_rule(std::string_view text);

class TimeZone {
  public:
    TimeZone() = default;  // UTC

    // Error zone.invalid: bytes that are no TZif file of version 2 or later.
    static Result<TimeZone> parse(std::string_view bytes);

    // Seconds east of UTC.
    std::int64_t offset_at(WallTime time) const;

    // The moments at which clocks show a local time (in seconds since 1970 as if it were UTC). It
    // happens twice when clocks go back: first and last. It does not happen when they are set
    // forward over it: both are the moment of the change.
    struct Moments {
        WallTime first;
        WallTime last;
    };
    Moments moments_of(std::int64_t local_seconds) const;

    // What clocks show, in seconds since 1970 as if it were UTC.
    std::int64_t local_seconds(WallTime time) const;

  private:
    std::int64_t offset_at_second(std::int64_t second) const;

    std::vector<std::int64_t> changes_;  // ascending
    std::vector<std::int32_t> offsets_;  // from the change of the same place on
    std::int32_t first_offset_ = 0;      // before the first change
    ZoneRule rule_;                      // after the last change
};

}  // namespace pollux::base
