// Makes one TCP connection: looks the name up, asks the egress policy for each address, and tries
// one address after the other.
//
// Used from the thread of its loop, once. Invariants: start() leads to exactly one call, never from
// inside of it, unless the connector is destroyed first; the address that is connected to has
// passed the policy.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/failure.hpp"
#include "net/egress_policy.hpp"
#include "net/event_loop.hpp"
#include "net/resolver.hpp"
#include "net/socket_address.hpp"

namespace pollux::net {

struct ConnectFailure {
    model::FailureKind kind = model::FailureKind::kConnection;
    std::string reason;  // "refused", "unreachable", "dns", "denied": the end of a stable code
    std::string message;
};

struct ConnectedSocket {
    int fd = -1;  // connected, non-blocking, close-on-exec; the taker owns it
    SocketAddress peer;
};

class Connector final : FdHandler {
  public:
    using Done = std::move_only_function<void(std::expected<ConnectedSocket, ConnectFailure>)>;

    Connector(EventLoop& loop, Resolver& resolver, std::shared_ptr<const EgressPolicy> egress);
    ~Connector();
    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;

    // Addresses share the time until the deadline, which the caller keeps by itself.
    void start(const std::string& host, std::uint16_t port, base::BootTime deadline, Done done);
    // From now on addresses share the time until this later deadline.
    void extend(base::BootTime deadline);

    // How long the lookup took, and the whole; zero until then. For a literal the first stays zero.
    base::Duration dns_time() const { return dns_time_; }
    base::Duration connect_time() const { return connect_time_; }

  private:
    void on_ready(int fd, std::uint32_t events) override;
    void resolved(const base::Result<SharedAddresses>& found);
    void try_next();
    void share_time();
    void attempt_failed(int error_number);
    void close_attempt();
    void finish(std::expected<ConnectedSocket, ConnectFailure> result);

    EventLoop& loop_;
    Resolver& resolver_;
    std::shared_ptr<const EgressPolicy> egress_;
    std::string host_;
    std::uint16_t port_ = 0;
    base::BootTime started_;
    base::BootTime deadline_;
    base::Duration dns_time_{};
    base::Duration connect_time_{};
    Resolver::Ticket ticket_ = 0;
    std::vector<IpAddress> addresses_;
    std::size_t next_ = 0;
    int fd_ = -1;
    ConnectFailure last_;
    Done done_;
    Timer step_;  // the next address: at once, or when the one under way took its share of time
};

}  // namespace pollux::net
