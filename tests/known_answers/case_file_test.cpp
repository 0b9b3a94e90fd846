#include "tests/known_answers/case_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::known_answers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string error_of(std::string_view text) {
    const auto cases = parse_cases(text);
    return cases ? "no error" : cases.error().message;
}

TEST(CaseFile, ReadsCases) {
    const auto cases = parse_cases(R"({"about": "x", "vectors": [
        {"name": "one", "category": "clamp", "inputs": {"v": 1}, "expected": {"value": 1},
         "note": "for people"}]})");
    ASSERT_TRUE(cases);
    ASSERT_EQ(cases->size(), 1U);
    EXPECT_EQ(cases->front().name, "one");
    EXPECT_EQ(cases->front().category, "clamp");
    EXPECT_TRUE(cases->front().inputs.contains("v"));
    EXPECT_TRUE(cases->front().expected.contains("value"));
    EXPECT_THAT(cases->front().problems, IsEmpty());
}

TEST(CaseFile, BadJsonSaysWhere) {
    EXPECT_THAT(error_of("{\n \"vectors\": [,]}"), HasSubstr("not valid JSON at line 2"));
    EXPECT_THAT(error_of("{\"vectors\": ["), HasSubstr("not valid JSON at line 1"));
    EXPECT_THAT(error_of("{\"vectors\": []} x"), HasSubstr("not valid JSON"));
    EXPECT_THAT(error_of(""), HasSubstr("not valid JSON"));
}

TEST(CaseFile, OtherShapesAreRefused) {
    for (const std::string_view text : {"[]", "{}", R"({"vectors": {}})", "null"}) {
        EXPECT_THAT(error_of(text), HasSubstr("array \"vectors\"")) << text;
    }
    EXPECT_THAT(error_of(R"({"vectors": []})"), HasSubstr("no case"));
}

TEST(CaseFile, OneBadCaseDoesNotHideTheOthers) {
    const auto cases = parse_cases(R"({"vectors": [
        7,
        {"name": "", "category": 1, "inputs": [], "expected": {}},
        {"name": "bare"},
        {"name": "fine", "category": "clamp", "inputs": {}, "expected": {}}]})");
    ASSERT_TRUE(cases);
    ASSERT_EQ(cases->size(), 4U);
    EXPECT_EQ((*cases)[0].name, "case 1");
    EXPECT_THAT((*cases)[0].problems, ElementsAre("must be an object"));
    EXPECT_EQ((*cases)[1].name, "case 2");
    EXPECT_THAT((*cases)[1].problems,
                ElementsAre("name: must be a text", "category: must be a text",
                            "inputs: must be an object"));
    EXPECT_THAT(
        (*cases)[2].problems,
        ElementsAre("category: missing field", "inputs: missing field", "expected: missing field"));
    EXPECT_THAT((*cases)[3].problems, IsEmpty());
}

TEST(CaseFile, UnreadableFilesAreNamed) {
    const auto missing = load_cases("/nonexistent/cases.json");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message,
              "cannot read /nonexistent/cases.json: No such file or directory");
    const auto directory = load_cases("/");
    ASSERT_FALSE(directory);
    EXPECT_EQ(directory.error().message, "cannot read /: Is a directory");
}

}  // namespace
}  // namespace pollux::known_answers
