#include "protocol/snmp/transport.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "base/check.hpp"

namespace pollux::protocol::snmp {
namespace {

constexpr int kReceiveRounds = 4;  // batches per socket and turn
constexpr int kErrorsPerTurn = 512;
constexpr int kSendAttempts = 8;
// How long to wait when the kernel has no memory for a datagram, which no event announces.
constexpr base::Duration kNoBuffersPause = std::chrono::milliseconds(2);

}  // namespace

Transport::Transport(net::EventLoop& loop, TransportClient& client, TransportOptions options)
    : loop_(loop),
      client_(client),
      options_(options),
      window_(std::max<std::size_t>(options.window, 1), options.window_age),
      flush_timer_(loop, [this] { flush(); }) {
    batch_tickets_.reserve(kBatchDatagrams);
}

base::Result<std::unique_ptr<Transport>> Transport::create(net::EventLoop& loop,
                                                           TransportClient& client,
                                                           TransportOptions options) {
    std::unique_ptr<Transport> transport(new Transport(loop, client, options));
    if (const base::Status status = transport->open(); !status) {
        return std::unexpected(status.error());
    }
    return transport;
}

base::Status Transport::open() {
    base::Status last;
    for (const sa_family_t family : {sa_family_t{AF_INET}, sa_family_t{AF_INET6}}) {
        base::Result<UdpSocket> socket = UdpSocket::open(family, options_.socket_buffer_bytes);
        if (!socket) {
            last = std::unexpected(socket.error());
            continue;
        }
        if (base::Status status = loop_.watch(socket->fd(), EPOLLIN, *this); !status) {
            return status;
        }
        line_of(family).socket = std::move(*socket);
    }
    return v4_.socket.is_open() || v6_.socket.is_open() ? base::Status{} : last;
}

Transport::~Transport() {
    for (Line* line : {&v4_, &v6_}) {
        if (line->socket.is_open()) loop_.unwatch(line->socket.fd());
    }
}

bool Transport::supports(sa_family_t family) const {
    return family == AF_INET ? v4_.socket.is_open() : family == AF_INET6 && v6_.socket.is_open();
}

void Transport::enqueue(std::uint64_t ticket, sa_family_t family) {
    POLLUX_CHECK(supports(family));
    Line& line = line_of(family);
    line.tickets.push_back(ticket);
    // A timer for now fires at the end of this turn: everything that is asked in a turn goes out
    // together.
    if (!line.wants_write) wake_at(loop_.now());
}

void Transport::settle(std::uint64_t number) {
    window_.settle(number);
    if (!v4_.tickets.empty() || !v6_.tickets.empty()) wake_at(loop_.now());
}

std::size_t Transport::waiting() const { return v4_.tickets.size() + v6_.tickets.size(); }

void Transport::wake_at(base::BootTime at) {
    if (!flush_timer_.armed() || at < flush_timer_.at()) flush_timer_.arm(at);
}

void Transport::on_ready(int fd, std::uint32_t events) {
    Line& line = v4_.socket.fd() == fd ? v4_ : v6_;
    if ((events & EPOLLERR) != 0) drain_errors(line);
    // Also after an error: receiving clears one that left nothing in the queue, which would be
    // reported for ever.
    if ((events & (EPOLLIN | EPOLLERR)) != 0) receive(line);
    if ((events & EPOLLOUT) != 0) {
        set_wants_write(line, false);
        wake_at(loop_.now());
    }
}

void Transport::receive(Line& line) {
    for (int round = 0; round < kReceiveRounds && line.socket.receive(received_); ++round) {
        for (std::size_t i = 0; i < received_.count; ++i) {
            const std::optional<Endpoint> from = from_sockaddr(received_.from(i));
            if (from) client_.on_datagram(*from, received_.datagram(i));
        }
        if (received_.count < kBatchDatagrams) return;
    }
}

void Transport::drain_errors(Line& line) {
    IcmpError error;
    for (int i = 0; i < kErrorsPerTurn && line.socket.next_error(error); ++i) {
        client_.on_icmp_error(error);
    }
}

void Transport::set_wants_write(Line& line, bool wants) {
    if (line.wants_write == wants) return;
    const auto events = static_cast<std::uint32_t>(wants ? EPOLLIN | EPOLLOUT : EPOLLIN);
    // Fails only if the descriptor is not watched, which would be our own fault.
    POLLUX_CHECK(loop_.change(line.socket.fd(), events).has_value());
    line.wants_write = wants;
}

void Transport::flush() {
    if (loop_.now() < pause_until_) return wake_at(pause_until_);
    window_.expire(loop_.now());
    // Half of a turn's burst for each family; what one does not use is left to the other.
    std::size_t budget = std::max<std::size_t>(options_.burst, 1);
    budget -= flush_line(v6_, v4_.tickets.empty() ? budget : (budget + 1) / 2);
    flush_line(v4_, budget);
    const bool more =
        (!v4_.tickets.empty() && !v4_.wants_write) || (!v6_.tickets.empty() && !v6_.wants_write);
    if (!more) return;
    wake_at(std::max(pause_until_, window_.room() > 0 ? loop_.now() : window_.next_expiry()));
}

std::size_t Transport::flush_line(Line& line, std::size_t budget) {
    std::size_t used = 0;
    while (used < budget && !line.tickets.empty() && !line.wants_write && window_.room() > 0) {
        fill_batch(line, std::min(budget - used, window_.room()));
        used += batch_.size();
        if (!send_batch(line)) break;
    }
    return used;
}

void Transport::fill_batch(Line& line, std::size_t most) {
    batch_.clear();
    batch_tickets_.clear();
    while (batch_.size() < most && !batch_.full() && !line.tickets.empty()) {
        const std::uint64_t ticket = line.tickets.front();
        line.tickets.pop_front();
        const TransportClient::Outgoing outgoing = client_.prepare(ticket, batch_.buffer());
        if (outgoing.to == nullptr) continue;
        batch_.add(*outgoing.to, outgoing.bytes);
        batch_tickets_.push_back(ticket);
    }
}

// False: the socket takes no more now; the rest is back in line.
bool Transport::send_batch(Line& line) {
    std::size_t done = 0;
    int attempts = 0;
    while (done < batch_.size()) {
        const int sent = line.socket.send(batch_, done);
        if (sent > 0) {
            for (int i = 0; i < sent; ++i, ++done) {
                client_.on_sent(batch_tickets_[done], batch_.bytes_of(done),
                                window_.add(loop_.now()));
            }
            attempts = 0;
            continue;
        }
        if (sent == -EAGAIN || sent == -EWOULDBLOCK || sent == -ENOBUFS || sent == -ENOMEM) {
            line.tickets.insert(line.tickets.begin(),
                                batch_tickets_.begin() + static_cast<std::ptrdiff_t>(done),
                                batch_tickets_.end());
            if (sent == -EAGAIN || sent == -EWOULDBLOCK) {
                set_wants_write(line, true);
            } else {
                pause_until_ = loop_.now() + kNoBuffersPause;
                wake_at(pause_until_);
            }
            return false;
        }
        // It may be the error of an earlier datagram, which any call reports once.
        if (++attempts < kSendAttempts) continue;
        client_.on_send_failed(batch_tickets_[done++], -sent);
        attempts = 0;
    }
    return true;
}

}  // namespace pollux::protocol::snmp
