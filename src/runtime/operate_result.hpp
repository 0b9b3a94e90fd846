// What an operator's act did: for the answer to who asked, and for the audit trail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/task_record.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::runtime {

// Of a task, at one moment.
struct TaskFacts {
    model::BreakerState breaker = model::BreakerState::kClosed;
    model::DeadLetterReason dead_letter = model::DeadLetterReason::kNone;
    std::uint32_t failures = 0;  // in a row
    std::uint32_t retries = 0;   // how often it became a dead letter without a success between
    bool enabled = true;
    bool waits_for_needs = false;  // due, and held by what it needs
    model::JobState job = model::JobState::kNotAJob;
    base::WallTime next_due;  // 0: not planned
    bool operator==(const TaskFacts&) const = default;
};

// Tasks that the answer to a bulk act names and the trail has a record of; `count` has all.
inline constexpr std::size_t kMostOperatedKeys = 10'000;

struct OperateResult {
    TaskFacts before;  // of the one task; as made for the bulk acts
    TaskFacts after;
    std::vector<std::string> keys;  // of the bulk acts, in the order in which they will be due
    std::size_t count = 0;          // tasks acted on
};

// Nothing if there is no such task.
std::optional<TaskFacts> facts_of(const schedule::SchedulerCore& core, model::TaskHandle task,
                                  base::Instant now);

// Canonical JSON for the trail: {"breaker":"open","dead_letter":"none",...}.
std::string audit_text(const TaskFacts& facts);
// {"count":3,"keys":["a","b"],"more":1}: as many keys as the trail has room for.
std::string audit_text(const std::vector<std::string>& keys, std::size_t count);

}  // namespace pollux::runtime
