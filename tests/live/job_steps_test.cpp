// What people may do with a job, state by state: a table of every state and every step, asked over
// HTTP. What is refused changes nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/live/api_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;

// A state of a job that a test can bring about.
struct Situation {
    const char* name;
    const char* state;  // as the API says it
    bool held;
    const char* job;  // fields beside its name; OTHER is the name of the job before it
    // Answers to the steps.
    int cancel;
    int retry;
    int hold;
    int release;
};

// A job "first" stands before each: held, so that who needs it is blocked; or it has the only lab.
constexpr const char* kHeldFirst = R"("type":"maintenance","hold":true)";
constexpr const char* kBusyFirst =
    R"("type":"exec","resources":{"lab":1},"arguments":{"argv":["wait"]})";

constexpr Situation kSituations[] = {
    {"waits for its next attempt", "pending", false,
     R"("type":"exec","retry":{"attempts":2,"backoff":"1h"},"arguments":{"argv":["bad"]})", 200,
     409, 200, 409},
    {"is held", "pending", true, R"("type":"maintenance","hold":true)", 200, 409, 409, 200},
    {"is blocked", "blocked", false, R"("type":"maintenance","depends_on":["first"])", 200, 409,
     200, 409},
    {"is ready", "ready", false,
     R"("type":"exec","resources":{"lab":1},"arguments":{"argv":["good"]})", 200, 409, 200, 409},
    {"runs", "running", false, R"("type":"exec","arguments":{"argv":["wait"]})", 200, 409, 409,
     409},
    {"has completed", "completed", false, R"("type":"exec","arguments":{"argv":["good"]})", 409,
     409, 409, 409},
    {"has failed", "failed", false,
     R"("type":"exec","retry":{"attempts":1},"arguments":{"argv":["bad"]})", 409, 200, 409, 409},
    {"was cancelled", "cancelled", false, R"("type":"maintenance","hold":true)", 409, 200, 409,
     409},
};

class JobSteps : public ApiStage {
  protected:
    void begin() {
        for (const auto& [name, text] : {std::pair{"good", "exit 0"}, std::pair{"bad", "exit 3"},
                                         std::pair{"wait", "exec sleep 3600"}}) {
            const std::string path = folder_.write(fmt::format("plugins/{}", name),
                                                   fmt::format("#!/bin/sh\n{}\n", text));
            std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        }
        ASSERT_NO_FATAL_FAILURE(start("resources: {lab: 1}\ndevices: {}\n",
                                      {{"POLLUX_PLUGIN_FOLDERS", folder_.file("plugins")}}));
    }
    static std::string state(const ApiAnswer& job) {
        return job.at("state") + (job.at("held") == "true" ? " (held)" : "");
    }
    std::size_t runs_of(const std::string& path) {
        ApiClient root = admin();
        const Node page = root.get(path + "/runs").json();
        return page.find("items")->items().size();
    }
    // Whether the job came to be in this state.
    bool comes_to(const std::string& path, const std::string& wanted) {
        ApiClient root = admin();
        return eventually([&] { return state(root.get(path)) == wanted; });
    }
    // A new job in the situation, as "/api/jobs/<id>"; `first` is the path of the one before it.
    std::string make(const Situation& situation, std::string& first) {
        ApiClient root = admin();
        const bool ready = std::string(situation.state) == "ready";
        const ApiAnswer made =
            root.post("/api/jobs", fmt::format(R"({{"name":"two","jobs":[{{"name":"first",{}}}]}})",
                                               ready ? kBusyFirst : kHeldFirst));
        EXPECT_EQ(made.status, 201) << made.body;
        first = "/api/jobs/" + made.at("ids.0");
        if (ready) {
            EXPECT_TRUE(comes_to(first, "running")) << root.get(first).body;
        }
        std::string job = situation.job;
        const std::size_t name = job.find("\"first\"");
        if (name != std::string::npos) job.replace(name, 7, "\"" + made.at("ids.0") + "\"");
        const ApiAnswer second = root.post(
            "/api/jobs", fmt::format(R"({{"name":"it","jobs":[{{"name":"it",{}}}]}})", job));
        EXPECT_EQ(second.status, 201) << second.body;
        std::string path = "/api/jobs/" + second.at("ids.0");
        if (std::string(situation.state) == "cancelled") {
            EXPECT_EQ(root.post(path + "/cancel").status, 200);
        }
        const std::string wanted = std::string(situation.state) + (situation.held ? " (held)" : "");
        // A first attempt is over before the job waits for its second.
        const bool again = std::string(situation.job).find("backoff") != std::string::npos;
        EXPECT_TRUE(comes_to(path, wanted)) << root.get(path).body;
        // The core knows the end a moment before the row that has its time is written.
        if (wanted == "completed" || wanted == "failed" || wanted == "cancelled") {
            EXPECT_TRUE(eventually([&] { return !root.get(path).at("ended_at").empty(); }));
        }
        if (again) {
            EXPECT_TRUE(eventually([&] {
                return root.get(path).at("attempts") == "1" && state(root.get(path)) == wanted;
            })) << root.get(path).body;
        }
        return path;
    }
};

TEST_F(JobSteps, AreAllowedOrRefusedByTheStateAndARefusalChangesNothing) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    for (const Situation& situation : kSituations) {
        const std::pair<const char*, int> steps[] = {{"cancel", situation.cancel},
                                                     {"retry", situation.retry},
                                                     {"hold", situation.hold},
                                                     {"release", situation.release}};
        for (const auto& [step, status] : steps) {
            SCOPED_TRACE(fmt::format("{} a job that {}", step, situation.name));
            std::string first;
            const std::string path = make(situation, first);
            const ApiAnswer before = root.get(path);
            const std::size_t runs = runs_of(path);
            const ApiAnswer answer = root.post(path + "/" + step, R"({"reason":"a test"})");
            EXPECT_EQ(answer.status, status) << answer.body;
            const ApiAnswer after = root.get(path);
            const std::string what = step;
            if (status == 409) {
                EXPECT_EQ(answer.at("code"), "job.transition");
                EXPECT_THAT(answer.at("detail"), testing::HasSubstr("nothing was changed"));
                EXPECT_EQ(state(after), state(before));
                for (const char* field : {"attempts", "ended_at", "failure"}) {
                    EXPECT_EQ(after.at(field), before.at(field)) << field;
                }
            } else if (what == "cancel") {
                EXPECT_TRUE(comes_to(path, "cancelled")) << root.get(path).body;
            } else if (what == "hold") {
                EXPECT_EQ(state(after), "pending (held)") << after.body;
            } else if (what == "release") {
                EXPECT_EQ(after.at("held"), "false") << after.body;
            } else {
                EXPECT_TRUE(eventually([&] { return runs_of(path) > runs; })) << after.body;
            }
            // So that programs and the lab are free again.
            root.post(path + "/cancel");
            root.post(first + "/cancel");
            EXPECT_TRUE(eventually([&] {
                return root.get("/api/jobs?state=running").json().find("items")->items().empty();
            }));
        }
    }
    EXPECT_GT(trail({"--action", "job.cancel"}).size(), 0U);
}

// A manifest of one's own asks what it likes with the credentials of a device, and may name
// passwords.
TEST_F(JobSteps, OnlyWhoMayChangeAddonsTriesAManifestOfTheirOwn) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient olga = client_with(new_user("olga", R"([{"role":"operator"}])"));
    const std::string manifest =
        R"(schema: pollux/1\nname: door\nversion: 1.0.0\ntitle: Door\ndescription: Open.\n)"
        R"(protocol: http\ninterval: 60s\nhttp:\n  endpoints:\n    - {name: a, path: '/?k=s3cret'}\n)"
        R"(metrics:\n  - {name: open, type: gauge, help: Open., path: $.open}\n)";
    const std::string body =
        fmt::format(R"({{"jobs":[{{"name":"it","type":"trial","device":"hall","hold":true,)"
                    R"("arguments":{{"manifest":"{}"}}}}]}})",
                    manifest);
    ApiClient root = admin();
    EXPECT_EQ(
        root.post("/api/targets", R"({"addon":"tcp-port","device":"hall","device_spec":{"address":)"
                                  R"("127.0.0.1"},"spec":{"port":9,"enabled":false}})")
            .status,
        201);
    const ApiAnswer refused = olga.post("/api/jobs", body);
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(olga.post("/api/jobs", R"({"jobs":[{"name":"it","type":"maintenance","hold":true}]})")
                  .status,
              201);
    const ApiAnswer taken = root.post("/api/jobs", body);
    EXPECT_EQ(taken.status, 201) << taken.body;
    const ApiAnswer shown = olga.get("/api/jobs/" + taken.at("ids.0"));
    EXPECT_EQ(shown.status, 200);
    EXPECT_THAT(shown.body, testing::Not(testing::HasSubstr("s3cret")));
}

}  // namespace
}  // namespace pollux::live
