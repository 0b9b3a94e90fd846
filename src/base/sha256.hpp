// SHA-256 (FIPS 180-4), for hashes that other systems know too. Not for passwords; where speed or
// a secret key matters, see siphash.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pollux::base {

using Sha256Digest = std::array<std::uint8_t, 32>;

// kPortable is there to be compared with.
enum class Sha256Means : std::uint8_t { kFastest, kPortable };

class Sha256 {
  public:
    explicit Sha256(Sha256Means means = Sha256Means::kFastest);
    void update(std::string_view bytes);
    // Once; nothing may be added afterwards.
    Sha256Digest finish();

  private:
    void compress(const std::uint8_t* block);

    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> block_{};
    std::size_t filled_ = 0;
    std::uint64_t length_ = 0;
    bool by_instructions_;  // of the processor
};

Sha256Digest sha256(std::string_view bytes);

// The first `bytes` of the digest in lower-case hexadecimal digits, two each.
std::string hex_of(const Sha256Digest& digest, std::size_t bytes = 32);

}  // namespace pollux::base
