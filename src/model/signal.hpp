// What a reply or a message says about something that can be wrong: raised or cleared, by type.
// Beside conditions (numbers with a trigger) this is the other thing an alert is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace pollux::model {

struct Signal {
    std::string type;  // of the alert; a clear carries the type of the alert that it ends
    // Which one of several of that type at one target: the row, or the values of the manifest's
    // fingerprint_fields. Empty: the target itself.
    std::string subject;
    bool clear = false;
    std::string severity = "warning";  // critical, major, minor, warning, info
    std::string category;
    std::string title;
    std::string message;
    std::string device_address;        // as the message names it; empty: the target's
    std::string device_name;           // as the message names it
    std::optional<base::WallTime> at;  // as the message says; nothing: when it came
    std::vector<std::pair<std::string, std::string>> fields;  // what was read, bounded
    std::string rule;                                         // what fired, for people
    bool repeated = false;  // nothing new: told again in case that the first time was lost
    bool operator==(const Signal&) const = default;
};

// What one poll says about signals: those it makes, and what follows from what it does not make.
struct PollSignals {
    std::vector<Signal> signals;
    // Rules (Signal::rule) that the poll decided wholly: what one of them raised before and does
    // not raise now is over.
    std::vector<std::string> settled;
    // The same by type: of the conditions of the poll.
    std::vector<std::string> settled_types;
    // Type and subject of what could not be decided, for want of a value: it stays as it was.
    std::vector<std::pair<std::string, std::string>> open;
    std::uint32_t dropped = 0;  // past a bound
    bool operator==(const PollSignals&) const = default;
};

}  // namespace pollux::model
