#include "api/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/call.hpp"

namespace pollux::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Route sample() {
    return {.method = "GET",
            .path = "/api/things",
            .query = {limit_parameter(),
                      cursor_parameter(),
                      {.name = "state", .type = ParameterType::kWord, .words = {"open", "closed"}},
                      {.name = "all", .type = ParameterType::kBoolean},
                      {.name = "since", .type = ParameterType::kTime},
                      {.name = "label", .repeated = true, .longest = 10}}};
}

Query good(std::string_view text) {
    const Route route = sample();
    auto query = Query::read(route, text);
    EXPECT_TRUE(query) << query.error().detail;
    return query ? std::move(*query) : Query{};
}

std::string fault(std::string_view text) {
    const Route route = sample();
    const auto query = Query::read(route, text);
    EXPECT_FALSE(query) << text;
    if (query) return {};
    EXPECT_EQ(query.error().status, 400);
    return query.error().detail;
}

TEST(Query, ReadsWhatTheRouteTakes) {
    const Query query =
        good("limit=5&state=open&all=true&since=2026-02-28T00%3A00%3A00Z&label=a%3Db&label=c+d&&");
    EXPECT_EQ(query.integer("limit"), 5);
    EXPECT_EQ(query.text("state"), "open");
    EXPECT_EQ(query.flag("all"), true);
    EXPECT_TRUE(query.time("since").has_value());
    EXPECT_THAT(query.texts("label"), ElementsAre("a=b", "c d"));
    EXPECT_FALSE(query.has("cursor"));
    EXPECT_EQ(query.text_or("cursor", "x"), "x");
    EXPECT_TRUE(good("").empty());
}

TEST(Query, NamesEachWrongParameter) {
    EXPECT_THAT(fault("limits=5"),
                HasSubstr("\"limits\" of the query is not known here; did you mean limit?"));
    EXPECT_THAT(fault("zzzzzz=5"), HasSubstr("there are limit, cursor"));
    EXPECT_THAT(fault("limit=0"), HasSubstr("must be from 1 to 1000"));
    EXPECT_THAT(fault("limit=1001"), HasSubstr("must be from 1 to 1000"));
    EXPECT_THAT(fault("limit=5x"), HasSubstr("not a whole number"));
    EXPECT_THAT(fault("limit="), HasSubstr("not a whole number"));
    EXPECT_THAT(fault("limit=99999999999999999999"), HasSubstr("not a whole number"));
    EXPECT_THAT(fault("state=half"), HasSubstr("\"half\" is none of open, closed"));
    EXPECT_THAT(fault("all=1"), HasSubstr("neither true nor false"));
    EXPECT_THAT(fault("since=yesterday"), HasSubstr("is not a time"));
    EXPECT_THAT(fault("limit=1&limit=2"), HasSubstr("given twice"));
    EXPECT_THAT(fault("label=12345678901"), HasSubstr("longer than 10 bytes"));
    EXPECT_THAT(fault("label=%zz"), HasSubstr("%XX"));
    EXPECT_THAT(fault("label=%ff"), HasSubstr("UTF-8"));
    const Route route = sample();
    const auto query = Query::read(route, "limit=0&nope=1");
    ASSERT_EQ(query.error().errors.size(), 2U);
    EXPECT_EQ(query.error().errors[1].parameter, "nope");
}

TEST(Query, AsksForWhatIsRequiredAndBoundsTheRest) {
    Route route = sample();
    route.query[2].required = true;
    EXPECT_THAT(Query::read(route, "").error().detail,
                HasSubstr("\"state\" of the query is missing"));
    std::string many;
    for (int i = 0; i < 100; ++i) many += "label=a&";
    EXPECT_THAT(fault(many), HasSubstr("too many"));
}

}  // namespace
}  // namespace pollux::api
