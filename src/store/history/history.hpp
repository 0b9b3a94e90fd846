// Samples over time: history.db in the data folder (WAL, synchronous NORMAL), one writer thread.
// See docs/storage.md for what is on disk and why a crash loses the last second at most.
//
// Who uses it: shards append what they read; people's graphs ask. Nothing here ever blocks a poll.
//
// Invariants
// 1. append() never waits: what does not fit is dropped and counted.
// 2. An answer holds every sample that was taken from the queue, on disk or not.
// 3. While the disk refuses, samples stay in memory up to a bound and are written when it recovers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "store/data_directory.hpp"
#include "store/history/history_types.hpp"

namespace pollux::store {

struct HistoryOptions {
    // Classes of retention; 0 is what a series has unless its addon says otherwise.
    std::array<RetentionLimits, kRetentionClasses> retention = {{
        {{14, 0}, {60, 0}, {1095, 0}},
        {{3, 0}, {14, 0}, {365, 0}},
        {{60, 0}, {365, 0}, {3650, 0}},
        {{2, 0}, {0, 0}, {90, 0}},
    }};
    std::size_t queue_samples = 1'000'000;                 // 24 MB
    base::Duration gather = std::chrono::seconds(1);       // one commit per
    base::Duration save_every = std::chrono::minutes(10);  // open blocks, in slices
    std::size_t waiting_limit_bytes = 128U << 20U;         // while the disk refuses
    std::function<base::WallTime()> clock;                 // empty: the system's
    std::string vfs;                                       // tests put faults in between
};

class HistoryWriter;
class HistoryReader;

class History {
  public:
    // Makes or upgrades the file and takes up the open blocks. Blocks; fails like the state store.
    static base::Result<std::unique_ptr<History>> open(
        std::shared_ptr<const DataDirectory> directory, HistoryOptions options);
    ~History();
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    // Every defined series, in order of the ids: the only place that remembers them. Blocks; once,
    // before the first append.
    base::Status load_series(const std::function<void(SeriesDefinition&&)>& visitor);

    // Ids nobody had before, never 0: the first of `count` in a row. To be defined by append().
    // From any thread. Fails with history.series_full after four billion.
    base::Result<std::int64_t> allocate_series(std::int64_t count = 1);

    // From any thread, never blocks. history.queue_full (transient): the batch was dropped whole
    // and counted. history.closed: after close().
    base::Status append(SampleBatch batch);

    // From any thread, also while samples are written; blocks for a bounded read. The tier follows
    // the step: below a minute raw, below an hour minutes, else hours; a coarser one where the
    // finer one was not kept that long. A series that is not defined has an empty answer.
    base::Result<HistoryAnswer> query(const HistoryQuery& query);
    base::Result<std::vector<SeriesDefinition>> series_of(const std::string& target_id);

    // Returns when everything appended before was taken and one commit of it was tried. What the
    // disk refused stays in memory for the next turn (stats().failing).
    void flush();
    // flush(), then saves the open blocks and ends the thread. A second call does nothing.
    base::Status close();

    HistoryStats stats() const;

  private:
    History();
    std::unique_ptr<HistoryWriter> writer_;
    std::unique_ptr<HistoryReader> reader_;
};

inline constexpr const char* kHistoryFile = "history.db";

}  // namespace pollux::store
