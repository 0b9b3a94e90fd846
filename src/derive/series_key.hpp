// The key of a series, the same on every machine: hash of its metric's number and its row's name.
// And what else the digest of a poll is made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/siphash.hpp"

namespace pollux::derive {

inline constexpr base::SipKey kDigestKey{0x706f6c6c75782f31ULL, 0x6d65616e696e6700ULL};

// Parts of the digest, so that equal values of different kinds differ.
enum Part : std::uint64_t { kPartRow, kPartWord, kPartNumber, kPartLevel, kPartChange, kPartFacts };

inline std::uint64_t series_key(std::uint16_t metric, std::string_view row) {
    const std::uint64_t name = row.empty() ? 0 : base::siphash24(kDigestKey, row);
    return base::siphash24(kDigestKey, name, metric);
}

}  // namespace pollux::derive
