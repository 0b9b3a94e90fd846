// SqliteBackend: messages of devices. Ids are counted in the table `meta`, so that they rise for
// ever also when every row is gone; how many rows there are is counted in memory.
#include <algorithm>
#include <set>

#include "store/object_rules.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/sqlite_backend.hpp"

namespace pollux::store {

namespace {

constexpr std::uint64_t kTrimPerCommit = 2000;

}  // namespace

base::Status SqliteBackend::count_observations() {
    observed_ = {};
    auto next = writer_->integer("SELECT value FROM meta WHERE name = 'next_observation'", 1);
    if (!next) return std::unexpected(std::move(next.error()));
    observed_.next_id = static_cast<std::uint64_t>(std::max<std::int64_t>(*next, 1));
    auto statement = writer_->prepare("SELECT key, count(*) FROM observation GROUP BY key");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return {};
        const std::uint64_t count = statement->unsigned_integer(1);
        observed_.by_key.emplace(statement->text(0), count);
        observed_.all += count;
    }
}

base::Result<std::uint64_t> SqliteBackend::commit(const ObservationBatch& batch) {
    if (observed_.doubtful) {
        auto counted = count_observations();
        if (!counted) return std::unexpected(std::move(counted.error()));
    }
    const std::uint64_t first = batch.rows.empty() ? 0 : observed_.next_id;
    auto status = in_transaction(*writer_, [&]() -> base::Status {
        if (auto done = write_observations(batch); !done) return done;
        if (auto done = write_memory(batch.memory); !done) return done;
        return trim_observations(batch);
    });
    if (!status) {
        observed_.doubtful = true;
        return std::unexpected(std::move(status.error()));
    }
    return first;
}

base::Status SqliteBackend::write_observations(const ObservationBatch& batch) {
    if (batch.rows.empty()) return {};
    auto statement =
        writer_->prepare("INSERT INTO observation VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (const Observation& row : batch.rows) {
        statement->bind(1, observed_.next_id++);
        statement->bind(2, std::string_view(row.target_id));
        statement->bind(3, std::string_view(row.key));
        statement->bind(4, partition_of_key(row.key));
        statement->bind(5, row.received.us);
        statement->bind(6, std::string_view(row.source));
        statement->bind(7, static_cast<int>(row.kind));
        statement->bind(8, std::string_view(row.signals));
        statement->bind(9, std::string_view(row.text));
        if (auto status = statement->run(); !status) return status;
        ++observed_.by_key[row.key];
        ++observed_.all;
    }
    auto next = writer_->prepare("INSERT OR REPLACE INTO meta VALUES ('next_observation', ?1)");
    if (!next) return std::unexpected(std::move(next.error()));
    next->bind(1, observed_.next_id);
    return next->run();
}

// The keys of the rows that go, then the rows: so that the counts stay right.
base::Status SqliteBackend::trim_observations(const ObservationBatch& batch) {
    const auto remove = [&](std::string_view chosen, auto bind) -> base::Status {
        const std::string sql =
            "DELETE FROM observation WHERE id IN (" + std::string(chosen) + ") RETURNING key";
        auto statement = writer_->prepare(sql);
        if (!statement) return std::unexpected(std::move(statement.error()));
        bind(*statement);
        for (;;) {
            auto row = statement->step();
            if (!row) return std::unexpected(std::move(row.error()));
            if (!*row) return {};
            --observed_.all;
            const auto of_key = observed_.by_key.find(statement->text(0));
            if (of_key != observed_.by_key.end() && --of_key->second == 0) {
                observed_.by_key.erase(of_key);
            }
        }
    };
    std::set<std::string_view> keys;
    for (const Observation& row : batch.rows) keys.insert(row.key);
    for (const std::string_view key : keys) {
        const std::uint64_t count = observed_.by_key.find(key)->second;
        if (count <= batch.keep.most_per_key) continue;
        auto status =
            remove("SELECT id FROM observation WHERE key = ?1 ORDER BY id LIMIT ?2",
                   [&](Statement& statement) {
                       statement.bind(1, key);
                       statement.bind(2, std::min(count - batch.keep.most_per_key, kTrimPerCommit));
                   });
        if (!status) return status;
    }
    if (observed_.all > batch.keep.most) {
        const std::uint64_t count = std::min(observed_.all - batch.keep.most, kTrimPerCommit);
        auto status = remove("SELECT id FROM observation ORDER BY id LIMIT ?1",
                             [&](Statement& statement) { statement.bind(1, count); });
        if (!status) return status;
    }
    return remove(
        "SELECT id FROM (SELECT id, received FROM observation ORDER BY id LIMIT ?1) "
        "WHERE received < ?2",
        [&](Statement& statement) {
            statement.bind(1, kTrimPerCommit);
            statement.bind(2, batch.keep.not_before.us);
        });
}

base::Result<std::vector<Observation>> SqliteBackend::observations(const ObservationQuery& query) {
    const std::scoped_lock lock(reader_mutex_);
    if (!reader_) return std::unexpected(closed_error());
    std::string sql =
        "SELECT id, target_id, key, received, source, kind, signals, text FROM observation "
        "WHERE id > ?1 AND id < ?2";
    if (query.key) sql += " AND key = ?4";
    sql += query.newest_first ? " ORDER BY id DESC LIMIT ?3" : " ORDER BY id LIMIT ?3";
    auto statement = reader_->prepare(sql);
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, std::min<std::uint64_t>(query.after, INT64_MAX));
    statement->bind(2, std::min<std::uint64_t>(query.before, INT64_MAX));
    statement->bind(3, std::uint64_t{std::min(query.limit, kMostObservationsPerQuery)});
    if (query.key) statement->bind(4, std::string_view(*query.key));
    std::vector<Observation> found;
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return found;
        Observation one;
        one.id = statement->unsigned_integer(0);
        one.target_id = statement->text(1);
        one.key = statement->text(2);
        one.received = base::WallTime{statement->integer(3)};
        one.source = statement->text(4);
        one.kind = static_cast<model::ProtocolKind>(std::clamp<std::int64_t>(
            statement->integer(5), 0, static_cast<int>(model::ProtocolKind::kPush)));
        one.signals = statement->text(6);
        one.text = statement->text(7);
        found.push_back(std::move(one));
    }
}

}  // namespace pollux::store
