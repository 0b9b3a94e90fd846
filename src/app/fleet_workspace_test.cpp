#include "app/fleet_workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/objects.hpp"
#include "config/settings_registry.hpp"

namespace pollux::app {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class FleetCommands : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "fleet-commands-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        ports_.addons = [](const std::string&,
                           const std::string&) -> base::Result<std::vector<model::Addon>> {
            model::Addon addon;
            addon.name = "http-status";
            addon.groups.emplace_back();
            return std::vector{addon};
        };
        ports_.objects = [this](const std::string&) {
            return base::Result<std::vector<model::ConfigObject>>(stored_);
        };
    }
    void TearDown() override { fs::remove_all(folder_); }

    FleetArguments with(const std::string& text) {
        const std::string path = (folder_ / "fleet.yaml").string();
        std::ofstream(path) << text;
        return {{path}, folder_.string(), ""};
    }

    fs::path folder_;
    FleetPorts ports_;
    std::vector<model::ConfigObject> stored_;
};

TEST_F(FleetCommands, CheckSaysOk) {
    const auto output =
        run_check(with("devices: {a: {interval: 10s, addons: [http-status]}}"), ports_);
    EXPECT_EQ(output.status, 0);
    EXPECT_THAT(output.err, IsEmpty());
    EXPECT_EQ(output.out,
              "ok: 0 errors, 0 warnings; 1 devices, 1 tasks, 0.10 polls per second of "
              "100\n");
}

TEST_F(FleetCommands, CheckFailsWithFileAndLine) {
    const auto output = run_check(with("devices:\n  a: {adons: [http-status]}\n"), ports_);
    EXPECT_EQ(output.status, 1);
    EXPECT_THAT(output.err, HasSubstr("fleet.yaml:2: devices.a.adons: is no known key; did you "
                                      "mean addons?"));
    EXPECT_THAT(output.out, StartsWith("failed: 1 errors, 1 warnings"));
}

TEST_F(FleetCommands, CheckWarnsOfTheGlobalCap) {
    ports_.environment["POLLUX_GLOBAL_RATE"] = "1";
    const auto output =
        run_check(with("devices: {a: {interval: 100ms, addons: [http-status]}}"), ports_);
    EXPECT_EQ(output.status, 0);
    EXPECT_THAT(output.err, HasSubstr("POLLUX_GLOBAL_RATE"));
}

TEST_F(FleetCommands, CheckReadsTheSettingsOfTheDataFolder) {
    std::ofstream(folder_ / "system.json") << "{\n\"pvePollingInterval\": 1}";
    const auto output = run_check(with("devices: {a: {addons: [http-status]}}"), ports_);
    EXPECT_EQ(output.status, 1);
    EXPECT_THAT(output.err, HasSubstr("system.json:2: pvePollingInterval"));
}

TEST_F(FleetCommands, PlanComparesWithTheStore) {
    const auto arguments = with("devices: {a: {addons: [http-status]}}");
    const auto first = run_plan(arguments, true, false, ports_);
    EXPECT_EQ(first.status, 0);
    EXPECT_THAT(first.out, HasSubstr("+ device a\n+ target http-status::a\n2 to add"));
    EXPECT_THAT(first.out, HasSubstr("estimated:"));

    auto workspace = open_workspace(arguments, ports_);
    stored_ = config::to_objects((*workspace)->loaded.fleet);
    EXPECT_THAT(run_plan(arguments, false, false, ports_).out,
                HasSubstr("0 to add, 0 to change, 0 to remove, 0 conflicts"));

    stored_[0].origin = model::Origin::kApi;
    const auto conflict = run_plan(arguments, false, false, ports_);
    EXPECT_EQ(conflict.status, 1);
    EXPECT_THAT(conflict.out, HasSubstr("! device \"a\" belongs to origin api"));
    EXPECT_EQ(run_plan(arguments, false, true, ports_).status, 0);
}

TEST_F(FleetCommands, PlanRefusesABadFile) {
    const auto output = run_plan(with("devices: ["), false, false, ports_);
    EXPECT_EQ(output.status, 1);
    EXPECT_THAT(output.err, HasSubstr("nothing is planned"));
    EXPECT_THAT(output.out, IsEmpty());
}

TEST_F(FleetCommands, ExportWritesWhatIsStored) {
    auto workspace = open_workspace(with("devices: {a: {addons: [http-status]}}"), ports_);
    stored_ = config::to_objects((*workspace)->loaded.fleet);
    const auto output = run_export({{}, folder_.string(), ""}, ports_);
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_EQ(output.out,
              "schema: pollux-fleet/1\ndevices:\n  a:\n    addons:\n      - http-status\n");
    EXPECT_EQ(run_export({{}, "", ""}, ports_).status, 1);
}

TEST_F(FleetCommands, SettingsShowTellsOrigins) {
    ports_.environment["PVE_POLLING_INTERVAL"] = "20s";
    std::ofstream(folder_ / "system.json") << R"({"globalRate": 250})";
    const auto output = run_settings_show({{}, folder_.string(), ""}, ports_);
    EXPECT_EQ(output.status, 0) << output.err;
    const auto line_of = [&](const std::string& key) {
        const auto at = output.out.find(key);
        return output.out.substr(at, output.out.find('\n', at) - at);
    };
    EXPECT_THAT(line_of("pve_polling_interval"), HasSubstr("20s"));
    EXPECT_THAT(line_of("pve_polling_interval"), HasSubstr("environment"));
    EXPECT_THAT(line_of("global_rate"), HasSubstr("250"));
    EXPECT_THAT(line_of("global_rate"), HasSubstr("settings"));
    EXPECT_THAT(line_of("seed"), HasSubstr("default"));
}

TEST_F(FleetCommands, TheExamplesPass) {
    FleetPorts bare;
    for (const char* folder : {"examples/starter", "examples/campus"}) {
        const auto output = run_check({{folder}, "", ""}, bare);
        EXPECT_EQ(output.status, 0) << output.err;
        EXPECT_THAT(output.err, IsEmpty());
        EXPECT_THAT(output.out, HasSubstr("addons were not checked"));
    }
}

}  // namespace
}  // namespace pollux::app
