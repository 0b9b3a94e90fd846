// A server that watches simulated devices and tells a receiver of webhooks about them. Fixtures
// derive from it.
#pragma once

#include <fmt/format.h>

#include <memory>

#include "lab/fleet_server.hpp"
#include "net/test_http_catcher.hpp"
#include "tests/live/failing_stage.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"

namespace pollux::live {

// What came to the receiver, read.
struct Told {
    std::string key;  // Idempotency-Key
    std::string kind;
    std::string incident;
    std::string severity;
    std::string title;
    bool provisional = false;
};

Told read_told(const net::Request& request);

class AlertStage : public testing::Test {
  protected:
    explicit AlertStage(std::size_t devices)
        : devices_(devices),
          fleet_(lab::FleetServer::start({.snmp = 0, .http = static_cast<std::uint32_t>(devices)})
                     .value()) {}

    // With `parents`, every device but the first stands behind it.
    void start(bool parents, Environment environment = {}, const std::string& data = "") {
        // Intervals this short live at the fast pace: a failure is confirmed within seconds.
        std::string text = addon_settings("interval: {min: 2s, base: 2s, max: 2s}");
        text += fmt::format(
            // Above the limit of a channel there would be digests.
            "receivers:\n  ops: {{channels: [{{url: \"json://{}/hook\", per_minute: "
            "600}}]}}\nroutes:\n"
            "  all: {{receivers: [ops], group_wait: 0s, repeat: 0s}}\ndevices:\n",
            fmt::format("127.0.0.1:{}", receiver_->port()));
        for (std::size_t i = 0; i < devices_; ++i) {
            text += json_device(*fleet_, i, "/as/json/status",
                                parents && i > 0 ? "parents: [" + web(1) + "]" : "");
        }
        environment.emplace_back("POLLUX_ALERTS_REVIEW", "false");
        server_ = std::make_unique<PolluxServer>(folder_, folder_.write("fleet.yaml", text),
                                                 std::move(environment), data);
        server_->start();
        ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    }

    void fail(std::size_t number, bool failing = true) {
        ASSERT_TRUE(failing ? fleet_->set_fault(web(number), lab::FaultKind::kDown)
                            : fleet_->clear_faults(web(number)));
    }
    // Messages of one kind whose title names the device; all of a kind without one.
    std::vector<Told> told(const std::string& kind, std::size_t number = 0) {
        std::vector<Told> found;
        for (const Told& one : taken()) {
            const bool about = number == 0 || one.title.find(web(number)) != std::string::npos;
            if (one.kind == kind && about) found.push_back(one);
        }
        return found;
    }
    // All that came, in its order.
    std::vector<Told> taken() {
        std::vector<Told> all = earlier_;
        if (!receiver_) return all;
        for (const net::Request& request : receiver_->requests()) {
            all.push_back(read_told(request));
        }
        return all;
    }
    // Nobody listens there, or somebody does again.
    void set_receiver_down(bool down) {
        earlier_ = taken();
        receiver_.reset();
        if (!down) receiver_ = std::make_unique<net::test::HttpCatcher>(port_);
    }
    bool comes(const std::string& kind, std::size_t number) {
        return eventually([&] { return !told(kind, number).empty(); });
    }

    std::size_t devices_;
    net::test::TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
    std::unique_ptr<net::test::HttpCatcher> receiver_ = std::make_unique<net::test::HttpCatcher>();
    std::uint16_t port_ = receiver_->port();
    std::vector<Told> earlier_;
    std::unique_ptr<PolluxServer> server_;
};

}  // namespace pollux::live
