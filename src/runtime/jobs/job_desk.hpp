// Where jobs are submitted, steered and asked about. Everything that is stored about them is known
// here; when one runs is decided by the core, and how one stands is asked there.
//
// Owned by the main thread, on whose loop it works; everything public is called from that thread,
// and every `done` is called on it, in a later turn. It goes after the core has stopped.
//
// What is submitted is checked whole, stored, given to the core, then answered: a job that was
// answered for survives a crash. How a job stands is in the row of its task, which the core writes;
// so it completes in the transaction that holds its result.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/job_graph.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/jobs/job_types.hpp"
#include "runtime/jobs/job_workers.hpp"
#include "store/store.hpp"

namespace pollux::runtime {

struct JobView {
    model::JobSpec spec;
    model::JobPhase phase = model::JobPhase::kPending;
    bool held = false;
    base::WallTime ended_at;  // kNever: it has not
    std::uint32_t attempts = 0;
    base::Duration waited{};                    // since it was submitted, until it started or now
    std::optional<base::Duration> ready_for{};  // since it was ready
    std::optional<std::size_t> position{};      // in line, 1: the next; of ready jobs
    std::optional<base::Duration> estimate{};   // until it starts
    std::string verdict;                        // one sentence: why it is not running
    std::string failure;                        // of the last attempt
    JobProgress progress;                       // of a run under way
};

// Whether somebody may see or steer a job; empty: every job.
using JobGate = std::function<bool(const model::JobSpec&)>;

struct JobFilter {
    std::optional<model::JobPhase> phase{};
    std::string type{};
    std::string batch{};
    std::map<std::string, std::string, std::less<>> labels{};
    std::string before{};  // id: those that were submitted before it
    std::size_t limit = 100;
    JobGate gate{};
};

struct JobPage {
    std::vector<JobView> jobs;  // newest first
    std::string next;           // `before` of the next page; empty: there is none
    std::size_t stored = 0;     // of all
};

struct JobGraphView {
    std::string batch;
    std::vector<JobView> jobs;
    std::vector<std::uint32_t> levels;  // by job
    config::JobGraph::Path critical_path;
    base::Edges parents;
};

enum class JobEventKind : std::uint8_t {
    kSubmitted,
    kStarted,
    kProgress,
    kEnded,
    kHeld,
    kReleased,
    kRetried,
    kRemoved,
};

struct JobEvent {
    JobEventKind kind = JobEventKind::kSubmitted;
    std::string id;
    std::string name;
    std::string type;
    std::string batch;
    model::JobPhase phase = model::JobPhase::kPending;
    base::WallTime at;
    JobProgress progress;  // of kProgress
};

struct JobSubmitted {
    std::string batch;             // id
    std::vector<std::string> ids;  // in the order of the batch
};

struct JobKeeping {
    base::Duration keep_for = std::chrono::hours(24 * 30);
    std::size_t keep_rows = model::kMostStoredJobs;  // ended ones
    base::Duration maintenance_every{};              // zero: never
};

class JobDesk {
  public:
    template <class T>
    using Done = std::move_only_function<void(base::Result<T>)>;

    JobDesk(net::EventLoop& loop, store::Store& store, observe::Log& log, JobTypes types);
    ~JobDesk();

    // --- for the server
    const JobTypes& types() const { return types_; }
    void set_surroundings(std::shared_ptr<const JobSurroundings> around);
    void set_keeping(JobKeeping keeping) { keeping_ = keeping; }
    void remember(store::JobRow row);  // before start()
    // Takes the records of its jobs out and adds what the core needs to go on with them.
    void restore(std::map<std::string, model::TaskRecord, std::less<>>& records, CoreEdit& edit,
                 std::vector<schedule::RestoredTask>& restored,
                 std::vector<model::TaskSpec>& fresh);
    void wire(CoreWiring& wiring);  // adds what jobs need; before the core is made
    void start(CoreLoop& core, std::size_t worker_threads = 2);
    void stop();                    // after the core
    void tick(base::WallTime now);  // now and then: retention, recurring maintenance
    void on_event(std::function<void(const JobEvent&)> tell) { tell_ = std::move(tell); }

    // --- for people
    config::JobBatch read(std::string_view text, const std::string& file,
                          document::Diagnostics& diagnostics) const;
    // What is wrong with it; nothing is stored.
    void check(const config::JobBatch& batch, document::Diagnostics& diagnostics) const;
    // With an entry an act is recorded in the audit trail, in the transaction of the act.
    using Record = std::optional<model::AuditEntry>;
    void submit(config::JobBatch batch, const std::string& by, Record record,
                Done<JobSubmitted> done);
    void submit(config::JobBatch batch, const std::string& by, Done<JobSubmitted> done) {
        submit(std::move(batch), by, std::nullopt, std::move(done));
    }
    // The ids of what was cancelled. With `cascade` also all that needs it; without it those fail
    // or are held, as they say.
    void cancel(const std::string& id, bool cascade, Done<std::vector<std::string>> done,
                const Record& record = {});
    void retry(const std::string& id, Done<void> done, const Record& record = {});
    void hold(const std::string& id, Done<void> done, const Record& record = {});
    void release(const std::string& id, Done<void> done, const Record& record = {});

    void get(const std::string& id, Done<JobView> done);
    void list(JobFilter filter, Done<JobPage> done);
    // Of the jobs that pass the gate; none of them: job.unknown.
    void graph(const std::string& batch, JobGate gate, Done<JobGraphView> done);
    void graph(const std::string& batch, Done<JobGraphView> done) {
        graph(batch, {}, std::move(done));
    }
    // What would not start if the job failed; by the needs alone.
    base::Result<std::vector<std::string>> impact(const std::string& id) const;
    WorkCounts pool() const { return workers_->counts(); }  // after start()
    std::vector<std::string> live_log(const std::string& id) { return workers_->log_of(id); }
    // Blocks for one read: not for the loop of a busy server.
    base::Result<std::vector<model::JobRun>> runs(const std::string& id);

    // Jobs that failed at or after this time.
    std::size_t failed_since(base::WallTime since, const JobGate& gate) const;
    const model::JobSpec* spec_of(const std::string& id) const;  // null: there is none
    std::size_t size() const { return entries_.size(); }
    std::string key_of(const std::string& id) const;  // of its task; empty: there is none

  private:
    struct Entry {
        model::JobSpec spec;
        std::string key;
        model::JobState state = model::JobState::kPending;
        base::WallTime ended_at;
        bool held = false;
    };
    struct Facts {  // as the core sees a job
        bool known = false;
        model::JobPhase phase = model::JobPhase::kPending;
        bool held = false;
        std::uint32_t attempts = 0;
        std::optional<base::Duration> ready_for;
        std::optional<std::size_t> position;
        base::Duration mean{};
        std::uint32_t slots = 0;
        std::string verdict;
        std::string failure;
    };
    using Entries = std::map<std::string, Entry>;  // by id: in the order of submission

    base::Result<Entry*> find(const std::string& id);
    std::vector<std::vector<std::string>> parent_keys(const model::JobSpec& job) const;
    base::Result<std::vector<store::JobRow>> prepare(config::JobBatch& batch,
                                                     const std::string& by);
    void give_to_core(std::vector<std::string> ids, JobSubmitted answer, Done<JobSubmitted> done);
    void take_back(const std::vector<std::string>& ids);
    void add_entry(model::JobSpec spec);
    void drop_entry(const std::string& id);
    std::vector<std::string> dependents(const std::string& id) const;
    void operate(schedule::OperatorVerb verb, const std::string& key, const Record& record,
                 Done<void> done);
    void steer(const std::string& id, schedule::OperatorVerb verb, model::JobPhase to,
               const Record& record, Done<void> done);
    void cancel_all(std::vector<std::string> ids, const Record& record,
                    Done<std::vector<std::string>> done);
    // Asks the core about jobs; `done` is called on the loop.
    void ask(std::vector<std::string> keys, bool closely,
             std::move_only_function<void(std::vector<Facts>)> done);
    JobView view_of(const Entry& entry, const Facts& facts);
    bool fits(const Entry& entry, const JobFilter& filter) const;
    struct Listing;
    void go_on_listing(std::shared_ptr<Listing> listing);
    void on_change(const engine::TaskChange& change);
    void tell(JobEventKind kind, const Entry& entry, model::JobPhase phase,
              JobProgress progress = {});
    bool is_needed(const std::string& id) const;  // by a job that has not ended
    void sweep(base::WallTime now, std::size_t room_for);
    void recur(base::WallTime now);
    // Runs on the loop in a later turn, unless the desk is gone by then.
    void later(std::move_only_function<void()> work);

    net::EventLoop& loop_;
    store::Store& store_;
    observe::Log& log_;
    JobTypes types_;
    CoreLoop* core_ = nullptr;
    std::unique_ptr<JobWorkers> workers_;
    std::shared_ptr<const JobSurroundings> around_ = std::make_shared<const JobSurroundings>();
    JobKeeping keeping_;
    Entries entries_;
    std::map<std::string, std::string, std::less<>> ids_;                 // key -> id
    std::map<std::string, std::set<std::string>, std::less<>> children_;  // by id of the parent
    std::map<std::string, std::vector<std::string>> batches_;             // id -> ids of its jobs
    std::set<std::pair<base::WallTime, std::string>> ended_;              // oldest first
    std::set<std::string> leaving_;                                       // asked to go
    std::function<void(const JobEvent&)> tell_;
    base::WallTime next_sweep_;
    base::WallTime last_maintenance_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace pollux::runtime
