// Samples summed up per minute or hour, and a day of such sums as bytes.
//
// Bytes: version 1, number of buckets (varint), then bits: for each bucket its distance to the one
// before (0: the next one; 1 + 11 bits), its count (0: as before; 1 + 32 bits), its last value, and
// where there was more than one sample: min, max and sum, each column relative to itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/history/history_types.hpp"
#include "store/history/sample_block.hpp"

namespace pollux::store {

inline constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;
inline constexpr std::int64_t kMinuteMs = 60LL * 1000;
inline constexpr std::int64_t kHourMs = 3600LL * 1000;

// `later` covers time behind that of `into`, in the same bucket.
void merge(HistoryPoint& into, const HistoryPoint& later);

// One point per bucket of `bucket_ms`, without empty ones. `points` are in order of time.
std::vector<HistoryPoint> sum_up(std::span<const HistoryPoint> points, std::int64_t bucket_ms);

// Samples as points of one each, in order of time; of those in one millisecond the last one stays.
std::vector<HistoryPoint> as_points(std::vector<TimedValue> samples);

// Points of one day, at multiples of bucket_ms, in order. day: number since 1970.
std::string encode_rollups(std::uint32_t day, std::int64_t bucket_ms,
                           std::span<const HistoryPoint> points);
base::Status decode_rollups(std::uint32_t day, std::int64_t bucket_ms, std::string_view bytes,
                            std::vector<HistoryPoint>& out);

}  // namespace pollux::store
