#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/test_random.hpp"

namespace pollux::base {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string varint_bytes(std::uint64_t value) {
    ByteWriter writer;
    writer.varint(value);
    return writer.take();
}

TEST(ByteWriter, LayoutIsLittleEndian) {
    ByteWriter writer;
    writer.u8(0x01);
    writer.u16(0x0302);
    writer.u32(0x07060504);
    writer.u64(0x0f0e0d0c0b0a0908);
    EXPECT_EQ(writer.view(), "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"sv);
    EXPECT_EQ(writer.size(), 15u);
    EXPECT_EQ(writer.bytes()[14], std::byte{0x0f});
}

TEST(ByteWriter, KnownEncodings) {
    EXPECT_EQ(varint_bytes(0), "\x00"sv);
    EXPECT_EQ(varint_bytes(127), "\x7f"sv);
    EXPECT_EQ(varint_bytes(128), "\x80\x01"sv);
    EXPECT_EQ(varint_bytes(300), "\xac\x02"sv);
    EXPECT_EQ(varint_bytes(~std::uint64_t{0}), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv);
    ByteWriter writer;
    writer.zigzag(0);
    writer.zigzag(-1);
    writer.zigzag(1);
    writer.zigzag(-2);
    writer.boolean(true);
    writer.boolean(false);
    writer.string("hi");
    writer.raw("xy"sv);
    writer.f32(1.0F);
    EXPECT_EQ(writer.view(), "\x00\x01\x02\x03\x01\x00\x02hixy\x00\x00\x80\x3f"sv);
}

TEST(ByteWriter, TakeLeavesItEmpty) {
    ByteWriter writer;
    writer.reserve(100);
    writer.u8('a');
    EXPECT_EQ(writer.take(), "a");
    EXPECT_EQ(writer.size(), 0u);
    writer.u8('b');
    writer.clear();
    EXPECT_EQ(writer.view(), "");
}

TEST(Bytes, RoundTrip) {
    const std::array<std::byte, 3> blob{std::byte{1}, std::byte{0}, std::byte{255}};
    ByteWriter writer;
    writer.u8(200);
    writer.u16(60'000);
    writer.u32(4'000'000'000);
    writer.u64(~std::uint64_t{0});
    writer.varint(1'234'567);
    for (const std::int64_t value : {kMin, std::int64_t{-1}, std::int64_t{0}, kMax}) {
        writer.zigzag(value);
    }
    writer.f64(-0.1);
    writer.f32(3.5F);
    writer.boolean(true);
    writer.string("Zürich");
    writer.string("");
    writer.raw(blob);
    writer.raw(std::span<const std::byte>{});

    ByteReader reader(writer.bytes());
    EXPECT_EQ(reader.u8(), 200);
    EXPECT_EQ(reader.u16(), 60'000);
    EXPECT_EQ(reader.u32(), 4'000'000'000);
    EXPECT_EQ(reader.u64(), ~std::uint64_t{0});
    EXPECT_EQ(reader.varint(), 1'234'567u);
    for (const std::int64_t value : {kMin, std::int64_t{-1}, std::int64_t{0}, kMax}) {
        EXPECT_EQ(reader.zigzag(), value);
    }
    EXPECT_EQ(reader.f64(), -0.1);
    EXPECT_EQ(reader.f32(), 3.5F);
    EXPECT_TRUE(reader.boolean());
    EXPECT_EQ(reader.string(7), "Zürich");
    EXPECT_EQ(reader.string(0), "");
    EXPECT_TRUE(std::ranges::equal(reader.raw(3), blob));
    EXPECT_TRUE(reader.raw(0).empty());
    EXPECT_TRUE(reader.ok());
    EXPECT_TRUE(reader.at_end());
}

TEST(Bytes, FloatBitsSurvive) {
    const auto odd_nan = std::bit_cast<double>(std::uint64_t{0x7ff8000000001234});
    ByteWriter writer;
    writer.f64(odd_nan);
    writer.f64(-0.0);
    ByteReader reader(writer.view());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(reader.f64()), 0x7ff8000000001234u);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(reader.f64()), std::uint64_t{1} << 63);
}

TEST(ByteReader, FailureSticksAndStopsConsuming) {
    ByteReader reader("\x01\x02\x03"sv);
    EXPECT_EQ(reader.u8(), 1);
    EXPECT_EQ(reader.u32(), 0u);
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.offset(), 1u);
    EXPECT_EQ(reader.u8(), 0) << "there is a byte, but the reader has failed";
    EXPECT_EQ(reader.varint(), 0u);
    EXPECT_EQ(reader.zigzag(), 0);
    EXPECT_EQ(reader.f64(), 0.0);
    EXPECT_EQ(reader.f32(), 0.0F);
    EXPECT_FALSE(reader.boolean());
    EXPECT_EQ(reader.string(10), "");
    EXPECT_TRUE(reader.raw(0).empty());
    EXPECT_EQ(reader.offset(), 1u);
    EXPECT_EQ(reader.remaining(), 2u);
}

TEST(ByteReader, CallersMayFailIt) {
    ByteReader reader("\x07\x08"sv);
    EXPECT_EQ(reader.u8(), 7);
    reader.fail();
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.u8(), 0);
}

TEST(ByteReader, RejectsBadVarints) {
    for (const std::string_view bad :
         {""sv, "\x80"sv, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv,
          "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81"sv,
          "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"sv, "\x80\x00"sv, "\xff\x80\x00"sv}) {
        ByteReader reader(bad);
        EXPECT_EQ(reader.varint(), 0u);
        EXPECT_FALSE(reader.ok()) << bad.size();
        EXPECT_EQ(reader.offset(), 0u);
    }
}

TEST(ByteReader, RejectsBadBooleans) {
    ByteReader reader("\x02"sv);
    EXPECT_FALSE(reader.boolean());
    EXPECT_FALSE(reader.ok());
}

TEST(ByteReader, BoundsStrings) {
    ByteReader too_long_for_us(
        "\x03"
        "abc"sv);
    EXPECT_EQ(too_long_for_us.string(2), "");
    EXPECT_FALSE(too_long_for_us.ok());
    EXPECT_EQ(too_long_for_us.offset(), 0u);

    ByteReader longer_than_the_rest(
        "\x04"
        "abc"sv);
    EXPECT_EQ(longer_than_the_rest.string(100), "");
    EXPECT_FALSE(longer_than_the_rest.ok());

    const std::string huge = varint_bytes(~std::uint64_t{0}) + "abc";
    ByteReader hostile(huge);
    EXPECT_EQ(hostile.string(std::numeric_limits<std::size_t>::max()), "");
    EXPECT_FALSE(hostile.ok());

    ByteReader raw_past_the_end("ab"sv);
    EXPECT_TRUE(raw_past_the_end.raw(3).empty());
    EXPECT_FALSE(raw_past_the_end.ok());
}

TEST(Bytes, RandomVarintsRoundTrip) {
    TestRandom random(1);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t value = random.next() >> random.below(64);
        ByteWriter writer;
        writer.varint(value);
        writer.zigzag(static_cast<std::int64_t>(value));
        ByteReader reader(writer.view());
        ASSERT_EQ(reader.varint(), value);
        ASSERT_EQ(reader.zigzag(), static_cast<std::int64_t>(value));
        ASSERT_TRUE(reader.ok() && reader.at_end());
    }
}

// With the address sanitizer this is also the proof that nothing is read out of bounds.
TEST(ByteReader, RandomBytesNeverBreakIt) {
    TestRandom random(2);
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes(random.below(24), '\0');
        for (char& byte : bytes) {
            byte = static_cast<char>(random.one_in(2) ? random.next() : random.below(4));
        }
        ByteReader reader(bytes);
        while (reader.ok() && !reader.at_end()) {
            const std::size_t before = reader.offset();
            switch (random.below(8)) {
                case 0: reader.u8(); break;
                case 1: reader.u16(); break;
                case 2: reader.u64(); break;
                case 3: reader.varint(); break;
                case 4: reader.zigzag(); break;
                case 5: reader.boolean(); break;
                case 6: reader.string(8); break;
                default: reader.raw(1 + random.below(5)); break;
            }
            ASSERT_TRUE(!reader.ok() || reader.offset() > before);
            ASSERT_LE(reader.offset(), bytes.size());
        }
    }
}

}  // namespace
}  // namespace pollux::base
