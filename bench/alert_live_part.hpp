// From the reply of a device to the screen: `pollux serve` polls 1000 devices, each of which
// crosses its threshold once, and a WebSocket client takes the time from the moment the device
// answered until it was told of the alert. In between lie reading, deriving, alerting and the
// commit.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/api_fleet_part.hpp"
#include "net/http_server.hpp"
#include "net/websocket_frames.hpp"

namespace pollux::bench {

inline constexpr std::uint32_t kBreakingDevices = 1000;
inline constexpr double kBreakingInterval = 4;  // seconds between two polls of a device
inline constexpr double kBreakingTimeout = 2;   // seconds that one may take

// Answers for all devices: a small value until `break_from`, then a large one from the time on that
// each device has for itself. Remembers when it first told the large one.
class BreakingDevices {
  public:
    BreakingDevices() : loop_(net::EventLoop::create().value()), told_(kBreakingDevices) {
        net::HttpServerOptions options;
        options.max_connections = 2 * kBreakingDevices;
        // Each device is an address of its own, and nobody else is answered.
        options.accept = [](const net::ByteStream& stream) { return stream.peer().is_loopback(); };
        server_ = std::make_unique<net::HttpServer>(
            *loop_, std::move(options), [this](net::Request request, net::Responder responder) {
                responder.send(answer(request));
            });
        net::TcpListenerOptions everywhere;
        everywhere.loopback_interface = true;
        port_ = server_->listen(net::SocketAddress::ipv4(INADDR_ANY, 0), nullptr, everywhere)
                    .value()
                    .port();
        thread_ = std::thread([this] { loop_->run(); });
    }
    ~BreakingDevices() {
        loop_->stop();
        thread_.join();
        server_.reset();
    }
    BreakingDevices(const BreakingDevices&) = delete;
    BreakingDevices& operator=(const BreakingDevices&) = delete;

    std::uint16_t port() const { return port_; }
    // All break once between now and `seconds` from now.
    void break_all(double seconds) {
        const std::scoped_lock lock(mutex_);
        from_ = wall_seconds();
        span_ = seconds;
    }
    // When the device first answered badly, in nanoseconds of the monotonic clock; 0: not yet.
    std::int64_t told_at(std::size_t device) const {
        const std::scoped_lock lock(mutex_);
        return told_.at(device);
    }

  private:
    net::Response answer(const net::Request& request) {
        const auto device =
            static_cast<std::size_t>(std::atoi(request.target.c_str() + 1)) % kBreakingDevices;
        const double share = static_cast<double>(scatter(device) % 10'000) / 10'000;
        const std::scoped_lock lock(mutex_);
        const bool broken = from_ > 0 && wall_seconds() >= from_ + share * span_;
        if (broken && told_[device] == 0) told_[device] = steady_ns();
        net::Response response{
            .status = 200, .headers = {}, .body = broken ? R"({"value":95})" : R"({"value":5})"};
        response.with("Content-Type", "application/json");
        return response;
    }

    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<net::HttpServer> server_;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;  // guards what follows
    double from_ = 0;
    double span_ = 1;
    std::vector<std::int64_t> told_;
    std::thread thread_;
};

inline std::string breaking_fleet(std::uint16_t port) {
    std::string text =
        fmt::format("addons:\n  http-json: {{interval: {}s, timeout: {}s}}\ndevices:\n",
                    static_cast<int>(kBreakingInterval), static_cast<int>(kBreakingTimeout));
    for (std::uint32_t i = 0; i < kBreakingDevices; ++i) {
        text += fmt::format(
            "  b{:05}: {{address: {}, port: {}, addons: [{{name: http-json, params: "
            "{{path: /{}, warn_above: \"90\"}}}}]}}\n",
            i, device_text(i), port, i);
    }
    return text;
}

// One client of /ws that follows new alerts; blocking, with a limit on each wait.
class AlertFollower {
  public:
    explicit AlertFollower(const ApiLogin& login)
        : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const auto at = net::SocketAddress::loopback(static_cast<std::uint16_t>(login.port));
        POLLUX_CHECK(connect(fd_, at.data(), at.length()) == 0);
        const timeval limit{.tv_sec = 0, .tv_usec = 200'000};
        setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        std::string request = fmt::format(
            "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\nCookie: "
            "{1}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            login.port, login.cookie);
        net::append_masked_frame(request, net::WebSocketOpcode::kText,
                                 R"({"type":"subscribe","event_types":["alert_created"]})",
                                 0xA1B2C3D4);
        POLLUX_CHECK(send(fd_, request.data(), request.size(), MSG_NOSIGNAL) ==
                     static_cast<ssize_t>(request.size()));
        std::string head;
        while (!head.ends_with("\r\n\r\n")) {
            char byte = 0;
            POLLUX_CHECK_MSG(recv(fd_, &byte, 1, 0) == 1, "the upgrade was not answered");
            head += byte;
        }
        POLLUX_CHECK_MSG(head.starts_with("HTTP/1.1 101"), "the upgrade was refused");
    }
    ~AlertFollower() { close(fd_); }
    AlertFollower(const AlertFollower&) = delete;
    AlertFollower& operator=(const AlertFollower&) = delete;

    // Calls `take` with each message that comes until the time is over or it returns false.
    template <class Take>
    void follow(double seconds, Take&& take) {
        std::array<char, 65536> buffer;
        for (const double until = wall_seconds() + seconds; wall_seconds() < until;) {
            const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
            if (got < 0) continue;  // nothing for a while
            POLLUX_CHECK_MSG(got > 0, "the server closed the connection");
            const std::int64_t now = steady_ns();
            std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
            while (true) {
                const auto event = decoder_.next(rest);
                if (event == net::WebSocketDecoder::Event::kNeedMore) break;
                if (event == net::WebSocketDecoder::Event::kPing) {
                    send_pong(fd_, decoder_.payload());
                    continue;
                }
                POLLUX_CHECK(event == net::WebSocketDecoder::Event::kText);
                if (!take(decoder_.payload(), now)) return;
            }
        }
    }

  private:
    int fd_;
    net::WebSocketDecoder decoder_{false, 1 << 20};
};

// Why an alert did not come: the device was not asked since it broke, the alert was not made, or it
// was and nobody was told.
inline std::string why_missing(const ApiLogin& login, const BreakingDevices& devices,
                               std::size_t device) {
    const std::string name = fmt::format("b{:05}", device);
    if (devices.told_at(device) == 0) return name + " was not asked since it broke";
    ApiConnection connection(login.port, login.cookie);
    connection.ask("/api/alerts?target=http-json::" + name);
    return name + (connection.body().find(R"("alert_type":"value_high")") == std::string::npos
                       ? " answered badly, and there is no alert"
                       : " has its alert, and the client was not told");
}

// `seconds`: the time within which all devices break.
inline void measure_alert_to_client(ResultTable& table, double seconds) {
    TempDir folder;
    BreakingDevices devices;
    const std::string fleet = folder.write("fleet.yaml", breaking_fleet(devices.port()));
    ServerProcess server(folder, {fleet}, raised_limits(2000, 2000, 512));
    const ApiLogin login = log_in(server);
    const auto never_seen = [&] { return server.metrics().sum("pollux_targets_never_seen", ""); };
    for (int i = 0; i < 600 && never_seen() > 0; ++i) sleep_seconds(0.2);
    table.require(never_seen() <= 0, "a device never answered before all broke");
    AlertFollower follower(login);
    std::vector<double> delays;
    std::set<std::size_t> seen;
    const auto take = [&](const std::string& text, std::int64_t now) {
        if (text.starts_with(R"({"type":"subscribed")")) devices.break_all(seconds);
        if (text.starts_with(R"({"type":"resync")") || text.starts_with(R"({"type":"error")")) {
            table.require(false, "the client was told: " + text);
            return false;
        }
        const std::string name = text_between(text, R"("device_name":"b)", "\"");
        if (!text.starts_with(R"({"type":"alert_created")") || name.empty()) return true;
        // One that did not answer in time has an alert of another type, which measures nothing.
        if (text.find(R"("alert_type":"value_high")") == std::string::npos) return true;
        const auto device = static_cast<std::size_t>(std::atoi(name.c_str()));
        const std::int64_t told = devices.told_at(device);
        table.require(told != 0, "an alert came before its reason");
        if (seen.insert(device).second) delays.push_back(static_cast<double>(now - told) * 1e-6);
        return seen.size() < kBreakingDevices;
    };
    // The last one breaks, waits for its turn, and is asked again if that poll failed.
    follower.follow(seconds + 2 * (kBreakingInterval + kBreakingTimeout) + 5, take);
    for (std::size_t device = 0; device < kBreakingDevices; ++device) {
        if (!seen.contains(device)) table.require(false, why_missing(login, devices, device));
    }
    if (delays.empty()) return;
    const double p99 = share_of(delays, 0.99);
    table.add({.what = fmt::format("reply to WebSocket client, {:.0f} alerts/s, p99",
                                   kBreakingDevices / seconds),
               .ours = fmt::format("{:.0f} ms (median {:.0f}, worst {:.0f})", p99,
                                   share_of(delays, 0.5), delays.back()),
               .goal = "<= 150 ms",
               .met = p99 <= 150});
    server.stop();
}

}  // namespace pollux::bench
