#include "net/connector.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace pollux::net {

using model::FailureKind;

Connector::Connector(EventLoop& loop, Resolver& resolver,
                     std::shared_ptr<const EgressPolicy> egress)
    : loop_(loop), resolver_(resolver), egress_(std::move(egress)), step_(loop, [this] {
          if (fd_ >= 0) {
              attempt_failed(ETIMEDOUT);
          } else {
              try_next();
          }
      }) {}

Connector::~Connector() {
    if (ticket_ != 0) resolver_.cancel(ticket_);
    close_attempt();
}

void Connector::start(const std::string& host, std::uint16_t port, base::BootTime deadline,
                      Done done) {
    host_ = host;
    port_ = port;
    started_ = boot_now();
    deadline_ = deadline;
    done_ = std::move(done);
    if (const auto literal = IpAddress::parse(host)) {
        addresses_ = {*literal};
        step_.arm(loop_.now());
        return;
    }
    ticket_ = resolver_.lookup(
        host, [this](const base::Result<SharedAddresses>& found) { resolved(found); });
}

void Connector::resolved(const base::Result<SharedAddresses>& found) {
    ticket_ = 0;
    dns_time_ = boot_now() - started_;
    if (!found) {
        const bool config = found.error().error_class == base::ErrorClass::kConfig;
        return finish(
            std::unexpected(ConnectFailure{config ? FailureKind::kConfiguration : FailureKind::kDns,
                                           "dns", found.error().message}));
    }
    addresses_.assign((*found)->begin(), (*found)->end());
    try_next();
}

void Connector::try_next() {
    while (next_ < addresses_.size()) {
        const IpAddress address = addresses_[next_++];
        if (const auto allowed = egress_->check_target(address); !allowed) {
            last_ = {FailureKind::kConfiguration, "denied", allowed.error().message};
            continue;
        }
        sockaddr_storage storage{};
        const socklen_t length = address.to_sockaddr(port_, storage);
        fd_ = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd_ < 0) {
            last_ = {FailureKind::kInternal, "socket",
                     fmt::format("cannot open a socket: {}", std::strerror(errno))};
            continue;
        }
        const int on = 1;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const int result = connect(fd_, reinterpret_cast<const sockaddr*>(&storage), length);
        if (result != 0 && errno != EINPROGRESS) {
            attempt_failed(errno);
            return;
        }
        share_time();
        if (const auto watched = loop_.watch(fd_, EPOLLOUT, *this); !watched) {
            attempt_failed(ENOMEM);
        }
        return;
    }
    finish(std::unexpected(last_));
}

// The last one has all that is left.
void Connector::share_time() {
    const std::size_t left = addresses_.size() - next_ + 1;
    if (left <= 1) return;
    const base::Duration share = (deadline_ - boot_now()) / static_cast<std::int64_t>(left);
    step_.arm_in(std::max<base::Duration>(share, std::chrono::milliseconds(1)));
}

void Connector::extend(base::BootTime deadline) {
    deadline_ = std::max(deadline_, deadline);
    if (fd_ >= 0) share_time();
}

void Connector::on_ready(int fd, std::uint32_t) {
    int error_number = 0;
    socklen_t length = sizeof error_number;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &length);
    if (error_number != 0) return attempt_failed(error_number);
    loop_.unwatch(fd);
    connect_time_ = boot_now() - started_;
    finish(ConnectedSocket{std::exchange(fd_, -1), SocketAddress::peer_of(fd)});
}

void Connector::attempt_failed(int error_number) {
    const std::string where = addresses_[next_ - 1].to_string(port_);
    close_attempt();
    if (error_number == ECONNREFUSED) {
        last_ = {FailureKind::kConnection, "refused",
                 fmt::format("{} refused the connection: nothing listens there, or a firewall "
                             "says no; check port and service",
                             where)};
    } else if (error_number == ETIMEDOUT) {
        last_ = {FailureKind::kTimeout, "timeout",
                 fmt::format("no connection to {} in time; the host is down, or a firewall drops "
                             "what we send",
                             where)};
    } else {
        last_ = {FailureKind::kConnection, "unreachable",
                 fmt::format("no connection to {}: {}; check address and network", where,
                             std::strerror(error_number))};
    }
    step_.arm(loop_.now());
}

void Connector::close_attempt() {
    step_.cancel();
    if (fd_ < 0) return;
    loop_.unwatch(fd_);
    close(fd_);
    fd_ = -1;
}

void Connector::finish(std::expected<ConnectedSocket, ConnectFailure> result) {
    step_.cancel();
    Done done = std::move(done_);
    done(std::move(result));
}

}  // namespace pollux::net
