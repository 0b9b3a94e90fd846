// Events in words, to read what a finding of core_fuzz does: CORE_FUZZ_TRACE=1 core_fuzz <file>.
#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>

#include "schedule/event.hpp"

namespace pollux::fuzz {

inline std::string text(model::TaskHandle task) {
    return fmt::format("task {}.{}", task.index, task.generation);
}

inline std::string text(model::RunId run) {
    return fmt::format("run {}.{}", run.epoch, run.counter);
}

inline std::string text(const model::TaskSpec& spec) {
    std::string out = fmt::format(
        "{{{} device={} region={} cadence={}({}/{}/{} ms) tier={} timeout={} ms profile={} "
        "enabled={} "
        "adaptive={} slots={} max_attempts={}",
        spec.key, spec.device, spec.region, static_cast<int>(spec.cadence.kind),
        base::ceil_ms(spec.cadence.min), base::ceil_ms(spec.cadence.base),
        base::ceil_ms(spec.cadence.max), to_string(spec.tier), base::ceil_ms(spec.timeout),
        static_cast<int>(spec.failure_profile), spec.enabled, spec.adaptive, spec.slots,
        spec.max_attempts);
    for (const auto& group : spec.needs) {
        out += group.when_unmet == model::WhenUnmet::kHold ? " holds-for(" : " slow-for(";
        for (const auto& parent : group.any_of) out += parent.name + " ";
        out += ")";
    }
    for (const auto& part : spec.demand) {
        out += fmt::format(" wants {} {}", part.amount, part.resource);
    }
    return out + "}";
}

inline std::string text(const model::TaskRecord& record) {
    return fmt::format(
        "[enabled={} job={} attempt={} due={} success={} answer={} up={} interval={} ms "
        "failures={} "
        "permanent={} interruptions={} {} {} delay={} ms]",
        record.enabled, to_string(record.job), record.attempt, record.next_due.us,
        record.last_success.us, record.last_error.us, record.was_up, record.interval_ms,
        record.failure.consecutive, record.failure.permanent_streak, record.failure.interruptions,
        to_string(record.failure.breaker), to_string(record.failure.dead_letter),
        base::ceil_ms(record.failure.breaker_delay));
}

struct EventText {
    std::string operator()(const schedule::TasksUpserted& e) const {
        std::string out = "upserted";
        for (const auto& spec : *e.specs) out += " " + text(spec);
        return out;
    }
    std::string operator()(const schedule::TaskRemoved& e) const { return "removed " + e.key; }
    std::string operator()(const schedule::TasksRestored& e) const {
        std::string out = "restored";
        for (const auto& [spec, record] : *e.tasks) out += " " + text(spec) + text(record);
        return out;
    }
    std::string operator()(const schedule::RunFinished& e) const {
        return fmt::format("finished {} {} {} digest={}:{} known_rate={} retry_after={} ms",
                           text(e.task), text(e.run), to_string(e.outcome), e.has_digest, e.digest,
                           e.known_rate, base::ceil_ms(e.retry_after));
    }
    std::string operator()(const schedule::RunExpired& e) const {
        return fmt::format("expired {} {}", text(e.task), text(e.run));
    }
    std::string operator()(const schedule::Observed& e) const {
        return fmt::format("observed {} at {} ns changed={}", text(e.task), e.at.ns, e.changed);
    }
    std::string operator()(const schedule::Poked& e) const {
        return fmt::format("poked {} reason={}", text(e.task), static_cast<int>(e.reason));
    }
    std::string operator()(const schedule::ParentChanged& e) const {
        return fmt::format("parent {} healthy={}", e.device, e.healthy);
    }
    std::string operator()(const schedule::DeviceChanged& e) const {
        return fmt::format("device {} rate={} slots={} per_class={}", e.spec->name, e.spec->rate,
                           e.spec->slots, e.spec->slots_per_class);
    }
    std::string operator()(const schedule::CreditChanged& e) const {
        return fmt::format("credit of region '{}' = {}", e.region, e.credit);
    }
    std::string operator()(const schedule::OperatorAction& e) const {
        return fmt::format("operator verb={} {}", static_cast<int>(e.verb), e.key);
    }
    std::string operator()(const schedule::SettingsChanged& e) const {
        std::string out = fmt::format(
            "settings mode={} percent={} rate={} slots={}", static_cast<int>(e.settings->mode),
            e.settings->adaptive_percent, e.settings->global_rate, e.settings->global_slots);
        for (const auto& one : e.settings->classes) {
            out += fmt::format(" {}(rate={} slots={} exempt={} {} {} bound={} ms)", one.name,
                               one.rate, one.slots, one.host_slots_exempt, to_string(one.policy),
                               to_string(one.preset),
                               one.staleness_bound ? base::ceil_ms(*one.staleness_bound) : -1);
        }
        for (const auto& one : e.settings->resources) {
            out += fmt::format(" {}={}", one.name, one.capacity);
        }
        return out;
    }
    std::string operator()(const schedule::Tick&) const { return "tick"; }
};

inline std::string text(const schedule::Event& event) { return std::visit(EventText{}, event); }

}  // namespace pollux::fuzz
