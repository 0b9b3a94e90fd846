// SqliteBackend: what is read, through its own connection.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "engine/record_codec.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/sqlite_backend.hpp"

namespace pollux::store {

namespace {

constexpr std::size_t kDamageTold = 20;

}  // namespace

base::Result<LoadedState> SqliteBackend::load(const LoadVisitor& visitor) {
    const std::scoped_lock lock(reader_mutex_);
    if (!reader_) return std::unexpected(closed_error());
    LoadedState state = state_;
    if (auto status = load_objects(visitor); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = load_tasks(visitor, state); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = load_memory(visitor); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = load_jobs(visitor); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = load_alerts(visitor, state); !status) {
        return std::unexpected(std::move(status.error()));
    }
    return state;
}

base::Status SqliteBackend::load_objects(const LoadVisitor& visitor) {
    if (!visitor.object) return {};
    auto statement = reader_->prepare(
        "SELECT kind, id, name, origin, version, changed_at, body FROM object ORDER BY kind, name");
    return each_row(statement, [&](const Statement& row) {
        model::ConfigObject object;
        object.kind = enumerator(row, 0, model::ObjectKind::kSilence);
        object.id = row.text(1);
        object.name = row.text(2);
        object.origin = enumerator(row, 3, model::Origin::kDiscovery);
        object.version = row.unsigned_integer(4);
        object.changed_at = base::WallTime{row.integer(5)};
        object.body = row.blob(6);
        visitor.object(std::move(object));
    });
}

base::Status SqliteBackend::load_tasks(const LoadVisitor& visitor, LoadedState& state) {
    if (!visitor.task) return {};
    auto statement = reader_->prepare("SELECT key, record FROM task_state ORDER BY key");
    return each_row(statement, [&](const Statement& row) {
        base::ByteReader bytes(row.blob(1));
        auto record = engine::decode_task_record(bytes);
        const bool whole = record && bytes.at_end() && record->key == row.text(0);
        if (whole) {
            visitor.task(std::move(*record));
            return;
        }
        tell_damage(state,
                    fmt::format("state of {}: {}", row.text(0),
                                record ? "its record is of another task or has bytes left over"
                                       : record.error().message));
    });
}

void SqliteBackend::tell_damage(LoadedState& state, std::string what) {
    ++state.damaged_rows;
    if (state.damage.size() < kDamageTold) state.damage.push_back(std::move(what));
}

base::Status SqliteBackend::load_memory(const LoadVisitor& visitor) {
    if (!visitor.memory) return {};
    auto statement = reader_->prepare("SELECT key, bytes FROM target_memory ORDER BY key");
    return each_row(statement, [&](const Statement& row) {
        visitor.memory({std::string(row.text(0)), std::string(row.blob(1))});
    });
}

base::Result<std::vector<StoredChange>> SqliteBackend::changes(const ChangeQuery& query) {
    const std::scoped_lock lock(reader_mutex_);
    if (!reader_) return std::unexpected(closed_error());
    const auto sql = fmt::format(
        "SELECT number, key, kind, from_state, to_state, failures, at FROM change "
        "WHERE number > ?1 AND number < ?2 {} ORDER BY number {} LIMIT ?3",
        query.key ? "AND key = ?4" : "", query.newest_first ? "DESC" : "ASC");
    auto statement = reader_->prepare(sql);
    if (statement) {
        constexpr std::uint64_t kMost = INT64_MAX;
        statement->bind(1, std::min(query.after, kMost));
        statement->bind(2, std::min(query.before, kMost));
        statement->bind(3, std::uint64_t{std::min(query.limit, kMostChangesPerQuery)});
        if (query.key) statement->bind(4, std::string_view(*query.key));
    }
    std::vector<StoredChange> found;
    auto status = each_row(statement, [&](const Statement& row) {
        StoredChange change;
        change.number = row.unsigned_integer(0);
        change.key = row.text(1);
        change.kind = enumerator(row, 2, schedule::ChangeKind::kBudget);
        change.from = static_cast<std::uint8_t>(row.integer(3));
        change.to = static_cast<std::uint8_t>(row.integer(4));
        change.failures = static_cast<std::uint32_t>(row.integer(5));
        change.at = base::WallTime{row.integer(6)};
        found.push_back(std::move(change));
    });
    if (!status) return std::unexpected(std::move(status.error()));
    return found;
}

base::Result<std::vector<SettingsVersion>> SqliteBackend::settings_versions(std::uint64_t before,
                                                                            std::size_t limit) {
    const std::scoped_lock lock(reader_mutex_);
    if (!reader_) return std::unexpected(closed_error());
    auto statement = reader_->prepare(
        "SELECT version, id, name, origin, changed_at, note, body FROM settings_version "
        "WHERE version < ?1 ORDER BY version DESC, id DESC LIMIT ?2");
    if (statement) {
        statement->bind(1, std::min<std::uint64_t>(before, INT64_MAX));
        statement->bind(2, std::uint64_t{std::min(limit, kMostChangesPerQuery)});
    }
    std::vector<SettingsVersion> found;
    auto status = each_row(statement, [&](const Statement& row) {
        SettingsVersion version;
        version.object.kind = model::ObjectKind::kSettings;
        version.object.version = row.unsigned_integer(0);
        version.object.id = row.text(1);
        version.object.name = row.text(2);
        version.object.origin = enumerator(row, 3, model::Origin::kDiscovery);
        version.object.changed_at = base::WallTime{row.integer(4)};
        version.note = row.text(5);
        version.object.body = row.blob(6);
        found.push_back(std::move(version));
    });
    if (!status) return std::unexpected(std::move(status.error()));
    return found;
}

}  // namespace pollux::store
