// The thread that delivers: takes notifications from the desk of alerts, sends them through the
// channels of their receivers, and gives the outcome back; beside it the sentinel, and who forwards
// alerts to Alertmanagers.
//
// start(), follow() and stop() belong to the main thread.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <thread>

#include "base/result.hpp"
#include "feed/alertmanager_forwarder.hpp"
#include "feed/deliverer.hpp"
#include "feed/sentinel.hpp"
#include "net/event_loop.hpp"
#include "net/resolver.hpp"
#include "observe/log.hpp"
#include "runtime/server.hpp"

namespace pollux::app {

class Notifying {
  public:
    // Server and log outlive it.
    static base::Result<std::unique_ptr<Notifying>> start(runtime::Server& server,
                                                          observe::Log& log);
    ~Notifying();
    Notifying(const Notifying&) = delete;
    Notifying& operator=(const Notifying&) = delete;

    // The fleet or the settings changed.
    void follow();
    // Lets what is under way end, a few seconds at the most. Blocks.
    void stop();

  private:
    // What the main thread hands over.
    struct Setup {
        feed::Endpoints endpoints;
        std::shared_ptr<const net::EgressPolicy> egress;
        feed::EmailOptions email;
        protocol::exec::ExecRules exec;
        feed::SentinelOptions sentinel;
        std::vector<feed::ForwardTarget> alertmanagers;
        bool review = true;  // then nothing is forwarded
        std::string external_url;
    };

    Notifying(runtime::Server& server, observe::Log& log) : server_(server), log_(log) {}
    base::Result<Setup> setup() const;
    base::Status open(Setup setup);
    void take(Setup setup);
    void offer(std::vector<model::Notification> rows);
    void offer_waiting();
    void report(const feed::DeliveryReport& report);
    void tell_of_peer(bool lost, std::string message, base::WallTime at);
    void make_forwarder();
    void snapshot(std::move_only_function<void(std::vector<model::Alert>)> done);

    runtime::Server& server_;
    observe::Log& log_;
    std::shared_ptr<net::EventLoop> loop_;
    std::thread thread_;

    // Only on the thread, from its start on.
    std::unique_ptr<net::Resolver> resolver_;
    std::unique_ptr<feed::Deliverer> deliverer_;
    std::unique_ptr<net::HttpClient> client_;  // of the sentinel and the forwarder
    std::unique_ptr<feed::AlertmanagerForwarder> forwarder_;
    bool review_ = true;
    std::string external_url_;
    std::unique_ptr<feed::Sentinel> sentinel_;
    feed::SentinelOptions sentinel_options_;
    std::deque<model::Notification> no_room_;  // the deliverer was full; offered again
    std::unique_ptr<net::Timer> again_;
};

}  // namespace pollux::app
