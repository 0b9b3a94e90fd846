// SqliteBackend: alerts, incidents, their timeline and the notifications about them.
#include <fmt/format.h>

#include <array>

#include "store/alert_rules.hpp"
#include "store/sqlite/alert_rows.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/sqlite_backend.hpp"

namespace pollux::store {

namespace {

struct NumberName {
    std::string_view name;  // in meta
    std::uint64_t AlertNumbers::* number;
};

constexpr std::array<NumberName, 4> kNumbers = {{
    {"newest_alert", &AlertNumbers::alert},
    {"newest_incident", &AlertNumbers::incident},
    {"newest_alert_event", &AlertNumbers::event},
    {"newest_notification", &AlertNumbers::notification},
}};

constexpr std::string_view kRemoveAlert = "DELETE FROM alert WHERE id = ?1";
constexpr std::string_view kRemoveIncident = "DELETE FROM incident WHERE id = ?1";

// One step of retention: a bounded number of rows, whatever their kind.
class Trimming {
  public:
    Trimming(Database& database, base::WallTime before) : database_(database), before_(before) {}

    // `chosen` gives ids for a time and a number of rows, `events` removes so many of one id.
    base::Status rows(std::string_view chosen, std::string_view events, std::string_view row) {
        auto ids = old(chosen);
        if (!ids) return std::unexpected(std::move(ids.error()));
        for (const std::string& id : *ids) {
            auto removal = database_.prepare(events);
            if (!removal) return std::unexpected(std::move(removal.error()));
            removal->bind(1, std::string_view(id));
            if (auto status = run_bounded(*removal); !status) return status;
            // The row waits for the next step: some of its events may still be there.
            if (left_ == 0) return {};
            if (auto status = for_keys(database_, row, {id}); !status) return status;
            --left_;
        }
        return {};
    }
    base::Status notifications() {
        auto statement = database_.prepare(
            "DELETE FROM notification WHERE number IN (SELECT number FROM notification "
            "WHERE state <> 0 AND max(made, last_attempt) < ?1 "
            "ORDER BY max(made, last_attempt) LIMIT ?2)");
        if (!statement) return std::unexpected(std::move(statement.error()));
        statement->bind(1, before_.us);
        return run_bounded(*statement);
    }
    std::uint64_t removed() const { return kMostAlertRemovals - left_; }

  private:
    base::Result<std::vector<std::string>> old(std::string_view chosen) {
        auto statement = database_.prepare(chosen);
        if (statement) {
            statement->bind(1, before_.us);
            statement->bind(2, left_);
        }
        std::vector<std::string> ids;
        auto status =
            each_row(statement, [&](const Statement& row) { ids.emplace_back(row.text(0)); });
        if (!status) return std::unexpected(std::move(status.error()));
        return ids;
    }
    // With what is left as the second parameter.
    base::Status run_bounded(Statement& statement) {
        statement.bind(2, left_);
        if (auto status = statement.run(); !status) return status;
        left_ -= std::min(left_, static_cast<std::uint64_t>(database_.changed_rows()));
        return {};
    }

    Database& database_;
    base::WallTime before_;
    std::uint64_t left_ = kMostAlertRemovals;
};

}  // namespace

base::Status SqliteBackend::find_alert_numbers() {
    for (const auto& [name, number] : kNumbers) {
        auto stored =
            writer_->integer(fmt::format("SELECT value FROM meta WHERE name = '{}'", name));
        if (!stored) return std::unexpected(std::move(stored.error()));
        alert_numbers_.*number = static_cast<std::uint64_t>(*stored);
    }
    state_.alert_numbers = alert_numbers_;
    return {};
}

base::Result<AlertCommit> SqliteBackend::commit(const AlertBatch& batch) {
    if (auto status = check(batch); !status) return std::unexpected(std::move(status.error()));
    AlertCommit result;
    if (rows_in(batch) == 0 && batch.audit.empty() && !batch.retention) return result;
    AuditChain chain = chain_;
    AlertNumbers numbers = alert_numbers_;
    raise(numbers, batch);
    auto status = in_transaction(*writer_, [&]() -> base::Status {
        if (auto done = remove_alert_rows(batch); !done) return done;
        if (auto done = write_alert_rows(batch); !done) return done;
        if (auto done = write_alert_numbers(numbers); !done) return done;
        if (auto done = write_audit(chain, batch.audit); !done) return done;
        if (!batch.retention) return {};
        auto removed = trim_alerts(*batch.retention);
        if (!removed) return std::unexpected(std::move(removed.error()));
        result.removed = *removed;
        return {};
    });
    if (!status) return std::unexpected(std::move(status.error()));
    alert_numbers_ = numbers;
    take_audit(std::move(chain));
    return result;
}

base::Status SqliteBackend::remove_alert_rows(const AlertBatch& batch) {
    struct Removal {
        std::string_view sql;
        const std::vector<std::string>& ids;
    };
    for (const auto& [sql, ids] : std::initializer_list<Removal>{
             {"DELETE FROM alert_event WHERE alert = ?1", batch.removed_alerts},
             {kRemoveAlert, batch.removed_alerts},
             {"DELETE FROM alert_event WHERE incident = ?1 AND alert = ''",
              batch.removed_incidents},
             {kRemoveIncident, batch.removed_incidents},
             {"DELETE FROM notification WHERE id = ?1", batch.removed_notifications},
             {"DELETE FROM alert_memory WHERE key = ?1", batch.removed_memory}}) {
        if (auto status = for_keys(*writer_, sql, ids); !status) return status;
    }
    return {};
}

base::Status SqliteBackend::write_alert_rows(const AlertBatch& batch) {
    if (auto done = write_alerts(*writer_, batch.alerts); !done) return done;
    if (auto done = write_incidents(*writer_, batch.incidents); !done) return done;
    if (auto done = write_events(*writer_, batch.events); !done) return done;
    if (auto done = write_notifications(*writer_, batch.notifications); !done) return done;
    if (auto done = note_channels(*writer_, batch.notifications); !done) return done;
    if (!batch.memory.empty()) {
        auto statement = writer_->prepare("INSERT OR REPLACE INTO alert_memory VALUES (?1, ?2)");
        if (!statement) return std::unexpected(std::move(statement.error()));
        for (const MemoryRow& row : batch.memory) {
            statement->bind(1, std::string_view(row.key));
            statement->bind_blob(2, row.bytes);
            if (auto status = statement->run(); !status) return status;
        }
    }
    if (batch.cursors.empty()) return {};
    auto statement = writer_->prepare("INSERT OR REPLACE INTO alert_cursor VALUES (?1, ?2)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const auto& [name, value] : batch.cursors) {
        statement->bind(1, std::string_view(name));
        statement->bind(2, value);
        if (auto status = statement->run(); !status) return status;
    }
    return {};
}

base::Status SqliteBackend::write_alert_numbers(const AlertNumbers& numbers) {
    if (numbers == alert_numbers_) return {};
    auto statement = writer_->prepare("INSERT OR REPLACE INTO meta VALUES (?1, ?2)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const auto& [name, number] : kNumbers) {
        if (numbers.*number == alert_numbers_.*number) continue;
        statement->bind(1, name);
        statement->bind(2, numbers.*number);
        if (auto status = statement->run(); !status) return status;
    }
    return {};
}

base::Result<std::uint64_t> SqliteBackend::trim_alerts(const AlertRetention& retention) {
    Trimming trimming(*writer_, retention.before);
    auto status = trimming.rows(
        "SELECT id FROM alert INDEXED BY alert_over WHERE state = 4 AND resolved_at < ?1 AND NOT "
        "EXISTS (SELECT 1 FROM "
        "incident WHERE incident.id = alert.incident AND incident.resolved_at = 0) "
        "ORDER BY resolved_at LIMIT ?2",
        "DELETE FROM alert_event WHERE number IN (SELECT number FROM alert_event "
        "WHERE alert = ?1 LIMIT ?2)",
        kRemoveAlert);
    if (!status) return std::unexpected(std::move(status.error()));
    status = trimming.rows(
        "SELECT id FROM incident WHERE resolved_at <> 0 AND resolved_at < ?1 AND NOT EXISTS "
        "(SELECT 1 FROM alert WHERE alert.incident = incident.id) ORDER BY resolved_at LIMIT ?2",
        "DELETE FROM alert_event WHERE number IN (SELECT number FROM alert_event "
        "WHERE incident = ?1 AND alert = '' LIMIT ?2)",
        kRemoveIncident);
    if (!status) return std::unexpected(std::move(status.error()));
    status = trimming.notifications();
    if (!status) return std::unexpected(std::move(status.error()));
    return trimming.removed();
}

base::Status SqliteBackend::load_alerts(const LoadVisitor& visitor, LoadedState& state) {
    const auto load = [&](std::string_view columns, std::string_view from, auto read,
                          const auto& take) -> base::Status {
        if (!take) return {};
        auto statement =
            reader_->prepare(fmt::format("SELECT {} FROM {} ORDER BY number", columns, from));
        return each_row(statement, [&](const Statement& row) {
            auto one = read(row);
            if (one) {
                take(std::move(*one));
            } else {
                tell_damage(state, std::move(one.error().message));
            }
        });
    };
    auto status = load(kAlertColumns, "alert WHERE state <> 4", read_alert, visitor.alert);
    if (!status) return status;
    status =
        load(kIncidentColumns, "incident WHERE resolved_at = 0", read_incident, visitor.incident);
    if (!status) return status;
    status = load(kNotificationColumns, "notification WHERE state = 0", read_notification,
                  visitor.notification);
    if (!status) return status;
    if (visitor.alert_memory) {
        auto statement = reader_->prepare("SELECT key, bytes FROM alert_memory ORDER BY key");
        status = each_row(statement, [&](const Statement& row) {
            visitor.alert_memory({std::string(row.text(0)), std::string(row.blob(1))});
        });
        if (!status) return status;
    }
    if (!visitor.alert_cursor) return {};
    auto statement = reader_->prepare("SELECT name, value FROM alert_cursor ORDER BY name");
    return each_row(statement, [&](const Statement& row) {
        visitor.alert_cursor(row.text(0), row.unsigned_integer(1));
    });
}

}  // namespace pollux::store
