#include "base/time_zone.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace pollux::base {
namespace {

std::string bytes_of(const std::string& name) {
    std::ifstream file("/usr/share/zoneinfo/" + name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

TimeZone zone(const std::string& name) {
    auto parsed = TimeZone::parse(bytes_of(name));
    EXPECT_TRUE(parsed) << name << ": " << (parsed ? "" : parsed.error().message);
    return parsed.value_or(TimeZone{});
}

WallTime at(const char* text) { return *parse_utc(text); }
std::int64_t local(const char* text) { return at(text).us / 1'000'000; }

TEST(TimeZone, WithoutDataItIsUtc) {
    const TimeZone utc;
    EXPECT_EQ(utc.offset_at(at("2026-07-01T00:00:00Z")), 0);
    EXPECT_EQ(utc.moments_of(1'000).first, WallTime{1'000'000'000});
}

TEST(TimeZone, SummerTimeBeginsAndEndsToTheSecond) {
    const TimeZone berlin = zone("Europe/Berlin");
    EXPECT_EQ(berlin.offset_at(at("2026-03-29T00:59:59Z")), 3'600);
    EXPECT_EQ(berlin.offset_at(at("2026-03-29T01:00:00Z")), 7'200);
    EXPECT_EQ(berlin.offset_at(at("2026-10-25T00:59:59Z")), 7'200);
    EXPECT_EQ(berlin.offset_at(at("2026-10-25T01:00:00Z")), 3'600);
    // By the rule, long after the table ends.
    EXPECT_EQ(berlin.offset_at(at("2090-07-01T00:00:00Z")), 7'200);
    EXPECT_EQ(berlin.offset_at(at("2090-12-01T00:00:00Z")), 3'600);
}

TEST(TimeZone, ALocalTimeThatIsLeftOutIsTheMomentOfTheChange) {
    const TimeZone berlin = zone("Europe/Berlin");
    const auto moments = berlin.moments_of(local("2026-03-29T02:30:00Z"));
    EXPECT_EQ(moments.first, at("2026-03-29T01:00:00Z"));
    EXPECT_EQ(moments.last, moments.first);
}

TEST(TimeZone, ALocalTimeThatComesTwiceHasBothMoments) {
    const TimeZone berlin = zone("Europe/Berlin");
    const auto moments = berlin.moments_of(local("2026-10-25T02:30:00Z"));
    EXPECT_EQ(moments.first, at("2026-10-25T00:30:00Z"));
    EXPECT_EQ(moments.last, at("2026-10-25T01:30:00Z"));
}

// The C library reads the same files: both must agree, hour by hour, over decades.
TEST(TimeZone, AgreesWithTheCLibrary) {
    const char* before = getenv("TZ");
    const std::string kept = before == nullptr ? "" : before;
    for (const char* name :
         {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
          "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia", "Europe/Dublin"}) {
        const TimeZone ours = zone(name);
        setenv("TZ", name, 1);
        tzset();
        for (std::int64_t second = 0; second < 3'000'000'000; second += 6'437'123) {
            const time_t moment = second;
            tm shown{};
            localtime_r(&moment, &shown);
            ASSERT_EQ(ours.offset_at(WallTime{second * 1'000'000}), shown.tm_gmtoff)
                << name << ' ' << second;
        }
    }
    if (before == nullptr) {
        unsetenv("TZ");
    } else {
        setenv("TZ", kept.c_str(), 1);
    }
    tzset();
}

TEST(TimeZone, EveryMomentIsAmongThoseOfItsLocalTime) {
    const TimeZone lord_howe = zone("Australia/Lord_Howe");  // clocks move by half an hour
    for (std::int64_t second = 1'790'000'000; second < 1'830'000'000; second += 599) {
        const WallTime moment{second * 1'000'000};
        const auto moments = lord_howe.moments_of(lord_howe.local_seconds(moment));
        ASSERT_TRUE(moments.first == moment || moments.last == moment) << second;
    }
}

TEST(TimeZone, RulesOfTheSouthAndWithoutSummerAreUnderstood) {
    const auto south = parse_zone_rule("AEST-10AEDT,M10.1.0,M4.1.0/3");
    ASSERT_TRUE(south);
    EXPECT_EQ(south->offset_at(local("2026-01-01T00:00:00Z")), 39'600);
    EXPECT_EQ(south->offset_at(local("2026-07-01T00:00:00Z")), 36'000);
    const auto fixed = parse_zone_rule("<+0530>-5:30");
    ASSERT_TRUE(fixed);
    EXPECT_EQ(fixed->offset_at(0), 19'800);
    EXPECT_TRUE(parse_zone_rule("IST-2IDT,M3.4.4/26,M10.5.0"));
    EXPECT_TRUE(parse_zone_rule("ABC-1DEF,J60,J300/-1"));
    for (const char* text :
         {"", "X", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.1.0,J1", "<+05-5",
          "CET-1CEST,M3.5.0,M10.5.0x", "CET-900"}) {
        EXPECT_FALSE(parse_zone_rule(text)) << text;
    }
}

TEST(TimeZone, BrokenFilesAreRefused) {
    const std::string good = bytes_of("Europe/Berlin");
    for (std::size_t size = 0; size < good.size(); size += 7) {
        EXPECT_FALSE(TimeZone::parse(good.substr(0, size))) << size;
    }
    std::string wrong = good;
    wrong[0] = 'X';
    EXPECT_FALSE(TimeZone::parse(wrong));
    std::string old = good;
    old[4] = '\0';
    EXPECT_FALSE(TimeZone::parse(old));
}

}  // namespace
}  // namespace pollux::base
