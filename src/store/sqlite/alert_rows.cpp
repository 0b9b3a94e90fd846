#include "store/sqlite/alert_rows.hpp"

#include <fmt/format.h>

#include "engine/alert_codec.hpp"
#include "store/alert_rules.hpp"
#include "store/object_rules.hpp"
#include "store/sqlite/rows.hpp"

namespace pollux::store {

namespace {

// By id, so that a number of another row is refused and not replaced.
constexpr std::string_view kWriteAlert =
    "INSERT INTO alert VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "
    "ON CONFLICT (id) DO UPDATE SET number = ?1, partition = ?3, state = ?4, severity = ?5, "
    "addon = ?6, type = ?7, device = ?8, target = ?9, incident = ?10, fingerprint = ?11, "
    "first_seen = ?12, resolved_at = ?13, record = ?14";
constexpr std::string_view kWriteIncident =
    "INSERT INTO incident VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET "
    "number = ?1, severity = ?3, device = ?4, opened_at = ?5, resolved_at = ?6, record = ?7";
constexpr std::string_view kWriteNotification =
    "INSERT INTO notification VALUES "
    "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) "
    "ON CONFLICT (id) DO UPDATE SET number = ?1, incident = ?3, receiver = ?4, channel = ?5, "
    "route = ?6, kind = ?7, made = ?8, not_before = ?9, body = ?10, provisional = ?11, "
    "state = ?12, attempts = ?13, last_attempt = ?14, last_error = ?15";

// Binds and runs for each row. `record` is where bytes live until the row is written.
template <class Row, class Bind>
base::Status write_rows(Database& database, std::string_view sql, std::string_view kind,
                        const std::vector<Row>& rows, Bind bind) {
    if (rows.empty()) return {};
    auto statement = database.prepare(sql);
    if (!statement) return std::unexpected(std::move(statement.error()));
    std::string record;
    for (const Row& row : rows) {
        statement->bind(1, row.number);
        statement->bind(2, std::string_view(row.id));
        bind(*statement, row, record);
        auto status = statement->run();
        if (!status && status.error().code == "store.conflict") {
            return std::unexpected(number_conflict(kind, row.id, row.number));
        }
        if (!status) return status;
    }
    return {};
}

// The record must be of the row that it lies in.
template <class Row>
base::Result<Row> checked(const Statement& row, std::string_view kind, base::Result<Row> read) {
    const bool right = read && read->number == row.unsigned_integer(0) && read->id == row.text(1);
    if (right) return read;
    return base::make_error(
        base::ErrorClass::kPermanent, "store.corrupt",
        fmt::format("{} {}: {}", kind, row.text(1),
                    read ? "its record is of another one" : read.error().message));
}

}  // namespace

base::Status write_alerts(Database& database, const std::vector<model::Alert>& rows) {
    return write_rows(database, kWriteAlert, "alert", rows,
                      [](Statement& to, const model::Alert& row, std::string& record) {
                          record = engine::encode_alert(row);
                          to.bind(3, partition_of_key(row.target));
                          to.bind(4, number_of(row.state));
                          to.bind(5, number_of(row.severity));
                          to.bind(6, std::string_view(row.addon));
                          to.bind(7, std::string_view(row.type));
                          to.bind(8, std::string_view(row.device));
                          to.bind(9, std::string_view(row.target));
                          to.bind(10, std::string_view(row.incident));
                          to.bind(11, std::string_view(row.fingerprint));
                          to.bind(12, row.first_seen.us);
                          to.bind(13, row.resolved_at.us);
                          to.bind_blob(14, record);
                      });
}

base::Status write_incidents(Database& database, const std::vector<model::Incident>& rows) {
    return write_rows(database, kWriteIncident, "incident", rows,
                      [](Statement& to, const model::Incident& row, std::string& record) {
                          record = engine::encode_incident(row);
                          to.bind(3, number_of(row.severity));
                          to.bind(4, std::string_view(row.device));
                          to.bind(5, row.opened_at.us);
                          to.bind(6, row.resolved_at.us);
                          to.bind_blob(7, record);
                      });
}

base::Status write_notifications(Database& database, const std::vector<model::Notification>& rows) {
    return write_rows(database, kWriteNotification, "notification", rows,
                      [](Statement& to, const model::Notification& row, std::string&) {
                          to.bind(3, std::string_view(row.incident));
                          to.bind(4, std::string_view(row.receiver));
                          to.bind(5, std::string_view(row.channel));
                          to.bind(6, std::string_view(row.route));
                          to.bind(7, number_of(row.kind));
                          to.bind(8, row.made.us);
                          to.bind(9, row.not_before.us);
                          to.bind(10, std::string_view(row.body));
                          to.bind(11, row.provisional ? 1 : 0);
                          to.bind(12, number_of(row.state));
                          to.bind(13, row.attempts);
                          to.bind(14, row.last_attempt.us);
                          to.bind(15, std::string_view(row.last_error));
                      });
}

base::Status write_events(Database& database, const std::vector<model::AlertEvent>& rows) {
    if (rows.empty()) return {};
    auto statement = database.prepare(
        "INSERT OR REPLACE INTO alert_event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const auto& row : rows) {
        statement->bind(1, row.number);
        statement->bind(2, row.at.us);
        statement->bind(3, number_of(row.kind));
        statement->bind(4, std::string_view(row.alert));
        statement->bind(5, std::string_view(row.incident));
        statement->bind(6, number_of(row.from));
        statement->bind(7, number_of(row.to));
        statement->bind(8, number_of(row.severity));
        statement->bind(9, std::string_view(row.cause));
        statement->bind(10, std::string_view(row.by));
        if (auto status = statement->run(); !status) return status;
    }
    return {};
}

base::Status note_channels(Database& database, const std::vector<model::Notification>& rows) {
    if (rows.empty()) return {};
    auto known = database.prepare(
        "SELECT worked_at, failed_at, last_error FROM channel_health "
        "WHERE receiver = ?1 AND channel = ?2");
    if (!known) return std::unexpected(std::move(known.error()));
    auto write =
        database.prepare("INSERT OR REPLACE INTO channel_health VALUES (?1, ?2, ?3, ?4, ?5)");
    if (!write) return std::unexpected(std::move(write.error()));
    for (const auto& row : rows) {
        ChannelHealth health{row.receiver, row.channel, {}, {}, {}};
        known->bind(1, std::string_view(row.receiver));
        known->bind(2, std::string_view(row.channel));
        auto found = known->step();
        if (!found) return std::unexpected(std::move(found.error()));
        if (*found) {
            health.worked_at = base::WallTime{known->integer(0)};
            health.failed_at = base::WallTime{known->integer(1)};
            health.last_error = known->text(2);
        }
        known->restart();
        if (!note(health, row)) continue;
        write->bind(1, std::string_view(health.receiver));
        write->bind(2, std::string_view(health.channel));
        write->bind(3, health.worked_at.us);
        write->bind(4, health.failed_at.us);
        write->bind(5, std::string_view(health.last_error));
        if (auto status = write->run(); !status) return status;
    }
    return {};
}

base::Result<model::Alert> read_alert(const Statement& row) {
    return checked(row, "alert", engine::decode_alert(row.blob(2)));
}

base::Result<model::Incident> read_incident(const Statement& row) {
    return checked(row, "incident", engine::decode_incident(row.blob(2)));
}

base::Result<model::Notification> read_notification(const Statement& row) {
    model::Notification one;
    one.number = row.unsigned_integer(0);
    one.id = row.text(1);
    one.incident = row.text(2);
    one.receiver = row.text(3);
    one.channel = row.text(4);
    one.route = row.text(5);
    one.kind = enumerator(row, 6, model::NotificationKind::kTest);
    one.made = base::WallTime{row.integer(7)};
    one.not_before = base::WallTime{row.integer(8)};
    one.body = row.text(9);
    one.provisional = row.integer(10) != 0;
    one.state = enumerator(row, 11, model::DeliveryState::kHeld);
    one.attempts = static_cast<std::uint32_t>(row.integer(12));
    one.last_attempt = base::WallTime{row.integer(13)};
    one.last_error = row.text(14);
    return one;
}

base::Result<model::AlertEvent> read_event(const Statement& row) {
    model::AlertEvent event;
    event.number = row.unsigned_integer(0);
    event.at = base::WallTime{row.integer(1)};
    event.kind = enumerator(row, 2, model::AlertEventKind::kNote);
    event.alert = row.text(3);
    event.incident = row.text(4);
    event.from = enumerator(row, 5, model::AlertState::kResolved);
    event.to = enumerator(row, 6, model::AlertState::kResolved);
    event.severity = enumerator(row, 7, model::Severity::kCritical);
    event.cause = row.text(8);
    event.by = row.text(9);
    return event;
}

}  // namespace pollux::store
