// Sends notifications: the queue that decides (delivery_queue.hpp) on an event loop, with the
// channels that do it.
//
//   feed::Deliverer deliverer(loop, resolver, egress, options, [&](auto report) { store(report);
//   }); deliverer.set_endpoints(...);     // at the start and after each change of receivers
//   deliverer.offer(rows);            // what waits in the store, and each new one
//
// Everything runs in the loop's thread. The owner stores what each report says; what is under way
// when the process ends was never reported, so its row still waits, and the next life sends it
// again with the same idempotency key.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "feed/channel.hpp"
#include "feed/delivery_queue.hpp"
#include "feed/email_channel.hpp"
#include "feed/exec_channel.hpp"
#include "feed/webhook_channel.hpp"
#include "net/http_client.hpp"

namespace pollux::feed {

struct DelivererOptions {
    DeliveryLimits limits;
    EmailOptions email;
    protocol::exec::ExecRules exec;
};

class Deliverer {
  public:
    // Called once for each attempt that ended, in their order.
    using Report = std::function<void(std::shared_ptr<const DeliveryReport>)>;

    // Loop and resolver must outlive it.
    Deliverer(net::EventLoop& loop, net::Resolver& resolver,
              std::shared_ptr<const net::EgressPolicy> egress, DelivererOptions options,
              Report report);
    ~Deliverer();
    Deliverer(const Deliverer&) = delete;
    Deliverer& operator=(const Deliverer&) = delete;

    void set_endpoints(Endpoints endpoints);
    void set_egress(std::shared_ptr<const net::EgressPolicy> egress);
    void set_email(EmailOptions options) { email_.set_options(std::move(options)); }
    void set_exec(protocol::exec::ExecRules rules) { exec_.set_rules(std::move(rules)); }

    // As DeliveryQueue::add() and cancel().
    base::Status offer(model::Notification notification);
    void cancel(const std::string& id);

    // Begins nothing more and lets what is under way end for `at_most`; then stops it, and calls
    // `stopped` from the loop. What was stopped still waits.
    void stop(base::Duration at_most, std::move_only_function<void()> stopped);

    std::size_t waiting() const { return queue_.waiting(); }
    std::size_t in_flight() const { return queue_.in_flight(); }
    std::map<ChannelKey, ChannelStatus> status() const { return queue_.status(net::instant_now()); }

  private:
    void wake();
    void pump();
    void run(Attempt attempt);
    void finished(std::uint64_t attempt, AttemptOutcome outcome);
    ChannelDriver& driver_of(model::ChannelKind kind);
    void finish_stop();

    net::EventLoop& loop_;
    Report report_;
    DeliveryQueue queue_;
    net::HttpClient http_;
    WebhookChannel webhook_;
    EmailChannel email_;
    ExecChannel exec_;
    std::map<std::uint64_t, model::ChannelKind> under_way_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    bool stopping_ = false;
    std::move_only_function<void()> stopped_;
    net::Timer timer_;
    net::Timer stop_timer_;
};

}  // namespace pollux::feed
