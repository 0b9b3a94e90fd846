// One value as it was read from a reply, before anything is derived from it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace pollux::model {

// Counters of 64 bits do not fit a double, so integers keep their own kind; unsigned only where a
// value is above the range of the signed one or comes from an unsigned type.
using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

}  // namespace pollux::model
