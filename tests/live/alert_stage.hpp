// A server that watches simulated devices and tells a receiver of webhooks about them. Fixtures
// derive from it.
#pragma once

#include <fmt/format.h>

#include <future>
#include <mutex>
#include <thread>

#include "lab/fleet_server.hpp"
#include "net/test_http_receiver.hpp"
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

// A receiver on a thread of its own.
class ReceiverThread {
  public:
    ReceiverThread() : loop_(net::EventLoop::create().value()), receiver_(*loop_) {
        thread_ = std::thread([this] { loop_->run(); });
    }
    ~ReceiverThread() {
        loop_->stop();
        thread_.join();
    }
    std::string address() const { return fmt::format("127.0.0.1:{}", receiver_.port()); }
    void set_down(bool down) {
        on_loop([&] { receiver_.otherwise.status = down ? 503 : 200; });
    }
    // Those that were answered with 2xx, in their order.
    std::vector<Told> taken() {
        std::vector<Told> all;
        on_loop([&] {
            for (const net::Request& request : receiver_.taken()) all.push_back(read(request));
        });
        return all;
    }

  private:
    static Told read(const net::Request& request);
    template <class Work>
    void on_loop(Work work) {
        std::promise<void> done;
        loop_->post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }

    std::unique_ptr<net::EventLoop> loop_;
    net::test::HttpReceiver receiver_;
    std::thread thread_;
};

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
            "receivers:\n  ops: \"json://{}/hook\"\nroutes:\n"
            "  all: {{receivers: [ops], group_wait: 0s, repeat: 0s}}\ndevices:\n",
            receiver_.address());
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
        for (const Told& one : receiver_.taken()) {
            const bool about = number == 0 || one.title.find(web(number)) != std::string::npos;
            if (one.kind == kind && about) found.push_back(one);
        }
        return found;
    }
    bool comes(const std::string& kind, std::size_t number) {
        return eventually([&] { return !told(kind, number).empty(); });
    }

    std::size_t devices_;
    net::test::TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
    ReceiverThread receiver_;
    std::unique_ptr<PolluxServer> server_;
};

}  // namespace pollux::live
