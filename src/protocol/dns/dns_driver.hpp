// Asks one name server one question: over UDP, and over TCP when the answer was cut.
//
// An answer counts only if it comes from the server that was asked, with the id and the question
// that were sent; anything else is passed over.
#pragma once

#include <memory>

#include "net/egress_policy.hpp"
#include "net/resolver.hpp"
#include "protocol/run_table.hpp"

namespace pollux::protocol {

class DnsDriver final : public Driver {
  public:
    DnsDriver(net::EventLoop& loop, net::Resolver& resolver,
              std::shared_ptr<const net::EgressPolicy> egress);
    ~DnsDriver() override;

    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override;
    std::size_t in_flight() const override { return runs_.size(); }

    void set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
        egress_ = std::move(egress);
    }

  private:
    struct Run;
    void expire(Run& run);

    net::EventLoop& loop_;
    net::Resolver& resolver_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    RunTable<Run> runs_;
};

}  // namespace pollux::protocol
