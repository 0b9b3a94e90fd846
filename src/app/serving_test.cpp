#include "app/serving.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_process.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;

constexpr const char* kOwn = R"yaml(schema: pollux/1
name: lamp
version: 1.0.0
protocol: http
interval: 60s
http:
  base: "http://{host}:{port}"
  endpoints: [{name: main, path: /, format: json}]
metrics: [{name: level, path: $.level}]
)yaml";

TEST(LoadAddonSet, HasTheShippedOnes) {
    const auto set = load_addon_set("");
    ASSERT_TRUE(set) << set.error().message;
    for (const char* name : {"http-json", "http-status", "snmp-interfaces", "snmp-system"}) {
        ASSERT_TRUE(set->contains(name)) << name;
        EXPECT_EQ(set->find(name)->second->addon().name, name);
    }
}

TEST(LoadAddonSet, TakesThoseOfAFolderOverThem) {
    const net::test::TempDir folder;
    folder.write("addons/lamp/manifest.yaml", kOwn);
    std::string mine = kOwn;
    mine.replace(mine.find("name: lamp"), 10, "name: http-json");
    folder.write("addons/mine.yaml", mine);
    const auto set = load_addon_set(folder.file("addons"));
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_TRUE(set->contains("lamp"));
    EXPECT_TRUE(set->contains("http-status"));
    EXPECT_EQ(set->find("http-json")->second->addon().metrics.at(0).name, "level");
}

TEST(LoadAddonSet, AWrongOneIsRefusedWithItsPlace) {
    const net::test::TempDir folder;
    std::string wrong = kOwn;
    wrong.replace(wrong.find("protocol: http"), 14, "protocol: htpp");
    folder.write("addons/lamp.yaml", wrong);
    const auto set = load_addon_set(folder.file("addons"));
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, "addon.invalid");
    EXPECT_THAT(set.error().message, HasSubstr("lamp.yaml"));
    EXPECT_THAT(set.error().message, HasSubstr("htpp"));
    EXPECT_FALSE(load_addon_set(folder.file("nowhere")));
}

}  // namespace
}  // namespace pollux::app
