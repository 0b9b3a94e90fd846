// An alert: the deduplicated, stateful record that observations raise and clear; and an incident:
// alerts that have one cause. Plain data, as it is decided (alert/), stored (store/), shown (api/)
// and sent (feed/).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace pollux::model {

enum class Severity : std::uint8_t { kInfo, kWarning, kMinor, kMajor, kCritical };

enum class AlertState : std::uint8_t {
    kPending,       // raised, not yet believed: `for`, confirmation, a parent to be verified
    kActive,        // needs somebody
    kAcknowledged,  // somebody has it
    kSuppressed,    // true, but the consequence of something else
    kResolved,      // over, for ever: what comes back is a new alert
};

enum class SuppressedBy : std::uint8_t {
    kNothing,
    kParent,    // a device on the way to it is down
    kObserver,  // we ourselves are cut off
    kFlapping,  // changes so often that nobody is told each time
};

enum class ResolvedBy : std::uint8_t {
    kNothing,
    kClear,       // the device said so: a clear of a message
    kRecovery,    // a poll found it well
    kReconciled,  // its target, addon or type is gone or disabled
    kOperator,
    kExpired,  // nobody repeated it in the time that an external sender promised
};

// Where alerts come from.
enum class AlertSource : std::uint8_t {
    kPoll,      // a reading: conditions and signals of polls
    kMessage,   // traps, webhooks, pushes
    kHealth,    // a target that does not answer
    kSelf,      // Pollux watches itself
    kExternal,  // given by another system over the API
};

using AlertLabels = std::map<std::string, std::string, std::less<>>;

struct Acknowledgement {
    std::string by;
    std::string note;
    base::WallTime at;
    base::WallTime until;  // zero: until it is resolved
    bool sticky = true;    // false: a higher severity ends it
    bool operator==(const Acknowledgement&) const = default;
};

struct Alert {
    std::string id;            // UUIDv7
    std::uint64_t number = 0;  // rises with every alert; orders pages
    std::string fingerprint;   // 32 hexadecimal digits; one open alert each
    AlertSource source = AlertSource::kPoll;
    std::string addon;    // the class of its target; "pollux" of our own
    std::string type;     // of the alert, as the addon names it
    std::string subject;  // which one of several of that type at one target; empty: the target
    std::string target;   // key `addon::device`; empty: of no target
    std::string target_id;
    std::string device;
    std::string address;  // of the device, as the observation names it or the fleet has it
    AlertLabels labels;   // of the device and the alert, for routes, silences and scopes
    std::vector<std::string> groups;  // of the device, nearest first

    Severity severity = Severity::kWarning;
    std::string category;
    std::string title;
    std::string message;
    // Evidence: the rule that fired, and what was read.
    std::string rule;
    std::vector<std::pair<std::string, std::string>> fields;

    AlertState state = AlertState::kPending;
    SuppressedBy suppressed_by = SuppressedBy::kNothing;
    std::string incident;  // id; empty while it is pending
    std::string previous;  // id of the alert of this fingerprint before it; empty: none known
    std::uint64_t occurrences = 1;
    base::WallTime first_seen;
    base::WallTime last_seen;
    base::WallTime active_since;  // zero: never was
    base::WallTime resolved_at;   // zero: open
    ResolvedBy resolved_by = ResolvedBy::kNothing;
    std::string resolved_who;  // kOperator: the principal
    std::optional<Acknowledgement> acknowledged;
    bool flapping = false;
    bool stale =
        false;  // what raised it has not been asked successfully since; not a reason to end
    // It was told although a device on the way to it did not say in time whether it is up.
    bool unverified = false;
    std::uint64_t version = 1;  // rises with every change of the alert
    std::string memory;         // of the engine, opaque to everybody else
    bool operator==(const Alert&) const = default;
};

enum class CauseKind : std::uint8_t {
    kAlert,     // the root is an alert of its own
    kDevice,    // a device that others stand behind
    kObserver,  // we ourselves are cut off
};

struct IncidentNote {
    base::WallTime at;
    std::string by;
    std::string text;
    bool shown = false;  // to everybody, on the status page
    bool operator==(const IncidentNote&) const = default;
};

struct Incident {
    std::string id;  // UUIDv7
    std::uint64_t number = 0;
    CauseKind cause = CauseKind::kAlert;
    std::string root;    // id of the root alert; empty: kObserver
    std::string device;  // of the root
    std::string title;
    Severity severity = Severity::kWarning;  // the highest of its alerts so far
    base::WallTime opened_at;
    base::WallTime resolved_at;  // zero: open
    std::uint32_t affected = 0;  // alerts beside the root that have its cause, at the most
    std::vector<IncidentNote> notes;
    // Resolved because its alerts belong to this other one: who was told of it hears that, once.
    std::string merged_into;
    bool told = false;  // people may know of it; false: only what flaps is in it
    std::uint64_t version = 1;
    bool operator==(const Incident&) const = default;
};

inline bool is_open(const Alert& alert) { return alert.state != AlertState::kResolved; }

std::string_view to_string(Severity severity);
std::string_view to_string(AlertState state);
std::string_view to_string(SuppressedBy reason);
std::string_view to_string(ResolvedBy source);
std::string_view to_string(AlertSource source);
std::string_view to_string(CauseKind kind);
// The words of manifests, with those of other systems: "clear" and what is unknown give nothing.
std::optional<Severity> severity_of(std::string_view word);
std::optional<AlertState> alert_state_of(std::string_view word);

}  // namespace pollux::model
