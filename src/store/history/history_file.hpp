// What the writer does with history.db: one call is one transaction. Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/history/block_key.hpp"
#include "store/history/history.hpp"
#include "store/history/open_blocks.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

struct JournalRow {
    std::int64_t number = 0;
    std::string bytes;
};

struct ChunkWrite {
    std::size_t chunk = 0;
    std::vector<std::pair<BlockKey, std::string>> blocks;  // without part: the next free one
    std::string open;                                      // OpenBlocks::save()
};

// Everything of one turn of the writer.
struct HistoryTurn {
    std::vector<SeriesDefinition> definitions;
    std::vector<std::int64_t> removed;
    std::vector<JournalRow> journal;
    std::vector<ChunkWrite> chunks;
    std::int64_t covered = 0;     // the chunks hold all rows of the journal up to this number
    std::int64_t trim_up_to = 0;  // rows that no chunk needs any more
    std::int64_t next_series = 0;
};

struct TierUsage {
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
};

// What was found at the opening.
struct HistoryState {
    OpenBlocks blocks;
    std::vector<std::int64_t> covered;  // by chunk
    std::int64_t newest_journal = 0;
    std::int64_t next_series = 1;  // 0 is nobody's: owners keep it for "none"
    std::int64_t rolled_day = -1;  // -1: none yet
    std::int64_t roll_cursor = 0;  // series of the day after it that are done
    std::uint64_t damaged = 0;
};

class HistoryFile {
  public:
    static base::Result<std::unique_ptr<HistoryFile>> open(const std::string& path,
                                                           const std::string& vfs);

    // Definitions, saved chunks, then the journal behind them.
    base::Result<HistoryState> load();
    base::Status commit(const HistoryTurn& turn);

    // Removes the oldest blocks of a class and tier before a window; returns how many.
    base::Result<std::int64_t> expire(std::uint8_t retention, HistoryTier tier,
                                      std::uint32_t before_window, std::int64_t limit);

    struct Rollup {
        BlockKey key;
        std::string bytes;
    };
    // Sums of days, with the progress they stand for.
    base::Status commit_rollups(const std::vector<Rollup>& rollups, std::int64_t rolled_day,
                                std::int64_t cursor);
    // Window of the oldest raw block of a class at or after `window`; -1: none.
    base::Result<std::int64_t> next_raw_window(std::uint8_t retention, std::uint32_t window);

    const TierUsage& usage(std::uint8_t retention, HistoryTier tier) const {
        return usage_[retention][static_cast<std::size_t>(tier)];
    }
    // Blocks that had no place any more: faster than nine samples a second for two hours.
    std::uint64_t blocks_refused() const { return blocks_refused_; }
    Database& database() { return *database_; }

  private:
    using Usage = std::array<std::array<TierUsage, kHistoryTiers>, kRetentionClasses>;

    explicit HistoryFile(std::unique_ptr<Database> database) : database_(std::move(database)) {}
    base::Status load_usage();
    base::Status load_definitions(HistoryState& state);
    base::Status load_chunks(HistoryState& state);
    base::Status replay(HistoryState& state);
    base::Status write_definitions(const HistoryTurn& turn);
    base::Status write_journal(const HistoryTurn& turn);
    base::Status write_chunks(const HistoryTurn& turn, Usage& usage);
    base::Status write_block(BlockKey key, std::string_view bytes, Usage& usage);
    base::Status write_usage(const Usage& usage);
    base::Status set_meta(std::string_view name, std::int64_t value);

    std::unique_ptr<Database> database_;
    Usage usage_{};
    std::uint64_t blocks_refused_ = 0;
};

}  // namespace pollux::store
