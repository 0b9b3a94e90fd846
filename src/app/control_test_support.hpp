// For the tests of commands: a server with its control socket and metrics in a thread of its own,
// over a data folder that goes with it.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "app/control_server.hpp"
#include "app/serving.hpp"
#include "base/check.hpp"
#include "net/event_loop.hpp"
#include "net/test_process.hpp"
#include "observe/log.hpp"
#include "runtime/server.hpp"

namespace pollux::app::test {

class RunningServer {
  public:
    explicit RunningServer(config::Environment environment = {}) {
        loop_ = net::EventLoop::create().value();
        runtime::ServerOptions options;
        options.data = data();
        environment["POLLUX_METRICS_PORT"] = "0";
        options.environment = std::move(environment);
        options.addons = load_addon_set("").value();
        options.version = "test";
        auto server = runtime::Server::start(*loop_, log_, std::move(options));
        POLLUX_CHECK_MSG(server.has_value(), "the server of a test starts");
        server_ = std::move(*server);
        control_ = ControlServer::start(*loop_, *server_, data()).value();
        metrics_ = MetricsServer::start(*loop_, *server_).value();
        thread_ = std::thread([this] { loop_->run(); });
    }
    ~RunningServer() { stop(); }
    // Its folder stays.
    void stop() {
        if (!thread_.joinable()) return;
        loop_->stop();
        thread_.join();
        control_.reset();
        metrics_.reset();
        server_.reset();
    }
    RunningServer(const RunningServer&) = delete;
    RunningServer& operator=(const RunningServer&) = delete;

    std::string data() const { return folder_.file("data"); }
    const net::SocketAddress& metrics() const { return metrics_->address(); }

  private:
    net::test::TempDir folder_;
    observe::Log log_{
        {.level = observe::LogLevel::kError}, &net::wall_now, [](std::string_view) {}};
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<runtime::Server> server_;
    std::unique_ptr<ControlServer> control_;
    std::unique_ptr<MetricsServer> metrics_;
    std::thread thread_;
};

}  // namespace pollux::app::test
