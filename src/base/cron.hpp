// A cron expression of five fields: minute, hour, day of month, month, day of week. Only which
// minutes it names; time zones are added by base/time_zone.hpp.
//
// Fields are lists of *, numbers, ranges a-b and steps */n or a-b/n; months and days of week may be
// named (jan, mon), 7 is Sunday. As in every cron: when day of month and day of week are both
// restricted, either of them is enough. @hourly, @daily, @weekly, @monthly and @yearly are known.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace pollux::base {

struct Cron {
    std::uint64_t minutes = 0;  // a bit each, from 0
    std::uint32_t hours = 0;
    std::uint32_t days = 0;    // bit 1 to 31
    std::uint32_t months = 0;  // bit 1 to 12
    std::uint32_t weekdays = 0;
    bool any_day = true;      // day of month begins with *
    bool any_weekday = true;  // day of week begins with *

    bool on_day(std::chrono::year_month_day date) const;
    bool at(unsigned hour, unsigned minute) const {
        return ((hours >> hour) & 1U) != 0 && ((minutes >> minute) & 1U) != 0;
    }
    bool operator==(const Cron&) const = default;
};

// Error cron.invalid: which field is wrong, and what would be right. A day that no month has
// (30 February) is refused too.
Result<Cron> parse_cron(std::string_view text);

}  // namespace pollux::base
