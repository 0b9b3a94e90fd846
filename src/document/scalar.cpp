#include "document/scalar.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace pollux::document {
namespace {

template <class T>
std::optional<T> whole(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    T value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end - at;
}

struct Unit {
    std::string_view name;
    std::int64_t nanos;
};

constexpr std::array<Unit, 6> kUnits = {{{"d", 86'400'000'000'000},
                                         {"h", 3'600'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000}}};
constexpr double kMostSeconds = 9e9;  // some 285 years: what 64 bits of nanoseconds hold

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
    return whole<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
    return whole<std::uint64_t>(text);
}

std::optional<std::int64_t> parse_amount(std::string_view text) {
    constexpr std::string_view kLetters = "kMGTP";
    const std::size_t end = digits(text, 0);
    const auto number = whole<std::int64_t>(text.substr(0, end));
    std::string_view unit = text.substr(end);
    if (!number || !is_digit(text.front())) return std::nullopt;
    if (unit.ends_with('B')) unit.remove_suffix(1);
    if (unit.empty()) return number;
    const bool binary = unit.size() == 2 && unit[1] == 'i';
    const std::size_t step = unit[0] == 'K' && binary ? 0 : kLetters.find(unit[0]);
    if (step == std::string_view::npos || (unit.size() != 1 && !binary)) return std::nullopt;
    std::int64_t amount = *number;
    for (std::size_t i = 0; i <= step; ++i) {
        if (__builtin_mul_overflow(amount, binary ? 1024 : 1000, &amount)) return std::nullopt;
    }
    return amount;
}

bool is_json_number(std::string_view text) {
    std::size_t at = text.starts_with('-') ? 1 : 0;
    const std::size_t integer = digits(text, at);
    if (integer == 0 || (integer > 1 && text[at] == '0')) return false;
    at += integer;
    if (at < text.size() && text[at] == '.') {
        const std::size_t fraction = digits(text, at + 1);
        if (fraction == 0) return false;
        at += 1 + fraction;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        const std::size_t exponent = digits(text, at);
        if (exponent == 0) return false;
        at += exponent;
    }
    return at == text.size();
}

std::optional<double> parse_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    if (!is_json_number(text)) return std::nullopt;
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<bool> parse_boolean(std::string_view text) {
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    return std::nullopt;
}

std::optional<base::Duration> parse_duration(std::string_view text) {
    if (const auto seconds = parse_number(text)) {
        if (*seconds < 0 || *seconds > kMostSeconds) return std::nullopt;
        return base::from_seconds(*seconds);
    }
    std::size_t at = 0;
    std::size_t next_unit = 0;  // units only get smaller
    double total = 0;
    while (at < text.size()) {
        const std::size_t start = at;
        at += digits(text, at);
        if (at == start) return std::nullopt;
        if (at < text.size() && text[at] == '.') {
            const std::size_t fraction = digits(text, at + 1);
            if (fraction == 0) return std::nullopt;
            at += 1 + fraction;
        }
        double value = 0;
        std::from_chars(text.data() + start, text.data() + at, value);
        const std::size_t unit_start = at;
        while (at < text.size() && text[at] >= 'a' && text[at] <= 'z') ++at;
        const std::string_view unit = text.substr(unit_start, at - unit_start);
        while (next_unit < kUnits.size() && kUnits[next_unit].name != unit) ++next_unit;
        if (next_unit == kUnits.size()) return std::nullopt;
        total += value * static_cast<double>(kUnits[next_unit].nanos) / 1e9;
        ++next_unit;
    }
    if (text.empty() || total > kMostSeconds) return std::nullopt;
    return base::from_seconds(total);
}

std::string duration_text(base::Duration duration) {
    std::int64_t rest = duration.count();
    std::string out;
    for (const Unit& unit : kUnits) {
        if (rest < unit.nanos) continue;
        out += fmt::format("{}{}", rest / unit.nanos, unit.name);
        rest %= unit.nanos;
    }
    return out.empty() ? "0s" : out;
}

}  // namespace pollux::document
