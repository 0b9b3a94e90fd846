// Keeps Alertmanagers told of the open alerts, as Prometheus does: all that people may be told of,
// new ones within seconds, again before they end there, and their ends. Routing is theirs.
//
// Lives on one loop; the snapshots of alerts come from wherever the port takes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "feed/forward_book.hpp"
#include "model/alert.hpp"
#include "model/credentials.hpp"
#include "net/event_loop.hpp"
#include "net/http_client.hpp"
#include "observe/log.hpp"

namespace pollux::feed {

struct ForwardTarget {
    std::string url;  // "https://alertmanager.example:9093/prefix", without credentials
    std::shared_ptr<const model::Credentials> credentials;  // may be null
    bool operator==(const ForwardTarget&) const = default;
};

struct ForwarderPorts {
    // All alerts that are to be forwarded now; `done` is called once, from any thread. Nothing
    // while nothing may be sent.
    std::function<void(std::move_only_function<void(std::vector<model::Alert>)> done)> snapshot;
    std::function<std::string()> external_url;
};

struct ForwardStatus {
    std::string url;
    base::WallTime worked_at;  // zero: never
    std::string last_error;    // empty: the last one arrived; no secret
    std::size_t alerts = 0;    // known there
};

class AlertmanagerForwarder {
  public:
    static constexpr base::Duration kLookEvery = std::chrono::seconds(10);
    static constexpr base::Duration kTimeout = std::chrono::seconds(10);

    // Loop, client and log outlive it.
    AlertmanagerForwarder(net::EventLoop& loop, net::HttpClient& client, observe::Log& log,
                          ForwarderPorts ports);
    ~AlertmanagerForwarder();
    AlertmanagerForwarder(const AlertmanagerForwarder&) = delete;
    AlertmanagerForwarder& operator=(const AlertmanagerForwarder&) = delete;

    // Those that stay keep what they were told.
    void set_targets(const std::vector<ForwardTarget>& targets);
    std::vector<ForwardStatus> status() const;

  private:
    struct Peer;

    void look();
    void take(const std::vector<model::Alert>& alerts);
    void post(const std::shared_ptr<Peer>& peer);
    void posted(Peer& peer, const net::HttpOutcome& outcome);

    net::EventLoop& loop_;
    net::HttpClient& client_;
    observe::Log& log_;
    ForwarderPorts ports_;
    std::vector<std::shared_ptr<Peer>> peers_;
    std::uint64_t next_order_ = 1;
    bool asking_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    net::Timer timer_;
};

}  // namespace pollux::feed
