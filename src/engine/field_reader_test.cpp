#include "engine/field_reader.hpp"

#include <gtest/gtest.h>

namespace pollux::engine {
namespace {

using namespace std::string_view_literals;

enum class Colour : std::uint8_t { kRed, kGreen, kBlue };

TEST(FieldReader, ReadsWhatWasWritten) {
    base::ByteWriter out;
    out.u8(3);
    out.u8(7);
    out.u16(0x1234);
    out.varint(0xFFFFFFFF);
    out.varint(~std::uint64_t{0});
    out.u64(42);
    out.zigzag(-5);
    out.f64(1.5);
    out.f32(2.5F);
    out.boolean(true);
    out.string("näme");
    out.boolean(false);
    out.boolean(true);
    out.zigzag(9);
    out.u8(2);
    out.varint(2);
    out.varint(10);
    out.varint(11);

    base::ByteReader bytes(out.view());
    FieldReader in(bytes, "thing");
    in.version(3);
    EXPECT_EQ(in.u8("a"), 7);
    EXPECT_EQ(in.u16("b"), 0x1234);
    EXPECT_EQ(in.u32("c"), 0xFFFFFFFF);
    EXPECT_EQ(in.u64("d"), ~std::uint64_t{0});
    EXPECT_EQ(in.hash("e"), 42u);
    EXPECT_EQ(in.i64("f"), -5);
    EXPECT_EQ(in.f64("g"), 1.5);
    EXPECT_EQ(in.f32("h"), 2.5F);
    EXPECT_TRUE(in.boolean("i"));
    EXPECT_EQ(in.text("j"), "näme");
    EXPECT_FALSE(in.optional_duration("k"));
    EXPECT_EQ(in.optional_duration("l"), base::Duration{9});
    EXPECT_EQ(in.choice("m", Colour::kBlue), Colour::kBlue);
    const auto numbers =
        in.list<std::uint64_t>("n", 1, [](FieldReader& from) { return from.u64("n.one"); });
    EXPECT_EQ(numbers, (std::vector<std::uint64_t>{10, 11}));
    EXPECT_TRUE(in.ok());
    EXPECT_TRUE(bytes.at_end());
    EXPECT_EQ(in.result(5), 5);
}

template <class Read>
base::Error failure_of(std::string_view input, Read read) {
    base::ByteReader bytes(input);
    FieldReader in(bytes, "thing");
    read(in);
    EXPECT_FALSE(in.ok());
    EXPECT_FALSE(in.result(1));
    return in.error();
}

TEST(FieldReader, NamesOffsetAndFieldOfTheFirstFailure) {
    const auto error = failure_of("\x05\x01"sv, [](FieldReader& in) {
        in.u8("first");
        in.hash("second");
        in.u8("third");
        in.text("fourth");
        in.boot("fifth");
        in.wall("sixth");
    });
    EXPECT_EQ(error.code, "codec.damaged");
    EXPECT_EQ(error.error_class, base::ErrorClass::kConfig);
    EXPECT_EQ(error.message,
              "thing: field second at offset 1: 1 bytes are left, and they are no valid eight-byte "
              "number");
}

TEST(FieldReader, RefusesUnknownVersions) {
    auto error = failure_of("\x09"sv, [](FieldReader& in) { in.version(2); });
    EXPECT_EQ(error.code, "codec.version");
    EXPECT_EQ(error.message,
              "thing: field version at offset 0: found 9, this program reads 2: use the program "
              "that wrote it, or a newer one");
    error = failure_of("\x01"sv, [](FieldReader& in) { in.version(2); });
    EXPECT_EQ(error.message,
              "thing: field version at offset 0: found 1, this program reads 2: use the program "
              "that wrote it");
    error = failure_of(""sv, [](FieldReader& in) { in.version(2); });
    EXPECT_EQ(error.code, "codec.damaged");
}

TEST(FieldReader, RefusesValuesOutOfRange) {
    auto error = failure_of("\x03"sv, [](FieldReader& in) { in.choice("c", Colour::kBlue); });
    EXPECT_EQ(error.message, "thing: field c at offset 0: 3 is not one of the known values 0 to 2");
    error = failure_of("\x01\x80\x80\x80\x80\x10"sv, [](FieldReader& in) {
        in.u8("a");
        in.u32("b");
    });
    EXPECT_EQ(error.message, "thing: field b at offset 1: 4294967296 does not fit into 32 bits");
    error = failure_of("\x02"sv, [](FieldReader& in) { in.boolean("yes"); });
    EXPECT_EQ(error.message,
              "thing: field yes at offset 0: 1 bytes are left, and they are no valid yes (1) or no "
              "(0)");
    error = failure_of("\x05xy"sv, [](FieldReader& in) { in.text("name"); });
    EXPECT_EQ(
        error.message,
        "thing: field name at offset 0: 3 bytes are left, and they are no valid text with its "
        "length");
}

TEST(FieldReader, RefusesListsThatCannotBeThere) {
    int reads = 0;
    const auto read = [&](FieldReader& in) {
        ++reads;
        return in.u16("list.one");
    };
    const auto error =
        failure_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01zz"sv,
                   [&](FieldReader& in) { in.list<std::uint16_t>("list", 2, read); });
    EXPECT_EQ(reads, 0);
    EXPECT_EQ(error.message,
              "thing: field list at offset 0: 18446744073709551615 elements of at least 2 bytes do "
              "not fit into the 2 bytes that are left");
    // A list whose elements turn out larger stops where the bytes end.
    failure_of("\x02zzz"sv, [&](FieldReader& in) { in.list<std::uint16_t>("list", 1, read); });
    EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace pollux::engine
