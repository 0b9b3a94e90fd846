// For the tests of the codecs: objects with every field away from its default, so that a field that
// gets lost shows.
#pragma once

#include <cstddef>

#include "model/settings.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"

namespace pollux::engine {

inline model::TaskSpec sample_spec() {
    using namespace std::chrono_literals;
    model::TaskSpec spec;
    spec.key = "pve::nœud-1#slow";
    spec.device = "nœud-1";
    spec.region = "basel";
    spec.cadence = model::Cadence::adaptive(5s, 10s, 300s);
    spec.tier = model::Tier::kHigh;
    spec.timeout = 7s;
    spec.staleness_bound = 90s;
    spec.failure_profile = model::FailureProfile::kOpsconductor;
    spec.enabled = false;
    spec.adaptive = false;
    spec.needs = {{{{model::ParentKind::kDevice, "switch-1"}, {model::ParentKind::kTask, "a::b"}},
                   model::WhenUnmet::kSlow},
                  {{{model::ParentKind::kTask, "c::d"}}, model::WhenUnmet::kHold}};
    spec.demand = {{"lane", 2}, {"disk", 1'000'000'000'000}};
    spec.slots = 3;
    spec.max_attempts = 4;
    spec.on_parent_failure = model::ParentFailure::kHold;
    spec.version = 0x1234567890ABCDEFULL;
    return spec;
}

inline model::DeviceSpec sample_device() {
    model::DeviceSpec spec;
    spec.name = "switch-1";
    spec.rate = 0.125;
    spec.slots = 9;
    spec.slots_per_class = 0xFFFFFFFF;
    return spec;
}

inline model::CoreSettings sample_settings() {
    using namespace std::chrono_literals;
    model::CoreSettings settings;
    settings.mode = model::AdaptiveMode::kShadow;
    settings.adaptive_percent = 12.5;
    settings.global_rate = 250;
    settings.global_slots = 77;
    settings.device_slots = 5;
    settings.device_class_slots = 2;
    settings.device_rate = 3.5;
    settings.staleness_bound = 61s;
    settings.aging_step = 31s;
    settings.max_starts_per_step = 101;
    settings.budget_headroom = 0.5;
    settings.degraded = model::DegradedChoice::kTailFirst;
    settings.seed = 0xFEDCBA9876543210ULL;
    settings.classes = {
        {"pve", 2, 1.5, 3, true, model::PolicyKind::kClassic, model::Preset::kEconomy,
         base::Duration{45s}},
        {"job", 1, 0, 0, false, model::PolicyKind::kFixed, model::Preset::kFresh, std::nullopt}};
    settings.resources = {{"lane", 3}, {"disk", 1'000'000'000'000}};
    return settings;
}

inline model::TaskRecord sample_record() {
    using base::WallTime;
    model::TaskRecord record;
    record.key = "pve::nœud-1";
    record.spec_version = 77;
    record.enabled = false;
    record.job = model::JobState::kFailed;
    record.attempt = 17;
    record.next_due = WallTime{1'700'000'000'000'001};
    record.last_success = WallTime{1'700'000'000'000'002};
    record.last_error = WallTime{1'700'000'000'000'003};
    record.last_mutation = WallTime{-4};
    record.digest = 0x0123456789ABCDEFULL;
    record.has_digest = true;
    record.was_up = false;
    record.interval_ms = 30'000;
    record.failure = {6,
                      7,
                      8,
                      9,
                      model::BreakerState::kHalfOpen,
                      model::DeadLetterReason::kRepeatedInterruption,
                      WallTime{11},
                      WallTime{12},
                      WallTime{13},
                      WallTime{14},
                      std::chrono::seconds(15)};
    for (std::size_t i = 0; i < record.learned.probability.size(); ++i) {
        record.learned.probability[i] = static_cast<std::uint16_t>(1000 + i);
        record.learned.occupancy[i] = static_cast<std::uint8_t>(100 + i);
    }
    record.learned.age_s = 1.25F;
    record.learned.memory = -2.5F;
    return record;
}

}  // namespace pollux::engine
