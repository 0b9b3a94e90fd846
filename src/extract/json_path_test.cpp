#include "extract/json_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::extract {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kStore = R"({
  "store": {"book": [
     {"title": "A", "price": 8.95, "tags": ["x", "y"]},
     {"title": "B", "price": 12, "isbn": "1"},
     {"title": "C", "price": 8.99, "isbn": "2"},
     {"title": "D", "price": 22.99}],
   "bicycle": {"color": "red", "price": 399}},
  "limit": 10, "odd key": true, "nothing": null})";

std::vector<std::string> select(std::string_view path, std::string_view text = kStore) {
    auto document = JsonDocument::parse(text);
    EXPECT_TRUE(document.has_value()) << document.error().message;
    const auto compiled = JsonPath::compile(path);
    EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
    std::vector<const JsonNode*> found;
    Budget budget;
    EXPECT_TRUE(compiled->select(document->root(), found, budget));
    std::vector<std::string> out;
    for (const JsonNode* node : found) out.push_back(preview(*node));
    return out;
}

std::string fault(std::string_view path) {
    const auto compiled = JsonPath::compile(path);
    EXPECT_FALSE(compiled.has_value()) << path;
    return compiled ? "" : compiled.error().message;
}

TEST(JsonPath, FollowsNamesAndIndices) {
    EXPECT_THAT(select("$.limit"), ElementsAre("10"));
    EXPECT_THAT(select("$"), ElementsAre("an object with 4 keys"));
    EXPECT_THAT(select("$['odd key']"), ElementsAre("true"));
    EXPECT_THAT(select("$[\"store\"].bicycle.color"), ElementsAre("\"red\""));
    EXPECT_THAT(select("$.store.book[0].title"), ElementsAre("\"A\""));
    EXPECT_THAT(select("$.store.book[-1].title"), ElementsAre("\"D\""));
    EXPECT_THAT(select("$.store.book[4]"), IsEmpty());
    EXPECT_THAT(select("$.store.book[-5]"), IsEmpty());
    EXPECT_THAT(select("$.limit.deeper"), IsEmpty());
    EXPECT_THAT(select("$.nothing"), ElementsAre("null"));
}

TEST(JsonPath, SelectsSeveral) {
    EXPECT_THAT(select("$.store.book[*].title"), ElementsAre("\"A\"", "\"B\"", "\"C\"", "\"D\""));
    EXPECT_THAT(select("$..price"), ElementsAre("8.95", "12", "8.99", "22.99", "399"));
    EXPECT_THAT(select("$..book[1:3].title"), ElementsAre("\"B\"", "\"C\""));
    EXPECT_THAT(select("$..book[::-2].title"), ElementsAre("\"D\"", "\"B\""));
    EXPECT_THAT(select("$..book[-2:].title"), ElementsAre("\"C\"", "\"D\""));
    EXPECT_THAT(select("$..book[0,2]['title','price']"),
                ElementsAre("\"A\"", "8.95", "\"C\"", "8.99"));
    EXPECT_THAT(select("$.store.book[::0]"), IsEmpty());
    EXPECT_THAT(select("$.store.*"), ElementsAre("a list of 4", "an object with 2 keys"));
    EXPECT_THAT(select("$..tags[*]"), ElementsAre("\"x\"", "\"y\""));
}

TEST(JsonPath, Filters) {
    EXPECT_THAT(select("$..book[?@.isbn].title"), ElementsAre("\"B\"", "\"C\""));
    EXPECT_THAT(select("$..book[?!@.isbn].title"), ElementsAre("\"A\"", "\"D\""));
    EXPECT_THAT(select("$..book[?@.price < $.limit].title"), ElementsAre("\"A\"", "\"C\""));
    EXPECT_THAT(select("$..book[?(@.price > 10 && @.isbn) || @.title == 'A'].title"),
                ElementsAre("\"A\"", "\"B\""));
    EXPECT_THAT(select("$..book[?@.price >= 22.99].title"), ElementsAre("\"D\""));
    EXPECT_THAT(select("$..book[?@.isbn != \"1\"].title"), ElementsAre("\"A\"", "\"C\"", "\"D\""));
    EXPECT_THAT(select("$..book[?@.tags[*]].title"), ElementsAre("\"A\""));
    EXPECT_THAT(select("$[?@ == null]", R"([1, null, "a"])"), ElementsAre("null"));
    EXPECT_THAT(select("$[?@.a == $[0].a]", R"([{"a":[1]},{"a":[1]},{"a":[2]}])"),
                ElementsAre("an object with 1 keys", "an object with 1 keys"));
    EXPECT_THAT(select("$[?@ > 'b']", R"(["a", "c", 3])"), ElementsAre("\"c\""));
    EXPECT_THAT(select("$[?@ == 9007199254740993]", "[9007199254740992.0, 9007199254740993]"),
                ElementsAre("9007199254740993"));
}

TEST(JsonPath, SaysWhatIsWrongAndWhere) {
    EXPECT_THAT(fault("store"), HasSubstr("begins with $"));
    EXPECT_THAT(fault("$.store["), HasSubstr("at character 9"));
    EXPECT_THAT(fault("$.a b"), HasSubstr("a . or [ was wanted"));
    EXPECT_THAT(fault("$.1a"), HasSubstr("a name or *"));
    EXPECT_THAT(fault("$['a"), HasSubstr("closing quote"));
    EXPECT_THAT(fault("$[1"), HasSubstr("] or ,"));
    EXPECT_THAT(fault("$[?@.a =! 3]"), HasSubstr("character"));
    EXPECT_THAT(fault("$[?@..a == 3]"), HasSubstr("only a path to one value"));
    EXPECT_THAT(fault("$[?3]"), HasSubstr("comparison"));
    EXPECT_THAT(fault("$[99999999999999999999]"), HasSubstr("whole number"));
    EXPECT_THAT(fault("$[?" + std::string(100, '(') + "@.a"), HasSubstr("too deep"));
    EXPECT_THAT(fault("$[?" + std::string(100, '!') + "@.a]"), HasSubstr("too deep"));
    EXPECT_THAT(fault(std::string(5000, 'a')), HasSubstr("longer"));
}

TEST(JsonPath, StopsWhenTheBudgetIsSpent) {
    std::string text = "[";
    for (int i = 0; i < 1000; ++i) text += i == 0 ? "1" : ",1";
    auto document = JsonDocument::parse(text + "]");
    const auto path = JsonPath::compile("$[*]");
    std::vector<const JsonNode*> found;
    Budget budget;
    budget.nodes = 100;
    EXPECT_FALSE(path->select(document->root(), found, budget));
    EXPECT_EQ(budget.nodes, 0U);
    found.clear();
    budget.nodes = 100;
    EXPECT_FALSE(JsonPath::compile("$[?@ > 0 && @ < 5]")->select(document->root(), found, budget));
}

TEST(JsonPath, KnowsWhenItFindsOneAtMost) {
    EXPECT_TRUE(JsonPath::compile("$.a[0]['b']")->is_singular());
    EXPECT_FALSE(JsonPath::compile("$.a[*]")->is_singular());
    EXPECT_FALSE(JsonPath::compile("$..a")->is_singular());
    auto document = JsonDocument::parse(kStore);
    Budget budget;
    EXPECT_EQ(preview(*JsonPath::compile("$..price")->first(document->root(), budget)), "8.95");
    EXPECT_EQ(JsonPath::compile("$.zzz")->first(document->root(), budget), nullptr);
}

TEST(JsonDocument, RefusesWithPlaceAndBounds) {
    const auto broken = JsonDocument::parse("{\"a\": tru}");
    ASSERT_FALSE(broken.has_value());
    EXPECT_EQ(broken.error().code, "json.invalid");
    EXPECT_THAT(broken.error().message, HasSubstr("near"));
    EXPECT_FALSE(JsonDocument::parse("").has_value());
    EXPECT_FALSE(JsonDocument::parse("{\"a\": 1").has_value());
    EXPECT_FALSE(JsonDocument::parse("1 2").has_value());
    const auto deep = JsonDocument::parse(std::string(100, '[') + std::string(100, ']'));
    ASSERT_FALSE(deep.has_value());
    EXPECT_EQ(deep.error().code, "json.too_large");
    std::string wide = "[";
    for (int i = 0; i < 100'000; ++i) wide += "[],";
    const auto large = JsonDocument::parse(wide + "1]", {.max_memory = 1U << 20U});
    ASSERT_FALSE(large.has_value());
    EXPECT_EQ(large.error().code, "json.too_large");
}

}  // namespace
}  // namespace pollux::extract
