// What the alert engine says: changes to store and publish, questions to ask, answers to people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept_list.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"

namespace pollux::alert {

enum class ChangeKind : std::uint8_t { kCreated, kUpdated, kResolved, kRemoved };

std::string_view to_string(ChangeKind kind);

struct AlertChange {
    ChangeKind kind = ChangeKind::kUpdated;
    // Why, one word: raised, repeated, confirmed, suppressed, clearing, recovered, cleared, ...
    std::string_view cause;
    model::Alert alert;  // as it is now, whole; kRemoved: as it was
};

// What may be told about an incident by this change. Flapping, causes and merging are already
// taken into account; silences, quiet hours and routes are not.
enum class Telling : std::uint8_t {
    kNothing,
    kProblem,   // it is new, or no longer only flapping
    kUpdate,    // a higher severity
    kRecovery,  // over, or part of another one; and people may know of it
};

struct IncidentChange {
    ChangeKind kind = ChangeKind::kUpdated;
    std::string_view cause;
    Telling telling = Telling::kNothing;
    model::Incident incident;
};

// Ask this device now, by a fresh connection, and answer with DeviceVerified.
struct Verify {
    std::string device;
    bool operator==(const Verify&) const = default;
};

// The engine's own memory, to be stored with the changes of the same step. Empty bytes: erase.
struct MemoryRow {
    std::string key;
    std::string bytes;
    bool operator==(const MemoryRow&) const = default;
};

enum class ActStatus : std::uint8_t {
    kDone,
    kUnknown,     // no open alert and no open incident has this id
    kWrongState,  // nothing was changed; the message says why
};

struct ActResult {
    std::uint64_t ticket = 0;
    std::string id;  // of the alert, or of the incident that is unknown
    ActStatus status = ActStatus::kDone;
    std::string message;
};

// Filled by one step; the order within each list is the order in which things happened.
struct Output {
    base::KeptList<AlertChange> alerts;
    std::vector<IncidentChange> incidents;
    std::vector<Verify> verify;
    std::vector<ActResult> results;
    std::vector<MemoryRow> memory;
    base::BootTime wake_at = base::BootTime::max();  // step again then, even without inputs

    // Keeps the room, for the next step.
    void clear() {
        alerts.clear();
        incidents.clear();
        verify.clear();
        results.clear();
        memory.clear();
        wake_at = base::BootTime::max();
    }
};

}  // namespace pollux::alert
