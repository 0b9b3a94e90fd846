#include "tests/known_answers/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace pollux::known_answers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Sample {
    explicit Sample(std::string_view text)
        : object(
              boost::json::parse(boost::json::string_view(text.data(), text.size())).as_object()) {}

    boost::json::object object;
    Problems problems;
    Fields fields{"inputs", &object, problems};
};

TEST(Fields, ReadsEveryKind) {
    Sample sample(R"({"n": 1.5, "i": 7, "b": true, "t": "x", "s": 2.5, "z": null, "l": [1, 2.5],
                      "one": 3, "bs": [true, false], "c": {"pve": 2}, "r": [["a", 1], ["b", 2]],
                      "o": {"inner": 4}, "rule": "for people"})");
    Fields& fields = sample.fields;
    EXPECT_EQ(fields.number("n"), 1.5);
    EXPECT_EQ(fields.integer("i"), 7);
    EXPECT_TRUE(fields.boolean("b"));
    EXPECT_EQ(fields.text("t"), "x");
    EXPECT_EQ(fields.seconds("s"), std::chrono::milliseconds(2500));
    EXPECT_EQ(fields.nullable_number("z"), std::nullopt);
    fields.null("z");
    EXPECT_EQ(fields.nullable_number("n"), 1.5);
    EXPECT_THAT(fields.numbers("l"), ElementsAre(1, 2.5));
    EXPECT_THAT(fields.one_or_more("l"), ElementsAre(1, 2.5));
    EXPECT_THAT(fields.one_or_more("one"), ElementsAre(3));
    EXPECT_THAT(fields.booleans("bs"), ElementsAre(true, false));
    EXPECT_EQ(fields.counts("c"), (std::map<std::string, std::int64_t>{{"pve", 2}}));
    const std::vector<Row> rows = fields.rows("r", 1, 1);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[1].texts[0], "b");
    EXPECT_EQ(rows[1].numbers[0], 2);
    Fields inner = fields.object("o");
    EXPECT_EQ(inner.integer("inner"), 4);
    inner.finish();
    fields.ignore("rule");
    fields.finish();
    EXPECT_THAT(sample.problems, IsEmpty());
}

TEST(Fields, FallbacksAreForMissingFieldsOnly) {
    Sample sample(R"({"n": 1, "i": 2, "b": false})");
    EXPECT_EQ(sample.fields.number_or("n", 9), 1);
    EXPECT_EQ(sample.fields.number_or("m", 9), 9);
    EXPECT_EQ(sample.fields.integer_or("i", 9), 2);
    EXPECT_EQ(sample.fields.integer_or("j", 9), 9);
    EXPECT_FALSE(sample.fields.boolean_or("b", true));
    EXPECT_TRUE(sample.fields.boolean_or("c", true));
    EXPECT_THAT(sample.problems, IsEmpty());
}

TEST(Fields, MissingFieldsAreNamed) {
    Sample sample("{}");
    Fields& fields = sample.fields;
    fields.number("a");
    fields.nullable_number("b");
    fields.integer("c");
    fields.boolean("d");
    fields.text("e");
    fields.null("f");
    fields.numbers("g");
    fields.one_or_more("h");
    fields.booleans("i");
    fields.counts("j");
    fields.rows("k", 1, 1);
    fields.object("l").number("not reported again");
    EXPECT_EQ(sample.problems.size(), 12U);
    for (std::size_t i = 0; i < sample.problems.size(); ++i) {
        const std::string name(1, static_cast<char>('a' + static_cast<char>(i)));
        EXPECT_EQ(sample.problems[i], "inputs." + name + ": missing field");
    }
}

TEST(Fields, WrongTypesAreNamed) {
    Sample sample(R"({"t": "text", "f": 1.5, "mixed": [1, "a", true], "c": {"x": "y"},
                      "rows": [["a", 1], ["b"]], "swapped": [[1, "a"]]})");
    Fields& fields = sample.fields;
    fields.number("t");
    fields.nullable_number("t");
    fields.integer("t");
    fields.integer("f");
    fields.boolean("t");
    fields.text("f");
    fields.null("t");
    fields.numbers("t");
    fields.booleans("t");
    fields.counts("t");
    fields.counts("c");
    fields.object("t").finish();
    EXPECT_THAT(fields.rows("rows", 1, 1), IsEmpty());
    EXPECT_THAT(fields.rows("swapped", 1, 1), IsEmpty());
    EXPECT_EQ(sample.problems.size(), 14U);
    EXPECT_EQ(sample.problems.front(), "inputs.t: must be a number");
    EXPECT_EQ(sample.problems.back(),
              "inputs.swapped: each entry must be an array of 1 string(s) and 1 number(s)");
    sample.problems.clear();
    fields.numbers("mixed");
    fields.booleans("mixed");
    EXPECT_EQ(sample.problems.size(), 4U);
}

TEST(Fields, UnreadFieldsAreNamed) {
    Sample sample(R"({"read": 1, "misspelt": 2})");
    sample.fields.number("read");
    sample.fields.finish();
    EXPECT_THAT(sample.problems, ElementsAre("inputs.misspelt: unknown field, nothing checks it"));
}

}  // namespace
}  // namespace pollux::known_answers
