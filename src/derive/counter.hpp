// How far a free-running counter went between two readings. Pure arithmetic.
#pragma once

#include <cstdint>
#include <optional>

namespace pollux::derive {

struct CounterStep {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    double seconds = 0;               // between them, > 0
    std::uint8_t bits = 0;            // 32, 64, or 0: not known
    bool wide = false;                // was seen above 32 bits
    std::optional<double> last_rate;  // per second
};

// The difference, with a wrap added if the counter went round; nullopt: it was reset. A counter
// that went down was either reset or wrapped. A wrap is believed only where it is plausible: the
// width is known, and the distance is short or fits the rate seen last; else one sample is lost,
// which is better than one absurd rate.
std::optional<std::uint64_t> counter_difference(const CounterStep& step);

}  // namespace pollux::derive
