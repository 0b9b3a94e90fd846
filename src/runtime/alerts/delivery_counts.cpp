#include "runtime/alerts/delivery_counts.hpp"

#include <algorithm>
#include <set>

namespace pollux::runtime {
namespace {

AttemptEnd end_of(model::DeliveryState state) {
    switch (state) {
        case model::DeliveryState::kDelivered: return AttemptEnd::kDelivered;
        case model::DeliveryState::kFailed: return AttemptEnd::kFailed;
        case model::DeliveryState::kCancelled: return AttemptEnd::kCancelled;
        default: return AttemptEnd::kRetry;
    }
}

}  // namespace

std::string_view to_string(AttemptEnd end) {
    switch (end) {
        case AttemptEnd::kDelivered: return "delivered";
        case AttemptEnd::kRetry: return "retry";
        case AttemptEnd::kFailed: return "failed";
        case AttemptEnd::kCancelled: return "cancelled";
    }
    return "retry";
}

void DeliveryCounts::set_receivers(const std::vector<model::Receiver>& receivers) {
    std::set<Channel> known;
    for (const model::Receiver& receiver : receivers) {
        for (const model::Channel& channel : receiver.channels) {
            known.emplace(receiver.name, channel.name);
        }
    }
    std::erase_if(channels_, [&](const auto& one) { return !known.contains(one.first); });
    for (const Channel& one : known) channels_.try_emplace(one);
}

void DeliveryCounts::attempted(const model::Notification& row, base::WallTime now) {
    const auto found = channels_.find({row.receiver, row.channel});
    if (found == channels_.end()) return;
    ChannelCounts& counts = found->second;
    const AttemptEnd end = end_of(row.state);
    ++counts.attempts[static_cast<std::size_t>(end)];
    if (end != AttemptEnd::kDelivered) return;
    counts.last_success = now;
    // The wall clock may have been set back.
    counts.delay.record(base::to_seconds(std::max(now - row.made, base::Duration::zero())));
}

}  // namespace pollux::runtime
