#include "protocol/dns/dns_driver.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "net/connector.hpp"
#include "net/tcp_stream.hpp"
#include "protocol/dns/dns_message.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;

constexpr int kSends = 3;  // over UDP, spread over the time there is
constexpr int kReadsPerTurn = 32;

std::uint16_t random_id() {
    std::uint16_t id = 0;
    [[maybe_unused]] const ssize_t got = getrandom(&id, sizeof id, 0);
    return id;
}

}  // namespace

struct DnsDriver::Run final : RunBase, net::FdHandler, net::StreamHandler {
    Run(net::EventLoop& loop, Order given, Done then, std::function<void()> fire, DnsDriver& owner)
        : RunBase(loop, std::move(given), std::move(then), std::move(fire)),
          driver(owner),
          resend(loop, [this] { send(); }) {}

    const model::DnsAsk& dns() const { return std::get<model::DnsAsk>(ask().request); }
    std::string where() const {
        return fmt::format("name server {} port {}", ask().host, ask().port);
    }

    void stop() override {
        if (ticket != 0) driver.resolver_.cancel(std::exchange(ticket, 0));
        close_udp();
        resend.cancel();
        connector.reset();
        stream.reset();
    }

    void close_udp() {
        if (fd < 0) return;
        driver.loop_.unwatch(fd);
        close(fd);
        fd = -1;
    }

    void end_with(FailureKind kind, std::string code, std::string message) {
        driver.runs_.end(*this, failure_of(kind, std::move(code), std::move(message)));
    }

    void located(const std::vector<net::IpAddress>& addresses) {
        reply.phases.dns = since_start();
        std::string denied;
        for (const net::IpAddress& address : addresses) {
            const auto allowed = driver.egress_->check_target(address);
            if (allowed) return open(address);
            denied = allowed.error().message;
        }
        end_with(FailureKind::kConfiguration, "egress.denied", std::move(denied));
    }

    void open(const net::IpAddress& address) {
        server = address;
        sockaddr_storage to{};
        const socklen_t length = address.to_sockaddr(ask().port, to);
        fd = socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        // Connected: the kernel drops what others send.
        if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&to), length) != 0) {
            const int number = errno;
            if (fd >= 0) close(std::exchange(fd, -1));
            return end_with(FailureKind::kConnection, "dns.unreachable",
                            fmt::format("no way to {}: {}", where(), std::strerror(number)));
        }
        [[maybe_unused]] const auto watched = driver.loop_.watch(fd, EPOLLIN, *this);
        send();
    }

    void send() {
        const auto packet = dns::encode(question);
        if (fd < 0 || sends >= kSends || !packet) return;
        ++sends;
        [[maybe_unused]] const ssize_t sent =
            ::send(fd, packet->data(), packet->size(), MSG_NOSIGNAL);
        reply.bytes_out += packet->size();
        if (sends < kSends) resend.arm_in((deadline - started) / kSends);
    }

    void on_ready(int, std::uint32_t) override {
        std::array<char, 65'536> buffer;
        for (int turn = 0; turn < kReadsPerTurn && fd >= 0; ++turn) {
            const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
            if (got < 0 && errno == ECONNREFUSED) {
                return end_with(
                    FailureKind::kConnection, "dns.refused",
                    fmt::format("nothing listens at {}; check address and port", where()));
            }
            if (got < 0) return;
            take({buffer.data(), static_cast<std::size_t>(got)}, false);
        }
    }

    // The run may have ended after this.
    void take(std::string_view bytes, bool over_tcp) {
        const auto message = dns::decode(bytes);
        if (!message) {
            strange = message.error().message;
            if (over_tcp)
                end_with(FailureKind::kApi, message.error().code, where() + ": " + strange);
            return;
        }
        const bool ours = message->is_response && message->id == question.id &&
                          ((message->question == dns::canonical(question.name) &&
                            message->question_type == question.type) ||
                           (message->question.empty() && message->code != 0));
        if (!ours) {
            strange = "an answer to another question came";
            if (over_tcp) end_with(FailureKind::kApi, "dns.malformed", where() + ": " + strange);
            return;
        }
        reply.bytes_in += bytes.size();
        reply.phases.first_byte = since_start();
        if (question.edns && (message->code == 1 || message->code == 4) && !over_tcp) {
            note("the server does not know EDNS; asked again without");
            question.edns = false;
            question.id = random_id();
            sends = 0;
            return send();
        }
        if (message->truncated && !over_tcp) return go_tcp();
        finish(*message);
    }

    void finish(const dns::Message& message) {
        model::DnsReply answer;
        answer.status = dns::code_name(message.code);
        answer.type = dns::type_name(question.type);
        answer.authoritative = message.authoritative;
        answer.truncated = message.truncated;
        answer.answers = message.answers;
        note(fmt::format("{}, {} answers{}", answer.status, answer.answers.size(),
                         stream ? ", over TCP" : ""));
        driver.runs_.end(*this, std::move(answer));
    }

    void go_tcp() {
        note("the answer was cut; asking over TCP");
        close_udp();
        resend.cancel();
        connector =
            std::make_unique<net::Connector>(driver.loop_, driver.resolver_, driver.egress_);
        connector->start(server.to_string(), ask().port, deadline, [this](auto result) {
            if (!result) {
                return end_with(result.error().kind, "dns." + result.error().reason,
                                "the answer was cut, and over TCP: " + result.error().message);
            }
            stream = std::make_unique<net::TcpStream>(
                driver.loop_, result->fd, net::SocketAddress::local_of(result->fd), result->peer);
            const auto packet = dns::encode(question);
            output.push_back(static_cast<char>(packet->size() >> 8U));
            output.push_back(static_cast<char>(packet->size() & 0xFFU));
            output += *packet;
            stream->set_handler(this);
            stream->want(true, true);
        });
    }

    void on_stream_ready() override {
        if (!output.empty()) {
            const auto wrote = stream->write(output);
            if (wrote.state == net::IoState::kOk) output.erase(0, wrote.bytes);
            if (output.empty()) stream->want(true, false);
        }
        std::array<char, 16'384> buffer{};
        for (int turn = 0; turn < kReadsPerTurn; ++turn) {
            const auto got = stream->read(buffer);
            if (got.state == net::IoState::kWouldBlock) return;
            if (got.state != net::IoState::kOk) {
                return end_with(FailureKind::kConnection, "dns.closed",
                                fmt::format("{} closed the TCP connection early", where()));
            }
            input.append(buffer.data(), got.bytes);
            if (input.size() < 2) continue;
            const std::size_t length = std::size_t{static_cast<unsigned char>(input[0])} << 8U |
                                       static_cast<unsigned char>(input[1]);
            if (input.size() >= length + 2) {
                return take(std::string_view(input).substr(2, length), true);
            }
        }
    }

    DnsDriver& driver;
    dns::Question question;
    net::IpAddress server;
    net::Resolver::Ticket ticket = 0;
    int fd = -1;
    int sends = 0;
    std::string strange;  // what came and did not count
    net::Timer resend;
    std::unique_ptr<net::Connector> connector;
    std::unique_ptr<net::TcpStream> stream;
    std::string output;
    std::string input;
};

DnsDriver::DnsDriver(net::EventLoop& loop, net::Resolver& resolver,
                     std::shared_ptr<const net::EgressPolicy> egress)
    : loop_(loop),
      resolver_(resolver),
      egress_(std::move(egress)),
      runs_(loop, [this](Run& run) { expire(run); }) {}

DnsDriver::~DnsDriver() = default;

void DnsDriver::start(Order order, Done done) {
    Run& run = runs_.add(std::move(order), std::move(done), *this);
    const auto* ask = std::get_if<model::DnsAsk>(&run.ask().request);
    const auto refuse = [&](FailureKind kind, std::string code, std::string message) {
        runs_.end_later(run, failure_of(kind, std::move(code), std::move(message)));
    };
    if (ask == nullptr) {
        return refuse(FailureKind::kInternal, "dns.not_dns", "the ask is not one of the DNS");
    }
    const auto type = dns::type_number(ask->type);
    if (!type) {
        return refuse(FailureKind::kConfiguration, "dns.bad_type",
                      fmt::format("{} is no type of records; write A, AAAA, MX or TYPE257",
                                  base::quoted(ask->type)));
    }
    run.question = {random_id(), ask->name, *type, ask->recursion, true};
    if (const auto packet = dns::encode(run.question); !packet) {
        return refuse(FailureKind::kConfiguration, packet.error().code, packet.error().message);
    }
    run.ticket =
        resolver_.lookup(run.ask().host, [&run](const base::Result<net::SharedAddresses>& found) {
            run.ticket = 0;
            if (found) return run.located({(*found)->begin(), (*found)->end()});
            run.end_with(
                FailureKind::kDns, "dns.server_name",
                fmt::format("the name server itself was not found: {}", found.error().message));
        });
}

void DnsDriver::cancel(std::uint64_t id) { runs_.cancel(id); }

void DnsDriver::expire(Run& run) {
    runs_.end(run,
              failure_of(FailureKind::kTimeout, "dns.timeout",
                         fmt::format("{} did not answer within {} ({} sent){}", run.where(),
                                     base::format_duration(run.deadline - run.started), run.sends,
                                     run.strange.empty() ? "" : "; " + run.strange)));
}

}  // namespace pollux::protocol
