#include "sim/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::sim {
namespace {

using schedule::Place;

constexpr std::size_t kTextsKept = 20;
constexpr std::uint64_t kFullCheckEvery = 997;
constexpr std::size_t kFewRuns = 64;
constexpr double kRounding = 1e-6;

}  // namespace

Invariants::Invariants(const model::CoreSettings& settings) { settings_changed(settings); }

void Invariants::settings_changed(const model::CoreSettings& settings) {
    settings_ = settings;
    burst_ = std::max(1.0, 0.5 * settings.global_rate);
    tokens_ = std::min(tokens_, burst_);
}

void Invariants::new_process(std::uint32_t epoch, base::BootTime now) {
    epoch_ = epoch;
    open_.clear();
    per_device_.clear();
    tokens_ = burst_;
    tokens_at_ = now;
    batches_.clear();
}

void Invariants::violated(base::BootTime now, const std::string& what) {
    ++violations_;
    if (texts_.size() < kTextsKept) {
        texts_.push_back(fmt::format("at {:.3f} s: {}", static_cast<double>(now.ns) * 1e-9, what));
    }
}

void Invariants::check_start(base::BootTime now, const engine::Engine& engine,
                             const schedule::StartRun& start) {
    const auto& core = engine.core();
    const std::string& key = core.key(start.task);
    const auto& slot = core.slot(start.task);
    if (open_.contains(start.task.index)) violated(now, key + " has two runs in flight");
    if (start.due > now) violated(now, key + " started before it was due");
    if (start.run.epoch != epoch_) violated(now, key + " started under an old epoch");
    const auto failure = core.failure(start.task);
    const bool probing = failure.breaker == model::BreakerState::kHalfOpen;
    if (failure.breaker == model::BreakerState::kOpen && !probing) {
        violated(now, key + " started through an open breaker");
    }
    if (slot.node != model::kNoIndex && core.needs().unmet_hold(slot.node) > 0) {
        violated(now, key + " started before its needs were met");
    }
    if (!slot.has(schedule::kFlagEnabled)) violated(now, key + " started though disabled");
    const double passed = static_cast<double>((now - tokens_at_).count()) * 1e-9;
    tokens_ = std::min(burst_, tokens_ + passed * settings_.global_rate) - 1;
    tokens_at_ = now;
    if (tokens_ < -kRounding) violated(now, "more starts than the global rate allows");
    open_[start.task.index] = {start.run, slot.device, slot.class_index};
    if (open_.size() > settings_.global_slots) violated(now, "more runs than slots");
    if (slot.device == model::kNoIndex) return;
    const std::uint32_t running = ++per_device_[slot.device];
    if (running > core.devices().limits(slot.device).slots) {
        violated(now, fmt::format("device of {} has {} runs at once", key, running));
    }
    if (open_.size() > kFewRuns) return;  // the walk below is for small worlds
    const auto same = std::ranges::count_if(open_, [&](const auto& other) {
        return other.second.device == slot.device && other.second.class_index == slot.class_index;
    });
    if (same > core.devices().limits(slot.device).slots_per_class) {
        violated(now, fmt::format("device of {} has {} runs of one class at once", key, same));
    }
}

void Invariants::close_run(model::TaskHandle task) {
    const auto found = open_.find(task.index);
    if (found == open_.end()) return;
    const auto device = per_device_.find(found->second.device);
    if (device != per_device_.end() && --device->second == 0) per_device_.erase(device);
    open_.erase(found);
}

void Invariants::finished(model::TaskHandle task, model::RunId run) {
    const auto found = open_.find(task.index);
    if (found != open_.end() && found->second.run == run) close_run(task);
}

void Invariants::check_visible(base::BootTime now, const engine::TaskChange& change) {
    if (!change.provisional && !committed_.contains(change.number)) {
        violated(now, fmt::format("change {} was seen before its commit", change.number));
    }
    if (!change.provisional) {
        if (change.number <= last_visible_) violated(now, "changes were seen out of order");
        last_visible_ = change.number;
        committed_.erase(change.number);
    }
}

void Invariants::batch_committed(std::uint64_t sequence) {
    for (const std::uint64_t number : batches_[sequence]) committed_.insert(number);
    batches_.erase(sequence);
}

void Invariants::after_step(base::BootTime now, const engine::Engine& engine,
                            const engine::Output& out) {
    ++steps_;
    for (const auto& cancel : out.commands.cancels) finished(cancel.task, cancel.run);
    for (const auto& start : out.commands.starts) check_start(now, engine, start);
    for (const auto& change : out.visible) check_visible(now, change);
    if (out.batch) {
        auto& numbers = batches_[out.batch->sequence];
        numbers.clear();
        for (const auto& change : out.batch->changes) numbers.push_back(change.number);
    }
    const auto& core = engine.core();
    const auto& stats = core.stats();
    const std::uint64_t ended = stats.finished + stats.expired + stats.cancelled;
    if (stats.started != ended + core.in_flight()) {
        violated(now, fmt::format("started {} but ended {} and {} in flight", stats.started, ended,
                                  core.in_flight()));
    }
    if (open_.size() != core.in_flight()) {
        violated(now, fmt::format("{} runs are open, the core counts {}", open_.size(),
                                  core.in_flight()));
    }
    if (stats.sweep_repairs > 0) violated(now, "the sweep had to repair something");
    if (out.wake_at == base::BootTime::max()) violated(now, "nothing would ever wake the core");
    if (steps_ % kFullCheckEvery == 0) full_check(now, engine);
}

void Invariants::full_check(base::BootTime now, const engine::Engine& engine) {
    const auto& core = engine.core();
    const auto plan = core.plan(now, core.size());
    const bool ordered = std::ranges::is_sorted(plan, {}, &schedule::PlanEntry::due);
    if (!ordered) violated(now, "the plan is not in order");
    std::size_t planned = 0;
    for (std::uint32_t i = 0; i < core.capacity(); ++i) {
        if (!core.occupied(i)) continue;
        const auto handle = core.handle_at(i);
        const auto& slot = core.slot(handle);
        if (slot.place == Place::kRunning && !open_.contains(i)) {
            violated(now, core.key(handle) + " is running, but no run was started");
        }
        const bool waits = slot.place == Place::kScheduled || slot.place == Place::kReady ||
                           slot.place == Place::kDeviceQueue || slot.place == Place::kDeviceRate ||
                           slot.place == Place::kRegionQueue || slot.place == Place::kResourceQueue;
        planned += waits ? 1 : 0;
        if (slot.place == Place::kScheduled && slot.next_due + std::chrono::seconds(2) < now) {
            violated(now, core.key(handle) + " overslept");
        }
        if (!slot.has(schedule::kFlagEnabled) && waits) {
            violated(now, core.key(handle) + " is disabled, but waits to run");
        }
    }
    if (planned != plan.size()) {
        violated(now, fmt::format("{} tasks wait, but the plan shows {}", planned, plan.size()));
    }
}

// Long after the faults stopped: everything that is watched is fresh again.
void Invariants::quiet_check(base::BootTime now, const engine::Engine& engine) {
    const auto& core = engine.core();
    for (std::uint32_t i = 0; i < core.capacity(); ++i) {
        if (!core.occupied(i)) continue;
        const auto handle = core.handle_at(i);
        const auto& slot = core.slot(handle);
        if (!slot.recurring() || !slot.has(schedule::kFlagEnabled)) continue;
        const auto fresh = core.freshness(handle, now);
        if (slot.failure == model::kNoIndex && fresh.age > fresh.bound) {
            violated(now, fmt::format("{} is {:.0f} s old long after the faults stopped ({})",
                                      core.key(handle), base::to_seconds(fresh.age),
                                      core.explain(core.key(handle))->verdict));
        }
    }
}

}  // namespace pollux::sim
