// What a kind of storage must be able to do, synchronously; QueuedStore makes a Store of it, so
// that order, answers and counting are written once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "store/alert_types.hpp"
#include "store/observation.hpp"
#include "store/store_types.hpp"

namespace pollux::store {

class Backend {
  public:
    virtual ~Backend() = default;

    // From one thread at a time. All or nothing; after an error the backend is as before the call.
    virtual base::Status commit(const engine::WriteBatch& batch) = 0;
    virtual base::Result<ObjectCommit> commit(const ObjectBatch& batch) = 0;
    virtual base::Status commit(const MemoryBatch& batch) = 0;
    virtual base::Result<std::uint64_t> commit(const ObservationBatch& batch) = 0;  // the first id

    virtual base::Result<AuditCommit> commit(const AuditBatch& batch) = 0;
    virtual base::Status commit(const JobBatch& batch) = 0;
    virtual base::Result<AlertCommit> commit(const AlertBatch& batch) = 0;
    virtual base::Status compact() = 0;

    // Notes that everything was written and the stop is clean; nothing is called after it.
    virtual base::Status close() = 0;

    // From any thread, also during a commit.
    virtual base::Result<LoadedState> load(const LoadVisitor& visitor) = 0;
    virtual base::Result<std::vector<StoredChange>> changes(const ChangeQuery& query) = 0;
    virtual base::Result<std::vector<Observation>> observations(const ObservationQuery& query) = 0;
    virtual base::Result<std::vector<SettingsVersion>> settings_versions(std::uint64_t before,
                                                                         std::size_t limit) = 0;
    virtual base::Result<std::vector<AuditRecord>> audit(const AuditQuery& query) = 0;
    virtual AuditHead audit_head() = 0;
    virtual base::Result<std::vector<model::JobRun>> job_runs(const std::string& key) = 0;
    virtual AlertReader& alert_reader() = 0;
    virtual base::Status back_up(const std::string& path, const std::function<bool()>& go_on) = 0;
    virtual std::uint64_t bytes_on_disk() const = 0;
};

}  // namespace pollux::store
