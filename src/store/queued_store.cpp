#include "store/queued_store.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "base/check.hpp"
#include "store/alert_rules.hpp"

namespace pollux::store {

QueuedStore::QueuedStore(std::unique_ptr<Backend> backend, AnswerSink sink,
                         std::function<void(const AuditHead&)> audit_committed, QueueLimits limits)
    : backend_(std::move(backend)),
      sink_(std::move(sink)),
      audit_committed_(std::move(audit_committed)),
      audit_told_(backend_->audit_head()),
      limits_(limits) {
    writer_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "pollux-store");
        run();
    });
}

QueuedStore::~QueuedStore() {
    // What cannot be marked as clean is checked at the next start; nobody is left to tell.
    static_cast<void>(close());
}

base::Result<LoadedState> QueuedStore::load(const LoadVisitor& visitor) {
    return backend_->load(visitor);
}

base::Status QueuedStore::submit(std::shared_ptr<const engine::WriteBatch> batch) {
    POLLUX_CHECK(batch != nullptr);
    return enqueue(TaskWork{std::move(batch)}, tasks_waiting_, limits_.task_batches);
}

base::Status QueuedStore::submit(ObjectBatch batch, ObjectDone done) {
    return enqueue(ObjectWork{std::move(batch), std::move(done)}, others_waiting_,
                   limits_.other_batches);
}

base::Status QueuedStore::submit(MemoryBatch batch, MemoryDone done) {
    return enqueue(MemoryWork{std::move(batch), std::move(done)}, others_waiting_,
                   limits_.other_batches);
}

base::Status QueuedStore::submit(ObservationBatch batch, ObservationDone done) {
    return enqueue(ObservationWork{std::move(batch), std::move(done)}, others_waiting_,
                   limits_.other_batches);
}

base::Status QueuedStore::submit(AuditBatch batch, AuditDone done) {
    return enqueue(AuditWork{std::move(batch), std::move(done)}, others_waiting_,
                   limits_.other_batches);
}

base::Status QueuedStore::submit(JobBatch batch, JobDone done) {
    return enqueue(JobWork{std::move(batch), std::move(done)}, others_waiting_,
                   limits_.other_batches);
}

base::Status QueuedStore::submit(AlertBatch batch, AlertDone done) {
    return enqueue(AlertWork{std::move(batch), std::move(done)}, others_waiting_,
                   limits_.other_batches);
}

base::Status QueuedStore::compact() {
    auto answer = std::make_shared<std::promise<base::Status>>();
    auto future = answer->get_future();
    auto accepted = enqueue(
        CompactWork{[answer](base::Status status) { answer->set_value(std::move(status)); }},
        others_waiting_, limits_.other_batches);
    if (!accepted) return accepted;
    return future.get();
}

base::Status QueuedStore::enqueue(Work work, std::size_t& waiting, std::size_t limit) {
    {
        const std::scoped_lock lock(mutex_);
        if (closing_) {
            return base::make_error(base::ErrorClass::kPermanent, "store.closed",
                                    "store: the batch came after the store was closed");
        }
        if (waiting >= limit) {
            return base::make_error(
                base::ErrorClass::kTransient, "store.queue_full",
                fmt::format("store: {} batches wait to be written, which is the limit: the disk "
                            "is too slow or gone; try again",
                            waiting));
        }
        ++waiting;
        ++accepted_;
        queue_.push_back(std::move(work));
    }
    work_arrived_.notify_one();
    return {};
}

void QueuedStore::run() {
    for (;;) {
        std::unique_lock lock(mutex_);
        work_arrived_.wait(lock, [this] { return !queue_.empty() || closing_; });
        if (queue_.empty()) return;
        Work work = std::move(queue_.front());
        queue_.pop_front();
        (std::holds_alternative<TaskWork>(work) ? tasks_waiting_ : others_waiting_) -= 1;
        lock.unlock();
        std::visit([this](auto& one) { perform(one); }, work);
        lock.lock();
        ++answered_;
        lock.unlock();
        work_done_.notify_all();
    }
}

template <class Commit>
auto QueuedStore::timed(Commit commit) {
    const auto start = std::chrono::steady_clock::now();
    auto result = commit();
    const auto took = std::chrono::steady_clock::now() - start;
    const auto millis = std::chrono::duration<double, std::milli>(took).count();
    const auto bucket = std::ranges::find_if(kCommitBucketsMs,
                                             [&](std::uint32_t bound) { return millis <= bound; }) -
                        kCommitBucketsMs.begin();
    const std::scoped_lock lock(mutex_);
    ++stats_.latency_counts[static_cast<std::size_t>(bucket)];
    stats_.latency_sum_s += millis / 1e3;
    return result;
}

void QueuedStore::perform(TaskWork& work) {
    const auto& batch = *work.batch;
    const auto result = timed([&] { return backend_->commit(batch); });
    if (result) {
        count_commit(batch.rows.size() + batch.removed.size() + batch.runs.size(),
                     batch.changes.size());
        tell_audit();
    } else {
        count_failure(result.error());
    }
    if (sink_) {
        sink_({batch.sequence, result.has_value()}, result ? nullptr : &result.error());
    }
}

void QueuedStore::perform(ObjectWork& work) {
    auto result = timed([&] { return backend_->commit(work.batch); });
    if (result) {
        count_commit(work.batch.writes.size() + work.batch.removals.size(), 0,
                     &StoreStats::object_commits);
        tell_audit();
    } else {
        count_failure(result.error());
    }
    if (work.done) work.done(std::move(result));
}

void QueuedStore::perform(MemoryWork& work) {
    auto result = timed([&] { return backend_->commit(work.batch); });
    if (result) {
        count_commit(work.batch.rows.size() + work.batch.removed.size(), 0,
                     &StoreStats::memory_commits);
    } else {
        count_failure(result.error());
    }
    if (work.done) work.done(std::move(result));
}

void QueuedStore::perform(ObservationWork& work) {
    auto result = timed([&] { return backend_->commit(work.batch); });
    if (result) {
        count_commit(work.batch.rows.size() + work.batch.memory.size(), 0,
                     &StoreStats::observation_commits);
    } else {
        count_failure(result.error());
    }
    if (work.done) work.done(std::move(result));
}

void QueuedStore::perform(AuditWork& work) {
    auto result = timed([&] { return backend_->commit(work.batch); });
    if (result) {
        count_commit(result->removed, 0, &StoreStats::audit_commits);
        tell_audit();
    } else {
        count_failure(result.error());
    }
    if (work.done) work.done(std::move(result));
}

void QueuedStore::perform(JobWork& work) {
    auto result = timed([&] { return backend_->commit(work.batch); });
    if (result) {
        count_commit(work.batch.added.size() + work.batch.removed.size(), 0,
                     &StoreStats::job_commits);
        tell_audit();
    } else {
        count_failure(result.error());
    }
    if (work.done) work.done(std::move(result));
}

void QueuedStore::perform(AlertWork& work) {
    auto result = timed([&] { return backend_->commit(work.batch); });
    if (result) {
        count_commit(rows_in(work.batch) + result->removed, 0, &StoreStats::alert_commits);
        tell_audit();
    } else {
        count_failure(result.error());
    }
    if (work.done) work.done(std::move(result));
}

void QueuedStore::tell_audit() {
    const AuditHead head = backend_->audit_head();
    if (head == audit_told_) return;
    {
        const std::scoped_lock lock(mutex_);
        stats_.audit_entries += head.number - audit_told_.number;
    }
    audit_told_ = head;
    if (audit_committed_) audit_committed_(head);
}

void QueuedStore::perform(CompactWork& work) { work.done(backend_->compact()); }

void QueuedStore::count_commit(std::uint64_t rows, std::uint64_t changes,
                               std::uint64_t StoreStats::* kind) {
    const std::scoped_lock lock(mutex_);
    ++stats_.commits;
    if (kind != nullptr) ++(stats_.*kind);
    stats_.rows += rows;
    stats_.changes += changes;
    stats_.failing = false;
}

void QueuedStore::count_failure(const base::Error& error) {
    const std::scoped_lock lock(mutex_);
    ++stats_.failures;
    stats_.last_error = error.message;
    stats_.last_error_code = error.code;
    // A conflict is about what two people wanted, not about the store.
    if (error.code == "store.conflict") {
        ++stats_.conflicts;
    } else {
        stats_.failing = true;
    }
}

void QueuedStore::flush() {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = accepted_;
    work_done_.wait(lock, [&] { return answered_ >= until; });
}

base::Status QueuedStore::close() {
    const std::scoped_lock one_closes(close_mutex_);
    if (!writer_.joinable()) return {};
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
    }
    work_arrived_.notify_one();
    writer_.join();
    return backend_->close();
}

base::Result<std::vector<StoredChange>> QueuedStore::changes(const ChangeQuery& query) {
    count_read();
    return backend_->changes(query);
}

base::Result<std::vector<Observation>> QueuedStore::observations(const ObservationQuery& query) {
    count_read();
    return backend_->observations(query);
}

base::Result<std::vector<AuditRecord>> QueuedStore::audit(const AuditQuery& query) {
    count_read();
    return backend_->audit(query);
}

base::Result<std::vector<model::JobRun>> QueuedStore::job_runs(const std::string& key) {
    count_read();
    return backend_->job_runs(key);
}

AlertReader& QueuedStore::alert_reader() {
    count_read();
    return backend_->alert_reader();
}

base::Status QueuedStore::back_up(const std::string& path, const std::function<bool()>& go_on) {
    count_read();
    return backend_->back_up(path, go_on);
}

base::Result<std::vector<SettingsVersion>> QueuedStore::settings_versions(std::uint64_t before,
                                                                          std::size_t limit) {
    count_read();
    return backend_->settings_versions(before, limit);
}

void QueuedStore::count_read() {
    const std::scoped_lock lock(mutex_);
    ++stats_.reads;
}

StoreStats QueuedStore::stats() const {
    StoreStats copy;
    {
        const std::scoped_lock lock(mutex_);
        copy = stats_;
        copy.queue_depth = queue_.size();
    }
    copy.bytes_on_disk = backend_->bytes_on_disk();
    return copy;
}

}  // namespace pollux::store
