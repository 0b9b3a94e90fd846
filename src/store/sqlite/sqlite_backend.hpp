// The tables of state.db as a Backend. One connection writes and is used by the store's thread
// only; another reads, for whoever asks, behind a mutex: a reader never waits for a commit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/audit/audit_chain.hpp"
#include "store/backend.hpp"
#include "store/data_directory.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/sqlite_alert_reader.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::store {

class SqliteBackend final : public Backend {
  public:
    static base::Result<std::unique_ptr<SqliteBackend>> open(
        std::shared_ptr<const DataDirectory> directory, SqliteOptions options);

    base::Status commit(const engine::WriteBatch& batch) override;
    base::Result<ObjectCommit> commit(const ObjectBatch& batch) override;
    base::Status commit(const MemoryBatch& batch) override;
    base::Result<std::uint64_t> commit(const ObservationBatch& batch) override;
    base::Result<AuditCommit> commit(const AuditBatch& batch) override;
    base::Status commit(const JobBatch& batch) override;
    base::Result<AlertCommit> commit(const AlertBatch& batch) override;
    base::Status compact() override;
    base::Status close() override;
    base::Result<LoadedState> load(const LoadVisitor& visitor) override;
    base::Result<std::vector<StoredChange>> changes(const ChangeQuery& query) override;
    base::Result<std::vector<Observation>> observations(const ObservationQuery& query) override;
    base::Result<std::vector<SettingsVersion>> settings_versions(std::uint64_t before,
                                                                 std::size_t limit) override;
    base::Result<std::vector<AuditRecord>> audit(const AuditQuery& query) override;
    AuditHead audit_head() override;
    base::Result<std::vector<model::JobRun>> job_runs(const std::string& key) override;
    AlertReader& alert_reader() override { return alert_reader_; }
    base::Status back_up(const std::string& path, const std::function<bool()>& go_on) override;
    std::uint64_t bytes_on_disk() const override { return store::bytes_on_disk(path_); }

  private:
    SqliteBackend(std::shared_ptr<const DataDirectory> directory, SqliteOptions options)
        : directory_(std::move(directory)),
          options_(std::move(options)),
          path_(directory_->file(kStateFile)) {}

    // At the opening.
    base::Status open_connections();
    base::Status check_after_crash();
    base::Status begin_epoch();
    base::Status count_observations();
    base::Status find_audit_head();
    base::Status find_alert_numbers();
    base::Status end_open_runs();

    base::Status remove_tasks(const std::vector<std::string>& keys);
    base::Status write_tasks(const std::vector<model::TaskRecord>& rows);
    base::Status write_changes(const std::vector<engine::TaskChange>& changes);
    // Forgets the oldest transitions past the limit, a bounded number at a time.
    base::Status trim_changes();
    base::Status take_object(model::ObjectKind kind, const std::string& id, std::uint64_t expected);
    base::Status write_object(const ObjectWrite& write, const std::string& note);

    base::Status write_memory(const std::vector<MemoryRow>& rows);
    base::Status remove_jobs(const std::vector<std::string>& keys);
    base::Status write_runs(const std::vector<model::JobRun>& runs);
    base::Status write_observations(const ObservationBatch& batch);
    base::Status trim_observations(const ObservationBatch& batch);

    base::Status remove_alert_rows(const AlertBatch& batch);
    base::Status write_alert_rows(const AlertBatch& batch);
    base::Status write_alert_numbers(const AlertNumbers& numbers);
    base::Result<std::uint64_t> trim_alerts(const AlertRetention& retention);

    // Within a transaction; `chain` is a copy that is taken over after the commit.
    base::Status write_audit(AuditChain& chain, const std::vector<model::AuditEntry>& entries);
    base::Result<std::uint64_t> trim_audit(AuditChain& chain, const AuditRetention& retention);
    void take_audit(AuditChain chain);

    // Parts of load().
    base::Status load_objects(const LoadVisitor& visitor);
    base::Status load_tasks(const LoadVisitor& visitor, LoadedState& state);
    base::Status load_memory(const LoadVisitor& visitor);
    base::Status load_jobs(const LoadVisitor& visitor);
    base::Status load_alerts(const LoadVisitor& visitor, LoadedState& state);
    static void tell_damage(LoadedState& state, std::string what);

    std::shared_ptr<const DataDirectory> directory_;
    SqliteOptions options_;
    std::string path_;
    std::unique_ptr<Database> writer_;
    std::mutex reader_mutex_;  // guards reader_
    std::unique_ptr<Database> reader_;
    SqliteAlertReader alert_reader_{reader_mutex_, reader_};
    AlertNumbers alert_numbers_;  // of the writing thread
    LoadedState state_;
    std::uint64_t changes_stored_ = 0;
    struct ObservationCounts {
        std::uint64_t next_id = 1;
        std::uint64_t all = 0;
        std::map<std::string, std::uint64_t, std::less<>> by_key;
        bool doubtful = false;  // a commit failed half-way: count again
    };
    ObservationCounts observed_;
    AuditChain chain_;                 // of the writing thread
    std::uint64_t audited_batch_ = 0;  // its entries are in the trail already
    std::mutex head_mutex_;            // guards head_
    AuditHead head_;
};

}  // namespace pollux::store
