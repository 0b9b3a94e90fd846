// What the parts of `bench api` share: the server of the API with an authenticator that lets
// everybody in, as a role of this program.
#pragma once

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/api_server.hpp"
#include "base/check.hpp"
#include "bench/poll_tools.hpp"
#include "net/websocket_frames.hpp"

namespace pollux::bench {

// What a client of a WebSocket owes to a ping.
inline void send_pong(int fd, std::string_view payload) {
    std::string pong;
    net::append_masked_frame(pong, net::WebSocketOpcode::kPong, payload, 0x12345678);
    POLLUX_CHECK(send(fd, pong.data(), pong.size(), MSG_NOSIGNAL) ==
                 static_cast<ssize_t>(pong.size()));
}

class LetIn final : public api::Authenticator {
  public:
    LetIn() {
        everybody_.name = "bench";
        everybody_.kind = "user";
        everybody_.grants = {{.role = access::Role::kAdmin, .selector = {}}};
    }
    void authenticate(const net::Request&, const api::Route&, Done done) override {
        done(everybody_);
    }
    access::RateDecision check_rate(const access::Principal&, const net::Request&,
                                    const api::Route&) override {
        return {};
    }
    void refused(const api::Refusal&) override {}

  private:
    access::Principal everybody_;
};

inline void allow_descriptors() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

struct ApiStage {
    explicit ApiStage(std::uint16_t port) {
        api::ApiServerOptions options;
        options.listen = {net::SocketAddress::loopback(port)};
        options.http.max_connections = 10'000;
        options.random = {1, 2};
        server = api::ApiServer::create(std::move(options), log).value();
    }
    void start(std::vector<api::Route> routes) {
        const auto started =
            server->start(api::Router::create(std::move(routes)).value(), authenticator);
        POLLUX_CHECK_MSG(started, "the server of the API does not start");
    }
    observe::Log log{{.level = observe::LogLevel::kWarn}, &net::wall_now, [](std::string_view) {}};
    LetIn authenticator;
    std::unique_ptr<api::ApiServer> server;
};

inline bool wait_for_port(std::uint16_t port) {
    for (int i = 0; i < 500; ++i) {
        if (!http_get(port, "/api/ping").empty()) return true;
        sleep_seconds(0.02);
    }
    return false;
}

}  // namespace pollux::bench
