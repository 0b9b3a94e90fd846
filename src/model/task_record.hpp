// What of a task is durable: one row, written whole. Times are wall-clock, because boot time does
// not survive a reboot; recovery turns them back and clamps what cannot be.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace pollux::model {

enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

enum class DeadLetterReason : std::uint8_t {
    kNone,
    kMaxRetryAttempts,
    kPermanentFailure,
    kRepeatedInterruption,  // the task took its worker down several times in a row
};

enum class JobState : std::uint8_t { kNotAJob, kPending, kCompleted, kFailed, kCancelled };

inline constexpr std::int64_t kNever = 0;

struct FailureRecord {
    std::uint32_t consecutive = 0;
    std::uint32_t permanent_streak = 0;
    std::uint32_t interruptions = 0;
    std::uint32_t dead_letter_entries = 0;
    BreakerState breaker = BreakerState::kClosed;
    DeadLetterReason dead_letter = DeadLetterReason::kNone;
    base::WallTime first_failure;
    base::WallTime breaker_since;
    base::WallTime dead_letter_since;
    base::WallTime last_attempt;
    base::Duration breaker_delay{};  // profile pulse: the grown delay of its shift rule
    bool operator==(const FailureRecord&) const = default;
};

struct LearnedRecord {
    std::array<std::uint16_t, 16> probability{};
    std::array<std::uint8_t, 16> occupancy{};
    float age_s = 0;
    float memory = 0;  // classic: smoothed interval; aimd: shape
    bool operator==(const LearnedRecord&) const = default;
};

struct TaskRecord {
    std::string key;
    std::uint32_t spec_version = 0;  // of the specification that it was last seen under
    bool enabled = true;
    JobState job = JobState::kNotAJob;
    std::uint32_t attempt = 0;
    base::WallTime next_due;  // kNever: not planned
    base::WallTime last_success;
    base::WallTime last_error;
    base::WallTime last_mutation;
    std::uint64_t digest = 0;
    bool has_digest = false;
    bool was_up = true;
    std::uint32_t interval_ms = 0;
    FailureRecord failure;
    LearnedRecord learned;
    bool operator==(const TaskRecord&) const = default;
};

constexpr std::string_view to_string(BreakerState state) {
    switch (state) {
        case BreakerState::kClosed: return "closed";
        case BreakerState::kOpen: return "open";
        case BreakerState::kHalfOpen: return "half_open";
    }
    return "unknown";
}

constexpr std::string_view to_string(DeadLetterReason reason) {
    switch (reason) {
        case DeadLetterReason::kNone: return "none";
        case DeadLetterReason::kMaxRetryAttempts: return "max_retry_attempts";
        case DeadLetterReason::kPermanentFailure: return "permanent_failure";
        case DeadLetterReason::kRepeatedInterruption: return "repeated_interruption";
    }
    return "unknown";
}

constexpr std::string_view to_string(JobState state) {
    switch (state) {
        case JobState::kNotAJob: return "recurring";
        case JobState::kPending: return "pending";
        case JobState::kCompleted: return "completed";
        case JobState::kFailed: return "failed";
        case JobState::kCancelled: return "cancelled";
    }
    return "unknown";
}

}  // namespace pollux::model
