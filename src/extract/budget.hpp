// How much work reading one set of replies may cost. What is spent is gone; when nothing is left,
// reading ends with a problem instead of going on.
#pragma once

#include <cstdint>

namespace pollux::extract {

struct Budget {
    std::uint64_t nodes = 200'000;       // values visited by paths, filters and expressions
    std::uint64_t bytes = 32ULL << 20U;  // memory of parsed replies
    std::uint32_t readings = 50'000;
    std::uint32_t rows = 10'000;

    bool spend(std::uint64_t count = 1) {
        if (nodes < count) {
            nodes = 0;
            return false;
        }
        nodes -= count;
        return true;
    }
};

}  // namespace pollux::extract
