// For the tests of the history's codecs: values and times that have broken others.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/test_random.hpp"

namespace pollux::store {

inline double awkward_value(base::TestRandom& random) {
    using Limits = std::numeric_limits<double>;
    static const std::array<double, 22> kValues = {0.0,
                                                   -0.0,
                                                   1.0,
                                                   -1.0,
                                                   0.1,
                                                   -0.1,
                                                   99.99,
                                                   1e-4,
                                                   1e-5,
                                                   23.5,
                                                   0x1p51,
                                                   -0x1p51,
                                                   0x1p52,
                                                   0x1p53 + 2,
                                                   4503599627370495.5,
                                                   Limits::infinity(),
                                                   -Limits::infinity(),
                                                   Limits::quiet_NaN(),
                                                   Limits::max(),
                                                   Limits::lowest(),
                                                   Limits::denorm_min(),
                                                   Limits::min()};
    switch (random.below(6)) {
        case 0: return kValues[random.below(kValues.size())];
        case 1: return std::bit_cast<double>(random.next());  // any bits, NaN payloads too
        case 2: return static_cast<double>(random.below(1000));
        case 3: return static_cast<double>(random.below(100'000)) / 100;
        case 4: return random.between(-1e6, 1e6);
        default: return std::round(random.between(0, 1e9));
    }
}

}  // namespace pollux::store
