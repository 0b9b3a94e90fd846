// One word for how a target is, out of what the scheduler knows of its tasks. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pollux::runtime {

enum class TargetState : std::uint8_t {
    kUp,
    kDegraded,     // it answers in part, or a part of it answers
    kDown,         // it was asked and did not answer well
    kStale,        // no failure is known, but its data is older than its bound
    kUnknown,      // it never answered yet
    kUnreachable,  // not well, and behind a parent that is down
    kDisabled,
};
inline constexpr std::array<std::string_view, 7> kTargetStates = {
    "up", "degraded", "down", "stale", "unknown", "unreachable", "disabled"};
constexpr std::string_view to_string(TargetState state) {
    return kTargetStates[static_cast<std::size_t>(state)];
}

// What is known of one task.
struct TaskHealth {
    bool enabled = true;
    bool answered = false;   // well or not
    bool up = true;          // the last answer was good
    bool partly = false;     // of a good one: something was missing
    bool overdue = false;    // the data is older than its bound
    bool behind = false;     // a parent is down
    bool held_back = false;  // and it is not asked for that reason
};

TargetState state_of(const TaskHealth& task);

// Of a target with one more task: what is disabled says nothing beside others, and what fails
// beside what works makes the whole degraded.
TargetState joined(TargetState one, TargetState other);

}  // namespace pollux::runtime
