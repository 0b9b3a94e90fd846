#include "document/map_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"
#include "document/scalar.hpp"

namespace pollux::document {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Node tree(std::string_view text) {
    Diagnostics diagnostics;
    Parsed parsed = parse(text, "f.yaml", diagnostics);
    EXPECT_TRUE(parsed.ok) << diagnostics.text();
    return std::move(parsed.root);
}

TEST(MapReader, ReadsEveryType) {
    const Node root =
        tree("s: 1.10\nb: true\ni: 42\nd: 0.5\nt: 1h30m\ne: high\nl: [a, b]\none: x\nm: {k: v}\n");
    Diagnostics diagnostics;
    MapReader reader(root, "", diagnostics);
    EXPECT_EQ(reader.string("s", Need::kRequired), "1.10");
    EXPECT_EQ(reader.boolean("b"), true);
    EXPECT_EQ(reader.integer("i", 0, 100), 42);
    EXPECT_EQ(reader.number("d", 0, 1), 0.5);
    EXPECT_EQ(reader.duration("t", 1s, 24h), 90min);
    EXPECT_EQ(reader.choice<int>("e", {{"low", 1}, {"high", 2}}), 2);
    EXPECT_THAT(reader.strings("l"), ElementsAre("a", "b"));
    EXPECT_THAT(reader.strings("one"), ElementsAre("x"));
    ASSERT_NE(reader.map("m"), nullptr);
    EXPECT_EQ(reader.list("absent"), nullptr);
    EXPECT_EQ(reader.string("absent"), std::nullopt);
    reader.finish();
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
}

TEST(MapReader, CollectsEveryMistakeWithItsPlace) {
    const Node root = tree(
        "b: yes\ni: \"5\"\nd: much\nt: 10 parsecs\ne: hgih\nl: {a: 1}\nm: 3\nintervall: 5\n"
        "range: 7\nlong: 48h\nempty: \"\"\nlist: [[]]\n");
    Diagnostics diagnostics;
    MapReader reader(root, "devices[2]", diagnostics);
    reader.string("name", Need::kRequired);
    reader.boolean("b");
    reader.integer("i", 0, 9);
    reader.number("d");
    reader.duration("t", 1s, 24h);
    reader.choice<int>("e", {{"low", 1}, {"high", 2}});
    reader.list("l");
    reader.map("m");
    reader.number("range", 0, 5);
    reader.duration("long", 1s, 24h);
    reader.string("empty", Need::kRequired);
    reader.strings("list");
    reader.duration("interval", 1s, 24h);
    reader.finish();
    const std::string text = diagnostics.text();
    EXPECT_EQ(diagnostics.errors(), 13U) << text;
    EXPECT_THAT(text, HasSubstr("f.yaml:1: devices[2].name: is missing; it is required\n"));
    EXPECT_THAT(text, HasSubstr("f.yaml:1: devices[2].b: \"yes\" is no truth value; write true"));
    EXPECT_THAT(text,
                HasSubstr("f.yaml:2: devices[2].i: \"5\" is no whole number from 0 to 9; le"));
    EXPECT_THAT(text, HasSubstr("f.yaml:3: devices[2].d: \"much\" is no number"));
    EXPECT_THAT(text, HasSubstr("f.yaml:4: devices[2].t: \"10 parsecs\" is no duration; write it"));
    EXPECT_THAT(text, HasSubstr("did you mean high?"));
    EXPECT_THAT(text, HasSubstr("devices[2].l: is a map; a list is wanted"));
    EXPECT_THAT(text, HasSubstr("devices[2].m: is a single value; a map"));
    EXPECT_THAT(text, HasSubstr("f.yaml:8: devices[2].intervall: is no known key; did you mean "
                                "interval?"));
    EXPECT_THAT(text, HasSubstr("devices[2].long: 48h is out of range; 1s to 1d is possible"));
    EXPECT_THAT(text, HasSubstr("devices[2].list[0]: is a list; a text is wanted"));
}

TEST(MapReader, ANodeThatIsNoMapIsOneMistake) {
    const Node root = tree("[1, 2]");
    Diagnostics diagnostics;
    MapReader reader(root, "x", diagnostics);
    reader.string("name", Need::kRequired);
    reader.finish();
    ASSERT_EQ(diagnostics.errors(), 1U);
    EXPECT_EQ(to_string(diagnostics.items()[0]),
              "f.yaml:1: x: is a list; a map of keys and values is wanted");
}

TEST(MapReader, WithAListOfKeysItSuggestsFromIt) {
    constexpr std::string_view kKeys[] = {"name", "port"};
    const Node root = tree("nmae: x\nzzzzzz: 1\n");
    Diagnostics diagnostics;
    MapReader reader(root, "", diagnostics, kKeys);
    reader.finish();
    EXPECT_THAT(diagnostics.text(), HasSubstr("nmae: is no known key; did you mean name?"));
    EXPECT_THAT(diagnostics.text(),
                HasSubstr("zzzzzz: is no known key; possible here: name or po"));
}

TEST(Diagnostics, AreBoundedSortedAndSummedUp) {
    Diagnostics diagnostics(2);
    diagnostics.warning({}, "", "w");
    const auto file = std::make_shared<const std::string>("a");
    diagnostics.error({file, 9, 1}, "x", "late");
    diagnostics.error({file, 2, 1}, "y", "early");
    diagnostics.warning({}, "", "lost");
    EXPECT_EQ(diagnostics.items().size(), 2U);
    diagnostics.sort();
    EXPECT_EQ(diagnostics.text(), "a:2: y: early\na:9: x: late\n... and 2 more\n");
    EXPECT_EQ(diagnostics.as_error("addon.invalid").message, "a:2: y: early (and 1 more)");
    EXPECT_EQ(to_string(Diagnostic{Severity::kWarning, "a", 1, 1, "f", "m"}), "a:1: f: warning: m");
}

TEST(Scalar, AmountsMayHaveAUnit) {
    EXPECT_EQ(parse_amount("12"), 12);
    EXPECT_EQ(parse_amount("16GiB"), std::int64_t{16} << 30);
    EXPECT_EQ(parse_amount("1KiB"), 1024);
    EXPECT_EQ(parse_amount("5k"), 5000);
    EXPECT_EQ(parse_amount("500MB"), 500'000'000);
    for (const char* wrong :
         {"", "-1", "+1", "1.5G", "GiB", "1Gi B", "1x", "1KB", "99999999999P"}) {
        EXPECT_EQ(parse_amount(wrong), std::nullopt) << wrong;
    }
}

TEST(Scalar, DurationsReadAndWriteExactly) {
    EXPECT_EQ(parse_duration("10s"), 10s);
    EXPECT_EQ(parse_duration("2.5"), 2500ms);
    EXPECT_EQ(parse_duration("1d2h3m4s5ms6us"), 26h + 3min + 4s + 5ms + 6us);
    EXPECT_EQ(parse_duration("0"), 0s);
    for (const char* bad : {"", "s", "10x", "5m1h", "1s1s", "-1", "-5s", "1e12", "1.s", " 1s"}) {
        EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
    }
    for (const base::Duration d : {base::Duration(0), base::Duration(90min), base::Duration(250ms),
                                   base::Duration(26h + 1us)}) {
        EXPECT_EQ(parse_duration(duration_text(d)), d);
    }
}

TEST(Scalar, NumbersAreStrict) {
    EXPECT_EQ(parse_integer("+7"), 7);
    EXPECT_EQ(parse_integer("9223372036854775808"), std::nullopt);
    EXPECT_EQ(parse_unsigned("18446744073709551615"), 18446744073709551615ULL);
    EXPECT_EQ(parse_integer("0x10"), std::nullopt);
    EXPECT_EQ(parse_number("1e400"), std::nullopt);
    EXPECT_EQ(parse_number("nan"), std::nullopt);
    EXPECT_EQ(parse_number("-0.5e1"), -5.0);
    EXPECT_EQ(parse_boolean("on"), std::nullopt);
}

}  // namespace
}  // namespace pollux::document
