// The circuit breaker of the pulse profile, as a plain value: copy it, compare it, store its
// memory. Not thread-safe, reads no clock.
//
// Rules
// 1. `open_threshold` consecutive failures open it. Every trip makes the delay
//    min(max_delay, delay << failures) of the already grown delay: with the defaults 40 s first,
//    then 5 min until a success.
// 2. After the delay one probe is let through (half-open). A probe that never reports is replaced
//    after `half_open_window`.
// 3. A failed probe opens it again, a success closes it and forgets the grown delay.
//
// Invariants
// 1. 0 < retry_interval() <= max(retry_interval of the configuration, max_delay), for any number
//    of failures: the shift saturates.
// 2. retry_at() has a value exactly while the breaker is not closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "schedule/breaker_state.hpp"

namespace pollux::schedule {

struct PulseBreakerConfig {
    std::int64_t open_threshold = 3;
    base::Duration retry_interval = std::chrono::seconds(5);
    base::Duration max_delay = std::chrono::minutes(5);
    base::Duration half_open_window = std::chrono::seconds(30);

    bool operator==(const PulseBreakerConfig&) const = default;
};

// Replaces every value <= 0 by its default.
PulseBreakerConfig normalised(PulseBreakerConfig config);

// Fast mode is for fleets whose longest interval is 15 s or less.
PulseBreakerConfig pulse_breaker_config(bool fast);

// All that a breaker remembers.
struct PulseBreakerMemory {
    BreakerState state = BreakerState::kClosed;
    std::int64_t failures = 0;        // consecutive
    base::Duration retry_interval{};  // grown; <= 0: not grown yet
    base::BootTime opened_at;
    base::BootTime last_attempt;
    base::BootTime since;  // in this state
    base::BootTime last_transition;

    bool operator==(const PulseBreakerMemory&) const = default;
};

class PulseBreaker {
  public:
    explicit PulseBreaker(const PulseBreakerConfig& config = {}, base::BootTime created = {});
    // Goes on where `memory` ended; values that no breaker could have are repaired.
    PulseBreaker(const PulseBreakerConfig& config, const PulseBreakerMemory& memory);

    // Whether an attempt may start now. Asking an open breaker whose delay is over makes it
    // half-open: the caller that got `true` owes an attempt.
    bool allow(base::BootTime now);
    void failure(base::BootTime now);
    void success(base::BootTime now);

    BreakerState state() const { return memory_.state; }
    std::int64_t failures() const { return memory_.failures; }
    base::Duration retry_interval() const { return memory_.retry_interval; }
    std::optional<base::BootTime> retry_at() const;  // when allow() will say yes; none: it does now
    base::BootTime since() const { return memory_.since; }
    base::BootTime last_transition() const { return memory_.last_transition; }

    const PulseBreakerConfig& config() const { return config_; }
    const PulseBreakerMemory& memory() const { return memory_; }

    bool operator==(const PulseBreaker&) const = default;

  private:
    void enter(BreakerState state, base::BootTime now);
    void trip(base::BootTime now);

    PulseBreakerConfig config_;
    PulseBreakerMemory memory_;
};

}  // namespace pollux::schedule
