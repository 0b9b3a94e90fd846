// Every category must be able to say no: an answer that nothing can contradict proves nothing.
#include "tests/known_answers/categories.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/known_answers/command.hpp"

namespace pollux::known_answers {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Problems run_text(std::string_view vector) {
    const auto cases = parse_cases("{\"vectors\": [" + std::string(vector) + "]}");
    EXPECT_TRUE(cases) << vector;
    return cases ? run_case(cases->front()) : Problems{};
}

TEST(Categories, IntervalsCanFail) {
    EXPECT_THAT(run_text(R"({"name": "n", "category": "config",
        "inputs": {"base_s": 0, "min_s": 0, "max_s": 0},
        "expected": {"base_s": 1, "min_s": 1, "max_s": 1}})"),
                ElementsAre("base_s: expected 1, got 10", "min_s: expected 1, got 5",
                            "max_s: expected 1, got 300"));
    EXPECT_THAT(
        run_text(R"({"name": "n", "category": "interval",
        "inputs": {"base_s": 10, "min_s": 5, "max_s": 60, "last_interval_s": 0,
          "staleness_score": 0, "error_count": 0, "queue_depth": 1, "ema_state_s": 60,
          "jitter_fraction": 0.05, "alpha": 0.6, "error_penalty": 0.6, "queue_stretch": 0.1,
          "rng": 0},
        "expected": {"interval_s": 40, "test_bounds_s": [39, 41]}})"),
        ElementsAre("interval_s: expected 40, got 57", "test_bounds_s: expected 39 to 41, got 57"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "interval_sequence",
        "inputs": {"base_s": 10, "min_s": 5, "max_s": 60, "jitter_fraction": 0, "queue_depth": 1,
          "scores": [1, 1], "same_key": false}, "expected": {"intervals_s": [7]}})"),
                ElementsAre("intervals_s: expected [7], got [7, 7]"));
    EXPECT_THAT(
        run_text(R"({"name": "n", "category": "interval_jitter",
        "inputs": {"base_s": 10, "min_s": 5, "max_s": 60, "score": 0.5, "jitter_fraction": 0,
          "runs": 10}, "expected": {"all_within_s": [1, 2], "min_unique": 2}})"),
        ElementsAre("all_within_s: expected 1 to 2, got 23.5",
                    "all_within_s: expected 1 to 2, got 23.5", "min_unique: expected 2, got 1"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "interval_jitter",
        "inputs": {"base_s": 10, "min_s": 5, "max_s": 60, "score": 0.5, "jitter_fraction": 0,
          "runs": 0}, "expected": {"all_within_s": [1, 2]}})"),
                Contains("inputs.runs: must be from 1 to 100000"));
}

TEST(Categories, BreakersCanFail) {
    EXPECT_THAT(
        run_text(R"({"name": "n", "category": "breaker_config",
        "inputs": {"open_threshold": 0, "retry_interval_s": 0, "max_delay_s": 0,
          "half_open_window_s": 0},
        "expected": {"open_threshold": 1, "retry_interval_s": 5, "max_delay_s": 300,
          "half_open_window_s": 30, "state": "open"}})"),
        ElementsAre("open_threshold: expected 1, got 3", "state: expected open, got closed"));
    EXPECT_THAT(
        run_text(R"({"name": "n", "category": "breaker",
        "inputs": {"config": {"open_threshold": 1, "retry_interval_s": 5, "max_delay_s": 300,
          "half_open_window_s": 30}, "events": [["fail", 0], ["allow", 1], ["reset", 2]]},
        "expected": {"allow_results": [true], "failures": 2,
          "retry_interval_s_after_trip": [5]}})"),
        ElementsAre(R"(inputs.events: an event is allow, fail or success, not "reset")",
                    "failures: expected 2, got 1", "allow_results: expected [true], got [false]",
                    "retry_interval_s_after_trip: expected [5], got [10]"));
    constexpr std::string_view kOpen = R"({"name": "n", "category": "breaker_state",
        "inputs": {"config": {"open_threshold": 1, "retry_interval_s": 5, "max_delay_s": 300,
          "half_open_window_s": 30}, "events": [["fail", 0]]}, "expected": {"retry_at": null}})";
    EXPECT_THAT(run_text(kOpen), ElementsAre("retry_at: expected null, got 10"));
    constexpr std::string_view kClosed = R"({"name": "n", "category": "breaker_state",
        "inputs": {"config": {"open_threshold": 1, "retry_interval_s": 5, "max_delay_s": 300,
          "half_open_window_s": 30}, "events": []}, "expected": {"retry_at_s": 10}})";
    EXPECT_THAT(run_text(kClosed), ElementsAre("retry_at_s: expected 10, got null"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "breaker_state",
        "inputs": {"config": {"open_threshold": 1, "retry_interval_s": 5, "max_delay_s": 300,
          "half_open_window_s": 30}, "events": [["fail", 1], ["success", 3]]},
        "expected": {"retry_at": null, "since_s": 1, "last_transition_s": 2}})"),
                ElementsAre("since_s: expected 1, got 3", "last_transition_s: expected 2, got 3"));
    EXPECT_THAT(
        run_text(R"({"name": "n", "category": "breaker_allow",
        "inputs": {"state": "open", "opened_at_s": 0, "retry_interval_s": 10, "now_s": 10},
        "expected": {"allow": false, "state": "open"}})"),
        ElementsAre("allow: expected false, got true", "state: expected open, got half_open"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "breaker_allow",
        "inputs": {"state": "half_open", "last_attempt_s": 0, "half_open_window_s": 30,
          "now_s": 29}, "expected": {"allow": true, "state": "half_open"}})"),
                ElementsAre("allow: expected true, got false"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "breaker_allow",
        "inputs": {"state": "ajar", "now_s": 0}, "expected": {"allow": false, "state": "open"}})"),
                ElementsAre("inputs.state: must be closed, open or half_open",
                            "allow: expected false, got true", "state: expected open, got closed"));
}

TEST(Categories, DelaysAndFailuresCanFail) {
    EXPECT_THAT(run_text(R"({"name": "n", "category": "backoff",
        "inputs": {"initial_s": 5, "multiplier": 2, "jitter": 0, "max_s": 300, "attempt": 1,
          "rng": 0.5}, "expected": {"delay_s": 10, "range_s": [1]}})"),
                ElementsAre("expected.range_s: must be an array of two numbers"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "staleness",
        "inputs": {"age_s": null, "max_stale_s": 60}, "expected": {"score": 0, "known": false}})"),
                ElementsAre("score: expected 0, got 1", "known: expected false, got true"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "error_retryable",
        "inputs": {"type": "weather", "status": 1000, "message": "forbidden"},
        "expected": {"retryable": true}})"),
                ElementsAre(R"(inputs.type: no failure is called "weather")",
                            "inputs.status: must be an HTTP status, or 0 for none"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "auth_error_text",
        "inputs": {"message": "fine"}, "expected": {"is_auth": true}})"),
                ElementsAre("is_auth: expected true, got false"));
}

TEST(Categories, KeysCanFail) {
    EXPECT_THAT(run_text(R"({"name": "n", "category": "key",
        "inputs": {"type": "pve", "instance": "a"}, "expected": {"key": "pve:a"}})"),
                ElementsAre("key: expected pve:a, got pve::a"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "key",
        "inputs": {"type": "PVE", "instance": "a"}, "expected": {"key": "PVE::a"}})"),
                ElementsAre(HasSubstr("a key that can be read back")));
    // Names are normalised to NFC: an e with a combining accent comes back as one character.
    EXPECT_THAT(run_text(R"({"name": "n", "category": "key",
        "inputs": {"type": "pve", "instance": "cafe\u0301"},
        "expected": {"key": "pve::cafe\u0301"}})"),
                ElementsAre(HasSubstr("key, read back")));
}

std::string plan_case(std::string_view intervals, std::string_view passes,
                      std::string_view expected, bool feed_back = true) {
    return fmt::format(R"({{"name": "n", "category": "plan_sequence",
        "inputs": {{"config": {{"base_s": 10, "min_s": 5, "max_s": 300}},
          "selector_interval_s": {}, "passes_at_s": {}, "feed_last_plan_back": {}}},
        "expected": {}}})",
                       intervals, passes, feed_back, expected);
}

TEST(Categories, PlansCanFail) {
    EXPECT_THAT(run_text(plan_case("60", "[0, 10, 65]", R"({"next_run_s": [0, 60, 65]})")),
                ElementsAre("next_run_s: expected [0, 60, 65], got [0, 60, 120]"));
    EXPECT_THAT(run_text(plan_case("60", "[0, 0.0001, 0.0002]", R"({"next_run_s": [0, 60, 60]})")),
                IsEmpty());
    EXPECT_THAT(run_text(plan_case("[60, 60]", "[0, 10]", R"({"last_next_run_s_max": 59})")),
                ElementsAre("last_next_run_s_max: expected 59, got 60"));
    EXPECT_THAT(run_text(plan_case("60", "[0]", "{}")),
                ElementsAre("expected.next_run_s: missing field", HasSubstr("got [0]")));
}

TEST(Categories, PlansThatCannotBeRun) {
    const std::string_view expected = R"({"next_run_s": [0, 10]})";
    EXPECT_THAT(run_text(plan_case("60", "[10, 0]", expected)),
                Contains("inputs.passes_at_s: must be ascending seconds from 0 on"));
    EXPECT_THAT(run_text(plan_case("60", "[0]", R"({"next_run_s": [0]})", false)),
                ElementsAre(HasSubstr("inputs.feed_last_plan_back: must be true")));
    EXPECT_THAT(run_text(plan_case("[10, 10, 10]", "[0, 10]", expected)),
                Contains(HasSubstr("inputs.selector_interval_s: must be one number")));
    EXPECT_THAT(run_text(plan_case("300", "[0, 1e12]", expected)),
                Contains(HasSubstr("spans more time than a case may take")));
}

TEST(Categories, QueueSnapshotsCanFail) {
    EXPECT_THAT(run_text(R"({"name": "n", "category": "queue_snapshot",
        "inputs": {"tasks": [["a", "pve", 5], ["b", "pve", 13]]},
        "expected": {"depth": 3, "dueWithinSeconds": 2, "perType": {"pve": 1}}})"),
                ElementsAre("depth: expected 3, got 2", "dueWithinSeconds: expected 2, got 1",
                            R"(perType: expected {"pve": 1}, got {"pve": 2})"));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "queue_snapshot",
        "inputs": {"tasks": [["a\u0007", "pve", 5]]},
        "expected": {"depth": 0, "dueWithinSeconds": 0, "perType": {}}})"),
                ElementsAre(HasSubstr("inputs.the scheduler refuses: ")));
    EXPECT_THAT(run_text(R"({"name": "n", "category": "queue_snapshot",
        "inputs": {"tasks": [["a", "Not A Class", 5]]},
        "expected": {"depth": 0, "dueWithinSeconds": 0, "perType": {}}})"),
                Contains(HasSubstr("Not A Class")));
}

TEST(Categories, UnknownFieldsFail) {
    EXPECT_THAT(run_text(R"({"name": "n", "category": "clamp",
        "inputs": {"v": 1, "min": 0, "max": 3}, "expected": {"value": 1, "vlaue": 2}})"),
                ElementsAre("expected.vlaue: unknown field, nothing checks it"));
}

}  // namespace
}  // namespace pollux::known_answers
