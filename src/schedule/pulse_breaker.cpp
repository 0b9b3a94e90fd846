#include "schedule/pulse_breaker.hpp"

#include <algorithm>
#include <limits>

namespace pollux::schedule {
namespace {

constexpr auto kZero = base::Duration::zero();
constexpr std::int64_t kMaxFailures = std::numeric_limits<std::int64_t>::max();

// min(limit, delay << shift) for delay, limit and shift > 0, without ever shifting bits out: an
// overflowed delay would be zero or negative and the breaker would stop delaying anything.
base::Duration shifted(base::Duration delay, std::int64_t shift, base::Duration limit) {
    constexpr std::int64_t kBits = 63;
    if (shift >= kBits || delay.count() > (limit.count() >> shift)) return limit;
    return base::Duration{delay.count() << shift};
}

}  // namespace

PulseBreakerConfig normalised(PulseBreakerConfig config) {
    const PulseBreakerConfig defaults;
    if (config.open_threshold <= 0) config.open_threshold = defaults.open_threshold;
    if (config.retry_interval <= kZero) config.retry_interval = defaults.retry_interval;
    if (config.max_delay <= kZero) config.max_delay = defaults.max_delay;
    if (config.half_open_window <= kZero) config.half_open_window = defaults.half_open_window;
    return config;
}

PulseBreakerConfig pulse_breaker_config(bool fast) {
    PulseBreakerConfig config;
    if (fast) {
        config.retry_interval = std::chrono::seconds(2);
        config.max_delay = std::chrono::seconds(10);
        config.half_open_window = std::chrono::seconds(2);
    }
    return config;
}

PulseBreaker::PulseBreaker(const PulseBreakerConfig& config, base::BootTime created)
    : config_(normalised(config)) {
    memory_.retry_interval = config_.retry_interval;
    memory_.opened_at = created;
    memory_.last_attempt = created;
    memory_.since = created;
    memory_.last_transition = created;
}

PulseBreaker::PulseBreaker(const PulseBreakerConfig& config, const PulseBreakerMemory& memory)
    : config_(normalised(config)), memory_(memory) {
    memory_.failures = std::max<std::int64_t>(memory_.failures, 0);
    if (memory_.retry_interval <= kZero) memory_.retry_interval = config_.retry_interval;
    // The limit may have been lowered since the delay grew.
    const base::Duration limit = std::max(config_.retry_interval, config_.max_delay);
    memory_.retry_interval = std::min(memory_.retry_interval, limit);
}

bool PulseBreaker::allow(base::BootTime now) {
    switch (memory_.state) {
        case BreakerState::kClosed: return true;
        case BreakerState::kOpen:
            if (now - memory_.opened_at < memory_.retry_interval) return false;
            memory_.last_attempt = now;
            enter(BreakerState::kHalfOpen, now);
            return true;
        case BreakerState::kHalfOpen:
            if (now - memory_.last_attempt < config_.half_open_window) return false;
            memory_.last_attempt = now;
            return true;
    }
    return true;  // a state we do not know must not silence a task for good
}

void PulseBreaker::failure(base::BootTime now) {
    if (memory_.failures < kMaxFailures) ++memory_.failures;
    memory_.last_attempt = now;
    const bool too_many =
        memory_.state == BreakerState::kClosed && memory_.failures >= config_.open_threshold;
    if (too_many || memory_.state == BreakerState::kHalfOpen) trip(now);
}

void PulseBreaker::success(base::BootTime now) {
    memory_.failures = 0;
    if (memory_.state == BreakerState::kClosed) return;
    memory_.retry_interval = config_.retry_interval;
    enter(BreakerState::kClosed, now);
}

std::optional<base::BootTime> PulseBreaker::retry_at() const {
    switch (memory_.state) {
        case BreakerState::kOpen: return memory_.opened_at + memory_.retry_interval;
        case BreakerState::kHalfOpen: return memory_.last_attempt + config_.half_open_window;
        case BreakerState::kClosed: break;
    }
    return std::nullopt;
}

void PulseBreaker::enter(BreakerState state, base::BootTime now) {
    memory_.state = state;
    memory_.since = now;
    memory_.last_transition = now;
}

void PulseBreaker::trip(base::BootTime now) {
    memory_.retry_interval = shifted(memory_.retry_interval, memory_.failures, config_.max_delay);
    memory_.opened_at = now;
    enter(BreakerState::kOpen, now);
}

}  // namespace pollux::schedule
