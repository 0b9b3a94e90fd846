// The loop of the simulated world: time goes to the next thing that happens, the engine steps, and
// what it asks for comes back later as results.
#include "sim/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/siphash.hpp"

namespace pollux::sim {
namespace {

using base::BootTime;
using schedule::Event;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kWallStart = 1'700'000'000'000'000;  // us: some day in 2023
constexpr double kWindowNs = 10e9;
constexpr std::uint64_t kLogKey = 0x6c6f67;

}  // namespace

World::World(const WorldOptions& options)
    : options_(options),
      settings_(make_settings()),
      fleet_(make_fleet(options.scenario, options.targets, options.seed)),
      invariants_(settings_),
      faults_(options.seed * 77 + 13) {
    base_s_ = static_cast<double>(options.targets) / options.budget;
    end_s_ = (options.hours + options.warmup_hours) * 3600;
    ObserverOptions observing;
    observing.warm_up_s = options.warmup_hours * 3600;
    observing.bound_s = base_s_ > 30 ? 2 * base_s_ : 60;
    observer_ = std::make_unique<PollObserver>(fleet_.size(), observing);
    oracle_ = std::make_unique<BeliefOracle>(fleet_);
    polls_of_.assign(fleet_.size(), 0);
    bad_credentials_.assign(fleet_.size(), 0);
    if (options.groups > 0) {
        parent_down_.assign(fleet_.size() / options.groups + 1, 0);
        parent_up_since_s_.assign(parent_down_.size(), 0);
    }
    invariants_.expect_bounds(!options.faults.any());
    invariants_.expect_restarts(options.persist);
    now_.wall = base::WallTime{kWallStart};
    const FaultOptions& f = options.faults;
    for (const double mean :
         {f.crash_every_s, f.clock_step_every_s, f.parent_outage_every_s, f.poke_every_s,
          f.operator_every_s, f.edit_every_s, f.jobs_every_s, f.settings_every_s}) {
        next_happening_s_.push_back(mean > 0 ? faults_.exponential(mean) : kNeverHappens);
    }
    boot();
}

World::~World() = default;

model::CoreSettings World::make_settings() const {
    model::CoreSettings settings;
    settings.mode = options_.policy == model::PolicyKind::kFixed ? model::AdaptiveMode::kOff
                                                                 : model::AdaptiveMode::kOn;
    settings.global_rate = options_.budget / settings.budget_headroom;
    settings.max_starts_per_step = options_.targets > 100'000 ? 1000 : 100;
    settings.global_slots = static_cast<std::uint32_t>(std::max(1024.0, options_.budget * 4));
    settings.degraded = options_.degraded;
    settings.seed = options_.seed;
    model::ClassSettings sim;
    sim.name = "sim";
    sim.policy = options_.policy;
    sim.preset = options_.preset;
    model::ClassSettings job;
    job.name = "job";
    job.rate = 5;
    job.slots = 3;
    settings.classes = {sim, job};
    settings.resources = {{"lane", 3}};
    return settings;
}

model::TaskSpec World::make_spec(std::size_t target) const {
    model::TaskSpec spec;
    spec.key = fmt::format("sim::device-{}", target);
    spec.device = fmt::format("device-{}", target);
    const auto base = base::round_to_ms(base::from_seconds(base_s_));
    const auto min = std::min(base, base::from_seconds(options_.min_interval_s));
    // The classic formula settles near the middle of its range, so its max is twice the base.
    const double max_s =
        options_.policy == model::PolicyKind::kClassic ? 2 * base_s_ : std::max(300.0, 5 * base_s_);
    spec.cadence =
        model::Cadence::adaptive(min, base, base::round_to_ms(base::from_seconds(max_s)));
    spec.tier = fleet_[target].weight() >= 10 ? model::Tier::kCritical : model::Tier::kNormal;
    if (options_.groups > 0) {
        model::NeedGroup behind;
        behind.any_of = {
            {model::ParentKind::kDevice, fmt::format("switch-{}", target / options_.groups)}};
        behind.when_unmet = target % 2 == 0 ? model::WhenUnmet::kSlow : model::WhenUnmet::kHold;
        spec.needs = {behind};
    }
    return spec;
}

// A process starts: first ever, or after a crash with what the store still has.
void World::boot() {
    ++epoch_;
    engine_ = std::make_unique<engine::Engine>(now_, epoch_, next_change_, settings_);
    invariants_.new_process(epoch_, now_.boot);
    if (sink_ != nullptr) sink_->process_started(now_, epoch_, settings_);
    events_.clear();
    answers_.clear();
    if (epoch_ == 1) {
        auto specs = std::make_shared<std::vector<model::TaskSpec>>();
        for (std::size_t i = 0; i < fleet_.size(); ++i) specs->push_back(make_spec(i));
        for (const auto& spec : *specs) invariants_.configured(spec);
        if (options_.persist) {
            for (const auto& spec : *specs) store_.put_spec(spec);
        }
        events_.push_back(schedule::TasksUpserted{std::move(specs)});
    } else {
        auto stored = std::make_shared<std::vector<schedule::RestoredTask>>(store_.load());
        events_.push_back(schedule::TasksRestored{std::move(stored)});
        watch_starts_until_s_ = now_s() + 2 * base_s_;
        recent_starts_.clear();
    }
    for (std::size_t group = 0; group < parent_down_.size(); ++group) {
        report_parent(static_cast<std::uint32_t>(group), parent_down_[group] == 0);
    }
    wake_at_ = now_.boot;
    target_by_index_.clear();
}

void World::crash() {
    ++restarts_;
    next_change_ = engine_->pump().next_number();
    store_.crash();
    const double down = faults_.exponential(options_.faults.crash_down_s);
    down_until_s_ = now_s() + down;
}

bool World::faults_on() const {
    return options_.faults.until_s <= 0 || now_s() < options_.faults.until_s;
}

bool World::chance(double share) { return share > 0 && faults_on() && faults_.uniform() < share; }

std::uint32_t World::target_of(const std::string& key) const {
    constexpr std::string_view kPrefix = "sim::device-";
    if (!key.starts_with(kPrefix)) return kNoTarget;
    return static_cast<std::uint32_t>(std::stoul(key.substr(kPrefix.size())));
}

void World::launch(const schedule::StartRun& start) {
    if (target_by_index_.size() <= start.task.index) {
        target_by_index_.resize(start.task.index + 1, kNoTarget - 1);
    }
    std::uint32_t& target = target_by_index_[start.task.index];
    if (target == kNoTarget - 1 || options_.faults.any()) {
        target = target_of(engine_->core().key(start.task));
    }
    note_start(start);
    if (chance(options_.faults.lost_result)) return;
    const double spread = base::unit_interval(
        base::siphash24({options_.seed, kLogKey}, start.run.counter, start.task.index));
    double latency = options_.latency_s * (0.5 + spread);
    if (target == kNoTarget) latency = 0.5 + 2 * spread;
    if (chance(options_.faults.late_result)) latency = 40;
    const auto ms = std::max<std::int64_t>(1, to_ns(latency) / kMillisecond);
    Flight flight{
        now_.boot.ns + ms * kMillisecond, ++order_, start.task, start.run, target, epoch_, false};
    flights_.push(flight);
    if (chance(options_.faults.duplicated_result)) {
        flight.at_ns += 3000 * kMillisecond;
        flight.order = ++order_;
        flight.duplicate = true;
        flights_.push(flight);
    }
}

void World::note_start(const schedule::StartRun& start) {
    ++starts_;
    const double lag = static_cast<double>((now_.boot - start.due).count()) * 1e-9;
    largest_lag_s_ = std::max(largest_lag_s_, lag);
    if (now_s() > watch_starts_until_s_) return;
    recent_starts_.push_back(now_.boot.ns);
    while (static_cast<double>(now_.boot.ns - recent_starts_.front()) > kWindowNs) {
        recent_starts_.pop_front();
    }
    const double ratio = static_cast<double>(recent_starts_.size()) / (options_.budget * 10);
    largest_ratio_ = std::max(largest_ratio_, ratio);
}

// What the device answers now.
schedule::RunFinished World::poll(const Flight& flight) {
    schedule::RunFinished result;
    result.task = flight.task;
    result.run = flight.run;
    if (flight.target == kNoTarget) {
        result.outcome = chance(0.1) ? model::Outcome::kTransient : model::Outcome::kOk;
        return result;
    }
    const double now = now_s();
    const bool cut_off = options_.groups > 0 && parent_down_[flight.target / options_.groups] > 0;
    if (chance(options_.faults.transient_failure) || cut_off) {
        result.outcome = model::Outcome::kTransient;
        return result;
    }
    if (bad_credentials_[flight.target] != 0) {
        result.outcome = model::Outcome::kPermanent;
        return result;
    }
    const Sight sight = observer_->on_poll(flight.target, fleet_[flight.target], now);
    ++polls_;
    if (now >= options_.warmup_hours * 3600) ++polls_of_[flight.target];
    result.outcome = sight.ok ? model::Outcome::kOk : model::Outcome::kTransient;
    result.has_digest = true;
    result.digest = sight.digest;
    if (options_.policy == model::PolicyKind::kKnownRate) {
        result.known_rate = static_cast<float>(
            oracle_->rate_after(flight.target, now, sight.tau_s, sight.changed, sight.ok));
    }
    return result;
}

void World::take_results() {
    while (!flights_.empty() && flights_.top().at_ns <= now_.boot.ns) {
        const Flight flight = flights_.top();
        flights_.pop();
        if (down_until_s_) continue;  // nobody is there to hear it
        schedule::RunFinished result;
        const bool stale =
            flight.process != epoch_ || flight.duplicate || !engine_->core().is_live(flight.task);
        if (stale) {
            result.task = flight.task;
            result.run = flight.run;
        } else {
            result = poll(flight);
        }
        if (options_.check_invariants) invariants_.result_comes(now_.boot, *engine_, result);
        events_.push_back(result);
    }
}

void World::step() {
    engine_->step(now_, events_, answers_, out_);
    if (sink_ != nullptr) sink_->stepped(now_, events_, out_.commands);
    events_.clear();
    answers_.clear();
    for (const auto& start : out_.commands.starts) launch(start);
    if (options_.check_invariants) invariants_.after_step(now_.boot, *engine_, out_);
    hash_step();
    wake_at_ = out_.wake_at;
    for (const auto& change : out_.visible) {
        if (newest_.size() >= 200) newest_.erase(newest_.begin(), newest_.begin() + 100);
        newest_.push_back(change);
    }
    if (!options_.persist) {
        if (out_.batch) answers_.push_back({out_.batch->sequence, true});
        if (out_.batch && options_.check_invariants) {
            invariants_.batch_committed(now_.boot, out_.batch->sequence);
        }
    } else if (out_.batch) {
        const double took = 0.002 + 0.02 * faults_.uniform();
        store_.begin(out_.batch, now_.boot.ns + to_ns(took),
                     chance(options_.faults.commit_failure));
    }
}

void World::hash_step() {
    const base::SipKey key{log_hash_, kLogKey};
    const auto& commands = out_.commands;
    for (const auto& start : commands.starts) {
        log_hash_ = base::siphash24(
            {log_hash_, kLogKey}, static_cast<std::uint64_t>(now_.boot.ns), start.run.counter,
            (std::uint64_t{start.task.index} << 8U) | static_cast<std::uint64_t>(start.trigger));
    }
    for (const auto& change : commands.changes) {
        log_hash_ =
            base::siphash24({log_hash_, kLogKey}, static_cast<std::uint64_t>(now_.boot.ns),
                            (std::uint64_t{change.task.index} << 32U) |
                                (std::uint64_t{static_cast<std::uint8_t>(change.kind)} << 16U) |
                                (std::uint64_t{change.from} << 8U) | change.to);
    }
    if (!commands.cancels.empty()) {
        log_hash_ = base::siphash24(key, log_hash_, commands.cancels.size());
    }
}

void World::advance_to(double simulated_s) {
    const std::int64_t until = to_ns(std::min(simulated_s, end_s_));
    while (now_.boot.ns < until) {
        std::int64_t next = until;
        for (const double at : next_happening_s_) {
            if (at < kNeverHappens) next = std::min(next, to_ns(at));
        }
        for (const auto& [at, group] : outage_ends_) next = std::min(next, to_ns(at));
        if (!flights_.empty()) next = std::min(next, flights_.top().at_ns);
        if (down_until_s_) {
            next = std::min(next, to_ns(*down_until_s_));
        } else {
            next = std::min(next, wake_at_.ns);
            next = std::min(next, store_.next_ns());
            if (!answers_.empty()) next = now_.boot.ns;
        }
        next = std::max(next, now_.boot.ns);
        now_.boot.ns = next;
        now_.wall = base::WallTime{kWallStart + next / 1000} + wall_offset_;
        world_events();
        take_results();
        if (down_until_s_) continue;
        if (const auto answer = store_.finish(now_.boot.ns)) {
            if (answer->committed) {
                invariants_.batch_committed(now_.boot, answer->sequence);
            } else {
                invariants_.batch_failed(now_.boot);
            }
            answers_.push_back(*answer);
        }
        step();
    }
}

WorldReport World::run(const std::function<bool(const Progress&)>& keep_going) {
    constexpr double kReportEvery = 30;
    for (double at = kReportEvery; now_s() < end_s_; at += kReportEvery) {
        advance_to(at);
        if (keep_going && !keep_going({now_s(), end_s_, polls_, engine_.get()})) break;
    }
    if (options_.check_invariants && engine_ && !down_until_s_) {
        invariants_.full_check(now_.boot, *engine_);
        const bool calm = options_.faults.until_s > 0 && options_.faults.until_s + 1800 < now_s();
        if (calm) {
            invariants_.calm_check(now_.boot, *engine_,
                                   [&](const std::string& key) { return is_broken(key); });
        }
    }
    return report();
}

// Whether a task has a reason to fail now, or had one until just now.
bool World::is_broken(const std::string& key) const {
    constexpr double kRecently = 600;  // s: probes come at least every five minutes
    const std::uint32_t target = target_of(key);
    if (target == kNoTarget) return false;
    if (bad_credentials_[target] != 0) return true;
    if (options_.groups > 0) {
        const std::uint32_t group = target / options_.groups;
        if (parent_down_[group] > 0 || parent_up_since_s_[group] > now_s() - kRecently) return true;
    }
    ChangeProcess process = fleet_[target];
    const bool flips = process.parameters().kind == ChangeKind::kUpDown;
    if (!flips) return false;
    double last_s = 0;
    process.consume_until(now_s(), [&](const ChangeEvent& event) { last_s = event.at_s; });
    return process.down() || last_s > now_s() - kRecently;
}

// Polls per second and target, after the warm-up, of the up/down targets with such a mean time up.
double World::polls_per_target_s(double shortest_up_s, double longest_up_s) const {
    const double measured_s = now_s() - options_.warmup_hours * 3600;
    std::uint64_t polls = 0;
    std::size_t targets = 0;
    for (std::size_t i = 0; i < fleet_.size(); ++i) {
        const ChangeParameters& p = fleet_[i].parameters();
        if (p.kind != ChangeKind::kUpDown) continue;
        if (p.mean_calm_s <= shortest_up_s || p.mean_calm_s >= longest_up_s) continue;
        polls += polls_of_[i];
        ++targets;
    }
    if (targets == 0 || measured_s <= 0) return 0;
    return static_cast<double>(polls) / (static_cast<double>(targets) * measured_s);
}

WorldReport World::report() const {
    constexpr double kFlapsWithin = 1000;
    constexpr double kQuietFor = 10'000;
    WorldReport report;
    report.flapper_polls_per_s = polls_per_target_s(0, kFlapsWithin);
    report.quiet_polls_per_s =
        polls_per_target_s(kQuietFor, std::numeric_limits<double>::infinity());
    report.metrics = observer_->metrics(now_s());
    report.base_s = base_s_;
    report.bound_s = base_s_ > 30 ? 2 * base_s_ : 60;
    report.violations = violations().total();
    report.violation_texts = violations().texts();
    report.log_hash = log_hash_;
    report.restarts = restarts_;
    report.starts = starts_;
    report.largest_10s_ratio = largest_ratio_;
    report.latest_start_lag_s = largest_lag_s_;
    report.budget_infeasible = engine_->core().budget_infeasible();
    return report;
}

}  // namespace pollux::sim
