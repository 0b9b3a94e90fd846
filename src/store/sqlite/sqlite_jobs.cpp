// SqliteBackend: jobs and their runs, and the upkeep of the file. How a job stands is in its row of
// task_state; it goes with that row.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "store/object_rules.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/sqlite_backend.hpp"

namespace pollux::store {

namespace {

constexpr int kPagesPerCompaction = 2000;  // 8 MB: the writer is held up for a moment only
constexpr char kLineEnd = '\n';

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line;
        std::ranges::replace(text.begin() + static_cast<std::ptrdiff_t>(text.size() - line.size()),
                             text.end(), kLineEnd, ' ');
        text += kLineEnd;
    }
    return text;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = text.find(kLineEnd);
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

}  // namespace

// Runs that nobody is left to end: they were interrupted, some time before now.
base::Status SqliteBackend::end_open_runs() {
    return writer_->execute(fmt::format(
        "UPDATE job_run SET outcome = {}, finished = max(started + 1, "
        "CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)) WHERE finished = 0",
        static_cast<int>(model::Outcome::kInterrupted)));
}

base::Status SqliteBackend::commit(const JobBatch& batch) {
    AuditChain chain = chain_;
    auto status = in_transaction(*writer_, [&]() -> base::Status {
        if (auto done = remove_jobs(batch.removed); !done) return done;
        auto statement = writer_->prepare("INSERT INTO job VALUES (?1, ?2, ?3, ?4, ?5)");
        if (!statement) return std::unexpected(std::move(statement.error()));
        for (const JobRow& row : batch.added) {
            statement->bind(1, std::string_view(row.key));
            statement->bind(2, std::string_view(row.id));
            statement->bind(3, std::string_view(row.batch));
            statement->bind(4, row.created.us);
            statement->bind(5, std::string_view(row.spec));
            auto added = statement->run();
            if (!added && added.error().code == "store.conflict") {
                return std::unexpected(job_conflict(row.key));
            }
            if (!added) return added;
        }
        return write_audit(chain, batch.audit);
    });
    if (status) take_audit(std::move(chain));
    return status;
}

base::Status SqliteBackend::remove_jobs(const std::vector<std::string>& keys) {
    for (const char* sql :
         {"DELETE FROM job WHERE key = ?1", "DELETE FROM job_run WHERE key = ?1"}) {
        if (auto status = for_keys(*writer_, sql, keys); !status) return status;
    }
    return {};
}

base::Status SqliteBackend::write_runs(const std::vector<model::JobRun>& runs) {
    if (runs.empty()) return {};
    auto statement = writer_->prepare(
        "INSERT OR REPLACE INTO job_run SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
        "?13 WHERE EXISTS (SELECT 1 FROM job WHERE key = ?1)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    std::set<std::string_view> begun;
    for (const model::JobRun& run : runs) {
        const std::string log = joined(run.log);
        statement->bind(1, std::string_view(run.key));
        statement->bind(2, run.run.epoch);
        statement->bind(3, run.run.counter);
        statement->bind(4, run.attempt);
        statement->bind(5, run.started.us);
        statement->bind(6, run.finished.us);
        statement->bind(7, static_cast<int>(run.outcome));
        statement->bind(8, run.exit_status);
        statement->bind(9, std::string_view(run.code));
        statement->bind(10, std::string_view(run.message));
        statement->bind(11, std::string_view(run.output));
        statement->bind(12, run.truncated ? 1 : 0);
        statement->bind(13, std::string_view(log));
        if (auto status = statement->run(); !status) return status;
        if (run.attempt > model::kMostRunsPerJob) begun.insert(run.key);
    }
    for (const std::string_view key : begun) {
        auto trim = writer_->prepare(
            "DELETE FROM job_run WHERE key = ?1 AND (epoch, counter) NOT IN (SELECT epoch, counter "
            "FROM job_run WHERE key = ?1 ORDER BY epoch DESC, counter DESC LIMIT ?2)");
        if (!trim) return std::unexpected(std::move(trim.error()));
        trim->bind(1, key);
        trim->bind(2, std::uint64_t{model::kMostRunsPerJob});
        if (auto status = trim->run(); !status) return status;
    }
    return {};
}

base::Status SqliteBackend::load_jobs(const LoadVisitor& visitor) {
    if (!visitor.job) return {};
    auto statement = reader_->prepare("SELECT key, id, batch, created, spec FROM job ORDER BY id");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return {};
        JobRow job;
        job.key = statement->text(0);
        job.id = statement->text(1);
        job.batch = statement->text(2);
        job.created = base::WallTime{statement->integer(3)};
        job.spec = statement->text(4);
        visitor.job(std::move(job));
    }
}

base::Result<std::vector<model::JobRun>> SqliteBackend::job_runs(const std::string& key) {
    const std::scoped_lock lock(reader_mutex_);
    if (!reader_) return std::unexpected(closed_error());
    auto statement = reader_->prepare(
        "SELECT epoch, counter, attempt, started, finished, outcome, exit_status, code, message, "
        "output, truncated, log FROM job_run WHERE key = ?1 ORDER BY epoch, counter");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, std::string_view(key));
    std::vector<model::JobRun> runs;
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return runs;
        model::JobRun& run = runs.emplace_back();
        run.key = key;
        run.run = {static_cast<std::uint32_t>(statement->integer(0)),
                   statement->unsigned_integer(1)};
        run.attempt = static_cast<std::uint32_t>(statement->integer(2));
        run.started = base::WallTime{statement->integer(3)};
        run.finished = base::WallTime{statement->integer(4)};
        run.outcome = static_cast<model::Outcome>(std::clamp<std::int64_t>(
            statement->integer(5), 0, static_cast<int>(model::Outcome::kInterrupted)));
        run.exit_status = static_cast<int>(statement->integer(6));
        run.code = statement->text(7);
        run.message = statement->text(8);
        run.output = statement->text(9);
        run.truncated = statement->integer(10) != 0;
        run.log = split(statement->text(11));
    }
}

base::Status SqliteBackend::back_up(const std::string& path, const std::function<bool()>& go_on) {
    // A connection of its own: neither the writer nor those who ask wait for it.
    auto source = Database::open(path_, {false, true, options_.vfs, "PRAGMA temp_store = MEMORY;"});
    if (!source) return std::unexpected(std::move(source.error()));
    return (*source)->copy_to(path, go_on);
}

base::Status SqliteBackend::compact() {
    auto status = writer_->execute(
        fmt::format("PRAGMA incremental_vacuum({}); PRAGMA optimize;", kPagesPerCompaction));
    if (!status) return status;
    return writer_->execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace pollux::store
