#include "app/top_screen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

document::Node status_of(const std::string& json) {
    document::Diagnostics diagnostics;
    auto parsed = document::parse(json, "status", diagnostics);
    EXPECT_TRUE(parsed.ok) << diagnostics.text();
    return std::move(parsed.root);
}

std::string status_json(int started, const std::string& worst = "[]") {
    return R"({"time": "2026-01-02T03:04:05Z", "tasks": 12, "enabled": 11, "ready": 2,
      "in_flight": 3, "due_soon": 4, "over_bound": 5, "never_answered": 6, "failing": 1,
      "breakers": 1, "dead_letters": 0, "planned_rate": 1.5, "global_rate": 100, "lag_p99": 0.5,
      "adaptive": 2, "store_failing": false, "started": )" +
           std::to_string(started) +
           R"(, "next": [{"key": "lamp::hall", "due_in": 1.5, "interval": 60, "age": null,
      "tier": "normal"}], "worst": )" +
           worst + "}";
}

TEST(TopScreen, ShowsCountsAndTheNextTasks) {
    TopScreen screen;
    const std::string page = screen.page(status_of(status_json(100)), 100);
    EXPECT_THAT(page, StartsWith("Pollux   2026-01-02T03:04:05Z   adaptive polling on\n"));
    EXPECT_THAT(page, HasSubstr("planned 1.5/s"));
    EXPECT_THAT(page, HasSubstr("11   ready 2   in flight 3   due soon 4\n"));
    EXPECT_THAT(page, HasSubstr("5 over their bound   6 never answered"));
    EXPECT_THAT(page, HasSubstr("breakers 1   dead letters 0\n"));
    EXPECT_THAT(page, HasSubstr("lamp::hall"));
    EXPECT_THAT(page, HasSubstr("never")) << "its age is not known";
    EXPECT_THAT(page, Not(HasSubstr("FAILING")));
}

TEST(TopScreen, ShowsWhatFailsAndWhy) {
    const std::string worst =
        R"([{"key": "lamp::a-very-long-name-of-a-device-that-does-not-fit-into-the-column-at-all",
        "failures": 7, "breaker": "open", "dead_letter": "none", "due_in": 30,
        "error": "no answer within 5 s \u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"},
        {"key": "lamp::b", "failures": 9, "breaker": "open", "dead_letter": "permanent_failure",
         "due_in": 30, "error": "refused"}])";
    TopScreen screen;
    const std::string page = screen.page(status_of(status_json(1, worst)), 80);
    EXPECT_THAT(page, HasSubstr("FAILING"));
    EXPECT_THAT(page, HasSubstr("dead"));
    EXPECT_THAT(page, HasSubstr("~"));
    EXPECT_THAT(page, Not(HasSubstr("into-the-column-at-all")));
    EXPECT_THAT(page, Not(HasSubstr("\xc3~"))) << "cut between characters";
}

TEST(TopScreen, SaysThatTheStoreFails) {
    std::string json = status_json(1);
    json.replace(json.find("\"store_failing\": false"), 22, "\"store_failing\": true");
    TopScreen screen;
    EXPECT_THAT(screen.page(status_of(json), 100), HasSubstr("STORE FAILING"));
}

TEST(TopScreen, ARestartedServerIsNoNegativeRate) {
    TopScreen screen;
    EXPECT_THAT(screen.line(status_of(status_json(1'000'000))), HasSubstr("11 tasks, 0.0 polls/s"));
    EXPECT_THAT(screen.line(status_of(status_json(3))), HasSubstr("tasks, 0.0 polls/s"));
    const std::string page = screen.page(status_of(status_json(3)), 100);
    EXPECT_THAT(page, HasSubstr("[........................]"));
    EXPECT_THAT(page, Not(HasSubstr("-0.0/s")));
}

TEST(TopScreen, WhatAnotherVersionDoesNotSendIsADash) {
    TopScreen screen;
    const std::string page = screen.page(status_of("{\"started\": 5}"), 10);
    EXPECT_THAT(page, HasSubstr("dead letters -"));
    EXPECT_THAT(screen.line(status_of("{}")), HasSubstr("- tasks"));
}

TEST(TopScreen, ClearsTheRestOfEveryLine) {
    EXPECT_EQ(with_cleared_lines("a\nb\n"), "a\x1b[K\nb\x1b[K\n");
    EXPECT_EQ(with_cleared_lines(""), "");
    EXPECT_GT(terminal_width(), 0);
}

}  // namespace
}  // namespace pollux::app
