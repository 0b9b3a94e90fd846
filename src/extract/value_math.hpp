// Arithmetic and order over values: total, exact for integers of 64 bits, the same on every
// machine. Whatever has no answer is null.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "model/value.hpp"

namespace pollux::extract {

bool is_null(const model::Value& value);
bool is_integer(const model::Value& value);
bool is_number(const model::Value& value);   // integer or double
bool is_ordered(const model::Value& value);  // a number or a text: < has a meaning

std::optional<double> as_double(const model::Value& value);  // numbers only

// Numbers by value (3 == 3.0, exact for 64 bits), texts by bytes, truth values and null by
// equality; unordered for different kinds.
std::partial_ordering compare_values(const model::Value& a, const model::Value& b);

// Two integers give an integer where it fits 64 bits (signed, else unsigned), else a double.
model::Value add(const model::Value& a, const model::Value& b);  // two texts are joined
model::Value subtract(const model::Value& a, const model::Value& b);
model::Value multiply(const model::Value& a, const model::Value& b);
model::Value divide(const model::Value& a, const model::Value& b);     // exact if it comes out even
model::Value remainder(const model::Value& a, const model::Value& b);  // integers only
model::Value negate(const model::Value& value);

// A text that is wholly a number, a truth value (0, 1) or a number itself; else null.
model::Value to_number(const model::Value& value);

// For people and for texts: "12", "0.5", "true", the text itself, "" for null.
std::string to_text(const model::Value& value);

}  // namespace pollux::extract
