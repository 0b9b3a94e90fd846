// The clocks of the engines that send us signed traps, by engine id: what lies behind them is a
// repetition. Kept over a restart, so that nobody plays back what was heard before it.
//
// Bounded: the oldest entry makes room. Not thread-safe; without I/O: rows to be stored are given
// out by unsaved(), as of the moment of asking, and taken in again by recall().
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_index.hpp"
#include "base/result.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "protocol/snmp/engine_clock.hpp"

namespace pollux::protocol::snmp {

class SenderClocks {
  public:
    struct Row {
        std::string engine_id;
        std::string bytes;  // empty: it is gone
    };

    SenderClocks(std::size_t capacity, base::SipKey key)
        : capacity_(capacity == 0 ? 1 : capacity), key_(key) {}

    // A signed message of this engine says so. What is heard first is believed. False: it is
    // outside of the time window.
    bool accept(std::string_view engine_id, std::uint32_t boots, std::uint32_t time,
                base::BootTime now);
    // Holds, whatever its traps said. Who has not sent one yet takes nobody's place.
    void prove(std::string_view engine_id, const EngineClock& clock);
    // What it says next is believed. False: it is not known.
    bool forget(std::string_view engine_id);
    std::size_t size() const { return entries_.size(); }

    // A row that unsaved() gave out, of an earlier process. An error leaves it out: it is heard
    // anew. What there is no room for is given out as gone.
    base::Status recall(std::string_view engine_id, std::string_view bytes, base::BootTime now,
                        base::WallTime wall);
    // At most so many of those that changed enough to be worth it.
    std::vector<Row> unsaved(std::size_t most, base::BootTime now, base::WallTime wall);
    // They could not be stored: given out again.
    void not_saved(const std::vector<std::string>& engine_ids);

  private:
    struct Entry {
        std::string id;
        EngineClock clock;
        std::uint32_t saved_boots = 0;
        std::uint32_t saved_time = 0;
        bool saved = false;
    };
    std::uint32_t place_of(std::string_view engine_id) const;
    Entry& add(std::string_view engine_id, const EngineClock& clock);
    void remove(std::uint32_t place);
    void mark(std::string engine_id);

    std::size_t capacity_;
    base::SipKey key_;
    std::vector<Entry> entries_;
    std::size_t oldest_ = 0;
    base::FlatIndex index_;
    std::set<std::string, std::less<>> unsaved_;
};

}  // namespace pollux::protocol::snmp
