// Starts and ends: who may run, when, and beside whom.
#include "sim/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::sim {
namespace {

using model::BreakerState;
using model::DeadLetterReason;
using model::Trigger;
using schedule::SchedulerCore;
using namespace std::chrono_literals;

constexpr std::uint64_t kFewestStepsToScan = 64;
constexpr std::uint32_t kBreakerOpensAt = 3;
constexpr std::uint32_t kDeadLetterAt = 5;
constexpr base::Duration kLongestSleep = 1s;
constexpr double kIntervalPlay = 0.94;    // what jitter and balancing may leave of an interval
constexpr double kLadderPlay = 0.79;      // and of a delay after a failure
constexpr base::Duration kFastMax = 15s;  // tasks this quick have a quicker ladder

// The shortest wait after a failure, before jitter.
double least_delay_s(std::uint32_t failures, bool permanent, bool fast) {
    if (permanent) return 30;
    if (fast) return 0.75;
    return failures == 1 ? 5 : failures == 2 ? 10 : 20;
}

bool is_asked_for(Trigger trigger) {
    return trigger == Trigger::kPoke || trigger == Trigger::kOperator;
}

}  // namespace

Invariants::Invariants(const model::CoreSettings& settings) { settings_changed(settings); }

void Invariants::new_process(std::uint32_t epoch, base::BootTime now) {
    restarted_ = epoch_ > 0;
    epoch_ = epoch;
    started_at_ = now;
    limits_.reset(now);
    commits_.new_process();
    open_.clear();
    seen_.clear();
    parents_.clear();
    asked_.clear();
    answered_.clear();
    // A completion that was not committed is forgotten: that job runs again.
    std::erase_if(completed_,
                  [&](const auto& key) { return !commits_.committed_as_completed(key); });
    starts_ = finished_ = cancelled_ = stale_ = sweep_repairs_ = faulted_ = 0;
}

void Invariants::configured(const model::TaskSpec& spec) {
    const bool plain = spec.needs.empty() && spec.demand.empty() && spec.slots == 1;
    if (plain && !facts_.contains(spec.key)) return;
    facts_[spec.key] = {spec.demand, spec.needs, spec.slots};
    ++facts_version_;
}

void Invariants::edited(const model::TaskSpec& spec) {
    configured(spec);
    commits_.configured(spec);
    asked_.insert(spec.key);
}

void Invariants::operated(const std::string& key) {
    commits_.operated(key);
    asked_.insert(key);
}

void Invariants::operated_on_all() {
    for (Seen& one : seen_) one.asked = true;
}

Invariants::Seen& Invariants::seen(model::TaskHandle task) {
    if (seen_.size() <= task.index) seen_.resize(task.index + 1U);
    Seen& own = seen_[task.index];
    if (own.generation != task.generation) {
        own = Seen{};
        own.generation = task.generation;
    }
    return own;
}

const Invariants::Facts* Invariants::facts_of(Seen& own, const std::string& key) {
    if (own.facts_version != facts_version_) {
        const auto found = facts_.find(key);
        own.facts = found == facts_.end() ? nullptr : &found->second;
        own.facts_version = facts_version_;
    }
    return own.facts;
}

bool Invariants::needs_met(const Facts& facts) const {
    return std::ranges::all_of(facts.needs, [&](const model::NeedGroup& group) {
        if (group.when_unmet != model::WhenUnmet::kHold) return true;
        return std::ranges::any_of(group.any_of, [&](const model::Parent& parent) {
            if (parent.kind == model::ParentKind::kTask) return completed_.contains(parent.name);
            const auto found = parents_.find(parent.name);
            return found != parents_.end() && found->second;
        });
    });
}

// Neither sooner than its interval, nor sooner than its failures allow, unless somebody asked.
void Invariants::check_turn(base::BootTime now, const SchedulerCore& core,
                            const schedule::StartRun& start, const Seen& own) {
    const auto& slot = core.slot(start.task);
    const bool recurs = slot.recurring();
    const bool routine = start.trigger == Trigger::kSchedule || start.trigger == Trigger::kConfirm;
    if (recurs && routine && own.failures >= kBreakerOpensAt) {
        violations_.add(now, Rule::kBreaker,
                        fmt::format("{} started through an open breaker ({})", core.key(start.task),
                                    to_string(start.trigger)));
    }
    if (!own.started || own.asked || is_asked_for(start.trigger)) return;
    const schedule::Timing& timing = core.timing(start.task);
    if (own.failed) {
        const bool fast = recurs && std::chrono::milliseconds(timing.max_ms) <= kFastMax;
        const double least_s = least_delay_s(own.failures, own.permanent && recurs, fast);
        if (now - own.failed_at >= base::from_seconds(least_s * kLadderPlay)) return;
        violations_.add(
            now, Rule::kTooSoon,
            fmt::format("{} was asked again {:.1f} s after failure {}", core.key(start.task),
                        base::to_seconds(now - own.failed_at), own.failures));
    } else if (recurs && start.trigger == Trigger::kSchedule) {
        const base::Duration gap = start.due - own.last_due;
        if (gap >= base::from_seconds(timing.min_ms * 1e-3 * kIntervalPlay)) return;
        violations_.add(now, Rule::kTooSoon,
                        fmt::format("{} was planned {:.1f} s after its last slot",
                                    core.key(start.task), base::to_seconds(gap)));
    }
}

void Invariants::check_start(base::BootTime now, const SchedulerCore& core,
                             const schedule::StartRun& start) {
    const std::string& key = core.key(start.task);
    const auto& slot = core.slot(start.task);
    const auto must = [&](bool holds, Rule rule, const char* what) {
        if (!holds) violations_.add(now, rule, key + what);
    };
    ++starts_;
    Seen& own = seen(start.task);
    if (!asked_.empty() && asked_.erase(key) > 0) own.asked = true;
    must(start.due <= now, Rule::kBeforeDue, " started before it was due");
    must(start.deadline > now, Rule::kDeadline, " has no time to answer");
    must(start.run.epoch == epoch_, Rule::kEpoch, " started under an old epoch");
    must(slot.has(schedule::kFlagEnabled), Rule::kDisabled, " started though disabled");
    const Facts* facts = facts_of(own, key);
    if (facts != nullptr)
        must(needs_met(*facts), Rule::kNeeds, " started before its needs were met");
    check_turn(now, core, start, own);
    if (expects_bounds_) check_age(now, core, start.task);
    own.started = true;
    own.asked = false;
    own.last_due = start.due;
    Open open{start.task, start.run, {slot.device, slot.class_index, 1, {}}};
    if (facts != nullptr) {
        open.holds.slots = facts->slots;
        open.holds.demand = facts->demand;
    }
    const auto [run, first] = open_.try_emplace(start.task.index);
    must(first, Rule::kTwoRuns, " has two runs in flight");
    if (!first) limits_.give_back(run->second.holds);
    run->second = std::move(open);
    limits_.take(now, key, run->second.holds);
}

void Invariants::close_run(std::map<std::uint32_t, Open>::iterator run) {
    limits_.give_back(run->second.holds);
    open_.erase(run);
}

void Invariants::result_comes(base::BootTime now, const engine::Engine& engine,
                              const schedule::RunFinished& result) {
    const auto& core = engine.core();
    const auto run = open_.find(result.task.index);
    if (run == open_.end() || run->second.task != result.task || run->second.run != result.run) {
        ++stale_;  // duplicated, late, or of a process that is gone
        return;
    }
    close_run(run);
    ++finished_;
    if (result.outcome == model::Outcome::kInterrupted) return;
    Seen& own = seen(result.task);
    const bool success = model::is_success(result.outcome);
    own.failures = success ? 0 : own.failures + 1;
    own.failed = !success;
    own.permanent = result.outcome == model::Outcome::kPermanent;
    (success ? own.succeeded_at : own.failed_at) = now;
    if (core.slot(result.task).recurring()) {
        answered_.push_back(result.task);
    } else if (success) {
        completed_.insert(core.key(result.task));
    }
}

// The labels follow the answers: a success closes everything, failures open and set aside.
void Invariants::check_labels(base::BootTime now, const SchedulerCore& core,
                              model::TaskHandle task) {
    if (!core.is_live(task)) return;
    const auto& slot = core.slot(task);
    const Seen& own = seen_[task.index];
    if (own.failures == 0 && slot.failure == model::kNoIndex) return;
    const auto story = core.failure(task);
    const bool open = story.breaker != BreakerState::kClosed;
    const bool dead = story.dead_letter != DeadLetterReason::kNone;
    const bool right = own.failures == 0 ? !open && !dead && story.consecutive == 0
                                         : story.consecutive >= own.failures &&
                                               open == (story.consecutive >= kBreakerOpensAt) &&
                                               (dead || story.consecutive < kDeadLetterAt);
    if (right) return;
    violations_.add(
        now, Rule::kBreaker,
        fmt::format("{} failed {} times, but the core says {}, breaker {}, dead letter {}",
                    core.key(task), own.failures, story.consecutive, to_string(story.breaker),
                    to_string(story.dead_letter)));
}

void Invariants::check_counts(base::BootTime now, const SchedulerCore& core) {
    const auto& stats = core.stats();
    const bool counted = stats.started == starts_ && stats.finished == finished_ &&
                         stats.expired + stats.cancelled == cancelled_ &&
                         core.in_flight() == open_.size();
    if (!counted) {
        violations_.add(
            now, Rule::kRunCounts,
            fmt::format("the core counts {} starts, {} finished, {} expired, {} cancelled, "
                        "{} in flight; seen were {}, {}, {} ended, {} open",
                        stats.started, stats.finished, stats.expired, stats.cancelled,
                        core.in_flight(), starts_, finished_, cancelled_, open_.size()));
    }
    if (stats.stale_results != stale_) {
        violations_.add(now, Rule::kStaleResult,
                        fmt::format("{} results came too late, but {} were left out", stale_,
                                    stats.stale_results));
    }
    // Told once each, not after every step from then on.
    stale_ = stats.stale_results;
    starts_ = stats.started;
    finished_ = stats.finished;
    cancelled_ = stats.expired + stats.cancelled;
    if (stats.sweep_repairs > sweep_repairs_) {
        violations_.add(now, Rule::kSweep, "the sweep had to repair something");
    }
    if (stats.faulted_tasks > faulted_) {
        violations_.add(now, Rule::kFaulted, "a decision about a task failed");
    }
    sweep_repairs_ = stats.sweep_repairs;
    faulted_ = stats.faulted_tasks;
}

void Invariants::after_step(base::BootTime now, const engine::Engine& engine,
                            const engine::Output& out) {
    const auto& core = engine.core();
    for (const auto& cancel : out.commands.cancels) {
        const auto run = open_.find(cancel.task.index);
        if (run == open_.end() || run->second.run != cancel.run) continue;
        close_run(run);
        ++cancelled_;
    }
    for (const auto& start : out.commands.starts) check_start(now, core, start);
    for (const auto task : answered_) check_labels(now, core, task);
    answered_.clear();
    commits_.shown(now, out.visible);
    if (out.batch) commits_.batch_sent(*out.batch);
    check_counts(now, core);
    limits_.compare(now, core.admission());
    if (out.wake_at - now > kLongestSleep) {
        violations_.add(now, Rule::kNoWake, "the core would sleep for too long");
    }
    if (restarted_) commits_.check_restored(now, core, asked_);
    restarted_ = false;
    if (steps_to_scan_ > 0) {
        --steps_to_scan_;
        return;
    }
    steps_to_scan_ = std::max<std::uint64_t>(kFewestStepsToScan, core.capacity());
    full_check(now, engine);
}

}  // namespace pollux::sim
