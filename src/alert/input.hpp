// What the alert engine is told.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "alert/alert_fleet.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"
#include "model/signal.hpp"

namespace pollux::alert {

enum class ObservedStep : std::uint8_t { kRaised, kUpdated, kCleared };

// A signal of a poll or a message, or a condition (type: its name; subject: the row; rule: its
// text; fields: value and trigger).
struct Observed {
    std::string target;  // key; empty: Pollux itself
    model::AlertSource source = model::AlertSource::kPoll;
    model::Signal signal;
    ObservedStep step = ObservedStep::kRaised;
    std::uint64_t occurrences = 1;  // said so often since it was raised, as the sender counts
    base::WallTime at;              // zero: now
    bool missing_answer = false;    // it says that an answer did not come; see TypeFacts
};

enum class Health : std::uint8_t {
    kUp,
    kSuspect,  // failed, not yet confirmed
    kDown,
    kStale,  // nothing known for longer than its bound: neither up nor down
};

// How a target answers; told at each change and at each further failure.
struct TargetHealth {
    std::string target;  // key
    Health health = Health::kUp;
    std::uint32_t failures = 0;  // in a row
    bool confirmed = false;      // the confirmations of the ladder are through
    // It will not go away by itself (401, a wrong certificate, a name that is not configured): the
    // target has failed, not for want of an answer.
    bool permanent = false;
    // Something came back, only not what was asked for (HTTP 503, a wrong certificate): the target
    // has failed, and its device lives.
    bool answered = false;
    std::string code;
    std::string message;
    base::WallTime at;  // zero: now
};

// The answer to Verify.
struct DeviceVerified {
    std::string device;
    bool up = false;
};

struct FleetChanged {
    std::shared_ptr<const AlertFleet> fleet;
};

enum class ActVerb : std::uint8_t { kAcknowledge, kUnacknowledge, kResolve, kRemove, kNote };

// What a person wants. An incident stands for all its open alerts; a note to an alert becomes one
// of its incident.
struct Act {
    std::uint64_t ticket = 0;  // given back with the results
    std::string who;
    ActVerb verb = ActVerb::kAcknowledge;
    std::vector<std::string> alerts;  // ids
    std::string incident;             // id; empty: the alerts above
    std::string note;
    bool shown = false;    // the note, to everybody
    base::WallTime until;  // of an acknowledgement; zero: until it is resolved
    bool sticky = true;
};

// An alert of another system.
struct External {
    model::AlertLabels labels;  // its identity; "alertname" is the type, "severity" the severity
    model::AlertLabels annotations;
    base::WallTime starts;  // zero: now
    base::WallTime ends;    // zero: open; past: over; else it is over then unless it is repeated
};

// Whether we ourselves can be trusted to see: uplink, DNS, event loop.
struct ObserverReport {
    bool bad = false;
    std::string why;
};

using Input = std::variant<Observed, TargetHealth, DeviceVerified, FleetChanged, Act, External,
                           ObserverReport>;

}  // namespace pollux::alert
