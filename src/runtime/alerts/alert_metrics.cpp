#include "runtime/alerts/alert_metrics.hpp"

namespace pollux::runtime {

using observe::MetricId;

namespace {

void write_deliveries(observe::MetricWriter& writer, const AlertCounts& counts) {
    writer.family(MetricId::kNotificationAttempts);
    for (const auto& [channel, one] : counts.deliveries) {
        for (std::size_t i = 0; i < one.attempts.size(); ++i) {
            writer.sample({channel.first, channel.second, to_string(static_cast<AttemptEnd>(i))},
                          static_cast<double>(one.attempts[i]));
        }
    }
    writer.family(MetricId::kNotificationDelay);
    for (const auto& [channel, one] : counts.deliveries) {
        writer.histogram({channel.first, channel.second}, observe::kDeliveryDelayBounds,
                         one.delay.counts(), one.delay.sum());
    }
    writer.family(MetricId::kNotificationQueue);
    for (const auto& [channel, one] : counts.deliveries) {
        writer.sample({channel.first, channel.second}, static_cast<double>(one.waiting));
    }
    writer.family(MetricId::kNotificationLastSuccess);
    for (const auto& [channel, one] : counts.deliveries) {
        if (one.last_success == base::WallTime{}) continue;
        writer.sample({channel.first, channel.second},
                      static_cast<double>(one.last_success.us) / 1e6);
    }
}

}  // namespace

void write_alert_metrics(observe::MetricWriter& writer, const AlertCounts& counts) {
    const auto plain = [&](MetricId id, auto value) {
        writer.family(id);
        writer.sample({}, static_cast<double>(value));
    };
    const auto by_severity = [&](MetricId id, const std::array<std::uint64_t, 5>& values) {
        writer.family(id);
        for (std::size_t i = 0; i < values.size(); ++i) {
            writer.sample({to_string(static_cast<model::Severity>(i))},
                          static_cast<double>(values[i]));
        }
    };
    by_severity(MetricId::kAlertsActive, counts.open);
    by_severity(MetricId::kAlertsFired, counts.created);
    plain(MetricId::kAlertsResolved, counts.resolved);
    writer.family(MetricId::kAlertDuration);
    writer.histogram({}, observe::kAlertDurationBounds, counts.duration.counts(),
                     counts.duration.sum());
    writer.family(MetricId::kAlertsHeld);
    writer.sample({"pending"}, static_cast<double>(counts.pending));
    writer.sample({"suppressed"}, static_cast<double>(counts.suppressed));
    plain(MetricId::kAlertsRefused, counts.refused);
    plain(MetricId::kAlertsUncommitted, counts.uncommitted);
    plain(MetricId::kIncidentsOpen, counts.incidents);
    plain(MetricId::kObserverImpaired, counts.impaired ? 1 : 0);
    plain(MetricId::kNotifications, counts.notifications);
    plain(MetricId::kNotificationsWaiting, counts.outbox);
    write_deliveries(writer, counts);
}

void write_sentinel_metrics(observe::MetricWriter& writer, const model::SentinelStatus& status) {
    const auto since = [&](MetricId id, base::WallTime at) {
        writer.family(id);
        if (at != base::WallTime{}) writer.sample({}, static_cast<double>(at.us) / 1e6);
    };
    writer.family(MetricId::kSentinelHeartbeats);
    if (status.sends) {
        writer.sample({"sent"}, static_cast<double>(status.sent));
        writer.sample({"failed"}, static_cast<double>(status.failed));
        writer.sample({"skipped"}, static_cast<double>(status.skipped));
    }
    since(MetricId::kSentinelLastSuccess, status.last_sent);
    writer.family(MetricId::kSentinelPeerUp);
    if (status.watches) writer.sample({}, status.peer_lost ? 0 : 1);
    since(MetricId::kSentinelPeerSeen, status.peer_seen);
}

}  // namespace pollux::runtime
