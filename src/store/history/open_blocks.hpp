// The blocks that still grow, of all series, and those that are full but not yet on disk.
//
// Series are found by their number: 256 neighbours form a chunk, which is also the unit of what is
// written to disk. The history's writer thread changes this; readers copy bytes out. The owner
// holds its mutex around every call.
//
// Invariants
// 1. A sample is in exactly one place: an open block, a waiting block, or (after drop_waiting)
// disk.
// 2. A waiting block belongs to the chunk of its series, so that a chunk can be written as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/history/history_types.hpp"
#include "store/history/sample_block.hpp"

namespace pollux::store {

inline constexpr std::size_t kSeriesPerChunk = 256;

struct WaitingBlock {
    std::int64_t series = 0;
    std::uint32_t window = 0;
    std::uint32_t count = 0;
    std::string bytes;
};

class OpenBlocks {
  public:
    void define(std::int64_t series, SeriesType type, std::uint8_t retention);
    void remove(std::int64_t series);
    bool defined(std::int64_t series) const { return find(series) != nullptr; }
    std::uint8_t retention(std::int64_t series) const;

    // False: not defined, or a time no block can hold. A sample of another window than the open
    // block's closes that block.
    bool append(std::int64_t series, std::int64_t at_ms, double value);

    // Closes blocks of windows before `window`: their series fell silent.
    void close_before(std::size_t chunk, std::uint32_t window);

    // What a reader needs of one series: blocks that are not on disk, oldest first.
    std::vector<WaitingBlock> blocks_of(std::int64_t series) const;

    std::size_t chunks() const { return chunks_.size(); }
    std::size_t series() const { return series_; }
    const std::vector<WaitingBlock>& waiting(std::size_t chunk) const;
    // The first `count` waiting blocks of the chunk are on disk, or given up.
    void drop_waiting(std::size_t chunk, std::size_t count);
    std::size_t waiting_bytes() const { return waiting_bytes_; }
    // About; walks over everything.
    std::size_t memory_bytes() const;

    // The open blocks of a chunk as bytes, and back. Damaged bytes leave the rest of the chunk
    // empty.
    std::string save(std::size_t chunk) const;
    base::Status restore(std::size_t chunk, std::string_view bytes);

  private:
    struct Series {
        SampleBlock block = SampleBlock(0);
        bool defined = false;
        bool rounded = false;
        std::uint8_t retention = 0;
    };
    struct Chunk {
        std::array<Series, kSeriesPerChunk> series;
        std::vector<WaitingBlock> waiting;
    };

    Series* find(std::int64_t series);
    const Series* find(std::int64_t series) const;
    void close(std::int64_t number, Chunk& chunk, Series& series);

    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::size_t series_ = 0;
    std::size_t waiting_bytes_ = 0;
};

// A value with 24 significant bits: what a rate of counters is worth.
double rounded_to_24_bits(double value);

}  // namespace pollux::store
