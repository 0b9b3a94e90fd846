#include "store/history/history_schema.hpp"

#include <array>

namespace pollux::store {

namespace {

constexpr std::array<Migration, 1> kMigrations = {{
    {"series, blocks, journal",
     R"(
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
    id         INTEGER PRIMARY KEY,
    target_id  TEXT NOT NULL,
    target_key TEXT NOT NULL,
    metric     TEXT NOT NULL,
    "row"      TEXT NOT NULL,
    unit       TEXT NOT NULL,
    type       INTEGER NOT NULL,
    retention  INTEGER NOT NULL
) STRICT;

CREATE INDEX series_by_target ON series (target_id);

CREATE TABLE block (
    number INTEGER PRIMARY KEY,
    data   BLOB NOT NULL
) STRICT;

CREATE TABLE open_chunk (
    chunk   INTEGER PRIMARY KEY,
    covered INTEGER NOT NULL,
    data    BLOB NOT NULL
) STRICT;

CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    data   BLOB NOT NULL
) STRICT;

CREATE TABLE usage (
    class  INTEGER NOT NULL,
    tier   INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    PRIMARY KEY (class, tier)
) STRICT, WITHOUT ROWID;
)",
     R"(
DROP TABLE usage;
DROP TABLE journal;
DROP TABLE open_chunk;
DROP TABLE block;
DROP TABLE series;
DROP TABLE meta;
)"},
}};

constexpr std::int32_t kApplicationId = 0x506C7848;  // "PlxH"
constexpr Schema kSchema{"history", kApplicationId, kMigrations};

}  // namespace

const Schema& history_schema() { return kSchema; }

}  // namespace pollux::store
