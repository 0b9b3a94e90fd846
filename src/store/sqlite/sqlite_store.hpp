// The store on disk: state.db in the data folder (WAL, synchronous FULL). See docs/storage.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "store/data_directory.hpp"
#include "store/store.hpp"

namespace pollux::store {

struct SqliteOptions {
    std::string vfs;  // empty: the operating system's; tests put faults in between
    std::uint64_t most_changes = 500'000;          // transitions kept; the oldest go first
    std::uint64_t check_below_bytes = 64U << 20U;  // after an unclean stop, check files up to this
    AuditOptions audit = {};
};

// Makes or upgrades the file, raises the epoch durably, and starts the store's thread. Blocks.
// Fails with store.corrupt, store.newer, store.foreign, store.access, store.disk_full, store.io;
// an existing file is then left as it is. The folder's lock is held until the store goes.
base::Result<std::unique_ptr<Store>> open_sqlite_store(
    std::shared_ptr<const DataDirectory> directory, AnswerSink sink, SqliteOptions options = {});

inline constexpr const char* kStateFile = "state.db";

}  // namespace pollux::store
