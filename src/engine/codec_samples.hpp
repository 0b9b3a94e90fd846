// For the tests of the codecs: objects with every field away from its default, so that a field that
// gets lost shows.
#pragma once

#include <cstddef>

#include "model/alert.hpp"
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

inline model::Alert sample_alert() {
    using base::WallTime;
    model::Alert alert;
    alert.id = "0192d3c4-0000-7000-8000-000000000001";
    alert.number = 300;
    alert.fingerprint = "0123456789abcdef0123456789abcdef";
    alert.source = model::AlertSource::kMessage;
    alert.addon = "pve";
    alert.type = "disk_failed";
    alert.subject = "sdb";
    alert.target = "pve::nœud-1";
    alert.target_id = "0192d3c4-0000-7000-8000-000000000002";
    alert.device = "nœud-1";
    alert.address = "192.0.2.7";
    alert.labels = {{"site", "basel"}, {"team", "storage"}};
    alert.groups = {"rack-4", "basel"};
    alert.severity = model::Severity::kMajor;
    alert.category = "hardware";
    alert.title = "Disk sdb failed";
    alert.message = "SMART says no";
    alert.rule = "value > 3";
    alert.fields = {{"value", "4"}, {"disk", "sdb"}};
    alert.state = model::AlertState::kSuppressed;
    alert.suppressed_by = model::SuppressedBy::kParent;
    alert.incident = "0192d3c4-0000-7000-8000-000000000003";
    alert.previous = "0192d3c4-0000-7000-8000-000000000004";
    alert.occurrences = 1000;
    alert.first_seen = WallTime{1'700'000'000'000'001};
    alert.last_seen = WallTime{1'700'000'000'000'002};
    alert.active_since = WallTime{1'700'000'000'000'003};
    alert.resolved_at = WallTime{-4};
    alert.resolved_by = model::ResolvedBy::kOperator;
    alert.resolved_who = "user:alice";
    alert.acknowledged = {"user:bob", "on it", WallTime{5}, WallTime{6}, false};
    alert.flapping = true;
    alert.stale = true;
    alert.version = 12;
    alert.memory = std::string("a\0b", 3);
    return alert;
}

inline model::Incident sample_incident() {
    using base::WallTime;
    model::Incident incident;
    incident.id = "0192d3c4-0000-7000-8000-000000000003";
    incident.number = 7;
    incident.cause = model::CauseKind::kDevice;
    incident.root = "0192d3c4-0000-7000-8000-000000000001";
    incident.device = "switch-1";
    incident.title = "switch-1 is down";
    incident.severity = model::Severity::kCritical;
    incident.opened_at = WallTime{1'700'000'000'000'001};
    incident.resolved_at = WallTime{-1};
    incident.affected = 250;
    incident.notes = {{WallTime{8}, "user:bob", "cable", true}, {WallTime{9}, "", ""}};
    incident.version = 3;
    return incident;
}

}  // namespace pollux::engine
