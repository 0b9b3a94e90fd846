// WebSocket fan-out: a server sends 100 events a second to 1000 clients, which tell how old each
// event was when it came.
#pragma once

#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "bench/api_stage.hpp"
#include "net/websocket.hpp"

namespace pollux::bench {

inline constexpr int kFanClients = 1000;
inline constexpr int kFanEventsPerSecond = 100;

// The smallest hub: everybody gets everything, encoded once.
class FanHub {
  public:
    explicit FanHub(net::EventLoop& loop) : loop_(loop), timer_(loop, [this] { tick(); }) {
        timer_.arm_in(std::chrono::seconds(1));
    }
    void take(api::Call call) {
        const net::WebSocketHandshake handshake = net::websocket_handshake(call.request);
        if (handshake.status != 101) return call.problem(api::bad_request("ws", handshake.reason));
        call.upgrade(handshake.head, [this](std::unique_ptr<net::ByteStream> stream,
                                            std::string unread) {
            const std::size_t place = sockets_.size();
            net::WebSocketEvents events;
            events.on_closed = [this, place](std::uint16_t, std::string_view) {
                sockets_[place].reset();
            };
            sockets_.push_back(std::make_unique<net::WebSocket>(
                loop_, std::move(stream), std::move(unread),
                net::WebSocketOptions{.gather = std::chrono::milliseconds(50)}, std::move(events)));
        });
    }

  private:
    void tick() {
        timer_.arm(timer_.at() + std::chrono::nanoseconds(1'000'000'000 / kFanEventsPerSecond));
        std::string frame;
        net::append_frame(frame, net::WebSocketOpcode::kText,
                          fmt::format(R"({{"ns":{:020},"seq":{:010},"type":"task_state_changed",)"
                                      R"("key":"pve::pve-node1","state":"running"}})",
                                      steady_ns(), ++sequence_));
        for (const auto& socket : sockets_) {
            if (socket != nullptr) socket->send_encoded(frame);
        }
    }
    net::EventLoop& loop_;
    std::vector<std::unique_ptr<net::WebSocket>> sockets_;
    std::uint64_t sequence_ = 0;
    net::Timer timer_;
};

[[noreturn]] inline void serve_fan(std::uint16_t port) {
    allow_descriptors();
    stay_on_core(1);
    ApiStage stage(port);
    FanHub hub(stage.server->loop());
    stage.start(
        {{.method = "GET",
          .path = "/api/ping",
          .handler = [](api::Call call) { call.json(200, "{}"); }},
         {.method = "GET", .path = "/ws", .upgrade = true, .handler = [&hub](api::Call call) {
              hub.take(std::move(call));
          }}});
    while (true) pause();
}

struct FanResult {
    std::vector<double> delays_ms;
    std::size_t clients = 0;
    bool in_order = true;
};

// All clients in one thread: reads frames and compares their stamps with the same clock.
class FanClients {
  public:
    // `hello` is a message that each of them sends first; empty: none.
    explicit FanClients(std::uint16_t port, std::string_view hello = {})
        : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (!hello.empty()) {
            net::append_masked_frame(hello_, net::WebSocketOpcode::kText, hello, 0xA1B2C3D4);
        }
        for (int i = 0; i < kFanClients; ++i) connect_one(port, i);
    }
    ~FanClients() {
        for (const Client& one : clients_) close(one.fd);
        close(epoll_);
    }
    FanClients(const FanClients&) = delete;
    FanClients& operator=(const FanClients&) = delete;

    FanResult run(double seconds) {
        FanResult result;
        const double until = wall_seconds() + seconds + 1;
        const double since = wall_seconds() + 1;  // the first second is for warming up
        std::array<epoll_event, 256> events{};
        while (wall_seconds() < until) {
            const int count = epoll_wait(epoll_, events.data(), int(events.size()), 100);
            for (int i = 0; i < count; ++i) {
                read_one(clients_[events[std::size_t(i)].data.u32], wall_seconds() > since, result);
            }
        }
        for (const Client& one : clients_) result.clients += one.sequence > 0 ? 1 : 0;
        return result;
    }

  private:
    struct Client {
        int fd = -1;
        net::WebSocketDecoder decoder{false, 65536};
        std::uint64_t sequence = 0;
    };
    void connect_one(std::uint16_t port, int number) {
        const net::SocketAddress at = net::SocketAddress::loopback(port);
        Client one;
        one.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        POLLUX_CHECK(connect(one.fd, at.data(), at.length()) == 0);
        std::string request =
            "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        request += hello_;
        POLLUX_CHECK(send(one.fd, request.data(), request.size(), MSG_NOSIGNAL) ==
                     ssize_t(request.size()));
        std::string head;
        while (!head.ends_with("\r\n\r\n")) {
            char byte = 0;
            POLLUX_CHECK(recv(one.fd, &byte, 1, 0) == 1);
            head += byte;
        }
        POLLUX_CHECK_MSG(head.starts_with("HTTP/1.1 101"), "the upgrade was refused");
        epoll_event event{.events = EPOLLIN, .data = {.u32 = std::uint32_t(number)}};
        epoll_ctl(epoll_, EPOLL_CTL_ADD, one.fd, &event);
        clients_.push_back(std::move(one));
    }
    void read_one(Client& one, bool counts, FanResult& result) {
        std::array<char, 65536> buffer;
        const ssize_t got = recv(one.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
        POLLUX_CHECK_MSG(got > 0 || (got < 0 && errno == EAGAIN), "the server closed a client");
        if (got <= 0) return;
        const std::int64_t now = steady_ns();
        std::string_view rest(buffer.data(), std::size_t(got));
        while (true) {
            const auto event = one.decoder.next(rest);
            if (event == net::WebSocketDecoder::Event::kNeedMore) return;
            if (event == net::WebSocketDecoder::Event::kPing) {
                send_pong(one.fd, one.decoder.payload());
                continue;
            }
            POLLUX_CHECK(event == net::WebSocketDecoder::Event::kText);
            const std::string& text = one.decoder.payload();
            const std::int64_t sent = number_after(text, "\"ns\":");
            if (sent == 0) continue;  // not an event: a greeting or an answer
            const auto sequence = static_cast<std::uint64_t>(number_after(text, "\"seq\":"));
            if (one.sequence != 0 && sequence != one.sequence + 1) result.in_order = false;
            one.sequence = sequence;
            if (counts) result.delays_ms.push_back(double(now - sent) * 1e-6);
        }
    }
    static std::int64_t number_after(const std::string& text, std::string_view name) {
        const std::size_t at = text.find(name);
        return at == std::string::npos ? 0
                                       : std::strtoll(text.c_str() + at + name.size(), nullptr, 10);
    }
    std::string hello_;
    int epoll_;
    std::vector<Client> clients_;
};

// `role`: what this program plays as the server; `hello`: see FanClients.
inline void measure_fan(ResultTable& table, double seconds, const std::string& role,
                        const std::string& what, std::string_view hello) {
    allow_descriptors();
    TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process server(role_command({role, std::to_string(port)}), folder);
    POLLUX_CHECK_MSG(wait_for_port(port), "the server of events does not answer");
    FanClients clients(port, hello);
    const double before = cpu_seconds(server.pid());
    FanResult result = clients.run(seconds);
    const double cpu = (cpu_seconds(server.pid()) - before) / (seconds + 1);
    table.require(result.clients == kFanClients, "not all clients got events");
    table.require(result.in_order, "events were lost or out of order");
    std::ranges::sort(result.delays_ms);
    const auto share = [&](double part) {
        return result.delays_ms.empty()
                   ? 1e9
                   : result.delays_ms[std::size_t(part * double(result.delays_ms.size() - 1))];
    };
    table.require(
        double(result.delays_ms.size()) > 0.8 * seconds * kFanClients * kFanEventsPerSecond,
        "fewer events came than were sent");
    table.add({.what = what + ", 100 events/s to 1000 clients, p99",
               .ours = fmt::format("{:.0f} ms (median {:.0f})", share(0.99), share(0.5)),
               .goal = "<= 200 ms",
               .met = share(0.99) <= 200});
    table.add({.what = "  of it, processor time of the server",
               .ours = fmt::format("{:.0f} % of a core", cpu * 100)});
}

inline void measure_websocket(ResultTable& table, double seconds) {
    measure_fan(table, seconds, "fan-server", "WebSocket", {});
}

}  // namespace pollux::bench
