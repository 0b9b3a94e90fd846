#include "store/sqlite/sqlite_alert_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store/alert_rules.hpp"
#include "store/sqlite/alert_rows.hpp"
#include "store/sqlite/rows.hpp"

namespace pollux::store {

namespace {

// Columns that must have a value; those without are left out.
struct Filter {
    std::string_view column;
    const std::optional<std::string>& value;
};

// What a question selects: `only` is a condition of an index that holds a part of the table; it may
// name ?3, the time from which on.
struct Selection {
    std::string_view columns;
    std::string_view table;
    std::string_view only;
    std::vector<Filter> filters;
    std::optional<base::WallTime> from = {};
};

constexpr int kFirstFilter = 4;  // the first parameter behind the numbers and the time

// Two indexes hold a part of the table each. Their numbers are gathered without reading a row, and
// then the rows are read in their order: an OR of both conditions would look at the whole table.
constexpr std::string_view kIncidentsSince =
    "AND number IN (SELECT number FROM incident WHERE resolved_at = 0 UNION ALL "
    "SELECT number FROM incident WHERE resolved_at <> 0 AND resolved_at >= ?3)";

std::string_view part_of(const IncidentQuery& query) {
    if (query.open.value_or(false)) return "AND resolved_at = 0";
    return query.from ? kIncidentsSince : "";
}

template <class Row, class Query>
base::Result<Page<Row>> read_page(Database& database, const Query& query,
                                  const Selection& selection,
                                  base::Result<Row> (*read)(const Statement&)) {
    std::string sql = fmt::format("SELECT {} FROM {} WHERE number > ?1 AND number < ?2 {}",
                                  selection.columns, selection.table, selection.only);
    int parameter = kFirstFilter;
    for (const Filter& filter : selection.filters) {
        if (filter.value) sql += fmt::format(" AND {} = ?{}", filter.column, parameter);
        ++parameter;
    }
    sql += query.oldest_first ? " ORDER BY number" : " ORDER BY number DESC";
    auto statement = database.prepare(sql);
    if (statement) {
        statement->bind(1, std::min<std::uint64_t>(query.after, INT64_MAX));
        statement->bind(2, std::min<std::uint64_t>(query.before, INT64_MAX));
        if (selection.from) statement->bind(3, selection.from->us);
        parameter = kFirstFilter;
        for (const Filter& filter : selection.filters) {
            if (filter.value) statement->bind(parameter, std::string_view(*filter.value));
            ++parameter;
        }
    }
    PageFiller<Row> page(query.limit);
    auto status = each_row(statement, [&](const Statement& row) -> bool {
        auto one = read(row);
        // What is damaged was named when the store was loaded.
        return one ? page.offer(query, std::move(*one)) : page.skip(row.unsigned_integer(0));
    });
    if (!status) return std::unexpected(std::move(status.error()));
    return page.take();
}

template <class Row>
base::Result<std::optional<Row>> read_one(Database& database, std::string_view columns,
                                          std::string_view table, std::string_view id,
                                          base::Result<Row> (*read)(const Statement&)) {
    auto statement =
        database.prepare(fmt::format("SELECT {} FROM {} WHERE id = ?1", columns, table));
    if (statement) statement->bind(1, id);
    std::optional<base::Result<Row>> found;
    auto status = each_row(statement, [&](const Statement& row) { found = read(row); });
    if (!status) return std::unexpected(std::move(status.error()));
    if (!found) return std::nullopt;
    if (!*found) return std::unexpected(std::move(found->error()));
    return std::optional(std::move(**found));
}

bool only_open(const std::vector<model::AlertState>& states) {
    return !states.empty() &&
           std::ranges::find(states, model::AlertState::kResolved) == states.end();
}

bool only_waiting(const std::vector<model::DeliveryState>& states) {
    return states.size() == 1 && states.front() == model::DeliveryState::kWaiting;
}

}  // namespace

base::Result<Page<model::Alert>> SqliteAlertReader::alerts(const AlertQuery& query) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    const Selection selection{kAlertColumns,
                              "alert",
                              only_open(query.states) ? "AND state <> 4" : "",
                              {{"addon", query.addon},
                               {"type", query.type},
                               {"device", query.device},
                               {"target", query.target},
                               {"incident", query.incident},
                               {"fingerprint", query.fingerprint}}};
    return read_page(*database_, query, selection, read_alert);
}

base::Result<std::optional<model::Alert>> SqliteAlertReader::alert(std::string_view id) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    return read_one(*database_, kAlertColumns, "alert", id, read_alert);
}

base::Result<std::vector<AlertCount>> SqliteAlertReader::alert_counts() {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    auto statement = database_->prepare(
        "SELECT state, severity, addon, count(*) FROM alert GROUP BY state, severity, addon "
        "ORDER BY state, severity, addon");
    std::vector<AlertCount> counts;
    auto status = each_row(statement, [&](const Statement& row) {
        counts.push_back({enumerator(row, 0, model::AlertState::kResolved),
                          enumerator(row, 1, model::Severity::kCritical), std::string(row.text(2)),
                          row.unsigned_integer(3)});
    });
    if (!status) return std::unexpected(std::move(status.error()));
    return counts;
}

base::Result<Page<model::Incident>> SqliteAlertReader::incidents(const IncidentQuery& query) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    Selection selection{
        kIncidentColumns, "incident", part_of(query), {{"device", query.device}}, {}};
    if (selection.only == kIncidentsSince) selection.from = query.from;
    return read_page(*database_, query, selection, read_incident);
}

base::Result<std::optional<model::Incident>> SqliteAlertReader::incident(std::string_view id) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    return read_one(*database_, kIncidentColumns, "incident", id, read_incident);
}

base::Result<Page<model::AlertEvent>> SqliteAlertReader::events(const AlertEventQuery& query) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    const Selection selection{
        kEventColumns, "alert_event", "", {{"alert", query.alert}, {"incident", query.incident}}};
    return read_page(*database_, query, selection, read_event);
}

base::Result<Page<model::Notification>> SqliteAlertReader::notifications(
    const NotificationQuery& query) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    const Selection selection{kNotificationColumns,
                              "notification",
                              only_waiting(query.states) ? "AND state = 0" : "",
                              {{"incident", query.incident}, {"receiver", query.receiver}}};
    return read_page(*database_, query, selection, read_notification);
}

base::Result<std::optional<model::Notification>> SqliteAlertReader::notification(
    std::string_view id) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    return read_one(*database_, kNotificationColumns, "notification", id, read_notification);
}

base::Result<std::vector<ChannelHealth>> SqliteAlertReader::channels() {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed_error());
    auto statement = database_->prepare(
        "SELECT receiver, channel, worked_at, failed_at, last_error FROM channel_health "
        "ORDER BY receiver, channel LIMIT ?1");
    if (statement) statement->bind(1, std::uint64_t{kMostChannelsTold});
    std::vector<ChannelHealth> all;
    auto status = each_row(statement, [&](const Statement& row) {
        all.push_back({std::string(row.text(0)), std::string(row.text(1)),
                       base::WallTime{row.integer(2)}, base::WallTime{row.integer(3)},
                       std::string(row.text(4))});
    });
    if (!status) return std::unexpected(std::move(status.error()));
    return all;
}

}  // namespace pollux::store
