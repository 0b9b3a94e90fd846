// For the tests of the core: one core on a virtual clock, short builders for what goes into it, and
// workers that answer as told. Nothing here sleeps or reads a clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "model/validate.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::schedule {

inline model::ClassSettings class_named(std::string name, std::uint32_t weight = 1) {
    model::ClassSettings one;
    one.name = std::move(name);
    one.weight = weight;
    return one;
}

// Limits so wide that a test only meets those that it sets itself.
inline model::CoreSettings wide_settings(const std::vector<std::string>& classes = {"c"}) {
    model::CoreSettings settings;
    settings.global_rate = 1e6;
    settings.global_slots = 1'000'000;
    settings.device_rate = 1e6;
    settings.device_slots = 1000;
    settings.device_class_slots = 1000;
    settings.max_starts_per_step = 1'000'000;
    for (const auto& name : classes) settings.classes.push_back(class_named(name));
    return settings;
}

inline model::TaskSpec poll(std::string key, base::Duration every = std::chrono::seconds(60)) {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.cadence = model::Cadence::fixed(every);
    return spec;
}

inline model::TaskSpec poll_on(std::string key, std::string device,
                               base::Duration every = std::chrono::seconds(60)) {
    model::TaskSpec spec = poll(std::move(key), every);
    spec.device = std::move(device);
    return spec;
}

inline model::TaskSpec adaptive(std::string key, base::Duration min, base::Duration base,
                                base::Duration max) {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.cadence = model::Cadence::adaptive(min, base, max);
    return spec;
}

inline model::NeedGroup any_of(const std::vector<std::string>& tasks,
                               model::WhenUnmet when = model::WhenUnmet::kHold) {
    model::NeedGroup group;
    for (const auto& name : tasks) group.any_of.push_back({model::ParentKind::kTask, name});
    group.when_unmet = when;
    return group;
}

inline model::NeedGroup needs_device(std::string name,
                                     model::WhenUnmet when = model::WhenUnmet::kHold) {
    return {{{model::ParentKind::kDevice, std::move(name)}}, when};
}

// Needs every one of the parents.
inline model::TaskSpec job(std::string key, const std::vector<std::string>& parents = {}) {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.cadence = model::Cadence::once();
    for (const auto& parent : parents) spec.needs.push_back(any_of({parent}));
    return spec;
}

struct WorkerReply {
    model::Outcome outcome = model::Outcome::kOk;
    base::Duration after = std::chrono::milliseconds(10);
    std::optional<std::uint64_t> digest = std::nullopt;
    base::Duration retry_after{};
    float known_rate = 0;
    base::Duration job_delay{};
};

class CoreHarness {
  public:
    struct Start {
        std::string key;
        base::BootTime at;
        StartRun command;
    };
    struct SeenChange {
        std::string key;
        base::BootTime at;
        Change change;
    };
    // All that a refused edit must leave alone.
    struct Picture {
        std::vector<model::TaskRecord> records;
        std::vector<Place> places;
        std::size_t nodes = 0;
        model::CoreSettings settings;
        bool operator==(const Picture&) const = default;
    };
    using Worker = std::function<WorkerReply(const std::string& key)>;

    explicit CoreHarness(model::CoreSettings settings = wide_settings()) {
        POLLUX_CHECK(model::validate(settings));
        core_ = std::make_unique<SchedulerCore>(now_, epoch_, std::move(settings));
        step();
    }

    SchedulerCore& core() { return *core_; }
    const SchedulerCore& core() const { return *core_; }

    // --- time
    base::Instant instant() const { return now_; }
    base::BootTime now() const { return now_.boot; }
    double seconds() const { return seconds(now_.boot); }
    double seconds(base::BootTime time) const { return base::to_seconds(time - kStart.boot); }
    base::BootTime time(double second) const { return kStart.boot + base::from_seconds(second); }
    void pass(base::Duration duration) {
        now_.boot += duration;
        now_.wall += duration;
    }
    void set_wall(base::WallTime wall) { now_.wall = wall; }

    // --- events, applied in one step at the current time
    void step(const std::vector<Event>& events = {}) {
        out.clear();
        core_->step(now_, events, out);
        for (const StartRun& start : out.starts) note_start(start);
        for (const CancelRun& cancel : out.cancels) {
            std::erase_if(running, [&](const auto& one) { return one.second.run == cancel.run; });
        }
        for (const Change& change : out.changes) {
            const bool live = core_->is_live(change.task);
            changes.push_back({live ? core_->key(change.task) : "", now_.boot, change});
        }
        for (const Rejection& one : out.rejections) rejections.push_back(one);
    }
    void add(std::vector<model::TaskSpec> specs, std::uint64_t correlation = 0) {
        step({upsert(std::move(specs), correlation)});
    }
    static Event upsert(std::vector<model::TaskSpec> specs, std::uint64_t correlation = 0) {
        return TasksUpserted{std::make_shared<const std::vector<model::TaskSpec>>(std::move(specs)),
                             correlation};
    }
    void remove(const std::string& key) { step({TaskRemoved{key, 0}}); }
    void operate(OperatorVerb verb, const std::string& key = "") {
        step({OperatorAction{verb, key, 0}});
    }
    void poke(const std::string& key, PokeReason reason = PokeReason::kTrap) {
        step({Poked{handle(key), reason}});
    }
    void parent(const std::string& device, bool healthy) { step({ParentChanged{device, healthy}}); }
    void credit(const std::string& region, std::int64_t amount) {
        step({CreditChanged{region, amount}});
    }
    void change_settings(model::CoreSettings settings) {
        step(
            {SettingsChanged{std::make_shared<const model::CoreSettings>(std::move(settings)), 0}});
    }
    void change_device(model::DeviceSpec spec) {
        step({DeviceChanged{std::make_shared<const model::DeviceSpec>(std::move(spec)), 0}});
    }

    // --- runs
    // The answer to the run that `key` has going; the run counts as over from here on.
    RunFinished answer(const std::string& key, const WorkerReply& reply = {}) {
        POLLUX_CHECK_MSG(running.contains(key), "the task of this key does not run");
        const StartRun start = running.at(key);
        running.erase(key);
        return {start.task,
                start.run,
                reply.outcome,
                reply.digest.has_value(),
                reply.digest.value_or(0),
                reply.known_rate,
                reply.retry_after,
                reply.job_delay};
    }
    void finish(const std::string& key, model::Outcome outcome = model::Outcome::kOk) {
        step({answer(key, {.outcome = outcome})});
    }
    void finish(const std::string& key, const WorkerReply& reply) { step({answer(key, reply)}); }
    bool runs(const std::string& key) const { return running.contains(key); }

    // Lets time pass: steps when the core asks for it, and delivers what workers owe.
    void run_until(base::BootTime end) {
        step();
        while (now_.boot < end) {
            base::BootTime next = std::min(out.wake_at, end);
            if (!owed_.empty()) next = std::min(next, owed_.begin()->first);
            if (next <= now_.boot && out.starts.empty() && out.changes.empty()) {
                ++spins;  // it asked to be stepped at once and had nothing to do
                next = now_.boot + std::chrono::milliseconds(1);
            }
            if (next > now_.boot) pass(next - now_.boot);
            deliver();
        }
    }
    void run_for(base::Duration duration) { run_until(now_.boot + duration); }
    // To the next start of this task, at most `limit` from now; whether it came.
    bool run_to_start(const std::string& key, base::Duration limit = std::chrono::hours(2)) {
        const base::BootTime end = now_.boot + limit;
        const std::size_t before = starts_of(key).size();
        while (now_.boot < end && starts_of(key).size() == before) {
            run_until(std::min(end, std::max(out.wake_at, now_.boot + base::Duration(1))));
        }
        return starts_of(key).size() > before;
    }

    // The process ends and starts again later, with what the rows in the store say.
    void restart(base::Duration down, const std::vector<model::TaskSpec>& specs,
                 base::Duration wall_shift = {}) {
        auto stored = std::make_shared<std::vector<RestoredTask>>();
        for (const auto& spec : specs) stored->push_back({spec, core_->record(handle(spec.key))});
        restart_with(down, std::move(stored), wall_shift);
    }
    void restart_with(base::Duration down, std::shared_ptr<std::vector<RestoredTask>> stored,
                      base::Duration wall_shift = {}) {
        pass(down);
        now_.wall += wall_shift;
        running.clear();
        owed_.clear();
        starts.clear();
        changes.clear();
        core_ = std::make_unique<SchedulerCore>(now_, ++epoch_, core_->settings());
        step({TasksRestored{std::move(stored), 0}});
    }

    // --- lookups
    model::TaskHandle handle(const std::string& key) const {
        const model::TaskHandle found = core_->find(key);
        POLLUX_CHECK_MSG(core_->is_live(found), "no task has this key");
        return found;
    }
    const TaskSlot& slot(const std::string& key) const { return core_->slot(handle(key)); }
    Place place(const std::string& key) const { return slot(key).place; }
    FailureStory failure(const std::string& key) const { return core_->failure(handle(key)); }
    Explanation explain(const std::string& key) const { return core_->explain(key).value(); }
    double wait_s(const std::string& key) const {  // until it is due
        return base::to_seconds(slot(key).next_due - now_.boot);
    }
    std::vector<Start> starts_of(const std::string& key) const {
        std::vector<Start> own;
        std::ranges::copy_if(starts, std::back_inserter(own),
                             [&](const Start& one) { return one.key == key; });
        return own;
    }
    std::vector<Change> changes_of(const std::string& key, ChangeKind kind) const {
        std::vector<Change> own;
        for (const SeenChange& one : changes) {
            if (one.key == key && one.change.kind == kind) own.push_back(one.change);
        }
        return own;
    }
    std::string last_rejection() const {
        return rejections.empty() ? "" : rejections.back().error.message;
    }
    Picture picture() const {
        Picture all;
        all.nodes = core_->needs().size();
        all.settings = core_->settings();
        for (std::uint32_t i = 0; i < core_->capacity(); ++i) {
            if (!core_->occupied(i)) continue;
            all.records.push_back(core_->record(core_->handle_at(i)));
            all.places.push_back(core_->slot(core_->handle_at(i)).place);
        }
        return all;
    }

    Commands out;                             // of the last step
    std::map<std::string, StartRun> running;  // by key
    std::vector<Start> starts;                // all so far
    std::vector<SeenChange> changes;          // all so far
    std::vector<Rejection> rejections;        // all so far
    Worker worker;                            // none: runs stay open until finish()
    std::size_t spins = 0;

  private:
    struct Owed {
        std::string key;
        model::RunId run;
        WorkerReply reply;
    };
    // Neither clock starts at zero, and their distance is no round number.
    static constexpr base::Instant kStart{base::BootTime{5'000'000'000'000},
                                          base::WallTime{1'760'000'000'123'456}};

    void note_start(const StartRun& start) {
        const std::string key = core_->key(start.task);
        starts.push_back({key, now_.boot, start});
        running[key] = start;
        if (!worker) return;
        const WorkerReply reply = worker(key);
        owed_.emplace(now_.boot + reply.after, Owed{key, start.run, reply});
    }
    void deliver() {
        std::vector<Event> events;
        while (!owed_.empty() && owed_.begin()->first <= now_.boot) {
            const Owed owed = owed_.begin()->second;
            owed_.erase(owed_.begin());
            const auto open = running.find(owed.key);
            if (open == running.end() || open->second.run != owed.run) continue;
            events.push_back(answer(owed.key, owed.reply));
        }
        step(events);
    }

    base::Instant now_ = kStart;
    std::uint32_t epoch_ = 1;
    std::unique_ptr<SchedulerCore> core_;
    std::multimap<base::BootTime, Owed> owed_;
};

}  // namespace pollux::schedule
