// The examples of the project are read, checked and expanded, and say what the pages about them
// claim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/config_test_support.hpp"
#include "config/fleet_export.hpp"

namespace pollux::config {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

testing::Read read_folder(const std::string& folder) {
    std::vector<FileText> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        files.push_back({entry.path().string(), text_of(entry.path().string())});
    }
    testing::Read result;
    result.loaded = read_fleet(files, result.diagnostics);
    check_fleet(result.fleet(), result.loaded.places, result.diagnostics);
    return result;
}

testing::Expanded expand_folder(const std::string& folder) {
    static const testing::Catalogue catalogue;
    testing::Read result = read_folder(folder);
    testing::Expanded expanded;
    expanded.diagnostics = result.diagnostics;
    expanded.expansion = expand(result.fleet(), result.loaded.places, catalogue.lookup(),
                                testing::settings(), {}, expanded.diagnostics);
    return expanded;
}

TEST(Examples, TheStarterIsWhatTheProgramWrites) {
    EXPECT_EQ(text_of("examples/starter/fleet.yaml"), starter_fleet());
    EXPECT_THAT(std::string(starter_fleet()), ::testing::HasSubstr("Adaptive polling is ON"));
}

TEST(Examples, TheStarterIsGood) {
    const auto expanded = expand_folder("examples/starter");
    EXPECT_EQ(expanded.diagnostics.text(), "");
    std::vector<std::string> keys;
    for (const auto& task : expanded.expansion.tasks) keys.push_back(task.key);
    EXPECT_EQ(keys, (std::vector<std::string>{"http-status::web", "snmp-interfaces::gateway",
                                              "snmp-interfaces::gateway#inventory",
                                              "snmp-system::gateway"}));
    EXPECT_EQ(expanded.task("http-status::web")->cadence.base, 60s);
    EXPECT_EQ(expanded.task("snmp-system::gateway")->tier, model::Tier::kHigh);
}

TEST(Examples, TheCampusIsGood) {
    const auto expanded = expand_folder("examples/campus");
    EXPECT_EQ(expanded.diagnostics.text(), "");
    const struct {
        const char* key;
        base::Duration base;
        model::Tier tier;
    } cases[] = {
        {"snmp-interfaces::core-1", 30s, model::Tier::kCritical},
        {"snmp-system::core-1", 30s, model::Tier::kCritical},
        {"snmp-interfaces::switch-north", 2min, model::Tier::kNormal},
        {"snmp-system::switch-south", 2min, model::Tier::kNormal},
        {"snmp-system::observatory", 15min, model::Tier::kNormal},
        {"http-json::portal", 30s, model::Tier::kHigh},
        {"http-status::portal", 300s, model::Tier::kCritical},
    };
    for (const auto& one : cases) {
        const model::TaskSpec* task = expanded.task(one.key);
        ASSERT_NE(task, nullptr) << one.key;
        EXPECT_EQ(task->cadence.base, one.base) << one.key;
        EXPECT_EQ(task->tier, one.tier) << one.key;
        EXPECT_EQ(task->region, "campus");
    }
    const model::TaskSpec& hill = *expanded.task("snmp-system::observatory");
    EXPECT_EQ(hill.needs.at(0).when_unmet, model::WhenUnmet::kHold);
    EXPECT_EQ(hill.failure_profile, model::FailureProfile::kOpsconductor);
    EXPECT_EQ(expanded.target("snmp-system::observatory")->resends, 3U);
    EXPECT_EQ(expanded.target("http-json::portal")->port, 8443);
    EXPECT_EQ(expanded.target("http-status::portal")->timeout, 5s);
    EXPECT_EQ(expanded.target("http-status::portal")->tls.ca_file, "/etc/pollux/campus-ca.pem");
    EXPECT_FALSE(expanded.task("snmp-interfaces::switch-north")->adaptive);
}

TEST(Examples, AlertingIsGood) {
    const testing::Read result = read_folder("examples/alerting");
    EXPECT_EQ(result.diagnostics.text(), "");
    EXPECT_EQ(result.fleet().receivers.size(), 4U);
    EXPECT_EQ(result.fleet().routes.size(), 3U);
    EXPECT_EQ(result.fleet().silences.size(), 1U);
}

TEST(Examples, TheCanonicalFormIsTheSameFleet) {
    for (const char* folder : {"examples/campus", "examples/alerting"}) {
        const Fleet fleet = read_folder(folder).fleet();
        EXPECT_EQ(testing::read(export_fleet(fleet)).fleet(), fleet) << folder;
    }
}

}  // namespace
}  // namespace pollux::config
