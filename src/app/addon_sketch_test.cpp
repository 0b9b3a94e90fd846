#include "app/addon_sketch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/addon_case.hpp"
#include "app/addon_catalogue.hpp"
#include "app/addon_new.hpp"
#include "app/fleet_files.hpp"
#include "extract/compiled_addon.hpp"
#include "net/test_process.hpp"

namespace pollux::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kWalk = R"(.1.3.6.1.2.1.1.1.0 = STRING: Acme 9000
.1.3.6.1.2.1.1.3.0 = Timeticks: (100) 0:00:01.00
.1.3.6.1.4.1.9999.1.7.0 = INTEGER: -5
.1.3.6.1.4.1.9999.1.9.0 = Counter64: 12
.1.3.6.1.2.1.2.2.1.2.1 = STRING: "one"
.1.3.6.1.2.1.2.2.1.2.2 = STRING: "two"
.1.3.6.1.2.1.2.2.1.10.1 = Counter32: 5
.1.3.6.1.2.1.2.2.1.10.2 = Counter32: 6
.1.3.6.1.2.1.4.21.1.1.192.0.2.0 = IpAddress: 192.0.2.0
.1.3.6.1.2.1.4.21.1.3.192.0.2.0 = INTEGER: 4
)";

// Compiles and runs its own case, as `pollux addon new` leaves it.
void expect_good(const Sketch& sketch, std::string_view captured) {
    const net::test::TempDir folder;
    const std::string file = folder.write("acme/cases/captured.yaml", sketch.test_case);
    folder.write("acme/cases/" + sketch.captured_name, captured);
    const auto compiled = extract::compile(sketch.manifest, "manifest.yaml");
    ASSERT_NE(compiled.addon, nullptr) << compiled.diagnostics.text() << sketch.manifest;
    EXPECT_THAT(run_addon_case(compiled.addon, sketch.test_case, file).failures, ElementsAre())
        << sketch.manifest << sketch.test_case;
}

TEST(AddonSketch, AWalkBecomesScalarsAndTables) {
    const auto sketch = sketch_addon("acme", kWalk);
    ASSERT_TRUE(sketch) << sketch.error().message;
    expect_good(*sketch, kWalk);
    EXPECT_THAT(sketch->manifest, HasSubstr("type: gauge, get: sys_up_time, unit: seconds"));
    EXPECT_THAT(sketch->manifest, HasSubstr("oid: 1.3.6.1.4.1.9999.1.7.0"));
    EXPECT_THAT(sketch->manifest, HasSubstr("if_in_octets: 1.3.6.1.2.1.2.2.1.10\n"))
        << "names of known objects";
    EXPECT_THAT(sketch->manifest, HasSubstr("row: [if_descr]"));
    EXPECT_THAT(sketch->manifest, HasSubstr("type: counter, rows: table_2"));
    EXPECT_THAT(sketch->manifest, Not(HasSubstr("192.0.2.0"))) << "an index that ends in 0";
    EXPECT_THAT(sketch->test_case, HasSubstr(": -5"));
}

TEST(AddonSketch, JsonBecomesValuesAndRows) {
    constexpr std::string_view kBody = R"({"uptime": 12.5, "on": true, "info": {"model": "A-1"},
        "odd key": 3, "disks": [{"id": "a", "free": 1}, {"id": "b", "free": 2}],
        "list": [1, 2], "fans": [{"rpm": 900}, {"rpm": 900}]})";
    const auto sketch = sketch_addon("acme", kBody);
    ASSERT_TRUE(sketch) << sketch.error().message;
    expect_good(*sketch, kBody);
    EXPECT_THAT(sketch->manifest,
                HasSubstr(R"(name: info_model, type: text, path: "$.info.model")"));
    EXPECT_THAT(sketch->manifest, HasSubstr(R"(disks: {from: "$.disks[*]", name: "$.id"})"));
    EXPECT_THAT(sketch->manifest, HasSubstr(R"(fans: {from: "$.fans[*]", name: index})"));
    EXPECT_THAT(sketch->manifest, HasSubstr("name: on, type: state"));
    EXPECT_THAT(sketch->remarks, ElementsAre(HasSubstr("$.list is no list of objects")));
}

TEST(AddonSketch, AListOfObjectsIsRowsToo) {
    constexpr std::string_view kBody = R"([{"name": "x", "value": 1}, {"name": "y", "value": 2}])";
    const auto sketch = sketch_addon("acme", kBody);
    ASSERT_TRUE(sketch) << sketch.error().message;
    expect_good(*sketch, kBody);
}

TEST(AddonSketch, LinesOfKeysAndValuesBecomeMetrics) {
    constexpr std::string_view kBody = "cpuUsage=12\nsignal=-61\nmodel=NanoStation M5\nnoise\n";
    const auto sketch = sketch_addon("acme", kBody);
    ASSERT_TRUE(sketch) << sketch.error().message;
    expect_good(*sketch, kBody);
    EXPECT_THAT(sketch->manifest, HasSubstr(R"(name: cpu_usage, type: gauge, key: "cpuUsage")"));
    EXPECT_THAT(sketch->manifest, HasSubstr("name: model, type: text"));
}

TEST(AddonSketch, SaysWhatItUnderstands) {
    for (const char* text : {"", "just words", "{\"a\": ", ".1.3.6.1 = nonsense"}) {
        const auto sketch = sketch_addon("acme", text);
        ASSERT_FALSE(sketch) << text;
        EXPECT_FALSE(sketch.error().message.empty());
    }
    EXPECT_THAT(sketch_addon("acme", "just words").error().message, HasSubstr("snmpwalk -On"));
}

TEST(AddonSketch, MakesNamesThatAreNotTaken) {
    std::vector<std::string> taken;
    EXPECT_EQ(fresh_identifier("ifInOctets", taken), "if_in_octets");
    EXPECT_EQ(fresh_identifier("If in-octets!", taken), "if_in_octets_2");
    EXPECT_EQ(fresh_identifier("5 minutes", taken), "value_5_minutes");
    EXPECT_EQ(fresh_identifier("\xc3\xa9", taken), "value");
}

TEST(AddonNew, WritesAnAddonThatPassesAndNeverOverwrites) {
    const net::test::TempDir folder;
    const std::string walk = folder.write("walk.txt", kWalk);
    const NewAddon wish{.name = "acme", .from = walk, .folder = folder.file("addons")};
    EXPECT_EQ(make_new_addon(wish), 0);
    EXPECT_TRUE(std::filesystem::exists(folder.file("addons/acme/manifest.yaml")));
    folder.write("addons/acme/manifest.yaml", "mine");
    EXPECT_EQ(make_new_addon(wish), 1);
    EXPECT_EQ(folder.read("addons/acme/manifest.yaml"), "mine");
}

TEST(AddonNew, ANameThatIsNoneLeavesNothingBehind) {
    const net::test::TempDir folder;
    const std::string walk = folder.write("walk.txt", kWalk);
    EXPECT_EQ(make_new_addon({.name = "No Name", .from = walk, .folder = folder.file("addons")}),
              1);
    EXPECT_FALSE(std::filesystem::exists(folder.file("addons")));
}

TEST(AddonCatalogue, ThePageIsUpToDate) {
    const auto page = read_text_file("docs/addons.md", 1U << 20U);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_TRUE(*page == addon_catalogue())
        << "write it again: build/release/bin/pollux addon catalogue > docs/addons.md";
}

}  // namespace
}  // namespace pollux::app
