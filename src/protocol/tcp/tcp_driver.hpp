// Opens a TCP connection, may say something and wait for an answer.
#pragma once

#include <memory>

#include "net/egress_policy.hpp"
#include "net/resolver.hpp"
#include "protocol/run_table.hpp"

namespace pollux::protocol {

class TcpDriver final : public Driver {
  public:
    TcpDriver(net::EventLoop& loop, net::Resolver& resolver,
              std::shared_ptr<const net::EgressPolicy> egress);
    ~TcpDriver() override;

    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override;
    std::size_t in_flight() const override { return runs_.size(); }

    void set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
        egress_ = std::move(egress);
    }

  private:
    struct Run;
    void connected(Run& run, int fd);
    void expire(Run& run);

    net::EventLoop& loop_;
    net::Resolver& resolver_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    RunTable<Run> runs_;
};

}  // namespace pollux::protocol
