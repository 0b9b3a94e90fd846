// Looks at the certificate and the TLS of a server. A certificate that is not good is an answer,
// unless the ask wants it to be a failure.
#pragma once

#include <memory>

#include "net/egress_policy.hpp"
#include "net/resolver.hpp"
#include "net/tls_check.hpp"
#include "protocol/run_table.hpp"

namespace pollux::protocol {

class TlsDriver final : public Driver {
  public:
    TlsDriver(net::EventLoop& loop, net::Resolver& resolver,
              std::shared_ptr<const net::EgressPolicy> egress);
    ~TlsDriver() override;

    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override;
    std::size_t in_flight() const override { return runs_.size(); }

    void set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
        egress_ = std::move(egress);
    }

  private:
    struct Run;
    void expire(Run& run);
    void finish(Run& run);

    net::EventLoop& loop_;
    net::Resolver& resolver_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    net::TrustStores trust_;
    std::shared_ptr<ssl_ctx_st> context_;
    RunTable<Run> runs_;
};

}  // namespace pollux::protocol
