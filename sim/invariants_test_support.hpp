// For the tests of the checker: an engine stepped by hand, whose commands a test may falsify before
// the checker sees them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "sim/invariants.hpp"

namespace pollux::schedule {

// Breaks the core from inside: the friend that it declares for tests.
class CoreInspector {
  public:
    static TaskSlot& slot(SchedulerCore& core, model::TaskHandle task) {
        return core.tasks_[task.index];
    }
    static CoreStats& stats(SchedulerCore& core) { return core.stats_; }
};

}  // namespace pollux::schedule

namespace pollux::sim {

using Rules = std::set<Rule>;

// Wide limits: a test narrows the one that it breaks.
inline model::CoreSettings checker_settings() {
    model::CoreSettings settings;
    settings.global_rate = 1000;
    settings.device_rate = 1000;
    settings.device_slots = 100;
    settings.device_class_slots = 100;
    settings.classes.resize(2);
    settings.classes[0].name = "a";
    settings.classes[1].name = "b";
    settings.resources = {{"lane", 2}};
    return settings;
}

inline model::TaskSpec recurring(std::string key, std::string device = "") {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.device = std::move(device);
    spec.cadence = model::Cadence::fixed(std::chrono::seconds(60));
    return spec;
}

inline model::TaskSpec job_named(std::string key) {
    model::TaskSpec spec;
    spec.key = std::move(key);
    spec.cadence = model::Cadence::once();
    return spec;
}

class CheckedEngine {
  public:
    explicit CheckedEngine(const model::CoreSettings& settings = checker_settings())
        : settings_(settings), invariants_(settings) {
        invariants_.expect_bounds(true);
        boot();
    }

    // A process starts; what ran before is dead.
    void boot() {
        engine_ = std::make_unique<engine::Engine>(now_, ++epoch_, next_change_, settings_);
        invariants_.new_process(epoch_, now_.boot);
        starts_.clear();
        answers_.clear();
    }

    void crash() { next_change_ = engine_->pump().next_number(); }

    void add(const std::vector<model::TaskSpec>& specs) {
        for (const auto& spec : specs) invariants_.configured(spec);
        step(
            {schedule::TasksUpserted{std::make_shared<const std::vector<model::TaskSpec>>(specs)}});
    }

    void restore(const std::vector<schedule::RestoredTask>& tasks) {
        step({schedule::TasksRestored{
            std::make_shared<const std::vector<schedule::RestoredTask>>(tasks)}});
    }

    // One step of the engine and its check, in which `falsify` may lie about what came out.
    using Falsify = std::function<void(engine::Output&)>;
    void step(std::vector<schedule::Event> events = {}, const Falsify& falsify = {}) {
        engine_->step(now_, events, std::exchange(answers_, {}), out_);
        for (const auto& start : out_.commands.starts) starts_.push_back(start);
        if (falsify) falsify(out_);
        invariants_.after_step(now_.boot, *engine_, out_);
        if (!out_.batch) return;
        invariants_.batch_committed(now_.boot, out_.batch->sequence);
        answers_.push_back({out_.batch->sequence, true});
        newest_rows_ = out_.batch->rows;
    }

    void pass(double seconds) {
        const double until = seconds + base::to_seconds(now_.boot - base::BootTime{});
        while (base::to_seconds(now_.boot - base::BootTime{}) < until) {
            jump(0.5);
            step();
        }
    }

    void jump(double seconds) { now_.boot = now_.boot + base::from_seconds(seconds); }

    // The newest run ends so.
    schedule::RunFinished result(model::Outcome outcome) const {
        schedule::RunFinished finished;
        finished.task = starts_.back().task;
        finished.run = starts_.back().run;
        finished.outcome = outcome;
        return finished;
    }
    void tell_checker(const schedule::RunFinished& result) {
        invariants_.result_comes(now_.boot, *engine_, result);
    }
    void finish(model::Outcome outcome) {
        jump(0.01);
        tell_checker(result(outcome));
        step({result(outcome)});
    }

    // A start that the core never decided; a test changes what it should break.
    schedule::StartRun invented(const std::string& key) {
        schedule::StartRun start;
        start.task = core().find(key);
        start.run = {epoch_, 1'000'000 + ++invented_};
        start.due = now_.boot;
        start.deadline = now_.boot + std::chrono::seconds(30);
        start.trigger = model::Trigger::kOperator;
        return start;
    }
    void start_falsely(const std::vector<schedule::StartRun>& starts) {
        step({}, [&](engine::Output& out) {
            for (const auto& start : starts) out.commands.starts.push_back(start);
        });
    }

    // All that was found, without the accounts that any invented start upsets.
    Rules broken() const {
        Rules rules = all_broken();
        if (invented_ == 0) return rules;
        rules.erase(Rule::kBooks);
        rules.erase(Rule::kRunCounts);
        return rules;
    }
    Rules all_broken() const {
        Rules rules;
        for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(Rule::kCount); ++i) {
            if (violations().of(static_cast<Rule>(i)) > 0) rules.insert(static_cast<Rule>(i));
        }
        return rules;
    }

    const Violations& violations() const { return invariants_.violations(); }
    Invariants& invariants() { return invariants_; }
    engine::Engine& engine() { return *engine_; }
    schedule::SchedulerCore& core() { return engine_->core(); }
    schedule::TaskSlot& slot(const std::string& key) {
        return schedule::CoreInspector::slot(core(), core().find(key));
    }
    base::BootTime now() const { return now_.boot; }
    const std::vector<schedule::StartRun>& starts() const { return starts_; }
    const std::vector<model::TaskRecord>& newest_rows() const { return newest_rows_; }

  private:
    model::CoreSettings settings_;
    Invariants invariants_;
    std::unique_ptr<engine::Engine> engine_;
    engine::Output out_;
    base::Instant now_{base::BootTime{}, base::WallTime{1'700'000'000'000'000}};
    std::uint32_t epoch_ = 0;
    std::uint64_t next_change_ = 1;
    std::uint64_t invented_ = 0;
    std::vector<engine::StoreAnswer> answers_;
    std::vector<schedule::StartRun> starts_;
    std::vector<model::TaskRecord> newest_rows_;
};

}  // namespace pollux::sim
