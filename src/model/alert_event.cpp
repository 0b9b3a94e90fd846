#include "model/alert_event.hpp"

namespace pollux::model {

std::string_view to_string(AlertEventKind kind) {
    switch (kind) {
        case AlertEventKind::kRaised: return "raised";
        case AlertEventKind::kActivated: return "activated";
        case AlertEventKind::kSeverity: return "severity";
        case AlertEventKind::kAcknowledged: return "acknowledged";
        case AlertEventKind::kUnacknowledged: return "unacknowledged";
        case AlertEventKind::kSuppressed: return "suppressed";
        case AlertEventKind::kReleased: return "released";
        case AlertEventKind::kFlapping: return "flapping";
        case AlertEventKind::kSettled: return "settled";
        case AlertEventKind::kStale: return "stale";
        case AlertEventKind::kFresh: return "fresh";
        case AlertEventKind::kResolved: return "resolved";
        case AlertEventKind::kIncidentOpened: return "incident_opened";
        case AlertEventKind::kIncidentJoined: return "incident_joined";
        case AlertEventKind::kIncidentChanged: return "incident_changed";
        case AlertEventKind::kIncidentResolved: return "incident_resolved";
        case AlertEventKind::kNote: return "note";
    }
    return "unknown";
}

}  // namespace pollux::model
