// Reproducible numbers for tests: hashes of a counter. A failing seed is the whole bug report.
#pragma once

#include <cstdint>

#include "base/siphash.hpp"

namespace pollux::base {

class TestRandom {
  public:
    explicit TestRandom(std::uint64_t seed) : key_{seed, 0x7e57} {}

    std::uint64_t next() { return siphash24(key_, ++count_); }
    // From 0 to limit - 1, limit > 0.
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }
    bool one_in(std::uint64_t limit) { return below(limit) == 0; }
    // In [low, high).
    double between(double low, double high) { return low + (high - low) * unit_interval(next()); }

  private:
    SipKey key_;
    std::uint64_t count_ = 0;
};

}  // namespace pollux::base
