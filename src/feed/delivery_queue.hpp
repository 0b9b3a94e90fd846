// Decides which notification is sent when: order, back-off, limits. No clock, no thread, no I/O:
// `now` goes in, attempts come out, so that two hours of a dead receiver are tested in moments.
//
// Invariants
// 1. Of one incident and one channel, at most one notification is under way, and a later one is not
//    tried before the earlier one is delivered, failed or cancelled. A digest belongs to every
//    incident that it is about.
// 2. While a channel fails, one attempt at a time finds out whether it works again; those with the
//    fewest attempts go first, so that one message that is never taken does not stop the others.
// 3. A notification is given up after kMaxAttempts transient failures, which by the back-off alone
//    take more than two hours, or after one permanent failure.
// 4. What was added leaves by delivered, failed or cancel() only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "base/token_bucket.hpp"
#include "feed/channel.hpp"
#include "model/notification.hpp"

namespace pollux::feed {

inline constexpr std::uint32_t kMaxAttempts = 40;

// 1 s doubling to 60 s, then 5 min; up to a tenth more by the id, so that what failed together does
// not come back together. `failures` counts from 1.
base::Duration retry_delay(std::uint32_t failures, std::string_view id);

struct DeliveryLimits {
    std::size_t max_waiting = 100'000;
    std::size_t max_in_flight = 32;
    std::size_t max_in_flight_per_channel = 4;
    base::Duration attempt_timeout = std::chrono::seconds(30);
};

// What became of an attempt: for the delivery log, and for the row of the notification.
struct DeliveryReport {
    std::shared_ptr<const model::Notification> notification;  // as it is to be stored now
    AttemptOutcome outcome;
    base::WallTime started;
    base::Duration took{};
};

// By receiver and name.
using ChannelKey = std::pair<std::string, std::string>;
using Endpoints = std::map<ChannelKey, std::shared_ptr<const Endpoint>>;

struct ChannelStatus {
    base::WallTime last_worked;  // zero: never
    base::WallTime last_failed;  // likewise
    std::string last_error;      // of the last failure; no secret
    std::uint32_t failures = 0;  // in a row
    std::size_t waiting = 0;     // those under way included
    std::size_t in_flight = 0;
    base::WallTime next_attempt;  // while it fails
};

class DeliveryQueue {
  public:
    explicit DeliveryQueue(DeliveryLimits limits = {});

    // Channels that are gone keep what waits for them: it fails like any other attempt.
    void set_endpoints(Endpoints endpoints, base::BootTime now);

    // One that waits; one that is known already is ignored. Transient error "feed.queue_full": it
    // stays with the owner, who offers it again.
    base::Status add(model::Notification notification, base::Instant now);

    // It is over before it was sent. One under way is not called back, and reports as usual.
    void cancel(const std::string& id);

    // What to start now; each must come back by finished().
    std::vector<Attempt> start_due(base::Instant now);
    // Null if there is no such attempt.
    std::shared_ptr<const DeliveryReport> finished(std::uint64_t attempt, AttemptOutcome outcome,
                                                   base::Instant now);
    // The attempt was stopped by ourselves: it waits as if it had not begun.
    void taken_back(std::uint64_t attempt);

    // When start_due() may have something; max(): when something else happens.
    base::BootTime next_due() const;

    std::size_t waiting() const { return items_.size(); }
    std::size_t in_flight() const { return in_flight_.size(); }
    std::map<ChannelKey, ChannelStatus> status(base::Instant now) const;

  private:
    struct Item {
        std::shared_ptr<const model::Notification> notification;
        base::BootTime due;
        std::vector<std::string> lanes;
        bool listed = false;        // in `later` or `ready` of its channel
        std::uint64_t attempt = 0;  // 0: not under way
        base::Instant started;
        bool cancelled = false;
    };
    // The notifications of one incident to one channel, in order. One that is the first of all its
    // lanes is listed in its channel, unless one of such a lane is under way. The first of all by
    // number is the first of its lanes, so they never wait for each other in a circle.
    struct Lane {
        std::map<std::pair<std::uint64_t, std::string>, Item*> items;
        bool busy = false;
    };
    struct ChannelState {
        std::shared_ptr<const Endpoint> endpoint;  // null: gone
        std::map<std::string, Lane> lanes;         // by incident, or by id where it is of none
        std::set<std::pair<base::BootTime, std::string>> later;
        std::set<std::tuple<std::uint32_t, std::uint64_t, std::string>>
            ready;  // attempts, number, id
        base::TokenBucket rate;
        base::BootTime closed_until = base::BootTime::min();
        ChannelStatus status;
    };

    void set_rate(ChannelState& channel, base::BootTime now);
    std::size_t room(const ChannelState& channel) const;
    base::BootTime opens_at(const ChannelState& channel) const;
    void start_channel(ChannelState& channel, base::Instant now, std::vector<Attempt>& out);
    static void list_firsts(ChannelState& channel, const std::vector<std::string>& lanes);
    static void unlist(ChannelState& channel, Item& item);
    static void set_busy(ChannelState& channel, const Item& item, bool busy);
    void promote(ChannelState& channel, base::BootTime now);
    Attempt begin(ChannelState& channel, Item& item, base::Instant now);
    void apply(ChannelState& channel, Item& item, const AttemptOutcome& outcome, base::Instant now,
               model::Notification& row);
    void remove(const std::string& id);

    DeliveryLimits limits_;
    std::map<std::string, Item> items_;  // by id
    std::map<ChannelKey, ChannelState> channels_;
    std::map<std::uint64_t, std::string> in_flight_;  // attempt -> id
    std::uint64_t last_attempt_ = 0;
};

}  // namespace pollux::feed
