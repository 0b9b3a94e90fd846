// HistoryWriter: the work that no sample waits for, a bounded piece of it per turn.
#include <algorithm>

#include "store/history/block_key.hpp"
#include "store/history/history_writer.hpp"
#include "store/history/raw_samples.hpp"

namespace pollux::store {

namespace {

constexpr std::int64_t kExpirePerTurn = 2'000;                 // blocks
constexpr std::int64_t kSeriesPerTurn = 128;                   // summed up
constexpr std::int64_t kLookedAtPerTurn = 20'000;              // ids, most of them gone
constexpr std::int64_t kGraceMs = kWindowMs + 15 * kMinuteMs;  // after a day's end
constexpr std::int64_t kWindowsPerDay = kDayMs / kWindowMs;

}  // namespace

void HistoryWriter::upkeep() {
    if (auto status = expire_some(); !status) note_failure(status.error());
    if (auto status = roll_up_some(); !status) note_failure(status.error());
}

base::Status HistoryWriter::expire_some() {
    const std::int64_t now_ms = now().us / 1000;
    for (std::uint8_t retention = 0; retention < kRetentionClasses; ++retention) {
        for (const auto tier : {HistoryTier::kRaw, HistoryTier::kMinute, HistoryTier::kHour}) {
            const TierLimits& limits = limits_of(options_.retention[retention], tier);
            const std::int64_t length = window_length_ms(tier);
            // A window more than promised: see choose_tier().
            std::int64_t before = (now_ms - std::int64_t{limits.days} * kDayMs) / length - 1;
            // What was not summed up yet is still needed.
            if (tier == HistoryTier::kRaw) {
                before = std::min(before, (rolled_day_ + 1) * kWindowsPerDay);
            }
            const auto used = static_cast<std::uint64_t>(
                std::max<std::int64_t>(file_->usage(retention, tier).bytes, 0));
            const bool over = limits.max_bytes > 0 && used > limits.max_bytes;
            if (over) before = kMostWindows;
            if (before <= 0 || file_->usage(retention, tier).blocks == 0) continue;
            before = std::min(before, kMostWindows - 1);
            // Over the quota by a little must not cost much more than that little.
            std::int64_t limit = kExpirePerTurn;
            if (over) {
                const auto excess = static_cast<std::int64_t>(used - limits.max_bytes);
                const TierUsage& usage = file_->usage(retention, tier);
                const std::int64_t size = std::max<std::int64_t>(usage.bytes / usage.blocks, 1);
                limit = std::min(limit, excess / size + 1);
            }
            auto count = file_->expire(retention, tier, static_cast<std::uint32_t>(before), limit);
            if (!count) return std::unexpected(std::move(count.error()));
            if (*count == 0) continue;
            const std::scoped_lock lock(queue_mutex_);
            stats_.blocks_expired += static_cast<std::uint64_t>(*count);
        }
    }
    return {};
}

base::Result<std::int64_t> HistoryWriter::next_day_with_samples(std::int64_t day) {
    std::int64_t next = -1;
    const auto window = std::min(std::max<std::int64_t>(day, 0) * kWindowsPerDay, kMostWindows - 1);
    for (std::uint8_t retention = 0; retention < kRetentionClasses; ++retention) {
        auto found = file_->next_raw_window(retention, static_cast<std::uint32_t>(window));
        if (!found) return found;
        if (*found < 0) continue;
        const std::int64_t found_day = *found / kWindowsPerDay;
        next = next < 0 ? found_day : std::min(next, found_day);
    }
    return next;
}

base::Status HistoryWriter::roll_up_some() {
    const std::int64_t finished_day = (now().us / 1000 - kGraceMs) / kDayMs - 1;
    if (rolled_day_ >= finished_day) return {};
    std::int64_t day = rolled_day_ + 1;
    if (roll_cursor_ == 0) {
        // Days on which nothing ran are passed over at once.
        auto next = next_day_with_samples(day);
        if (!next) return std::unexpected(std::move(next.error()));
        if (*next < 0) return {};
        if (*next > finished_day) {
            if (auto status = file_->commit_rollups({}, finished_day, 0); !status) return status;
            rolled_day_ = finished_day;
            return {};
        }
        day = *next;
    }
    return roll_up_slice(day, next_series_);
}

base::Status HistoryWriter::roll_up_slice(std::int64_t day, std::int64_t end_series) {
    std::vector<HistoryFile::Rollup> rollups;
    std::int64_t series = roll_cursor_;
    std::int64_t done = 0;
    std::uint64_t damaged = 0;
    for (std::int64_t looked = 0;
         series < end_series && done < kSeriesPerTurn && looked < kLookedAtPerTurn;
         ++series, ++looked) {
        const auto found = view(series);
        if (!found) continue;
        ++done;
        const RawSpan span{series, found->retention, day * kDayMs, (day + 1) * kDayMs};
        auto samples = read_raw(file_->database(), span, found->blocks, damaged);
        if (!samples) return std::unexpected(std::move(samples.error()));
        if (samples->empty()) continue;
        for (const auto tier : {HistoryTier::kMinute, HistoryTier::kHour}) {
            if (limits_of(options_.retention[found->retention], tier).days == 0) continue;
            const auto sums = sum_up(*samples, bucket_length_ms(tier));
            const auto number = static_cast<std::uint32_t>(day);
            rollups.push_back({BlockKey{found->retention, tier, number, series, 0},
                               encode_rollups(number, bucket_length_ms(tier), sums)});
        }
    }
    const bool whole_day = series >= end_series;
    const std::int64_t rolled = whole_day ? day : day - 1;
    const std::int64_t cursor = whole_day ? 0 : series;
    if (auto status = file_->commit_rollups(rollups, rolled, cursor); !status) return status;
    rolled_day_ = rolled;
    roll_cursor_ = cursor;
    const std::scoped_lock lock(queue_mutex_);
    stats_.series_rolled_up += static_cast<std::uint64_t>(done);
    stats_.damaged_blocks += damaged;
    return {};
}

}  // namespace pollux::store
