#include "runtime/random_bits.hpp"

#include <sys/random.h>

#include <cstddef>

namespace pollux::runtime {

std::pair<std::uint64_t, std::uint64_t> random_bits() {
    std::uint64_t bits[2] = {};
    std::size_t done = 0;
    while (done < sizeof bits) {
        const ssize_t got = getrandom(reinterpret_cast<char*>(bits) + done, sizeof bits - done, 0);
        if (got > 0) done += static_cast<std::size_t>(got);
    }
    return {bits[0], bits[1]};
}

}  // namespace pollux::runtime
