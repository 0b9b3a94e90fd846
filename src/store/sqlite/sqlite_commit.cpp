// SqliteBackend: what is written.
#include <algorithm>

#include "base/bytes.hpp"
#include "engine/record_codec.hpp"
#include "store/object_rules.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/sqlite_backend.hpp"

namespace pollux::store {

namespace {

constexpr std::uint64_t kTrimPerCommit = 2000;

constexpr std::string_view kRemoveMemory = "DELETE FROM target_memory WHERE key = ?1";

}  // namespace

base::Status SqliteBackend::commit(const engine::WriteBatch& batch) {
    const std::uint64_t stored_before = changes_stored_;
    // The same batch once more after its commit, because the answer was lost: rows and changes are
    // replaced by themselves, entries must not be added again.
    const bool again = batch.sequence != 0 && batch.sequence == audited_batch_;
    const bool audited = !batch.audit.empty() && !again;
    AuditChain chain = chain_;
    auto status = in_transaction(*writer_, [&]() -> base::Status {
        if (auto done = remove_tasks(batch.removed); !done) return done;
        if (auto done = write_tasks(batch.rows); !done) return done;
        if (auto done = write_changes(batch.changes); !done) return done;
        if (audited) {
            if (auto done = write_audit(chain, batch.audit); !done) return done;
        }
        if (auto done = write_runs(batch.runs); !done) return done;
        return trim_changes();
    });
    if (!status) {
        changes_stored_ = stored_before;
    } else if (audited) {
        audited_batch_ = batch.sequence;
        take_audit(std::move(chain));
    }
    return status;
}

base::Status SqliteBackend::remove_tasks(const std::vector<std::string>& keys) {
    auto status = for_keys(*writer_, "DELETE FROM task_state WHERE key = ?1", keys);
    if (!status) return status;
    if (auto jobs = remove_jobs(keys); !jobs) return jobs;
    return for_keys(*writer_, kRemoveMemory, keys);
}

base::Status SqliteBackend::write_tasks(const std::vector<model::TaskRecord>& rows) {
    if (rows.empty()) return {};
    auto statement = writer_->prepare(
        "INSERT OR REPLACE INTO task_state (key, partition, enabled, job, next_due, last_success, "
        "last_error, interval_ms, failures, breaker, dead_letter, record) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    base::ByteWriter record;
    for (const auto& row : rows) {
        record.clear();
        engine::encode(record, row);
        statement->bind(1, std::string_view(row.key));
        statement->bind(2, partition_of_key(row.key));
        statement->bind(3, row.enabled ? 1 : 0);
        statement->bind(4, number_of(row.job));
        statement->bind(5, row.next_due.us);
        statement->bind(6, row.last_success.us);
        statement->bind(7, row.last_error.us);
        statement->bind(8, row.interval_ms);
        statement->bind(9, row.failure.consecutive);
        statement->bind(10, number_of(row.failure.breaker));
        statement->bind(11, number_of(row.failure.dead_letter));
        statement->bind_blob(12, record.view());
        if (auto status = statement->run(); !status) return status;
    }
    return {};
}

base::Status SqliteBackend::write_changes(const std::vector<engine::TaskChange>& changes) {
    if (changes.empty()) return {};
    auto statement =
        writer_->prepare("INSERT OR REPLACE INTO change VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const auto& one : changes) {
        statement->bind(1, one.number);
        statement->bind(2, std::string_view(one.key));
        statement->bind(3, number_of(one.change.kind));
        statement->bind(4, int{one.change.from});
        statement->bind(5, int{one.change.to});
        statement->bind(6, one.change.failures);
        statement->bind(7, one.at.us);
        if (auto status = statement->run(); !status) return status;
    }
    changes_stored_ += changes.size();
    return {};
}

base::Status SqliteBackend::trim_changes() {
    if (changes_stored_ <= options_.most_changes) return {};
    const std::uint64_t count = std::min(changes_stored_ - options_.most_changes, kTrimPerCommit);
    auto statement = writer_->prepare(
        "DELETE FROM change WHERE number IN (SELECT number FROM change ORDER BY number LIMIT ?1)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, count);
    if (auto status = statement->run(); !status) return status;
    changes_stored_ -= count;
    return {};
}

base::Result<ObjectCommit> SqliteBackend::commit(const ObjectBatch& batch) {
    if (auto status = check(batch); !status) return std::unexpected(std::move(status.error()));
    ObjectCommit result;
    if (batch.removals.empty() && batch.writes.empty() && batch.audit.empty()) return result;
    AuditChain chain = chain_;
    // Everything that changes is taken out first and then written anew: so two objects may swap
    // their names although names are unique at every moment.
    auto status = in_transaction(*writer_, [&]() -> base::Status {
        for (const auto& removal : batch.removals) {
            auto done = take_object(removal.kind, removal.id, removal.expected_version);
            if (!done) return done;
        }
        for (const auto& write : batch.writes) {
            auto done = take_object(write.object.kind, write.object.id, write.expected_version);
            if (!done) return done;
        }
        for (const auto& write : batch.writes) {
            if (auto done = write_object(write, batch.note); !done) return done;
            result.versions.push_back(write.expected_version + 1);
        }
        return write_audit(chain, batch.audit);
    });
    if (!status) return std::unexpected(std::move(status.error()));
    take_audit(std::move(chain));
    return result;
}

base::Status SqliteBackend::take_object(model::ObjectKind kind, const std::string& id,
                                        std::uint64_t expected) {
    std::uint64_t found = 0;
    {
        auto statement = writer_->prepare("SELECT version FROM object WHERE kind = ?1 AND id = ?2");
        if (!statement) return std::unexpected(std::move(statement.error()));
        statement->bind(1, number_of(kind));
        statement->bind(2, std::string_view(id));
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (*row) found = statement->unsigned_integer(0);
    }
    if (found != expected) return std::unexpected(version_conflict(kind, id, expected, found));
    if (found == 0) return {};
    auto statement = writer_->prepare("DELETE FROM object WHERE kind = ?1 AND id = ?2");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, number_of(kind));
    statement->bind(2, std::string_view(id));
    return statement->run();
}

base::Status SqliteBackend::write_object(const ObjectWrite& write, const std::string& note) {
    const auto& object = write.object;
    {
        auto statement = writer_->prepare("SELECT id FROM object WHERE kind = ?1 AND name = ?2");
        if (!statement) return std::unexpected(std::move(statement.error()));
        statement->bind(1, number_of(object.kind));
        statement->bind(2, std::string_view(object.name));
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (*row) {
            return std::unexpected(
                name_conflict(object.kind, object.name, std::string(statement->text(0))));
        }
    }
    const auto bind_body = [&](Statement& statement, int parameter) {
        if (object.kind == model::ObjectKind::kCredential) {
            statement.bind_blob(parameter, object.body);
        } else {
            statement.bind(parameter, std::string_view(object.body));
        }
    };
    auto statement = writer_->prepare("INSERT INTO object VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, number_of(object.kind));
    statement->bind(2, std::string_view(object.id));
    statement->bind(3, std::string_view(object.name));
    statement->bind(4, number_of(object.origin));
    statement->bind(5, write.expected_version + 1);
    statement->bind(6, partition_of(object));
    statement->bind(7, object.changed_at.us);
    bind_body(*statement, 8);
    if (auto status = statement->run(); !status) return status;
    if (object.kind != model::ObjectKind::kSettings) return {};
    auto kept = writer_->prepare(
        "INSERT OR REPLACE INTO settings_version VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    if (!kept) return std::unexpected(std::move(kept.error()));
    kept->bind(1, write.expected_version + 1);
    kept->bind(2, std::string_view(object.id));
    kept->bind(3, std::string_view(object.name));
    kept->bind(4, number_of(object.origin));
    kept->bind(5, object.changed_at.us);
    kept->bind(6, std::string_view(note));
    bind_body(*kept, 7);
    return kept->run();
}

base::Status SqliteBackend::commit(const MemoryBatch& batch) {
    if (batch.removed.empty() && batch.rows.empty()) return {};
    return in_transaction(*writer_, [&]() -> base::Status {
        auto removed = for_keys(*writer_, kRemoveMemory, batch.removed);
        if (!removed) return removed;
        return write_memory(batch.rows);
    });
}

base::Status SqliteBackend::write_memory(const std::vector<MemoryRow>& rows) {
    if (rows.empty()) return {};
    auto statement = writer_->prepare("INSERT OR REPLACE INTO target_memory VALUES (?1, ?2, ?3)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const auto& row : rows) {
        statement->bind(1, std::string_view(row.key));
        statement->bind(2, partition_of_key(row.key));
        statement->bind_blob(3, row.bytes);
        if (auto status = statement->run(); !status) return status;
    }
    return {};
}

}  // namespace pollux::store
