#include "feed/delivery_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/siphash.hpp"
#include "document/parse.hpp"

namespace pollux::feed {
namespace {

using namespace std::chrono_literals;

constexpr base::SipKey kJitterKey{0x6665656472657472ULL, 0x6964656c61790001ULL};
constexpr base::Duration kLongestWait = std::chrono::hours(1);  // that a receiver may ask for

ChannelKey key_of(const model::Notification& notification) {
    return {notification.receiver, notification.channel};
}

// The wall clock may be changed; what is due in the past is due now.
base::BootTime boot_of(base::WallTime time, base::Instant now) {
    return now.boot + std::max(base::Duration::zero(), time - now.wall);
}

// The names of the incidents that it tells of, or its own.
std::vector<std::string> lanes_of(const model::Notification& notification) {
    if (!notification.incident.empty()) return {notification.incident};
    if (notification.kind != model::NotificationKind::kDigest) return {notification.id};
    document::Diagnostics ignored;
    const document::Parsed body = document::parse_json(notification.body, "digest", ignored);
    const document::Node* about = body.ok ? body.root.find("about") : nullptr;
    std::set<std::string> names;
    if (about != nullptr) {
        for (const document::Node& name : about->items()) names.insert(name.scalar());
    }
    if (names.empty()) names.insert(notification.id);
    return {names.begin(), names.end()};
}

}  // namespace

base::Duration retry_delay(std::uint32_t failures, std::string_view id) {
    base::Duration delay = 5min;
    if (failures <= 6)
        delay = std::chrono::seconds(1U << (std::max(failures, 1U) - 1U));  // to 32 s
    if (failures == 7) delay = 60s;
    const double part = base::unit_interval(base::siphash24(kJitterKey, id));
    return delay + base::from_seconds(base::to_seconds(delay) * part * 0.1);
}

DeliveryQueue::DeliveryQueue(DeliveryLimits limits) : limits_(limits) {}

void DeliveryQueue::set_rate(ChannelState& channel, base::BootTime now) {
    const std::uint32_t per_minute = channel.endpoint ? channel.endpoint->channel.per_minute : 0;
    if (per_minute == 0) {
        channel.rate = {};
        return;
    }
    channel.rate.set_rate(now, per_minute / 60.0, per_minute);
}

void DeliveryQueue::set_endpoints(Endpoints endpoints, base::BootTime now) {
    for (auto& [key, channel] : channels_) {
        const auto found = endpoints.find(key);
        channel.endpoint = found == endpoints.end() ? nullptr : found->second;
        // Somebody changed something: what failed may work now.
        channel.closed_until = base::BootTime::min();
        set_rate(channel, now);
    }
    for (auto& [key, endpoint] : endpoints) {
        if (channels_.contains(key)) continue;
        ChannelState& channel = channels_[key];
        channel.endpoint = std::move(endpoint);
        set_rate(channel, now);
    }
    std::erase_if(channels_, [](const auto& one) {
        return one.second.endpoint == nullptr && one.second.lanes.empty();
    });
}

base::Status DeliveryQueue::add(model::Notification notification, base::Instant now) {
    if (items_.contains(notification.id)) return {};
    if (items_.size() >= limits_.max_waiting) {
        return base::make_error(base::ErrorClass::kTransient, "feed.queue_full",
                                fmt::format("{} notifications wait already", limits_.max_waiting));
    }
    ChannelState& channel = channels_[key_of(notification)];
    Item& item = items_[notification.id];
    item.due = boot_of(notification.not_before, now);
    item.lanes = lanes_of(notification);
    item.notification = std::make_shared<const model::Notification>(std::move(notification));
    for (const std::string& name : item.lanes) {
        Lane& lane = channel.lanes[name];
        if (!lane.items.empty()) unlist(channel, *lane.items.begin()->second);
        lane.items.emplace(std::pair(item.notification->number, item.notification->id), &item);
    }
    list_firsts(channel, item.lanes);
    ++channel.status.waiting;
    return {};
}

void DeliveryQueue::unlist(ChannelState& channel, Item& item) {
    if (!std::exchange(item.listed, false)) return;
    const model::Notification& row = *item.notification;
    channel.later.erase({item.due, row.id});
    channel.ready.erase({row.attempts, row.number, row.id});
}

void DeliveryQueue::list_firsts(ChannelState& channel, const std::vector<std::string>& lanes) {
    for (const std::string& name : lanes) {
        const auto lane = channel.lanes.find(name);
        if (lane == channel.lanes.end()) continue;
        Item& first = *lane->second.items.begin()->second;
        const bool waits = std::ranges::any_of(first.lanes, [&](const std::string& other) {
            const Lane& one = channel.lanes.at(other);
            return one.busy || one.items.begin()->second != &first;
        });
        if (waits || std::exchange(first.listed, true)) continue;
        channel.later.emplace(first.due, first.notification->id);
    }
}

void DeliveryQueue::set_busy(ChannelState& channel, const Item& item, bool busy) {
    for (const std::string& name : item.lanes) channel.lanes.at(name).busy = busy;
}

void DeliveryQueue::promote(ChannelState& channel, base::BootTime now) {
    while (!channel.later.empty() && channel.later.begin()->first <= now) {
        const model::Notification& row = *items_.at(channel.later.begin()->second).notification;
        channel.ready.emplace(row.attempts, row.number, row.id);
        channel.later.erase(channel.later.begin());
    }
}

void DeliveryQueue::cancel(const std::string& id) {
    const auto found = items_.find(id);
    if (found == items_.end()) return;
    if (found->second.attempt == 0) {
        remove(id);
    } else {
        found->second.cancelled = true;
    }
}

void DeliveryQueue::remove(const std::string& id) {
    const auto found = items_.find(id);
    Item& item = found->second;
    const model::Notification& row = *item.notification;
    const auto channel = channels_.find(key_of(row));
    unlist(channel->second, item);
    for (const std::string& name : item.lanes) {
        const auto lane = channel->second.lanes.find(name);
        lane->second.items.erase({row.number, row.id});
        if (lane->second.items.empty()) channel->second.lanes.erase(lane);
    }
    list_firsts(channel->second, item.lanes);
    --channel->second.status.waiting;
    if (channel->second.endpoint == nullptr && channel->second.lanes.empty())
        channels_.erase(channel);
    items_.erase(found);
}

// How many attempts may be under way at this channel now.
std::size_t DeliveryQueue::room(const ChannelState& channel) const {
    const std::size_t most = channel.status.failures > 0 ? 1 : limits_.max_in_flight_per_channel;
    const std::size_t here = most - std::min(most, channel.status.in_flight);
    return std::min(here,
                    limits_.max_in_flight - std::min(limits_.max_in_flight, in_flight_.size()));
}

base::BootTime DeliveryQueue::opens_at(const ChannelState& channel) const {
    return std::max(channel.closed_until, channel.rate.opens_at());
}

std::vector<Attempt> DeliveryQueue::start_due(base::Instant now) {
    std::vector<Attempt> out;
    for (auto& [key, channel] : channels_) start_channel(channel, now, out);
    return out;
}

void DeliveryQueue::start_channel(ChannelState& channel, base::Instant now,
                                  std::vector<Attempt>& out) {
    promote(channel, now.boot);
    while (room(channel) > 0 && opens_at(channel) <= now.boot && !channel.ready.empty()) {
        channel.rate.take(now.boot);
        out.push_back(begin(channel, items_.at(std::get<2>(*channel.ready.begin())), now));
    }
}

Attempt DeliveryQueue::begin(ChannelState& channel, Item& item, base::Instant now) {
    unlist(channel, item);
    set_busy(channel, item, true);
    item.attempt = ++last_attempt_;
    item.started = now;
    in_flight_[item.attempt] = item.notification->id;
    ++channel.status.in_flight;
    return {.id = item.attempt,
            .number = item.notification->attempts + 1,
            .endpoint = channel.endpoint,
            .notification = item.notification,
            .deadline = now.boot + limits_.attempt_timeout};
}

std::shared_ptr<const DeliveryReport> DeliveryQueue::finished(std::uint64_t attempt,
                                                              AttemptOutcome outcome,
                                                              base::Instant now) {
    const auto found = in_flight_.find(attempt);
    if (found == in_flight_.end()) return nullptr;
    const std::string id = found->second;
    in_flight_.erase(found);
    Item& item = items_.at(id);
    ChannelState& channel = channels_.at(key_of(*item.notification));
    --channel.status.in_flight;
    auto row = std::make_shared<model::Notification>(*item.notification);
    apply(channel, item, outcome, now, *row);
    auto report = std::make_shared<const DeliveryReport>(
        DeliveryReport{.notification = row,
                       .outcome = std::move(outcome),
                       .started = item.started.wall,
                       .took = now.boot - item.started.boot});
    set_busy(channel, item, false);
    item.attempt = 0;
    item.notification = row;
    if (row->state == model::DeliveryState::kWaiting) {
        list_firsts(channel, item.lanes);
    } else {
        remove(id);
    }
    return report;
}

void DeliveryQueue::apply(ChannelState& channel, Item& item, const AttemptOutcome& outcome,
                          base::Instant now, model::Notification& row) {
    ++row.attempts;
    row.last_attempt = item.started.wall;
    ChannelStatus& status = channel.status;
    if (outcome.result == AttemptResult::kDelivered) {
        row.state = model::DeliveryState::kDelivered;
        row.last_error = outcome.message;  // who of several refused it
        status.failures = 0;
        status.last_worked = now.wall;
        channel.closed_until = base::BootTime::min();
        return;
    }
    row.last_error = outcome.code.empty() ? outcome.message : outcome.code + ": " + outcome.message;
    status.last_failed = now.wall;
    status.last_error = row.last_error;
    const bool final = outcome.result == AttemptResult::kPermanent || row.attempts >= kMaxAttempts;
    if (item.cancelled) {
        row.state = model::DeliveryState::kCancelled;
    } else if (final) {
        row.state = model::DeliveryState::kFailed;
    }
    // A receiver that refuses one message is there for the next.
    if (outcome.result == AttemptResult::kPermanent) return;
    ++status.failures;
    const base::Duration asked = std::min(outcome.retry_after, kLongestWait);
    const base::Duration own = std::max(asked, retry_delay(row.attempts, row.id));
    item.due = now.boot + own;
    row.not_before = now.wall + own;
    channel.closed_until = now.boot + std::max(asked, retry_delay(status.failures, row.channel));
}

void DeliveryQueue::taken_back(std::uint64_t attempt) {
    const auto found = in_flight_.find(attempt);
    if (found == in_flight_.end()) return;
    Item& item = items_.at(found->second);
    ChannelState& channel = channels_.at(key_of(*item.notification));
    item.attempt = 0;
    set_busy(channel, item, false);
    --channel.status.in_flight;
    in_flight_.erase(found);
    if (item.cancelled) {
        remove(item.notification->id);
    } else {
        list_firsts(channel, item.lanes);
    }
}

base::BootTime DeliveryQueue::next_due() const {
    base::BootTime next = base::BootTime::max();
    for (const auto& [key, channel] : channels_) {
        if (room(channel) == 0) continue;  // the end of an attempt makes room
        if (!channel.ready.empty()) next = std::min(next, opens_at(channel));
        if (!channel.later.empty()) {
            next = std::min(next, std::max(channel.later.begin()->first, opens_at(channel)));
        }
    }
    return next;
}

std::map<ChannelKey, ChannelStatus> DeliveryQueue::status(base::Instant now) const {
    std::map<ChannelKey, ChannelStatus> out;
    for (const auto& [key, channel] : channels_) {
        ChannelStatus& status = out[key] = channel.status;
        if (status.failures == 0) continue;
        status.next_attempt =
            now.wall + std::max(base::Duration::zero(), channel.closed_until - now.boot);
    }
    return out;
}

}  // namespace pollux::feed
