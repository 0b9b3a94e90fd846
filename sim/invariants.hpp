// Watches everything the engine does from outside, with its own small model of what is allowed, and
// counts what must never happen. Shares no code with the core: a mistake there cannot hide here.
//
// What it knows by itself: the settings, what tasks demand and need, which results and commits were
// handed in, who was poked, operated on or edited. What it asks the core for: where a task is, its
// device, class and times, and the numbers it reports.
//
// Work after a step is bounded by what the step did; every task is looked at once in about as many
// steps as there are tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "engine/engine.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "sim/commit_ledger.hpp"
#include "sim/limit_ledger.hpp"
#include "sim/violations.hpp"

namespace pollux::sim {

class Invariants {
  public:
    explicit Invariants(const model::CoreSettings& settings);
    Invariants(const Invariants&) = delete;  // the ledgers point to violations_
    Invariants& operator=(const Invariants&) = delete;

    // A process starts: nothing is in flight any more, the rate budgets start anew. What was
    // committed before must be found again after its first step.
    void new_process(std::uint32_t epoch, base::BootTime now);
    void settings_changed(const model::CoreSettings& settings) { limits_.configure(settings); }

    // What goes in beside results. Asked for: the task may start sooner than its rhythm or its
    // failures would let it.
    void configured(const model::TaskSpec& spec);
    void edited(const model::TaskSpec& spec);
    void poked(const std::string& key) { asked_.insert(key); }
    void operated(const std::string& key);
    void operated_on_all();
    void parent_reported(const std::string& device, bool healthy) { parents_[device] = healthy; }

    // A result is about to be handed to the engine.
    void result_comes(base::BootTime now, const engine::Engine& engine,
                      const schedule::RunFinished& result);
    void batch_committed(base::BootTime now, std::uint64_t sequence) {
        commits_.batch_committed(now, sequence);
    }
    void batch_failed(base::BootTime now) { commits_.batch_failed(now); }

    // After every step of the engine.
    void after_step(base::BootTime now, const engine::Engine& engine, const engine::Output& out);

    // Whether a healthy task must not be older than its bound: there are no faults, and the
    // capacity suffices.
    void expect_bounds(bool on) { expects_bounds_ = on; }
    void expect_restarts(bool on) { commits_.keep_rows(on); }

    // Looks at every task; called now and then, and at the end.
    void full_check(base::BootTime now, const engine::Engine& engine);
    void check_plan(base::BootTime now, const std::vector<schedule::PlanEntry>& plan,
                    std::size_t waiting);

    // Long after the faults stopped: everything is fresh again, except what is broken in truth.
    using IsBroken = std::function<bool(const std::string& key)>;
    void calm_check(base::BootTime now, const engine::Engine& engine, const IsBroken& is_broken);

    const Violations& violations() const { return violations_; }

  private:
    struct Open {
        model::TaskHandle task;
        model::RunId run;
        Holding holds;
    };
    struct Facts {
        std::vector<model::ResourceDemand> demand;
        std::vector<model::NeedGroup> needs;
        std::int64_t slots = 1;
    };
    // What this process has seen of the task in a slot of the core.
    struct Seen {
        std::uint32_t generation = 0;
        std::uint32_t facts_version = 0;
        std::uint32_t failures = 0;  // in a row
        bool started = false;
        bool asked = false;
        bool failed = false;  // the last answer was a failure
        bool permanent = false;
        const Facts* facts = nullptr;
        base::BootTime last_due;
        base::BootTime failed_at;
        base::BootTime succeeded_at = base::BootTime::min();
    };
    struct Busy;

    // invariants.cpp
    Seen& seen(model::TaskHandle task);
    const Facts* facts_of(Seen& own, const std::string& key);
    void close_run(std::map<std::uint32_t, Open>::iterator run);
    void check_start(base::BootTime now, const schedule::SchedulerCore& core,
                     const schedule::StartRun& start);
    void check_turn(base::BootTime now, const schedule::SchedulerCore& core,
                    const schedule::StartRun& start, const Seen& own);
    void check_labels(base::BootTime now, const schedule::SchedulerCore& core,
                      model::TaskHandle task);
    void check_counts(base::BootTime now, const schedule::SchedulerCore& core);
    bool needs_met(const Facts& facts) const;

    // invariants_fleet.cpp
    void check_age(base::BootTime now, const schedule::SchedulerCore& core, model::TaskHandle task);
    void check_place(base::BootTime now, const schedule::SchedulerCore& core,
                     model::TaskHandle task, const Busy& busy);
    void check_data(base::BootTime now, const schedule::SchedulerCore& core,
                    model::TaskHandle task);

    Violations violations_;
    LimitLedger limits_{violations_};
    CommitLedger commits_{violations_};
    bool expects_bounds_ = false;
    bool restarted_ = false;  // and not stepped since
    std::uint32_t epoch_ = 0;
    base::BootTime started_at_;

    std::map<std::uint32_t, Open> open_;  // by task index
    std::vector<Seen> seen_;              // by task index
    std::map<std::string, Facts> facts_;  // of tasks that need or demand anything
    std::uint32_t facts_version_ = 1;
    std::map<std::string, bool> parents_;
    std::set<std::string> completed_;  // jobs that ended well, as far as this process knows
    std::set<std::string> asked_;
    std::vector<model::TaskHandle> answered_;  // in this step

    std::uint64_t starts_ = 0;
    std::uint64_t finished_ = 0;
    std::uint64_t cancelled_ = 0;  // or expired
    std::uint64_t stale_ = 0;      // results for a run that is over
    std::uint64_t sweep_repairs_ = 0;
    std::uint64_t faulted_ = 0;
    std::uint64_t steps_to_scan_ = 0;
};

}  // namespace pollux::sim
