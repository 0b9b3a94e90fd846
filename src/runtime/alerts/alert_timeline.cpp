#include "runtime/alerts/alert_timeline.hpp"

#include <utility>

namespace pollux::runtime {

using model::AlertEventKind;
using model::AlertState;

AlertTimeline::KnownAlert AlertTimeline::facts_of(const model::Alert& alert) {
    return {alert.state,    alert.severity, alert.incident, alert.acknowledged.has_value(),
            alert.flapping, alert.stale};
}

AlertTimeline::KnownIncident AlertTimeline::facts_of(const model::Incident& incident) {
    return {incident.severity, incident.root, incident.notes.size()};
}

void AlertTimeline::know(const model::Alert& alert) { alerts_[alert.id] = facts_of(alert); }

void AlertTimeline::know(const model::Incident& incident) {
    incidents_[incident.id] = facts_of(incident);
}

std::vector<model::AlertEvent> AlertTimeline::of(const alert::AlertChange& change,
                                                 const std::string& by, base::WallTime now) {
    const model::Alert& alert = change.alert;
    std::vector<model::AlertEvent> events;
    if (change.kind == alert::ChangeKind::kRemoved) {
        alerts_.erase(alert.id);
        return events;
    }
    const auto place = alerts_.find(alert.id);
    const bool is_new = place == alerts_.end();
    KnownAlert before;
    before.severity = alert.severity;
    if (!is_new) before = place->second;
    const KnownAlert after = facts_of(alert);
    const auto add = [&](AlertEventKind kind, std::string cause = {}) {
        model::AlertEvent event;
        event.number = next_++;
        event.at = now;
        event.kind = kind;
        event.alert = alert.id;
        event.incident = alert.incident;
        event.from = before.state;
        event.to = after.state;
        event.severity = alert.severity;
        event.cause = cause.empty() ? std::string(change.cause) : std::move(cause);
        event.by = by;
        events.push_back(std::move(event));
    };
    if (is_new) add(AlertEventKind::kRaised, alert.message);
    if (after.incident != before.incident && !after.incident.empty()) {
        add(AlertEventKind::kIncidentJoined);
    }
    if (after.severity != before.severity) add(AlertEventKind::kSeverity, alert.message);
    if (after.acknowledged != before.acknowledged) {
        add(after.acknowledged ? AlertEventKind::kAcknowledged : AlertEventKind::kUnacknowledged,
            after.acknowledged ? alert.acknowledged->note : std::string());
    }
    if (after.flapping != before.flapping) {
        add(after.flapping ? AlertEventKind::kFlapping : AlertEventKind::kSettled);
    }
    if (after.stale != before.stale) {
        add(after.stale ? AlertEventKind::kStale : AlertEventKind::kFresh);
    }
    if (after.state != before.state) {
        if (after.state == AlertState::kSuppressed) {
            add(AlertEventKind::kSuppressed, std::string(to_string(alert.suppressed_by)));
        } else if (before.state == AlertState::kSuppressed &&
                   after.state != AlertState::kResolved) {
            add(AlertEventKind::kReleased);
        }
        if (after.state == AlertState::kActive && before.state == AlertState::kPending) {
            add(AlertEventKind::kActivated);
        }
        if (after.state == AlertState::kResolved) {
            add(AlertEventKind::kResolved, std::string(to_string(alert.resolved_by)));
        }
    }
    if (after.state == AlertState::kResolved) {
        alerts_.erase(alert.id);
    } else {
        alerts_[alert.id] = after;
    }
    return events;
}

std::vector<model::AlertEvent> AlertTimeline::of(const alert::IncidentChange& change,
                                                 const std::string& by, base::WallTime now) {
    const model::Incident& incident = change.incident;
    std::vector<model::AlertEvent> events;
    const auto add = [&](AlertEventKind kind, std::string cause, std::string who) {
        model::AlertEvent event;
        event.number = next_++;
        event.at = now;
        event.kind = kind;
        event.incident = incident.id;
        event.severity = incident.severity;
        event.cause = std::move(cause);
        event.by = std::move(who);
        events.push_back(std::move(event));
    };
    if (change.kind == alert::ChangeKind::kRemoved) {
        incidents_.erase(incident.id);
        return events;
    }
    const auto place = incidents_.find(incident.id);
    if (place == incidents_.end()) {
        add(AlertEventKind::kIncidentOpened, incident.title, by);
    } else if (place->second.severity != incident.severity || place->second.root != incident.root) {
        add(AlertEventKind::kIncidentChanged, std::string(change.cause), by);
    }
    const std::size_t known_notes = place == incidents_.end() ? 0 : place->second.notes;
    if (incident.notes.size() > known_notes) {
        add(AlertEventKind::kNote, incident.notes.back().text, incident.notes.back().by);
    }
    if (incident.resolved_at.us != 0) {
        add(AlertEventKind::kIncidentResolved, std::string(change.cause), by);
        incidents_.erase(incident.id);
    } else {
        incidents_[incident.id] = facts_of(incident);
    }
    return events;
}

}  // namespace pollux::runtime
