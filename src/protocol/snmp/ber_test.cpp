#include "protocol/snmp/ber.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "protocol/snmp/codec_test_support.hpp"

namespace pollux::protocol::snmp {
namespace {

std::vector<std::uint8_t> written(auto&& put) {
    std::array<std::uint8_t, 1024> buffer;
    BerWriter writer(buffer);
    put(writer);
    EXPECT_TRUE(writer.ok());
    return {writer.bytes().begin(), writer.bytes().end()};
}

std::vector<std::uint8_t> integer(std::int64_t value) {
    return written([&](BerWriter& writer) { writer.put_integer(tag::kInteger, value); });
}

TEST(BerWriter, WritesIntegersInAsFewBytesAsKeepTheSign) {
    EXPECT_EQ(integer(0), from_hex("02 01 00"));
    EXPECT_EQ(integer(127), from_hex("02 01 7f"));
    EXPECT_EQ(integer(128), from_hex("02 02 00 80"));
    EXPECT_EQ(integer(256), from_hex("02 02 01 00"));
    EXPECT_EQ(integer(-1), from_hex("02 01 ff"));
    EXPECT_EQ(integer(-128), from_hex("02 01 80"));
    EXPECT_EQ(integer(-129), from_hex("02 02 ff 7f"));
    EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::min()),
              from_hex("02 08 80 00 00 00 00 00 00 00"));
}

TEST(BerWriter, WritesUnsignedNumbersAsPositiveOnes) {
    const auto counter = [](std::uint64_t value) {
        return written([&](BerWriter& writer) { writer.put_unsigned(0x46, value); });
    };
    EXPECT_EQ(counter(0), from_hex("46 01 00"));
    EXPECT_EQ(counter(0xFF), from_hex("46 02 00 ff"));
    EXPECT_EQ(counter(0x80000000), from_hex("46 05 00 80 00 00 00"));
    EXPECT_EQ(counter(~std::uint64_t{0}), from_hex("46 09 00 ff ff ff ff ff ff ff ff"));
}

TEST(BerWriter, WritesObjectIdentifiers) {
    const auto oid = [](std::string_view text) {
        return written([&](BerWriter& writer) { writer.put_oid(oid_of(text)); });
    };
    EXPECT_EQ(oid("1.3.6.1.2.1.1.3.0"), from_hex("06 08 2b 06 01 02 01 01 03 00"));
    EXPECT_EQ(oid("0.0"), from_hex("06 01 00"));
    EXPECT_EQ(oid("2.999.3"), from_hex("06 03 88 37 03"));  // the example of X.690
    EXPECT_EQ(oid("1.3.6.1.4.1.2636.4294967295"),
              from_hex("06 0c 2b 06 01 04 01 94 4c 8f ff ff ff 7f"));
    EXPECT_EQ(oid("2.4294967295"), from_hex("06 05 90 80 80 80 4f"));
}

TEST(BerWriter, ChoosesTheShortestLength) {
    const auto header = [](std::size_t size) {
        return written([&](BerWriter& writer) { writer.put_header(0x30, size); });
    };
    EXPECT_EQ(header(127), from_hex("30 7f"));
    EXPECT_EQ(header(128), from_hex("30 81 80"));
    EXPECT_EQ(header(256), from_hex("30 82 01 00"));
    EXPECT_EQ(header(65536), from_hex("30 83 01 00 00"));
}

TEST(BerWriter, NeverWritesOutsideOfItsBuffer) {
    for (std::size_t room = 0; room < 12; ++room) {
        std::array<std::uint8_t, 32> memory;
        memory.fill(0xEE);
        BerWriter writer({memory.data() + 10, room});
        writer.put_oid(oid_of("1.3.6.1.2.1.1.3.0"));
        EXPECT_EQ(writer.ok(), room >= 10);
        for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(memory[i], 0xEE);
        for (std::size_t i = 10 + room; i < memory.size(); ++i) EXPECT_EQ(memory[i], 0xEE);
    }
}

TEST(BerReader, ReadsShortAndLongLengths) {
    for (const char* text :
         {"04 02 aa bb", "04 81 02 aa bb", "04 82 00 02 aa bb", "04 84 00 00 00 02 aa bb"}) {
        const auto bytes = from_hex(text);
        BerReader reader(bytes);
        const auto element = reader.next();
        ASSERT_TRUE(element.has_value()) << text;
        EXPECT_EQ(element->tag, 0x04);
        EXPECT_EQ(element->content.size(), 2U);
        EXPECT_EQ(element->content[0], 0xAA);
        EXPECT_TRUE(reader.empty());
    }
}

TEST(BerReader, RefusesWhatSnmpNeverSends) {
    for (const char* text : {"", "04", "04 01", "04 80 00 00", "04 85 00 00 00 00 00", "04 82 00",
                             "04 84 ff ff ff ff aa", "1f 01 00", "9f 78 00"}) {
        const auto bytes = from_hex(text);
        BerReader reader(bytes);
        EXPECT_FALSE(reader.next().has_value()) << text;
    }
}

TEST(BerReader, ChecksTheSizeOfNumbers) {
    EXPECT_EQ(parse_integer(from_hex("80")), -128);
    EXPECT_EQ(parse_integer(from_hex("00 80")), 128);
    EXPECT_FALSE(parse_integer(from_hex("")).has_value());
    EXPECT_FALSE(parse_integer(from_hex("00 00 00 00 00 00 00 00 01")).has_value());
    EXPECT_EQ(parse_unsigned(from_hex("00 ff ff ff ff"), 0xFFFFFFFF), 0xFFFFFFFFU);
    // A sloppy device leaves out the leading zero.
    EXPECT_EQ(parse_unsigned(from_hex("ff ff ff ff"), 0xFFFFFFFF), 0xFFFFFFFFU);
    EXPECT_FALSE(parse_unsigned(from_hex("01 00 00 00 00"), 0xFFFFFFFF).has_value());
    EXPECT_FALSE(
        parse_unsigned(from_hex("01 00 00 00 00 00 00 00 00"), ~std::uint64_t{0}).has_value());
    const auto large = from_hex("02 05 00 80 00 00 00");
    EXPECT_FALSE(BerReader(large).next_int32().has_value());
}

TEST(BerReader, BoundsObjectIdentifiers) {
    model::Oid oid;
    std::vector<std::uint8_t> content(127, 1);
    content[0] = 0x2b;
    ASSERT_TRUE(parse_oid(content, oid).has_value());
    EXPECT_EQ(oid.arcs.size(), 128U);
    content.push_back(1);
    EXPECT_FALSE(parse_oid(content, oid).has_value());
    EXPECT_FALSE(parse_oid(from_hex("2b 90 80 80 80 00"), oid).has_value());  // 2^32
    EXPECT_FALSE(parse_oid(from_hex("2b 81"), oid).has_value());              // cut
    ASSERT_TRUE(parse_oid({}, oid).has_value());
    EXPECT_EQ(to_string(oid), "0.0");
}

TEST(BerReader, ReadsBackWhatWasWrittenAndComparesIt) {
    base::TestRandom random(1);
    model::Oid last;
    for (int i = 0; i < 2000; ++i) {
        const model::Oid oid = random_oid(random);
        const auto bytes = written([&](BerWriter& writer) { writer.put_oid(oid); });
        EXPECT_EQ(bytes.size(), encoded_oid_size(oid));
        BerReader reader(bytes);
        const auto content = reader.next(tag::kObjectId);
        ASSERT_TRUE(content.has_value());
        model::Oid read;
        ASSERT_TRUE(parse_oid(*content, read).has_value());
        EXPECT_EQ(read, oid);
        EXPECT_TRUE(equals(*content, oid));
        EXPECT_EQ(equals(*content, last), last == oid);
        last = oid;
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
