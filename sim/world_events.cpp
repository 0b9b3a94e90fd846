// What happens to the world from outside: crashes, clock steps, outages, people, edits and jobs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/world.hpp"

namespace pollux::sim {
namespace {

using schedule::OperatorVerb;

enum Kind : std::size_t { kCrash, kClock, kOutage, kPoke, kOperator, kEdit, kJobs, kSettings };

}  // namespace

void World::schedule_next(std::size_t kind, double mean_s) {
    const double next = now_s() + faults_.exponential(mean_s);
    const bool over = options_.faults.until_s > 0 && next > options_.faults.until_s;
    next_happening_s_[kind] = over ? kNeverHappens : next;
}

void World::world_events() {
    // Compared in whole nanoseconds, as the loop advances: a fraction must not be waited for for
    // ever.
    const auto is_past = [&](double at_s) { return to_ns(at_s) <= now_.boot.ns; };
    if (down_until_s_ && is_past(*down_until_s_)) {
        down_until_s_.reset();
        boot();
    }
    for (std::size_t i = 0; i < outage_ends_.size(); ++i) {
        if (!is_past(outage_ends_[i].first)) continue;
        const std::uint32_t group = outage_ends_[i].second;
        outage_ends_.erase(outage_ends_.begin() + static_cast<std::ptrdiff_t>(i--));
        if (--parent_down_[group] > 0) continue;
        parent_up_since_s_[group] = now_s();
        if (!down_until_s_) report_parent(group, true);
    }
    for (std::size_t kind = 0; kind < next_happening_s_.size(); ++kind) {
        if (next_happening_s_[kind] < kNeverHappens && is_past(next_happening_s_[kind]))
            happen(kind);
    }
}

void World::happen(std::size_t kind) {
    const FaultOptions& f = options_.faults;
    const std::array<double, 8> means = {
        f.crash_every_s,    f.clock_step_every_s, f.parent_outage_every_s, f.poke_every_s,
        f.operator_every_s, f.edit_every_s,       f.jobs_every_s,          f.settings_every_s};
    schedule_next(kind, means[kind]);
    if (down_until_s_) return;
    const auto some = [&] { return faults_.u64() % fleet_.size(); };
    switch (kind) {
        case kCrash: crash(); break;
        case kClock: {
            const double step = (2 * faults_.uniform() - 1) * f.clock_step_s;
            wall_offset_ += base::from_seconds(step);
            break;
        }
        case kOutage: parent_outage(); break;
        case kPoke: {
            const std::string key = fmt::format("sim::device-{}", some());
            const auto task = engine_->core().find(key);
            invariants_.poked(key);
            events_.push_back(schedule::Poked{task, schedule::PokeReason::kTrap});
            break;
        }
        case kOperator: operator_acts(); break;
        case kEdit: edit_some_task(); break;
        case kJobs: submit_jobs(); break;
        default: {
            const bool on = settings_.mode == model::AdaptiveMode::kOn;
            settings_.mode = on ? model::AdaptiveMode::kOff : model::AdaptiveMode::kOn;
            invariants_.settings_changed(settings_);
            events_.push_back(
                schedule::SettingsChanged{std::make_shared<const model::CoreSettings>(settings_)});
            break;
        }
    }
}

void World::parent_outage() {
    if (parent_down_.empty()) return;
    const auto group = static_cast<std::uint32_t>(faults_.u64() % parent_down_.size());
    outage_ends_.emplace_back(now_s() + faults_.exponential(options_.faults.parent_outage_s),
                              group);
    if (parent_down_[group]++ == 0) report_parent(group, false);
}

void World::report_parent(std::uint32_t group, bool healthy) {
    const std::string name = fmt::format("switch-{}", group);
    invariants_.parent_reported(name, healthy);
    events_.push_back(schedule::ParentChanged{name, healthy});
}

void World::operator_acts() {
    constexpr std::array<OperatorVerb, 8> kVerbs = {
        OperatorVerb::kTriggerNow,       OperatorVerb::kDisable,
        OperatorVerb::kEnable,           OperatorVerb::kEnable,
        OperatorVerb::kResetBreaker,     OperatorVerb::kRetryDeadLetter,
        OperatorVerb::kResetAllBreakers, OperatorVerb::kRetryAllDeadLetters};
    const std::uint64_t target = faults_.u64() % fleet_.size();
    if (options_.faults.permanent_failure > 0) {
        bad_credentials_[target] = chance(options_.faults.permanent_failure) ? 1 : 0;
    }
    const OperatorVerb verb = kVerbs[faults_.u64() % kVerbs.size()];
    const std::string key = fmt::format("sim::device-{}", target);
    if (verb == OperatorVerb::kResetAllBreakers || verb == OperatorVerb::kRetryAllDeadLetters) {
        invariants_.operated_on_all();
    } else {
        invariants_.operated(key);
    }
    events_.push_back(schedule::OperatorAction{verb, key});
}

void World::edit_some_task() {
    const std::uint64_t target = faults_.u64() % fleet_.size();
    model::TaskSpec spec = make_spec(target);
    spec.version = ++spec_version_;
    switch (faults_.u64() % 4) {
        case 0: spec.tier = model::Tier::kHigh; break;
        case 1: spec.enabled = false; break;
        case 2: spec.device = "shared-device"; break;
        default: break;
    }
    if (options_.persist) store_.put_spec(spec);
    invariants_.edited(spec);
    events_.push_back(schedule::TasksUpserted{
        std::make_shared<const std::vector<model::TaskSpec>>(1, std::move(spec))});
}

// A small graph: a few roots, a join that needs any of two and all of the rest, one resource.
void World::submit_jobs() {
    const std::uint64_t number = ++job_number_;
    auto batch = std::make_shared<std::vector<model::TaskSpec>>();
    for (std::uint64_t i = 0; i < 6; ++i) {
        model::TaskSpec job;
        job.key = fmt::format("job::{}-{}", number, i);
        job.cadence = model::Cadence::once();
        job.tier = static_cast<model::Tier>(faults_.u64() % model::kTierCount);
        job.max_attempts = 3;
        if (i % 2 == 0) job.demand = {{"lane", 1 + static_cast<std::int64_t>(faults_.u64() % 3)}};
        if (i >= 3) {
            const auto parent = [&](std::uint64_t p) {
                return model::Parent{model::ParentKind::kTask,
                                     fmt::format("job::{}-{}", number, p)};
            };
            job.needs = {{{parent(i - 3), parent(i - 2)}}, {{parent(i - 1)}}};
            job.on_parent_failure =
                i == 4 ? model::ParentFailure::kHold : model::ParentFailure::kFail;
        }
        if (options_.persist) store_.put_spec(job);
        invariants_.configured(job);
        batch->push_back(std::move(job));
    }
    events_.push_back(schedule::TasksUpserted{std::move(batch)});
}

}  // namespace pollux::sim
