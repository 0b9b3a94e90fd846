// The thread that writes the history: takes what was appended, puts it into the open blocks, and
// once per turn commits it, saves some open blocks, and does a bounded piece of upkeep.
//
// Invariants
// 1. Only the writer's thread touches the file. The open blocks are changed by it alone, under
//    blocks_mutex_; readers copy under the same mutex.
// 2. A row of the journal goes only when every chunk that it has samples of was saved after it.
// 3. A failed commit changes nothing in memory: the next turn brings the same rows again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "store/history/history.hpp"
#include "store/history/history_file.hpp"
#include "store/history/history_reader.hpp"
#include "store/history/journal_codec.hpp"
#include "store/history/open_blocks.hpp"

namespace pollux::store {

class HistoryWriter {
  public:
    static base::Result<std::unique_ptr<HistoryWriter>> open(
        std::shared_ptr<const DataDirectory> directory, HistoryOptions options);
    ~HistoryWriter();

    // As in history.hpp.
    base::Result<std::int64_t> allocate_series(std::int64_t count);
    base::Status append(SampleBatch batch);
    void flush();
    base::Status close();
    HistoryStats stats() const;

    // From any thread; nothing if the series is not defined.
    std::optional<SeriesView> view(std::int64_t series) const;
    const HistoryOptions& options() const { return options_; }

  private:
    HistoryWriter(std::shared_ptr<const DataDirectory> directory, HistoryOptions options,
                  std::unique_ptr<HistoryFile> file, HistoryState state);
    void run();
    // Takes what is queued; false: closing and nothing is left.
    bool wait_for_work(std::deque<SampleBatch>& taken);
    void turn(std::deque<SampleBatch>& taken);

    // Parts of a turn.
    void apply(std::deque<SampleBatch>& taken);
    void apply_definitions(SampleBatch& batch);
    void commit();
    std::vector<std::size_t> chunks_to_save();
    ChunkWrite write_of(std::size_t chunk);
    void after_commit(const HistoryTurn& turn, const std::vector<std::size_t>& blocks_written);
    void note_failure(const base::Error& error);
    void give_up_what_is_too_much();

    // Bounded upkeep: expires old blocks, then sums up finished days.
    void upkeep();
    base::Status expire_some();
    base::Status roll_up_some();
    base::Result<std::int64_t> next_day_with_samples(std::int64_t day);
    base::Status roll_up_slice(std::int64_t day, std::int64_t end_series);
    base::WallTime now() const;

    std::shared_ptr<const DataDirectory> directory_;
    HistoryOptions options_;
    std::unique_ptr<HistoryFile> file_;
    std::string path_;

    // Queue.
    mutable std::mutex queue_mutex_;
    std::condition_variable arrived_;
    std::condition_variable done_;
    std::deque<SampleBatch> queue_;
    std::size_t queued_samples_ = 0;
    std::uint64_t accepted_batches_ = 0;
    std::uint64_t finished_batches_ = 0;
    std::size_t flushing_ = 0;
    bool closing_ = false;
    HistoryStats stats_;

    mutable std::mutex blocks_mutex_;
    OpenBlocks blocks_;
    std::atomic<std::int64_t> rolled_day_;
    std::atomic<std::int64_t> next_series_;

    // The writer's own.
    std::vector<std::int64_t> covered_;  // by chunk: rows of the journal that it holds
    std::vector<bool> touched_;          // by chunk: samples came since it was saved
    std::int64_t newest_journal_;
    std::int64_t trimmed_ = 0;
    std::int64_t roll_cursor_;
    HistoryTurn unwritten_;  // definitions, removals and rows that no commit took yet
    std::size_t unwritten_bytes_ = 0;
    std::size_t save_cursor_ = 0;
    double save_credit_ = 0;
    bool save_all_ = false;
    std::chrono::steady_clock::time_point last_turn_ = std::chrono::steady_clock::now();

    std::mutex close_mutex_;
    std::thread thread_;
};

}  // namespace pollux::store
