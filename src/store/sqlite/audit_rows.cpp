#include "store/sqlite/audit_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/audit_codec.hpp"

namespace pollux::store {

AuditMac mac_of(std::string_view bytes) {
    AuditMac mac{};
    if (bytes.size() == mac.size()) std::memcpy(mac.data(), bytes.data(), mac.size());
    return mac;
}

base::Result<std::optional<AuditAnchor>> read_anchor(Database& database) {
    auto statement =
        database.prepare("SELECT first, mac, at, removed, signature FROM audit_anchor");
    if (!statement) return std::unexpected(std::move(statement.error()));
    auto row = statement->step();
    if (!row) return std::unexpected(std::move(row.error()));
    if (!*row) return std::nullopt;
    AuditAnchor anchor;
    anchor.first = std::max<std::uint64_t>(statement->unsigned_integer(0), 1);
    anchor.before = mac_of(statement->blob(1));
    anchor.at = base::WallTime{statement->integer(2)};
    anchor.removed = statement->unsigned_integer(3);
    anchor.signature = statement->blob(4);
    return anchor;
}

base::Status write_anchor(Database& database, const AuditAnchor& anchor) {
    auto statement =
        database.prepare("INSERT OR REPLACE INTO audit_anchor VALUES (1, ?1, ?2, ?3, ?4, ?5)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, anchor.first);
    statement->bind_blob(
        2, {reinterpret_cast<const char*>(anchor.before.data()), anchor.before.size()});
    statement->bind(3, anchor.at.us);
    statement->bind(4, anchor.removed);
    statement->bind_blob(5, anchor.signature);
    return statement->run();
}

namespace {

// What an action that ends with a dot stands for: everything that begins so, up to the next byte.
std::string after_prefix(const std::string& prefix) {
    return prefix.substr(0, prefix.size() - 1) + '/';
}

std::string query_text(const AuditQuery& query, bool newest_first) {
    std::string sql = "SELECT number, record FROM audit WHERE number < ?1 AND number > ?10";
    if (query.principal) sql += " AND principal = ?3";
    if (query.action) {
        sql +=
            query.action->ends_with('.') ? " AND action >= ?4 AND action < ?9" : " AND action = ?4";
    }
    if (query.object) sql += " AND object = ?5";
    if (query.result) sql += " AND result = ?6";
    if (query.from) sql += " AND at >= ?7";
    if (query.to) sql += " AND at < ?8";
    return sql + (newest_first ? " ORDER BY number DESC LIMIT ?2" : " ORDER BY number LIMIT ?2");
}

base::Status each_found(Database& database, const AuditQuery& query, bool newest_first,
                        std::int64_t limit,
                        const std::function<bool(const AuditRecord& record)>& take) {
    auto statement = database.prepare(query_text(query, newest_first));
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, std::min<std::uint64_t>(query.before, INT64_MAX));
    statement->bind(2, limit);
    statement->bind(10, std::min<std::uint64_t>(query.after, INT64_MAX));
    std::string end;
    if (query.principal) statement->bind(3, std::string_view(*query.principal));
    if (query.action) {
        statement->bind(4, std::string_view(*query.action));
        if (query.action->ends_with('.')) {
            end = after_prefix(*query.action);
            statement->bind(9, std::string_view(end));
        }
    }
    if (query.object) statement->bind(5, std::string_view(*query.object));
    if (query.result) statement->bind(6, static_cast<int>(*query.result));
    if (query.from) statement->bind(7, query.from->us);
    if (query.to) statement->bind(8, query.to->us);
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return {};
        AuditRecord record;
        record.number = statement->unsigned_integer(0);
        auto read = engine::decode_audit(statement->blob(1));
        record.damaged = !read || read->number != record.number;
        if (read) record.entry = std::move(read->entry);
        if (!take(record)) return {};
    }
}

}  // namespace

base::Result<std::vector<AuditRecord>> read_audit(Database& database, const AuditQuery& query) {
    std::vector<AuditRecord> found;
    const auto limit = static_cast<std::int64_t>(std::min(query.limit, kMostAuditPerQuery));
    auto status =
        each_found(database, query, !query.oldest_first, limit, [&](const AuditRecord& record) {
            found.push_back(record);
            return true;
        });
    if (!status) return std::unexpected(std::move(status.error()));
    return found;
}

base::Status each_audit_record(Database& database, const AuditQuery& query,
                               const std::function<bool(const AuditRecord& record)>& take) {
    AuditQuery all = query;
    all.before = INT64_MAX;
    return each_found(database, all, false, -1, take);
}

base::Status each_audit_row(Database& database, std::uint64_t from,
                            const std::function<bool(const StoredAuditRow& row)>& take) {
    auto statement = database.prepare(
        "SELECT number, at, principal, action, object, result, key_id, record, mac FROM audit "
        "WHERE number >= ?1 ORDER BY number");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, from);
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return {};
        StoredAuditRow one;
        one.number = statement->unsigned_integer(0);
        one.at = base::WallTime{statement->integer(1)};
        one.principal = statement->text(2);
        one.action = statement->text(3);
        one.object = statement->text(4);
        one.result = statement->integer(5);
        one.key_id = statement->text(6);
        one.bytes = statement->blob(7);
        one.mac = statement->blob(8);
        if (!take(one)) return {};
    }
}

}  // namespace pollux::store
