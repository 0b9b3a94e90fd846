// Values between the two halves of reading an answer: extract/ finds them, derive/ understands
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/value.hpp"

namespace pollux::model {

struct Reading {
    std::uint16_t metric = 0;  // index into Addon::metrics
    std::uint32_t row = 0;     // index into Readings::rows; 0: the target itself
    Value value;
};

struct Readings {
    std::vector<std::string> rows = {""};  // names of rows, the target itself first
    std::vector<Reading> values;
    std::optional<std::uint64_t> uptime_ticks;  // sysUpTime in hundredths, where it was read
    std::uint16_t group = 0;                    // index into Addon::groups: what was asked
    std::uint32_t missing = 0;          // values the manifest wants and the reply did not have
    std::uint32_t dropped = 0;          // values out of their valid range, or past a bound
    std::uint32_t unreadable = 0;       // required replies that could not be read at all
    bool degraded = false;              // an optional request failed, or values are missing
    std::vector<std::string> problems;  // for people, bounded: what could not be read and why
};

enum class Level : std::uint8_t {
    kUnknown,  // no value: never means OK
    kClear,
    kBetween,  // inside the hysteresis: stays what it was
    kTriggered,
};

struct Sample {
    std::uint32_t slot = 0;  // number of the series in the target's memory
    double value = 0;
};

struct ConditionLevel {
    std::uint16_t condition = 0;  // index into Addon::conditions
    Level level = Level::kUnknown;
    bool active = false;     // with hysteresis: triggered and not cleared since
    std::uint32_t slot = 0;  // series it was decided by
    double value = 0;
    double told = 0;         // active: the value when it was raised or last updated
    std::uint8_t step = 0;   // active: 1 the first severity, 2 the next worse, ...
    std::uint8_t ended = 0;  // step that it had until this poll; not 0: it is over now
    bool news = false;       // active: since this poll, or with another step or value told
    bool disabled = false;   // by the fleet
};

// Not decided by this poll: no value, inside the hysteresis, or not yet often enough in a row. It
// stays what it was, which an earlier process may know better.
inline bool is_open(const ConditionLevel& level) {
    const bool over = level.level == Level::kClear || level.ended > 0 || level.disabled;
    return level.level == Level::kUnknown ? !level.disabled : !level.active && !over;
}

// A condition that was active when its row was forgotten.
struct LostCondition {
    std::uint16_t condition = 0;
    std::uint8_t step = 0;
    std::string row;
};

// What is known after one poll, beside what the target's memory keeps.
struct Observation {
    std::vector<Sample> samples;
    std::vector<ConditionLevel> conditions;
    std::vector<LostCondition> lost;
    // Of what is active, undecided or just over; equal after a poll that says the same. Zero: all
    // conditions are clear.
    std::uint64_t alarms = 0;
    std::uint64_t digest = 0;  // of meaning: compared with the previous one
    bool has_digest = false;
    bool restarted = false;        // the device rebooted since the last poll
    bool renumbered = false;       // the memory was full and dropped old series: all slots are new
    std::uint32_t new_series = 0;  // series that joined the memory by this poll: the last ones
    std::uint32_t dropped = 0;     // values out of their valid range, or past a bound
};

}  // namespace pollux::model
