// Time as values: nothing here reads a clock, `now` is always handed in.
//
// Invariants
// 1. BootTime (nanoseconds of CLOCK_BOOTTIME) decides; WallTime (microseconds since 1970, UTC) is
//    only shown and stored.
// 2. Arithmetic saturates: BootTime::max() means "never", and never plus an hour is still never.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace pollux::base {

using Duration = std::chrono::nanoseconds;

namespace detail {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();

constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b > 0 ? kInt64Max : kInt64Min;
}

constexpr std::int64_t saturating_sub(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b < 0 ? kInt64Max : kInt64Min;
}

constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a > 0) == (b > 0) ? kInt64Max : kInt64Min;
}

// Division towards minus infinity; divisor > 0.
constexpr std::int64_t floor_div(std::int64_t value, std::int64_t divisor) {
    const std::int64_t quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

// Division towards plus infinity; divisor > 0.
constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) {
    const std::int64_t quotient = value / divisor;
    return value % divisor > 0 ? quotient + 1 : quotient;
}

constexpr std::int64_t kNanosPerMicro = 1'000;
constexpr std::int64_t kNanosPerMilli = 1'000'000;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

}  // namespace detail

constexpr Duration saturating_mul(Duration duration, std::int64_t factor) {
    return Duration{detail::saturating_mul(duration.count(), factor)};
}

// Nanoseconds since boot, counted through suspend.
struct BootTime {
    std::int64_t ns = 0;

    auto operator<=>(const BootTime&) const = default;

    static constexpr BootTime max();  // "never"
    static constexpr BootTime min();

    constexpr BootTime& operator+=(Duration duration) {
        ns = detail::saturating_add(ns, duration.count());
        return *this;
    }
    constexpr BootTime& operator-=(Duration duration) {
        ns = detail::saturating_sub(ns, duration.count());
        return *this;
    }
};

constexpr BootTime BootTime::max() { return BootTime{detail::kInt64Max}; }
constexpr BootTime BootTime::min() { return BootTime{detail::kInt64Min}; }

constexpr BootTime operator+(BootTime time, Duration duration) { return time += duration; }
constexpr BootTime operator+(Duration duration, BootTime time) { return time += duration; }
constexpr BootTime operator-(BootTime time, Duration duration) { return time -= duration; }
constexpr Duration operator-(BootTime a, BootTime b) {
    return Duration{detail::saturating_sub(a.ns, b.ns)};
}

// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
struct WallTime {
    std::int64_t us = 0;

    auto operator<=>(const WallTime&) const = default;

    static constexpr WallTime max();
    static constexpr WallTime min();

    // A part of a microsecond is dropped towards the past.
    constexpr WallTime& operator+=(Duration duration) {
        us =
            detail::saturating_add(us, detail::floor_div(duration.count(), detail::kNanosPerMicro));
        return *this;
    }
    constexpr WallTime& operator-=(Duration duration) {
        us = detail::saturating_sub(us, detail::ceil_div(duration.count(), detail::kNanosPerMicro));
        return *this;
    }
};

constexpr WallTime WallTime::max() { return WallTime{detail::kInt64Max}; }
constexpr WallTime WallTime::min() { return WallTime{detail::kInt64Min}; }

constexpr WallTime operator+(WallTime time, Duration duration) { return time += duration; }
constexpr WallTime operator+(Duration duration, WallTime time) { return time += duration; }
constexpr WallTime operator-(WallTime time, Duration duration) { return time -= duration; }
constexpr Duration operator-(WallTime a, WallTime b) {
    return Duration{
        detail::saturating_mul(detail::saturating_sub(a.us, b.us), detail::kNanosPerMicro)};
}

// One moment on both clocks: what every step of the core is given.
struct Instant {
    BootTime boot;
    WallTime wall;

    bool operator==(const Instant&) const = default;
};

constexpr double to_seconds(Duration duration) {
    return static_cast<double>(duration.count()) / 1e9;
}

// Nearest nanosecond; saturates; NaN becomes 0.
constexpr Duration from_seconds(double seconds) {
    const double nanos = seconds * 1e9;
    if (!(nanos == nanos)) return Duration::zero();
    if (nanos >= 0x1p63) return Duration::max();
    if (nanos <= -0x1p63) return Duration::min();
    const std::int64_t whole = static_cast<std::int64_t>(nanos);
    const double rest = nanos - static_cast<double>(whole);
    if (rest >= 0.5) return Duration{whole + 1};
    if (rest <= -0.5) return Duration{whole - 1};
    return Duration{whole};
}

// Nearest millisecond, half up (towards plus infinity); saturates.
constexpr Duration round_to_ms(Duration duration) {
    const std::int64_t floor = detail::floor_div(duration.count(), detail::kNanosPerMilli);
    const std::int64_t rest = duration.count() % detail::kNanosPerMilli;
    const std::int64_t above = rest < 0 ? rest + detail::kNanosPerMilli : rest;
    const std::int64_t millis = above >= detail::kNanosPerMilli / 2 ? floor + 1 : floor;
    return Duration{detail::saturating_mul(millis, detail::kNanosPerMilli)};
}

// Whole milliseconds, rounded towards plus infinity.
constexpr std::int64_t ceil_ms(Duration duration) {
    return detail::ceil_div(duration.count(), detail::kNanosPerMilli);
}
constexpr std::int64_t ceil_ms(BootTime time) {
    return detail::ceil_div(time.ns, detail::kNanosPerMilli);
}

// Short form for people: "350 ms", "1.5 s", "2 h 5 min". Three digits below a minute, two units
// from there on; rounded, never exact.
std::string format_duration(Duration duration);

// RFC 3339 in UTC, cut to milliseconds: "2026-02-28T23:59:59.999Z". Times outside the years
// 0000 to 9999, which the format cannot express, become the nearest that it can.
std::string format_utc(WallTime time);
void append_utc(std::string& out, WallTime time);

// RFC 3339 with a fraction of up to nine digits (cut to microseconds) and `Z` or an offset; also a
// date alone, which is its first moment in UTC. A leap second is the next second.
std::optional<WallTime> parse_utc(std::string_view text);

}  // namespace pollux::base
