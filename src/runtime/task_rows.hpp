// What pages show of tasks, taken on the core's thread and formatted elsewhere: plain rows with
// wall times. Taking a row costs about a microsecond, so a page of ten thousand holds the core up
// for some milliseconds only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/task_record.hpp"
#include "model/tier.hpp"
#include "runtime/core_loop.hpp"
#include "schedule/explain.hpp"

namespace pollux::runtime {

// Times that never were are WallTime{0}.
struct FailureRow {
    std::uint32_t consecutive = 0;
    model::BreakerState breaker = model::BreakerState::kClosed;
    base::WallTime breaker_since;
    model::DeadLetterReason dead_letter = model::DeadLetterReason::kNone;
    base::WallTime dead_letter_since;
    std::uint32_t dead_letter_entries = 0;
    base::WallTime first_failure;
    base::WallTime last_attempt;
    bool permanent = false;  // the last failure will not go away by itself
    // Of the last failure; kept over a restart.
    std::string code;
    std::string message;
    base::WallTime message_at;
    bool answered = false;  // it was an answer: the device lives

    bool open() const { return breaker != model::BreakerState::kClosed; }
    bool dead() const { return dead_letter != model::DeadLetterReason::kNone; }
};

struct TaskRow {
    std::string key;
    std::string class_name;
    schedule::Place place = schedule::Place::kFree;
    bool enabled = true;
    bool recurring = true;
    model::Tier tier = model::Tier::kNormal;
    model::Tier priority = model::Tier::kNormal;  // of its next attempt; waiting raises it
    model::FailureProfile profile = model::FailureProfile::kLadder;
    base::WallTime next_due;
    base::WallTime last_success;
    base::WallTime last_error;
    base::WallTime last_change;
    double staleness = 0;  // 0 fresh .. 1 at or over its bound
    base::Duration age{};  // max: it never answered
    base::Duration bound{};
    base::Duration interval{};   // in force
    base::Duration suggested{};  // by the policy; in shadow mode what would be in force
    std::string problem;         // cannot be polled, and why; empty: it can
    std::optional<FailureRow> failure;
};

// The part of a key before "::".
std::string_view class_of(std::string_view key);
// The part behind it.
std::string_view name_of(std::string_view key);

TaskRow task_row(const CoreLoop::View& view, model::TaskHandle task);

// Rows of all tasks that `wanted` says yes to, in no particular order.
std::vector<TaskRow> task_rows(const CoreLoop::View& view,
                               const std::function<bool(const schedule::TaskSlot&)>& wanted);

// Seconds as pages show them: milliseconds are enough for people.
double shown_seconds(base::Duration duration);

// Boot time as wall time; WallTime{0} for "never".
base::WallTime wall_of(const CoreLoop::View& view, base::BootTime at);

}  // namespace pollux::runtime
