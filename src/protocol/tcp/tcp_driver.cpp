#include "protocol/tcp/tcp_driver.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "net/connector.hpp"
#include "net/tcp_stream.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;

constexpr int kReadsPerTurn = 8;

}  // namespace

struct TcpDriver::Run final : RunBase, net::StreamHandler {
    Run(net::EventLoop& loop, Order given, Done then, std::function<void()> fire, TcpDriver& owner)
        : RunBase(loop, std::move(given), std::move(then), std::move(fire)), driver(owner) {}

    const model::TcpAsk& tcp() const { return std::get<model::TcpAsk>(ask().request); }

    void stop() override {
        connector.reset();
        stream.reset();
    }

    void on_stream_ready() override {
        if (!write()) return;
        if (!tcp().expect.empty()) return read();
        if (sent == tcp().send.size()) driver.runs_.end(*this, model::TcpReply{});
    }

    void go_on() {
        stream->want(!tcp().expect.empty(), sent < tcp().send.size());
        on_stream_ready();
    }

    bool write() {
        const std::string& text = tcp().send;
        while (sent < text.size()) {
            const auto result = stream->write(std::span(text).subspan(sent));
            if (result.state == net::IoState::kWouldBlock) return true;
            if (result.state != net::IoState::kOk) {
                broken("went away while we spoke: " + stream->failure());
                return false;
            }
            sent += result.bytes;
            reply.bytes_out += result.bytes;
            if (sent == text.size()) stream->want(!tcp().expect.empty(), false);
        }
        return true;
    }

    void read() {
        std::array<char, 4096> buffer{};
        for (int turn = 0; turn < kReadsPerTurn; ++turn) {
            const auto result = stream->read(buffer);
            if (result.state == net::IoState::kWouldBlock) return;
            if (result.state != net::IoState::kOk) {
                return broken(result.state == net::IoState::kClosed ? "closed the connection"
                                                                    : "broke the connection");
            }
            if (received.empty()) reply.phases.first_byte = since_start();
            received.append(buffer.data(), result.bytes);
            reply.bytes_in += result.bytes;
            if (received.find(tcp().expect) != std::string::npos) {
                note("received " + base::quoted(received, 200));
                return driver.runs_.end(*this, model::TcpReply{std::move(received)});
            }
            if (received.size() >= tcp().max_bytes) return broken("said too much");
        }
    }

    void broken(const std::string& how) {
        driver.runs_.end(
            *this,
            failure_of(FailureKind::kApi, "tcp.unexpected",
                       fmt::format("{} {} without the expected {}; it said {}", where(), how,
                                   base::quoted(tcp().expect, 100), base::quoted(received, 100))));
    }

    std::string where() const { return fmt::format("{} port {}", ask().host, ask().port); }

    TcpDriver& driver;
    std::unique_ptr<net::Connector> connector;
    std::unique_ptr<net::TcpStream> stream;
    std::size_t sent = 0;
    std::string received;
};

TcpDriver::TcpDriver(net::EventLoop& loop, net::Resolver& resolver,
                     std::shared_ptr<const net::EgressPolicy> egress)
    : loop_(loop),
      resolver_(resolver),
      egress_(std::move(egress)),
      runs_(loop, [this](Run& run) { expire(run); }) {}

TcpDriver::~TcpDriver() = default;

void TcpDriver::start(Order order, Done done) {
    Run& run = runs_.add(std::move(order), std::move(done), *this);
    if (std::get_if<model::TcpAsk>(&run.ask().request) == nullptr) {
        runs_.end_later(
            run, failure_of(FailureKind::kInternal, "tcp.not_tcp", "the ask is not one of TCP"));
        return;
    }
    run.connector = std::make_unique<net::Connector>(loop_, resolver_, egress_);
    run.connector->start(run.ask().host, run.ask().port, run.deadline, [this, &run](auto result) {
        run.reply.phases.dns = run.connector->dns_time();
        run.reply.phases.connect = run.connector->connect_time();
        if (result) return connected(run, result->fd);
        const bool denied = result.error().reason == "denied";
        runs_.end(run, failure_of(result.error().kind,
                                  denied ? "egress.denied" : "tcp." + result.error().reason,
                                  result.error().message));
    });
}

void TcpDriver::connected(Run& run, int fd) {
    run.stream = std::make_unique<net::TcpStream>(loop_, fd, net::SocketAddress::local_of(fd),
                                                  net::SocketAddress::peer_of(fd));
    run.note("connected to " + run.stream->peer().to_string());
    run.stream->set_handler(&run);
    run.go_on();
}

void TcpDriver::cancel(std::uint64_t id) { runs_.cancel(id); }

void TcpDriver::expire(Run& run) {
    const std::string waited = base::format_duration(run.deadline - run.started);
    runs_.end(run,
              failure_of(FailureKind::kTimeout, "tcp.timeout",
                         run.stream == nullptr
                             ? fmt::format("no connection to {} within {}; the host is down, or a "
                                           "firewall drops what we send",
                                           run.where(), waited)
                             : fmt::format("{} did not say {} within {}; it said {}", run.where(),
                                           base::quoted(run.tcp().expect, 100), waited,
                                           base::quoted(run.received, 100))));
}

}  // namespace pollux::protocol
