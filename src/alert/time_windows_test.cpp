#include "alert/time_windows.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace pollux::alert {
namespace {

using base::WallTime;
using std::chrono::hours;
using std::chrono::minutes;

base::Result<std::shared_ptr<const base::TimeZone>> system_zone(std::string_view name) {
    if (name == "UTC") return std::make_shared<const base::TimeZone>();
    std::ifstream file("/usr/share/zoneinfo/" + std::string(name), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    auto zone = base::TimeZone::parse(bytes.str());
    if (!zone) return std::unexpected(zone.error());
    return std::make_shared<const base::TimeZone>(std::move(*zone));
}

WallTime at(const char* text) { return *base::parse_utc(text); }

Window window(const char* cron, base::Duration duration, const char* zone = "UTC") {
    auto compiled = Window::compile({cron, duration, zone}, system_zone);
    EXPECT_TRUE(compiled) << compiled.error().message;
    return *compiled;
}

std::string shown(const std::optional<model::TimeRange>& range) {
    return range ? base::format_utc(range->from) + " to " + base::format_utc(range->until) : "none";
}

TEST(Window, CoversFromItsStartUpToItsEnd) {
    const Window night = window("0 22 * * *", hours(9));
    EXPECT_EQ(shown(night.covering(at("2026-11-18T21:59:59Z"))), "none");
    const std::string expected = "2026-11-18T22:00:00.000Z to 2026-11-19T07:00:00.000Z";
    EXPECT_EQ(shown(night.covering(at("2026-11-18T22:00:00Z"))), expected);
    EXPECT_EQ(shown(night.covering(at("2026-11-19T06:59:59Z"))), expected);
    EXPECT_EQ(shown(night.covering(at("2026-11-19T07:00:00Z"))), "none");
}

TEST(Window, ADayOfTheWeekReachesIntoTheNextDays) {
    const Window weekend = window("0 18 * * fri", hours(60));
    EXPECT_TRUE(weekend.covering(at("2026-11-23T05:59:00Z"))) << "Monday morning";
    EXPECT_FALSE(weekend.covering(at("2026-11-23T06:00:00Z")));
    const Window monthly = window("0 0 1 * *", hours(24 * 20));
    EXPECT_TRUE(monthly.covering(at("2026-11-20T23:59:00Z")));
    EXPECT_FALSE(monthly.covering(at("2026-11-21T00:00:00Z")));
}

TEST(Window, ThoseThatTouchAreOne) {
    const Window hourly = window("0 8-10 * * *", hours(1));
    EXPECT_EQ(shown(hourly.covering(at("2026-11-18T08:30:00Z"))),
              "2026-11-18T08:00:00.000Z to 2026-11-18T11:00:00.000Z");
    const Window always = window("* * * * *", minutes(5));
    const auto range = always.covering(at("2026-11-18T08:30:00Z"));
    ASSERT_TRUE(range);
    EXPECT_GE(range->until - at("2026-11-18T08:30:00Z"), kLongestWindow);
}

TEST(Window, QuietHoursEndByTheClockWhenClocksChange) {
    const Window night = window("0 22 * * *", hours(9), "Europe/Berlin");
    // 22:00 CET is 21:00Z, 07:00 CEST is 05:00Z: the night is an hour shorter.
    EXPECT_EQ(shown(night.covering(at("2026-03-29T00:30:00Z"))),
              "2026-03-28T21:00:00.000Z to 2026-03-29T05:00:00.000Z");
    EXPECT_EQ(shown(night.covering(at("2026-10-25T00:30:00Z"))),
              "2026-10-24T20:00:00.000Z to 2026-10-25T06:00:00.000Z");
}

TEST(Window, AStartThatClocksLeaveOutIsWhenTheyJump) {
    const Window backup = window("30 2 * * *", hours(1), "Europe/Berlin");
    EXPECT_FALSE(backup.covering(at("2026-03-29T00:59:59Z")));
    EXPECT_EQ(shown(backup.covering(at("2026-03-29T01:10:00Z"))),
              "2026-03-29T01:00:00.000Z to 2026-03-29T01:30:00.000Z");
}

TEST(Window, AStartThatClocksShowTwiceIsTheFirst) {
    const Window backup = window("30 2 * * *", minutes(15), "Europe/Berlin");
    const std::string expected = "2026-10-25T00:30:00.000Z to 2026-10-25T01:45:00.000Z";
    EXPECT_EQ(shown(backup.covering(at("2026-10-25T00:30:00Z"))), expected);
    // Clocks show 02:10 again, which is inside although it reads as before the start.
    EXPECT_EQ(shown(backup.covering(at("2026-10-25T01:10:00Z"))), expected);
    EXPECT_FALSE(backup.covering(at("2026-10-25T01:45:00Z")));
}

TEST(Windows, SeveralAreOne) {
    const auto windows = Windows::compile(
        {{"0 22 * * *", hours(4), "UTC"}, {"0 2 * * *", hours(5), "UTC"}}, system_zone);
    ASSERT_TRUE(windows);
    EXPECT_EQ(windows->covered_until(at("2026-11-18T23:00:00Z")), at("2026-11-19T07:00:00Z"));
    EXPECT_EQ(windows->covered_until(at("2026-11-18T12:00:00Z")), std::nullopt);
    EXPECT_TRUE(Windows().empty());
    EXPECT_EQ(Windows().covered_until(WallTime{}), std::nullopt);
}

TEST(Window, MistakesAreTold) {
    EXPECT_EQ(Window::compile({"x", hours(1), "UTC"}, system_zone).error().code, "cron.invalid");
    EXPECT_EQ(Window::compile({"@daily", hours(0), "UTC"}, system_zone).error().code,
              "window.duration");
    EXPECT_FALSE(Window::compile({"@daily", hours(1), "Nowhere"}, system_zone));
}

}  // namespace
}  // namespace pollux::alert
