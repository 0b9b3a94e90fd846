// Cases of the breaker of the pulse profile: breaker_config, breaker, breaker_state, breaker_allow.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "schedule/pulse_breaker.hpp"
#include "tests/known_answers/categories.hpp"

namespace pollux::known_answers {
namespace {

using base::BootTime;
using schedule::BreakerState;
using schedule::PulseBreaker;
using schedule::PulseBreakerConfig;
using schedule::PulseBreakerMemory;

BootTime boot_time(double seconds) { return BootTime{} + base::from_seconds(seconds); }

double seconds_of(BootTime time) { return base::to_seconds(time - BootTime{}); }

PulseBreakerConfig read_config(Fields& fields) {
    PulseBreakerConfig config;
    config.open_threshold = fields.integer("open_threshold");
    config.retry_interval = fields.seconds("retry_interval_s");
    config.max_delay = fields.seconds("max_delay_s");
    config.half_open_window = fields.seconds("half_open_window_s");
    return config;
}

struct Replay {
    PulseBreaker breaker;
    std::vector<bool> allowed;
    std::vector<double> delays_after_trip;
};

Replay replay(CaseRun& run) {
    Fields fields = run.inputs().object("config");
    Replay result{PulseBreaker(read_config(fields)), {}, {}};
    fields.finish();
    PulseBreaker& breaker = result.breaker;
    for (const Row& event : run.inputs().rows("events", 1, 1)) {
        const std::string& what = event.texts[0];
        const BootTime now = boot_time(event.numbers[0]);
        const bool was_open = breaker.state() == BreakerState::kOpen;
        if (what == "allow") {
            result.allowed.push_back(breaker.allow(now));
        } else if (what == "fail") {
            breaker.failure(now);
        } else if (what == "success") {
            breaker.success(now);
        } else {
            run.inputs().problem("events",
                                 "an event is allow, fail or success, not \"" + what + "\"");
        }
        if (!was_open && breaker.state() == BreakerState::kOpen) {
            result.delays_after_trip.push_back(base::to_seconds(breaker.retry_interval()));
        }
    }
    return result;
}

void check_state_and_failures(CaseRun& run, const PulseBreaker& breaker) {
    if (run.expected().has("state")) run.check_text("state", to_string(breaker.state()));
    if (run.expected().has("failures")) run.check_integer("failures", breaker.failures());
}

void run_breaker_config(CaseRun& run) {
    const PulseBreaker breaker(read_config(run.inputs()));
    const PulseBreakerConfig& config = breaker.config();
    run.check_integer("open_threshold", config.open_threshold);
    run.check_seconds("retry_interval_s", config.retry_interval);
    run.check_seconds("max_delay_s", config.max_delay);
    run.check_seconds("half_open_window_s", config.half_open_window);
    run.check_text("state", to_string(breaker.state()));
}

void run_breaker(CaseRun& run) {
    const Replay result = replay(run);
    Fields& expected = run.expected();
    check_state_and_failures(run, result.breaker);
    if (expected.has("allow_results")) run.check_booleans("allow_results", result.allowed);
    if (expected.has("retry_interval_s_after_trip")) {
        run.check_numbers("retry_interval_s_after_trip", result.delays_after_trip);
    }
    expected.ignore("rule");
}

void run_breaker_state(CaseRun& run) {
    const PulseBreaker breaker = replay(run).breaker;
    Fields& expected = run.expected();
    check_state_and_failures(run, breaker);
    const std::optional<BootTime> retry_at = breaker.retry_at();
    if (expected.has("retry_at")) {
        expected.null("retry_at");
        if (retry_at) run.mismatch("retry_at", "null", fmt::to_string(seconds_of(*retry_at)));
    } else if (!retry_at) {
        run.mismatch("retry_at_s", fmt::to_string(expected.number("retry_at_s")), "null");
    } else {
        run.check_number("retry_at_s", seconds_of(*retry_at));
    }
    if (expected.has("since_s")) run.check_number("since_s", seconds_of(breaker.since()));
    if (expected.has("last_transition_s")) {
        run.check_number("last_transition_s", seconds_of(breaker.last_transition()));
    }
}

// One question to a breaker that is already in a state.
void run_breaker_allow(CaseRun& run) {
    Fields& fields = run.inputs();
    PulseBreakerConfig config;
    PulseBreakerMemory memory;
    const std::string state = fields.text("state");
    if (state == "open") {
        memory.state = BreakerState::kOpen;
        memory.opened_at = boot_time(fields.number("opened_at_s"));
        memory.retry_interval = fields.seconds("retry_interval_s");
    } else if (state == "half_open") {
        memory.state = BreakerState::kHalfOpen;
        memory.last_attempt = boot_time(fields.number("last_attempt_s"));
        config.half_open_window = fields.seconds("half_open_window_s");
    } else if (state != "closed") {
        fields.problem("state", "must be closed, open or half_open");
    }
    PulseBreaker breaker(config, memory);
    run.check_boolean("allow", breaker.allow(boot_time(fields.number("now_s"))));
    run.check_text("state", to_string(breaker.state()));
}

constexpr std::array<Category, 4> kCategories = {{
    {"breaker_config", run_breaker_config},
    {"breaker", run_breaker},
    {"breaker_state", run_breaker_state},
    {"breaker_allow", run_breaker_allow},
}};

}  // namespace

std::span<const Category> breaker_categories() { return kCategories; }

}  // namespace pollux::known_answers
