// What goes into the history and comes out of it. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace pollux::store {

enum class SeriesType : std::uint8_t {
    kGauge,  // kept exactly
    kRate,   // made of counters: kept with 24 significant bits, 7 digits
    kState,  // discrete, kept exactly
};

// How long a series is kept: an index into HistoryOptions::retention.
inline constexpr std::size_t kRetentionClasses = 4;

struct SeriesDefinition {
    std::int64_t id = 0;  // from History::allocate_series()
    std::string target_id;
    std::string target_key;
    std::string metric;
    std::string row;
    std::string unit;
    SeriesType type = SeriesType::kGauge;
    std::uint8_t retention = 0;  // fixed once the series is defined
    bool operator==(const SeriesDefinition&) const = default;
};

struct HistorySample {
    std::int64_t series = 0;
    std::int64_t wall_us = 0;  // kept to the millisecond
    double value = 0;
    bool operator==(const HistorySample&) const = default;
};

struct SampleBatch {
    std::vector<SeriesDefinition> definitions;  // first these, so that samples may follow at once
    std::vector<HistorySample> samples;
    std::vector<std::int64_t> removed;  // last these: series nobody asks for any more
};

enum class HistoryTier : std::uint8_t { kRaw, kMinute, kHour };
inline constexpr std::size_t kHistoryTiers = 3;

// All samples within [at, at + length of the bucket); of one sample where it is raw. Samples that
// are not a number count for nothing but the raw answer.
struct HistoryPoint {
    base::WallTime at;
    std::uint32_t count = 0;
    double min = 0;
    double max = 0;
    double sum = 0;
    double last = 0;
    double mean() const { return count == 0 ? 0 : sum / count; }
    bool operator==(const HistoryPoint&) const = default;
};

struct HistoryQuery {
    std::int64_t series = 0;
    base::WallTime from;
    base::WallTime to;      // not included
    base::Duration step{};  // zero: every sample; else one point per step
    std::size_t limit = 20'000;
};

struct HistoryAnswer {
    HistoryTier tier = HistoryTier::kRaw;  // where it was read from
    std::vector<HistoryPoint> points;      // in order of time, without empty ones
    bool truncated = false;                // there were more than the limit: the newest are missing
};

struct TierLimits {
    std::uint32_t days = 0;       // 0: this tier is not kept
    std::uint64_t max_bytes = 0;  // 0: no quota; past it the oldest go, whatever their age
};

struct RetentionLimits {
    TierLimits raw;
    TierLimits minute;
    TierLimits hour;
};

struct HistoryStats {
    std::uint64_t samples_accepted = 0;
    std::uint64_t samples_dropped = 0;  // the queue was full: the writer cannot keep up
    std::uint64_t samples_refused = 0;  // of no defined series, or of an impossible time
    std::uint64_t samples_lost = 0;     // given up because the disk refused them for too long
    std::uint64_t blocks_written = 0;
    std::uint64_t block_bytes_written = 0;
    std::uint64_t samples_in_blocks = 0;
    std::uint64_t blocks_refused = 0;  // a series gave more than nine samples a second
    std::uint64_t blocks_expired = 0;  // by age or quota
    std::uint64_t series_rolled_up = 0;
    std::uint64_t commits = 0;
    std::uint64_t failures = 0;
    std::uint64_t damaged_blocks = 0;  // could not be read and were left out of an answer
    std::string last_error;
    bool failing = false;
    std::size_t queue_samples = 0;
    std::size_t series = 0;
    std::size_t memory_bytes = 0;  // of open and waiting blocks, about
    std::uint64_t bytes_on_disk = 0;
};

}  // namespace pollux::store
