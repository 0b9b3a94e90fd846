// system.json edited by hand while the server runs.
#include <gmock/gmock.h>

#include "lab/fleet_server.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"
#include "tests/live/state_copy.hpp"

namespace pollux::live {
namespace {

using net::test::TempDir;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kMode = "pollux_adaptive_mode";
constexpr double kOff = 0;
constexpr double kOn = 2;

class SettingsFileEdited : public testing::Test {
  protected:
    SettingsFileEdited() : fleet_(lab::FleetServer::start({.snmp = 0, .http = 1}).value()) {
        folder_.write("fleet.yaml", "devices:\n" + json_device(*fleet_, 0));
    }
    std::string fleet_file() const { return folder_.file("fleet.yaml"); }
    void edit(const std::string& text) const { folder_.write("data/system.json", text); }

    TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(SettingsFileEdited, IsTakenInAndKeptAsAVersion) {
    PolluxServer server(folder_, fleet_file());
    ASSERT_NO_FATAL_FAILURE(server.start());
    EXPECT_EQ(server.metrics().value(kMode), kOff);
    edit("{\"adaptivePollingEnabled\": true}\n");
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return server.metrics().value(kMode) == kOn; })) << server.log();
    // Promised within 5 s; the rest is what a busy machine may need.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));

    // A mistake keeps the old values and is loud, with its place; once.
    edit("{\"adaptivePollingEnabled\": maybe}\n");
    ASSERT_TRUE(eventually([&] {
        return server.metrics().value("pollux_config_reloads_total", {{"result", "failed"}}) == 1;
    })) << server.log();
    auto wrong = lines_with(server.lines(), "system.json was edited and is wrong");
    ASSERT_EQ(wrong.size(), 1U) << server.log();
    EXPECT_EQ(wrong[0].get("level"), "error");
    EXPECT_THAT(wrong[0].get("error"), HasSubstr("system.json:1"));
    EXPECT_EQ(server.metrics().value(kMode), kOn);

    edit("{\"adaptivePollingEnabled\": false}\n");
    ASSERT_TRUE(eventually([&] { return server.metrics().value(kMode) == kOff; })) << server.log();
    EXPECT_EQ(server.stop(), 0);
    const StateCopy state(server.data());
    const auto versions = state.rows("SELECT version, note FROM settings_version ORDER BY version");
    EXPECT_THAT(versions, Contains(HasSubstr("1|system.json edited by hand")));
    EXPECT_THAT(versions, Contains(HasSubstr("2|system.json edited by hand")));
    EXPECT_EQ(versions.size(), 2U);
}

TEST_F(SettingsFileEdited, AnEditWhileNobodyRanHoldsFromTheStart) {
    PolluxServer server(folder_, fleet_file());
    ASSERT_NO_FATAL_FAILURE(server.start());
    EXPECT_EQ(server.stop(), 0);
    edit("{\"adaptivePollingEnabled\": true}\n");
    ASSERT_NO_FATAL_FAILURE(server.start());
    EXPECT_EQ(server.metrics().value(kMode), kOn);
}

TEST_F(SettingsFileEdited, TheEnvironmentWins) {
    PolluxServer server(folder_, fleet_file(), {{"ADAPTIVE_POLLING_ENABLED", "true"}});
    ASSERT_NO_FATAL_FAILURE(server.start());
    EXPECT_EQ(server.metrics().value(kMode), kOn);
    // Another setting of the same edit shows that the file was read.
    edit("{\"adaptivePollingEnabled\": false, \"globalRate\": 55}\n");
    ASSERT_TRUE(eventually([&] { return !lines_with(server.lines(), "setting changed").empty(); }))
        << server.log();
    EXPECT_EQ(server.metrics().value(kMode), kOn) << server.log();
}

}  // namespace
}  // namespace pollux::live
