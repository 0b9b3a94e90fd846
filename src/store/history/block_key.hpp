// The number of a block: its retention class, tier, window, series and part in one integer, in this
// order. So what expires together lies together, what is written together lies together, and a
// block is found without an index of its own.
#pragma once

#include <cstdint>

#include "store/history/history_types.hpp"
#include "store/history/rollup_block.hpp"

namespace pollux::store {

inline constexpr unsigned kPartBits = 7;
inline constexpr unsigned kSeriesBits = 32;
inline constexpr unsigned kWindowBits = 20;
inline constexpr std::int64_t kMostParts = 1LL << kPartBits;
inline constexpr std::int64_t kMostSeries = 1LL << kSeriesBits;
inline constexpr std::int64_t kMostWindows = 1LL << kWindowBits;  // of two hours: until 2209

struct BlockKey {
    std::uint8_t retention = 0;
    HistoryTier tier = HistoryTier::kRaw;
    std::uint32_t window = 0;  // raw: of two hours since 1970; sums: of a day
    std::int64_t series = 0;
    std::uint32_t part = 0;  // a window may have several raw blocks

    std::int64_t number() const {
        std::uint64_t all = retention;
        all = (all << 2U) | static_cast<std::uint64_t>(tier);
        all = (all << kWindowBits) | window;
        all = (all << kSeriesBits) | static_cast<std::uint64_t>(series);
        all = (all << kPartBits) | part;
        return static_cast<std::int64_t>(all);
    }
    static BlockKey of(std::int64_t number) {
        auto all = static_cast<std::uint64_t>(number);
        BlockKey key;
        key.part = static_cast<std::uint32_t>(all & ((1U << kPartBits) - 1));
        all >>= kPartBits;
        key.series = static_cast<std::int64_t>(all & 0xFFFFFFFFU);
        all >>= kSeriesBits;
        key.window = static_cast<std::uint32_t>(all & ((1U << kWindowBits) - 1));
        all >>= kWindowBits;
        key.tier = static_cast<HistoryTier>(all & 3U);
        key.retention = static_cast<std::uint8_t>(all >> 2U);
        return key;
    }
    // The first number that is not of this window (and class and tier) any more.
    static std::int64_t window_end(std::uint8_t retention, HistoryTier tier, std::uint32_t window) {
        return BlockKey{retention, tier, window, 0, 0}.number() +
               (1LL << (kSeriesBits + kPartBits));
    }
};

constexpr std::int64_t window_length_ms(HistoryTier tier) {
    return tier == HistoryTier::kRaw ? kWindowMs : kDayMs;
}
constexpr std::int64_t bucket_length_ms(HistoryTier tier) {
    return tier == HistoryTier::kHour ? kHourMs : kMinuteMs;
}

}  // namespace pollux::store
