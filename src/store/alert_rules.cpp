#include "store/alert_rules.hpp"

#include <fmt/format.h>

#include <functional>

namespace pollux::store {

namespace {

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool holds(std::string_view text, std::string_view part) {
    return !std::ranges::search(text, part, {}, lower, lower).empty() || part.empty();
}

template <class Value>
bool wanted(const std::optional<std::string>& filter, const Value& value) {
    return !filter || *filter == value;
}

template <class Value>
bool one_of(const std::vector<Value>& filter, Value value) {
    return filter.empty() || std::ranges::find(filter, value) != filter.end();
}

// `to` is zero as long as it lasts.
bool overlaps(const auto& query, base::WallTime since, base::WallTime to) {
    if (query.until && since >= *query.until) return false;
    return !query.from || to == base::WallTime{} || to >= *query.from;
}

bool has_text(const AlertQuery& query, const model::Alert& alert) {
    if (query.text.empty()) return true;
    for (const std::string* one : {&alert.title, &alert.message, &alert.device, &alert.target,
                                   &alert.address, &alert.type, &alert.subject}) {
        if (holds(*one, query.text)) return true;
    }
    const auto found = [&](const std::string& one) { return holds(one, query.text); };
    return std::ranges::any_of(alert.groups, found) ||
           std::ranges::any_of(alert.labels,
                               [&](const auto& label) { return found(label.second); });
}

bool has_labels(const AlertQuery& query, const model::Alert& alert) {
    return std::ranges::all_of(query.labels, [&](const auto& label) {
        const auto found = alert.labels.find(label.first);
        return found != alert.labels.end() && found->second == label.second;
    });
}

template <class Row>
base::Status check_rows(std::string_view kind, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        if (!row.id.empty() && row.number != 0) continue;
        return base::internal_error(
            "store.internal",
            fmt::format("store: {} '{}' with number {} cannot be kept: both must be given", kind,
                        row.id, row.number));
    }
    return {};
}

}  // namespace

base::Status check(const AlertBatch& batch) {
    if (auto status = check_rows("alert", batch.alerts); !status) return status;
    if (auto status = check_rows("incident", batch.incidents); !status) return status;
    if (auto status = check_rows("notification", batch.notifications); !status) return status;
    for (const auto& event : batch.events) {
        if (event.number != 0) continue;
        return base::internal_error("store.internal",
                                    "store: an event of an alert without a number cannot be kept");
    }
    return {};
}

base::Error number_conflict(std::string_view kind, std::string_view id, std::uint64_t number) {
    return {"store.conflict", base::ErrorClass::kPermanent,
            fmt::format("store: {} {} cannot be written: the number {} is that of another one",
                        kind, id, number)};
}

bool matches(const AlertQuery& query, const model::Alert& alert) {
    return one_of(query.states, alert.state) && one_of(query.severities, alert.severity) &&
           one_of(query.sources, alert.source) && wanted(query.addon, alert.addon) &&
           wanted(query.type, alert.type) && wanted(query.device, alert.device) &&
           wanted(query.target, alert.target) && wanted(query.incident, alert.incident) &&
           wanted(query.fingerprint, alert.fingerprint) &&
           (!query.group || std::ranges::find(alert.groups, *query.group) != alert.groups.end()) &&
           overlaps(query, alert.first_seen, alert.resolved_at) && has_labels(query, alert) &&
           has_text(query, alert) && (!query.visible || query.visible(alert));
}

bool matches(const IncidentQuery& query, const model::Incident& incident) {
    const bool open = incident.resolved_at == base::WallTime{};
    return (!query.open || *query.open == open) && one_of(query.severities, incident.severity) &&
           wanted(query.device, incident.device) &&
           (holds(incident.title, query.text) || holds(incident.device, query.text)) &&
           overlaps(query, incident.opened_at, incident.resolved_at) &&
           (!query.visible || query.visible(incident));
}

bool is_searched(const IncidentQuery& query, const model::Incident& incident) {
    const bool open = incident.resolved_at == base::WallTime{};
    if (query.open.value_or(false)) return open;
    return !query.from || open || incident.resolved_at >= *query.from;
}

bool matches(const AlertEventQuery& query, const model::AlertEvent& event) {
    return wanted(query.alert, event.alert) && wanted(query.incident, event.incident);
}

bool matches(const NotificationQuery& query, const model::Notification& notification) {
    return wanted(query.incident, notification.incident) &&
           wanted(query.receiver, notification.receiver) &&
           wanted(query.channel, notification.channel) && one_of(query.states, notification.state);
}

bool note(ChannelHealth& health, const model::Notification& notification) {
    const base::WallTime at = notification.last_attempt;
    if (notification.state == model::DeliveryState::kDelivered) {
        if (at <= health.worked_at) return false;
        health.worked_at = at;
        return true;
    }
    if (notification.last_error.empty() || at <= health.failed_at) return false;
    health.failed_at = at;
    health.last_error = notification.last_error;
    return true;
}

void raise(AlertNumbers& numbers, const AlertBatch& batch) {
    const auto highest = [](std::uint64_t& number, const auto& rows) {
        for (const auto& row : rows) number = std::max(number, row.number);
    };
    highest(numbers.alert, batch.alerts);
    highest(numbers.incident, batch.incidents);
    highest(numbers.event, batch.events);
    highest(numbers.notification, batch.notifications);
}

std::uint64_t rows_in(const AlertBatch& batch) {
    return batch.removed_alerts.size() + batch.removed_incidents.size() +
           batch.removed_notifications.size() + batch.removed_memory.size() + batch.alerts.size() +
           batch.incidents.size() + batch.events.size() + batch.notifications.size() +
           batch.memory.size() + batch.cursors.size();
}

}  // namespace pollux::store
