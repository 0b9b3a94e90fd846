#include "protocol/icmp/icmp_driver.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using namespace std::chrono_literals;

constexpr base::Duration kPatience = 2s;  // for the last reply, if the deadline is not nearer
constexpr std::size_t kToken = sizeof(std::uint64_t);
constexpr int kReadsPerTurn = 256;

std::uint64_t random_bits() {
    std::uint64_t bits = 0;
    [[maybe_unused]] const ssize_t got = getrandom(&bits, sizeof bits, 0);
    return bits;
}

}  // namespace

struct IcmpDriver::Run final : RunBase {
    Run(net::EventLoop& loop, Order given, Done then, std::function<void()> fire, IcmpDriver& owner)
        : RunBase(loop, std::move(given), std::move(then), std::move(fire)),
          driver(owner),
          next(loop, [this] {
              if (answer.sent < icmp().count) {
                  driver.send_next(*this);
              } else {
                  driver.conclude(*this);
              }
          }) {}

    const model::IcmpAsk& icmp() const { return std::get<model::IcmpAsk>(ask().request); }

    void stop() override {
        if (ticket != 0) driver.resolver_.cancel(std::exchange(ticket, 0));
        next.cancel();
        for (const std::uint64_t token : tokens) driver.probes_.erase(token);
        tokens.clear();
    }

    IcmpDriver& driver;
    net::Resolver::Ticket ticket = 0;
    net::IpAddress to;
    net::Timer next;
    std::vector<std::uint64_t> tokens;
    model::IcmpReply answer;
    std::uint32_t refused = 0;  // requests that came back as errors
    int error_number = 0;
};

IcmpDriver::IcmpDriver(net::EventLoop& loop, net::Resolver& resolver,
                       std::shared_ptr<const net::EgressPolicy> egress)
    : loop_(loop),
      resolver_(resolver),
      egress_(std::move(egress)),
      identity_(static_cast<std::uint16_t>(random_bits())),
      runs_(loop, [this](Run& run) { expire(run); }) {}

IcmpDriver::~IcmpDriver() {
    for (const icmp::EchoSocket* socket : {&v4_, &v6_}) {
        if (socket->is_open()) loop_.unwatch(socket->fd());
    }
}

base::Result<icmp::EchoSocket*> IcmpDriver::socket_of(const net::IpAddress& address) {
    icmp::EchoSocket& socket = address.is_v6() ? v6_ : v4_;
    if (socket.is_open()) return &socket;
    auto opened = icmp::EchoSocket::open(address.is_v6(), identity_);
    if (!opened) return std::unexpected(opened.error());
    if (auto watched = loop_.watch(opened->fd(), EPOLLIN, *this); !watched) {
        return std::unexpected(watched.error());
    }
    socket = std::move(*opened);
    return &socket;
}

void IcmpDriver::start(Order order, Done done) {
    Run& run = runs_.add(std::move(order), std::move(done), *this);
    const auto* ask = std::get_if<model::IcmpAsk>(&run.ask().request);
    if (ask == nullptr || ask->count == 0) {
        runs_.end_later(
            run, failure_of(FailureKind::kInternal, "icmp.not_icmp", "the ask is not one of ICMP"));
        return;
    }
    run.ticket = resolver_.lookup(
        run.ask().host, [this, &run](const base::Result<net::SharedAddresses>& found) {
            run.ticket = 0;
            if (found) return located(run, {(*found)->begin(), (*found)->end()});
            runs_.end(run, failure_of(found.error().error_class == base::ErrorClass::kConfig
                                          ? FailureKind::kConfiguration
                                          : FailureKind::kDns,
                                      "icmp.dns", found.error().message));
        });
}

void IcmpDriver::located(Run& run, const std::vector<net::IpAddress>& addresses) {
    run.reply.phases.dns = run.since_start();
    base::Status allowed = base::internal_error("icmp.dns", "the name has no address");
    for (const net::IpAddress& address : addresses) {
        allowed = egress_->check_target(address);
        if (!allowed) continue;
        run.to = address;
        break;
    }
    if (!allowed) {
        return runs_.end(run, failure_of(FailureKind::kConfiguration, allowed.error().code,
                                         allowed.error().message));
    }
    const auto socket = socket_of(run.to);
    if (!socket) {
        const bool config = socket.error().error_class == base::ErrorClass::kConfig;
        return runs_.end(run,
                         failure_of(config ? FailureKind::kConfiguration : FailureKind::kInternal,
                                    socket.error().code, socket.error().message));
    }
    run.note(fmt::format("ping {} ({})", run.to.to_string(),
                         (*socket)->is_raw() ? "raw socket" : "unprivileged socket"));
    send_next(run);
}

void IcmpDriver::send_next(Run& run) {
    const auto socket = socket_of(run.to);
    if (!socket) return;
    const std::uint64_t token = random_bits();
    std::string payload(std::max<std::size_t>(run.icmp().payload_bytes, 2 * kToken), '\0');
    std::memcpy(payload.data(), &token, kToken);
    for (std::size_t i = kToken; i < payload.size(); ++i) payload[i] = static_cast<char>(i);
    ++run.answer.sent;
    const std::uint16_t sequence = ++sequence_;
    probes_[token] = {run.order.id, net::boot_now(), sequence};
    run.tokens.push_back(token);
    run.reply.bytes_out += payload.size() + 8;
    const int failed = (*socket)->send(run.to, sequence, payload);
    if (failed != 0) {
        ++run.refused;
        run.error_number = failed;
    }
    const bool last = run.answer.sent >= run.icmp().count;
    run.next.arm_in(last ? kPatience : run.icmp().spacing);
    if (last && run.refused >= run.answer.sent) run.next.arm(loop_.now());
}

void IcmpDriver::on_ready(int fd, std::uint32_t events) {
    icmp::EchoSocket& socket = fd == v4_.fd() ? v4_ : v6_;
    const base::BootTime at = net::boot_now();
    bool more = true;
    for (int turn = 0; more && turn < kReadsPerTurn; ++turn) {
        const auto echo = socket.receive(buffer_, more);
        if (echo) take(*echo, at);
    }
    more = (events & EPOLLERR) != 0;
    for (int turn = 0; more && turn < kReadsPerTurn; ++turn) {
        const auto echo = socket.next_error(buffer_, more);
        if (echo) take(*echo, at);
    }
}

void IcmpDriver::take(const icmp::Echo& echo, base::BootTime at) {
    if (echo.payload.size() < kToken) return;
    std::uint64_t token = 0;
    std::memcpy(&token, echo.payload.data(), kToken);
    const auto found = probes_.find(token);
    if (found == probes_.end() || found->second.sequence != echo.sequence) return;
    Run* const run = runs_.find(found->second.run);
    if (run == nullptr) return;
    if (echo.error_number != 0) {
        ++run->refused;
        run->error_number = echo.error_number;
    } else {
        if (echo.from.bytes().size() != run->to.bytes().size() ||
            !std::ranges::equal(echo.from.bytes(), run->to.bytes())) {
            return;
        }
        ++run->answer.received;
        run->answer.round_trips.push_back(at - found->second.sent);
        run->reply.bytes_in += echo.payload.size() + 8;
        if (run->answer.received == 1) run->reply.phases.first_byte = run->since_start();
    }
    probes_.erase(found);
    std::erase(run->tokens, token);
    if (run->answer.received + run->refused >= run->icmp().count) conclude(*run);
}

void IcmpDriver::conclude(Run& run) {
    const model::IcmpReply& answer = run.answer;
    run.note(fmt::format("{} sent, {} came back", answer.sent, answer.received));
    if (answer.received > 0) return runs_.end(run, std::move(run.answer));
    if (run.error_number != 0) {
        return runs_.end(
            run, failure_of(FailureKind::kConnection, "icmp.unreachable",
                            fmt::format("no way to {}: {}; check address and network",
                                        run.to.to_string(), std::strerror(run.error_number))));
    }
    runs_.end(run, failure_of(FailureKind::kTimeout, "icmp.timeout",
                              fmt::format("none of {} echo requests to {} came back within {}; the "
                                          "host is down, or it or a firewall drops ICMP",
                                          answer.sent, run.to.to_string(),
                                          base::format_duration(run.since_start()))));
}

void IcmpDriver::cancel(std::uint64_t id) { runs_.cancel(id); }

void IcmpDriver::expire(Run& run) {
    if (run.answer.sent > 0) return conclude(run);
    runs_.end(run, failure_of(FailureKind::kTimeout, "icmp.timeout",
                              fmt::format("{} was not found in the DNS within {}",
                                          base::quoted(run.ask().host),
                                          base::format_duration(run.since_start()))));
}

}  // namespace pollux::protocol
