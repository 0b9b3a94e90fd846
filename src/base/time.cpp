#include "base/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace pollux::base {
namespace {

struct Unit {
    std::uint64_t ns;
    std::string_view name;
};

// Ascending. Below a minute a duration is one decimal number, above it is two whole units.
constexpr std::array<Unit, 7> kUnits{{{1, "ns"},
                                      {1'000, "µs"},
                                      {1'000'000, "ms"},
                                      {1'000'000'000, "s"},
                                      {60'000'000'000, "min"},
                                      {3'600'000'000'000, "h"},
                                      {86'400'000'000'000, "d"}}};
constexpr std::size_t kSecond = 3;

constexpr std::uint64_t round_to(std::uint64_t value, std::uint64_t quantum) {
    return (value + quantum / 2) / quantum * quantum;
}

std::size_t largest_unit_within(std::uint64_t ns) {
    std::size_t unit = 0;
    while (unit + 1 < kUnits.size() && kUnits[unit + 1].ns <= ns) ++unit;
    return unit;
}

// The smallest step that is still shown for a duration of this size.
std::uint64_t shown_step(std::uint64_t ns, std::size_t unit) {
    if (unit > kSecond) return kUnits[unit - 1].ns;
    const std::uint64_t size = kUnits[unit].ns;
    if (size == 1) return 1;
    if (ns < 10 * size) return size / 100;
    return ns < 100 * size ? size / 10 : size;
}

std::string format_decimal(std::uint64_t ns, const Unit& unit) {
    std::string text = fmt::format("{}", ns / unit.ns);
    const std::uint64_t hundredths = unit.ns == 1 ? 0 : ns % unit.ns * 100 / unit.ns;
    if (hundredths != 0) {
        text += fmt::format(".{:02}", hundredths);
        if (text.back() == '0') text.pop_back();
    }
    return fmt::format("{} {}", text, unit.name);
}

std::string format_two_units(std::uint64_t ns, std::size_t unit) {
    const Unit& big = kUnits[unit];
    const Unit& small = kUnits[unit - 1];
    const std::uint64_t rest = ns % big.ns / small.ns;
    if (rest == 0) return fmt::format("{} {}", ns / big.ns, big.name);
    return fmt::format("{} {} {} {}", ns / big.ns, big.name, rest, small.name);
}

}  // namespace

std::string format_duration(Duration duration) {
    if (duration == Duration::zero()) return "0 s";
    const bool negative = duration < Duration::zero();
    const auto bits = static_cast<std::uint64_t>(duration.count());
    const std::uint64_t magnitude = negative ? 0 - bits : bits;

    // Rounding first, so that 59.999 s is "1 min" and not "60 s".
    const std::uint64_t ns =
        round_to(magnitude, shown_step(magnitude, largest_unit_within(magnitude)));
    const std::size_t unit = largest_unit_within(ns);
    const std::string text =
        unit > kSecond ? format_two_units(ns, unit) : format_decimal(ns, kUnits[unit]);
    return negative ? "-" + text : text;
}

void append_utc(std::string& out, WallTime time) {
    namespace chrono = std::chrono;
    constexpr std::int64_t kMillisPerDay = 86'400'000;
    constexpr std::int64_t kFirst = -719'528 * kMillisPerDay;      // 0000-01-01
    constexpr std::int64_t kLast = 2'932'897 * kMillisPerDay - 1;  // 9999-12-31, last ms
    const std::int64_t millis = std::clamp(detail::floor_div(time.us, 1'000), kFirst, kLast);

    const std::int64_t day = detail::floor_div(millis, kMillisPerDay);
    const std::int64_t in_day = millis - day * kMillisPerDay;
    const chrono::year_month_day date{chrono::sys_days{chrono::days{day}}};
    // By hand: pages with many times are written at the speed of their bytes.
    char text[] = "0000-00-00T00:00:00.000Z";
    const auto put = [&text](std::size_t end, std::int64_t value, int digits) {
        for (; digits > 0; --digits, value /= 10) text[--end] = static_cast<char>('0' + value % 10);
    };
    put(4, static_cast<int>(date.year()), 4);
    put(7, static_cast<unsigned>(date.month()), 2);
    put(10, static_cast<unsigned>(date.day()), 2);
    put(13, in_day / 3'600'000, 2);
    put(16, in_day / 60'000 % 60, 2);
    put(19, in_day / 1'000 % 60, 2);
    put(23, in_day % 1'000, 3);
    out.append(text, sizeof(text) - 1);
}

std::string format_utc(WallTime time) {
    std::string out;
    append_utc(out, time);
    return out;
}

namespace {

// Takes exactly `count` digits from the front; -1: they are not there.
std::int64_t take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return -1;
    std::int64_t value = 0;
    for (const char c : text.substr(0, count)) {
        if (c < '0' || c > '9') return -1;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take_char(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// `hh` `separator` `mm`, in minutes; -1: not there or out of range.
std::int64_t take_hours_minutes(std::string_view& text) {
    const std::int64_t hours = take_digits(text, 2);
    if (!take_char(text, ":")) return -1;
    const std::int64_t minutes = take_digits(text, 2);
    return hours < 0 || hours > 23 || minutes < 0 || minutes > 59 ? -1 : hours * 60 + minutes;
}

// The fraction after the seconds, in microseconds; -1: a point without digits, or too many.
std::int64_t take_fraction(std::string_view& text) {
    if (!take_char(text, ".")) return 0;
    std::int64_t micros = 0;
    std::size_t digits = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; ++digits) {
        if (digits < 6) micros = micros * 10 + (text.front() - '0');
        text.remove_prefix(1);
    }
    if (digits == 0 || digits > 9) return -1;
    for (std::size_t have = digits; have < 6; ++have) micros *= 10;
    return micros;
}

// Minutes east of UTC.
std::optional<std::int64_t> take_offset(std::string_view& text) {
    if (take_char(text, "Zz")) return 0;
    const bool west = !text.empty() && text.front() == '-';
    if (!take_char(text, "+-")) return std::nullopt;
    const std::int64_t minutes = take_hours_minutes(text);
    if (minutes < 0) return std::nullopt;
    return west ? -minutes : minutes;
}

}  // namespace

std::optional<WallTime> parse_utc(std::string_view text) {
    namespace chrono = std::chrono;
    const std::int64_t year = take_digits(text, 4);
    if (year < 0 || !take_char(text, "-")) return std::nullopt;
    const std::int64_t month = take_digits(text, 2);
    if (month < 0 || !take_char(text, "-")) return std::nullopt;
    const std::int64_t day = take_digits(text, 2);
    if (day < 0) return std::nullopt;
    const chrono::year_month_day date{chrono::year(static_cast<int>(year)),
                                      chrono::month(static_cast<unsigned>(month)),
                                      chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    std::int64_t seconds = chrono::sys_days(date).time_since_epoch().count() * 86'400;
    if (text.empty()) return WallTime{seconds * 1'000'000};
    if (!take_char(text, "Tt ")) return std::nullopt;
    const std::int64_t minutes = take_hours_minutes(text);
    if (minutes < 0 || !take_char(text, ":")) return std::nullopt;
    const std::int64_t second = take_digits(text, 2);
    if (second < 0 || second > 60) return std::nullopt;
    const std::int64_t micros = take_fraction(text);
    if (micros < 0) return std::nullopt;
    const auto offset = take_offset(text);
    if (!offset || !text.empty()) return std::nullopt;
    seconds += (minutes - *offset) * 60 + second;
    return WallTime{seconds * 1'000'000 + micros};
}

}  // namespace pollux::base
