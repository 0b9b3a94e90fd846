// Numbered steps between the shapes a database file can have, each with the way back.
//
// The version is SQLite's user_version; every step is one transaction together with its number, so
// a crash leaves the shape before or after it. Steps that were released are never edited.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

struct Migration {
    const char* title;
    const char* up;
    const char* down;  // may lose what the older shape cannot hold
};

// What a file is for: an application id of its own, so that a stranger's file is refused.
struct Schema {
    const char* name;
    std::int32_t application_id;
    std::span<const Migration> migrations;  // number 1 first

    int newest() const { return static_cast<int>(migrations.size()); }
};

// Brings the file to the schema's newest version. Before it changes a file that holds data it
// copies it to `<file>.v<old version>.backup` (replaced if it is there). Fails with store.newer for
// a file of a newer program, store.foreign for a file of another one; both leave the file as it is.
base::Status migrate_up(Database& database, const Schema& schema);

// Only the refusals of migrate_up: reads, changes nothing.
base::Status check_shape(Database& database, const Schema& schema);

// To any version, up or down, without a backup: for tests, and for going back to an older program.
base::Status migrate_to(Database& database, const Schema& schema, int version);

}  // namespace pollux::store
