// Which alerts have one cause.
#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>

#include "alert/alert_engine.hpp"
#include "base/text.hpp"

namespace pollux::alert {

using model::CauseKind;
using model::SuppressedBy;

std::uint32_t AlertEngine::open_incident(CauseKind cause, std::string device, std::string title,
                                         model::Severity severity, bool of_failures) {
    model::Incident incident;
    incident.id = next_id();
    incident.number = next_incident_++;
    incident.cause = cause;
    incident.device = std::move(device);
    incident.title = std::move(title);
    incident.severity = severity;
    incident.opened_at = now_.wall;
    const std::uint32_t slot = incidents_.add(std::move(incident), of_failures);
    incidents_[slot].created = true;
    incidents_.mark(slot, "opened");
    return slot;
}

std::uint32_t AlertEngine::incident_of_device(std::uint32_t device, model::Severity severity) {
    const std::string& name = fleet_.device(device).name;
    std::uint32_t incident = incidents_.of_device(name);
    if (incident == IncidentBook::kNone) {
        incident = open_incident(CauseKind::kDevice, name, name + " is down", severity, true);
    }
    // Nothing of its own was raised there, or not yet: what stands behind it is all that says so.
    IncidentSlot& one = incidents_[incident];
    if (one.incident.root.empty() && !std::exchange(one.incident.told, true)) {
        incidents_.tell(incident, Telling::kProblem);
    }
    return incident;
}

std::uint32_t AlertEngine::own_incident(std::uint32_t slot) {
    const AlertSlot& one = alerts_[slot];
    const model::Alert& alert = one.alert;
    const bool moved = alert.suppressed_by == SuppressedBy::kParent ||
                       alert.suppressed_by == SuppressedBy::kObserver;
    if (one.incident != IncidentBook::kNone && !moved) return one.incident;
    const std::uint32_t device = device_of(slot);
    if (device == kNone) {
        return open_incident(CauseKind::kAlert, alert.device, alert.title, alert.severity, false);
    }
    const bool failure = one.missing_answer || alert.source == model::AlertSource::kHealth;
    const bool down = fleet_.device(device).down;
    std::uint32_t incident = incidents_.of_device(alert.device);
    if (failure) {
        if (incident == IncidentBook::kNone) {
            incident = open_incident(down ? CauseKind::kDevice : CauseKind::kAlert, alert.device,
                                     alert.title, alert.severity, true);
        }
        if (incidents_[incident].incident.root.empty())
            incidents_[incident].incident.root = alert.id;
        return incident;
    }
    if (incident != IncidentBook::kNone && down &&
        incidents_[incident].incident.cause == CauseKind::kDevice) {
        return incident;
    }
    incident = incident_of_kin(slot);
    if (incident != IncidentBook::kNone) return incident;
    incident = open_incident(CauseKind::kAlert, alert.device, alert.title, alert.severity, false);
    incidents_[incident].incident.root = alert.id;
    return incident;
}

// At most one can be that young: each alert that could open another joins it. A burst is at the end
// of the list, so that a target with very many alerts is read through only once in `gather`.
std::uint32_t AlertEngine::incident_of_kin(std::uint32_t slot) const {
    const AlertSlot& one = alerts_[slot];
    if (settings_.gather <= base::Duration::zero()) return IncidentBook::kNone;
    for (const std::uint32_t other : std::views::reverse(fleet_.target(one.target).alerts)) {
        const AlertSlot& kin = alerts_[other];
        if (other == slot || kin.incident == IncidentBook::kNone || kin.missing_answer ||
            kin.alert.type != one.alert.type) {
            continue;
        }
        const model::Incident& incident = incidents_[kin.incident].incident;
        const base::Duration age = now_.wall - incident.opened_at;
        if (incident.cause == CauseKind::kAlert && std::chrono::abs(age) < settings_.gather) {
            return kin.incident;
        }
    }
    return IncidentBook::kNone;
}

void AlertEngine::join(std::uint32_t slot, std::uint32_t incident, bool merge) {
    AlertSlot& one = alerts_[slot];
    if (one.incident == incident) return;
    leave(slot, merge ? std::string_view(incidents_[incident].incident.id) : std::string_view());
    IncidentSlot& joined = incidents_[incident];
    joined.incident.merged_into.clear();  // it had been about to end
    one.incident = incident;
    one.place_in_incident = static_cast<std::uint32_t>(joined.alerts.size());
    joined.alerts.push_back(slot);
    one.alert.incident = joined.incident.id;
    if (joined.incident.root.empty() && joined.incident.cause == CauseKind::kAlert) {
        joined.incident.root = one.alert.id;
    }
    joined.incident.severity = std::max(joined.incident.severity, one.alert.severity);
    if (joined.incident.cause == CauseKind::kAlert && !joined.of_failures) {
        const auto others = static_cast<std::uint32_t>(joined.alerts.size() - 1);
        joined.incident.affected = std::max(joined.incident.affected, others);
    }
    mark(slot, one.change == ChangeKind::kCreated ? one.cause : "moved");
    incidents_.mark(incident, joined.created ? "opened" : "joined");
}

void AlertEngine::leave(std::uint32_t slot, std::string_view merged_into) {
    AlertSlot& one = alerts_[slot];
    if (one.incident == IncidentBook::kNone) return;
    count_suppressed(slot, false);
    IncidentSlot& left = incidents_[one.incident];
    const std::uint32_t moved = left.alerts.back();
    left.alerts[one.place_in_incident] = moved;
    alerts_[moved].place_in_incident = one.place_in_incident;
    left.alerts.pop_back();
    const std::string& root = left.incident.root;
    const bool root_open = root.empty() || alerts_.find_id(root) != kNone;
    if (left.alerts.empty() && root_open && !merged_into.empty()) {
        left.incident.merged_into = merged_into;
        // Who was told of it hears that it ends as one of its own.
        if (left.incident.told && root == one.alert.id) {
            FlapHistory& history = histories_.touch(one.alert.fingerprint);
            history.tell(now_.boot, settings_.flap);
            one.alert.flapping = one.alert.flapping || history.flapping();
        }
    }
    incidents_.mark(one.incident, "left");
    one.incident = IncidentBook::kNone;
}

void AlertEngine::count_suppressed(std::uint32_t slot, bool suppressed) {
    AlertSlot& one = alerts_[slot];
    if (one.counted == suppressed) return;
    one.counted = suppressed;
    IncidentSlot& incident = incidents_[one.incident];
    if (!suppressed) {
        --incident.suppressed;
        return;
    }
    ++incident.suppressed;
    incident.incident.affected = std::max(incident.incident.affected, incident.suppressed);
}

void AlertEngine::raise_severity(std::uint32_t slot) {
    const AlertSlot& one = alerts_[slot];
    if (one.incident == IncidentBook::kNone) return;
    IncidentSlot& incident = incidents_[one.incident];
    if (one.alert.severity <= incident.incident.severity) return;
    incident.incident.severity = one.alert.severity;
    incidents_.mark(one.incident, "severity");
    const bool shown = one.alert.suppressed_by == SuppressedBy::kNothing;
    if (incident.incident.told && shown) incidents_.tell(one.incident, Telling::kUpdate);
}

// `before`: how bad its incident was without it.
void AlertEngine::tell_activation(std::uint32_t slot, model::Severity before) {
    AlertSlot& one = alerts_[slot];
    FlapHistory& history = histories_.touch(one.alert.fingerprint);
    history.tell(now_.boot, settings_.flap);
    if (history.flapping()) one.alert.flapping = true;
    IncidentSlot& incident = incidents_[one.incident];
    if (!std::exchange(incident.incident.told, true)) {
        incidents_.mark(one.incident, incident.created ? "opened" : "steady");
        incidents_.tell(one.incident, Telling::kProblem);
    } else if (incident.incident.severity > before) {
        incidents_.tell(one.incident, Telling::kUpdate);
    }
}

void AlertEngine::add_note(std::uint32_t incident, const std::string& who, const std::string& text,
                           bool shown) {
    auto& notes = incidents_[incident].incident.notes;
    if (notes.size() >= settings_.max_notes && !notes.empty()) notes.erase(notes.begin());
    if (settings_.max_notes == 0) return;
    notes.push_back({now_.wall, std::string(base::utf8_prefix(who, settings_.max_name_bytes)),
                     std::string(base::utf8_prefix(text, settings_.max_text_bytes)), shown});
    incidents_.mark(incident, incidents_[incident].created ? "opened" : "note");
}

}  // namespace pollux::alert
