#include "document/json_writer.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::document {
namespace {

template <class Write>
std::string written(Write write) {
    std::string out;
    JsonWriter json(out);
    write(json);
    EXPECT_TRUE(json.complete());
    return out;
}

template <class Value>
std::string one(const Value& value) {
    return written([&](JsonWriter& json) { json.value(value); });
}

TEST(JsonWriter, SetsCommasByItself) {
    const std::string out = written([](JsonWriter& json) {
        json.object().field("a", 1).key("list").array().value(true).value("x").null();
        json.object().end_object().array().end_array().end_array();
        json.key("nested").object().field("b", 2.5).end_object().raw_field("raw", "[1]");
        json.end_object();
    });
    EXPECT_EQ(out, R"({"a":1,"list":[true,"x",null,{},[]],"nested":{"b":2.5},"raw":[1]})");
}

TEST(JsonWriter, EscapesTextAndMakesItUtf8) {
    EXPECT_EQ(one("a\"b\\c\n\r\t\b\f\x01\x7f"), R"("a\"b\\c\n\r\t\b\f\u0001\u007f")");
    EXPECT_EQ(one(std::string_view("\0", 1)), R"("\u0000")");
    EXPECT_EQ(one("für 漢 😀"), "\"für 漢 😀\"");
    EXPECT_EQ(one("a\xff"
                  "b\xc3"),
              "\"a\xEF\xBF\xBD"
              "b\xEF\xBF\xBD\"");
    EXPECT_EQ(one("\xed\xa0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWriter, WritesNumbersThatReadBackAsTheSame) {
    EXPECT_EQ(one(0.1), "0.1");
    EXPECT_EQ(one(1e300), "1e+300");
    EXPECT_EQ(one(100.0), "100");
    EXPECT_EQ(one(-0.0), "-0");
    EXPECT_EQ(one(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(one(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(one(std::uint8_t{7}), "7");
    EXPECT_EQ(one(std::numeric_limits<double>::quiet_NaN()), "null");
    EXPECT_EQ(one(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonWriter, WritesTimesAndLeavesOutZeroOnes) {
    const base::WallTime time{1'772'323'199'999'000};
    EXPECT_EQ(one(time), "\"2026-02-28T23:59:59.999Z\"");
    EXPECT_EQ(written([&](JsonWriter& json) {
                  json.object().time_field("at", time).time_field("never", {});
                  json.text_field("reason", "").end_object();
              }),
              R"({"at":"2026-02-28T23:59:59.999Z"})");
}

TEST(JsonWriter, EveryByteIsReadBackByTheParser) {
    std::string all;
    for (int i = 1; i < 128; ++i) all += static_cast<char>(i);
    all += "ä€😀";
    const std::string text =
        written([&](JsonWriter& json) { json.object().field(all, all).end_object(); });
    Diagnostics diagnostics;
    const Parsed parsed = parse(text, "a.json", diagnostics);
    ASSERT_TRUE(parsed.ok) << diagnostics.text();
    ASSERT_EQ(parsed.root.entries().size(), 1U);
    EXPECT_EQ(parsed.root.entries()[0].key, all);
    EXPECT_EQ(parsed.root.entries()[0].value.scalar(), all);
}

TEST(JsonWriter, KnowsWhenItIsNotComplete) {
    std::string out;
    JsonWriter json(out);
    EXPECT_FALSE(json.complete());
    json.array();
    EXPECT_FALSE(json.complete());
    json.end_array();
    EXPECT_TRUE(json.complete());
    EXPECT_DEATH(json.end_array(), "more is closed than was opened");
}

}  // namespace
}  // namespace pollux::document
