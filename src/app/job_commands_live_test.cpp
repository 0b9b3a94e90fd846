// `pollux job` against a running server whose jobs really run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/api_command_test_support.hpp"
#include "document/parse.hpp"

namespace pollux::app {
namespace {

using document::Node;
using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// Two that end well and one that waits for them.
constexpr const char* kGraph = R"(
name: nightly
jobs:
  - {name: first, type: maintenance, estimate: 5s, arguments: {steps: [backup]}}
  - {name: second, type: maintenance, estimate: 2s, arguments: {steps: [backup]}}
  - {name: last, type: maintenance, estimate: 10s, depends_on: [[first, second], first],
     arguments: {steps: [backup]}}
)";

class JobCommands : public test::ApiCommandTest {
  protected:
    static Node parsed(const std::string& text) {
        document::Diagnostics diagnostics;
        const auto found = document::parse_json(text, "answer", diagnostics);
        EXPECT_TRUE(found.ok) << text;
        return found.root;
    }
    // Submits one job and gives its id.
    std::string submitted(const std::string& yaml) {
        const Node answer = parsed(good({"job", "submit", "-", "-o", "json"}, yaml));
        return answer.find("ids")->items().at(0).scalar();
    }
};

TEST_F(JobCommands, AGraphIsCheckedSubmittedAwaitedAndShown) {
    log_in();
    const std::string file = pollux.folder().write("nightly.yaml", kGraph);
    EXPECT_EQ(good({"job", "submit", file, "--dry-run"}),
              "3 jobs are good; nothing was submitted\n");
    EXPECT_EQ(good({"job", "ls"}), "no jobs\n");
    const std::string out = good({"job", "submit", file, "--wait"});
    EXPECT_THAT(out, MatchesRegex("batch [0-9a-f-]+: 3 jobs submitted\n"
                                  "3 of 3 ended: 3 completed\n"))
        << "no escape codes, no progress: this is no terminal";
    const std::string batch = out.substr(6, 36);
    const std::string graph = good({"job", "graph", batch});
    EXPECT_THAT(graph, AllOf(HasSubstr("3 jobs on 2 levels; 3 of 3 ended: 3 completed"),
                             HasSubstr("(first or second) and first"),
                             HasSubstr("critical path (*), 15 s: first -> last\n")));
    const Node jobs = parsed(good({"job", "ls", "--batch", batch, "-o", "json"}));
    ASSERT_EQ(jobs.find("items")->items().size(), 3U);
    const std::string id = jobs.find("items")->items().at(0).find("id")->scalar();
    EXPECT_EQ(good({"job", "graph", id}), graph) << "a job stands for its batch";
    EXPECT_THAT(good({"job", "show", id}),
                AllOf(HasSubstr("state       completed"), HasSubstr("by token:cli-ada-"),
                      HasSubstr("ATTEMPT"), HasSubstr("{\"steps\":[\"backup\"]}")));
    const Node shown = parsed(good({"job", "show", id, "-o", "json"}));
    EXPECT_EQ(shown.find("runs")->find("items")->items().size(), 1U);
    EXPECT_THAT(good({"job", "ls", "--state", "completed", "--type", "maintenance"}),
                HasSubstr("second"));
    EXPECT_EQ(good({"job", "ls", "--state", "failed"}), "no jobs\n");
    EXPECT_THAT(good({"job", "ls", "--limit", "1"}), Not(HasSubstr("first")));
}

TEST_F(JobCommands, WhatFailsIsToldWithItsReasonAndTheExitCode) {
    log_in();
    const std::string nobody = std::to_string(net::test::free_port());
    const std::string job =
        "name: ask\ntype: http\nretry: {attempts: 1}\narguments: {url: 'http://"
        "127.0.0.1:" +
        nobody + "/'}\n";
    const Ran failed = pollux({"job", "submit", "-", "--wait"}, job);
    EXPECT_EQ(failed.status, 1) << failed.err;
    EXPECT_THAT(failed.out, AllOf(HasSubstr("1 of 1 ended: 1 failed"), HasSubstr("127.0.0.1")));
    const Ran json = pollux({"job", "submit", "-", "--wait", "-o", "json"}, job);
    EXPECT_EQ(json.status, 1);
    const Node answer = parsed(json.out);
    const std::string id = answer.find("items")->items().at(0).find("id")->scalar();
    EXPECT_THAT(good({"job", "show", id}), AllOf(HasSubstr("failure  "), HasSubstr("ATTEMPT")));
    EXPECT_THAT(good({"job", "retry", id, "--reason", "once more"}), HasSubstr(id + " is "));
    EXPECT_TRUE(test::eventually([&] {
        return parsed(pollux({"job", "show", id, "-o", "json"}).out)
                   .find("runs")
                   ->find("items")
                   ->items()
                   .size() == 2;
    }));
}

TEST_F(JobCommands, HoldReleaseAndCancelFollowTheStates) {
    log_in();
    const std::string id =
        submitted("{name: later, type: maintenance, hold: true, arguments: {steps: [backup]}}");
    EXPECT_THAT(good({"job", "ls"}), HasSubstr("pending (held)"));
    const Ran waited = pollux({"job", "submit", "-", "--wait", "--give-up", "1s"},
                              "{type: maintenance, hold: true, arguments: {steps: [backup]}}");
    EXPECT_EQ(waited.status, 1);
    EXPECT_THAT(waited.err, AllOf(HasSubstr("not ended after 1s"), HasSubstr("held"),
                                  HasSubstr("pollux job graph")));
    EXPECT_THAT(good({"job", "release", id}), HasSubstr(id + " is "));
    EXPECT_TRUE(test::eventually([&] {
        return good({"job", "show", id}).find("state       completed") != std::string::npos;
    }));
    const Ran late = pollux({"job", "cancel", id});
    EXPECT_EQ(late.status, 1);
    EXPECT_THAT(late.err, HasSubstr("completed"));
    const std::string other =
        submitted("{name: never, type: maintenance, hold: true, arguments: {steps: [backup]}}");
    EXPECT_EQ(good({"job", "cancel", other, "--cascade", "--reason", "not needed"}),
              "1 cancelled " + other + "\n");
    EXPECT_THAT(good({"job", "ls", "--state", "cancelled"}), HasSubstr("never"));
    EXPECT_EQ(pollux({"job", "hold", other}).status, 1);
}

TEST_F(JobCommands, MistakesAreNamedAndCodesAreThoseOfAllCommands) {
    EXPECT_EQ(pollux({"job", "ls"}).status, 3) << "nobody is logged in";
    log_in();
    const Ran circle = pollux(
        {"job", "submit", "-"},
        "jobs: [{name: a, type: maintenance, depends_on: [b], arguments: {steps: [backup]}}, "
        "{name: b, type: maintenance, depends_on: [a], arguments: {steps: [backup]}}]");
    EXPECT_EQ(circle.status, 1);
    EXPECT_THAT(circle.err, AllOf(HasSubstr("a"), HasSubstr("/jobs/")));
    const Ran unread = pollux({"job", "submit", "-"}, "jobs: [}");
    EXPECT_EQ(unread.status, 2);
    EXPECT_THAT(unread.err, HasSubstr("standard input:1"));
    EXPECT_EQ(pollux({"job", "submit", "/no/such/file"}).status, 2);
    EXPECT_EQ(pollux({"job", "submit", "-", "--wait", "--dry-run"}).status, 2);
    EXPECT_EQ(pollux({"job", "ls", "--state", "sleepy"}).status, 2);
    for (const char* verb : {"show", "graph", "cancel", "retry", "hold", "release"}) {
        const Ran none = pollux({"job", verb, "0190a5e0-0000-7000-8000-000000000000"});
        EXPECT_EQ(none.status, 1) << verb;
        EXPECT_THAT(none.err, HasSubstr("there is no ")) << verb;
    }
    EXPECT_THAT(good({"job", "types"}), AllOf(HasSubstr("maintenance"), HasSubstr("discovery")));
    EXPECT_THAT(good({"job", "types", "http"}), AllOf(HasSubstr("url"), HasSubstr("yes")));
    EXPECT_EQ(pollux({"job", "types", "magic"}).status, 1);
}

}  // namespace
}  // namespace pollux::app
