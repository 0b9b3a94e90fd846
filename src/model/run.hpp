// Names of a task in memory, of one attempt, and of how an attempt was caused and ended.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace pollux::model {

inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFFU;

// Where a task lives in the core. The generation makes a handle of a removed task useless.
struct TaskHandle {
    std::uint32_t index = kNoIndex;
    std::uint32_t generation = 0;
    auto operator<=>(const TaskHandle&) const = default;
};

// One attempt. The epoch is bumped durably at every start of the process, so an id never returns.
struct RunId {
    std::uint32_t epoch = 0;
    std::uint64_t counter = 0;
    auto operator<=>(const RunId&) const = default;
};

enum class Outcome : std::uint8_t {
    kOk,
    kDegraded,     // reachable, but only a part of the answer came
    kTransient,    // may pass by itself
    kPermanent,    // needs a person: credentials, configuration, certificate
    kInterrupted,  // our own doing (restart, lost worker): never counts as a failure
};

enum class Trigger : std::uint8_t {
    kSchedule,  // the interval came round
    kConfirm,   // the failure ladder asks again soon, on a fresh connection
    kProbe,     // half-open breaker or dead letter: one attempt to see whether it is back
    kPoke,      // trap, webhook, recovered parent, edited address or credentials
    kOperator,  // a person asked
    kJob,       // one-shot work whose needs are met
};

constexpr bool is_success(Outcome outcome) {
    return outcome == Outcome::kOk || outcome == Outcome::kDegraded;
}

constexpr std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::kOk: return "ok";
        case Outcome::kDegraded: return "degraded";
        case Outcome::kTransient: return "transient";
        case Outcome::kPermanent: return "permanent";
        case Outcome::kInterrupted: return "interrupted";
    }
    return "unknown";
}

constexpr std::string_view to_string(Trigger trigger) {
    switch (trigger) {
        case Trigger::kSchedule: return "schedule";
        case Trigger::kConfirm: return "confirm";
        case Trigger::kProbe: return "probe";
        case Trigger::kPoke: return "poke";
        case Trigger::kOperator: return "operator";
        case Trigger::kJob: return "job";
    }
    return "unknown";
}

}  // namespace pollux::model
