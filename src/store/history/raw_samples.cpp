#include "store/history/raw_samples.hpp"

#include <algorithm>

#include "store/history/block_key.hpp"
#include "store/history/rollup_block.hpp"

namespace pollux::store {

base::Result<std::vector<HistoryPoint>> read_raw(Database& database, const RawSpan& span,
                                                 std::span<const WaitingBlock> memory,
                                                 std::uint64_t& damaged) {
    std::vector<TimedValue> samples;
    const std::int64_t from = std::max<std::int64_t>(span.from_ms, 0);
    const std::int64_t to = std::min(span.to_ms, kMostWindows * kWindowMs);
    auto blocks = database.prepare(
        "SELECT data FROM block WHERE number >= ?1 AND number < ?2 ORDER BY number");
    if (!blocks) return std::unexpected(std::move(blocks.error()));
    for (std::int64_t at = from / kWindowMs; at * kWindowMs < to; ++at) {
        const auto window = static_cast<std::uint32_t>(at);
        const std::int64_t first =
            BlockKey{span.retention, HistoryTier::kRaw, window, span.series, 0}.number();
        blocks->restart();
        blocks->bind(1, first);
        blocks->bind(2, first + kMostParts);
        for (;;) {
            auto row = blocks->step();
            if (!row) return std::unexpected(std::move(row.error()));
            if (!*row) break;
            if (!SampleBlock::decode(window, blocks->blob(0), samples)) ++damaged;
        }
    }
    for (const auto& block : memory) {
        const std::int64_t start = std::int64_t{block.window} * kWindowMs;
        if (start >= to || start + kWindowMs <= from) continue;
        if (!SampleBlock::decode(block.window, block.bytes, samples)) ++damaged;
    }
    std::erase_if(samples, [&](const TimedValue& sample) {
        return sample.at_ms < from || sample.at_ms >= to;
    });
    return as_points(std::move(samples));
}

}  // namespace pollux::store
