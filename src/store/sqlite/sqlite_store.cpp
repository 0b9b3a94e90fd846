#include "store/sqlite/sqlite_store.hpp"

#include <fmt/format.h>

#include <limits>

#include "store/object_rules.hpp"
#include "store/queued_store.hpp"
#include "store/sqlite/sqlite_backend.hpp"
#include "store/sqlite/state_schema.hpp"

namespace pollux::store {

namespace {

// FULL: a commit is on the disk when it returns. The log is folded back every 4000 pages (16 MB)
// and cut to 64 MB after a burst. Temporary data stays in memory: a full disk cannot break a read.
constexpr const char* kPragmas =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -16384;"
    "PRAGMA wal_autocheckpoint = 4000;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA trusted_schema = 0;";

}  // namespace

base::Result<std::unique_ptr<SqliteBackend>> SqliteBackend::open(
    std::shared_ptr<const DataDirectory> directory, SqliteOptions options) {
    std::unique_ptr<SqliteBackend> backend(
        new SqliteBackend(std::move(directory), std::move(options)));
    if (auto status = backend->open_connections(); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = backend->begin_epoch(); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = backend->count_observations(); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = backend->find_audit_head(); !status) {
        return std::unexpected(status.error());
    }
    if (auto status = backend->find_alert_numbers(); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = backend->end_open_runs(); !status) {
        return std::unexpected(std::move(status.error()));
    }
    return backend;
}

base::Status SqliteBackend::open_connections() {
    // First without any pragma that writes: a stranger's file must not even change its journal.
    auto writer = Database::open(path_, {true, false, options_.vfs, ""});
    if (!writer) return std::unexpected(std::move(writer.error()));
    writer_ = std::move(*writer);
    if (auto status = check_shape(*writer_, state_schema()); !status) return status;
    // A new file can give pages back bit by bit. One that holds something is not touched by this.
    auto pages = writer_->integer("PRAGMA page_count");
    if (!pages) return std::unexpected(std::move(pages.error()));
    if (*pages == 0) {
        if (auto status = writer_->execute("PRAGMA auto_vacuum = INCREMENTAL"); !status) {
            return status;
        }
    }
    if (auto status = writer_->execute(kPragmas); !status) return status;
    if (auto status = check_after_crash(); !status) return status;
    if (auto status = migrate_up(*writer_, state_schema()); !status) return status;
    auto reader = Database::open(path_, {false, true, options_.vfs, "PRAGMA temp_store = MEMORY;"});
    if (!reader) return std::unexpected(std::move(reader.error()));
    reader_ = std::move(*reader);
    return {};
}

// SQLite's log makes a crash harmless; what this looks for is a disk that lied. So it is done only
// after an unclean stop, and only where it takes a moment: it reads the whole file.
base::Status SqliteBackend::check_after_crash() {
    auto has_meta = writer_->integer("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'");
    if (!has_meta) return std::unexpected(std::move(has_meta.error()));
    if (*has_meta == 0) return {};
    auto clean = writer_->integer("SELECT value FROM meta WHERE name = 'clean_stop'", 1);
    if (!clean) return std::unexpected(std::move(clean.error()));
    state_.clean_stop = *clean != 0;
    if (state_.clean_stop || bytes_on_disk() > options_.check_below_bytes) return {};
    auto statement = writer_->prepare("PRAGMA quick_check(1)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    auto row = statement->step();
    if (!row) return std::unexpected(std::move(row.error()));
    if (*row && statement->text(0) == "ok") return {};
    return base::make_error(
        base::ErrorClass::kPermanent, "store.corrupt",
        fmt::format("store: {} is damaged: {}: it was left as it is; move it away and restore a "
                    "backup, or save what is readable with the .recover command of sqlite3",
                    path_, *row ? statement->text(0) : "no answer to the check"));
}

base::Status SqliteBackend::begin_epoch() {
    auto epoch = writer_->integer("SELECT value FROM meta WHERE name = 'epoch'");
    auto newest = writer_->integer("SELECT max(number) FROM change");
    auto stored = writer_->integer("SELECT count(*) FROM change");
    for (const auto* value : {&epoch, &newest, &stored}) {
        if (!*value) return std::unexpected(value->error());
    }
    if (*epoch < 0 || *epoch >= std::numeric_limits<std::int32_t>::max()) {
        return base::make_error(base::ErrorClass::kPermanent, "store.corrupt",
                                fmt::format("store: {} holds the impossible epoch {}: it was left "
                                            "as it is; restore a backup",
                                            path_, *epoch));
    }
    state_.epoch = static_cast<std::uint32_t>(*epoch) + 1;
    state_.first_change = first_change_number(state_.epoch, static_cast<std::uint64_t>(*newest));
    changes_stored_ = static_cast<std::uint64_t>(*stored);
    auto transaction = Transaction::begin(*writer_);
    if (!transaction) return std::unexpected(std::move(transaction.error()));
    auto status = writer_->execute(fmt::format(
        "INSERT OR REPLACE INTO meta VALUES ('epoch', {}), ('clean_stop', 0)", state_.epoch));
    if (!status) return status;
    return transaction->commit();
}

base::Status SqliteBackend::close() {
    auto status = writer_->execute("UPDATE meta SET value = 1 WHERE name = 'clean_stop'");
    const std::scoped_lock lock(reader_mutex_);
    reader_.reset();
    writer_.reset();  // the last connection folds the log back into the file
    return status;
}

base::Result<std::unique_ptr<Store>> open_sqlite_store(
    std::shared_ptr<const DataDirectory> directory, AnswerSink sink, SqliteOptions options) {
    auto committed = options.audit.committed;
    auto backend = SqliteBackend::open(std::move(directory), std::move(options));
    if (!backend) return std::unexpected(std::move(backend.error()));
    return std::make_unique<QueuedStore>(std::move(*backend), std::move(sink),
                                         std::move(committed));
}

}  // namespace pollux::store
