// The bytes of a fuzzer as small decisions. Missing bytes read as zero, so that every prefix of an
// input is an input.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/time.hpp"

namespace pollux::fuzz {

class Input {
  public:
    explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    bool empty() const { return at_ >= bytes_.size(); }
    std::uint8_t byte() { return empty() ? std::uint8_t{0} : bytes_[at_++]; }
    std::uint32_t below(std::uint32_t limit) { return byte() % limit; }
    bool flag() { return (byte() & 1U) != 0; }
    std::uint64_t word() {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value = value << 8U | byte();
        return value;
    }
    // Mostly sensible, sometimes not.
    std::int64_t number() {
        const std::uint8_t b = byte();
        if (b == 255) return static_cast<std::int64_t>(word());
        if (b == 254) return std::numeric_limits<std::int64_t>::max();
        return b < 250 ? b % 8 : -1;
    }
    double rate() {
        const std::uint8_t b = byte();
        return b == 255 ? std::bit_cast<double>(word()) : b * 0.25;
    }
    base::Duration duration() {
        using namespace std::chrono_literals;
        constexpr std::array<base::Duration, 12> kChoices = {0ns, 1ns, 1ms, 100ms, 999ms, 1s,
                                                             5s,  30s, 61s, 1h,    24h,   24h * 31};
        const std::uint8_t b = byte();
        if (b == 255) return base::Duration{static_cast<std::int64_t>(word())};
        return kChoices[b % kChoices.size()];
    }

  private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

}  // namespace pollux::fuzz
