// One SQLite connection as values and Results: statements are prepared once and kept.
//
// A connection is used by one thread at a time. Errors are classified (see classify in
// database.cpp) and name the file; no error leaves a transaction open behind a Transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace pollux::store {

class Database;

// A prepared statement on loan from its connection; ready for use again when this goes. Columns
// count from 0, parameters from 1. Text and blobs that were bound must live until the step.
class Statement {
  public:
    Statement(Database& database, sqlite3_stmt* handle) : database_(&database), handle_(handle) {}
    ~Statement();
    Statement(Statement&& other) noexcept
        : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)) {}
    Statement& operator=(Statement&&) = delete;

    void bind(int parameter, std::int64_t value);
    void bind(int parameter, std::uint64_t value) {
        bind(parameter, static_cast<std::int64_t>(value));
    }
    void bind(int parameter, std::uint32_t value) { bind(parameter, std::int64_t{value}); }
    void bind(int parameter, int value) { bind(parameter, std::int64_t{value}); }
    void bind(int parameter, std::string_view text);
    void bind_blob(int parameter, std::string_view bytes);

    // True: there is a row; false: done.
    base::Result<bool> step();
    // For statements without rows: runs and makes ready for the next run. Bindings stay.
    base::Status run();
    // Back to before the first step; bindings stay.
    void restart();

    std::int64_t integer(int column) const;
    bool null(int column) const;
    std::uint64_t unsigned_integer(int column) const {
        return static_cast<std::uint64_t>(integer(column));
    }
    // Valid until the next step.
    std::string_view text(int column) const;
    std::string_view blob(int column) const;

  private:
    Database* database_;
    sqlite3_stmt* handle_;
};

class Database {
  public:
    struct OpenOptions {
        bool create = true;      // the file is made with 0600 if it is absent
        bool read_only = false;  // refuses to change anything through this connection
        std::string vfs;         // empty: the default one
        std::string pragmas;     // run after opening
    };

    static base::Result<std::unique_ptr<Database>> open(const std::string& path,
                                                        const OpenOptions& options);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    // Any number of statements, without parameters.
    base::Status execute(const std::string& sql);
    // The statement for this text; only one loan of a text at a time.
    base::Result<Statement> prepare(std::string_view sql);
    // The first column of the first row; `otherwise` if there is no row.
    base::Result<std::int64_t> integer(std::string_view sql, std::int64_t otherwise = 0);

    // Copies everything, as of one moment, into another file (replaced whole, mode 0600); `go_on`
    // is asked between parts. Commits of other connections go on meanwhile.
    base::Status copy_to(const std::string& path, const std::function<bool()>& go_on);

    std::int64_t changed_rows() const;  // by the last statement
    bool in_transaction() const;
    const std::string& path() const { return path_; }

    // The error of the last call, in words; `doing` continues "cannot ...".
    base::Error last_error(std::string_view doing) const;

  private:
    Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

    std::string path_;
    sqlite3* handle_;
    std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// All or nothing: rolls back unless commit() succeeded.
class Transaction {
  public:
    static base::Result<Transaction> begin(Database& database);
    ~Transaction();
    Transaction(Transaction&& other) noexcept
        : database_(std::exchange(other.database_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    base::Status commit();

  private:
    explicit Transaction(Database& database) : database_(&database) {}
    Database* database_;
};

// Runs `write` in a transaction of its own.
template <class Write>
base::Status in_transaction(Database& database, Write write) {
    auto transaction = Transaction::begin(database);
    if (!transaction) return std::unexpected(std::move(transaction.error()));
    if (base::Status status = write(); !status) return status;
    return transaction->commit();
}

// Bytes of the database with its write-ahead log, 0 if there is none.
std::uint64_t bytes_on_disk(const std::string& database_path);

}  // namespace pollux::store
