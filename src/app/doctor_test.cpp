#include "app/doctor.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "app/control_client.hpp"
#include "app/control_test_support.hpp"
#include "app/fleet_access.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kFleet = R"(
credentials:
  good: {username: admin, password: "${DOCTOR_PASSWORD}"}
  gone: {token: "${DOCTOR_MISSING}"}
devices:
  hall: {address: 127.0.0.1, credentials: good, addons: [http-status]}
  roof: {address: 127.0.0.2, credentials: gone, addons: [http-status]}
)";
constexpr const char* kPassword = "planted-in-the-environment";

FleetPorts ports_of_test() {
    FleetPorts ports = real_fleet_ports();
    ports.environment = {{"DOCTOR_PASSWORD", kPassword}};
    return ports;
}

// The lines about one subject.
std::string about(const DoctorReport& report, std::string_view subject) {
    std::string text;
    for (const DoctorLine& line : report.lines) {
        if (line.subject != subject) continue;
        text += line.finding == Finding::kOk        ? "ok "
                : line.finding == Finding::kWarning ? "warning "
                                                    : "problem ";
        text += line.text + "\n";
    }
    return text;
}

TEST(Doctor, SaysThatTheFolderIsNotThere) {
    const DoctorReport report = examine({.data = "/nowhere/data", .addons = ""}, ports_of_test());
    EXPECT_EQ(report.problems, 1U);
    EXPECT_THAT(about(report, "data folder"), HasSubstr("problem /nowhere/data: No such file"));
    EXPECT_THAT(about(report, "clock"), Not(testing::IsEmpty()))
        << "the machine is looked at anyway";
}

TEST(Doctor, ARunningServerIsSoundAndAMissingSecretIsNamed) {
    const test::RunningServer server(config::Environment{{"DOCTOR_PASSWORD", kPassword}});
    const ControlClient client(server.data());
    ASSERT_TRUE(client.ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}})));
    const DoctorReport report = examine({.data = server.data(), .addons = ""}, ports_of_test());
    EXPECT_THAT(about(report, "data folder"), HasSubstr("ok "));
    EXPECT_THAT(about(report, "key"), HasSubstr("ok "));
    EXPECT_THAT(about(report, "state"), HasSubstr("is sound"));
    EXPECT_THAT(about(report, "history"), HasSubstr("is sound"));
    EXPECT_THAT(about(report, "fleet"), HasSubstr("2 devices, 2 targets"));
    EXPECT_THAT(about(report, "server"), HasSubstr("ok runs, 2 tasks"));
    EXPECT_THAT(about(report, "credentials"), HasSubstr("problem "));
    EXPECT_THAT(about(report, "credentials"), HasSubstr("DOCTOR_MISSING"));
    EXPECT_THAT(about(report, "credentials"), HasSubstr("1 of 2 can be used"));
    EXPECT_THAT(report.text(), Not(HasSubstr(kPassword)));
    EXPECT_THAT(report.text(), HasSubstr(fmt::format("\n{} problem", report.problems)));
}

TEST(Doctor, FindsOpenRightsADamagedStoreABadSettingAndABrokenAddon) {
    const net::test::TempDir folder;
    const std::string data = folder.file("data");
    std::filesystem::create_directories(data);
    chmod(data.c_str(), 0755);
    EXPECT_THAT(about(examine({.data = data, .addons = ""}, ports_of_test()), "data folder"),
                HasSubstr("chmod 0700"));
    chmod(data.c_str(), 0700);
    folder.write("data/state.db", "this is no database, whatever its name says, at all");
    folder.write("data/system.json", R"({"adaptivePollingEnabled": "perhaps"})");
    folder.write("data/addons/broken/manifest.yaml", "schema: pollux/1\nname: broken\n");
    const DoctorReport report = examine({.data = data, .addons = ""}, ports_of_test());
    EXPECT_THAT(about(report, "state"), HasSubstr("problem "));
    EXPECT_THAT(about(report, "settings"), HasSubstr("problem "));
    EXPECT_THAT(about(report, "settings"), HasSubstr("adaptivePollingEnabled"));
    EXPECT_THAT(about(report, "addons"), HasSubstr("broken/manifest.yaml"));
    EXPECT_THAT(about(report, "server"), HasSubstr("warning is not running"));
    EXPECT_FALSE(std::filesystem::exists(data + "/pollux.key")) << "it changes nothing";
}

TEST(Doctor, AStoreWithoutItsKeyIsNotOpened) {
    const net::test::TempDir folder;
    const std::string data = folder.file("data");
    {
        const auto loop = net::EventLoop::create().value();
        observe::Log log({}, &net::wall_now, [](std::string_view) {});
        runtime::ServerOptions options;
        options.data = data;
        options.offline = true;
        ASSERT_TRUE(runtime::Server::start(*loop, log, std::move(options)));
    }
    std::filesystem::remove(data + "/pollux.key");
    const DoctorReport report = examine({.data = data, .addons = ""}, ports_of_test());
    EXPECT_THAT(about(report, "key"), HasSubstr("put the file back"));
    EXPECT_FALSE(std::filesystem::exists(data + "/pollux.key"));
}

TEST(Doctor, TheBundleHoldsEverythingButSecrets) {
    const test::RunningServer server(config::Environment{{"DOCTOR_PASSWORD", kPassword}});
    const ControlClient client(server.data());
    ASSERT_TRUE(client.ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}})));
    const FleetPorts ports = ports_of_test();
    const DoctorArguments arguments{.data = server.data(), .addons = ""};
    SupportBundle bundle;
    fill_bundle(bundle, arguments, ports, examine(arguments, ports));
    // Somebody wrote it where it does not belong.
    bundle.add("mistake.txt", std::string("password=") + kPassword);
    std::map<std::string, std::string> files(bundle.files().begin(), bundle.files().end());
    EXPECT_THAT(files.at("about.txt"), HasSubstr("pollux "));
    EXPECT_THAT(files.at("doctor.txt"), HasSubstr("problem"));
    EXPECT_THAT(files.at("settings.txt"), HasSubstr("metrics_port"));
    EXPECT_THAT(files.at("fleet.yaml"), HasSubstr("hall"));
    EXPECT_THAT(files.at("status.json"), HasSubstr("http-status::hall"));
    EXPECT_THAT(files.at("metrics.txt"), HasSubstr("pollux_targets"));
    EXPECT_TRUE(files.contains("log.txt"));
    EXPECT_TRUE(files.contains("timeline.txt"));
    EXPECT_EQ(files.at("mistake.txt"), "password=(secret)");
    for (const auto& [name, text] : files) EXPECT_THAT(text, Not(HasSubstr(kPassword))) << name;
}

}  // namespace
}  // namespace pollux::app
