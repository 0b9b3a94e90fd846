#include "extract/value_math.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "document/scalar.hpp"

namespace pollux::extract {
namespace {

using model::Value;
__extension__ typedef __int128 Wide;

constexpr std::size_t kMaxText = 64 * 1024;

Wide wide(const Value& value) {
    if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return static_cast<Wide>(*u);
    return 0;
}

Value from_double(double value) { return std::isfinite(value) ? Value(value) : Value(); }

Value from_wide(Wide value) {
    if (value >= std::numeric_limits<std::int64_t>::min() &&
        value <= std::numeric_limits<std::int64_t>::max()) {
        return static_cast<std::int64_t>(value);
    }
    if (value > 0 && value <= static_cast<Wide>(std::numeric_limits<std::uint64_t>::max())) {
        return static_cast<std::uint64_t>(value);
    }
    return static_cast<double>(value);
}

template <class Exact, class Inexact>
Value arithmetic(const Value& a, const Value& b, Exact exact, Inexact inexact) {
    if (is_integer(a) && is_integer(b)) return from_wide(exact(wide(a), wide(b)));
    const auto x = as_double(a);
    const auto y = as_double(b);
    return x && y ? from_double(inexact(*x, *y)) : Value();
}

// An integer against a double without rounding the integer.
std::partial_ordering compare_wide(Wide a, double b) {
    if (!(b == b)) return std::partial_ordering::unordered;
    if (b >= 0x1p65) return std::partial_ordering::less;
    if (b <= -0x1p65) return std::partial_ordering::greater;
    const Wide whole = static_cast<Wide>(b);
    if (a != whole) return a < whole ? std::partial_ordering::less : std::partial_ordering::greater;
    return 0.0 <=> (b - static_cast<double>(whole));
}

std::partial_ordering reversed(std::partial_ordering order) { return 0 <=> order; }

}  // namespace

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

bool is_integer(const Value& value) {
    return std::holds_alternative<std::int64_t>(value) ||
           std::holds_alternative<std::uint64_t>(value);
}

bool is_number(const Value& value) {
    return is_integer(value) || std::holds_alternative<double>(value);
}

bool is_ordered(const Value& value) {
    return is_number(value) || std::holds_alternative<std::string>(value);
}

std::optional<double> as_double(const Value& value) {
    if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*u);
    if (const auto* d = std::get_if<double>(&value)) return *d;
    return std::nullopt;
}

std::partial_ordering compare_values(const Value& a, const Value& b) {
    if (is_number(a) && is_number(b)) {
        const auto* x = std::get_if<double>(&a);
        const auto* y = std::get_if<double>(&b);
        if (x != nullptr && y != nullptr) return *x <=> *y;
        if (x != nullptr) return reversed(compare_wide(wide(b), *x));
        if (y != nullptr) return compare_wide(wide(a), *y);
        return wide(a) < wide(b)   ? std::partial_ordering::less
               : wide(a) > wide(b) ? std::partial_ordering::greater
                                   : std::partial_ordering::equivalent;
    }
    if (a.index() != b.index()) return std::partial_ordering::unordered;
    if (const auto* text = std::get_if<std::string>(&a)) {
        const int order = text->compare(std::get<std::string>(b));
        return order <=> 0;
    }
    if (const auto* flag = std::get_if<bool>(&a)) {
        return *flag == std::get<bool>(b) ? std::partial_ordering::equivalent
                                          : std::partial_ordering::unordered;
    }
    return std::partial_ordering::equivalent;  // null and null
}

Value add(const Value& a, const Value& b) {
    const auto* x = std::get_if<std::string>(&a);
    const auto* y = std::get_if<std::string>(&b);
    if (x != nullptr && y != nullptr) {
        return x->size() + y->size() > kMaxText ? Value() : Value(*x + *y);
    }
    return arithmetic(
        a, b, [](Wide p, Wide q) { return p + q; }, [](double p, double q) { return p + q; });
}

Value subtract(const Value& a, const Value& b) {
    return arithmetic(
        a, b, [](Wide p, Wide q) { return p - q; }, [](double p, double q) { return p - q; });
}

Value multiply(const Value& a, const Value& b) {
    // The product of two unsigned 64-bit values may pass 127 bits; their doubles are enough then.
    if (is_integer(a) && is_integer(b)) {
        Wide product = 0;
        if (!__builtin_mul_overflow(wide(a), wide(b), &product)) return from_wide(product);
    }
    const auto x = as_double(a);
    const auto y = as_double(b);
    return x && y ? from_double(*x * *y) : Value();
}

Value divide(const Value& a, const Value& b) {
    if (is_integer(a) && is_integer(b)) {
        if (wide(b) == 0) return {};
        if (wide(a) % wide(b) == 0) return from_wide(wide(a) / wide(b));
    }
    const auto x = as_double(a);
    const auto y = as_double(b);
    return x && y && *y != 0 ? from_double(*x / *y) : Value();
}

Value remainder(const Value& a, const Value& b) {
    if (!is_integer(a) || !is_integer(b) || wide(b) == 0) return {};
    return from_wide(wide(a) % wide(b));
}

Value negate(const Value& value) {
    if (is_integer(value)) return from_wide(-wide(value));
    const auto number = as_double(value);
    return number ? Value(-*number) : Value();
}

Value to_number(const Value& value) {
    if (const auto* d = std::get_if<double>(&value)) return from_double(*d);
    if (is_number(value)) return value;
    if (const auto* flag = std::get_if<bool>(&value)) {
        return static_cast<std::int64_t>(*flag ? 1 : 0);
    }
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return {};
    std::string_view trimmed = *text;
    while (trimmed.starts_with(' ')) trimmed.remove_prefix(1);
    while (trimmed.ends_with(' ')) trimmed.remove_suffix(1);
    if (const auto i = document::parse_integer(trimmed)) return *i;
    if (const auto u = document::parse_unsigned(trimmed)) return *u;
    if (const auto d = document::parse_number(trimmed)) return *d;
    return {};
}

std::string to_text(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *u);
    if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
    return {};
}

}  // namespace pollux::extract
