#include "runtime/alerts/alert_metrics.hpp"

namespace pollux::runtime {

using observe::MetricId;

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
}

}  // namespace pollux::runtime
