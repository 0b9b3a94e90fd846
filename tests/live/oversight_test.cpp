// Who sees what of jobs, queues, workers and the trail: scopes hold for jobs, the trail comes in
// the order of time, and what went through the queues is known after a restart.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "tests/live/failing_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::ElementsAre;
using testing::IsEmpty;

class Oversight : public ApiStage {
  protected:
    Oversight() : fleet_(lab::FleetServer::start({.snmp = 0, .http = 2}).value()) {}

    std::string two_sites() const {
        return addon_settings("interval: {min: 2s, base: 2s, max: 2s}") + "devices:\n" +
               json_device(*fleet_, 0, "/as/json/status", "labels: {site: bonn}") +
               json_device(*fleet_, 1, "/as/json/status", "labels: {site: berlin}");
    }
    static std::vector<std::string> names(ApiClient& client) {
        std::vector<std::string> all;
        const Node page = client.get("/api/jobs").json();
        for (const Node& job : page.find("items")->items()) all.push_back(text_at(job, "name"));
        std::ranges::sort(all);
        return all;
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(Oversight, JobsOfAnotherSiteAreNeitherSeenNorSteered) {
    ASSERT_NO_FATAL_FAILURE(start(two_sites()));
    ApiClient root = admin();
    const ApiAnswer made = root.post(
        "/api/jobs",
        fmt::format(R"({{"name":"night","jobs":[)"
                    R"({{"name":"bonn","type":"poll","target":"{}","hold":true}},)"
                    R"({{"name":"berlin","type":"poll","target":"{}","hold":true}},)"
                    R"({{"name":"labelled","type":"maintenance","labels":{{"site":"berlin"}},)"
                    R"("hold":true,"depends_on":["bonn"]}},)"
                    R"({{"name":"plain","type":"maintenance","hold":true}}]}})",
                    web_key(1), web_key(2)));
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string bonn = made.at("ids.0");
    const std::string berlin = made.at("ids.1");
    const std::string labelled = made.at("ids.2");
    const std::string plain = made.at("ids.3");
    ApiClient there =
        client_with(new_user("berlin", R"([{"role":"operator","selector":"site=berlin"}])"));
    // A selector that fits what has no labels at all is no way around.
    ApiClient other =
        client_with(new_user("other", R"([{"role":"operator","selector":"site!=bonn"}])"));
    EXPECT_THAT(names(root), ElementsAre("berlin", "bonn", "labelled", "plain"));
    EXPECT_THAT(names(there), ElementsAre("berlin", "labelled"));
    EXPECT_THAT(names(other), ElementsAre("berlin", "labelled"));
    for (const char* part : {"", "/runs", "/impact"}) {
        for (const std::string& hidden : {bonn, plain}) {
            EXPECT_EQ(there.get("/api/jobs/" + hidden + part).status, 404) << hidden << part;
        }
        EXPECT_EQ(there.get("/api/jobs/" + berlin + part).status, 200) << part;
    }
    EXPECT_EQ(there.get("/api/job-batches/" + made.at("batch") + "/graph")
                  .json()
                  .find("jobs")
                  ->items()
                  .size(),
              2U);
    for (const char* step : {"release", "cancel", "retry", "hold"}) {
        EXPECT_EQ(there.post(fmt::format("/api/jobs/{}/{}", bonn, step)).status, 404) << step;
        EXPECT_EQ(there.post(fmt::format("/api/jobs/{}/{}", plain, step)).status, 404) << step;
    }
    EXPECT_EQ(root.get("/api/jobs/" + bonn).at("held"), "true") << "nothing was changed";
    const ApiAnswer cancelled = there.post("/api/jobs/" + labelled + "/cancel");
    EXPECT_EQ(cancelled.status, 200) << cancelled.body;
    // A viewer of a site sees its jobs and steers none.
    ApiClient viewer =
        client_with(new_user("viewer", R"([{"role":"viewer","selector":"site=berlin"}])"));
    EXPECT_EQ(viewer.get("/api/jobs/" + berlin).status, 200);
    EXPECT_EQ(viewer.post("/api/jobs/" + berlin + "/cancel").status, 403);
    EXPECT_EQ(there.post("/api/jobs", R"({"name":"x","jobs":[]})").status, 403)
        << "new jobs are for who may everywhere";
}

TEST_F(Oversight, ACascadeStopsAtTheBorderOfTheScope) {
    ASSERT_NO_FATAL_FAILURE(start(two_sites()));
    ApiClient root = admin();
    const ApiAnswer made = root.post(
        "/api/jobs",
        fmt::format(R"({{"name":"night","jobs":[)"
                    R"({{"name":"berlin","type":"poll","target":"{}","hold":true}},)"
                    R"({{"name":"bonn","type":"poll","target":"{}","depends_on":["berlin"]}}]}})",
                    web_key(2), web_key(1)));
    ASSERT_EQ(made.status, 201) << made.body;
    ApiClient there =
        client_with(new_user("berlin", R"([{"role":"operator","selector":"site=berlin"}])"));
    const std::string path = "/api/jobs/" + made.at("ids.0");
    EXPECT_THAT(there.get(path + "/impact").json().find("impact")->items(), IsEmpty());
    EXPECT_EQ(there.post(path + "/cancel?cascade=true").status, 403);
    EXPECT_EQ(root.get(path).at("state"), "pending");
    EXPECT_EQ(trail({"--result", "refused", "--action", "job.cancel"}).size(), 1U);
}

TEST_F(Oversight, WhoIsTurnedAwayIsInTheTrailUnderTheNamesOfWhatIsDone) {
    ASSERT_NO_FATAL_FAILURE(start(two_sites()));
    const std::string reset = "/api/monitoring/breakers/" + web_key(1) + "/reset";
    const auto refused = [&](const std::string& action, const std::string& principal) {
        std::vector<Node> found;
        EXPECT_TRUE(eventually([&] {
            found = trail({"--result", "refused", "--action", action, "--principal", principal});
            return !found.empty();
        })) << action;
        return found.empty() ? Node() : found.front();
    };
    ApiClient viewer = client_with(new_user("vera", R"([{"role":"viewer"}])"));
    EXPECT_EQ(viewer.ask("POST", reset, "", {"X-Request-Id: r-4711"}).status, 403);
    const Node told = refused("breaker.", "token:vera");
    EXPECT_EQ(text_at(told, "action"), "breaker.reset");
    EXPECT_EQ(text_at(told, "object"), web_key(1));
    EXPECT_EQ(text_at(told, "request_id"), "r-4711");
    EXPECT_EQ(text_at(told, "after"), "access.forbidden");
    EXPECT_EQ(viewer.post("/api/scheduler/trigger").status, 403);
    EXPECT_EQ(text_at(refused("scheduler.trigger", "token:vera"), "object"), "scheduler");

    // A page of somebody else makes the browser of root send this.
    ApiClient forged(server_->api_address(), {log_in("root", kAdminPassword).cookie});
    EXPECT_EQ(forged.post(reset).status, 403);
    const Node mine = refused("breaker.reset", "user:root");
    EXPECT_EQ(text_at(mine, "after"), "access.csrf");
    EXPECT_EQ(text_at(mine, "address"), "127.0.0.1");

    // Nobody knows who this is: counted, and written together.
    ApiClient nobody = stranger();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(nobody.post("/api/monitoring/dlq/retry").status, 401);
        EXPECT_EQ(nobody.get("/api/monitoring/dlq").status, 401) << "reading changes nothing";
    }
    EXPECT_EQ(server_->stop(), 0);
    const auto counted = trail({"--result", "refused", "--principal", "anonymous"});
    ASSERT_EQ(counted.size(), 1U);
    EXPECT_EQ(text_at(counted[0], "action"), "dlq.retry");
    EXPECT_EQ(text_at(counted[0], "after"), R"({"count":3})");
    EXPECT_EQ(text_at(counted[0], "reason"), "access.unauthenticated");
    EXPECT_EQ(text_at(counted[0], "address"), "127.0.0.0/24");
}

// Through a proxy, because a direct connection from this machine is free of them.
TEST_F(Oversight, ReadsOfTheConfigurationHaveTheLimitOfTheirClass) {
    ASSERT_NO_FATAL_FAILURE(start(two_sites()));
    ApiClient away(server_->api_address(),
                   {"X-API-Token: " + root_token_, "X-Forwarded-For: 192.0.2.7"});
    for (const char* path : {"/api/settings", "/api/settings/monitoring", "/api/devices",
                             "/api/devices/web-00001", "/api/targets", "/api/addons"}) {
        const ApiAnswer answer = away.get(path);
        EXPECT_EQ(answer.status, 200) << path;
        EXPECT_EQ(answer.header("x-ratelimit-limit"), "1000") << path;
    }
    for (const char* path : {"/api/monitoring/dlq", "/api/scheduler/plan", "/api/jobs"}) {
        EXPECT_EQ(away.get(path).header("x-ratelimit-limit"), "500") << path;
    }
}

TEST_F(Oversight, AManualCheckIsRecordedAndShowsTheReadySet) {
    ASSERT_NO_FATAL_FAILURE(start(two_sites()));
    ApiClient root = admin();
    ASSERT_TRUE(eventually([&] {
        return !root.get("/api/scheduler/ready").at("batches.0.starts").empty();
    })) << root.get("/api/scheduler/ready").body;
    const ApiAnswer looked = root.post("/api/scheduler/trigger", "", {"X-Request-Id: r-12"});
    ASSERT_EQ(looked.status, 200) << looked.body;
    EXPECT_FALSE(looked.at("time").empty());
    EXPECT_FALSE(looked.at("count").empty());
    EXPECT_FALSE(looked.at("batches.0.starts").empty()) << looked.body;
    const auto found = trail({"--action", "scheduler.trigger"});
    ASSERT_EQ(found.size(), 1U) << "it is answered after its record was committed";
    EXPECT_EQ(text_at(found[0], "principal"), "token:root");
    EXPECT_EQ(text_at(found[0], "result"), "allowed");
    EXPECT_EQ(text_at(found[0], "request_id"), "r-12");
    const ApiAnswer plan = root.get("/api/scheduler/plan?limit=1");
    EXPECT_EQ(plan.at("items.0.priority"), plan.at("items.0.tier")) << plan.body;
}

TEST_F(Oversight, TheTrailIsExportedInTheOrderOfTime) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    // More than one piece of the stream.
    std::string made = R"({"operations":[)";
    std::string gone = made;
    for (int i = 0; i < 300; ++i) {
        const char* comma = i == 0 ? "" : ",";
        made += fmt::format(R"({}{{"op":"create","key":"icmp-ping::d{}","device_spec":)"
                            R"({{"address":"127.0.0.1"}}}})",
                            comma, i);
        gone += fmt::format(R"({}{{"op":"delete","key":"icmp-ping::d{}"}})", comma, i);
    }
    ASSERT_EQ(root.post("/api/targets/bulk", made + "]}").status, 200);
    ASSERT_EQ(root.post("/api/targets/bulk", gone + "]}").status, 200);
    const auto numbers = [&](const std::string& target) {
        const ApiAnswer all = root.get(target);
        EXPECT_EQ(all.status, 200) << all.body;
        std::vector<std::int64_t> found;
        for (std::size_t at = 0; at < all.body.size();) {
            const std::size_t end = std::min(all.body.find('\n', at), all.body.size());
            document::Diagnostics diagnostics;
            const auto line = document::parse_json(std::string_view(all.body).substr(at, end - at),
                                                   "trail", diagnostics);
            found.push_back(std::stoll(text_at(line.root, "number")));
            at = end + 1;
        }
        return found;
    };
    const auto oldest_first = numbers("/api/audit/export");
    ASSERT_GT(oldest_first.size(), 600U);
    EXPECT_TRUE(std::ranges::is_sorted(oldest_first));
    EXPECT_EQ(oldest_first.front(), 1);
    auto newest_first = numbers("/api/audit/export?order=desc");
    EXPECT_TRUE(std::ranges::is_sorted(newest_first, std::greater<>()));
    EXPECT_GE(newest_first.size(), oldest_first.size());
    const auto some = numbers("/api/audit/export?order=asc&action=target.remove");
    EXPECT_TRUE(std::ranges::is_sorted(some));
    EXPECT_EQ(some.size(), 300U);
    EXPECT_EQ(root.get("/api/audit/export?order=up").status, 400);
}

TEST_F(Oversight, WorkersAndQueuesTellWhatWentOnAndQueuesRememberIt) {
    ASSERT_NO_FATAL_FAILURE(start(two_sites()));
    ApiClient root = admin();
    const auto queue = [](ApiClient& client) {
        const Node page = client.get("/api/queues").json();
        const Node* found = entry_with(*page.find("items"), "class", "http-json");
        return found == nullptr ? Node() : *found;
    };
    ASSERT_TRUE(eventually([&] {
        return std::stoll("0" + text_at(queue(root), "day.finished")) >= 4;
    })) << root.get("/api/queues").body;
    const Node before = queue(root);
    EXPECT_EQ(text_at(before, "tasks"), "2") << "also while they are polled";
    EXPECT_FALSE(text_at(before, "in_flight").empty());
    EXPECT_EQ(text_at(before, "day.success_ratio"), "1");
    EXPECT_GT(std::stod(text_at(before, "day.mean")), 0);
    EXPECT_GT(std::stod(text_at(before, "day.p95")), 0);
    EXPECT_GT(std::stod(text_at(before, "start_rate")), 0);

    ASSERT_TRUE(eventually([&] {
        const Node page = root.get("/api/workers").json();
        const Node* shard = entry_with(*page.find("items"), "name", "pollux-io-0");
        return shard != nullptr && text_at(*shard, "threads") == "1";
    })) << root.get("/api/workers").body;
    const Node page = root.get("/api/workers").json();
    EXPECT_GT(std::stoll(text_at(page, "process.resident_bytes")), 1 << 20);
    EXPECT_GE(std::stoll(text_at(page, "process.peak_resident_bytes")), 1 << 20);
    for (const char* name :
         {"pollux-io-0", "pollux-core", "pollux-store", "pollux-inbound", "pollux-job",
          "pollux-api", "pollux-history", "pollux-alerts", "pollux"}) {
        const Node* row = entry_with(*page.find("items"), "name", name);
        ASSERT_NE(row, nullptr) << name;
        EXPECT_EQ(text_at(*row, "status"), "ok") << name;
        EXPECT_FALSE(text_at(*row, "cpu_seconds").empty()) << name;
        EXPECT_FALSE(text_at(*row, "last_seen").empty()) << name;
    }
    // What their tables hold, of those that know.
    for (const char* kind : {"shard", "core", "alerts"}) {
        EXPECT_TRUE(eventually([&] {
            std::int64_t bytes = 0;
            const Node now = root.get("/api/workers").json();
            for (const Node& row : now.find("items")->items()) {
                if (text_at(row, "kind") == kind) {
                    bytes += std::stoll("0" + text_at(row, "memory_bytes"));
                }
            }
            return bytes > 0;
        })) << kind;
    }
    EXPECT_EQ(root.get("/api/health").at("status"), "ok") << root.get("/api/health").body;
    // The board is as of the last turn of the house.
    EXPECT_TRUE(eventually([&] {
        std::int64_t completed = 0;
        const Node now = root.get("/api/workers").json();
        for (const Node& row : now.find("items")->items()) {
            if (text_at(row, "kind") == "shard") completed += std::stoll(text_at(row, "completed"));
        }
        return completed >= 4;
    })) << root.get("/api/workers").body;

    const Node regions = root.get("/api/regions").json();
    const Node* local = entry_with(*regions.find("items"), "region", "");
    ASSERT_NE(local, nullptr) << root.get("/api/regions").body;
    EXPECT_GE(std::stoll(text_at(*local, "day.finished")), 4);
    EXPECT_EQ(local->find("slots"), nullptr) << "the server polls without a limit of its own";
    for (const char* path : {"/api/queues/history?class=http-json", "/api/regions/history",
                             "/api/workers/history?name=pollux-core"}) {
        const ApiAnswer day = root.get(path);
        EXPECT_EQ(day.status, 200) << path;
        EXPECT_EQ(text_at(day.json(), "step"), "300") << path;
    }
    EXPECT_EQ(root.get("/api/queues/history").status, 400) << "of which class?";

    const auto finished = std::stoll(text_at(before, "day.finished"));
    EXPECT_EQ(server_->stop(), 0);
    start_again();
    ApiClient again = admin();
    EXPECT_TRUE(eventually([&] {
        return std::stoll("0" + text_at(queue(again), "day.finished")) >= finished;
    })) << again.get("/api/queues").body;
}

}  // namespace
}  // namespace pollux::live
