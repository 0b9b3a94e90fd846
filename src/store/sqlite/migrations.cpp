#include "store/sqlite/migrations.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pollux::store {

namespace {

struct Shape {
    int version = 0;
    bool empty = true;
};

base::Result<Shape> shape_of(Database& database, const Schema& schema) {
    auto version = database.integer("PRAGMA user_version");
    if (!version) return std::unexpected(std::move(version.error()));
    auto application = database.integer("PRAGMA application_id");
    if (!application) return std::unexpected(std::move(application.error()));
    auto tables = database.integer("SELECT count(*) FROM sqlite_schema");
    if (!tables) return std::unexpected(std::move(tables.error()));
    const bool empty = *tables == 0 && *version == 0;
    if (!empty && *application != schema.application_id) {
        return base::make_error(
            base::ErrorClass::kPermanent, "store.foreign",
            fmt::format("store: {} is not a {} database of pollux (application id {}): it was left "
                        "as it is; move it away or name another data folder",
                        database.path(), schema.name, *application));
    }
    if (*version > schema.newest() || *version < 0) {
        return base::make_error(
            base::ErrorClass::kPermanent, "store.newer",
            fmt::format("store: {} has schema version {}, this program knows up to {}: it was left "
                        "as it is; use the newer pollux, or restore the backup made before the "
                        "upgrade",
                        database.path(), *version, schema.newest()));
    }
    return Shape{static_cast<int>(*version), empty};
}

base::Status step(Database& database, const Schema& schema, int from, int to) {
    const bool up = to > from;
    const auto& migration = schema.migrations[static_cast<std::size_t>(up ? from : to)];
    auto transaction = Transaction::begin(database);
    if (!transaction) return std::unexpected(std::move(transaction.error()));
    const auto script =
        fmt::format("{};PRAGMA application_id = {};PRAGMA user_version = {}",
                    up ? migration.up : migration.down, to == 0 ? 0 : schema.application_id, to);
    auto status = database.execute(script);
    if (status) status = transaction->commit();
    if (!status) {
        status.error().message += fmt::format(
            " (while changing the schema from version {} to {}: {})", from, to, migration.title);
    }
    return status;
}

base::Status back_up(Database& database, int version) {
    const std::string copy = fmt::format("{}.v{}.backup", database.path(), version);
    if (unlink(copy.c_str()) != 0 && errno != ENOENT) {
        return base::config_error(
            "store.access",
            fmt::format("store: cannot replace the backup {}: {}", copy, std::strerror(errno)));
    }
    auto statement = database.prepare("VACUUM INTO ?1");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, std::string_view(copy));
    auto status = statement->run();
    if (!status) {
        status.error().message +=
            fmt::format(" (while copying it to {} before an upgrade of its schema)", copy);
    }
    return status;
}

}  // namespace

base::Status check_shape(Database& database, const Schema& schema) {
    auto shape = shape_of(database, schema);
    if (!shape) return std::unexpected(std::move(shape.error()));
    return {};
}

base::Status migrate_to(Database& database, const Schema& schema, int version) {
    auto shape = shape_of(database, schema);
    if (!shape) return std::unexpected(std::move(shape.error()));
    int at = shape->version;
    while (at != version) {
        const int next = version > at ? at + 1 : at - 1;
        if (auto status = step(database, schema, at, next); !status) return status;
        at = next;
    }
    return {};
}

base::Status migrate_up(Database& database, const Schema& schema) {
    auto shape = shape_of(database, schema);
    if (!shape) return std::unexpected(std::move(shape.error()));
    if (shape->version == schema.newest()) return {};
    if (!shape->empty) {
        if (auto status = back_up(database, shape->version); !status) return status;
    }
    return migrate_to(database, schema, schema.newest());
}

}  // namespace pollux::store
