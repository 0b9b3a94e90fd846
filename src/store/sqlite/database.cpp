#include "store/sqlite/database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/check.hpp"

namespace pollux::store {

namespace {

constexpr int kPagesPerStep = 256;    // of a copy: 1 MB
constexpr int kBusyTimeoutMs = 2000;  // a person's sqlite3 shell may hold the file for a moment

struct Verdict {
    const char* code;
    base::ErrorClass error_class;
    const char* advice;
};

Verdict classify(int result) {
    using enum base::ErrorClass;
    switch (result & 0xff) {
        case SQLITE_FULL:
            return {"store.disk_full", kTransient,
                    "free space on this file system; writing goes on by itself"};
        case SQLITE_IOERR:
            return {"store.io", kTransient,
                    "look at the disk and the kernel's log; writing goes on by itself when the "
                    "disk answers again"};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {"store.busy", kTransient,
                    "another program holds the file: close it; writing goes on by itself"};
        case SQLITE_NOMEM: return {"store.memory", kTransient, "free memory on this machine"};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {"store.corrupt", kPermanent,
                    "the file is damaged and was left as it is: move it away and restore a "
                    "backup, or save what is readable with the .recover command of sqlite3"};
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
        case SQLITE_AUTH:
        case SQLITE_READONLY:
            return {"store.access", kConfig,
                    "check that the folder exists and that the user that runs pollux may write it"};
        case SQLITE_CONSTRAINT:
            return {"store.conflict", kPermanent, "read what is stored and repeat the change"};
        default: return {"store.internal", kInternal, "report this"};
    }
}

base::Error make(int result, const std::string& path, std::string_view doing,
                 std::string_view seen) {
    const Verdict verdict = classify(result);
    return {
        verdict.code, verdict.error_class,
        fmt::format("store: cannot {} {}: {} ({}): {}", doing, path, seen, result, verdict.advice)};
}

}  // namespace

Statement::~Statement() {
    if (handle_ == nullptr) return;
    sqlite3_reset(handle_);
    sqlite3_clear_bindings(handle_);
}

void Statement::bind(int parameter, std::int64_t value) {
    POLLUX_CHECK(sqlite3_bind_int64(handle_, parameter, value) == SQLITE_OK);
}

void Statement::bind(int parameter, std::string_view text) {
    // A view may have a null pointer, which SQLite would store as NULL.
    const char* data = text.data() == nullptr ? "" : text.data();
    // Too long is the only way to fail; the step then reports it as a missing value.
    static_cast<void>(
        sqlite3_bind_text64(handle_, parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind_blob(int parameter, std::string_view bytes) {
    const char* data = bytes.data() == nullptr ? "" : bytes.data();
    static_cast<void>(sqlite3_bind_blob64(handle_, parameter, data, bytes.size(), SQLITE_STATIC));
}

base::Result<bool> Statement::step() {
    const int result = sqlite3_step(handle_);
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_DONE) return false;
    base::Error error =
        database_->last_error(sqlite3_stmt_readonly(handle_) != 0 ? "read" : "write");
    sqlite3_reset(handle_);
    return std::unexpected(std::move(error));
}

base::Status Statement::run() {
    auto row = step();
    if (!row) return std::unexpected(std::move(row.error()));
    sqlite3_reset(handle_);
    return {};
}

void Statement::restart() { sqlite3_reset(handle_); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

bool Statement::null(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

std::string_view Statement::text(int column) const {
    const auto* data = sqlite3_column_text(handle_, column);
    const int length = sqlite3_column_bytes(handle_, column);
    if (data == nullptr) return {};
    return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(length)};
}

std::string_view Statement::blob(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
    const int length = sqlite3_column_bytes(handle_, column);
    if (data == nullptr) return {};
    return {data, static_cast<std::size_t>(length)};
}

base::Result<std::unique_ptr<Database>> Database::open(const std::string& path,
                                                       const OpenOptions& options) {
    if (options.create) {
        // Made here, so that nobody else can read it; the log beside it takes over these rights.
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0) {
            return std::unexpected(make(SQLITE_CANTOPEN, path, "open", std::strerror(errno)));
        }
        ::close(fd);
    }
    sqlite3* handle = nullptr;
    const int result =
        sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        options.vfs.empty() ? nullptr : options.vfs.c_str());
    std::unique_ptr<Database> database(new Database(path, handle));
    if (result != SQLITE_OK) {
        return std::unexpected(
            make(result, path, "open", handle != nullptr ? sqlite3_errmsg(handle) : "no memory"));
    }
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, kBusyTimeoutMs);
    if (auto status = database->execute(options.pragmas); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (options.read_only) {
        if (auto status = database->execute("PRAGMA query_only = 1"); !status) {
            return std::unexpected(std::move(status.error()));
        }
    }
    return database;
}

Database::~Database() {
    for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close_v2(handle_);
}

base::Status Database::execute(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return std::unexpected(last_error("use"));
}

base::Result<Statement> Database::prepare(std::string_view sql) {
    if (const auto found = statements_.find(sql); found != statements_.end()) {
        return Statement(*this, found->second);
    }
    sqlite3_stmt* handle = nullptr;
    const int result = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (result != SQLITE_OK) return std::unexpected(last_error("prepare a statement for"));
    statements_.emplace(sql, handle);
    return Statement(*this, handle);
}

base::Result<std::int64_t> Database::integer(std::string_view sql, std::int64_t otherwise) {
    auto statement = prepare(sql);
    if (!statement) return std::unexpected(std::move(statement.error()));
    auto row = statement->step();
    if (!row) return std::unexpected(std::move(row.error()));
    return *row ? statement->integer(0) : otherwise;
}

base::Status Database::copy_to(const std::string& path, const std::function<bool()>& go_on) {
    const std::string part = path + ".part";
    ::unlink(part.c_str());
    auto opened = open(part, {true, false, "", "PRAGMA journal_mode = OFF;"});
    if (!opened) return std::unexpected(std::move(opened.error()));
    Database& copy = **opened;
    // The moment that is copied: what others commit from here on does not begin it anew.
    if (auto status = execute("BEGIN; SELECT count(*) FROM sqlite_schema"); !status) return status;
    sqlite3_backup* const backup = sqlite3_backup_init(copy.handle_, "main", handle_, "main");
    int result = backup == nullptr ? SQLITE_ERROR : SQLITE_OK;
    bool wanted = true;
    while (result == SQLITE_OK && (wanted = go_on())) {
        result = sqlite3_backup_step(backup, kPagesPerStep);
    }
    if (backup != nullptr) sqlite3_backup_finish(backup);
    auto status = execute("COMMIT");
    if (wanted && result != SQLITE_DONE) {
        status = std::unexpected(copy.last_error("copy the state to"));
    } else if (!wanted) {
        status = base::make_error(base::ErrorClass::kTransient, "store.stopped",
                                  fmt::format("the copy to {} was stopped", path));
    }
    opened->reset();
    if (status && std::rename(part.c_str(), path.c_str()) != 0) {
        status =
            std::unexpected(make(SQLITE_CANTOPEN, path, "finish the copy", std::strerror(errno)));
    }
    if (!status) ::unlink(part.c_str());
    return status;
}

std::int64_t Database::changed_rows() const { return sqlite3_changes64(handle_); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

base::Error Database::last_error(std::string_view doing) const {
    const int result = sqlite3_extended_errcode(handle_);
    std::string seen = sqlite3_errmsg(handle_);
    const int system = sqlite3_system_errno(handle_);
    if ((result & 0xff) == SQLITE_IOERR && system != 0) {
        seen += fmt::format(", {}", std::strerror(system));
    }
    return make(result, path_, doing, seen);
}

base::Result<Transaction> Transaction::begin(Database& database) {
    auto statement = database.prepare("BEGIN IMMEDIATE");
    if (!statement) return std::unexpected(std::move(statement.error()));
    if (auto status = statement->run(); !status) return std::unexpected(std::move(status.error()));
    return Transaction(database);
}

Transaction::~Transaction() {
    // Some errors (a full disk) have rolled back already. One that cannot be rolled back leaves a
    // transaction open, and the next begin() reports that.
    if (database_ == nullptr || !database_->in_transaction()) return;
    static_cast<void>(database_->execute("ROLLBACK"));
}

base::Status Transaction::commit() {
    auto statement = database_->prepare("COMMIT");
    if (!statement) return std::unexpected(std::move(statement.error()));
    if (auto status = statement->run(); !status) return status;
    database_ = nullptr;
    return {};
}

std::uint64_t bytes_on_disk(const std::string& database_path) {
    std::uint64_t bytes = 0;
    for (const char* suffix : {"", "-wal", "-shm"}) {
        struct stat found{};
        if (stat((database_path + suffix).c_str(), &found) == 0) {
            bytes += static_cast<std::uint64_t>(found.st_size);
        }
    }
    return bytes;
}

}  // namespace pollux::store
