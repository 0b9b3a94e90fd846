// Between the core and the store: collects what must be written, hands it over one batch at a time,
// and lets a change be seen only after the batch that holds it was committed.
//
// Commit at once when the writer is idle and something must not be lost; otherwise gather for a
// second. If commits keep failing (disk full) for 5 s, changes are let through marked provisional,
// with the same number they will have when they are committed: a monitor must not fall silent
// because its disk is full.
//
// Invariants:
//  1. At most one batch is under way; its content is kept until it is committed.
//  2. A change is published exactly once as committed, and at most once before that as provisional.
//  3. Changes are published in the order in which the core made them.
//  4. A change is in the same batch as the row that shows it: a crash loses both or neither.
//  5. An audit entry is in the same batch as the rows of its act, changed or not, and entries are
//     in the order of their acts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/audit.hpp"
#include "model/job.hpp"
#include "model/task_record.hpp"
#include "schedule/command.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::engine {

struct TaskChange {
    std::uint64_t number = 0;  // idempotency key: the same in every publication of this change
    std::string key;           // empty: about the engine, not a task
    schedule::Change change;
    base::WallTime at;
    bool provisional = false;
};

struct WriteBatch {
    std::uint64_t sequence = 0;
    std::vector<std::string> removed;  // first these go, then the rows come: a key may be used anew
    std::vector<model::TaskRecord> rows;
    std::vector<TaskChange> changes;
    std::vector<model::AuditEntry> audit;  // of acts whose rows are in this batch
    std::vector<model::JobRun> runs;       // of jobs: begun, and ended with what came out
};

struct PumpOptions {
    base::Duration gather = std::chrono::seconds(1);
    base::Duration provisional_after = std::chrono::seconds(5);
    base::Duration retry_every = std::chrono::seconds(1);
    std::size_t rows_per_batch = 5000;  // without those that a change waits for
    std::size_t provisional_limit = 10'000;
};

class PersistencePump {
  public:
    // The first number a change may get: above any that an earlier process used.
    explicit PersistencePump(std::uint64_t first_number, PumpOptions options = {});

    // Takes over what the core wants written and shown.
    void absorb(base::Instant now, const schedule::SchedulerCore& core,
                const schedule::Commands& commands);

    // An entry about what the latest step did to `tasks`: their rows and the entry go together, in
    // the next batch that is made. After absorb() of that step.
    void record(base::Instant now, model::AuditEntry entry,
                std::span<const model::TaskHandle> tasks);
    // A run of a job. Noted before the step that is told of its end, it is in the batch that holds
    // what the end changed.
    void note(base::Instant now, model::JobRun run);

    // The next batch, when it is time for one and none is under way.
    std::shared_ptr<const WriteBatch> next_batch(base::Instant now, schedule::SchedulerCore& core);

    // The store's answer. Returns the changes that may be seen now.
    std::vector<TaskChange> committed(std::uint64_t sequence);
    std::vector<TaskChange> failed(base::Instant now, std::uint64_t sequence);

    base::BootTime next_wake() const;
    std::uint64_t next_number() const { return next_number_; }
    std::size_t waiting() const {
        return urgent_rows_.size() + dirty_.size() + changes_.size() + audit_.size() + runs_.size();
    }
    // Entries that are not committed yet.
    std::size_t audit_waiting() const {
        return audit_.size() + (under_way_ ? under_way_->audit.size() : 0) +
               (to_retry_ ? to_retry_->audit.size() : 0);
    }
    bool failing() const { return failing_since_.has_value(); }

  private:
    void take_rows(WriteBatch& batch, schedule::SchedulerCore& core,
                   std::deque<model::TaskHandle>& tasks, std::size_t limit);
    void take_audited(WriteBatch& batch, schedule::SchedulerCore& core);

    PumpOptions options_;
    std::uint64_t next_number_;
    std::uint64_t sequence_ = 0;
    // A task may stand here more than once; it is written once.
    std::deque<model::TaskHandle> urgent_rows_;
    std::deque<model::TaskHandle> dirty_;
    std::vector<std::string> removed_;
    std::vector<TaskChange> changes_;
    std::vector<model::AuditEntry> audit_;
    std::vector<model::TaskHandle> audited_;  // tasks of these entries
    std::vector<model::JobRun> runs_;
    std::shared_ptr<const WriteBatch> under_way_;
    std::shared_ptr<const WriteBatch> to_retry_;
    std::uint64_t provisional_from_ = 0;  // changes before this number were let through already
    bool urgent_ = false;
    base::BootTime gather_until_ = base::BootTime::max();
    base::BootTime retry_at_;
    std::optional<base::BootTime> failing_since_;
};

}  // namespace pollux::engine
