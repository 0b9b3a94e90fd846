// The thread of the core: steps the engine when something happened or time is due, carries its
// commands to the shards and the store, and brings their answers back.
//
// Never blocks. Everything public is called from any thread, unless it says otherwise; work is done
// on the loop's own thread in the order in which it came. What is called back (dispatch, published)
// is called from that thread and must not block.
//
// Invariants
// 1. A started run is dispatched with the plan in force at that moment, or ends at once as failed
//    when there is none; so each start is followed by exactly one end.
// 2. A change is logged and published only after the engine let it be seen: committed, or marked
//    provisional.
// 3. An audited act is answered exactly once: after its entry was committed, or with an error when
//    that takes too long or the loop ends.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "engine/device_health.hpp"
#include "engine/engine.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "runtime/event_feed.hpp"
#include "runtime/failure_book.hpp"
#include "runtime/jobs/job_runs.hpp"
#include "runtime/operate_result.hpp"
#include "runtime/poll_stats.hpp"
#include "runtime/queue_history.hpp"
#include "runtime/ready_view.hpp"
#include "runtime/run_order.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

struct InsightBooks;

struct CoreWiring {
    std::function<void(std::size_t shard, std::vector<RunOrder> orders)> dispatch;
    std::function<void(std::vector<RunCancel> cancels, std::shared_ptr<const PollPlan> plan)>
        cancel;
    std::function<void(std::uint32_t task, const PollPlan& plan)> forgotten;
    std::function<void(const engine::TaskChange& change)> published;
    // Jobs that need a thread of their own, and the start of every job.
    std::function<void(std::vector<RunOrder> orders)> work;
    std::function<void(const RunOrder& order)> job_started;
    EventFeed* events = nullptr;  // is told what may be seen and how polls ended; outlives the loop
    std::function<void(const TaskNews&)> news;  // the same changes, for who must not miss one
};

// All of it is taken in one step: settings, devices, removals, then tasks with their plans.
struct CoreEdit {
    std::shared_ptr<const model::CoreSettings> settings;
    std::vector<model::DeviceSpec> devices;
    std::vector<std::string> removed;
    std::shared_ptr<const std::vector<schedule::RestoredTask>> restored;  // at the start only
    std::shared_ptr<const std::vector<model::TaskSpec>> upserted;
    std::vector<std::shared_ptr<const PollPlan>> plans;
    std::vector<std::string> poked;  // their address or credentials changed: ask now
};

class CoreLoop {
  public:
    using LastFailure = runtime::LastFailure;

    // Read-only access for questions; valid only inside the call.
    struct View {
        const engine::Engine& engine;
        const PollStats& stats;
        const std::map<std::uint32_t, LastFailure>& failures;
        std::function<const PollPlan*(std::uint32_t task)> plan;
        base::Instant now;
        base::Duration longest_turn;
        const JobStats& jobs;
        const BatchRing& batches;
        const QueueHistory& queues;
        const QueueHistory& regions;
        const InsightBooks& insight;
    };

    CoreLoop(store::Store& store, observe::Log& log, CoreWiring wiring, std::size_t shards,
             std::size_t target_limit);
    ~CoreLoop();

    // epoch and first_change as the store gave them.
    void start(std::uint32_t epoch, std::uint64_t first_change, model::CoreSettings settings,
               engine::PumpOptions pump = {});

    // Stops starting runs, writes what is still to be written (waits at most `longest`), ends.
    // Does nothing if it was never started.
    void stop(base::Duration longest);

    void deliver(std::vector<RunReport> reports);
    void answer(engine::StoreAnswer answer, const base::Error* why);
    // `done` is called from the core's thread with what was refused, empty if all was taken.
    void edit(CoreEdit edit, std::move_only_function<void(std::vector<base::Error>)> done);
    void operate(schedule::OperatorAction action, std::move_only_function<void(base::Status)> done);
    // As above, with what it did. With an entry the act is recorded in the audit trail: state
    // before and after are filled in, and the entry is committed together with the rows that the
    // act changed, then `done` is called from the core's thread. An error is one of:
    //  - the core's (task.unknown, operator.*): nothing was changed, an entry `failed` is
    //  committed;
    //  - store.queue_full before anything was done: too many acts wait for the disk;
    //  - store.not_committed: it was done and stays in force, but could not be written in time; it
    //    is written as soon as the disk takes it, and lost with its entry if the server ends
    //    before;
    //  - core.stopped: the loop ended before the answer of the store.
    using OperateDone = std::move_only_function<void(base::Result<OperateResult>)>;
    void operate(schedule::OperatorAction action, std::optional<model::AuditEntry> entry,
                 OperateDone done);
    // Makes tasks due now, those that there are; the log tells the others.
    void poke(std::vector<std::string> keys, schedule::PokeReason reason);
    void ask(std::move_only_function<void(const View&)> question);
    // Rows of FailureBook by key of their task: why tasks failed in an earlier life.
    void recall_failures(std::vector<std::pair<std::string, std::string>> rows);
    // Rows of QueueHistory by class and by region: what went through in an earlier life.
    void recall_queues(std::vector<std::pair<std::string, std::string>> classes,
                       std::vector<std::pair<std::string, std::string>> regions);
    void set_target_limit(std::size_t limit);

    // For the watchdog: rises with every turn.
    std::uint64_t turns() const { return turns_.load(std::memory_order_relaxed); }

  private:
    void post(std::move_only_function<void()> work);
    struct Act;
    void step() { step(nullptr); }
    void step(Act* act);  // with an act, whose event is the last one
    // core_loop_audit.cpp: acts and their entries.
    void perform(Act act);
    // Why the plan of a task does not let an operator act; nothing: it does.
    std::optional<base::Error> refused_by_plan(const schedule::OperatorAction& action) const;
    void finish(Act& act, base::Instant now);
    void record_each(const model::AuditEntry& act, const schedule::Acted& acted, base::Instant now);
    void assign_acts();
    void settle_acts();
    void drop_acts();
    base::BootTime acts_wake() const;
    void take_edit(CoreEdit edit, std::move_only_function<void(std::vector<base::Error>)> done);
    void take_report(RunReport report);
    void finish(const RunReport& report);
    void count_report(const RunReport& report);
    void install_plans();
    void dispatch_starts();
    void dispatch_job(RunOrder order);
    void send_cancels();
    void follow_changes();
    void drop_ended_plans();
    void publish(const engine::TaskChange& change);
    // core_loop_events.cpp: what followers of events are told about polls.
    void note_poll(const RunReport& report);
    void tell_polls(base::Instant now);
    // core_loop_insight.cpp: what is written down for people.
    void note_start(const schedule::StartRun& start, base::Instant now);
    void note_end(const RunReport& report);
    void note_turn(base::Instant now);
    void answer_correlations();
    void submit_batch();
    void write_failures(base::Duration gather);
    void write_queues();

    store::Store& store_;
    observe::Log& log_;
    CoreWiring wiring_;
    std::size_t shards_;
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<net::Timer> step_timer_;
    std::thread thread_;
    std::atomic<std::uint64_t> turns_ = 0;

    // Only on the core's thread.
    std::unique_ptr<engine::Engine> engine_;
    PollStats stats_;
    JobRuns jobs_;
    BatchRing batches_;
    QueueHistory queues_{QueueHistory::kClasses};
    QueueHistory regions_{QueueHistory::kRegions};
    std::unique_ptr<InsightBooks> insight_;
    std::vector<RunOrder> to_work_;
    std::vector<std::uint32_t> ended_;  // jobs of this turn
    engine::DeviceHealth device_health_;
    engine::Output out_;
    std::vector<schedule::Event> events_;
    std::vector<schedule::Event> stepping_;
    std::vector<engine::StoreAnswer> answers_;
    std::vector<std::shared_ptr<const PollPlan>> plans_;  // by index of the task
    std::vector<std::shared_ptr<const PollPlan>> new_plans_;
    std::vector<std::string> to_poke_;
    std::vector<std::vector<RunOrder>> outgoing_;  // by shard
    FailureBook failures_;
    base::BootTime failures_written_;
    std::vector<std::pair<model::TaskHandle, PollNews>> polled_;  // reported, not yet decided about
    struct Waiting {
        std::move_only_function<void(std::vector<base::Error>)> done;
        std::vector<base::Error> errors;
    };
    std::map<std::uint64_t, Waiting> waiting_;  // by correlation
    std::uint64_t next_correlation_ = 1;
    bool store_failing_ = false;
    std::string store_error_;  // the latest one

    struct Act {
        schedule::OperatorAction action;
        std::optional<model::AuditEntry> entry;
        OperateDone done;
        base::Result<OperateResult> result;
        std::optional<TaskFacts> before;
        std::optional<base::Error> refused;  // before the core was asked
        base::BootTime give_up;
        std::uint64_t sequence = 0;  // of the batch that holds its entry; 0: none yet
    };
    std::deque<Act> acts_;  // done, their entries not committed yet; in their order
    std::uint64_t newest_sequence_ = 0;
    base::Duration act_patience_{};
};

}  // namespace pollux::runtime
