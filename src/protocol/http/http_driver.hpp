// Runs asks over HTTP: the port of drivers over the HTTP client.
//
// One per I/O shard, in its loop's thread. Knows nothing of connections; it turns orders into
// requests, and outcomes into replies or classified failures.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "net/event_loop.hpp"
#include "net/http_client.hpp"
#include "protocol/driver.hpp"

namespace pollux::protocol {

class HttpDriver final : public Driver {
  public:
    // Loop and resolver must outlive the driver.
    HttpDriver(net::EventLoop& loop, net::Resolver& resolver,
               std::shared_ptr<const net::EgressPolicy> egress, net::HttpClientOptions options = {})
        : client_(loop, resolver, std::move(egress), std::move(options)) {}

    void start(Order order, Done done) override;
    void cancel(std::uint64_t id) override { client_.cancel(id); }
    std::size_t in_flight() const override { return client_.in_flight(); }

    // For counts and for a new egress policy.
    net::HttpClient& client() { return client_; }

  private:
    net::HttpClient client_;
};

}  // namespace pollux::protocol
