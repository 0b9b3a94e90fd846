#include "runtime/zone_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/fleet_reader.hpp"

namespace pollux::runtime {
namespace {

using ::testing::HasSubstr;

TEST(ZoneFiles, ReadsTheZonesOfTheSystemOnce) {
    const ZoneFiles zones;
    const auto first = zones.find("Europe/Berlin");
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ((*first)->offset_at(*base::parse_utc("2026-07-01T00:00:00Z")), 7'200);
    EXPECT_EQ(*zones.find("Europe/Berlin"), *first);
    EXPECT_TRUE(zones.find("UTC"));
}

TEST(ZoneFiles, NamesStayBelowTheFolder) {
    const ZoneFiles zones;
    for (const char* name : {"", "../../../etc/passwd", "/etc/localtime", "Europe/", "Nowhere/City",
                             "Europe", "Europe/Ber lin", "zone.tab", "Europe/Berlin/x"}) {
        const auto zone = zones.find(name);
        ASSERT_FALSE(zone) << name;
        EXPECT_EQ(zone.error().code, "zone.unknown");
    }
}

TEST(ZoneFiles, AFleetWithAnUnknownZoneIsToldWhere) {
    document::Diagnostics diagnostics;
    const config::FileText file{
        "a.yaml",
        "receivers: {ops: 'ntfy://topic'}\n"
        "routes:\n"
        "  all:\n"
        "    receivers: [ops]\n"
        "    quiet: [{cron: '0 22 * * *', duration: 9h, zone: Europe/Berln}]\n"};
    const auto loaded = config::read_fleet(std::span(&file, 1), diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();
    check_zones(loaded.fleet, loaded.places, diagnostics);
    EXPECT_THAT(diagnostics.text(), HasSubstr("a.yaml:5: routes.all.quiet: there is no time zone "
                                              "\"Europe/Berln\""));
}

}  // namespace
}  // namespace pollux::runtime
