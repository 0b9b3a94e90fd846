// What is remembered of one task of a target between its polls: the last counters, levels, counted
// values and the names of its rows. A table of series, each with a number (slot) that stays.
//
// Owned by the thread that derives the target's polls; not thread-safe.
//
// Invariants
// 1. A slot keeps its series: slots are only appended. A series that was not seen for kForgetAfter
//    is forgotten (its slot stays empty); when the table is full, forgotten slots are taken out
//    and all slots get new numbers, which the observation says (`renumbered`).
// 2. At most `max_series` series; values past it are dropped and counted.
// 3. encode() and decode() keep everything a rate, a level or a digest depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/flat_index.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/addon.hpp"
#include "model/reading.hpp"

namespace pollux::derive {

struct SeriesName {
    std::uint16_t metric = 0;  // index into Addon::metrics
    std::string_view row;      // empty: the target itself
};

struct ValueAt {
    base::BootTime at;
    double value = 0;
};

// What a condition remembers of a series, where it is not simply clear.
struct ConditionState {
    std::uint32_t slot = 0;
    std::uint8_t ordinal = 0;  // in MetricDef::conditions
    std::uint8_t level = 0;  // by the last value, with hysteresis: 0 clear, else the severity step
    std::uint8_t step = 0;   // what is told: becomes `level` after so many polls in a row
    bool rising = false;     // where the polls in a row go
    std::uint16_t streak = 0;             // polls in a row in which `level` is not `step`
    double told = 0;                      // value at the last raise or update
    std::optional<base::BootTime> since;  // first poll that lacked the value (absence)
    std::vector<ValueAt> points;          // of the window (rate of change)

    bool is_empty() const {
        return level == 0 && step == 0 && streak == 0 && !since && points.empty();
    }
};

class TargetMemory {
  public:
    static constexpr std::uint32_t kDefaultSeries = 4096;
    static constexpr base::Duration kForgetAfter = std::chrono::hours(24);
    static constexpr base::Duration kLongestGap = std::chrono::hours(24);  // a rate over more says
                                                                           // nothing
    static constexpr std::uint32_t kNone = base::FlatIndex::kNone;

    explicit TargetMemory(std::uint32_t max_series = kDefaultSeries) : max_series_(max_series) {}

    std::uint32_t size() const { return static_cast<std::uint32_t>(series_.size()); }
    bool alive(std::uint32_t slot) const { return series_[slot].alive; }  // false: forgotten
    SeriesName series(std::uint32_t slot) const {
        return {series_[slot].metric, series_[slot].row};
    }
    std::optional<double> latest(std::uint32_t slot) const;  // number, state or rate per second
    const std::string& latest_text(std::uint32_t slot) const { return series_[slot].text; }
    base::BootTime latest_at(std::uint32_t slot) const { return series_[slot].at; }
    // Of the metric's n-th condition (MetricDef::conditions): raised and not over since.
    bool active(std::uint32_t slot, std::size_t ordinal) const;

    // What the metrics are numbered by (the fingerprint of an addon); 0: an older version did not
    // say. Kept over a restart, so that nobody takes the numbers of another addon for its own.
    std::uint64_t owner() const { return owner_; }
    void set_owner(std::uint64_t owner) { owner_ = owner; }

    // The slot of a series, or kNone.
    std::uint32_t find(std::uint16_t metric, std::string_view row) const;

    // Wall times are kept, so that counters go on after a restart. Versioned.
    void encode(base::ByteWriter& out) const;
    // Error derive.memory: damaged, of an unknown version, or too large; start with an empty one.
    static base::Result<TargetMemory> decode(std::string_view bytes, base::Instant now,
                                             std::uint32_t max_series = kDefaultSeries);

    std::size_t memory_bytes() const;

  private:
    friend class Deriver;
    friend class ConditionKeeper;

    struct Series {
        std::string row;
        std::string text;        // last text or word of a state
        std::uint64_t key = 0;   // hash of metric and row
        base::BootTime at;       // of the last value
        std::uint64_t raw = 0;   // last counter
        double value = 0;        // last number
        double counted = 0;      // number that last counted as a change
        std::uint32_t poll = 0;  // number of the last poll that had it
        std::uint16_t metric = 0;
        std::uint16_t levels = 0;  // two bits per condition, see condition_keeper.cpp
        bool alive = true;
        bool has_raw = false;
        bool has_value = false;
        bool has_counted = false;
        bool wide = false;  // the counter was seen above 32 bits
    };

    std::uint32_t append(std::uint16_t metric, std::string_view row, std::uint64_t key);
    void forget(std::uint32_t slot);
    void compact();
    ConditionState* find_state(std::uint32_t slot, std::uint8_t ordinal);
    ConditionState& add_state(std::uint32_t slot, std::uint8_t ordinal);
    void remove_state(std::uint32_t slot, std::uint8_t ordinal);
    void encode_state(base::ByteWriter& out, const ConditionState& state) const;
    bool decode_states(base::ByteReader& in);
    void add_old_states();

    std::vector<Series> series_;
    std::vector<ConditionState> states_;  // by slot and ordinal; most targets have none
    base::FlatIndex index_;
    std::vector<std::uint32_t> order_;  // slots in the order of the last poll: a guess for the next
    std::uint32_t max_series_;
    std::uint32_t forgotten_ = 0;
    std::uint32_t polls_ = 0;
    std::uint32_t decided_ = 0;  // conditions of the last poll: room for the next
    std::uint32_t restarts_ = 0;
    std::uint64_t owner_ = 0;
    base::Instant last_poll_;
    std::uint64_t uptime_ticks_ = 0;
    bool has_uptime_ = false;
    bool has_poll_ = false;
};

}  // namespace pollux::derive
