// For the tests of alerts in the store: rows, and everything that a store gives at its opening.
#pragma once

#include "store/store_test_support.hpp"

namespace pollux::store {

inline std::string alert_id(std::uint64_t number) { return fmt::format("alert-{:06}", number); }
inline std::string incident_id(std::uint64_t number) {
    return fmt::format("incident-{:06}", number);
}

// Open, of one device; tests change what they are about.
inline model::Alert alert_row(std::uint64_t number,
                              model::AlertState state = model::AlertState::kActive) {
    model::Alert alert;
    alert.id = alert_id(number);
    alert.number = number;
    alert.fingerprint = fmt::format("{:032x}", number);
    alert.addon = "pve";
    alert.type = "down";
    alert.target = "pve::node1";
    alert.device = "node1";
    alert.title = fmt::format("alert {}", number);
    alert.state = state;
    alert.first_seen = base::WallTime{static_cast<std::int64_t>(number) * 1000};
    alert.last_seen = alert.first_seen;
    if (state == model::AlertState::kResolved) {
        alert.resolved_at = base::WallTime{alert.first_seen.us + 500};
        alert.resolved_by = model::ResolvedBy::kRecovery;
    }
    return alert;
}

inline model::Incident incident_row(std::uint64_t number, bool open = true) {
    model::Incident incident;
    incident.id = incident_id(number);
    incident.number = number;
    incident.device = "switch-1";
    incident.title = fmt::format("incident {}", number);
    incident.opened_at = base::WallTime{static_cast<std::int64_t>(number) * 1000};
    if (!open) incident.resolved_at = base::WallTime{incident.opened_at.us + 500};
    return incident;
}

inline model::Notification notification_row(
    std::uint64_t number, model::DeliveryState state = model::DeliveryState::kWaiting) {
    model::Notification one;
    one.id = fmt::format("{:032x}", number);
    one.number = number;
    one.incident = incident_id(1);
    one.receiver = "on-call";
    one.channel = "mail";
    one.route = "all";
    one.kind = model::NotificationKind::kReminder;
    one.made = base::WallTime{static_cast<std::int64_t>(number) * 1000};
    one.not_before = base::WallTime{one.made.us + 1};
    one.body = R"({"title":"x"})";
    one.state = state;
    if (state == model::DeliveryState::kWaiting) return one;
    one.attempts = 2;
    one.last_attempt = base::WallTime{one.made.us + 100};
    if (state == model::DeliveryState::kFailed) one.last_error = "no route to host";
    return one;
}

inline model::AlertEvent event_row(std::uint64_t number, std::uint64_t alert,
                                   std::uint64_t incident = 0) {
    model::AlertEvent event;
    event.number = number;
    event.at = base::WallTime{static_cast<std::int64_t>(number)};
    event.kind = model::AlertEventKind::kAcknowledged;
    if (alert != 0) event.alert = alert_id(alert);
    if (incident != 0) event.incident = incident_id(incident);
    event.from = model::AlertState::kActive;
    event.to = model::AlertState::kAcknowledged;
    event.severity = model::Severity::kMajor;
    event.cause = "seen";
    event.by = "user:alice";
    return event;
}

// What the alert engine gets when a store is opened.
struct LoadedAlerts {
    LoadedState state;
    std::vector<model::Alert> alerts;
    std::vector<model::Incident> incidents;
    std::vector<model::Notification> notifications;
    std::map<std::string, std::string> memory;
    AlertCursors cursors;
};

inline LoadedAlerts load_alerts(Store& store) {
    LoadedAlerts loaded;
    LoadVisitor visitor;
    visitor.alert = [&](auto&& row) { loaded.alerts.push_back(std::move(row)); };
    visitor.incident = [&](auto&& row) { loaded.incidents.push_back(std::move(row)); };
    visitor.notification = [&](auto&& row) { loaded.notifications.push_back(std::move(row)); };
    visitor.alert_memory = [&](auto&& row) { loaded.memory[row.key] = row.bytes; };
    visitor.alert_cursor = [&](auto name, auto value) {
        loaded.cursors[std::string(name)] = value;
    };
    loaded.state = store.load(visitor).value();
    return loaded;
}

// Submits and waits.
inline base::Result<AlertCommit> apply(Store& store, AlertBatch batch) {
    auto result = std::make_shared<std::optional<base::Result<AlertCommit>>>();
    auto accepted = store.submit(std::move(batch), [result](auto answer) { *result = answer; });
    if (!accepted) return std::unexpected(accepted.error());
    store.flush();
    return result->value();
}

template <class Row>
std::vector<std::uint64_t> numbers_of(const std::vector<Row>& rows) {
    std::vector<std::uint64_t> numbers;
    for (const Row& row : rows) numbers.push_back(row.number);
    return numbers;
}

}  // namespace pollux::store
