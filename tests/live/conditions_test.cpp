// A limit of a real device: raised once, kept over a death, moved by the fleet, cleared.
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
using testing::Not;

std::string page(std::uint16_t port, int status) {
    return fmt::format("server {{ listen 127.0.0.1:{}; location / {{ return {} 'hello'; }} }}\n",
                       port, status);
}

TEST(Conditions, ALimitIsRaisedOnceOverADeathAndCleared) {
    const TempDir folder;
    const TempDir web;
    const std::uint16_t port = net::test::free_port();
    std::optional<Nginx> nginx;
    nginx.emplace(web, page(port, 200), port);
    const std::string fleet = fmt::format(
        "devices:\n  shop: {{address: 127.0.0.1, port: {}, interval: 1s, addons: [http-status], "
        "alerts: {{client_error: {{enabled: false}}, server_error: {{severity: major}}}}}}\n",
        port);
    PolluxServer server(folder, folder.write("fleet.yaml", fleet));
    const std::string key = "http-status::shop";
    server.start();
    ASSERT_TRUE(server.everyone_answers()) << server.log();

    nginx.reset();
    nginx.emplace(web, page(port, 503), port);
    const auto raised = [&] { return lines_with(server.all_lines(), "signal raised", key); };
    ASSERT_TRUE(eventually([&] { return !raised().empty(); })) << server.log();
    server.kill();
    server.start();
    ASSERT_TRUE(server.everyone_answers()) << server.log();
    const CommandResult events = server.command({"messages"});
    EXPECT_THAT(events.output, HasSubstr("server_error"));
    EXPECT_THAT(events.output, HasSubstr("status is 503, at least 500"));
    EXPECT_THAT(events.output, Not(HasSubstr("client_error")));

    nginx.reset();
    nginx.emplace(web, page(port, 200), port);
    ASSERT_TRUE(eventually([&] {
        return !lines_with(server.lines(), "signal cleared", key).empty();
    })) << server.log();
    EXPECT_EQ(raised().size(), 1U) << server.all_logs();
    EXPECT_EQ(server.metrics().sum("pollux_signals_raised"), 0);
    EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace pollux::live
