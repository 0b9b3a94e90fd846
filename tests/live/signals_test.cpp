// What polls say about things that can be wrong: raised once, kept over a death, cleared.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "net/test_nginx.hpp"
#include "tests/live/pollux_server.hpp"

namespace pollux::live {
namespace {

using net::test::Nginx;
using net::test::TempDir;
using testing::HasSubstr;

// A camera of an older firmware: the first page is not there, and another one is asked instead.
std::string camera(std::uint16_t port) {
    return fmt::format(
        "server {{ listen 127.0.0.1:{}; location = /axis-cgi/param.cgi {{ return 200 "
        "'root.Brand.Brand=AXIS\\n'; }} location / {{ return 404; }} }}\n",
        port);
}

TEST(Signals, AFailedCameraIsRaisedOnceOverADeathAndClearedByTheFallbackPage) {
    const TempDir folder;
    const TempDir web;
    const std::uint16_t port = net::test::free_port();
    std::optional<Nginx> nginx;
    nginx.emplace(web, camera(port), port);
    const std::string fleet = fmt::format(
        "credentials: {{camera: {{username: root, password: \"${{CAMERA_PASSWORD}}\"}}}}\n"
        "devices:\n  yard: {{address: 127.0.0.1, port: {}, interval: 1s, credentials: camera, "
        "addons: [axis-camera]}}\n",
        port);
    PolluxServer server(folder, folder.write("fleet.yaml", fleet),
                        {{"CAMERA_PASSWORD", "of-the-yard"}});
    const std::string key = "axis-camera::yard";
    server.start();
    ASSERT_TRUE(server.everyone_answers()) << server.log();
    EXPECT_THAT(web.read("access.log"), HasSubstr("GET /axis-cgi/basicdeviceinfo.cgi"));
    EXPECT_THAT(web.read("access.log"), HasSubstr("GET /axis-cgi/param.cgi"));

    nginx.reset();
    const auto raised = [&] { return lines_with(server.all_lines(), "signal raised", key).size(); };
    ASSERT_TRUE(eventually([&] { return raised() == 1; })) << server.log();
    server.kill();
    server.start();
    ASSERT_TRUE(eventually([&] { return server.task_field(key, "failures") >= "1"; }));
    const CommandResult events = server.command({"messages"});
    EXPECT_THAT(events.output, HasSubstr("camera_offline"));

    nginx.emplace(web, camera(port), port);
    ASSERT_TRUE(eventually([&] {
        return !lines_with(server.lines(), "signal cleared", key).empty();
    })) << server.log();
    EXPECT_EQ(raised(), 1U) << server.all_logs();
    EXPECT_EQ(server.metrics().sum("pollux_signals_raised"), 0);
    EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace pollux::live
