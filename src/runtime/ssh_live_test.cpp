// A real sshd polled by the whole server: it sees one login, and the page of metrics says so.
#include <gtest/gtest.h>

#include <optional>

#include "protocol/ssh/test_sshd.hpp"
#include "runtime/runtime_test_support.hpp"
#include "runtime/server.hpp"

namespace pollux::runtime {
namespace {

constexpr std::string_view kManifest = R"yaml(schema: pollux/1
name: host
version: 1.0.0
protocol: ssh
ssh:
  commands:
    - {name: load, command: cat /proc/loadavg}
metrics:
  - {name: load1, type: gauge, endpoint: load, pattern: '^([0-9.]+) '}
)yaml";

// The value of a series; nothing while it is not there.
std::optional<double> value_of(const std::string& page, const std::string& series) {
    const auto at = page.find("\n" + series + " ");
    if (at == std::string::npos) return std::nullopt;
    return std::stod(page.substr(at + series.size() + 2));
}

TEST(SshLive, ManyPollsOfAHostCountAsOneHandshake) {
    const net::test::TempDir folder;
    const std::string key = protocol::ssh::test::make_key(folder, "user_key", "ed25519");
    folder.write("authorized_keys", folder.read("user_key.pub"));
    const protocol::ssh::test::Sshd sshd(folder);
    const auto loop = net::EventLoop::create().value();
    test::LogLines lines;
    ServerOptions options;
    options.addons = {{"host", test::compiled(kManifest)}};
    options.version = "1.2.3";
    auto server = Server::start(*loop, lines.log(), std::move(options));
    ASSERT_TRUE(server) << server.error().message;
    const auto applied =
        (*server)->apply({{"fleet.yaml", "credentials:\n  c: {username: root, ssh_key: " + key +
                                             "}\ndevices:\n  d: {address: 127.0.0.1, port: " +
                                             std::to_string(sshd.port()) +
                                             ", addons: [host], credentials: c, interval: 1s}\n"}});
    ASSERT_TRUE(applied) << applied.error().message;
    const auto end = std::chrono::steady_clock::now() + net::test::kPatience;
    const std::string polls = R"(pollux_driver_asks_total{protocol="ssh",code="ok"})";
    std::string page;
    while (value_of(page, polls).value_or(0) < 3 && std::chrono::steady_clock::now() < end) {
        std::optional<std::string> answer;
        (*server)->metrics([&answer](std::string text) { answer = std::move(text); });
        while (!answer && std::chrono::steady_clock::now() < end) {
            loop->run_once(std::chrono::milliseconds(10));
        }
        page = answer.value_or("");
    }
    EXPECT_GE(value_of(page, polls).value_or(0), 3) << page;
    EXPECT_EQ(value_of(page, "pollux_ssh_handshakes_total"), 1);
    EXPECT_EQ(value_of(page, "pollux_ssh_connections"), 1);
    EXPECT_EQ(sshd.logins(), 1U);
    (*server)->stop();
}

}  // namespace
}  // namespace pollux::runtime
