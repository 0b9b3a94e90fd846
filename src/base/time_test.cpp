#include "base/time.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pollux::base {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(BootTime, AddsAndSubtracts) {
    static_assert(BootTime{5} + 3ns == BootTime{8});
    static_assert(3ns + BootTime{5} == BootTime{8});
    static_assert(BootTime{5} - 8ns == BootTime{-3});
    static_assert(BootTime{5} - BootTime{8} == -3ns);
    static_assert(BootTime{5} < BootTime{6});
    BootTime time{1};
    time += 2s;
    time -= 1s;
    EXPECT_EQ(time.ns, 1'000'000'001);
}

TEST(BootTime, SaturatesInsteadOfWrapping) {
    EXPECT_EQ(BootTime::max() + 1h, BootTime::max());
    EXPECT_EQ(BootTime::min() - 1h, BootTime::min());
    EXPECT_EQ(BootTime{-2} - Duration::max(), BootTime::min());
    EXPECT_EQ(BootTime{0} - Duration::min(), BootTime::max());
    EXPECT_EQ(BootTime{1} + Duration::max(), BootTime::max());
    EXPECT_EQ(BootTime{-1} + Duration::min(), BootTime::min());
    EXPECT_EQ(BootTime::max() - BootTime::min(), Duration::max());
    EXPECT_EQ(BootTime::min() - BootTime::max(), Duration::min());
}

TEST(WallTime, CountsMicroseconds) {
    EXPECT_EQ(WallTime{10} + 2us, WallTime{12});
    EXPECT_EQ(2us + WallTime{10}, WallTime{12});
    EXPECT_EQ(WallTime{10} - 2us, WallTime{8});
    EXPECT_EQ(WallTime{10} - WallTime{4}, 6us);
    EXPECT_EQ(WallTime::max() - WallTime{0}, Duration::max());
    EXPECT_EQ(WallTime::min() - WallTime{0}, Duration::min());
    EXPECT_EQ(WallTime::max() + 1s, WallTime::max());
    EXPECT_EQ(WallTime::min() - 1s, WallTime::min());
}

TEST(WallTime, DropsPartsOfAMicrosecondTowardsThePast) {
    EXPECT_EQ(WallTime{0} + 1'999ns, WallTime{1});
    EXPECT_EQ(WallTime{0} + -1ns, WallTime{-1});
    EXPECT_EQ(WallTime{0} - 1ns, WallTime{-1});
    EXPECT_EQ(WallTime{0} - 1'000ns, WallTime{-1});
}

TEST(Instant, ComparesBothClocks) {
    const Instant instant{BootTime{1}, WallTime{2}};
    EXPECT_EQ(instant, (Instant{BootTime{1}, WallTime{2}}));
    EXPECT_NE(instant, (Instant{BootTime{1}, WallTime{3}}));
    EXPECT_NE(instant, (Instant{BootTime{0}, WallTime{2}}));
}

TEST(Duration, SaturatingMultiply) {
    EXPECT_EQ(saturating_mul(3s, 4), 12s);
    EXPECT_EQ(saturating_mul(-3s, 4), -12s);
    EXPECT_EQ(saturating_mul(Duration::max(), 2), Duration::max());
    EXPECT_EQ(saturating_mul(Duration::max(), -2), Duration::min());
    EXPECT_EQ(saturating_mul(Duration::min(), -1), Duration::max());
    EXPECT_EQ(saturating_mul(Duration::min(), 2), Duration::min());
}

TEST(Duration, SecondsAsDouble) {
    EXPECT_EQ(to_seconds(1'500ms), 1.5);
    EXPECT_EQ(to_seconds(-1ns), -1e-9);
    EXPECT_EQ(from_seconds(1.5), 1'500ms);
    EXPECT_EQ(from_seconds(0.35), 350ms);
    EXPECT_EQ(from_seconds(-0.35), -350ms);
    EXPECT_EQ(from_seconds(1e-9 * 0.6), 1ns);
    EXPECT_EQ(from_seconds(1e-9 * 0.4), 0ns);
    EXPECT_EQ(from_seconds(-1e-9 * 0.6), -1ns);
    EXPECT_EQ(from_seconds(0.0), 0ns);
}

TEST(Duration, SecondsThatAreNoTime) {
    EXPECT_EQ(from_seconds(std::numeric_limits<double>::quiet_NaN()), 0ns);
    EXPECT_EQ(from_seconds(std::numeric_limits<double>::infinity()), Duration::max());
    EXPECT_EQ(from_seconds(-std::numeric_limits<double>::infinity()), Duration::min());
    EXPECT_EQ(from_seconds(9.3e9), Duration::max());
    EXPECT_EQ(from_seconds(-9.3e9), Duration::min());
}

TEST(Duration, RoundsToMilliseconds) {
    EXPECT_EQ(round_to_ms(1'499'999ns), 1ms);
    EXPECT_EQ(round_to_ms(1'500'000ns), 2ms);
    EXPECT_EQ(round_to_ms(-1'500'000ns), -1ms);
    EXPECT_EQ(round_to_ms(-1'500'001ns), -2ms);
    EXPECT_EQ(round_to_ms(-400'000ns), 0ms);
    EXPECT_EQ(round_to_ms(7ms), 7ms);
    EXPECT_EQ(round_to_ms(Duration::max()), Duration::max());
    EXPECT_EQ(round_to_ms(Duration::min()), Duration::min());
}

TEST(Duration, CeilsToMilliseconds) {
    EXPECT_EQ(ceil_ms(Duration{0}), 0);
    EXPECT_EQ(ceil_ms(1ns), 1);
    EXPECT_EQ(ceil_ms(1ms), 1);
    EXPECT_EQ(ceil_ms(-1ns), 0);
    EXPECT_EQ(ceil_ms(-1'000'001ns), -1);
    EXPECT_EQ(ceil_ms(BootTime{1'000'001}), 2);
    EXPECT_EQ(ceil_ms(BootTime{kMin}), kMin / 1'000'000);
}

TEST(FormatDuration, BelowAMinute) {
    EXPECT_EQ(format_duration(0ns), "0 s");
    EXPECT_EQ(format_duration(7ns), "7 ns");
    EXPECT_EQ(format_duration(999ns), "999 ns");
    EXPECT_EQ(format_duration(1'250ns), "1.25 µs");
    EXPECT_EQ(format_duration(350ms), "350 ms");
    EXPECT_EQ(format_duration(350'400us), "350 ms");
    EXPECT_EQ(format_duration(1'500ms), "1.5 s");
    EXPECT_EQ(format_duration(1'050ms), "1.05 s");
    EXPECT_EQ(format_duration(12'340ms), "12.3 s");
    EXPECT_EQ(format_duration(59s), "59 s");
}

TEST(FormatDuration, FromAMinuteOn) {
    EXPECT_EQ(format_duration(60s), "1 min");
    EXPECT_EQ(format_duration(90s), "1 min 30 s");
    EXPECT_EQ(format_duration(2h + 5min), "2 h 5 min");
    EXPECT_EQ(format_duration(2h + 5min + 20s), "2 h 5 min");
    EXPECT_EQ(format_duration(24h), "1 d");
    EXPECT_EQ(format_duration(400 * 24h + 3h), "400 d 3 h");
}

TEST(FormatDuration, RoundingCarriesIntoTheNextUnit) {
    EXPECT_EQ(format_duration(999'999ns), "1 ms");
    EXPECT_EQ(format_duration(999'600us), "1 s");
    EXPECT_EQ(format_duration(9'999ms), "10 s");
    EXPECT_EQ(format_duration(59'990ms), "1 min");
    EXPECT_EQ(format_duration(3'599'700ms), "1 h");
    EXPECT_EQ(format_duration(24h - 10s), "1 d");
}

TEST(FormatDuration, NegativeAndExtreme) {
    EXPECT_EQ(format_duration(-1'500ms), "-1.5 s");
    EXPECT_EQ(format_duration(Duration::max()), "106752 d");
    EXPECT_EQ(format_duration(Duration::min()), "-106752 d");
}

TEST(FormatUtc, KnownMoments) {
    EXPECT_EQ(format_utc(WallTime{0}), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(format_utc(WallTime{1'709'164'799'999'999}), "2024-02-28T23:59:59.999Z");
    EXPECT_EQ(format_utc(WallTime{1'709'164'800'000'000}), "2024-02-29T00:00:00.000Z");
    EXPECT_EQ(format_utc(WallTime{1'000'000'000'123'456}), "2001-09-09T01:46:40.123Z");
    EXPECT_EQ(format_utc(WallTime{-1}), "1969-12-31T23:59:59.999Z");
    EXPECT_EQ(format_utc(WallTime{253'402'300'799'999'999}), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(format_utc(WallTime{-62'167'219'200'000'000}), "0000-01-01T00:00:00.000Z");
}

TEST(FormatUtc, ClampsToWhatTheFormatCanSay) {
    EXPECT_EQ(format_utc(WallTime::max()), "9999-12-31T23:59:59.999Z");
    EXPECT_EQ(format_utc(WallTime::min()), "0000-01-01T00:00:00.000Z");
}

TEST(ParseUtc, ReadsBackWhatIsWritten) {
    for (const std::int64_t us : {0L, 1'772'323'199'999'000L, -62'167'219'200'000'000L,
                                  253'402'300'799'999'000L, 951'782'400'000'000L}) {
        EXPECT_EQ(parse_utc(format_utc(WallTime{us})), WallTime{us}) << us;
    }
}

TEST(ParseUtc, TakesOffsetsFractionsAndDates) {
    EXPECT_EQ(parse_utc("1970-01-01"), WallTime{0});
    EXPECT_EQ(parse_utc("1970-01-01T00:00:01Z"), WallTime{1'000'000});
    EXPECT_EQ(parse_utc("1970-01-01 00:00:01.5z"), WallTime{1'500'000});
    EXPECT_EQ(parse_utc("1970-01-01T02:00:00+02:00"), WallTime{0});
    EXPECT_EQ(parse_utc("1969-12-31T19:00:00-05:00"), WallTime{0});
    EXPECT_EQ(parse_utc("1970-01-01T00:00:00.123456789Z"), WallTime{123'456});
    EXPECT_EQ(parse_utc("1970-01-01T00:00:60Z"), WallTime{60'000'000});
}

TEST(ParseUtc, RefusesWhatIsNoTime) {
    for (const char* text : {"", "1970", "1970-1-1", "1970-02-30", "1970-13-01", "1970-01-01T",
                             "1970-01-01T00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z",
                             "1970-01-01T00:00:61Z", "1970-01-01T00:00:00", "1970-01-01T00:00:00.Z",
                             "1970-01-01T00:00:00.1234567890Z", "1970-01-01T00:00:00+2:00",
                             "1970-01-01T00:00:00Z ", "-970-01-01", "1970-01-01T00:00:00+"}) {
        EXPECT_EQ(parse_utc(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace pollux::base
