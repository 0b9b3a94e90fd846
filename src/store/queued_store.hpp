// A Store made of a synchronous backend: a bounded queue, one writer thread, answers in order.
//
// Invariants
// 1. Only the writer thread commits; callbacks run in it with no lock held.
// 2. What was accepted is committed or failed, and answered, also when the store is being closed.
// 3. The queue is bounded: batches of the engine have their own bound, so that people's edits can
//    never keep the state of tasks from being accepted.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>

#include "store/backend.hpp"
#include "store/store.hpp"

namespace pollux::store {

struct QueueLimits {
    std::size_t task_batches = 64;  // the pump has one under way
    std::size_t other_batches = 1024;
};

class QueuedStore final : public Store {
  public:
    // `audit_committed`: see AuditOptions.
    QueuedStore(std::unique_ptr<Backend> backend, AnswerSink sink,
                std::function<void(const AuditHead&)> audit_committed = {},
                QueueLimits limits = {});
    ~QueuedStore() override;

    base::Result<LoadedState> load(const LoadVisitor& visitor) override;
    base::Status submit(std::shared_ptr<const engine::WriteBatch> batch) override;
    base::Status submit(ObjectBatch batch, ObjectDone done) override;
    base::Status submit(MemoryBatch batch, MemoryDone done) override;
    base::Status submit(ObservationBatch batch, ObservationDone done) override;
    base::Status submit(AuditBatch batch, AuditDone done) override;
    base::Status submit(JobBatch batch, JobDone done) override;
    base::Status submit(AlertBatch batch, AlertDone done) override;
    base::Result<std::vector<model::JobRun>> job_runs(const std::string& key) override;
    AlertReader& alert_reader() override;
    base::Status back_up(const std::string& path, const std::function<bool()>& go_on) override;
    base::Status compact() override;
    void flush() override;
    base::Status close() override;
    base::Result<std::vector<StoredChange>> changes(const ChangeQuery& query) override;
    base::Result<std::vector<Observation>> observations(const ObservationQuery& query) override;
    base::Result<std::vector<AuditRecord>> audit(const AuditQuery& query) override;
    AuditHead audit_head() override { return backend_->audit_head(); }
    base::Result<std::vector<SettingsVersion>> settings_versions(std::uint64_t before,
                                                                 std::size_t limit) override;
    StoreStats stats() const override;

  private:
    void count_read();
    struct TaskWork {
        std::shared_ptr<const engine::WriteBatch> batch;
    };
    struct ObjectWork {
        ObjectBatch batch;
        ObjectDone done;
    };
    struct MemoryWork {
        MemoryBatch batch;
        MemoryDone done;
    };
    struct ObservationWork {
        ObservationBatch batch;
        ObservationDone done;
    };
    struct AuditWork {
        AuditBatch batch;
        AuditDone done;
    };
    struct JobWork {
        JobBatch batch;
        JobDone done;
    };
    struct AlertWork {
        AlertBatch batch;
        AlertDone done;
    };
    struct CompactWork {
        MemoryDone done;
    };
    using Work = std::variant<TaskWork, ObjectWork, MemoryWork, ObservationWork, AuditWork, JobWork,
                              AlertWork, CompactWork>;

    base::Status enqueue(Work work, std::size_t& waiting, std::size_t limit);
    void run();
    void perform(TaskWork& work);
    void perform(ObjectWork& work);
    void perform(MemoryWork& work);
    void perform(ObservationWork& work);
    void perform(AuditWork& work);
    void perform(JobWork& work);
    void perform(AlertWork& work);
    void perform(CompactWork& work);
    // Runs `commit` and counts how long it took.
    template <class Commit>
    auto timed(Commit commit);
    void count_failure(const base::Error& error);
    void count_commit(std::uint64_t rows, std::uint64_t changes,
                      std::uint64_t StoreStats::* kind = nullptr);
    // After a commit that may have added to the trail.
    void tell_audit();

    std::unique_ptr<Backend> backend_;
    AnswerSink sink_;
    std::function<void(const AuditHead&)> audit_committed_;
    AuditHead audit_told_;  // of the writer thread
    QueueLimits limits_;

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable work_arrived_;
    std::condition_variable work_done_;
    std::deque<Work> queue_;
    std::size_t tasks_waiting_ = 0;
    std::size_t others_waiting_ = 0;
    std::uint64_t accepted_ = 0;
    std::uint64_t answered_ = 0;
    bool closing_ = false;
    StoreStats stats_;

    std::mutex close_mutex_;  // one closes, others wait for it
    std::thread writer_;
};

}  // namespace pollux::store
