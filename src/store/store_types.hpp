// What goes into a store and comes out of it. Plain data, the same for every backend.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/engine.hpp"
#include "model/alert.hpp"
#include "model/audit.hpp"
#include "model/notification.hpp"
#include "model/object.hpp"
#include "model/task_record.hpp"
#include "schedule/command.hpp"
#include "store/audit/audit_types.hpp"

namespace pollux::store {

// A new object, or a new version of one. The object's own `version` is ignored: what is stored has
// expected_version + 1.
struct ObjectWrite {
    model::ConfigObject object;
    std::uint64_t expected_version = 0;  // 0: no object of this kind and id may exist
};

struct ObjectRemoval {
    model::ObjectKind kind = model::ObjectKind::kDevice;
    std::string id;
    std::uint64_t expected_version = 0;
};

// Applied whole or not at all. Removals come first and renames do not collide with each other: two
// objects may swap their names in one batch. Writing an object of kind kSettings also keeps that
// version for ever (settings_versions()); such an object cannot be removed.
struct ObjectBatch {
    std::vector<ObjectRemoval> removals;
    std::vector<ObjectWrite> writes;
    std::string note;  // kept with a version of the settings: where it came from
    std::vector<model::AuditEntry> audit = {};  // of these edits; in the same transaction
};

struct ObjectCommit {
    std::vector<std::uint64_t> versions;  // of the writes, in their order
};

// Learned memory of targets (counters, digests, rows): opaque bytes by task key.
struct MemoryRow {
    std::string key;
    std::string bytes;
};

struct MemoryBatch {
    std::vector<std::string> removed;  // first these go, then the rows come
    std::vector<MemoryRow> rows;
};

// A job as it was submitted. How it stands is in its task's row and in its runs.
struct JobRow {
    std::string key;  // of its task
    std::string id;
    std::string batch;
    base::WallTime created;
    std::string spec;  // opaque here
    bool operator==(const JobRow&) const = default;
};

// Applied whole or not at all. A job goes when its task does (WriteBatch::removed).
struct JobBatch {
    std::vector<JobRow> added;         // a key or an id that is there already is a conflict
    std::vector<std::string> removed;  // keys: what the core refused
    std::vector<model::AuditEntry> audit = {};  // of the submission; in the same transaction
};

// How far somebody has taken in a log, by name.
using AlertCursors = std::map<std::string, std::uint64_t, std::less<>>;

// Called once for each stored thing, objects first, then tasks, then memory, each in order of its
// name, then jobs by id, then what is open of alerts, incidents and notifications, each by number,
// then the memory of the alert engine and the cursors, each by name. An empty function skips its
// part.
struct LoadVisitor {
    std::function<void(model::ConfigObject&&)> object;
    std::function<void(model::TaskRecord&&)> task;
    std::function<void(MemoryRow&&)> memory;
    std::function<void(JobRow&&)> job;
    std::function<void(model::Alert&&)> alert = {};                // those not resolved
    std::function<void(model::Incident&&)> incident = {};          // those not resolved
    std::function<void(model::Notification&&)> notification = {};  // those that wait
    std::function<void(MemoryRow&&)> alert_memory = {};
    std::function<void(std::string_view name, std::uint64_t value)> alert_cursor = {};
};

// The highest numbers that were ever stored, also when their rows are gone.
struct AlertNumbers {
    std::uint64_t alert = 0;
    std::uint64_t incident = 0;
    std::uint64_t event = 0;
    std::uint64_t notification = 0;
    bool operator==(const AlertNumbers&) const = default;
};

struct LoadedState {
    std::uint32_t epoch = 0;          // of this opening; durable before open() returned
    std::uint64_t first_change = 0;   // above every number an earlier process can have used
    bool clean_stop = true;           // the process before us closed the store; true for a new one
    std::uint64_t damaged_rows = 0;   // could not be read and were left out: they are learned anew
    std::vector<std::string> damage;  // the first of them, for the log
    AlertNumbers alert_numbers;
};

struct StoredChange {
    std::uint64_t number = 0;
    std::string key;
    schedule::ChangeKind kind = schedule::ChangeKind::kHealth;
    std::uint8_t from = 0;
    std::uint8_t to = 0;
    std::uint32_t failures = 0;
    base::WallTime at;
    bool operator==(const StoredChange&) const = default;
};

inline constexpr std::size_t kMostChangesPerQuery = 1000;

// Changes with after < number, oldest first; or newest first, those with number < before.
struct ChangeQuery {
    std::uint64_t after = 0;
    std::uint64_t before = INT64_MAX;
    std::optional<std::string> key;  // of one task only
    bool newest_first = false;
    std::size_t limit = 100;  // at most kMostChangesPerQuery are returned
};

struct SettingsVersion {
    model::ConfigObject object;
    std::string note;
    bool operator==(const SettingsVersion&) const = default;
};

// Upper bounds of the latency buckets in milliseconds; one more bucket holds what is slower.
inline constexpr std::array<std::uint32_t, 11> kCommitBucketsMs = {1,   2,   5,    10,   25,   50,
                                                                   100, 250, 1000, 5000, 30000};

struct StoreStats {
    std::uint64_t commits = 0;              // of all kinds
    std::uint64_t object_commits = 0;       // of these, batches of configured objects
    std::uint64_t memory_commits = 0;       // and of learned memory
    std::uint64_t observation_commits = 0;  // and of messages of devices
    std::uint64_t audit_commits = 0;        // and of entries of the trail without an act
    std::uint64_t audit_entries = 0;        // of the trail, with any batch
    std::uint64_t job_commits = 0;          // and of new jobs
    std::uint64_t alert_commits = 0;        // and of alerts
    std::uint64_t rows = 0;                 // written or removed, of all kinds
    std::uint64_t changes = 0;              // transitions written
    std::uint64_t reads = 0;                // queries of changes() and the like
    std::uint64_t failures = 0;   // batches that were answered with a failure, conflicts too
    std::uint64_t conflicts = 0;  // of these, because somebody else was first
    bool failing = false;         // the last batch failed for another reason than a conflict
    std::string last_error;       // empty: none since the start
    std::string last_error_code;
    std::size_t queue_depth = 0;
    std::array<std::uint64_t, kCommitBucketsMs.size() + 1> latency_counts{};  // not cumulative
    double latency_sum_s = 0;
    std::uint64_t bytes_on_disk = 0;
};

}  // namespace pollux::store
