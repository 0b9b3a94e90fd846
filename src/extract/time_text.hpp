// Times as devices write them: strptime's letters, without locales and without a clock.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "model/value.hpp"

namespace pollux::extract {

// Understands %Y %y %m %d %e %H %I %M %S %f (fraction) %p %b %B %a %A %j %z (+02:00, +0200, Z) %Z
// (UTC, GMT, Z) %s (seconds since 1970) %T %D %F %%; a blank in the format is any number of blanks.
// Without an offset the time is UTC. nullopt: the text does not fit wholly, or is no time.
std::optional<base::WallTime> parse_time(std::string_view text, std::string_view format);

// Whether every letter of the format is understood.
bool is_time_format(std::string_view format);

// The usual forms: ISO 8601 with or without fraction and offset, "date time", a date, and numbers
// as seconds or, where they are that large, milliseconds since 1970.
std::optional<base::WallTime> guess_time(const model::Value& value);

// "2026-02-03T04:05:06Z"
std::string iso_time(base::WallTime time);

}  // namespace pollux::extract
