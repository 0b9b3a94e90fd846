// What a scalar's text means as a number, a truth value or a duration. Strict: what is not wholly
// understood is nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace pollux::document {

std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<std::uint64_t> parse_unsigned(std::string_view text);
std::optional<double> parse_number(std::string_view text);  // finite; "1e3", "-0.5", not ".5"
std::optional<bool> parse_boolean(std::string_view text);   // true, True, TRUE, false, ...

// "12", or with a unit: k M G T P (thousands), Ki Mi Gi Ti Pi (1024), each with or without a B:
// "16GiB", "500M". Not negative.
std::optional<std::int64_t> parse_amount(std::string_view text);

// "10s", "5m", "1h30m", "250ms", "1d", "1.5s", or a bare number of seconds. Units d h m s ms us
// from the largest to the smallest, each once; not negative.
std::optional<base::Duration> parse_duration(std::string_view text);

// The exact shortest text that parse_duration reads back: "1h30m", "250ms", "0s". Parts below a
// microsecond are dropped.
std::string duration_text(base::Duration duration);

// Whether the text is a number as JSON writes it.
bool is_json_number(std::string_view text);

}  // namespace pollux::document
