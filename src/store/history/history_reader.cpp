#include "store/history/history_reader.hpp"

#include <algorithm>

#include "store/history/block_key.hpp"
#include "store/history/raw_samples.hpp"
#include "store/history/rollup_block.hpp"

namespace pollux::store {

namespace {

base::Error closed() {
    return {"history.closed", base::ErrorClass::kPermanent, "history: read after it was closed"};
}

SeriesDefinition definition_of(const Statement& row) {
    SeriesDefinition series;
    series.id = row.integer(0);
    series.target_id = row.text(1);
    series.target_key = row.text(2);
    series.metric = row.text(3);
    series.row = row.text(4);
    series.unit = row.text(5);
    series.type = static_cast<SeriesType>(std::clamp<std::int64_t>(row.integer(6), 0, 2));
    series.retention = static_cast<std::uint8_t>(row.integer(7));
    return series;
}

constexpr std::int64_t kMicrosPerDay = kDayMs * 1000;

}  // namespace

const TierLimits& limits_of(const RetentionLimits& limits, HistoryTier tier) {
    if (tier == HistoryTier::kRaw) return limits.raw;
    return tier == HistoryTier::kMinute ? limits.minute : limits.hour;
}

HistoryTier choose_tier(const HistoryQuery& query, base::WallTime now,
                        const RetentionLimits& limits) {
    const std::int64_t step_ms = query.step.count() / 1'000'000;
    HistoryTier tier = HistoryTier::kRaw;
    if (step_ms >= kMinuteMs && limits.minute.days > 0) tier = HistoryTier::kMinute;
    if (step_ms >= kHourMs && limits.hour.days > 0) tier = HistoryTier::kHour;
    const auto reaches = [&](HistoryTier one) {
        // An hour more: "the last 14 days" is asked a moment after it began.
        return now.us - std::int64_t{limits_of(limits, one).days} * kMicrosPerDay - kHourMs * 1000;
    };
    const std::int64_t from = std::max<std::int64_t>(query.from.us, 0);
    while (tier != HistoryTier::kHour && from < reaches(tier)) {
        // Only to one that reaches further back.
        const auto next = static_cast<HistoryTier>(static_cast<int>(tier) + 1);
        if (std::min(reaches(next), reaches(HistoryTier::kHour)) >= reaches(tier)) break;
        tier = next;
    }
    return tier;
}

base::Result<std::unique_ptr<HistoryReader>> HistoryReader::open(const std::string& path,
                                                                 const std::string& vfs) {
    auto database = Database::open(
        path, {false, true, vfs, "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;"});
    if (!database) return std::unexpected(std::move(database.error()));
    return std::unique_ptr<HistoryReader>(new HistoryReader(std::move(*database)));
}

void HistoryReader::close() {
    const std::scoped_lock lock(mutex_);
    database_.reset();
}

base::Result<HistoryAnswer> HistoryReader::query(const HistoryQuery& query, const SeriesView& view,
                                                 const RetentionLimits& limits) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed());
    HistoryQuery bounded = query;
    // Nothing is kept from before 1970, nor from more than a day ahead.
    bounded.from.us = std::max<std::int64_t>(query.from.us, 0);
    bounded.to.us = std::min(query.to.us, view.now.us + kMicrosPerDay);
    HistoryAnswer answer;
    answer.tier = choose_tier(bounded, view.now, limits);
    // Nor from longer ago than it is kept; so a question without a beginning costs no more.
    const std::int64_t kept = std::int64_t{limits_of(limits, answer.tier).days} + 2;
    bounded.from.us = std::max(bounded.from.us, view.now.us - kept * kMicrosPerDay);
    auto points =
        answer.tier == HistoryTier::kRaw ? raw(bounded, view) : sums(bounded, view, answer.tier);
    if (!points) return std::unexpected(std::move(points.error()));
    answer.points = std::move(*points);
    const std::int64_t step_ms = query.step.count() / 1'000'000;
    if (step_ms > 0) answer.points = sum_up(answer.points, step_ms);
    if (answer.points.size() > query.limit) {
        answer.points.resize(query.limit);
        answer.truncated = true;
    }
    return answer;
}

base::Result<std::vector<HistoryPoint>> HistoryReader::raw(const HistoryQuery& query,
                                                           const SeriesView& view) {
    std::uint64_t damaged = 0;
    auto points =
        read_raw(*database_,
                 {query.series, view.retention, base::detail::ceil_div(query.from.us, 1000),
                  base::detail::ceil_div(query.to.us, 1000)},
                 view.blocks, damaged);
    damaged_ += damaged;
    return points;
}

base::Result<std::vector<HistoryPoint>> HistoryReader::sums(const HistoryQuery& query,
                                                            const SeriesView& view,
                                                            HistoryTier tier) {
    std::vector<HistoryPoint> points;
    const std::int64_t bucket_us = bucket_length_ms(tier) * 1000;
    // Whole buckets only: the one that `from` falls into counts.
    const std::int64_t from = base::detail::floor_div(query.from.us, bucket_us) * bucket_us;
    const std::int64_t first_live = (view.rolled_day + 1) * kMicrosPerDay;
    auto block = database_->prepare("SELECT data FROM block WHERE number = ?1");
    if (!block) return std::unexpected(std::move(block.error()));
    for (std::int64_t day = from / kMicrosPerDay;
         day * kMicrosPerDay < std::min(query.to.us, first_live); ++day) {
        block->restart();
        block->bind(1,
                    BlockKey{view.retention, tier, static_cast<std::uint32_t>(day), query.series, 0}
                        .number());
        auto row = block->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) continue;
        const auto status = decode_rollups(static_cast<std::uint32_t>(day), bucket_length_ms(tier),
                                           block->blob(0), points);
        if (!status) ++damaged_;
    }
    if (query.to.us > first_live) {
        HistoryQuery rest = query;
        rest.from.us = std::max(from, first_live);
        auto samples = raw(rest, view);
        if (!samples) return samples;
        for (const auto& sum : sum_up(*samples, bucket_length_ms(tier))) points.push_back(sum);
    }
    std::erase_if(points, [&](const HistoryPoint& point) {
        return point.at.us < from || point.at.us >= query.to.us;
    });
    return points;
}

base::Result<std::vector<SeriesDefinition>> HistoryReader::series_of(const std::string& target_id) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed());
    auto statement = database_->prepare("SELECT * FROM series WHERE target_id = ?1 ORDER BY id");
    if (!statement) return std::unexpected(std::move(statement.error()));
    statement->bind(1, std::string_view(target_id));
    std::vector<SeriesDefinition> found;
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return found;
        found.push_back(definition_of(*statement));
    }
}

base::Status HistoryReader::load_series(const std::function<void(SeriesDefinition&&)>& visitor) {
    const std::scoped_lock lock(mutex_);
    if (!database_) return std::unexpected(closed());
    auto statement = database_->prepare("SELECT * FROM series ORDER BY id");
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return {};
        visitor(definition_of(*statement));
    }
}

}  // namespace pollux::store
