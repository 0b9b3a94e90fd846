#include "tests/property/scheduler_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <ostream>
#include <utility>

namespace pollux::tests {
namespace {

using model::Outcome;
using schedule::OperatorVerb;
using schedule::Place;
using namespace std::chrono_literals;

constexpr base::Instant kStart{base::BootTime{1'000'000'000'000},
                               base::WallTime{1'700'000'000'000'000}};
constexpr int kMostStepsAtOnce = 100;
constexpr std::array<std::string_view, 2> kParents = {"p0", "p1"};

RefPlace simplified(Place place) {
    if (schedule::is_due_and_waiting(place)) return RefPlace::kReady;
    switch (place) {
        case Place::kScheduled: return RefPlace::kScheduled;
        case Place::kWaitsForNeeds: return RefPlace::kHeld;
        case Place::kRunning: return RefPlace::kRunning;
        case Place::kEnded: return RefPlace::kEnded;
        default: return RefPlace::kDisabled;
    }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ModelCommand& c) {
    return out << fmt::format("{{{},{},{},{},{}}}", c.what, c.who, c.how, c.more, c.wait_ms);
}

SchedulerModel::SchedulerModel(const ModelOptions& options)
    : options_(options),
      now_(kStart),
      core_(now_, 1, options.settings),
      reference_(now_.boot.ns, options.settings) {
    // Somebody needs both parents from the start, so that their state is never unheard.
    model::TaskSpec anchor;
    anchor.key = key_of(0) + "-anchor";
    anchor.cadence = model::Cadence::fixed(1h);
    anchor.enabled = false;
    for (const std::string_view name : kParents) {
        anchor.needs.push_back({{{model::ParentKind::kDevice, std::string(name)}}});
    }
    events_.push_back(schedule::TasksUpserted{
        std::make_shared<const std::vector<model::TaskSpec>>(std::vector{anchor})});
    reference_.upsert(now_.boot.ns, {anchor});
    step();
}

std::string SchedulerModel::key_of(std::size_t index) const {
    const auto& classes = options_.settings.classes;
    return fmt::format("{}::{}", classes[index % classes.size()].name, index);
}

void SchedulerModel::complain(const std::string& text) {
    if (!trouble_.empty()) return;
    trouble_ = fmt::format("at {:.3f} s: {}", base::to_seconds(now_.boot - kStart.boot), text);
}

void SchedulerModel::apply(const ModelCommand& command) {
    if (!agrees()) return;
    const auto wait = std::chrono::milliseconds(command.wait_ms % 4 == 0 ? command.wait_ms / 4 : 0);
    now_.boot += wait;
    now_.wall += wait;
    act(command);
    settle();
}

void SchedulerModel::act(const ModelCommand& command) {
    const std::string key = key_of(command.who % options_.names);
    const std::int64_t now = now_.boot.ns;
    switch (command.what % 24) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4: upsert(command); break;
        case 5: upsert_many(command); break;
        case 6:
            events_.push_back(schedule::TaskRemoved{key});
            reference_.remove(now, key);
            break;
        case 7:
        case 8:
        case 9:
        case 10:
        case 11: finish_some(command); break;
        case 12: expire_some(command); break;
        case 13: report_stale(command); break;
        case 14: {
            const model::TaskHandle task = core_.find(key);
            if (!core_.is_live(task)) break;
            events_.push_back(schedule::Poked{task});
            reference_.poke(now, key);
            break;
        }
        case 15:
        case 16: operate(command); break;
        case 17: {
            const std::string parent(kParents[command.who % kParents.size()]);
            events_.push_back(schedule::ParentChanged{parent, command.how % 2 == 0});
            reference_.parent(now, parent, command.how % 2 == 0);
            break;
        }
        case 18: {
            const std::int64_t credit = command.how % 4;
            events_.push_back(schedule::CreditChanged{"r", credit});
            reference_.credit("r", credit);
            break;
        }
        default: wait(command); break;
    }
}

model::TaskSpec SchedulerModel::spec_for(std::size_t index, const ModelCommand& command) const {
    constexpr std::array<base::Duration, 4> kIntervals = {5s, 20s, 60s, 120s};
    model::TaskSpec spec;
    spec.key = key_of(index);
    spec.timeout = 20s;
    spec.cadence = model::Cadence::fixed(kIntervals[command.how % kIntervals.size()]);
    spec.tier = static_cast<model::Tier>(command.more % options_.tiers);
    spec.enabled = command.more < 230;
    if (is_job(index)) {
        spec.cadence = model::Cadence::once();
        spec.max_attempts = 1 + command.how % 3;
        spec.on_parent_failure =
            command.how % 8 < 4 ? model::ParentFailure::kFail : model::ParentFailure::kHold;
    }
    const std::uint32_t extras = command.how / 4;
    if (options_.devices && extras % 4 != 0) spec.device = fmt::format("d{}", extras % 4);
    if (options_.regions && extras % 3 == 0) spec.region = "r";
    if (options_.resources && extras % 2 == 0) spec.demand = {{"lane", 1 + extras % 5 / 2}};
    if (options_.needs && command.more % 3 == 0) add_needs(spec, index, command);
    return spec;
}

// Only tasks with a lower number are needed: no cycles.
void SchedulerModel::add_needs(model::TaskSpec& spec, std::size_t index,
                               const ModelCommand& command) const {
    const std::size_t groups = 1 + command.who % 2;
    for (std::size_t g = 0; g < groups; ++g) {
        model::NeedGroup group;
        const std::uint32_t seed =
            command.how * 31U + command.more * 7U + static_cast<std::uint32_t>(g);
        if (seed % 5 == 0) group.when_unmet = model::WhenUnmet::kSlow;
        for (std::uint32_t p = 0; p < 1 + seed % 2; ++p) {
            const std::uint32_t choice = seed + p * 13;
            const RefTask* task = index == 0 ? nullptr : reference_.find(key_of(choice % index));
            // A parent that failed once or twice is still good for those who knew it before, and
            // unknown to whoever meets it now; see ANewChildDoubtsAParentThatFailedOnce.
            const bool in_doubt = task != nullptr && task->failures > 0 && task->failures < 3;
            if (task != nullptr && !in_doubt && choice % 4 != 0) {
                group.any_of.push_back({model::ParentKind::kTask, task->spec.key});
            } else {
                group.any_of.push_back(
                    {model::ParentKind::kDevice, std::string(kParents[choice % kParents.size()])});
            }
            // Parents that come back must not fail a job for good, see the header of core_jobs.
            const bool final = task != nullptr && task->once() &&
                               group.any_of.back().kind == model::ParentKind::kTask;
            if (!final) spec.on_parent_failure = model::ParentFailure::kHold;
        }
        spec.needs.push_back(std::move(group));
    }
}

void SchedulerModel::upsert(const ModelCommand& command) {
    const std::size_t index = command.who % options_.names;
    model::TaskSpec spec = spec_for(index, command);
    events_.push_back(schedule::TasksUpserted{
        std::make_shared<const std::vector<model::TaskSpec>>(std::vector{spec})});
    reference_.upsert(now_.boot.ns, {spec});
}

void SchedulerModel::upsert_many(const ModelCommand& command) {
    std::vector<model::TaskSpec> specs;
    for (std::size_t i = 0; i < options_.names; ++i) {
        if (reference_.find(key_of(i)) != nullptr) continue;
        ModelCommand own = command;
        own.how = static_cast<std::uint8_t>(command.how + 5 * i);
        own.more = static_cast<std::uint8_t>(command.more + i);
        specs.push_back(spec_for(i, own));
    }
    if (specs.empty()) return;
    reference_.upsert(now_.boot.ns, specs);
    events_.push_back(schedule::TasksUpserted{
        std::make_shared<const std::vector<model::TaskSpec>>(std::move(specs))});
}

void SchedulerModel::finish(const Run& run, Outcome outcome) {
    schedule::RunFinished result;
    result.task = run.task;
    result.run = run.run;
    result.outcome = outcome;
    events_.push_back(result);
    reference_.finish(now_.boot.ns, run.key, run.run, outcome);
}

void SchedulerModel::finish_some(const ModelCommand& command) {
    constexpr std::array<Outcome, 8> kOutcomes = {
        Outcome::kOk,        Outcome::kOk,        Outcome::kDegraded,  Outcome::kOk,
        Outcome::kTransient, Outcome::kTransient, Outcome::kPermanent, Outcome::kInterrupted};
    if (open_.empty()) return;
    const bool all = command.more % 4 == 0;
    std::vector<Run> chosen;
    for (const auto& [key, run] : open_) chosen.push_back(run);
    if (!all) chosen = {chosen[command.who % chosen.size()]};
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        finish(chosen[i], kOutcomes[(command.how + i) % kOutcomes.size()]);
        old_.push_back(chosen[i]);
        open_.erase(chosen[i].key);
    }
}

void SchedulerModel::expire_some(const ModelCommand& command) {
    if (open_.empty()) return;
    const Run run = std::next(open_.begin(), command.who % static_cast<int>(open_.size()))->second;
    events_.push_back(schedule::RunExpired{run.task, run.run});
    reference_.expire(now_.boot.ns, run.key, run.run);
    old_.push_back(run);
    open_.erase(run.key);
}

void SchedulerModel::report_stale(const ModelCommand& command) {
    if (old_.empty()) return;
    Run run = old_[command.who % old_.size()];
    if (command.how % 2 == 0) run.run.epoch = 0;  // of a process that is gone
    finish(run, static_cast<Outcome>(command.more % 5));
}

void SchedulerModel::operate(const ModelCommand& command) {
    const std::string key = key_of(command.who % options_.names);
    const std::int64_t now = now_.boot.ns;
    switch (command.how % 8) {
        case 0:
            if (!options_.triggers) return;
            events_.push_back(schedule::OperatorAction{OperatorVerb::kTriggerNow, key});
            reference_.trigger(now, key);
            break;
        case 1:
            events_.push_back(schedule::OperatorAction{OperatorVerb::kCancelJob, key});
            reference_.cancel(now, key);
            break;
        case 2:
        case 3:
        case 4:
            events_.push_back(schedule::OperatorAction{OperatorVerb::kDisable, key});
            reference_.enable(now, key, false);
            break;
        default:
            events_.push_back(schedule::OperatorAction{OperatorVerb::kEnable, key});
            reference_.enable(now, key, true);
            break;
    }
}

void SchedulerModel::wait(const ModelCommand& command) {
    base::BootTime until = now_.boot + std::chrono::milliseconds(command.wait_ms);
    if (command.how % 4 == 0) until = std::max(now_.boot, commands_.wake_at);
    if (command.how % 4 == 1) until = now_.boot + std::chrono::seconds(command.wait_ms % 300);
    const std::int64_t next = reference_.next_time(now_.boot.ns);
    if (command.how % 4 == 2 && next != kForever)
        until = base::BootTime{std::max(now_.boot.ns, next)};
    until.ns = (until.ns + 999'999) / 1'000'000 * 1'000'000;
    now_.wall += until - now_.boot;
    now_.boot = until;
}

void SchedulerModel::adopt_drawn_times() {
    for (const std::string& key : reference_.undrawn()) {
        const model::TaskHandle task = core_.find(key);
        if (core_.is_live(task)) reference_.adopt(key, core_.slot(task).next_due.ns);
    }
}

void SchedulerModel::step() {
    reference_.excuse(parked_tasks());
    commands_.clear();
    core_.step(now_, events_, commands_);
    events_.clear();
    const std::int64_t now = now_.boot.ns;
    adopt_drawn_times();
    reference_.pass(now);
    adopt_drawn_times();  // of leases that ended
    reference_.pass(now);
    for (const auto& cancel : commands_.cancels) {
        std::erase_if(open_, [&](const auto& run) { return run.second.run == cancel.run; });
    }
    for (const auto& start : commands_.starts) {
        const std::string key = core_.key(start.task);
        reference_.start(now, key, start.run, start.due.ns);
        if (open_.contains(key)) complain(key + " has two runs");
        open_[key] = {key, start.task, start.run};
    }
}

// Steps until the core has nothing more to do at this moment.
void SchedulerModel::settle() {
    int steps = 0;
    do {
        step();
        compare();
        if (++steps > kMostStepsAtOnce) complain("the core asks to be stepped again and again");
    } while (agrees() && commands_.wake_at <= now_.boot);
    if (!agrees()) return;
    for (const RefTask& task : reference_.tasks()) check_explanation(task);
    const auto left = reference_.startable(now_.boot.ns);
    if (!left.empty()) {
        complain(left.front() + " could start, but the core goes to sleep: " +
                 core_.explain(left.front())->verdict);
    }
    const std::int64_t next = reference_.next_time(now_.boot.ns);
    if (commands_.wake_at.ns > next) {
        complain(fmt::format("the core sleeps until {}, something is due at {}",
                             commands_.wake_at.ns, next));
    }
}

// Tasks in a line, or called from one: they come in the order of their line.
std::set<std::string> SchedulerModel::parked_tasks() const {
    std::set<std::string> keys;
    for (std::uint32_t i = 0; i < core_.capacity(); ++i) {
        const model::TaskHandle task = core_.handle_at(i);
        const Place place = core_.slot(task).place;
        const bool woken = place == Place::kReady && core_.slot(task).line != schedule::kNoLine;
        const bool parked = schedule::is_due_and_waiting(place) && place != Place::kReady;
        if (woken || parked) keys.insert(core_.key(task));
    }
    return keys;
}

void SchedulerModel::compare() {
    for (const std::string& text : reference_.disagreements()) complain(text);
    if (core_.size() != reference_.tasks().size()) complain("a task is missing or left over");
    for (const RefTask& task : reference_.tasks()) compare_task(task);
    if (!agrees()) return;
    compare_counts();
    compare_plan();
    compare_snapshot();
    if (core_.audit(0, core_.capacity()) != 0) {
        complain("the sweep had to repair something");
    }
}

void SchedulerModel::compare_task(const RefTask& task) {
    const std::string& key = task.spec.key;
    const model::TaskHandle handle = core_.find(key);
    if (!core_.is_live(handle)) return complain(key + " is unknown to the core");
    const schedule::TaskSlot& slot = core_.slot(handle);
    if (simplified(slot.place) != task.place) {
        return complain(fmt::format("{} is {}, expected {}", key, to_string(slot.place),
                                    static_cast<int>(task.place)));
    }
    if (slot.job != task.job) complain(key + ": the job has another state");
    const bool timed = task.place == RefPlace::kScheduled || task.place == RefPlace::kReady ||
                       task.place == RefPlace::kRunning;
    if (timed && slot.next_due.ns != task.next_due) {
        complain(fmt::format("{} is due at {}, expected {}", key, slot.next_due.ns, task.next_due));
    }
}

// Whoever does not start must be told why.
void SchedulerModel::check_explanation(const RefTask& task) {
    const std::string& key = task.spec.key;
    const auto story = core_.explain(key);
    const Place place = story->place;
    const bool all_open = std::ranges::all_of(story->gates, &schedule::Gate::open);
    if (all_open && place != Place::kReady && place != Place::kEnded) {
        complain(fmt::format("{}: all gates are open, but it is {}", key, to_string(place)));
    }
    if (story->ready != (place == Place::kReady)) complain(key + ": ready or not?");
    if (story->verdict.empty()) complain(key + ": no verdict");
}

void SchedulerModel::compare_counts() {
    const schedule::CoreStats& got = core_.stats();
    const RefCounts& wanted = reference_.counts();
    const auto same = [&](std::string_view name, std::uint64_t a, std::uint64_t b) {
        if (a != b) complain(fmt::format("{} is {}, expected {}", name, a, b));
    };
    same("started", got.started, wanted.started);
    same("finished", got.finished, wanted.finished);
    same("expired", got.expired, wanted.expired);
    same("cancelled", got.cancelled, wanted.cancelled);
    same("stale results", got.stale_results, wanted.stale);
    same("rejected", got.rejected_events, wanted.rejected);
    same("in flight", core_.in_flight(), reference_.running());
    same("sum", got.started, got.finished + got.expired + got.cancelled + core_.in_flight());
}

void SchedulerModel::compare_plan() {
    const auto plan = core_.plan(now_.boot, 1000);
    if (!std::ranges::is_sorted(plan, {}, &schedule::PlanEntry::due))
        complain("the plan is not sorted");
    std::vector<std::pair<std::int64_t, std::string>> wanted;
    for (const RefTask& task : reference_.tasks()) {
        if (task.place == RefPlace::kReady || task.place == RefPlace::kScheduled) {
            wanted.emplace_back(task.next_due, task.spec.key);
        }
    }
    std::vector<std::pair<std::int64_t, std::string>> got;
    for (const auto& entry : plan) got.emplace_back(entry.due.ns, core_.key(entry.task));
    std::ranges::sort(got);
    std::ranges::sort(wanted);
    if (got != wanted) {
        complain(fmt::format("the plan has {} entries, expected {}", got.size(), wanted.size()));
    }
}

void SchedulerModel::compare_snapshot() {
    const schedule::QueueSnapshot snapshot = core_.queue_snapshot(now_.boot);
    std::size_t depth = 0;
    std::size_t soon = 0;
    std::size_t ready = 0;
    for (const RefTask& task : reference_.tasks()) {
        const bool queued = task.place == RefPlace::kScheduled || task.place == RefPlace::kReady ||
                            task.place == RefPlace::kHeld;
        depth += queued ? 1 : 0;
        soon += queued && task.next_due - now_.boot.ns <= 12'000'000'000 ? 1 : 0;
        ready += task.place == RefPlace::kReady ? 1 : 0;
    }
    std::size_t tasks = 0;
    std::size_t shown_ready = 0;
    for (const auto& one : snapshot.per_class) {
        tasks += one.tasks;
        shown_ready += one.ready;
    }
    if (snapshot.depth != depth || tasks != depth) complain("the depth of the queue is wrong");
    if (snapshot.due_soon != soon) complain("the number of tasks due soon is wrong");
    if (shown_ready != core_.ready() || shown_ready > ready) complain("the ready count is wrong");
}

}  // namespace pollux::tests
