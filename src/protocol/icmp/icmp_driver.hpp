// Sends echo requests (ping) and times the replies. One socket per family for all asks.
//
// A reply counts only if identity, sequence, source and the random bytes of its payload are those
// of a request that waits for it. An ask without any reply is a failure: the device does not
// answer.
#pragma once

#include <memory>
#include <unordered_map>

#include "net/egress_policy.hpp"
#include "net/resolver.hpp"
#include "protocol/icmp/icmp_socket.hpp"
#include "protocol/run_table.hpp"

namespace pollux::protocol {

class IcmpDriver final : public Driver, net::FdHandler {
  public:
    IcmpDriver(net::EventLoop& loop, net::Resolver& resolver,
               std::shared_ptr<const net::EgressPolicy> egress);
    ~IcmpDriver() override;

    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override;
    std::size_t in_flight() const override { return runs_.size(); }

    void set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
        egress_ = std::move(egress);
    }

  private:
    struct Run;
    struct Probe {
        std::uint64_t run = 0;  // id of its order
        base::BootTime sent;
        std::uint16_t sequence = 0;
    };

    void on_ready(int fd, std::uint32_t events) override;
    base::Result<icmp::EchoSocket*> socket_of(const net::IpAddress& address);
    void located(Run& run, const std::vector<net::IpAddress>& addresses);
    void send_next(Run& run);
    void take(const icmp::Echo& echo, base::BootTime at);
    void conclude(Run& run);
    void expire(Run& run);

    net::EventLoop& loop_;
    net::Resolver& resolver_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    std::uint16_t identity_ = 0;
    std::uint16_t sequence_ = 0;
    icmp::EchoSocket v4_;
    icmp::EchoSocket v6_;
    std::unordered_map<std::uint64_t, Probe> probes_;  // by the random token in the payload
    std::string buffer_;
    RunTable<Run> runs_;
};

}  // namespace pollux::protocol
