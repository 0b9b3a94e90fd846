// Events and time: what a task is told, and where it stands afterwards.
#include "tests/property/reference_scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pollux::tests {
namespace {

using model::JobState;
using model::Outcome;
using model::Tier;
using model::WhenUnmet;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kSpreadS = 60;       // parents came back: held tasks return over this time
constexpr double kJobRetryCapS = 60;  // failing jobs are retried at least this often
constexpr std::size_t kBulk = 16;

std::int64_t to_ns(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

double interval_s(const RefTask& task) {
    return static_cast<double>(task.spec.cadence.base.count()) * 1e-9;
}

double doubled(double first, std::uint32_t times, double cap) {
    double delay = first;
    for (std::uint32_t i = 0; i < times && delay < cap; ++i) delay *= 2;
    return std::min(delay, cap);
}

}  // namespace

RefBucket::RefBucket(double rate, double burst)
    : cost_(static_cast<std::int64_t>(1e9 / rate + 0.999999)),
      most_(static_cast<std::int64_t>(burst * static_cast<double>(cost_))) {}

std::int64_t RefBucket::saved(std::int64_t now) const {
    return at_ == kNoTime ? most_ : std::min(most_, saved_ + (now - at_));
}

bool RefBucket::open(std::int64_t now) const { return cost_ == 0 || saved(now) >= cost_; }

std::int64_t RefBucket::opens_at(std::int64_t now) const {
    return open(now) ? now : now + (cost_ - saved(now));
}

void RefBucket::take(std::int64_t now) {
    if (cost_ == 0) return;
    saved_ = saved(now) - cost_;
    at_ = now;
}

ReferenceScheduler::ReferenceScheduler(std::int64_t, model::CoreSettings settings)
    : settings_(std::move(settings)),
      global_rate_(settings_.global_rate, std::max(1.0, 0.5 * settings_.global_rate)),
      single_adds_(1, 16) {
    for (const auto& one : settings_.classes) {
        if (one.rate > 0)
            class_rates_[one.name] = RefBucket(one.rate, std::max(1.0, 0.5 * one.rate));
    }
}

RefTask* ReferenceScheduler::get(const std::string& key) {
    const auto found = std::ranges::find(tasks_, key, [](const RefTask& t) { return t.spec.key; });
    return found == tasks_.end() ? nullptr : &*found;
}

const RefTask* ReferenceScheduler::find(const std::string& key) const {
    const auto found = std::ranges::find(tasks_, key, [](const RefTask& t) { return t.spec.key; });
    return found == tasks_.end() ? nullptr : &*found;
}

std::size_t ReferenceScheduler::running() const {
    return static_cast<std::size_t>(
        std::ranges::count(tasks_, RefPlace::kRunning, &RefTask::place));
}

void ReferenceScheduler::schedule(RefTask& task, std::int64_t due) {
    task.place = RefPlace::kScheduled;
    task.next_due = due;
}

void ReferenceScheduler::draw(RefTask& task, double earliest_s, double latest_s, std::int64_t now) {
    task.place = RefPlace::kScheduled;
    task.drawn = true;
    task.may_stay = false;
    task.earliest = now + to_ns(earliest_s);
    task.latest = now + to_ns(latest_s);
}

void ReferenceScheduler::adopt(const std::string& key, std::int64_t core_due) {
    RefTask* task = get(key);
    if (task == nullptr || !task->drawn) return;
    task->drawn = false;
    if (task->may_stay && core_due == task->next_due) return;
    const bool in_range = core_due >= task->earliest - 1 && core_due <= task->latest + 1;
    const bool later = task->may_stay && core_due > task->next_due;
    if (!in_range || later) {
        disagree(fmt::format("{} is due at {}, promised was {} to {}", key, core_due,
                             task->earliest, task->latest));
    }
    task->next_due = core_due;
}

std::vector<std::string> ReferenceScheduler::undrawn() const {
    std::vector<std::string> keys;
    for (const RefTask& task : tasks_) {
        if (task.drawn) keys.push_back(task.spec.key);
    }
    return keys;
}

void ReferenceScheduler::come_due(std::int64_t now, RefTask& task) {
    if (!needs_met(task)) {
        task.place = RefPlace::kHeld;
        return;
    }
    task.place = RefPlace::kReady;
    task.ready_since = now;
}

void ReferenceScheduler::pass(std::int64_t now) {
    for (RefTask& task : tasks_) {
        if (task.place == RefPlace::kScheduled && !task.drawn && task.next_due <= now) {
            come_due(now, task);
        }
    }
    for (RefTask& task : tasks_) {
        if (task.place != RefPlace::kRunning || task.lease_ends > now) continue;
        ++counts_.expired;
        end_run(task);
        after_run(now, task, Outcome::kInterrupted);
    }
}

void ReferenceScheduler::upsert(std::int64_t now, const std::vector<model::TaskSpec>& specs) {
    const auto ended = [&](const model::TaskSpec& spec) {
        const RefTask* known = find(spec.key);
        return known != nullptr && known->place == RefPlace::kEnded;
    };
    if (std::ranges::any_of(specs, ended)) {  // all of a batch is taken, or none of it
        ++counts_.rejected;
        return;
    }
    std::vector<std::string> fresh;
    std::size_t recurring = 0;
    for (const model::TaskSpec& spec : specs) {
        if (find(spec.key) != nullptr) continue;
        RefTask task;
        task.spec = spec;
        task.enabled = spec.enabled;
        task.run_tier = spec.tier;
        if (task.once()) task.job = JobState::kPending;
        if (!task.once()) ++recurring;
        fresh.push_back(spec.key);
        tasks_.push_back(std::move(task));
    }
    for (const model::TaskSpec& spec : specs) {
        RefTask& task = *get(spec.key);
        task.spec.needs = spec.needs;
        task.done_groups.clear();
        task.slowed = is_slowed(task);
        if (task.once()) raise_parents(task);
    }
    for (const model::TaskSpec& spec : specs) {
        const bool is_new = std::ranges::find(fresh, spec.key) != fresh.end();
        if (is_new) {
            add(now, spec, recurring > kBulk);
        } else {
            edit(now, *get(spec.key), spec);
        }
    }
}

void ReferenceScheduler::add(std::int64_t now, const model::TaskSpec& spec, bool in_bulk) {
    RefTask& task = *get(spec.key);
    if (!task.enabled) return;
    task.next_due = now;
    if (task.once()) {
        come_due(now, task);
        look_at_needs(now);
        return;
    }
    if (!in_bulk && single_adds_.open(now)) {
        single_adds_.take(now);
        come_due(now, task);
    } else {
        draw(task, 0, interval_s(task), now);
    }
}

void ReferenceScheduler::edit(std::int64_t now, RefTask& task, const model::TaskSpec& spec) {
    const bool was_enabled = task.enabled;
    const bool waited = task.place == RefPlace::kReady;
    const std::int64_t since = task.ready_since;
    task.spec = spec;
    task.enabled = spec.enabled;
    task.run_tier = spec.tier;
    if (task.once()) {
        for (const RefTask& child : tasks_) {
            const bool waits = child.once() && child.place != RefPlace::kEnded;
            if (waits && needs(child, spec.key)) {
                task.spec.tier = std::max(task.spec.tier, child.spec.tier);
            }
        }
        task.run_tier = task.spec.tier;
        raise_parents(task);
    }
    if (!task.enabled) {
        if (task.place != RefPlace::kRunning) task.place = RefPlace::kDisabled;
        return;
    }
    if (waited) {
        come_due(now, task);
        if (task.place == RefPlace::kReady) task.ready_since = since;
    } else if (!was_enabled) {
        task.enabled = false;
        enable(now, spec.key, true);
    } else if (task.place == RefPlace::kScheduled && task.failures + task.interruptions == 0) {
        schedule(task, std::min(task.next_due, now + task.spec.cadence.base.count()));
    }
    look_at_needs(now);
}

// A job is as urgent as the most urgent job that waits for it.
void ReferenceScheduler::raise_parents(const RefTask& task) {
    const Tier tier = std::max(task.spec.tier, task.run_tier);
    for (const auto& group : task.spec.needs) {
        for (const auto& parent : group.any_of) {
            RefTask* own = parent.kind == model::ParentKind::kTask ? get(parent.name) : nullptr;
            if (own == nullptr || !own->once() || own->place == RefPlace::kEnded) continue;
            if (own->run_tier >= tier) continue;
            own->run_tier = tier;
            own->spec.tier = tier;
            raise_parents(*own);
        }
    }
}

bool ReferenceScheduler::needs(const RefTask& child, const std::string& key) const {
    for (std::size_t g = 0; g < child.spec.needs.size(); ++g) {
        if (child.done_groups.contains(g)) continue;
        for (const auto& parent : child.spec.needs[g].any_of) {
            if (parent.kind == model::ParentKind::kTask && parent.name == key) return true;
        }
    }
    return false;
}

void ReferenceScheduler::remove(std::int64_t now, const std::string& key) {
    RefTask* task = get(key);
    const bool is_needed =
        std::ranges::any_of(tasks_, [&](const RefTask& child) { return needs(child, key); });
    const bool refused = task == nullptr || (is_needed && task->job != JobState::kCompleted);
    if (refused) {
        ++counts_.rejected;
        return;
    }
    if (task->place == RefPlace::kRunning) ++counts_.cancelled;
    for (RefTask& other : tasks_) {
        for (std::size_t g = 0; g < other.spec.needs.size(); ++g) {
            const auto& parents = other.spec.needs[g].any_of;
            const bool named = std::ranges::any_of(parents, [&](const model::Parent& parent) {
                return parent.kind == model::ParentKind::kTask && parent.name == key;
            });
            if (named) other.done_groups.insert(g);
        }
    }
    std::erase_if(tasks_, [&](const RefTask& one) { return one.spec.key == key; });
    look_at_needs(now);
}

void ReferenceScheduler::end_run(RefTask& task) {
    task.place = RefPlace::kDisabled;
    task.lease_ends = kForever;
    task.held.clear();
    task.held_device.clear();
    task.held_region.clear();
    task.run_tier = task.spec.tier;
}

void ReferenceScheduler::finish(std::int64_t now, const std::string& key, model::RunId run,
                                Outcome outcome) {
    RefTask* task = get(key);
    if (task == nullptr || task->place != RefPlace::kRunning || task->run != run) {
        ++counts_.stale;
        return;
    }
    ++counts_.finished;
    end_run(*task);
    after_run(now, *task, outcome);
}

void ReferenceScheduler::expire(std::int64_t now, const std::string& key, model::RunId run) {
    RefTask* task = get(key);
    if (task == nullptr || task->place != RefPlace::kRunning || task->run != run) {
        ++counts_.stale;
        return;
    }
    ++counts_.expired;
    end_run(*task);
    after_run(now, *task, Outcome::kInterrupted);
}

void ReferenceScheduler::after_run(std::int64_t now, RefTask& task, Outcome outcome) {
    if (task.once()) {
        after_job(now, task, outcome);
        return;
    }
    if (outcome != Outcome::kInterrupted) task.last_answer = now;
    if (model::is_success(outcome)) {
        task.failures = task.permanent = task.interruptions = 0;
        task.health = RefHealth::kGood;
        const std::int64_t interval = task.spec.cadence.base.count();
        std::int64_t due = task.planned + interval;
        while (due <= now) due += interval;  // missed slots are skipped, the grid stays
        schedule(task, due);
    } else {
        after_failure(now, task, outcome);
        if (task.failures >= 3) task.health = RefHealth::kBad;
    }
    look_at_needs(now);
    if (!task.enabled) {
        task.place = RefPlace::kDisabled;
    } else if (task.poke_pending) {
        task.poke_pending = false;
        due_now(now, task, true);
    }
}

void ReferenceScheduler::after_failure(std::int64_t now, RefTask& task, Outcome outcome) {
    if (outcome == Outcome::kInterrupted) {
        ++task.interruptions;
        const double longest = task.once() ? kJobRetryCapS : std::max(1.0, interval_s(task));
        const double delay = doubled(1, task.interruptions - 1, longest);
        if (task.interruptions >= 5) {
            draw(task, 0.8 * 300, 1.2 * 300, now);
        } else {
            draw(task, 0.5 * delay, 1.5 * delay, now);
        }
        return;
    }
    ++task.failures;
    task.interruptions = 0;
    task.permanent = outcome == Outcome::kPermanent ? task.permanent + 1 : 0;
    if (task.permanent == 1) {
        draw(task, 0.95 * 30, 1.05 * 30, now);
    } else if (task.permanent > 1) {
        constexpr std::array<double, 4> kProbes = {300, 600, 1200, 1800};
        const double delay = kProbes[std::min<std::size_t>(task.permanent - 2, 3)];
        draw(task, 0.95 * delay, 1.05 * delay, now);
    } else {
        const double base = task.once() ? kJobRetryCapS : interval_s(task);
        const bool fast = !task.once() && base <= 15;
        const double bound = base > 30 && !task.once() ? 2 * base : 60;
        const double cap = fast ? 4 : std::clamp(base, 20.0, std::max(60.0, bound));
        const double first = fast ? 0.75 : 5;
        // While many members of a class are down, the cap rises toward 5 minutes.
        const double stretched = task.once() ? cap : std::max(cap, 300.0);
        draw(task, 0.8 * doubled(first, task.failures - 1, cap),
             1.2 * doubled(first, task.failures - 1, stretched), now);
    }
}

void ReferenceScheduler::after_job(std::int64_t now, RefTask& task, Outcome outcome) {
    if (model::is_success(outcome)) {
        end_job(now, task, JobState::kCompleted);
        return;
    }
    const bool permanent = outcome == Outcome::kPermanent;
    after_failure(now, task, permanent ? Outcome::kTransient : outcome);
    const bool given_up = permanent || task.interruptions >= 5 ||
                          static_cast<std::int64_t>(task.failures) >= task.spec.max_attempts;
    if (given_up || !task.enabled) {
        end_job(now, task, given_up ? JobState::kFailed : JobState::kCancelled);
    }
}

void ReferenceScheduler::end_job(std::int64_t now, RefTask& task, JobState state) {
    task.place = RefPlace::kEnded;
    task.drawn = false;
    task.job = state;
    task.health = state == JobState::kCompleted ? RefHealth::kGood : RefHealth::kBad;
    look_at_needs(now);
}

void ReferenceScheduler::due_now(std::int64_t now, RefTask& task, bool spaced) {
    if (task.place != RefPlace::kScheduled) return;
    std::int64_t due = now;
    if (spaced && task.last_answer != kNoTime) {
        const bool breaker_open = task.failures >= 3;
        due = std::max(now, task.last_answer + (breaker_open ? 5 : 1) * kSecond);
    }
    if (task.drawn && due <= now) {
        task.drawn = false;  // whatever was drawn is later
        task.next_due = now;
    }
    if (task.drawn) {  // a failure: whichever comes first
        task.earliest = std::min(task.earliest, due);
        task.latest = std::min(task.latest, due);
        return;
    }
    if (due < task.next_due) task.next_due = due;
    if (task.next_due <= now) come_due(now, task);
}

void ReferenceScheduler::poke(std::int64_t now, const std::string& key) {
    RefTask* task = get(key);
    if (task == nullptr || task->once() || !task->enabled) return;
    if (task->place == RefPlace::kRunning) {
        task->poke_pending = true;
    } else {
        due_now(now, *task, true);
    }
}

void ReferenceScheduler::trigger(std::int64_t now, const std::string& key) {
    RefTask* task = get(key);
    if (task == nullptr || task->place != RefPlace::kScheduled) {
        ++counts_.rejected;
        return;
    }
    task->run_tier = Tier::kCritical;
    task->next_due = now;
    come_due(now, *task);
}

void ReferenceScheduler::enable(std::int64_t now, const std::string& key, bool on) {
    RefTask* task = get(key);
    if (task == nullptr || task->place == RefPlace::kEnded || task->enabled == on) {
        ++counts_.rejected;
        return;
    }
    task->enabled = on;
    if (task->place == RefPlace::kRunning) return;  // a run in flight may finish
    if (!on) {
        task->place = RefPlace::kDisabled;
        return;
    }
    task->next_due = std::max(task->next_due, now);
    if (!task->once() && task->next_due > now) {
        schedule(*task, task->next_due);
    } else {
        come_due(now, *task);
    }
}

void ReferenceScheduler::cancel(std::int64_t now, const std::string& key) {
    RefTask* task = get(key);
    if (task == nullptr || task->job != JobState::kPending) {
        ++counts_.rejected;
        return;
    }
    if (task->place == RefPlace::kRunning) {
        ++counts_.cancelled;
        end_run(*task);
    }
    end_job(now, *task, JobState::kCancelled);
}

void ReferenceScheduler::parent(std::int64_t now, const std::string& device, bool healthy) {
    devices_[device] = healthy ? RefHealth::kGood : RefHealth::kBad;
    look_at_needs(now);
}

void ReferenceScheduler::credit(const std::string& region, std::int64_t credit) {
    credits_[region] = std::max<std::int64_t>(credit, 0);
}

RefHealth ReferenceScheduler::health_of(const model::Parent& parent) const {
    if (parent.kind == model::ParentKind::kDevice) {
        const auto found = devices_.find(parent.name);
        return found == devices_.end() ? RefHealth::kUnknown : found->second;
    }
    const RefTask* task = find(parent.name);
    return task == nullptr ? RefHealth::kUnknown : task->health;
}

bool ReferenceScheduler::needs_met(const RefTask& task) const {
    for (std::size_t g = 0; g < task.spec.needs.size(); ++g) {
        const model::NeedGroup& group = task.spec.needs[g];
        if (group.when_unmet != WhenUnmet::kHold || task.done_groups.contains(g)) continue;
        const bool met = std::ranges::any_of(group.any_of, [&](const model::Parent& parent) {
            return health_of(parent) == RefHealth::kGood;
        });
        if (!met) return false;
    }
    return true;
}

bool ReferenceScheduler::is_slowed(const RefTask& task) const {
    for (std::size_t g = 0; g < task.spec.needs.size(); ++g) {
        const model::NeedGroup& group = task.spec.needs[g];
        if (group.when_unmet != WhenUnmet::kSlow || task.done_groups.contains(g)) continue;
        const bool all_down = std::ranges::all_of(group.any_of, [&](const model::Parent& parent) {
            return health_of(parent) == RefHealth::kBad;
        });
        if (all_down) return true;
    }
    return false;
}

bool ReferenceScheduler::is_hopeless(const RefTask& task) const {
    for (std::size_t g = 0; g < task.spec.needs.size(); ++g) {
        const model::NeedGroup& group = task.spec.needs[g];
        if (group.when_unmet != WhenUnmet::kHold || task.done_groups.contains(g)) continue;
        const bool all_bad = std::ranges::all_of(group.any_of, [&](const model::Parent& parent) {
            return health_of(parent) == RefHealth::kBad;
        });
        if (all_bad) return true;
    }
    return false;
}

// Something a task may need has changed: look at all of them, until nothing moves any more.
void ReferenceScheduler::look_at_needs(std::int64_t now) {
    for (bool moved = true; moved;) {
        moved = false;
        for (RefTask& task : tasks_) {
            const bool met = needs_met(task);
            if (task.place == RefPlace::kReady && !met) task.place = RefPlace::kHeld;
            const double spread = std::min(interval_s(task), kSpreadS);
            const bool was_slowed = std::exchange(task.slowed, is_slowed(task));
            if (task.place == RefPlace::kScheduled && was_slowed && !task.slowed) {
                const bool drawn_before = task.drawn;
                if (drawn_before) continue;
                draw(task, 0, spread, now);
                task.may_stay = true;
            }
            if (task.place != RefPlace::kHeld) continue;
            if (met && task.once()) {
                task.next_due = std::max(task.next_due, now);
                come_due(now, task);
            } else if (met) {
                draw(task, 0, spread, now);
            } else if (task.once() && is_hopeless(task) &&
                       task.spec.on_parent_failure == model::ParentFailure::kFail) {
                task.place = RefPlace::kEnded;
                task.job = JobState::kFailed;
                task.health = RefHealth::kBad;
                moved = true;
            }
        }
    }
}

}  // namespace pollux::tests
