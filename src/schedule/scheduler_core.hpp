// The one decider: which task may start now, and when is it due next. A state machine without
// clock, thread, randomness or I/O: events and `now` go in, commands come out.
//
// Single-threaded: the owner calls everything from one thread. Work per step is bounded by the
// events given, the timers that came due, and max_starts_per_step. A step may be called early or
// late; it never needs to be called for every wake-up.
//
// Invariants (checked by audit(), by the simulator after every event, and by the tests):
//  1. A task is in exactly one Place, and something wakes it from there.
//  2. At most one run per task is in flight.
//  3. No run starts before its gates are open: enabled, due, needs, breaker, in flight, admission.
//  4. A task that is due is never moved later by planning; only a run, or fresh data, does that.
//  5. Every start is followed by exactly one end: finished, expired or cancelled.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/slab.hpp"
#include "base/time.hpp"
#include "base/timing_wheel.hpp"
#include "model/settings.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"
#include "schedule/admission.hpp"
#include "schedule/command.hpp"
#include "schedule/device_table.hpp"
#include "schedule/due_balancer.hpp"
#include "schedule/event.hpp"
#include "schedule/explain.hpp"
#include "schedule/failure_ladder.hpp"
#include "schedule/interval_planner.hpp"
#include "schedule/lease_table.hpp"
#include "schedule/load_monitor.hpp"
#include "schedule/needs_graph.hpp"
#include "schedule/ready_queue.hpp"
#include "schedule/task_table.hpp"
#include "schedule/timing_table.hpp"

namespace pollux::schedule {

// Counts since the start. started = finished + expired + cancelled + in flight, always.
struct CoreStats {
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    std::uint64_t expired = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t stale_results = 0;  // for a run that is over: duplicated, late, old epoch
    std::uint64_t rejected_events = 0;
    std::uint64_t faulted_tasks = 0;
    std::uint64_t sweep_repairs = 0;  // must stay 0: an alarm, not a mechanism
    std::uint64_t pokes_ignored = 0;
};

class SchedulerCore {
  public:
    // The settings must be valid (model::validate). The epoch must be higher than that of any
    // earlier core whose runs may still report.
    SchedulerCore(base::Instant now, std::uint32_t epoch, model::CoreSettings settings);

    void step(base::Instant now, std::span<const Event> events, Commands& out);

    // Read-only views; `now` as in the latest step.
    model::TaskHandle find(std::string_view key) const;
    bool is_live(model::TaskHandle task) const { return tasks_.is_live(task); }
    const std::string& key(model::TaskHandle task) const { return tasks_.key(task.index); }
    base::Result<Explanation> explain(std::string_view key) const;
    std::vector<PlanEntry> plan(base::BootTime now, std::size_t limit) const;
    QueueSnapshot queue_snapshot(base::BootTime now) const;
    Freshness freshness(model::TaskHandle task, base::BootTime now) const;
    const TaskSlot& slot(model::TaskHandle task) const { return tasks_[task.index]; }
    const Timing& timing(model::TaskHandle task) const { return timings_[slot(task).timing]; }
    FailureStory failure(model::TaskHandle task) const;
    const CoreStats& stats() const { return stats_; }
    const model::CoreSettings& settings() const { return settings_; }
    std::size_t size() const { return tasks_.size(); }
    std::uint32_t capacity() const { return tasks_.capacity(); }
    model::TaskHandle handle_at(std::uint32_t index) const { return tasks_.handle(index); }
    bool occupied(std::uint32_t index) const { return tasks_[index].place != Place::kFree; }
    std::size_t ready() const { return ready_.size(); }
    std::size_t in_flight() const { return leases_.size(); }
    bool budget_infeasible() const { return planner_.infeasible(); }
    double pressure() const { return load_.pressure(); }
    const IntervalPlanner& planner() const { return planner_; }
    const Admission& admission() const { return admission_; }
    const DeviceTable& devices() const { return devices_; }
    const NeedsGraph& needs() const { return graph_; }
    const LeaseTable& leases() const { return leases_; }
    const ReadyQueue& ready_queue() const { return ready_; }
    std::size_t memory_bytes() const;  // without strings

    // The durable row of a task; also marks it as written, so the next change asks again.
    model::TaskRecord take_record(model::TaskHandle task);
    // It will be asked for soon.
    void prefetch(model::TaskHandle task) const {
        if (task.index >= tasks_.capacity()) return;
        tasks_.prefetch(task.index);
        planner_.prefetch(task.index);
    }
    bool is_dirty(model::TaskHandle task) const {
        return tasks_.is_live(task) && tasks_[task.index].has(kFlagDirty);
    }
    model::TaskRecord record(model::TaskHandle task) const;

    // Compares the version of a configured object with the one in memory (the store sweep).
    bool matches_version(std::string_view key, std::uint64_t version) const;

    // Checks that tasks [from, to) are where they should be; returns how many were not, and repairs
    // them. Runs by itself over a sixtieth of the fleet each second.
    std::size_t audit(std::uint32_t from, std::uint32_t to);

  private:
    friend class CoreInspector;  // tests break invariants on purpose

    // core.cpp: the loop.
    void apply(const Event& event);
    void prefetch_slot(const Event& event) const;
    void prefetch_rest(const Event& event) const;
    void fire_timers();
    void end_leases();
    void every_second();
    void pick_and_start();
    base::BootTime next_wake() const;
    base::BootTime now() const { return now_.boot; }

    // core_places.cpp: where a task is, and what wakes it.
    void leave_place(std::uint32_t task);
    void schedule_at(std::uint32_t task, base::BootTime due);
    void come_due(std::uint32_t task);
    void make_ready(std::uint32_t task);
    void park(std::uint32_t task, const Verdict& verdict);
    void fault(std::uint32_t task);
    bool is_on_wheel(std::uint32_t task, std::uint32_t tick) const;
    bool is_misplaced(std::uint32_t task) const;

    // core_lines.cpp: waiting for a device, a region or a resource.
    WaitLine& line_of(const TaskSlot& slot);
    const WaitLine& line_of(const TaskSlot& slot) const;
    std::uint16_t resource_of(const TaskSlot& slot) const;
    bool is_waiting(const Waiter& waiter) const;
    bool line_lets_pass(std::uint32_t task) const;
    bool is_forgotten(std::uint32_t task) const;
    void stand_in_line(std::uint32_t task, const Verdict& verdict);
    void push_in_line(std::uint32_t task);
    void rank_again(std::uint32_t task);
    void leave_line(std::uint32_t task);
    void was_dealt_with(std::uint32_t task);
    void call(WaitLine& line, WaitLine::Group& group, std::uint32_t task);
    const Waiter& first_of(WaitLine& line, WaitLine::Group& group) const;
    bool is_urgent(const TaskSlot& slot) const;
    void reserve_for_waiting(WaitLine& line, const Verdict& refusal);
    void tend_line(WaitLine& line, const Verdict& refusal);
    void tend_region(std::uint16_t region);
    void tend_resource(std::uint32_t resource);
    void tend_pools();
    void tend_device(std::uint32_t device);
    void recheck_device(std::uint32_t device);
    void tend_after_release(const Lease& lease);
    void tend_everything();
    std::int64_t rank_of(const TaskSlot& slot) const;

    // core_runs.cpp: start, finish, and what follows.
    void start(std::uint32_t task);
    void on_finished(const RunFinished& event);
    void on_expired(std::uint32_t lease, bool report_cancel);
    void end_run(std::uint32_t lease);
    void finish_recurring(std::uint32_t task, const RunFinished& result, const Lease& lease);
    bool take_answer(std::uint32_t task, const RunFinished& result);
    void after_success(std::uint32_t task, std::uint32_t interval_ms, base::BootTime due);
    void after_failure(std::uint32_t task, model::Outcome outcome, std::uint32_t policy_ms);
    void count_down_rate(std::uint32_t task, base::Duration usual);
    void clear_failure(std::uint32_t task);
    FailureState& failure_of(std::uint32_t task);
    void on_observed(const Observed& event);
    void on_poked(const Poked& event);
    void due_now(std::uint32_t task, model::Trigger trigger);
    void persist(std::uint32_t task, Durability durability);
    void change(std::uint32_t task, ChangeKind kind, std::uint8_t from, std::uint8_t to);
    double unit_for(const TaskSlot& slot, std::uint64_t purpose) const;

    // core_jobs.cpp: one-shot work and dependencies.
    void finish_job(std::uint32_t task, const RunFinished& result);
    void retry_job(std::uint32_t task, const RunFinished& result);
    void revive_job(std::uint32_t task);
    void end_job(std::uint32_t task, model::JobState state);
    void set_node_state(std::uint32_t node, NodeState state);
    void needs_changed(std::uint32_t task);
    void raise_parents(std::uint32_t task);
    void inherit_urgency(std::uint32_t task);
    void update_node_of(std::uint32_t task);
    std::uint32_t node_of_task(std::uint32_t task);
    std::uint32_t node_of_device(std::uint32_t device);
    void cancel_job(std::uint32_t task);

    // core_edits.cpp: tasks, devices and settings come, change and go.
    void on_upserted(const TasksUpserted& event);
    std::uint32_t add_task(const model::TaskSpec& spec, std::uint16_t demand);
    void configure_task(std::uint32_t task, const model::TaskSpec& spec, std::uint16_t demand);
    void link_needs(std::uint32_t task, const model::TaskSpec& spec);
    void change_task(std::uint32_t task, const model::TaskSpec& spec, std::uint16_t demand);
    void first_start(std::uint32_t task, bool in_bulk);
    void on_removed(const TaskRemoved& event);
    void remove_task(std::uint32_t task);
    void on_device(const DeviceChanged& event);
    void on_settings(const SettingsChanged& event);
    void apply_settings();
    void enable(std::uint32_t task);
    void join_planner(std::uint32_t task);
    void leave_planner(std::uint32_t task);
    std::uint16_t class_index(std::string_view name) const;
    void reject(std::uint64_t correlation, base::Error error);

    // core_checks.cpp: what is checked before an edit is applied.
    base::Status check_batch(std::vector<model::TaskSpec>& specs) const;
    base::Status check_against_fleet(const model::TaskSpec& spec,
                                     std::span<const std::string_view> batch) const;
    std::vector<std::string> find_cycle(std::span<const model::TaskSpec* const> specs) const;
    base::Status check_slots(const model::CoreSettings& wanted) const;

    // core_restore.cpp: state from the store.
    struct RestorableTask {
        model::TaskSpec spec;
        const model::TaskRecord* record = nullptr;
        std::uint16_t demand = 0;
    };
    void on_restored(const TasksRestored& event);
    base::Status check_row(model::TaskSpec& spec) const;
    void drop_unstartable(std::uint64_t correlation, std::vector<RestorableTask>& rows);
    void restore(std::uint32_t task, const model::TaskRecord& record);
    void resume(const std::vector<std::uint32_t>& added);
    base::BootTime from_wall(base::WallTime wall) const;
    base::WallTime to_wall(base::BootTime boot) const;

    // core_operator.cpp: what people ask for.
    void on_operator(const OperatorAction& action);
    base::Status operate(const OperatorAction& action, std::uint32_t task);
    base::Status operate_on_all(const OperatorAction& action);
    std::vector<std::uint32_t> chosen_by(const OperatorAction& action) const;
    base::Status trigger_now(std::uint32_t task);
    base::Status switch_task(std::uint32_t task, bool on);
    base::Status handle_failure(std::uint32_t task, OperatorVerb verb);
    void release_failure(std::uint32_t task, base::BootTime due);

    // core_query.cpp
    std::uint32_t lookup(std::string_view key) const;
    IntervalStory explain_interval(std::uint32_t task) const;
    Gate gate_enabled(const TaskSlot& slot) const;
    Gate gate_due(const TaskSlot& slot) const;
    Gate gate_needs(const TaskSlot& slot) const;
    Gate gate_breaker(const TaskSlot& slot) const;
    Gate gate_in_flight(const TaskSlot& slot) const;
    Gate gate_admission(std::uint32_t task) const;
    std::string describe(const TaskSlot& slot, const Verdict& verdict) const;

    struct ClassLoad {
        Picohertz base = 0;  // what its healthy members would cost at their base
        Picohertz down = 0;  // what probing its down members would like to cost
        std::size_t tasks = 0;
    };

    base::Instant now_;
    std::uint32_t epoch_;
    std::uint64_t run_counter_ = 0;
    model::CoreSettings settings_;
    base::SipKey seed_{};
    Commands* out_ = nullptr;

    TaskTable tasks_;
    TimingTable timings_;
    DeviceTable devices_;
    LeaseTable leases_;
    NeedsGraph graph_;
    base::Slab<FailureState> failures_;
    base::TimingWheel wheel_;
    ReadyQueue ready_;
    Admission admission_;
    DueBalancer balancer_;
    IntervalPlanner planner_;
    LoadMonitor load_;
    std::vector<ClassLoad> class_load_;
    struct JobTerms {
        std::int64_t max_attempts = 1;
        model::ParentFailure on_parent_failure = model::ParentFailure::kFail;
    };
    std::map<std::uint32_t, JobTerms> jobs_;

    base::BootTime next_second_;
    base::TokenBucket single_adds_;  // how many new tasks may start at once
    base::BootTime bulk_free_at_;    // acts on many share one spread: the next goes on from here
    std::uint32_t audit_cursor_ = 0;
    bool solve_now_ = false;
    bool more_to_start_ = false;  // the last turn ended by its batch limit
    std::uint32_t last_ticket_ = 0;
    std::size_t in_lines_ = 0;  // tasks that wait for a device, a region or a resource
    bool was_infeasible_ = false;
    std::vector<std::uint32_t> ended_;
    std::vector<std::uint32_t> affected_;  // children whose needs turned, still to be looked at
    bool settling_ = false;
    CoreStats stats_;
};

}  // namespace pollux::schedule
