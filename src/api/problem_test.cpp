#include "api/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::api {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Problem, IsProblemJson) {
    Problem problem = bad_request("api.query", "no \"good\"");
    problem.errors = {{.pointer = "/a/0", .detail = "wrong"},
                      {.parameter = "limit", .detail = "x"}};
    problem.headers = {{"Retry-After", "3"}};
    problem.extra = R"("key":"pve::n1")";
    const net::Response response = to_response(problem, "id-1");
    EXPECT_EQ(response.status, 400);
    ASSERT_EQ(response.headers.size(), 2U);
    EXPECT_EQ(response.headers[0].value, "application/problem+json");
    EXPECT_EQ(response.headers[1].name, "Retry-After");
    EXPECT_EQ(
        response.body,
        R"({"type":"/problems/api.query","title":"Bad Request","status":400,)"
        R"("detail":"no \"good\"","code":"api.query","request_id":"id-1",)"
        R"("errors":[{"pointer":"/a/0","detail":"wrong"},{"parameter":"limit","detail":"x"}],)"
        R"("key":"pve::n1"})");
}

TEST(Problem, FollowsTheClassOfAnError) {
    using enum base::ErrorClass;
    const auto status = [](base::ErrorClass error_class) {
        return problem_of(base::Error{"a.b", error_class, "secret inside"}).status;
    };
    EXPECT_EQ(status(kConfig), 422);
    EXPECT_EQ(status(kAuth), 403);
    EXPECT_EQ(status(kPermanent), 409);
    EXPECT_EQ(status(kTransient), 503);
    EXPECT_EQ(status(kInternal), 500);
    const Problem internal = problem_of(base::Error{"a.b", kInternal, "secret inside"});
    EXPECT_THAT(internal.detail, Not(HasSubstr("secret")));
    EXPECT_EQ(internal.code, "a.b");
}

TEST(Problem, PointsAtEachMistakeOfABody) {
    document::Diagnostics diagnostics;
    diagnostics.error({}, "targets[2].a/b", "is missing");
    diagnostics.warning({}, "x", "only a warning");
    diagnostics.error({}, "", "is no map");
    const Problem problem = problem_of(diagnostics);
    EXPECT_EQ(problem.status, 422);
    ASSERT_EQ(problem.errors.size(), 2U);
    EXPECT_EQ(problem.errors[0].pointer, "/targets/2/a~1b");
    EXPECT_EQ(problem.errors[1].pointer, "");
    EXPECT_EQ(problem_of(diagnostics, false).status, 400);
}

TEST(Problem, ASingleMistakeIsToldWithItsField) {
    document::Diagnostics one;
    one.error({}, "targets[2].adress", "is no known key; did you mean address?");
    EXPECT_EQ(problem_of(one).detail,
              "the body has mistakes: targets[2].adress: is no known key; did you mean address?");
    document::Diagnostics named;
    named.error({}, "rate", "rate: \"x\" is not understood");
    EXPECT_EQ(problem_of(named).detail, "the body has mistakes: rate: \"x\" is not understood");
    document::Diagnostics whole;
    whole.error({}, "", "is no map");
    EXPECT_EQ(problem_of(whole).detail, "the body has mistakes: is no map");
}

}  // namespace
}  // namespace pollux::api
