// Learned profiles through the whole server: shown by the control socket and the command, counted,
// and kept over a restart.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "api/profile_page.hpp"
#include "app/serving.hpp"
#include "lab/fleet_server.hpp"
#include "net/test_process.hpp"
#include "observe/log.hpp"
#include "runtime/server.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class ProfileLiveTest : public testing::Test {
  protected:
    std::unique_ptr<runtime::Server> start() {
        runtime::ServerOptions options;
        options.data = folder_.file("data");
        options.environment = {{"POLLUX_METRICS_PORT", "0"}};
        options.addons = load_addon_set("").value();
        options.version = "test";
        auto server = runtime::Server::start(*loop_, log_, std::move(options));
        EXPECT_TRUE(server) << server.error().message;
        return server ? std::move(*server) : nullptr;
    }
    template <class T, class Start>
    T wait(Start&& begin) {
        std::optional<T> answer;
        begin([&answer](T value) { answer = std::move(value); });
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (!answer && std::chrono::steady_clock::now() < end) loop_->run_once(10ms);
        return std::move(answer).value();
    }
    std::vector<runtime::ProfileRow> profiles(runtime::Server& server) {
        return wait<std::vector<runtime::ProfileRow>>(
            [&](auto done) { server.profiles(std::move(done)); });
    }
    std::string metrics(runtime::Server& server) {
        return wait<std::string>([&](auto done) { server.metrics(std::move(done)); });
    }

    net::test::TempDir folder_;
    observe::Log log_{
        {.level = observe::LogLevel::kError}, &net::wall_now, [](std::string_view) {}};
    std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
};

TEST_F(ProfileLiveTest, AreShownAndKeptOverARestart) {
    const auto lab = lab::FleetServer::start({.snmp = 2, .http = 0, .profile = "switches"}).value();
    const lab::Device& device = lab->fleet().snmp()[0];
    const std::string fleet =
        fmt::format(R"yaml(
credentials: {{lab: {{community: "{}"}}}}
devices:
  core-1:
    address: {}
    port: {}
    credentials: lab
    snmp: {{max_varbinds: 10, parallel: 3}}
    addons: [snmp-system, snmp-interfaces]
)yaml",
                    device.community(), lab::address_text(device.address()), lab->ports().snmp);
    std::uint64_t identity = 0;
    {
        const auto server = start();
        const auto report = server->apply({{"fleet.yaml", fleet}});
        ASSERT_TRUE(report) << report.error().message;
        const auto end = std::chrono::steady_clock::now() + 60s;
        std::vector<runtime::ProfileRow> rows;
        while (std::chrono::steady_clock::now() < end) {
            rows = profiles(*server);
            const bool learned =
                rows.size() == 1 && rows[0].profile.cuts > 0 && rows[0].profile.description != 0;
            if (learned) break;
            loop_->run_once(20ms);
        }
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows[0].devices, std::vector<std::string>{"core-1"});
        EXPECT_EQ(rows[0].fixed.max_varbinds, 10U);
        EXPECT_GT(rows[0].profile.cuts, 0U) << "the switch answers one packet at most";
        identity = rows[0].profile.description;
        EXPECT_NE(identity, 0U);
        const std::string page = api::profile_page(rows, "core-1");
        EXPECT_THAT(page, HasSubstr("\"device\":\"core-1\""));
        EXPECT_THAT(page, HasSubstr("\"fixed\":true"));
        EXPECT_EQ(api::profile_page(rows, "core-2"), "{\"profiles\":[]}");
        EXPECT_THAT(metrics(*server), HasSubstr("pollux_snmp_profiles 1\n"));
        EXPECT_THAT(metrics(*server), HasSubstr("pollux_snmp_lying_devices 0\n"));
        server->stop();
    }
    const auto again = start();
    const auto rows = profiles(*again);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].profile.description, identity);
    EXPECT_GT(rows[0].profile.largest_answer, 0U);
    again->stop();
}

}  // namespace
}  // namespace pollux::app
