// One step in the life of an alert or an incident, as its timeline shows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "model/alert.hpp"

namespace pollux::model {

// Stored as numbers: new ones go to the end.
enum class AlertEventKind : std::uint8_t {
    kRaised,           // the alert was made
    kActivated,        // it is believed: needs somebody
    kSeverity,         // it became worse or better
    kAcknowledged,     //
    kUnacknowledged,   // by a person, by its end or by a higher severity
    kSuppressed,       // something else is the cause
    kReleased,         // it no longer is
    kFlapping,         // changes too often to be told each time
    kSettled,          // no longer flapping
    kStale,            // what raised it could not be asked since
    kFresh,            // it was asked again
    kResolved,         //
    kIncidentOpened,   // of an incident, as those that follow
    kIncidentJoined,   // the alert became a part of it
    kIncidentChanged,  // another cause, a higher severity
    kIncidentResolved,
    kNote,  // a person wrote something
};

struct AlertEvent {
    std::uint64_t number = 0;  // given by who makes it; rises over all events, never twice
    base::WallTime at;
    AlertEventKind kind = AlertEventKind::kRaised;
    std::string alert;                       // id; empty: of the incident as a whole
    std::string incident;                    // id; empty: of no incident yet
    AlertState from = AlertState::kPending;  // of the alert; the same as `to` if it stayed
    AlertState to = AlertState::kPending;
    Severity severity = Severity::kWarning;  // after it
    std::string cause;                       // for people: the rule, the message, the parent
    std::string by;                          // the principal; empty: the engine
    bool operator==(const AlertEvent&) const = default;
};

std::string_view to_string(AlertEventKind kind);

}  // namespace pollux::model
