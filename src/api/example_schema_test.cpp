#include "api/example_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string schema_of(std::string_view example) {
    std::set<std::string> shapes;
    return schema_of_example(example, shapes);
}

TEST(ExampleSchema, HasTheTypesOfTheFields) {
    EXPECT_EQ(
        schema_of(R"({"name":"a","count":2,"share":0.5,"on":true,)"
                  R"("at":"2026-01-02T03:04:05.000Z","day":"2026-01-02","number":"17"})"),
        R"({"type":"object","properties":{"name":{"type":"string"},)"
        R"("count":{"type":"integer"},"share":{"type":"number"},"on":{"type":"boolean"},)"
        R"("at":{"type":"string","format":"date-time"},"day":{"type":"string","format":"date"},)"
        R"("number":{"type":"string"}},)"
        R"("required":["name","count","share","on","at","day","number"]})");
}

TEST(ExampleSchema, TakesTheFirstItemForAll) {
    EXPECT_EQ(schema_of(R"({"items":[{"id":"x"}]})"),
              R"({"type":"object","properties":{"items":{"type":"array","items":)"
              R"({"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}},)"
              R"("required":["items"]})");
    EXPECT_EQ(schema_of(R"(["a","b"])"), R"({"type":"array","items":{"type":"string"}})");
    EXPECT_EQ(schema_of(R"([null,1.5])"), R"({"type":"array","items":{"type":["number","null"]}})");
}

TEST(ExampleSchema, KnowsWhatMayBeAbsentOrNull) {
    EXPECT_EQ(schema_of(R"({"since?":"x","age~":1.5,"last?~":2})"),
              R"({"type":"object","properties":{"since":{"type":"string"},)"
              R"("age":{"type":["number","null"]},"last":{"type":["integer","null"]}},)"
              R"("required":["age"]})");
    EXPECT_EQ(schema_of(R"({"since?":"x"})"),
              R"({"type":"object","properties":{"since":{"type":"string"}}})");
}

TEST(ExampleSchema, LeavesNamesThatPeopleChoseOpen) {
    EXPECT_EQ(schema_of(R"({"labels?*":{"site":"bonn"}})"),
              R"({"type":"object","properties":{"labels":{"type":"object",)"
              R"("additionalProperties":{"type":"string"}}}})");
    EXPECT_EQ(schema_of(R"({"sets?*":[{"site":"bonn"}]})"),
              R"({"type":"object","properties":{"sets":{"type":"array","items":{"type":"object",)"
              R"("additionalProperties":{"type":"string"}}}}})");
    EXPECT_EQ(schema_of(R"({"spec?!":{"port":9},"value?!":9})"),
              R"({"type":"object","properties":{"spec":{"type":"object",)"
              R"("additionalProperties":true},"value":{"description":"Of any type."}}})");
}

TEST(ExampleSchema, RefersToShapesAndTakesTheirFields) {
    std::set<std::string> shapes;
    EXPECT_EQ(schema_of_example(R"({"items":["$Grant"],"user~":"$User"})", shapes),
              R"({"type":"object","properties":{"items":{"type":"array","items":)"
              R"({"$ref":"#/components/schemas/Grant"}},"user":{"anyOf":[)"
              R"({"$ref":"#/components/schemas/User"},{"type":"null"}]}},)"
              R"("required":["items","user"]})");
    EXPECT_THAT(shapes, ElementsAre("Grant", "User"));
    shapes.clear();
    EXPECT_EQ(schema_of_example(R"({"...":"$Grant","until":1})", shapes),
              R"({"type":"object","properties":{"role":{"type":"string"},)"
              R"("selector":{"type":"string"},"until":{"type":"integer"}},)"
              R"("required":["role","until"]})");
    EXPECT_THAT(shapes, IsEmpty());
    EXPECT_EQ(schema_of_example(R"("$Grant")", shapes), R"({"$ref":"#/components/schemas/Grant"})");
}

TEST(ExampleSchema, ShowsTheExampleWithoutMarks) {
    EXPECT_EQ(plain_example(R"({"a?~":1.0,"labels*":{"site":"b"},"spec!":{},"list":["$Grant"]})"),
              R"({"a":1.0,"labels":{"site":"b"},"spec":{},)"
              R"("list":[{"role":"operator","selector":"site=berlin"}]})");
    EXPECT_EQ(plain_example(R"({"...":"$Grant","until":1})"),
              R"({"role":"operator","selector":"site=berlin","until":1})");
    EXPECT_THAT(plain_example(R"("$Target")"), HasSubstr(R"("tasks":[{"key":)"));
}

TEST(ExampleSchema, OfWhatIsNoJsonIsNone) {
    EXPECT_EQ(schema_of("{broken"), "");
    EXPECT_EQ(schema_of("name: yaml\n"), "");
    EXPECT_EQ(plain_example("id,name\n"), "id,name\n");
}

}  // namespace
}  // namespace pollux::api
