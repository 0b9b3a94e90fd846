// The port to durable state: configured objects, one row per task, transitions, learned memory,
// messages of devices, alerts and what people were told of them, the audit trail.
//
// Who uses it: the runtime opens it at the start, loads everything, and from then on only submits
// batches; nothing is read while polling. People's questions (timeline, versions of the settings)
// are the bounded reads at the end. Backends: memory/ (tests, `--no-data`), sqlite/.
//
// Rules for every backend, checked by store_conformance_test.cpp:
//  1. A batch is applied whole or not at all, and a committed one survives a crash.
//  2. Batches are applied, and answered, in the order in which they were submitted; each accepted
//     batch is answered exactly once.
//  3. A failed batch leaves the store usable: the next one may succeed without any reopening.
//  4. A task batch may be submitted again after a failure; applying it twice is like applying once.
//     So may a batch of alerts.
//  5. Entries of the audit trail are written with the batch that carries them, all or none; they
//  get
//     consecutive numbers in the order of the commits, and each is chained to the one before.
//
// Codes of errors: store.conflict (permanent: somebody else was first, or the name is taken),
// store.disk_full, store.io, store.busy, store.queue_full (transient), store.corrupt, store.newer,
// store.foreign (permanent), store.audit_key, store.access, store.locked (config), store.closed,
// store.internal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/alert_types.hpp"
#include "store/observation.hpp"
#include "store/store_types.hpp"

namespace pollux::store {

// `why` is set when the batch was not committed. Called from the store's own thread, in the order
// of the batches; must not block, and may submit.
using AnswerSink = std::function<void(engine::StoreAnswer answer, const base::Error* why)>;
using ObjectDone = std::move_only_function<void(base::Result<ObjectCommit>)>;
using MemoryDone = std::move_only_function<void(base::Status)>;
using JobDone = std::move_only_function<void(base::Status)>;
// The id of the first row; those of the others follow it. 0 for a batch without rows.
using ObservationDone = std::move_only_function<void(base::Result<std::uint64_t>)>;
using AlertDone = std::move_only_function<void(base::Result<AlertCommit>)>;
using AuditDone = std::move_only_function<void(base::Result<AuditCommit>)>;

class Store {
  public:
    virtual ~Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // Hands everything stored to the visitor, in the calling thread; once, before the first submit.
    // Blocks for as long as reading takes. Fails if the store cannot be read at all; a damaged row
    // is left out and counted instead.
    virtual base::Result<LoadedState> load(const LoadVisitor& visitor) = 0;

    // Accepts a batch of the engine; the sink given at open gets the answer. From any thread, never
    // blocks. An error (store.queue_full, store.closed) means: not accepted, no answer will come.
    virtual base::Status submit(std::shared_ptr<const engine::WriteBatch> batch) = 0;

    // As above; `done` is called exactly once from the store's thread if the batch was accepted. A
    // conflict names the object and both versions. An empty batch succeeds.
    virtual base::Status submit(ObjectBatch batch, ObjectDone done) = 0;

    // As above; `done` may be empty: what is lost here is learned again.
    virtual base::Status submit(MemoryBatch batch, MemoryDone done) = 0;

    // As above; `done` may be empty.
    virtual base::Status submit(ObservationBatch batch, ObservationDone done) = 0;

    // As above; entries without an act, and retention of the trail. `done` may be empty.
    virtual base::Status submit(AuditBatch batch, AuditDone done) = 0;

    // As above; `done` is called exactly once if the batch was accepted.
    virtual base::Status submit(JobBatch batch, JobDone done) = 0;

    // As above; `done` may be empty.
    virtual base::Status submit(AlertBatch batch, AlertDone done) = 0;

    // Returns when everything submitted before was answered, committed or not. From any thread but
    // the store's.
    virtual void flush() = 0;

    // flush(), then marks the stop as clean and ends the store's thread. Later submits fail. The
    // error is about the mark: answers were given to their owners. A second call does nothing. The
    // destructor closes too. From any thread but the store's.
    virtual base::Status close() = 0;

    // At most kMostChangesPerQuery changes, committed ones only. From any thread, also while
    // commits run; blocks for one indexed read.
    virtual base::Result<std::vector<StoredChange>> changes(const ChangeQuery& query) = 0;

    // At most kMostObservationsPerQuery rows, committed ones only. Threads as changes().
    virtual base::Result<std::vector<Observation>> observations(const ObservationQuery& query) = 0;

    // Records of the audit trail, newest first, at most kMostAuditPerQuery, committed ones only.
    // Threads as changes().
    virtual base::Result<std::vector<AuditRecord>> audit(const AuditQuery& query) = 0;

    // The newest record of the trail. Threads as changes().
    virtual AuditHead audit_head() = 0;

    // The runs of a job that are kept, oldest first: at most model::kMostRunsPerJob. Those that
    // were under way when an earlier process ended are interrupted. Threads as changes().
    virtual base::Result<std::vector<model::JobRun>> job_runs(const std::string& key) = 0;

    // Alerts and what belongs to them. Lives as long as the store; after close() it may fail.
    virtual AlertReader& alert_reader() = 0;

    // Copies the whole state, as of one moment, to another file, without holding up commits for
    // longer than a few pages take; `go_on` is asked between them. An error if it said no, or
    // where there is nothing to copy (in memory). From any thread; blocks.
    virtual base::Status back_up(const std::string& path, const std::function<bool()>& go_on) = 0;

    // Gives a bounded amount of unused pages back to the file system and folds the log into the
    // file. From any thread; blocks for one commit.
    virtual base::Status compact() = 0;

    // Versions of the settings below `before`, newest first, at most `limit` (bounded by 1000).
    // Threads as changes().
    virtual base::Result<std::vector<SettingsVersion>> settings_versions(std::uint64_t before,
                                                                         std::size_t limit) = 0;

    // Counts since the opening. From any thread; does not wait for a commit.
    virtual StoreStats stats() const = 0;

  protected:
    Store() = default;
};

}  // namespace pollux::store
