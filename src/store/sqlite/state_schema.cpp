#include "store/sqlite/state_schema.hpp"

#include <array>

namespace pollux::store {

namespace {

// Times are microseconds since 1970 in UTC; 0 is never. Kinds and states are the numbers of the
// enumerations in model/ and schedule/, which are never reused. A body is text where it is JSON, so
// that people can query it, and a blob where it is sealed.
constexpr std::array<Migration, 7> kMigrations = {{
    {"objects, state of tasks, transitions",
     R"(
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE object (
    kind       INTEGER NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    origin     INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    partition  INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    body       ANY NOT NULL,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, name)
) STRICT;

CREATE TABLE task_state (
    key          TEXT PRIMARY KEY,
    partition    INTEGER NOT NULL,
    enabled      INTEGER NOT NULL,
    job          INTEGER NOT NULL,
    next_due     INTEGER NOT NULL,
    last_success INTEGER NOT NULL,
    last_error   INTEGER NOT NULL,
    interval_ms  INTEGER NOT NULL,
    failures     INTEGER NOT NULL,
    breaker      INTEGER NOT NULL,
    dead_letter  INTEGER NOT NULL,
    record       BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE change (
    number     INTEGER PRIMARY KEY,
    key        TEXT NOT NULL,
    kind       INTEGER NOT NULL,
    from_state INTEGER NOT NULL,
    to_state   INTEGER NOT NULL,
    failures   INTEGER NOT NULL,
    at         INTEGER NOT NULL
) STRICT;

CREATE INDEX change_by_key ON change (key, number);
)",
     R"(
DROP TABLE change;
DROP TABLE task_state;
DROP TABLE object;
DROP TABLE meta;
)"},
    {"every version of the settings",
     R"(
CREATE TABLE settings_version (
    version    INTEGER NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    origin     INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    note       TEXT NOT NULL,
    body       ANY NOT NULL,
    PRIMARY KEY (version, id)
) STRICT;

INSERT INTO settings_version
SELECT version, id, name, origin, changed_at, 'stored before versions were kept', body
FROM object WHERE kind = 7;
)",
     "DROP TABLE settings_version;"},
    {"learned memory of targets",
     R"(
CREATE TABLE target_memory (
    key       TEXT PRIMARY KEY,
    partition INTEGER NOT NULL,
    bytes     BLOB NOT NULL
) STRICT;
)",
     "DROP TABLE target_memory;"},
    {"messages of devices",
     R"(
CREATE TABLE observation (
    id        INTEGER PRIMARY KEY,
    target_id TEXT NOT NULL,
    key       TEXT NOT NULL,
    partition INTEGER NOT NULL,
    received  INTEGER NOT NULL,
    source    TEXT NOT NULL,
    kind      INTEGER NOT NULL,
    signals   TEXT NOT NULL,
    text      TEXT NOT NULL
) STRICT;

CREATE INDEX observation_by_key ON observation (key, id);
)",
     R"(
DROP TABLE observation;
DELETE FROM meta WHERE name = 'next_observation';
)"},
    // `record` is what counts; the columns in front of it are copies to search by.
    {"the audit trail",
     R"(
CREATE TABLE audit (
    number    INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    principal TEXT NOT NULL,
    action    TEXT NOT NULL,
    object    TEXT NOT NULL,
    result    INTEGER NOT NULL,
    key_id    TEXT NOT NULL,
    record    BLOB NOT NULL,
    mac       BLOB NOT NULL
) STRICT;

CREATE INDEX audit_by_principal ON audit (principal, number);
CREATE INDEX audit_by_action ON audit (action, number);
CREATE INDEX audit_by_object ON audit (object, number);

CREATE TABLE audit_anchor (
    only_one  INTEGER PRIMARY KEY CHECK (only_one = 1),
    first     INTEGER NOT NULL,
    mac       BLOB NOT NULL,
    at        INTEGER NOT NULL,
    removed   INTEGER NOT NULL,
    signature BLOB NOT NULL
) STRICT;
)",
     R"(
DROP TABLE audit_anchor;
DROP TABLE audit;
)"},
    {"jobs and their runs",
     R"(
CREATE TABLE job (
    key     TEXT PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    batch   TEXT NOT NULL,
    created INTEGER NOT NULL,
    spec    TEXT NOT NULL
) STRICT;

CREATE TABLE job_run (
    key         TEXT NOT NULL,
    epoch       INTEGER NOT NULL,
    counter     INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    started     INTEGER NOT NULL,
    finished    INTEGER NOT NULL,
    outcome     INTEGER NOT NULL,
    exit_status INTEGER NOT NULL,
    code        TEXT NOT NULL,
    message     TEXT NOT NULL,
    output      TEXT NOT NULL,
    truncated   INTEGER NOT NULL,
    log         TEXT NOT NULL,
    PRIMARY KEY (key, epoch, counter)
) STRICT;

CREATE INDEX job_run_open ON job_run (finished) WHERE finished = 0;
)",
     R"(
DELETE FROM task_state WHERE key IN (SELECT key FROM job);
DROP TABLE job_run;
DROP TABLE job;
)"},
    // `record` of alerts and incidents is what counts; the columns in front of it are copies to
    // search by. State 4 of an alert is resolved, state 0 of a notification is waiting.
    {"alerts, incidents, their timeline, notifications",
     R"(
CREATE TABLE alert (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    partition   INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    severity    INTEGER NOT NULL,
    addon       TEXT NOT NULL,
    type        TEXT NOT NULL,
    device      TEXT NOT NULL,
    target      TEXT NOT NULL,
    incident    TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    first_seen  INTEGER NOT NULL,
    resolved_at INTEGER NOT NULL,
    record      BLOB NOT NULL
) STRICT;

CREATE INDEX alert_open ON alert (number) WHERE state <> 4;
CREATE INDEX alert_over ON alert (resolved_at) WHERE state = 4;
CREATE INDEX alert_counts ON alert (state, severity, addon);
CREATE INDEX alert_by_addon ON alert (addon);
CREATE INDEX alert_by_type ON alert (type);
CREATE INDEX alert_by_device ON alert (device);
CREATE INDEX alert_by_target ON alert (target);
CREATE INDEX alert_by_incident ON alert (incident);
CREATE INDEX alert_by_fingerprint ON alert (fingerprint);

CREATE TABLE incident (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    severity    INTEGER NOT NULL,
    device      TEXT NOT NULL,
    opened_at   INTEGER NOT NULL,
    resolved_at INTEGER NOT NULL,
    record      BLOB NOT NULL
) STRICT;

CREATE INDEX incident_open ON incident (number) WHERE resolved_at = 0;
CREATE INDEX incident_over ON incident (resolved_at) WHERE resolved_at <> 0;
CREATE INDEX incident_by_device ON incident (device);

CREATE TABLE alert_event (
    number     INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    alert      TEXT NOT NULL,
    incident   TEXT NOT NULL,
    from_state INTEGER NOT NULL,
    to_state   INTEGER NOT NULL,
    severity   INTEGER NOT NULL,
    cause      TEXT NOT NULL,
    by         TEXT NOT NULL
) STRICT;

CREATE INDEX alert_event_by_alert ON alert_event (alert);
CREATE INDEX alert_event_by_incident ON alert_event (incident);

CREATE TABLE notification (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    incident     TEXT NOT NULL,
    receiver     TEXT NOT NULL,
    channel      TEXT NOT NULL,
    route        TEXT NOT NULL,
    kind         INTEGER NOT NULL,
    made         INTEGER NOT NULL,
    not_before   INTEGER NOT NULL,
    body         TEXT NOT NULL,
    provisional  INTEGER NOT NULL,
    state        INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    last_attempt INTEGER NOT NULL,
    last_error   TEXT NOT NULL
) STRICT;

CREATE INDEX notification_waiting ON notification (number) WHERE state = 0;
CREATE INDEX notification_over ON notification (max(made, last_attempt)) WHERE state <> 0;
CREATE INDEX notification_by_incident ON notification (incident);
CREATE INDEX notification_by_receiver ON notification (receiver);

CREATE TABLE channel_health (
    receiver   TEXT NOT NULL,
    channel    TEXT NOT NULL,
    worked_at  INTEGER NOT NULL,
    failed_at  INTEGER NOT NULL,
    last_error TEXT NOT NULL,
    PRIMARY KEY (receiver, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_memory (
    key   TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE alert_cursor (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)",
     R"(
DROP TABLE alert_cursor;
DROP TABLE alert_memory;
DROP TABLE channel_health;
DROP TABLE notification;
DROP TABLE alert_event;
DROP TABLE incident;
DROP TABLE alert;
DELETE FROM meta WHERE name IN ('newest_alert', 'newest_incident', 'newest_alert_event',
                                'newest_notification');
)"},
}};

constexpr std::int32_t kApplicationId = 0x506C7853;  // "PlxS"
constexpr Schema kSchema{"state", kApplicationId, kMigrations};

}  // namespace

const Schema& state_schema() { return kSchema; }

}  // namespace pollux::store
