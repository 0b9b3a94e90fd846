#include "config/job_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "base/test_random.hpp"

namespace pollux::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

std::vector<model::JobTypeDef> types() {
    model::JobTypeDef http;
    http.name = "http";
    http.slots = 4;
    http.attempts = 3;
    http.arguments = {
        {.name = "url", .kind = model::ArgumentKind::kText, .required = true},
        {.name = "method", .kind = model::ArgumentKind::kText, .words = {"GET", "POST"}},
        {.name = "retries", .kind = model::ArgumentKind::kInteger, .low = 1, .high = 5},
        {.name = "wait", .kind = model::ArgumentKind::kDuration, .low = 1, .high = 60},
        {.name = "headers", .kind = model::ArgumentKind::kMap},
        {.name = "tags", .kind = model::ArgumentKind::kTexts},
        {.name = "fresh", .kind = model::ArgumentKind::kBoolean}};
    model::JobTypeDef ssh;
    ssh.name = "ssh";
    ssh.device = model::JobPlace::kRequired;
    ssh.arguments = {{.name = "command", .kind = model::ArgumentKind::kText, .required = true}};
    return {http, ssh};
}

struct Read {
    JobBatch batch;
    document::Diagnostics diagnostics;
};

Read read(const std::string& text) {
    Read result;
    const auto known = types();
    result.batch = read_jobs(text, "jobs.yaml", known, result.diagnostics);
    return result;
}

std::string check(const std::string& text) {
    Read one = read(text);
    const auto known = types();
    JobRules rules;
    rules.types = known;
    rules.resources = {{"cpu", 8}, {"memory", 1000}};
    rules.global_slots = 100;
    rules.stored = [](std::string_view id) { return id == "0190-stored"; };
    rules.device = [](std::string_view name) { return name == "web1"; };
    rules.arguments = [](const model::JobSpec& job) -> std::optional<ArgumentFault> {
        if (job.name != "unarguable") return std::nullopt;
        return ArgumentFault{"network", "too large"};
    };
    check_jobs(one.batch, rules, one.diagnostics);
    return one.diagnostics.text();
}

TEST(JobReader, ReadsABatchWithWhatItsTypesSet) {
    const Read one = read(R"yaml(
name: nightly
jobs:
  - name: fetch
    type: http
    priority: high
    resources: {memory: 1KiB, cpu: 2}
    timeout: 5s
    estimate: 3s
    retry: {backoff: 10s}
    labels: {team: ops}
    arguments: {url: "http://a/", headers: {accept: text}, tags: [b, a], wait: 2s, retries: 2, fresh: true}
  - name: run
    type: ssh
    device: web1
    depends_on: [fetch, [fetch, 0190-stored]]
    on_parent_failure: hold
    hold: true
    arguments: {command: uptime}
)yaml");
    ASSERT_TRUE(one.diagnostics.ok()) << one.diagnostics.text();
    EXPECT_EQ(one.batch.name, "nightly");
    ASSERT_EQ(one.batch.jobs.size(), 2U);
    const model::JobSpec& fetch = one.batch.jobs[0];
    EXPECT_EQ(fetch.tier, model::Tier::kHigh);
    EXPECT_EQ(fetch.retry, (model::RetryPolicy{3, 10s})) << "three attempts come from the type";
    EXPECT_THAT(fetch.resources, ElementsAre(model::ResourceDemand{"cpu", 2},
                                             model::ResourceDemand{"memory", 1024}));
    EXPECT_EQ(fetch.arguments,
              R"({"fresh":true,"headers":{"accept":"text"},"retries":2,"tags":["b","a"],)"
              R"("url":"http://a/","wait":"2s"})");
    const model::JobSpec& run = one.batch.jobs[1];
    EXPECT_THAT(run.depends_on,
                ElementsAre(ElementsAre("fetch"), ElementsAre("fetch", "0190-stored")));
    EXPECT_EQ(run.on_parent_failure, model::ParentFailure::kHold);
    EXPECT_TRUE(run.hold);
    EXPECT_EQ(run.timeout, 1min);
    EXPECT_EQ(one.batch.places[1].line, 13U);
}

TEST(JobReader, OneJobMayStandAloneAndInJson) {
    const Read one = read(R"({"type": "http", "arguments": {"url": "http://a/"}})");
    ASSERT_TRUE(one.diagnostics.ok()) << one.diagnostics.text();
    ASSERT_EQ(one.batch.jobs.size(), 1U);
    EXPECT_EQ(one.batch.jobs[0].type, "http");
}

TEST(JobReader, MistakesAreToldWithTheirPlace) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"jobs: []", "jobs.yaml:1: jobs: has 0 jobs; a batch has 1 to 10000"},
        {"jobs:\n  - {type: htp, arguments: {}}",
         "jobs.yaml:2: jobs[0].type: \"htp\" is no type of jobs: did you mean \"http\"?"},
        {"type: http\narguments: {uri: x}", "arguments.url: is missing"},
        {"type: http\narguments: {url: x, uri: x}", "jobs.yaml:2: arguments.uri:"},
        {"type: http\narguments: {url: x, method: PUT}",
         "\"PUT\" is wrong; it is one of GET or POST"},
        {"type: http\narguments: {url: x, retries: 9}", "\"9\" is no whole number from 1 to 5"},
        {"type: http\ndevice: a\narguments: {url: x}", "device: jobs of type http have none"},
        {"type: ssh\narguments: {command: x}", "device: is missing; jobs of type ssh need it"},
        {"type: http\ntimeout: 2h\narguments: {url: x}", "jobs.yaml:2: timeout:"},
        {"type: http\ndepends_on: [[]]\narguments: {url: x}", "depends_on: an entry is a name"},
        {"type: http\nretry: {attempts: 0}\narguments: {url: x}", "retry.attempts:"},
        {"type: http\nsecret: 1\narguments: {url: x}", "secret:"},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_THAT(read(text).diagnostics.text(), HasSubstr(expected)) << text;
    }
}

TEST(JobReader, AStoredJobReadsBackAsItWas) {
    const Read one = read(R"yaml(
jobs:
  - {name: "ä: 1", type: http, hold: true, resources: {cpu: 2}, labels: {a: "true"},
     depends_on: [[x, y], z], retry: {attempts: 2, backoff: 1ms}, arguments: {url: "1.10"}}
)yaml");
    model::JobSpec job = one.batch.jobs.at(0);
    job.id = "id";
    job.batch = "batch";
    job.created_by = "user:alice";
    job.created_at = base::WallTime{-5};
    job.target = "pve::a";
    const auto back = job_from_text(to_text(job));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, job);
    EXPECT_EQ(arguments_of(job).find("url")->scalar(), "1.10");
    EXPECT_FALSE(job_from_text("{}"));
    EXPECT_FALSE(job_from_text("{\"format\":2,\"id\":\"a\",\"type\":\"b\"}"));
    EXPECT_FALSE(job_from_text("["));
}

TEST(JobGraph, WhatIsWrongIsNamed) {
    const auto job = [](const std::string& name, const std::string& rest = "") {
        return "  - {name: " + name + ", type: http, arguments: {url: x}" + rest + "}\n";
    };
    EXPECT_EQ(check("jobs:\n" + job("a") + job("b", ", depends_on: [a, 0190-stored]")), "");
    EXPECT_THAT(check("jobs:\n" + job("a") + job("a")),
                HasSubstr("jobs.yaml:3: jobs[1].name: \"a\" is the name of jobs[0] too"));
    EXPECT_THAT(
        check("jobs:\n" + job("fetch") + job("b", ", depends_on: [fetsh]")),
        HasSubstr("jobs.yaml:3: jobs[1].depends_on: \"b\" needs \"fetsh\", which is neither "
                  "a job of this batch nor the id of a stored one: did you mean \"fetch\"?"));
    EXPECT_THAT(check("jobs:\n" + job("a", ", resources: {gpu: 1}")),
                HasSubstr("resources: there is no resource \"gpu\""));
    EXPECT_THAT(check("jobs:\n" + job("a", ", resources: {cpu: 9}")),
                HasSubstr("resources: 9 of resource \"cpu\" are wanted, but it has only 8"));
    EXPECT_THAT(check("jobs:\n" + job("a", ", slots: 5")),
                HasSubstr("slots: 5 slots can never be had: type http has 4"));
    EXPECT_THAT(check("type: ssh\ndevice: web2\narguments: {command: x}"),
                HasSubstr("device: there is no device \"web2\""));
    EXPECT_THAT(check("jobs:\n" + job("a") + job("unarguable")),
                HasSubstr("jobs.yaml:3: jobs[1].arguments.network: too large"));
}

TEST(JobGraph, EveryCircleIsNamed) {
    const auto job = [](const std::string& name, const std::string& needs) {
        return "  - {name: " + name + ", type: http, arguments: {url: x}, depends_on: [" + needs +
               "]}\n";
    };
    const std::string text = check("jobs:\n" + job("a", "b") + job("b", "c") + job("c", "a") +
                                   job("d", "d") + job("e", "[f, a]") + job("f", "e"));
    EXPECT_THAT(text, HasSubstr("circle: \"a\" needs \"b\" needs \"c\" needs \"a\""));
    EXPECT_THAT(text, HasSubstr("circle: \"d\" needs \"d\""));
    EXPECT_THAT(text, HasSubstr("circle: \"e\" needs \"f\" needs \"e\""));
    EXPECT_EQ(std::ranges::count(text, '\n'), 3) << text;
}

TEST(JobGraph, AMissingParentAndACircleOfTenThousandAreToldShortly) {
    std::string text = "jobs:\n";
    for (int i = 0; i < 10'000; ++i) {
        text += "  - {name: j" + std::to_string(i) + ", type: http, arguments: {url: x}, " +
                "depends_on: [j" + std::to_string((i + 1) % 10'000) + "]}\n";
    }
    const std::string complaint = check(text);
    EXPECT_THAT(complaint, HasSubstr("\"j0\" needs \"j1\""));
    EXPECT_THAT(complaint, HasSubstr("... (9980 more) needs \"j0\""));
    EXPECT_LT(complaint.size(), 2000U);
}

std::vector<model::JobSpec> random_jobs(base::TestRandom& random, std::size_t count) {
    std::vector<model::JobSpec> jobs(count);
    for (std::size_t i = 0; i < count; ++i) {
        jobs[i].name = "j" + std::to_string(i);
        const std::uint64_t groups = i == 0 ? 0 : random.below(4);
        for (std::uint64_t g = 0; g < groups; ++g) {
            auto& group = jobs[i].depends_on.emplace_back();
            const std::uint64_t members = 1 + random.below(3);
            for (std::uint64_t m = 0; m < members; ++m) {
                group.push_back("j" + std::to_string(random.below(i)));
            }
        }
    }
    return jobs;
}

TEST(JobGraph, LevelsPathAndImpactAgreeWithTheirDefinition) {
    base::TestRandom random(11);
    for (int round = 0; round < 200; ++round) {
        const auto jobs = random_jobs(random, 1 + random.below(14));
        std::vector<base::Duration> durations;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            durations.push_back(std::chrono::seconds(1 + random.below(9)));
        }
        const JobGraph graph(jobs);
        ASSERT_THAT(graph.circles(), IsEmpty());
        const auto number = [](const std::string& name) { return std::stoul(name.substr(1)); };

        // By recursion over what is written.
        const std::function<std::uint32_t(std::size_t)> level = [&](std::size_t job) {
            std::uint32_t highest = 0;
            for (const auto& group : jobs[job].depends_on) {
                for (const auto& name : group) highest = std::max(highest, level(number(name)) + 1);
            }
            return highest;
        };
        const std::function<base::Duration(std::size_t)> end = [&](std::size_t job) {
            base::Duration start{};
            for (const auto& group : jobs[job].depends_on) {
                base::Duration first = base::Duration::max();
                for (const auto& name : group) first = std::min(first, end(number(name)));
                start = std::max(start, first);
            }
            return start + durations[job];
        };
        const std::function<bool(std::size_t, std::size_t)> needs = [&](std::size_t job,
                                                                        std::size_t other) {
            for (const auto& group : jobs[job].depends_on) {
                for (const auto& name : group) {
                    if (number(name) == other || needs(number(name), other)) return true;
                }
            }
            return false;
        };

        const auto levels = graph.levels();
        base::Duration longest{};
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            ASSERT_EQ(levels[i], level(i)) << round << " " << i;
            longest = std::max(longest, end(i));
            std::vector<std::uint32_t> impact;
            for (std::size_t j = 0; j < jobs.size(); ++j) {
                if (needs(j, i)) impact.push_back(static_cast<std::uint32_t>(j));
            }
            ASSERT_EQ(graph.impact(static_cast<std::uint32_t>(i)), impact);
        }
        const JobGraph::Path path = graph.critical_path(durations);
        ASSERT_EQ(path.length, longest);
        base::Duration sum{};
        for (const std::uint32_t job : path.jobs) sum += durations[job];
        ASSERT_EQ(sum, longest) << "its jobs follow each other without a gap";
        for (std::size_t i = 1; i < path.jobs.size(); ++i) {
            ASSERT_TRUE(std::ranges::count(graph.parents()[path.jobs[i]], path.jobs[i - 1]) > 0);
        }
    }
}

TEST(JobGraph, RandomEdgesAreRefusedExactlyIfSomeJobNeedsItself) {
    base::TestRandom random(23);
    for (int round = 0; round < 300; ++round) {
        auto jobs = random_jobs(random, 2 + random.below(8));
        for (std::uint64_t extra = random.below(3); extra > 0; --extra) {
            jobs[random.below(jobs.size())].depends_on.push_back(
                {"j" + std::to_string(random.below(jobs.size()))});
        }
        const JobGraph graph(jobs);
        bool any = false;
        for (std::uint32_t i = 0; i < jobs.size(); ++i) {
            const auto impact = graph.impact(i);
            any = any || std::ranges::binary_search(impact, i);
        }
        ASSERT_EQ(!graph.circles().empty(), any);
        ASSERT_EQ(graph.levels().empty(), any);
    }
}

}  // namespace
}  // namespace pollux::config
