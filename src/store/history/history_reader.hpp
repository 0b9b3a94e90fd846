// Answers questions about the past through a connection of its own, behind a mutex: it never waits
// for the writer, and the writer never waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/history/history.hpp"
#include "store/history/open_blocks.hpp"
#include "store/sqlite/database.hpp"

namespace pollux::store {

// What the writer knows about a series that is not on disk.
struct SeriesView {
    std::uint8_t retention = 0;
    std::vector<WaitingBlock> blocks;
    std::int64_t rolled_day = -1;  // sums are on disk up to this day
    base::WallTime now;
};

class HistoryReader {
  public:
    static base::Result<std::unique_ptr<HistoryReader>> open(const std::string& path,
                                                             const std::string& vfs);

    // Any thread. `limits` are those of the series' class.
    base::Result<HistoryAnswer> query(const HistoryQuery& query, const SeriesView& view,
                                      const RetentionLimits& limits);
    base::Result<std::vector<SeriesDefinition>> series_of(const std::string& target_id);
    base::Status load_series(const std::function<void(SeriesDefinition&&)>& visitor);
    void close();

    std::uint64_t damaged_blocks() const { return damaged_; }

  private:
    explicit HistoryReader(std::unique_ptr<Database> database) : database_(std::move(database)) {}
    base::Result<std::vector<HistoryPoint>> raw(const HistoryQuery& query, const SeriesView& view);
    base::Result<std::vector<HistoryPoint>> sums(const HistoryQuery& query, const SeriesView& view,
                                                 HistoryTier tier);

    std::mutex mutex_;  // guards database_
    std::unique_ptr<Database> database_;
    std::atomic<std::uint64_t> damaged_ = 0;
};

// The tier that answers best: as fine as the step wants, coarser where that is not kept so long.
HistoryTier choose_tier(const HistoryQuery& query, base::WallTime now,
                        const RetentionLimits& limits);

const TierLimits& limits_of(const RetentionLimits& limits, HistoryTier tier);

}  // namespace pollux::store
