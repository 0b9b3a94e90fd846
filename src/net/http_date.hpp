// Dates in HTTP headers.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace pollux::net {

// "Sun, 06 Nov 1994 08:49:37 GMT" and the two older forms that RFC 9110 still wants understood.
std::optional<base::WallTime> parse_http_date(std::string_view text);

// What a Retry-After header says: seconds, or a date. Never negative; at most a day, because who
// asks for more has made a mistake. Nothing if it cannot be understood.
std::optional<base::Duration> parse_retry_after(std::string_view text, base::WallTime now);

}  // namespace pollux::net
