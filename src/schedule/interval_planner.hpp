// Decides how long a healthy task waits for its next poll. One policy per class, switchable while
// running; the pooled ones (optimal, aimd, and the simulator's yardstick with known rates) share
// the budget pools, so a switch changes who decides and loses nothing that was learned.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/chunked_array.hpp"
#include "base/time.hpp"
#include "model/settings.hpp"
#include "schedule/budget_pool.hpp"
#include "schedule/due_balancer.hpp"
#include "schedule/load_monitor.hpp"
#include "schedule/rate_belief.hpp"
#include "schedule/task_table.hpp"
#include "schedule/timing_table.hpp"

namespace pollux::schedule {

enum class LimitedBy : std::uint8_t {
    kNothing,
    kMinimum,    // the task's own min
    kStretch,    // the preset's limit, or the task's max
    kBound,      // the staleness bound
    kIdleDrift,  // no change for hours: moved toward the preset's limit
    kParent,     // a parent is down: slowest rate
    kFixed,      // not adaptive
};

// The terms of the last decision, kept so that `explain` can show them.
struct IntervalTerms {
    float rate = 0;                // believed changes per second
    float wish_s = 0;              // what the policy wanted before limits
    std::uint32_t chosen_ms = 0;   // by the policy, inside the limits
    std::uint32_t planned_ms = 0;  // after the idle drift, before jitter
    std::uint16_t drift_permille = 0;
    std::int16_t bucket = BudgetPool::kNoBucket;
    std::uint8_t band = 0;
    LimitedBy limited_by = LimitedBy::kFixed;
};

struct Answer {
    base::BootTime at;
    base::BootTime planned;    // what the run was due at: the next due is counted from here
    base::Duration elapsed{};  // since the previous answer
    bool changed = false;
    bool failed = false;
    double known_rate = 0;            // 0: not known
    std::uint32_t errors_before = 0;  // length of the failure streak that this success ended
    double staleness = 0;             // score of the age just before this answer
};

class IntervalPlanner {
  public:
    static constexpr std::size_t kOwnPoolMembers = 30;

    IntervalPlanner(TaskTable& tasks, TimingTable& timings, const DueBalancer& balancer);

    void configure(const model::CoreSettings& settings);

    // A task takes part (join) while it is enabled and recurs; leaving forgets nothing learned.
    void join(std::uint32_t task);
    void leave(std::uint32_t task);

    // Takes in an answer and returns the interval now in force, in ms, jitter included.
    std::uint32_t decide(std::uint32_t task, const Answer& answer, std::size_t ready_depth);

    // Plans again with what is believed already, as if the budget had just been solved: for looks
    // ahead, where no answer comes. Nothing learned.
    void replan(std::uint32_t task, base::BootTime now);

    // What the interval would be without an answer: after a switch or an edit, and for the cap of
    // the failure ladder. No jitter, nothing learned.
    std::uint32_t current_ms(std::uint32_t task) const;

    // Once a second.
    void solve(base::BootTime now, double p95_poll_s);
    void set_pressure(double factor) { pressure_ = factor; }

    bool adaptive(std::uint32_t task) const;  // decided by a policy, or shown in shadow mode
    bool wants_staleness(std::uint32_t task) const {
        return classes_[tasks_[task].class_index].policy == model::PolicyKind::kClassic;
    }
    bool infeasible() const { return infeasible_; }
    const IntervalTerms& terms(std::uint32_t task) const { return terms_[task]; }
    const BudgetPool& pool_of(std::uint32_t task) const { return *pools_[pool_index(task)].pool; }
    RateBelief& belief(std::uint32_t task) { return beliefs_[task]; }
    const RateBelief& belief(std::uint32_t task) const { return beliefs_[task]; }
    void reset(std::uint32_t task);
    void recall(std::uint32_t task);  // after the belief was restored: believe what it says
    void grow(std::size_t tasks);
    void prefetch(std::uint32_t task) const {
        terms_.prefetch(task);
        beliefs_.prefetch(task);
    }
    std::size_t memory_bytes() const { return terms_.memory_bytes() + beliefs_.memory_bytes(); }

  private:
    struct ClassPolicy {
        model::PolicyKind policy = model::PolicyKind::kFixed;
        model::Preset preset = model::Preset::kBalanced;
        std::uint16_t pool = 0;
        std::size_t members = 0;
    };

    bool pooled(const TaskSlot& slot) const;
    std::uint16_t pool_index(std::uint32_t task) const {
        return classes_[tasks_[task].class_index].pool;
    }
    bool in_scope(const TaskSlot& slot) const;
    void share_out(base::BootTime now, double cap, std::vector<double>& grants,
                   const std::vector<double>& floors);
    BandLimits band_limits(const TaskSlot& slot) const;
    void enter_pool(std::uint32_t task);
    void exit_pool(std::uint32_t task);
    void move_class(std::uint16_t class_index, std::uint16_t pool);
    std::uint16_t new_pool(model::Preset preset);
    double shape_of(const TaskSlot& slot, double rate) const;
    double next_rate(std::uint32_t task, const Answer& answer, BudgetPool& pool);
    void plan_pooled(std::uint32_t task, double shape, double drift);
    double drift_of(const TaskSlot& slot, double rate, base::BootTime now) const;
    std::uint32_t classic(std::uint32_t task, const Answer& answer, std::size_t ready_depth);
    std::uint32_t jittered(std::uint32_t task, std::uint32_t interval_ms,
                           base::BootTime planned) const;
    void set_plan(std::uint32_t task, std::uint32_t chosen_ms, std::uint32_t planned_ms);

    TaskTable& tasks_;
    TimingTable& timings_;
    const DueBalancer& balancer_;
    base::ChunkedArray<IntervalTerms> terms_;
    base::ChunkedArray<RateBelief> beliefs_;
    std::vector<ClassPolicy> classes_;
    struct PoolEntry {
        std::unique_ptr<BudgetPool> pool;
        model::Preset preset = model::Preset::kBalanced;
    };
    std::vector<PoolEntry> pools_;  // 0..2: shared by the small classes of a preset
    std::vector<std::uint16_t> free_pools_;
    model::AdaptiveMode mode_ = model::AdaptiveMode::kOff;
    double percent_ = 100;
    double cap_ = 98;
    double pressure_ = 1;
    model::DegradedChoice degraded_ = model::DegradedChoice::kMeanFirst;
    base::SipKey seed_{};
    Picohertz unpooled_ =
        0;  // polls that no pool plans: fixed cadences, classic, tasks out of scope
    bool infeasible_ = false;
};

}  // namespace pollux::schedule
