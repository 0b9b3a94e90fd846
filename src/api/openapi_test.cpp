#include "api/openapi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api_test_support.hpp"
#include "api/openapi_test_support.hpp"

namespace pollux::api {
namespace {

using test::OpenApiCheck;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr NamedSchema kSchemas[] = {
    {"Thing", R"({"type":"object","properties":{"key":{"type":"string"}}})"}};

std::vector<Route> sample() {
    return {{.method = "GET",
             .path = "/api/things",
             .operation = "listThings",
             .tag = "things",
             .summary = "All <things>.",
             .query = {limit_parameter(),
                       {.name = "state", .type = ParameterType::kWord, .words = {"a", "b"}}},
             .response_schema = R"({"type":"array","items":{"$ref":"#/components/schemas/Thing"}})",
             .response_example = R"([{"key":"pve::n1"}])",
             .handler = [](Call) {}},
            {.method = "POST",
             .path = "/api/things/{key}/poke/{part}",
             .permission = access::Permission::kManage,
             .rate = access::RateClass::kControl,
             .operation = "pokeThing",
             .tag = "things",
             .summary = "Pokes it.",
             .path_parameters = {{.name = "key", .description = "The key.", .example = "pve::n1"}},
             .request_schema = kReasonBody,
             .request_example = R"({"reason":"test"})",
             .status = 202,
             .needs_if_match = true,
             .handler = [](Call) {}},
            {.method = "GET",
             .path = "/live",
             .open = true,
             .operation = "live",
             .tag = "system",
             .summary = "Alive?",
             .handler = [](Call) {}}};
}

TEST(OpenApi, DescribesTheTable) {
    const std::string text = openapi_document(sample(), {.title = "T", .version = "1"}, kSchemas);
    EXPECT_THAT(OpenApiCheck::run(text), IsEmpty());
    EXPECT_THAT(text, HasSubstr(R"("x-permission":"manage")"));
    EXPECT_THAT(text, HasSubstr(R"("x-permission":"open")"));
    EXPECT_THAT(text, HasSubstr(R"("x-rate-class":"control")"));
    EXPECT_THAT(text, HasSubstr(R"("name":"If-Match","in":"header")"));
    EXPECT_THAT(text, HasSubstr(R"("name":"Idempotency-Key")"));
    EXPECT_THAT(text, HasSubstr(R"("minimum":1,"maximum":1000,"default":100)"));
    EXPECT_THAT(text, HasSubstr(R"("enum":["a","b"])"));
    EXPECT_THAT(text, HasSubstr(R"("security":[])"));
}

TEST(OpenApi, DescribesAnswersByTheirExamplesWhereNothingElseIsSaid) {
    std::vector<Route> routes = sample();
    routes[1].response_example = R"({"done":true})";
    std::string text = openapi_document(routes, {}, kSchemas);
    EXPECT_THAT(OpenApiCheck::run(text), IsEmpty());
    EXPECT_THAT(text, HasSubstr(R"("schema":{"type":"object","properties":{"done":)"
                                R"({"type":"boolean"}},"required":["done"]},)"
                                R"("example":{"done":true})"));
    EXPECT_THAT(text, HasSubstr(R"("schema":{"type":"array","items":{"$ref":)"))
        << "what is said stays";
    // An answer without a body has nothing to describe.
    routes[1].status = 204;
    text = openapi_document(routes, {}, kSchemas);
    EXPECT_THAT(text, Not(HasSubstr(R"("done")")));
    EXPECT_THAT(OpenApiCheck::run(text), IsEmpty());
}

TEST(OpenApi, NamesTheShapesThatAnswersAreMadeOf) {
    std::vector<Route> routes = sample();
    routes[1].response_example = R"({"items":["$User"]})";
    const std::string text = openapi_document(routes, {}, kSchemas);
    EXPECT_THAT(OpenApiCheck::run(text), IsEmpty());
    EXPECT_THAT(text, HasSubstr(R"("items":{"$ref":"#/components/schemas/User"})"));
    EXPECT_THAT(text, HasSubstr(R"("User":{"type":"object")"));
    EXPECT_THAT(text, HasSubstr(R"("Grant":{"type":"object")")) << "a shape inside a shape";
    EXPECT_THAT(text, Not(HasSubstr(R"("Job":)"))) << "nobody refers to it";
}

TEST(OpenApi, TheCheckFindsListsAndObjectsThatSayNothing) {
    for (const char* schema :
         {R"({"type":"array"})", R"({"type":"object"})", "{}",
          R"({"type":"object","properties":{"items":{"type":"array"}}})",
          R"({"type":"array","items":{"type":"object","properties":{"x":{}}}})",
          R"({"type":"object","additionalProperties":{"type":"object"}})"}) {
        std::vector<Route> routes = sample();
        routes[0].response_schema = schema;
        EXPECT_EQ(OpenApiCheck::run(openapi_document(routes, {}, kSchemas)).size(), 1U) << schema;
        routes[0].response_schema = R"({"type":"boolean"})";
        routes[1].request_schema = schema;
        EXPECT_EQ(OpenApiCheck::run(openapi_document(routes, {}, kSchemas)).size(), 1U) << schema;
    }
}

TEST(OpenApi, TheCheckFindsWhatIsWrong) {
    std::vector<Route> routes = sample();
    routes[0].operation = "pokeThing";
    routes[0].response_schema = R"({"$ref":"#/components/schemas/Nothing"})";
    routes[1].summary = "";
    const auto wrong = OpenApiCheck::run(openapi_document(routes, {}, kSchemas));
    EXPECT_EQ(wrong.size(), 3U) << testing::PrintToString(wrong);
    routes[2].response_example = "{broken";
    EXPECT_THAT(OpenApiCheck::run(openapi_document(routes, {}, kSchemas)),
                ElementsAre(HasSubstr("openapi.json")));
}

TEST(OpenApi, IsServedWithAPageThatRunsNothing) {
    test::Stage stage(with_documentation(sample(), {.title = "T", .version = "1"}, kSchemas));
    for (const char* path : {"/api/openapi.json", "/api/docs", "/api/docs/style.css"}) {
        EXPECT_EQ(stage.ask("GET", path).status, 401) << path;
    }
    const std::string token = "X-API-Token: viewer\r\n";
    const test::Reply json = stage.ask("GET", "/api/openapi.json", token);
    EXPECT_THAT(OpenApiCheck::run(json.body), IsEmpty());
    EXPECT_THAT(json.body, HasSubstr("getOpenApi"));
    const test::Reply page = stage.ask("GET", "/api/docs", token);
    EXPECT_EQ(page.field("content-type"), "text/html; charset=utf-8");
    EXPECT_THAT(page.field("content-security-policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(page.body, HasSubstr("All &lt;things&gt;."));
    EXPECT_THAT(page.body, HasSubstr("POST /api/things/{key}/poke/{part}"));
    EXPECT_THAT(page.body, Not(HasSubstr("<script")));
    EXPECT_EQ(stage.ask("GET", "/api/docs", token + "If-None-Match: " + page.field("etag") + "\r\n")
                  .status,
              304);
}

}  // namespace
}  // namespace pollux::api
