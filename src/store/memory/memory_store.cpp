#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "store/backend.hpp"
#include "store/object_rules.hpp"
#include "store/queued_store.hpp"

namespace pollux::store {

namespace {

constexpr std::size_t kMostChanges = 100'000;  // older ones go

class MemoryBackend final : public Backend {
  public:
    MemoryBackend(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<const AuditKey> key)
        : disk_(std::move(disk)), alert_reader_(disk_->mutex, disk_->content.alerts) {
        const std::scoped_lock lock(disk_->mutex);
        auto& content = disk_->content;
        state_.epoch = ++content.epoch;
        state_.clean_stop = std::exchange(content.clean_stop, false);
        const auto newest = content.changes.empty() ? 0 : content.changes.rbegin()->first;
        state_.first_change = first_change_number(state_.epoch, newest);
        state_.alert_numbers = content.alerts.numbers;
        if (!key && !disk_->audit_key) disk_->audit_key = AuditKey::random();
        if (key) disk_->audit_key = std::move(key);
        AuditHead head;
        if (!content.audit.empty()) {
            const ChainedRecord& last = content.audit.rbegin()->second;
            head = {last.number, last.mac};
        }
        chain_ = AuditChain(disk_->audit_key, head);
        // Nobody is left who could end them.
        for (auto& [job, runs] : content.job_runs) {
            for (auto& [id, run] : runs) {
                if (run.finished.us == model::kNever) run.finished = run.started;
            }
        }
    }

    base::Status commit(const engine::WriteBatch& batch) override {
        const std::scoped_lock lock(disk_->mutex);
        auto& content = disk_->content;
        for (const auto& key : batch.removed) {
            content.tasks.erase(key);
            content.memory.erase(key);
            content.jobs.erase(key);
            content.job_runs.erase(key);
        }
        for (const auto& run : batch.runs) keep_run(run);
        for (const auto& row : batch.rows) content.tasks[row.key] = row;
        for (const auto& one : batch.changes) {
            const auto& change = one.change;
            content.changes[one.number] = {one.number, one.key,         change.kind, change.from,
                                           change.to,  change.failures, one.at};
        }
        while (content.changes.size() > kMostChanges) {
            content.changes.erase(content.changes.begin());
        }
        // Once more after its commit: entries must not be added again.
        if (batch.sequence != 0 && batch.sequence == audited_batch_) return {};
        if (!batch.audit.empty()) audited_batch_ = batch.sequence;
        write_audit(batch.audit);
        return {};
    }

    base::Result<ObjectCommit> commit(const ObjectBatch& batch) override {
        if (auto status = check(batch); !status) return std::unexpected(status.error());
        const std::scoped_lock lock(disk_->mutex);
        auto objects = disk_->content.objects;  // a copy: all or nothing
        for (const auto& removal : batch.removals) {
            auto taken = take(objects, removal.kind, removal.id, removal.expected_version);
            if (!taken) return std::unexpected(taken.error());
        }
        for (const auto& write : batch.writes) {
            auto taken = take(objects, write.object.kind, write.object.id, write.expected_version);
            if (!taken) return std::unexpected(taken.error());
        }
        std::map<std::pair<model::ObjectKind, std::string>, std::string> holders;  // by name
        for (const auto& [ref, object] : objects) {
            holders.emplace(std::pair(object.kind, object.name), object.id);
        }
        ObjectCommit result;
        for (const auto& write : batch.writes) {
            model::ConfigObject object = write.object;
            object.version = write.expected_version + 1;
            const auto [holder, free] =
                holders.emplace(std::pair(object.kind, object.name), object.id);
            if (!free) {
                return std::unexpected(name_conflict(object.kind, object.name, holder->second));
            }
            result.versions.push_back(object.version);
            objects[{object.kind, object.id}] = std::move(object);
        }
        disk_->content.objects = std::move(objects);
        keep_settings(batch);
        write_audit(batch.audit);
        return result;
    }

    base::Status commit(const MemoryBatch& batch) override {
        const std::scoped_lock lock(disk_->mutex);
        for (const auto& key : batch.removed) disk_->content.memory.erase(key);
        for (const auto& row : batch.rows) disk_->content.memory[row.key] = row.bytes;
        return {};
    }

    base::Result<std::uint64_t> commit(const ObservationBatch& batch) override {
        const std::scoped_lock lock(disk_->mutex);
        auto& content = disk_->content;
        const std::uint64_t first = batch.rows.empty() ? 0 : content.next_observation;
        for (Observation row : batch.rows) {
            row.id = content.next_observation++;
            content.observations.emplace(row.id, std::move(row));
        }
        for (const auto& row : batch.memory) content.memory[row.key] = row.bytes;
        trim_observations(batch.keep);
        return first;
    }

    base::Result<AuditCommit> commit(const AuditBatch& batch) override {
        const std::scoped_lock lock(disk_->mutex);
        AuditCommit result;
        result.first = batch.entries.empty() ? 0 : chain_.head().number + 1;
        write_audit(batch.entries);
        if (batch.retention) result.removed = trim_audit(*batch.retention);
        return result;
    }

    base::Status commit(const JobBatch& batch) override {
        const std::scoped_lock lock(disk_->mutex);
        auto& content = disk_->content;
        std::set<std::string_view> ids;
        for (const auto& [key, row] : content.jobs) ids.insert(row.id);
        std::set<std::string_view> keys;
        for (const JobRow& row : batch.added) {
            const bool fresh = ids.insert(row.id).second && keys.insert(row.key).second;
            if (!fresh || content.jobs.contains(row.key)) {
                return std::unexpected(job_conflict(row.key));
            }
        }
        for (const std::string& key : batch.removed) {
            content.jobs.erase(key);
            content.job_runs.erase(key);
        }
        for (const JobRow& row : batch.added) content.jobs.emplace(row.key, row);
        write_audit(batch.audit);
        return {};
    }

    base::Result<AlertCommit> commit(const AlertBatch& batch) override {
        const std::scoped_lock lock(disk_->mutex);
        auto result = apply(disk_->content.alerts, batch);
        if (result) write_audit(batch.audit);
        return result;
    }

    base::Status compact() override { return {}; }

    base::Status close() override {
        const std::scoped_lock lock(disk_->mutex);
        disk_->content.clean_stop = true;
        return {};
    }

    base::Result<LoadedState> load(const LoadVisitor& visitor) override {
        MemoryDisk::Content content;
        {
            const std::scoped_lock lock(disk_->mutex);
            content = disk_->content;
        }
        if (visitor.object) {
            std::vector<model::ConfigObject> objects;
            for (auto& [ref, object] : content.objects) objects.push_back(std::move(object));
            std::ranges::sort(objects, [](const auto& a, const auto& b) {
                return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
            });
            for (auto& object : objects) visitor.object(std::move(object));
        }
        if (visitor.task) {
            for (auto& [key, task] : content.tasks) visitor.task(std::move(task));
        }
        if (visitor.memory) {
            for (auto& [key, bytes] : content.memory) visitor.memory({key, std::move(bytes)});
        }
        if (visitor.job) {
            std::vector<JobRow> jobs;
            for (auto& [key, job] : content.jobs) jobs.push_back(std::move(job));
            std::ranges::sort(jobs, {}, &JobRow::id);
            for (JobRow& job : jobs) visitor.job(std::move(job));
        }
        store::load(content.alerts, visitor);
        return state_;
    }

    AlertReader& alert_reader() override { return alert_reader_; }

    base::Result<std::vector<model::JobRun>> job_runs(const std::string& key) override {
        const std::scoped_lock lock(disk_->mutex);
        std::vector<model::JobRun> runs;
        const auto found = disk_->content.job_runs.find(key);
        if (found == disk_->content.job_runs.end()) return runs;
        for (const auto& [id, run] : found->second) runs.push_back(run);
        return runs;
    }

    base::Status back_up(const std::string&, const std::function<bool()>&) override {
        return base::config_error("store.no_file",
                                  "the state is in memory: there is nothing to back up");
    }

    base::Result<std::vector<StoredChange>> changes(const ChangeQuery& query) override {
        const std::size_t limit = std::min(query.limit, kMostChangesPerQuery);
        std::vector<StoredChange> found;
        const auto take = [&](const StoredChange& change) {
            const bool fits = change.number > query.after && change.number < query.before;
            if (!fits || found.size() >= limit) return;
            if (!query.key || *query.key == change.key) found.push_back(change);
        };
        const std::scoped_lock lock(disk_->mutex);
        const auto& all = disk_->content.changes;
        if (query.newest_first) {
            for (auto it = all.rbegin(); it != all.rend(); ++it) take(it->second);
        } else {
            for (const auto& [number, change] : all) take(change);
        }
        return found;
    }

    base::Result<std::vector<Observation>> observations(const ObservationQuery& query) override {
        const std::size_t limit = std::min(query.limit, kMostObservationsPerQuery);
        std::vector<Observation> found;
        const auto take = [&](const Observation& row) {
            const bool fits = row.id > query.after && row.id < query.before;
            if (!fits || found.size() >= limit) return;
            if (!query.key || *query.key == row.key) found.push_back(row);
        };
        const std::scoped_lock lock(disk_->mutex);
        const auto& all = disk_->content.observations;
        if (query.newest_first) {
            for (auto it = all.rbegin(); it != all.rend(); ++it) take(it->second);
        } else {
            for (const auto& [id, row] : all) take(row);
        }
        return found;
    }

    base::Result<std::vector<SettingsVersion>> settings_versions(std::uint64_t before,
                                                                 std::size_t limit) override {
        const std::scoped_lock lock(disk_->mutex);
        limit = std::min(limit, kMostChangesPerQuery);
        std::vector<SettingsVersion> found;
        const auto& all = disk_->content.settings;
        for (auto it = all.rbegin(); it != all.rend() && found.size() < limit; ++it) {
            if (it->first.first < before) found.push_back(it->second);
        }
        return found;
    }

    base::Result<std::vector<AuditRecord>> audit(const AuditQuery& query) override {
        const std::scoped_lock lock(disk_->mutex);
        const std::size_t limit = std::min(query.limit, kMostAuditPerQuery);
        std::vector<AuditRecord> found;
        const auto& all = disk_->content.audit;
        const auto take = [&](const auto& rows) {
            for (const auto& [number, record] : rows) {
                if (found.size() == limit) return;
                if (matches(query, record)) found.push_back({number, record.entry, false});
            }
        };
        if (query.oldest_first) {
            take(all);
        } else {
            take(std::views::reverse(all));
        }
        return found;
    }

    AuditHead audit_head() override {
        const std::scoped_lock lock(disk_->mutex);
        return chain_.head();
    }

    std::uint64_t bytes_on_disk() const override { return 0; }

  private:
    using Objects = std::map<std::pair<model::ObjectKind, std::string>, model::ConfigObject>;

    // Takes the expected version out; expected 0: there must be none.
    static base::Status take(Objects& objects, model::ObjectKind kind, const std::string& id,
                             std::uint64_t expected) {
        const auto found = objects.find({kind, id});
        const std::uint64_t version = found == objects.end() ? 0 : found->second.version;
        if (version != expected) {
            return std::unexpected(version_conflict(kind, id, expected, version));
        }
        if (found != objects.end()) objects.erase(found);
        return {};
    }

    void keep_run(const model::JobRun& run) {
        if (!disk_->content.jobs.contains(run.key)) return;
        auto& runs = disk_->content.job_runs[run.key];
        runs[run.run] = run;
        while (runs.size() > model::kMostRunsPerJob) runs.erase(runs.begin());
    }

    void trim_observations(const ObservationLimits& keep) {
        auto& all = disk_->content.observations;
        std::map<std::string, std::uint64_t, std::less<>> per_key;
        for (const auto& [id, row] : all) ++per_key[row.key];
        std::erase_if(all, [&](const auto& entry) {
            std::uint64_t& of_key = per_key[entry.second.key];
            if (entry.second.received >= keep.not_before && of_key <= keep.most_per_key) {
                return false;
            }
            --of_key;
            return true;
        });
        while (all.size() > keep.most) all.erase(all.begin());
    }

    static bool matches(const AuditQuery& query, const ChainedRecord& record) {
        const auto& entry = record.entry;
        const auto wanted = [](const auto& filter, const auto& value) {
            return !filter || *filter == value;
        };
        const bool action =
            !query.action || entry.action == *query.action ||
            (query.action->ends_with('.') && entry.action.starts_with(*query.action));
        return record.number < query.before && record.number > query.after && action &&
               wanted(query.principal, entry.principal) && wanted(query.object, entry.object) &&
               wanted(query.result, entry.result) && (!query.from || entry.at >= *query.from) &&
               (!query.to || entry.at < *query.to);
    }

    void write_audit(const std::vector<model::AuditEntry>& entries) {
        for (const auto& entry : entries) {
            ChainedRecord record = chain_.append(entry);
            const std::uint64_t number = record.number;
            disk_->content.audit.emplace(number, std::move(record));
        }
    }

    std::uint64_t trim_audit(const AuditRetention& retention) {
        auto& all = disk_->content.audit;
        AuditAnchor& anchor = disk_->content.anchor;
        const std::uint64_t oldest = all.empty() ? 0 : all.begin()->first;
        AuditMac before{};
        std::uint64_t removed = 0;
        while (!all.empty() && all.begin()->second.entry.at < retention.before &&
               removed < kMostAuditRemovals) {
            before = all.begin()->second.mac;
            all.erase(all.begin());
            ++removed;
        }
        if (removed == 0) return 0;
        anchor = chain_.anchor(oldest + removed, before, retention.now, anchor.removed + removed);
        write_audit({AuditChain::retention_entry(anchor, oldest, retention.before)});
        return removed;
    }

    void keep_settings(const ObjectBatch& batch) {
        for (const auto& write : batch.writes) {
            if (write.object.kind != model::ObjectKind::kSettings) continue;
            SettingsVersion version{write.object, batch.note};
            version.object.version = write.expected_version + 1;
            const std::pair ref(version.object.version, version.object.id);
            disk_->content.settings[ref] = std::move(version);
        }
    }

    std::shared_ptr<MemoryDisk> disk_;
    MemoryAlertReader alert_reader_;
    LoadedState state_;
    AuditChain chain_;
    std::uint64_t audited_batch_ = 0;
};

}  // namespace

std::unique_ptr<Store> open_memory_store(std::shared_ptr<MemoryDisk> disk, AnswerSink sink,
                                         AuditOptions audit) {
    return std::make_unique<QueuedStore>(
        std::make_unique<MemoryBackend>(std::move(disk), std::move(audit.key)), std::move(sink),
        std::move(audit.committed));
}

}  // namespace pollux::store
