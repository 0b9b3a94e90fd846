#include "api/example_schema.hpp"

#include <gtest/gtest.h>

namespace pollux::api {
namespace {

TEST(ExampleSchema, HasTheTypesOfTheFields) {
    EXPECT_EQ(schema_of_example(R"({"name":"a","count":2,"share":0.5,"on":true,"gone":null,)"
                                R"("at":"2026-01-02T03:04:05.000Z","number":"17"})"),
              R"({"type":"object","properties":{"name":{"type":"string"},)"
              R"("count":{"type":"number"},"share":{"type":"number"},"on":{"type":"boolean"},)"
              R"("gone":{},"at":{"type":"string","format":"date-time"},)"
              R"("number":{"type":"string"}}})");
}

TEST(ExampleSchema, TakesTheFirstItemForAll) {
    EXPECT_EQ(schema_of_example(R"({"items":[{"id":"x"}],"none":[]})"),
              R"({"type":"object","properties":{"items":{"type":"array","items":)"
              R"({"type":"object","properties":{"id":{"type":"string"}}}},)"
              R"("none":{"type":"array"}}})");
    EXPECT_EQ(schema_of_example(R"(["a","b"])"), R"({"type":"array","items":{"type":"string"}})");
}

TEST(ExampleSchema, LeavesNamesThatPeopleChoseOpen) {
    EXPECT_EQ(schema_of_example(R"({"labels":{"site":"bonn"},"perType":{"pve":1},"settings":{}})"),
              R"({"type":"object","properties":{"labels":{"type":"object",)"
              R"("additionalProperties":{"type":"string"}},"perType":{"type":"object",)"
              R"("additionalProperties":{"type":"number"}},"settings":{"type":"object"}}})");
    EXPECT_EQ(schema_of_example(R"({"spec":{"address":"a","port":9}})"),
              R"({"type":"object","properties":{"spec":{"type":"object"}}})");
    EXPECT_EQ(schema_of_example(R"({"readings":{"a":1,"b":"two"}})"),
              R"({"type":"object","properties":{"readings":{"type":"object"}}})");
}

TEST(ExampleSchema, OfWhatIsNoJsonIsNone) {
    EXPECT_EQ(schema_of_example("{broken"), "");
    EXPECT_EQ(schema_of_example("name: yaml\n"), "");
}

}  // namespace
}  // namespace pollux::api
