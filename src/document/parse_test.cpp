#include "document/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/write.hpp"

namespace pollux::document {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Node good(std::string_view text, std::string file = "a.yaml", ParseLimits limits = {}) {
    Diagnostics diagnostics;
    Parsed parsed = parse(text, std::move(file), diagnostics, limits);
    EXPECT_TRUE(parsed.ok) << diagnostics.text();
    EXPECT_TRUE(diagnostics.items().empty());
    return std::move(parsed.root);
}

std::string fault(std::string_view text, std::string file = "a.yaml", ParseLimits limits = {}) {
    Diagnostics diagnostics;
    const Parsed parsed = parse(text, std::move(file), diagnostics, limits);
    EXPECT_FALSE(parsed.ok);
    EXPECT_EQ(diagnostics.items().size(), 1U);
    return diagnostics.items().empty() ? "" : to_string(diagnostics.items()[0]);
}

TEST(Parse, KeepsOrderMarksAndQuoting) {
    const Node root = good("name: core\nlist:\n  - 1\n  - \"2\"\n  - null\nmap: {b: x, a: y}\n");
    ASSERT_TRUE(root.is_map());
    EXPECT_EQ(root.entries()[0].key, "name");
    EXPECT_EQ(root.entries()[1].key, "list");
    const Node& list = *root.find("list");
    ASSERT_EQ(list.items().size(), 3U);
    EXPECT_FALSE(list.items()[0].quoted());
    EXPECT_TRUE(list.items()[1].quoted());
    EXPECT_TRUE(list.items()[2].is_null());
    EXPECT_EQ(list.items()[1].mark().line, 4U);
    EXPECT_EQ(list.items()[1].mark().column, 5U);
    EXPECT_EQ(*list.items()[1].mark().file, "a.yaml");
    EXPECT_EQ(root.entries()[2].key_mark.line, 6U);
    EXPECT_EQ(root.find("map")->entries()[0].key, "b");
    EXPECT_EQ(root.find("nothing"), nullptr);
}

TEST(Parse, AnEmptyDocumentIsNull) {
    EXPECT_TRUE(good("").is_null());
    EXPECT_TRUE(good("# only a comment\n").is_null());
}

TEST(Parse, ReadsJsonWithEscapesAndSurrogates) {
    const Node root = good(R"({"a": "\u00e9\ud83d\ude00\n\/", "b": [1, -2.5e3, true, null]})");
    EXPECT_EQ(root.find("a")->scalar(), "é😀\n/");
    EXPECT_EQ(root.find("b")->items().size(), 4U);
    EXPECT_FALSE(root.find("b")->items()[2].quoted());
    EXPECT_EQ(root.find("b")->items()[1].mark().column, 42U);
}

TEST(Parse, FlowStyleYamlIsNotTakenForBrokenJson) {
    EXPECT_EQ(good("{a: 1, b: [x, y]}").find("b")->items().size(), 2U);
}

TEST(Parse, RefusesDuplicateKeysInBothForms) {
    EXPECT_THAT(fault("a: 1\nb: 2\na: 3\n"), HasSubstr("a.yaml:3: the key \"a\" is there already"));
    EXPECT_THAT(fault(R"({"a": 1, "a": 2})", "a.json"),
                HasSubstr("the key \"a\" is there already"));
    EXPECT_THAT(fault(R"({"a": 1, "a": 2})"), HasSubstr("the key \"a\" is there already"));
}

TEST(Parse, RefusesWhatHasNoPlace) {
    EXPECT_THAT(fault("a: 1\n---\nb: 2\n"), HasSubstr("second document"));
    EXPECT_THAT(fault("a: !secret x\n"), HasSubstr("tag"));
    EXPECT_THAT(fault("? [a, b]\n: 1\n"), HasSubstr("keys are single words"));
    EXPECT_THAT(fault("base: &b {x: 1}\nc:\n  <<: *b\n"), HasSubstr("merge keys"));
    EXPECT_THAT(fault("a: \xff\n"), HasSubstr("UTF-8"));
    EXPECT_THAT(fault("a: [1, 2\nb: 3\n"), StartsWith("a.yaml:"));
    EXPECT_THAT(fault("a: &x [*x]\n"), HasSubstr("alias"));
}

TEST(Parse, NamesTheLineOfBrokenJson) {
    EXPECT_EQ(fault("{\n \"a\": tru\n}", "b.json"),
              "b.json:2: not valid JSON: \"tru\" is no JSON value; texts stand in double quotes");
    EXPECT_THAT(fault("{\"a\": \"\\ud800\"}", "b.json"), HasSubstr("surrogate"));
    EXPECT_THAT(fault("[1,]", "b.json"), HasSubstr("a value is missing"));
    EXPECT_THAT(fault("[1 2]", "b.json"), HasSubstr("a comma or ]"));
    EXPECT_THAT(fault("{\"a\" 1}", "b.json"), HasSubstr("colon"));
    EXPECT_THAT(fault("[1] 2", "b.json"), HasSubstr("something follows"));
    EXPECT_THAT(fault("[\"a\\q\"]", "b.json"), HasSubstr("backslash"));
    EXPECT_THAT(fault("[\"a", "b.json"), HasSubstr("closing double quote"));
    EXPECT_THAT(fault("[01]", "b.json"), HasSubstr("no JSON value"));
}

TEST(Parse, BoundsSizeDepthAndNodes) {
    EXPECT_THAT(fault("abc: defg", "a", {.max_bytes = 4}), HasSubstr("9 bytes; the limit is 4"));
    EXPECT_THAT(fault(std::string(80, '['), "a.json"), HasSubstr("deeper than 64"));
    std::string deep;
    for (std::size_t i = 0; i < 80; ++i) deep += std::string(i, ' ') + "a:\n";
    EXPECT_THAT(fault(deep), HasSubstr("deeper than 64"));
    std::string compact;
    for (int i = 0; i < 100'000; ++i) compact += "- ";
    EXPECT_THAT(fault(compact), HasSubstr("deeper than 64"));
    EXPECT_THAT(fault("[1,2,3,4,5,6]", "a.json", {.max_nodes = 5}), HasSubstr("more than 5"));
    EXPECT_THAT(fault("- 1\n- 2\n- 3\n- 4\n- 5\n", "a", {.max_nodes = 5}),
                HasSubstr("more than 5"));
}

TEST(Parse, CountsEveryUseOfAnAlias) {
    std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int j = 0; j < 10; ++j) {
            laughs += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
        }
        laughs += "]\n";
    }
    EXPECT_THAT(fault(laughs), HasSubstr("aliases count"));
    const Node root = good("a: &x {k: 1}\nb: *x\n");
    EXPECT_TRUE(root.find("a")->same(*root.find("b")));
    std::string tower = "a0: &a0 [x]\n";
    for (int i = 1; i < 70; ++i) {
        tower += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
                 std::to_string(i - 1) + "]\n";
    }
    EXPECT_THAT(fault(tower), HasSubstr("deeper than 64"));
}

TEST(Write, JsonIsCanonical) {
    const Node root = good("b: 2\na: [1.50, 1e2, \"3\", yes, true, null, +4]\nc: {}\n");
    EXPECT_EQ(to_json(root), R"({"a":[1.5,100,"3","yes",true,null,4],"b":2,"c":{}})");
    const Node again = good(to_json(root));
    EXPECT_EQ(to_json(again), to_json(root));
    EXPECT_EQ(json_string("a\"\\\n\x01"), R"("a\"\\\n\u0001")");
}

TEST(Write, YamlReadsBackAsTheSameTree) {
    Node root = Node::map();
    root.set("name", Node::text("core switch"));
    root.set("version", Node::text("1.10"));
    root.set("odd: key", Node::text("# no comment"));
    root.set(std::string(2000, 'k'), Node::text("a long key"));
    root.set(std::string(300, '\x01'), Node::map().set("inside", Node::integer(1)));
    root.set("interval", Node::plain("1h30m"));
    Node list = Node::sequence();
    list.push(Node::integer(-5)).push(Node::text("true")).push(Node()).push(Node::boolean(false));
    Node inner = Node::map();
    inner.set("x", Node::number(0.1)).set("empty", Node::sequence());
    list.push(inner);
    Node nested = Node::sequence();
    nested.push(Node::text("a\nb")).push(Node::text(""));
    list.push(nested);
    root.set("list", list);
    const std::string text = to_yaml(root);
    EXPECT_TRUE(good(text).same(root)) << text;
    EXPECT_THAT(text, HasSubstr("interval: 1h30m\n"));
    EXPECT_THAT(text, HasSubstr("name: core switch\n"));
    EXPECT_EQ(to_yaml(Node::map()), "{}\n");
}

TEST(Node, ReplacesAKeyInItsPlace) {
    Node map = Node::map();
    map.set("a", Node::integer(1)).set("b", Node::integer(2)).set("a", Node::integer(3));
    EXPECT_EQ(to_yaml(map), "a: 3\nb: 2\n");
    EXPECT_EQ(to_json(Node::unsigned_integer(18446744073709551615ULL)), "18446744073709551615");
}

}  // namespace
}  // namespace pollux::document
