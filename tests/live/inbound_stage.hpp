// The binary with both of its ears open, and the senders of tests: curl, snmptrap, snmpinform.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/live/pollux_server.hpp"

namespace pollux::live {

inline constexpr std::string_view kPushAddon = R"(schema: pollux/1
name: alive
version: 1.0.0
title: Alive
protocol: push
push: {interval: 1h, grace: 1m}
signals:
  - {type: silent, clear_when: up == 1, severity: major, title: "{device} is silent", message: "{message}"}
)";

inline constexpr std::string_view kTrapAddon = R"(schema: pollux/1
name: traps
version: 1.0.0
title: Traps
protocol: trap
trap: {enterprise: "*"}
signals:
  - {type: link_down, trap: 1.3.6.1.6.3.1.1.5.3, clear_trap: 1.3.6.1.6.3.1.1.5.4, severity: major, title: link down}
)";

// Fixtures derive from it: addons, then start(), then senders.
class InboundStage : public testing::Test {
  protected:
    void add_addon(const std::string& name, std::string_view manifest) {
        folder_.write(fmt::format("addons/{}/manifest.yaml", name), manifest);
    }
    void start(const std::string& fleet, Environment more = {}) {
        Environment environment = {
            {"POLLUX_TRAP_LISTEN", fmt::format("127.0.0.1:{},[::1]:{}", trap_port_, trap_port_)},
            {"POLLUX_INBOUND_LISTEN", fmt::format("127.0.0.1:{}", http_port_)}};
        environment.insert(environment.end(), more.begin(), more.end());
        server_ = std::make_unique<PolluxServer>(folder_, folder_.write("fleet.yaml", fleet),
                                                 environment);
        const std::string addons = folder_.file("addons");
        if (std::filesystem::exists(addons)) server_->use_addons(addons);
        server_->start();
    }
    CommandResult run(std::vector<std::string> command) {
        net::test::Process process(std::move(command), folder_);
        EXPECT_TRUE(process.wait_for_end()) << process.output();
        return {process.exit_code(), process.output()};
    }
    std::string url(const std::string& kind, const std::string& key) {
        const CommandResult printed = server_->command({kind, "url", key});
        EXPECT_EQ(printed.code, 0) << printed.output;
        return printed.output.substr(0, printed.output.find('\n'));
    }
    std::string curl(const std::string& to, std::vector<std::string> arguments = {}) {
        std::vector<std::string> command = {"curl", "-s", "-S",           "--max-time",
                                            "60",   "-w", " %{http_code}"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        command.push_back(to);
        return run(command).output;
    }
    std::string field(const std::string& key, const std::string& name) {
        const document::Node page = server_->explain(key);
        const document::Node* found = page.find(name);
        return found == nullptr || found->is_null() ? "" : found->scalar();
    }

    net::test::TempDir folder_;
    std::uint16_t trap_port_ = net::test::free_port();
    std::uint16_t http_port_ = net::test::free_port();
    std::unique_ptr<PolluxServer> server_;
};

}  // namespace pollux::live
