#include "base/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace pollux::base {
namespace {

// The key 00 01 ... 0f of the published vectors.
constexpr SipKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};

// The published SipHash-2-4 vectors: entry n is the hash of the n bytes 00 01 ... n-1.
constexpr std::array<std::uint64_t, 64> kVectors{
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
    0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
    0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
    0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794, 0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd,
    0xbed65cf21aa2ee98, 0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8,
    0xb8ad50c6f649af94, 0xbce192de8a85b8ea, 0x17d835b85bbb15f3, 0x2f2e6163076bcfad,
    0xde4daaaca71dc9a5, 0xa6a2506687956571, 0xad87a3535c49ef28, 0x32d892fad841c342,
    0x7127512f72f27cce, 0xa7f32346f95978e3, 0x12e0b01abb051238, 0x15e034d40fa197ae,
    0x314dffbe0815a3b4, 0x027990f029623981, 0xcadcd4e59ef40c4d, 0x9abfd8766a33735c,
    0x0e3ea96b5304a7d0, 0xad0c42d6fc585992, 0x187306c89bc215a9, 0xd4a60abcf3792b95,
    0xf935451de4f21df2, 0xa9538f0419755787, 0xdb9acddff56ca510, 0xd06c98cd5c0975eb,
    0xe612a3cb9ecba951, 0xc766e62cfcadaf96, 0xee64435a9752fe72, 0xa192d576b245165a,
    0x0a8787bf8ecb74b2, 0x81b3e73d20b49b6f, 0x7fa8220ba3b2ecea, 0x245731c13ca42499,
    0xb78dbfaf3a8d83bd, 0xea1ad565322a1a0b, 0x60e61c23a3795013, 0x6606d7e446282b93,
    0x6ca4ecb15c5f91e1, 0x9f626da15c9625f3, 0xe51b38608ef25f57, 0x958a324ceb064572,
};

std::vector<std::byte> counting_bytes(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

std::vector<std::byte> bytes_of_words(std::span<const std::uint64_t> words) {
    std::vector<std::byte> bytes;
    for (const std::uint64_t word : words) {
        for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
    }
    return bytes;
}

TEST(Siphash24, PublishedVectors) {
    for (std::size_t length = 0; length < kVectors.size(); ++length) {
        EXPECT_EQ(siphash24(kKey, counting_bytes(length)), kVectors[length]) << "length " << length;
    }
}

TEST(Siphash24, TextIsItsBytes) {
    const std::string text("\x00\x01\x02\x03\x04", 5);
    EXPECT_EQ(siphash24(kKey, text), kVectors[5]);
    EXPECT_EQ(siphash24(kKey, std::string_view{}), kVectors[0]);
    EXPECT_EQ(siphash24(kKey, "pve::node-1"), siphash24(kKey, std::string("pve::node-1")));
}

TEST(Siphash24, WordsAreTheirLittleEndianBytes) {
    const std::array<std::uint64_t, 3> words{0x0123456789abcdef, 0, 0xfedcba9876543210};
    const std::span<const std::uint64_t> all(words);
    EXPECT_EQ(siphash24(kKey, words[0]), siphash24(kKey, bytes_of_words(all.first(1))));
    EXPECT_EQ(siphash24(kKey, words[0], words[1]), siphash24(kKey, bytes_of_words(all.first(2))));
    EXPECT_EQ(siphash24(kKey, words[0], words[1], words[2]), siphash24(kKey, bytes_of_words(all)));
    EXPECT_EQ(siphash24(kKey, 0x0706050403020100), kVectors[8]);
    static_assert(siphash24(kKey, 0x0706050403020100, 0x0f0e0d0c0b0a0908) == kVectors[16]);
}

TEST(Siphash24, LengthsBeyondAByteStillDiffer) {
    EXPECT_NE(siphash24(kKey, std::string(256, '\0')), siphash24(kKey, std::string(512, '\0')));
    EXPECT_NE(siphash24(kKey, std::string(256, '\0')), siphash24(kKey, std::string_view{}));
}

TEST(Siphash24, TheKeyMatters) {
    const SipKey other{kKey.k0, kKey.k1 + 1};
    EXPECT_NE(kKey, other);
    EXPECT_NE(siphash24(kKey, 1), siphash24(other, 1));
}

TEST(UnitInterval, CoversZeroToBelowOne) {
    EXPECT_EQ(unit_interval(0), 0.0);
    EXPECT_EQ(unit_interval(0x7ff), 0.0);
    EXPECT_EQ(unit_interval(std::uint64_t{1} << 63), 0.5);
    EXPECT_EQ(unit_interval(~std::uint64_t{0}), 1.0 - 0x1p-53);
}

TEST(UnitInterval, HashesSpreadEvenly) {
    constexpr std::size_t kDraws = 100'000;
    std::array<std::size_t, 10> counts{};
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        ++counts[static_cast<std::size_t>(10.0 * unit_interval(siphash24(kKey, i)))];
    }
    // Five standard deviations of a binomial count.
    for (const std::size_t count : counts) EXPECT_NEAR(static_cast<double>(count), 10'000.0, 475.0);
}

}  // namespace
}  // namespace pollux::base
