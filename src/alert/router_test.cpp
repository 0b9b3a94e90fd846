#include "alert/router.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alert/planner_test_support.hpp"

namespace pollux::alert {
namespace {

using model::MatchOperator;
using model::Severity;
using ::testing::HasSubstr;
using testing::hours;
using testing::kStart;

MatchLabels labels() {
    model::Alert alert;
    alert.type = "down";
    alert.device = "core-1";
    alert.groups = {"routers", "berlin-dc"};
    alert.labels = {{"site", "berlin"}, {"device", "not this one"}};
    return labels_of(alert);
}

Router make(std::vector<model::NotifyRoute> routes) {
    auto router =
        Router::compile(std::move(routes), {testing::receiver("ops"), testing::receiver("lead")},
                        testing::utc_only);
    EXPECT_TRUE(router) << router.error().message;
    return *router;
}

model::NotifyRoute with(std::string name, std::int64_t order,
                        std::vector<model::LabelMatcher> matchers) {
    model::NotifyRoute route = testing::route(std::move(name), {"ops"});
    route.order = order;
    route.matchers = std::move(matchers);
    return route;
}

std::vector<std::string> names(const Router& router, Severity severity = Severity::kMajor) {
    std::vector<std::string> result;
    for (const auto* route : router.choose(labels(), severity, kStart)) {
        result.push_back(route->name);
    }
    return result;
}

TEST(AlertLabels, WhatEveryAlertHasStandsOverTheLabelsOfItsDevice) {
    const MatchLabels all = labels();
    EXPECT_EQ(all.find("device"), "core-1");
    EXPECT_EQ(all.find("alertname"), "down");
    EXPECT_EQ(all.find("severity"), "warning");
    EXPECT_EQ(all.find("group"), "routers");
    EXPECT_EQ(all.find("site"), "berlin");
    EXPECT_EQ(all.find("nothing"), "");
}

TEST(Router, TheFirstThatAppliesDecidesUnlessItGoesOn) {
    auto first = with("b", 1, {{"site", MatchOperator::kEqual, "berlin"}});
    const auto second = with("a", 2, {});
    const auto third = with("c", 3, {});
    EXPECT_EQ(names(make({third, second, first})), std::vector<std::string>{"b"});
    first.go_on = true;
    EXPECT_EQ(names(make({third, second, first})), (std::vector<std::string>{"b", "a"}));
}

TEST(Router, AnyGroupOfTheDeviceFits) {
    EXPECT_EQ(names(make({with("a", 0, {{"group", MatchOperator::kMatches, "berlin.*"}})})).size(),
              1U);
    EXPECT_EQ(names(make({with("a", 0, {{"group", MatchOperator::kEqual, "munich-dc"}})})).size(),
              0U);
    EXPECT_EQ(
        names(make({with("a", 0, {{"group", MatchOperator::kNotEqual, "berlin-dc"}})})).size(), 0U)
        << "none of them may fit";
}

TEST(Router, SeverityAndHoursAreLimits) {
    auto route = with("a", 0, {});
    route.at_least = Severity::kMajor;
    EXPECT_TRUE(names(make({route}), Severity::kMinor).empty());
    EXPECT_EQ(names(make({route}), Severity::kCritical).size(), 1U);
    route.only_during = {{"0 20 * * *", hours(1), "UTC"}};
    const Router router = make({route});
    EXPECT_TRUE(names(router).empty());
    EXPECT_TRUE(router.may_apply_later(labels(), Severity::kMajor, kStart));
    EXPECT_FALSE(router.may_apply_later(labels(), Severity::kMinor, kStart));
}

TEST(Router, SaysInWordsWhoWouldBeTold) {
    auto quiet = with("night", 2, {{"site", MatchOperator::kEqual, "berlin"}});
    quiet.quiet = {{"0 10 * * *", hours(4), "UTC"}};
    quiet.escalation = {{hours(1), {"lead"}}};
    const Router router = make({with("munich", 1, {{"site", MatchOperator::kEqual, "munich"}}),
                                quiet, with("rest", 3, {})});
    const std::string text = router.explain(labels(), Severity::kMajor, kStart);
    EXPECT_THAT(text, HasSubstr("munich: no: site=\"munich\" does not hold, it is \"berlin\"\n"));
    EXPECT_THAT(text, HasSubstr("night: yes: tells ops (hook)\n"));
    EXPECT_THAT(text, HasSubstr("quiet hours: held until 2026-11-18T14:00:00.000Z"));
    EXPECT_THAT(text, HasSubstr("after 1 h without an acknowledgement: lead"));
    EXPECT_THAT(text, HasSubstr("rest: not asked"));
    EXPECT_THAT(Router().explain(labels(), Severity::kMajor, kStart), HasSubstr("no routes"));
}

TEST(Router, AMistakeNamesItsRoute) {
    const auto router = Router::compile({with("bad", 0, {{"a", MatchOperator::kMatches, "("}})}, {},
                                        testing::utc_only);
    ASSERT_FALSE(router);
    EXPECT_THAT(router.error().message, HasSubstr("route \"bad\""));
}

}  // namespace
}  // namespace pollux::alert
