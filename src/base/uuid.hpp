// UUID version 7 (RFC 9562) from time and random bits that are handed in: ids that sort by when
// they were made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace pollux::base {

// 36 characters, lower case. Uses the milliseconds of `now` (48 bits; times before 1970 count as
// 1970), 12 bits of `high` and 62 bits of `low`.
std::string make_uuid7(WallTime now, std::uint64_t high, std::uint64_t low);

// When it was made, to the millisecond; nothing if it is none of version 7.
std::optional<WallTime> uuid7_time(std::string_view text);

// The form above, of any version.
bool is_uuid(std::string_view text);

}  // namespace pollux::base
