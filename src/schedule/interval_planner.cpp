#include "schedule/interval_planner.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/math.hpp"
#include "schedule/classic_interval.hpp"

namespace pollux::schedule {
namespace {

using model::PolicyKind;

constexpr double kSlowestPlannedRate = 1e-6;  // keeps shapes finite
constexpr double kAimdStep = 0.6;
constexpr double kAimdCut = 0.85;
constexpr double kJitter = 0.05;
constexpr double kPlayAtLimit = 0.03;  // bounds leave room for this
constexpr double kYoungPlay = 0.3;
constexpr std::uint32_t kYoungAttempts = 3;
constexpr double kIdleAfter = 3600;  // s without a change: from here on a task may drift

// How a preset tells an idle task from one that is merely quiet for a while. `fresh` wants the
// lowest mean delay, so only what changes less than a few times a day counts as idle there.
struct IdleRule {
    double ramp_s;     // from the first to the full drift
    double idle_rate;  // expected changes an hour: at most this is idle ...
    double busy_rate;  // ... and from this on not idle at all
    double surely_s;   // so long without a change is idle, whatever was believed before
};
constexpr std::array<IdleRule, 3> kIdleRules = {IdleRule{600, 0.5, 2.0, 3600},
                                                IdleRule{43200, 0.1, 0.4, 86400},
                                                IdleRule{3600, 0.25, 1.0, 7200}};
constexpr std::uint64_t kPercentPurpose = 0x70657263656e74ULL;
constexpr std::uint64_t kJitterPurpose = 0x6a6974746572ULL;
constexpr std::uint64_t kDitherPurpose = 0x646974686572ULL;

bool is_pooled_policy(PolicyKind policy) {
    return policy == PolicyKind::kOptimal || policy == PolicyKind::kAimd ||
           policy == PolicyKind::kKnownRate;
}

// What will be believed after a first answer without a change. Assuming anything else beforehand
// would make those that have answered look unlike those that have not, and the first round uneven.
double rate_before_first_answer(std::uint32_t base_ms) {
    RateBelief belief;
    RatePrior prior;
    return learn(belief, prior, {base_ms * 1e-3, false, 0, 1e9});
}

std::uint32_t to_ms(double seconds) {
    return static_cast<std::uint32_t>(std::clamp(seconds * 1e3 + 0.5, 1.0, 4e9));
}

}  // namespace

IntervalPlanner::IntervalPlanner(TaskTable& tasks, TimingTable& timings,
                                 const DueBalancer& balancer)
    : tasks_(tasks), timings_(timings), balancer_(balancer) {
    for (std::size_t preset = 0; preset < model::kPresetNames.size(); ++preset) {
        new_pool(static_cast<model::Preset>(preset));
    }
}

std::uint16_t IntervalPlanner::new_pool(model::Preset preset) {
    if (!free_pools_.empty()) {
        const std::uint16_t index = free_pools_.back();
        free_pools_.pop_back();
        pools_[index] = {std::make_unique<BudgetPool>(), preset};
        return index;
    }
    pools_.push_back({std::make_unique<BudgetPool>(), preset});
    return static_cast<std::uint16_t>(pools_.size() - 1);
}

void IntervalPlanner::configure(const model::CoreSettings& settings) {
    std::vector<std::uint32_t> joined;
    for (std::uint32_t task = 0; task < tasks_.capacity(); ++task) {
        if (tasks_[task].place == Place::kFree || !tasks_[task].has(kFlagJoined)) continue;
        leave(task);
        joined.push_back(task);
    }
    mode_ = settings.mode;
    percent_ = settings.adaptive_percent;
    cap_ = settings.global_rate * settings.budget_headroom;
    degraded_ = settings.degraded;
    seed_ = {settings.seed, 0x706f6c6c7578ULL};
    classes_.resize(std::max(classes_.size(), settings.classes.size()));
    for (std::size_t c = 0; c < settings.classes.size(); ++c) {
        ClassPolicy& own = classes_[c];
        own.policy = settings.classes[c].policy;
        own.preset = settings.classes[c].preset;
        if (own.pool < model::kPresetNames.size()) {
            own.pool = static_cast<std::uint16_t>(own.preset);
        } else {
            pools_[own.pool].preset = own.preset;
        }
    }
    for (const std::uint32_t task : joined) join(task);
}

void IntervalPlanner::grow(std::size_t tasks) {
    terms_.grow_to(tasks);
    beliefs_.grow_to(tasks);
}

void IntervalPlanner::reset(std::uint32_t task) {
    terms_[task] = IntervalTerms{};
    beliefs_[task] = RateBelief{};
}

void IntervalPlanner::recall(std::uint32_t task) {
    const RateBelief& belief = beliefs_[task];
    if (belief.age_s > 0) terms_[task].rate = static_cast<float>(expected_rate(belief));
}

bool IntervalPlanner::in_scope(const TaskSlot& slot) const {
    if (percent_ >= 100) return true;
    const auto hash = base::siphash24({0, kPercentPurpose}, slot.key_hash);
    return base::unit_interval(hash) * 100 < percent_;
}

bool IntervalPlanner::adaptive(std::uint32_t task) const {
    const TaskSlot& slot = tasks_[task];
    return mode_ != model::AdaptiveMode::kOff && slot.cadence == model::CadenceKind::kAdaptive &&
           slot.has(kFlagAdaptive) && classes_[slot.class_index].policy != PolicyKind::kFixed &&
           in_scope(slot);
}

bool IntervalPlanner::pooled(const TaskSlot& slot) const { return slot.has(kFlagInPool); }

BandLimits IntervalPlanner::band_limits(const TaskSlot& slot) const {
    const Timing& timing = timings_[slot.timing];
    const double stretch = model::limits_of(classes_[slot.class_index].preset).stretch;
    const double limit = std::min(static_cast<double>(timing.max_ms), timing.base_ms * stretch);
    return {timing.min_ms, static_cast<std::uint32_t>(limit), timings_.bound_ms(slot.timing)};
}

void IntervalPlanner::join(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.set(kFlagJoined, true);
    ClassPolicy& own = classes_[slot.class_index];
    if (!adaptive(task) || !is_pooled_policy(own.policy)) {
        unpooled_ += rate_of(timings_[slot.timing].base_ms);
        return;
    }
    ++own.members;
    if (own.members == kOwnPoolMembers && own.pool < model::kPresetNames.size()) {
        move_class(slot.class_index, new_pool(own.preset));
    }
    enter_pool(task);
}

void IntervalPlanner::leave(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.set(kFlagJoined, false);
    if (!pooled(slot)) {
        unpooled_ -= rate_of(timings_[slot.timing].base_ms);
        return;
    }
    exit_pool(task);
    ClassPolicy& own = classes_[slot.class_index];
    if (--own.members == 0 && own.pool >= model::kPresetNames.size()) {
        free_pools_.push_back(own.pool);
        own.pool = static_cast<std::uint16_t>(own.preset);
    }
}

void IntervalPlanner::move_class(std::uint16_t class_index, std::uint16_t pool) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t task = 0; task < tasks_.capacity(); ++task) {
        const TaskSlot& slot = tasks_[task];
        if (slot.place != Place::kFree && slot.class_index == class_index && pooled(slot)) {
            members.push_back(task);
        }
    }
    for (const std::uint32_t task : members) exit_pool(task);
    classes_[class_index].pool = pool;
    for (const std::uint32_t task : members) enter_pool(task);
}

void IntervalPlanner::enter_pool(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    slot.set(kFlagInPool, true);
    IntervalTerms& terms = terms_[task];
    BudgetPool& pool = *pools_[pool_index(task)].pool;
    terms.band = pool.join(band_limits(slot), rate_of(timings_[slot.timing].base_ms));
    terms.bucket = BudgetPool::kNoBucket;
    terms.chosen_ms = 0;
    terms.planned_ms = 0;
    if (terms.rate <= 0) {
        terms.rate = static_cast<float>(rate_before_first_answer(timings_[slot.timing].base_ms));
    }
    plan_pooled(task, shape_of(slot, static_cast<double>(terms.rate)), terms.drift_permille * 1e-3);
}

void IntervalPlanner::exit_pool(std::uint32_t task) {
    TaskSlot& slot = tasks_[task];
    IntervalTerms& terms = terms_[task];
    BudgetPool& pool = *pools_[pool_index(task)].pool;
    pool.replan(-rate_of(terms.chosen_ms), -rate_of(terms.planned_ms));
    pool.leave(terms.band, terms.bucket, rate_of(timings_[slot.timing].base_ms));
    terms.bucket = BudgetPool::kNoBucket;
    slot.set(kFlagInPool, false);
}

double IntervalPlanner::shape_of(const TaskSlot& slot, double rate) const {
    const double worth = model::weight_of(slot.tier) * std::max(rate, kSlowestPlannedRate);
    const double exponent = model::limits_of(classes_[slot.class_index].preset).exponent;
    return exponent == 0.5 ? 1 / std::sqrt(worth)
                           : base::fixed_exp2(-exponent * base::fixed_log2(worth));
}

double IntervalPlanner::next_rate(std::uint32_t task, const Answer& answer, BudgetPool& pool) {
    const TaskSlot& slot = tasks_[task];
    if (classes_[slot.class_index].policy == PolicyKind::kKnownRate) {
        return answer.known_rate > 0 ? answer.known_rate : static_cast<double>(terms_[task].rate);
    }
    const RateEvidence evidence{
        base::to_seconds(answer.elapsed), answer.changed,
        base::siphash24(seed_, slot.key_hash, slot.attempt ^ kDitherPurpose),
        static_cast<double>(pool.members())};
    return learn(beliefs_[task], pool.prior(), evidence);
}

double IntervalPlanner::drift_of(const TaskSlot& slot, double rate, base::BootTime now) const {
    const bool drifts = classes_[slot.class_index].policy == PolicyKind::kOptimal &&
                        slot.tier != model::Tier::kCritical;
    if (!drifts || slot.last_mutation == base::BootTime::min()) return 0;
    const double quiet_s = base::to_seconds(now - slot.last_mutation);
    const IdleRule& rule = kIdleRules[static_cast<std::size_t>(classes_[slot.class_index].preset)];
    const double calm = std::clamp((quiet_s - kIdleAfter) / rule.ramp_s, 0.0, 1.0);
    const double slow =
        std::clamp((rule.busy_rate - rate * 3600) / (rule.busy_rate - rule.idle_rate), 0.0, 1.0);
    const double surely = std::clamp((quiet_s - rule.surely_s) / kIdleAfter, 0.0, 1.0);
    return std::max(calm * slow, surely);
}

void IntervalPlanner::set_plan(std::uint32_t task, std::uint32_t chosen_ms,
                               std::uint32_t planned_ms) {
    IntervalTerms& terms = terms_[task];
    if (tasks_[task].has(kFlagInPool)) {
        pools_[pool_index(task)].pool->replan(rate_of(chosen_ms) - rate_of(terms.chosen_ms),
                                              rate_of(planned_ms) - rate_of(terms.planned_ms));
    }
    terms.chosen_ms = chosen_ms;
    terms.planned_ms = planned_ms;
}

void IntervalPlanner::plan_pooled(std::uint32_t task, double shape, double drift) {
    IntervalTerms& terms = terms_[task];
    BudgetPool& pool = *pools_[pool_index(task)].pool;
    terms.bucket = pool.move(terms.band, terms.bucket, shape);
    const double wish = pool.multiplier() * shape;
    const double chosen = pool.interval_s(terms.band, shape);
    const double longest = pool.longest_s(terms.band);
    const double planned = chosen + drift * (longest - chosen);
    terms.wish_s = static_cast<float>(wish);
    terms.drift_permille = static_cast<std::uint16_t>(drift * 1000 + 0.5);
    const BandLimits limits = band_limits(tasks_[task]);
    if (drift > 0 && planned > chosen) {
        terms.limited_by = LimitedBy::kIdleDrift;
    } else if (wish > longest) {
        terms.limited_by =
            longest * 1e3 < limits.stretch_ms - 1.0 ? LimitedBy::kBound : LimitedBy::kStretch;
    } else {
        terms.limited_by =
            wish < pool.shortest_s(terms.band) ? LimitedBy::kMinimum : LimitedBy::kNothing;
    }
    set_plan(task, to_ms(chosen), to_ms(planned));
}

std::uint32_t IntervalPlanner::classic(std::uint32_t task, const Answer& answer,
                                       std::size_t ready_depth) {
    const TaskSlot& slot = tasks_[task];
    const Timing& timing = timings_[slot.timing];
    RateBelief& memory = beliefs_[task];
    const auto ms = [](std::uint32_t value) { return std::chrono::milliseconds(value); };
    const ClassicConfig config{
        .base = ms(timing.base_ms), .min = ms(timing.min_ms), .max = ms(timing.max_ms)};
    ClassicInput input{};
    input.staleness_score = answer.staleness;
    input.error_count = answer.errors_before;
    input.ready_depth = static_cast<std::int64_t>(ready_depth);
    input.last_interval = ms(slot.interval_ms);
    if (memory.memory > 0) input.ema = base::from_seconds(static_cast<double>(memory.memory));
    input.unit =
        base::unit_interval(base::siphash24(seed_, slot.key_hash, slot.attempt ^ kJitterPurpose));
    const ClassicDecision decision = classic_interval(config, input);
    memory.memory = static_cast<float>(base::to_seconds(decision.smoothed));
    terms_[task].wish_s = static_cast<float>(base::to_seconds(decision.target));
    terms_[task].limited_by = LimitedBy::kNothing;
    const std::uint32_t interval = to_ms(base::to_seconds(decision.interval));
    set_plan(task, interval, interval);
    return interval;
}

// Uses the play of the interval to keep the starts of the fleet even.
std::uint32_t IntervalPlanner::jittered(std::uint32_t task, std::uint32_t interval_ms,
                                        base::BootTime planned) const {
    const TaskSlot& slot = tasks_[task];
    const double longest = pools_[pool_index(task)].pool->longest_s(terms_[task].band);
    const double interval_s = interval_ms * 1e-3;
    const bool at_limit = interval_s >= longest * 0.999;
    const double play = at_limit ? kPlayAtLimit : kJitter;
    const bool young = slot.attempt <= kYoungAttempts;  // not in step with the others yet
    // Never below the task's own minimum, and no more play upward than downward there, so that the
    // polls cost what was planned.
    const double floor = std::min(interval_s, timings_[slot.timing].min_ms * 1e-3);
    const double down = interval_s * (young ? kYoungPlay : play);
    const double earliest = std::max(interval_s - down, floor);
    const double up = std::min(interval_s * play, interval_s - floor);
    const double latest = std::min(interval_s + up, longest * (1 + kPlayAtLimit));
    const auto hash = base::siphash24(seed_, slot.key_hash, slot.attempt ^ kJitterPurpose);
    const base::BootTime due = balancer_.choose(planned + base::from_seconds(earliest),
                                                planned + base::from_seconds(latest), hash);
    return to_ms(base::to_seconds(due - planned));
}

std::uint32_t IntervalPlanner::decide(std::uint32_t task, const Answer& answer,
                                      std::size_t ready_depth) {
    const TaskSlot& slot = tasks_[task];
    const Timing& timing = timings_[slot.timing];
    const PolicyKind policy = classes_[slot.class_index].policy;
    std::uint32_t interval = timing.base_ms;
    if (pooled(slot)) {
        BudgetPool& pool = *pools_[pool_index(task)].pool;
        pool.count_poll();
        const double rate = next_rate(task, answer, pool);
        terms_[task].rate = static_cast<float>(rate);
        double shape = shape_of(slot, rate);
        if (policy == PolicyKind::kAimd) {
            float& x = beliefs_[task].memory;
            if (x <= 0) x = static_cast<float>(timing.base_ms) * 1e-3F;
            x = answer.changed ? std::max(x * static_cast<float>(kAimdCut), 0.5F)
                               : std::min(x + static_cast<float>(kAimdStep), 1000.0F);
            shape = static_cast<double>(x) / std::sqrt(model::weight_of(slot.tier));
        }
        plan_pooled(task, shape, drift_of(slot, rate, answer.at));
        interval = jittered(task, terms_[task].planned_ms, answer.planned);
    } else if (adaptive(task) && !answer.failed) {
        interval = classic(task, answer, ready_depth);
    } else {
        terms_[task].limited_by = LimitedBy::kFixed;
        set_plan(task, interval, interval);
    }
    if (slot.has(kFlagSlow)) {
        terms_[task].limited_by = LimitedBy::kParent;
        return std::max(timing.base_ms, timing.max_ms);
    }
    return mode_ == model::AdaptiveMode::kShadow ? timing.base_ms : interval;
}

void IntervalPlanner::replan(std::uint32_t task, base::BootTime now) {
    const TaskSlot& slot = tasks_[task];
    if (!pooled(slot)) return;
    const auto rate = static_cast<double>(terms_[task].rate);
    plan_pooled(task, shape_of(slot, rate), drift_of(slot, rate, now));
}

std::uint32_t IntervalPlanner::current_ms(std::uint32_t task) const {
    const TaskSlot& slot = tasks_[task];
    const Timing& timing = timings_[slot.timing];
    if (slot.has(kFlagSlow)) return std::max(timing.base_ms, timing.max_ms);
    if (mode_ != model::AdaptiveMode::kOn || !adaptive(task)) return timing.base_ms;
    const IntervalTerms& terms = terms_[task];
    return terms.planned_ms > 0 ? terms.planned_ms : timing.base_ms;
}

void IntervalPlanner::solve(base::BootTime now, double p95_poll_s) {
    std::vector<double> floors(pools_.size(), 0);
    std::vector<double> grants(pools_.size(), 0);
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        BudgetPool& pool = *pools_[i].pool;
        if (pool.members() == 0) continue;
        floors[i] = pool.floor_rate(p95_poll_s);
        // Where the bounds need more than the members would cost at their base, the bounds win.
        grants[i] =
            std::max(floors[i], pool.wanted_rate(model::limits_of(pools_[i].preset).budget_share));
    }
    const double cap = std::max(cap_ * pressure_ - per_second(unpooled_), cap_ * 0.01);
    share_out(now, cap, grants, floors);
}

// All pools together must stay under the cap: first what lies above the bounds gives way, equally;
// only when the bounds alone are too much do they give way too.
void IntervalPlanner::share_out(base::BootTime now, double cap, std::vector<double>& grants,
                                const std::vector<double>& floors) {
    double wanted = 0;
    double needed = 0;
    for (std::size_t i = 0; i < grants.size(); ++i) {
        wanted += grants[i];
        needed += floors[i];
    }
    infeasible_ = needed > cap;
    if (infeasible_) {
        for (std::size_t i = 0; i < grants.size(); ++i) grants[i] = floors[i] * cap / needed;
    } else if (wanted > cap) {
        double low = 0;
        double high = 1;
        for (int step = 0; step < 40; ++step) {
            const double middle = (low + high) / 2;
            double sum = 0;
            for (std::size_t i = 0; i < grants.size(); ++i) {
                sum += std::max(floors[i], grants[i] * middle);
            }
            (sum > cap ? high : low) = middle;
        }
        for (std::size_t i = 0; i < grants.size(); ++i) {
            grants[i] = std::max(floors[i], grants[i] * low);
        }
    }
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        if (pools_[i].pool->members() == 0) continue;
        pools_[i].pool->solve(now, {grants[i], !infeasible_, degraded_});
    }
}

}  // namespace pollux::schedule
