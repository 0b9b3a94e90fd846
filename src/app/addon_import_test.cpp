#include "app/addon_import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/addon_files.hpp"
#include "net/test_process.hpp"

namespace pollux::app {
namespace {

using ::testing::HasSubstr;

ImportedAddon imported(const std::string& name) {
    const std::string file = "tests/imported/" + name + ".json";
    return import_addon(read_text_file(file, kMaxManifestBytes).value(), file);
}

TEST(AddonImport, WritesWhatLoadsAsOneOfOurs) {
    for (const char* name : {"axis", "cradlepoint", "ubiquiti", "mcp", "snmp-generic", "eaton",
                             "ubiquiti-ssh", "prtg", "milestone"}) {
        const ImportedAddon addon = imported(name);
        EXPECT_TRUE(addon.good) << addon.notes.text();
        EXPECT_THAT(addon.manifest, HasSubstr("schema: pollux/1"));
    }
}

TEST(AddonImport, TellsLineByLineWhatChanges) {
    const std::string notes = imported("prtg").notes.text();
    EXPECT_THAT(notes, HasSubstr("prtg.json:7: auth_token: warning: is not taken over"));
    EXPECT_THAT(notes, HasSubstr("endpoint_path: warning: changes"));
    EXPECT_THAT(
        imported("mcp").notes.text(),
        HasSubstr("mcp.json:12: alert_on_failure: warning: device_offline is in no mapping"));
}

TEST(AddonImport, KeepsWhatIsThereUnlessToldToReplaceIt) {
    const net::test::TempDir folder;
    ImportedAddon addon = imported("axis");
    const auto path = write_addon(addon, folder.path(), false);
    ASSERT_TRUE(path.has_value()) << path.error().message;
    EXPECT_TRUE(write_addon(addon, folder.path(), false).has_value());  // the same once more
    addon.manifest += "# edited\n";
    const auto refused = write_addon(addon, folder.path(), false);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("--replace"));
    EXPECT_TRUE(write_addon(addon, folder.path(), true).has_value());
    EXPECT_EQ(read_text_file(*path, kMaxManifestBytes).value(), addon.manifest);
    const auto loaded = load_addons(folder.path());
    ASSERT_TRUE(loaded.has_value());
    EXPECT_TRUE(std::ranges::any_of(*loaded, [](const LoadedAddon& one) {
        return one.addon != nullptr && one.addon->addon().name == "axis" && one.origin != "shipped";
    }));
}

TEST(AddonImport, RefusesWhatIsNoManifestOfThatSystem) {
    EXPECT_THAT(import_addon("schema: pollux/1\nname: x\n", "x.yaml").notes.text(),
                HasSubstr("is no manifest to import"));
    const ImportedAddon odd = import_addon(R"({"id": "x", "method": "carrier_pigeon"})", "x.json");
    EXPECT_FALSE(odd.good);
    EXPECT_THAT(odd.notes.text(), HasSubstr("\"carrier_pigeon\" is not known"));
}

}  // namespace
}  // namespace pollux::app
