// The choice: which of the ready tasks may start now, and in which order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/property/reference_scheduler.hpp"

namespace pollux::tests {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
// Two classes that both have work differ by at most this many rounds of the round robin.
constexpr double kRounds = 2;

std::int64_t whole_ms(std::int64_t ns) {
    return (ns + kMillisecond - 1) / kMillisecond * kMillisecond;
}

std::string class_name(const RefTask& task) {
    return task.spec.key.substr(0, task.spec.key.find("::"));
}

}  // namespace

model::Tier ReferenceScheduler::effective_tier(const RefTask& task, std::int64_t now) const {
    const std::int64_t steps = (now - task.ready_since) / settings_.aging_step.count();
    const auto top = static_cast<std::int64_t>(model::Tier::kCritical);
    return static_cast<model::Tier>(
        std::min(top, static_cast<std::int64_t>(task.run_tier) + steps));
}

// Ready time, moved ahead by one aging step for each tier: the order among those who wait for one
// device.
std::int64_t ReferenceScheduler::rank(const RefTask& task) const {
    return task.ready_since -
           settings_.aging_step.count() * static_cast<std::int64_t>(task.run_tier);
}

const model::ClassSettings& ReferenceScheduler::class_of(const RefTask& task) const {
    return *std::ranges::find(settings_.classes, class_name(task), &model::ClassSettings::name);
}

bool ReferenceScheduler::has_room(const RefTask& task) const {
    std::size_t all = 0;
    std::size_t of_class = 0;
    std::size_t on_device = 0;
    std::size_t of_class_on_device = 0;
    std::int64_t in_region = 0;
    std::map<std::string, std::int64_t> used;
    for (const RefTask& other : tasks_) {
        if (other.place != RefPlace::kRunning) continue;
        const bool same_class = class_name(other) == class_name(task);
        const bool same_device = !task.spec.device.empty() && other.held_device == task.spec.device;
        ++all;
        of_class += same_class ? 1 : 0;
        on_device += same_device ? 1 : 0;
        of_class_on_device += same_class && same_device ? 1 : 0;
        in_region += other.held_region == task.spec.region ? 1 : 0;
        for (const auto& part : other.held) used[part.resource] += part.amount;
    }
    const model::ClassSettings& own = class_of(task);
    if (all >= settings_.global_slots) return false;
    if (own.slots > 0 && of_class >= own.slots) return false;
    if (on_device >= settings_.device_slots) return false;
    if (of_class_on_device >= settings_.device_class_slots) return false;
    if (!task.spec.region.empty()) {
        const auto credit = credits_.find(task.spec.region);
        if (credit == credits_.end() || in_region >= credit->second) return false;
    }
    return std::ranges::all_of(task.spec.demand, [&](const model::ResourceDemand& part) {
        const auto pool =
            std::ranges::find(settings_.resources, part.resource, &model::ResourceSettings::name);
        return used[part.resource] + part.amount <= pool->capacity;
    });
}

std::int64_t ReferenceScheduler::rates_open_at(const RefTask& task, std::int64_t now) const {
    std::int64_t at = global_rate_.opens_at(now);
    if (const auto own = class_rates_.find(class_name(task)); own != class_rates_.end()) {
        at = std::max(at, own->second.opens_at(now));
    }
    if (const auto own = device_rates_.find(task.spec.device); own != device_rates_.end()) {
        at = std::max(at, own->second.opens_at(now));
    }
    return at;
}

bool ReferenceScheduler::can_start(const RefTask& task, std::int64_t now) const {
    return task.place == RefPlace::kReady && has_room(task) && rates_open_at(task, now) <= now;
}

// Tasks of one device take turns by rank; only the first of them competes with the rest.
bool ReferenceScheduler::stands_behind(const RefTask& task, std::int64_t now) const {
    if (task.spec.device.empty()) return false;
    return std::ranges::any_of(tasks_, [&](const RefTask& other) {
        return &other != &task && other.spec.device == task.spec.device && can_start(other, now) &&
               rank(other) <= rank(task);
    });
}

std::string ReferenceScheduler::describe(const RefTask& task, std::int64_t now) const {
    return fmt::format("{} (tier {}, ready for {:.3f} s{}{})", task.spec.key,
                       model::to_string(effective_tier(task, now)),
                       static_cast<double>(now - task.ready_since) * 1e-9,
                       has_room(task) ? "" : ", no room",
                       rates_open_at(task, now) <= now ? "" : ", too soon");
}

std::vector<std::string> ReferenceScheduler::startable(std::int64_t now) const {
    std::vector<const RefTask*> top;
    model::Tier best = model::Tier::kLow;
    for (const RefTask& task : tasks_) {
        if (!can_start(task, now) || excused_.contains(task.spec.key)) continue;
        const model::Tier tier = effective_tier(task, now);
        if (tier > best) top.clear();
        best = std::max(best, tier);
        if (tier == best) top.push_back(&task);
    }
    std::vector<std::string> keys;
    for (const RefTask* task : top) {
        const bool overtakes = std::ranges::any_of(top, [&](const RefTask* other) {
            const bool same_device =
                !task->spec.device.empty() && task->spec.device == other->spec.device;
            return class_name(*other) == class_name(*task) &&
                   other->ready_since < task->ready_since && !same_device &&
                   !stands_behind(*other, now);
        });
        if (!overtakes) keys.push_back(task->spec.key);
    }
    for (const RefTask& task : tasks_) {
        if (excused_.contains(task.spec.key) && can_start(task, now)) keys.push_back(task.spec.key);
    }
    return keys;
}

void ReferenceScheduler::start(std::int64_t now, const std::string& key, model::RunId run,
                               std::int64_t due) {
    RefTask* task = get(key);
    if (task == nullptr) {
        disagree(key + " was started, but does not exist");
        return;
    }
    if (task->place != RefPlace::kReady) {
        disagree(fmt::format("{} was started, but is not ready ({})", key,
                             static_cast<int>(task->place)));
        return;
    }
    const auto allowed = startable(now);
    if (std::ranges::find(allowed, key) == allowed.end()) {
        disagree(fmt::format("{} was started, but it was the turn of {}", describe(*task, now),
                             allowed.empty() ? "nobody" : describe(*get(allowed.front()), now)));
    }
    if (due != task->next_due) {
        disagree(fmt::format("{} was started for {}, due was {}", key, due, task->next_due));
    }
    count_turn(now, *task);
    ++counts_.started;
    task->place = RefPlace::kRunning;
    task->run = run;
    task->planned = task->next_due;
    task->lease_ends = now + task->spec.timeout.count() + 2'000'000'000;
    task->held_device = task->spec.device;
    task->held_region = task->spec.region;
    task->held = task->spec.demand;
    global_rate_.take(now);
    if (const auto own = class_rates_.find(class_name(*task)); own != class_rates_.end()) {
        own->second.take(now);
    }
    if (task->spec.device.empty()) return;
    const double rate = settings_.device_rate;
    device_rates_.try_emplace(task->spec.device, RefBucket(rate, std::max(1.0, 0.5 * rate)))
        .first->second.take(now);
}

// Of two classes with work of the same urgency, each gets its share.
void ReferenceScheduler::count_turn(std::int64_t now, const RefTask& chosen) {
    const model::Tier tier = effective_tier(chosen, now);
    if (turn_tier_ != tier) turns_.clear();
    turn_tier_ = tier;
    std::set<std::string> present;
    for (const RefTask& task : tasks_) {
        const bool competes = can_start(task, now) && effective_tier(task, now) == tier &&
                              !stands_behind(task, now) && !excused_.contains(task.spec.key);
        if (competes) present.insert(class_name(task));
    }
    present.insert(class_name(chosen));
    std::erase_if(turns_, [&](const auto& entry) {
        return !present.contains(entry.first.first) || !present.contains(entry.first.second);
    });
    for (auto a = present.begin(); a != present.end(); ++a) {
        for (auto b = std::next(a); b != present.end(); ++b) {
            Turn& turn = turns_[{*a, *b}];
            if (*a == class_name(chosen)) ++turn.first;
            if (*b == class_name(chosen)) ++turn.second;
            const auto weight = [&](const std::string& name) {
                return static_cast<double>(
                    std::ranges::find(settings_.classes, name, &model::ClassSettings::name)
                        ->weight);
            };
            const double lead = static_cast<double>(turn.first) / weight(*a) -
                                static_cast<double>(turn.second) / weight(*b);
            if (std::abs(lead) <= kRounds) continue;
            disagree(fmt::format("classes {} and {} both have work, but got {} and {} starts", *a,
                                 *b, turn.first, turn.second));
        }
    }
    // A class that has nothing left goes without the rest of its share.
    const bool has_more = std::ranges::any_of(tasks_, [&](const RefTask& task) {
        return &task != &chosen && task.place == RefPlace::kReady &&
               class_name(task) == class_name(chosen) && effective_tier(task, now) == tier;
    });
    if (has_more) return;
    std::erase_if(turns_, [&](const auto& entry) {
        return entry.first.first == class_name(chosen) || entry.first.second == class_name(chosen);
    });
}

std::int64_t ReferenceScheduler::next_time(std::int64_t now) const {
    std::int64_t next = kForever;
    for (const RefTask& task : tasks_) {
        if (task.place == RefPlace::kScheduled) next = std::min(next, whole_ms(task.next_due));
        if (task.place == RefPlace::kRunning) next = std::min(next, task.lease_ends);
        if (task.place == RefPlace::kReady && has_room(task)) {
            next = std::min(next, whole_ms(rates_open_at(task, now)));
        }
    }
    return next;
}

}  // namespace pollux::tests
