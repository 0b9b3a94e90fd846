// One series' samples of one window of two hours, compressed: what is kept in memory while it is
// open and on disk afterwards.
//
// Bytes: version 1, number of samples (varint), then bits: for each sample its time and its value.
// Time is in milliseconds, as the difference of differences to the two before; it starts at the
// beginning of the window, which is not in the bytes. So devices asked every 60 s cost a byte or
// so per sample for the time, however long the interval is. Times may go back.
//
//   0       the same distance as before
//   10      + 7 bits       110 + 10 bits       1110 + 14 bits      11110 + 24 bits
//   11111   + 64 bits
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/history/bit_stream.hpp"
#include "store/history/value_codec.hpp"

namespace pollux::store {

inline constexpr std::int64_t kWindowMs = 2LL * 3600 * 1000;
inline constexpr std::uint32_t kMostSamplesPerBlock = 512;

struct TimedValue {
    std::int64_t at_ms = 0;
    double value = 0;
};

class SampleBlock {
  public:
    explicit SampleBlock(std::uint32_t window = 0)
        : last_ms_(std::int64_t{window} * kWindowMs), window_(window) {}

    void append(std::int64_t at_ms, double value);
    bool full() const { return count_ >= kMostSamplesPerBlock; }
    bool empty() const { return count_ == 0; }
    std::uint32_t window() const { return window_; }
    std::uint32_t count() const { return count_; }
    std::size_t memory() const { return bits_.memory(); }

    // The stored form; the block can go on growing.
    std::string bytes() const;

    // Takes up a stored block where it ended. Fails for damaged bytes.
    static base::Result<SampleBlock> resume(std::uint32_t window, std::string_view bytes);
    // Adds the samples of a stored block to `out`, in the order in which they came.
    static base::Status decode(std::uint32_t window, std::string_view bytes,
                               std::vector<TimedValue>& out);

  private:
    // Calls `take` for each sample and leaves the state of the end in `state`.
    template <class Take>
    static base::Status read(std::string_view bytes, SampleBlock& state, Take take);

    BitWriter bits_;
    ValueCodec values_;
    std::int64_t last_ms_;
    std::int64_t last_distance_ = 0;
    std::uint32_t window_;
    std::uint32_t count_ = 0;
};

}  // namespace pollux::store
