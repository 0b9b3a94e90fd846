// What people see of a running fleet: the table, the overview, runs, the scheduler over time,
// costs, policies and settings tried out, with devices that are well, gone, and behind those.
#include <gmock/gmock.h>

#include <map>

#include "tests/live/failing_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kBerlin = R"([{"role":"viewer","selector":"site=berlin"}])";

class Insight : public ApiStage {
  protected:
    // Two that answer, one that is gone, one behind it, one that is disabled, one that is heard.
    void begin() {
        std::string text = addon_settings("interval: {min: 2s, base: 2s, max: 4s}") + "devices:\n";
        text += json_device(*lab_, 0, "/as/json/status", "labels: {site: berlin}");
        text += json_device(*lab_, 1, "/as/json/status", "labels: {site: bonn}");
        text += nobody("gone", "labels: {site: bonn}");
        text += nobody("behind", "labels: {site: bonn}, parents: [gone]");
        text += nobody("parked", "labels: {site: bonn}, enabled: false");
        text += "  job: {address: 127.0.0.1, labels: {site: berlin}, addons: [push]}\n";
        text += "groups:\n  rhine: {match: {site: bonn}}\n  spree: {match: {site: berlin}}\n";
        ASSERT_NO_FATAL_FAILURE(start(
            text,
            {{"POLLUX_INBOUND_LISTEN", fmt::format("127.0.0.1:{}", net::test::free_port())}}));
        ASSERT_TRUE(eventually([&] {
            const auto states = column("state");
            return states.contains("http-json::behind") &&
                   states.at("http-json::behind") == "unreachable" &&
                   states.at(web_key(1)) == "up" && states.at(web_key(2)) == "up" &&
                   column("severity").at("http-json::gone") != "";
        })) << admin().get("/api/fleet").body;
    }
    static std::string nobody(const std::string& name, const std::string& extra) {
        return fmt::format(
            "  {}: {{address: 127.0.0.1, port: {}, {}, addons: [{{name: http-json, params: "
            "{{path: /, value_path: $.x}}}}]}}\n",
            name, net::test::free_port(), extra);
    }
    // Values of a column by key; "null" for those that are not known.
    static std::map<std::string, std::string> column_of(const Node& page, const std::string& name) {
        std::map<std::string, std::string> out;
        const Node* columns = page.find("columns");
        if (columns == nullptr || columns->find(name) == nullptr) return out;
        const auto& keys = columns->find("key")->items();
        const auto& values = columns->find(name)->items();
        EXPECT_EQ(keys.size(), values.size()) << name;
        for (std::size_t i = 0; i < std::min(keys.size(), values.size()); ++i) {
            out[keys[i].scalar()] = values[i].is_null() ? "null" : values[i].scalar();
        }
        return out;
    }
    std::map<std::string, std::string> column(const std::string& name) {
        return column_of(admin().get("/api/fleet").json(), name);
    }

    std::unique_ptr<lab::FleetServer> lab_ =
        lab::FleetServer::start({.snmp = 0, .http = 2}).value();
};

TEST_F(Insight, TheTableShowsEveryTargetAsItIs) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    const ApiAnswer answer = root.get("/api/fleet");
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Node page = answer.json();
    EXPECT_EQ(answer.at("count"), "6");
    const auto states = column_of(page, "state");
    EXPECT_EQ(states.at("http-json::gone"), "down");
    EXPECT_EQ(states.at("http-json::parked"), "disabled");
    EXPECT_EQ(states.at("push::job"), "unknown") << "no heartbeat yet";
    EXPECT_EQ(column_of(page, "device").at("push::job"), "job");
    EXPECT_THAT(column_of(page, "problem").at("http-json::gone"), HasSubstr("refused"));
    EXPECT_EQ(column_of(page, "problem").at(web_key(1)), "");
    EXPECT_EQ(column_of(page, "interval").at(web_key(1)), "2");
    EXPECT_EQ(column_of(page, "tier").at(web_key(1)), "normal");
    EXPECT_NE(column_of(page, "last_success_ms").at(web_key(1)), "null");
    EXPECT_EQ(column_of(page, "last_success_ms").at("http-json::gone"), "null");
    EXPECT_NE(column_of(page, "since_ms").at("http-json::gone"), "null");
    EXPECT_EQ(column_of(page, "severity").at(web_key(1)), "");
    EXPECT_EQ(column_of(page, "alerts").at("http-json::gone"), "1");
    EXPECT_EQ(column_of(page, "alerts").at("http-json::behind"), "0") << "it is held back";
    EXPECT_GT(std::stod(column_of(page, "duration").at(web_key(1))), 0);
    const auto& keys = page.find("columns")->find("key")->items();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const Node& headline = page.find("columns")->find("headline")->items()[i];
        const Node& parents = page.find("columns")->find("parents")->items()[i];
        if (keys[i].scalar() == web_key(1)) {
            ASSERT_FALSE(headline.items().empty()) << answer.body;
            EXPECT_GT(std::stod(text_at(headline.items()[0], "value")), 0);
        }
        EXPECT_EQ(parents.items().empty(), keys[i].scalar() != "http-json::behind");
    }
    // What happens afterwards is told from there on.
    const std::string seq = answer.at("seq");
    EXPECT_EQ(root.get("/api/events?after=" + seq).status, 200);
    EXPECT_GE(std::stoull(root.get("/api/fleet").at("seq")), std::stoull(seq));
}

TEST_F(Insight, WhoHasTheTableAsksForWhatChanged) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    const std::string since = "/api/fleet?since=" + root.get("/api/fleet").at("version");
    const ApiAnswer little = root.get(since);
    ASSERT_EQ(little.status, 200) << little.body;
    EXPECT_EQ(little.at("partial"), "true");
    const auto quiet = column_of(little.json(), "state");
    EXPECT_FALSE(quiet.contains("http-json::parked")) << little.body;
    EXPECT_FALSE(quiet.contains("push::job")) << little.body;
    EXPECT_EQ(root.post("/api/targets/" + web_key(1) + "/disable", "{}").status, 200);
    EXPECT_TRUE(eventually([&] {
        const auto states = column_of(root.get(since).json(), "state");
        return states.contains(web_key(1)) && states.at(web_key(1)) == "disabled";
    })) << root.get(since).body;

    ApiClient vera = client_with(new_user("vera", kBerlin));
    EXPECT_EQ(vera.get(since).at("partial"), "false") << "a version of somebody who sees more";
    EXPECT_EQ(vera.get(since).at("count"), "2");

    const std::string some = "/api/fleet?target=" + web_key(1) + "&target=" + web_key(2);
    EXPECT_EQ(root.get(some).at("count"), "2");
    EXPECT_EQ(root.get(some).at("partial"), "true");
    EXPECT_EQ(root.get(some).at("version"), "");
    EXPECT_EQ(vera.get(some).at("count"), "1");
    EXPECT_EQ(root.get(some + "&since=1.1.1").status, 400);
}

TEST_F(Insight, WhoSeesAPartGetsThatPartOnly) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient vera = client_with(new_user("vera", kBerlin));
    const ApiAnswer fleet = vera.get("/api/fleet");
    ASSERT_EQ(fleet.status, 200) << fleet.body;
    EXPECT_EQ(fleet.at("count"), "2");
    EXPECT_THAT(fleet.body, Not(AnyOf(HasSubstr("bonn"), HasSubstr("rhine"), HasSubstr("gone"))));
    std::vector<std::string> keys;
    for (const auto& [key, state] : column_of(fleet.json(), "state")) keys.push_back(key);
    EXPECT_THAT(keys, UnorderedElementsAre(web_key(1), "push::job"));
    const ApiAnswer overview = vera.get("/api/overview");
    EXPECT_EQ(overview.at("counts.down"), "0") << overview.body;
    EXPECT_EQ(overview.at("counts.up"), "1");
    EXPECT_EQ(overview.at("incidents.open"), "0");
    EXPECT_EQ(overview.at("alerts.open"), "0");
    EXPECT_EQ(overview.at("rates.success_ratio"), "1");
    EXPECT_THAT(overview.body, Not(HasSubstr("gone")));
    EXPECT_EQ(vera.get("/api/targets/" + web_key(1) + "/runs").status, 200);
    EXPECT_EQ(vera.get("/api/targets/" + web_key(2) + "/runs").status, 404);
    const ApiAnswer costs = vera.get("/api/scheduler/costs");
    EXPECT_EQ(costs.at("items.0.key"), web_key(1)) << costs.body;
    EXPECT_EQ(costs.at("items.0.share"), "1");
    EXPECT_EQ(costs.at("items.1.key"), "");
    EXPECT_EQ(vera.get("/api/scheduler/costs?device=gone").at("items.0.key"), "");
    EXPECT_EQ(vera.get("/api/scheduler/costs?key=" + web_key(2)).at("items.0.key"), "");
    EXPECT_EQ(vera.get("/api/scheduler/costs?key=" + web_key(1)).at("items.0.key"), web_key(1));
    EXPECT_EQ(vera.get("/api/scheduler/policies").at("items.0.classes.0.tasks"), "1");
    EXPECT_EQ(vera.post("/api/settings/monitoring/preview", "{}").status, 403);
}

TEST_F(Insight, TheOverviewSaysWhatNeedsSomebody) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    ASSERT_TRUE(eventually([&] { return root.get("/api/overview").at("incidents.open") == "1"; }))
        << root.get("/api/overview").body;
    const ApiAnswer page = root.get("/api/overview");
    EXPECT_EQ(page.at("counts.up"), "2") << page.body;
    EXPECT_EQ(page.at("counts.down"), "1");
    EXPECT_EQ(page.at("counts.unreachable"), "1");
    EXPECT_EQ(page.at("counts.disabled"), "1");
    EXPECT_EQ(page.at("counts.unknown"), "1");
    EXPECT_EQ(page.at("alerts.open"), "1");
    EXPECT_GT(std::stod(page.at("rates.polls_per_second")), 0);
    EXPECT_LT(std::stod(page.at("rates.success_ratio")), 1);
    EXPECT_LT(std::stod(page.at("freshness.median_age")), 60);
    const Node json = page.json();
    const Node* incident = entry_with(*json.find("attention"), "kind", "incident");
    ASSERT_NE(incident, nullptr) << page.body;
    EXPECT_THAT(text_at(*incident, "why"), HasSubstr("gone"));
    EXPECT_NE(entry_with(*json.find("attention"), "kind", "review"), nullptr);
    const std::string id = text_at(*incident, "key");
    ASSERT_EQ(root.post("/api/incidents/" + id + "/acknowledge", "{}").status, 200);
    ASSERT_TRUE(
        eventually([&] { return root.get("/api/overview").at("incidents.acknowledged") == "1"; }));
    const Node after = root.get("/api/overview").json();
    EXPECT_EQ(entry_with(*after.find("attention"), "kind", "incident"), nullptr)
        << "somebody has it";
    EXPECT_EQ(column("acknowledged").at("http-json::gone"), "true");
}

TEST_F(Insight, RunsHistoryAndCostsTellWhatWentOn) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    const std::string runs = "/api/targets/" + web_key(1) + "/runs";
    ASSERT_TRUE(
        eventually([&] { return root.get(runs).json().find("items")->items().size() > 2; }));
    const ApiAnswer good = root.get(runs + "?limit=2");
    EXPECT_EQ(good.json().find("items")->items().size(), 2U);
    EXPECT_EQ(good.at("items.0.task"), web_key(1));
    EXPECT_EQ(good.at("items.0.outcome"), "ok") << good.body;
    EXPECT_EQ(good.at("items.0.trigger"), "due");
    EXPECT_EQ(good.at("items.0.requests"), "1");
    EXPECT_GT(std::stoi(good.at("items.0.bytes")), 0);
    EXPECT_FALSE(node_at(good.json(), "items.0.phases")->items().empty()) << good.body;
    EXPECT_GT(good.at("items.0.started"), good.at("items.1.started")) << "newest first";
    const ApiAnswer bad = root.get("/api/targets/http-json::gone/runs");
    EXPECT_EQ(bad.at("items.0.outcome"), "transient") << bad.body;
    EXPECT_THAT(bad.at("items.0.code"), HasSubstr("http."));
    EXPECT_THAT(bad.at("items.0.error"), HasSubstr("refused"));
    EXPECT_THAT(bad.at("items.0.trigger"), AnyOf("poke", "confirm", "probe", "due"));
    EXPECT_EQ(root.get("/api/targets/push::job/runs").json().find("items")->items().size(), 0U);
    EXPECT_EQ(root.get(runs + "?limit=51").status, 400);
    EXPECT_EQ(root.get("/api/targets/http-json::nobody/runs").status, 404);

    for (const auto& [span, step] : {std::pair("15m", "5"), {"6h", "60"}, {"24h", "300"}}) {
        const ApiAnswer past = root.get(fmt::format("/api/scheduler/history?span={}", span));
        ASSERT_EQ(past.status, 200) << past.body;
        EXPECT_EQ(past.at("step"), step);
        std::uint64_t started = 0;
        std::uint64_t failed = 0;
        const Node json = past.json();
        const auto& points = json.find("points")->items();
        ASSERT_EQ(points.size(), json.find("lag_counts")->items().size());
        for (const Node& point : points) {
            started += std::stoull(text_at(point, "started"));
            failed += std::stoull(text_at(point, "failed"));
        }
        EXPECT_GT(started, failed);
        EXPECT_GT(failed, 0U) << past.body;
    }
    EXPECT_EQ(root.get("/api/scheduler/history?span=1y").status, 400);

    const ApiAnswer costs = root.get("/api/scheduler/costs");
    EXPECT_GT(std::stod(costs.at("total_busy")), 0) << costs.body;
    const Node list = costs.json();
    EXPECT_GT(std::stoi(text_at(*entry_with(*list.find("items"), "key", web_key(1)), "runs")), 2);
    EXPECT_GT(
        std::stoi(text_at(*entry_with(*list.find("items"), "key", "http-json::gone"), "failures")),
        0);
}

TEST_F(Insight, CostsOfOneTargetAreFoundHoweverManyTakeMore) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    const std::string costs = "/api/scheduler/costs";
    ASSERT_TRUE(eventually([&] {
        return root.get(costs + "?key=http-json::gone").at("items.0.runs") != "";
    })) << root.get(costs).body;
    for (const std::string& key : {web_key(1), web_key(2), std::string("http-json::gone")}) {
        const ApiAnswer one = root.get(fmt::format("{}?key={}&limit=1", costs, key));
        EXPECT_EQ(one.at("items.0.key"), key) << one.body;
        EXPECT_LT(std::stod(one.at("items.0.share")), 1) << "of all, not of what is asked for";
        EXPECT_GT(std::stod(one.at("total_busy")), std::stod(one.at("items.0.busy")));
    }
    const ApiAnswer device = root.get(fmt::format("{}?device={}", costs, web(2)));
    EXPECT_EQ(device.at("items.0.key"), web_key(2)) << device.body;
    EXPECT_EQ(device.at("items.0.device"), web(2));
    EXPECT_EQ(device.at("items.1.key"), "");
    for (const char* nothing : {"key=http-json::nobody", "key=push::job", "device=nobody"}) {
        const ApiAnswer empty = root.get(fmt::format("{}?{}", costs, nothing));
        EXPECT_EQ(empty.status, 200) << nothing;
        EXPECT_EQ(empty.json().find("items")->items().size(), 0U) << nothing;
    }
    EXPECT_EQ(root.get(fmt::format("{}?device=gone&key={}", costs, web_key(1))).at("items.0.key"),
              "");
}

TEST_F(Insight, WhatWouldBeIsWorkedOutAndNothingIsChanged) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient root = admin();
    const ApiAnswer policies = root.get("/api/scheduler/policies");
    ASSERT_EQ(policies.status, 200) << policies.body;
    const Node json = policies.json();
    ASSERT_EQ(json.find("items")->items().size(), 3U);
    const Node* fixed = entry_with(*json.find("items"), "policy", "fixed");
    ASSERT_NE(fixed, nullptr);
    EXPECT_EQ(text_at(*fixed, "classes.0.class"), "http-json");
    EXPECT_EQ(text_at(*fixed, "classes.0.tasks"), "4") << "one is disabled, one is not polled";
    const ApiAnswer before = root.get("/api/settings/monitoring");
    const ApiAnswer trial = root.post(
        "/api/settings/monitoring/preview",
        R"({"adaptive_polling_enabled":true,"adaptive_policy":"classic","reason":"just looking"})");
    ASSERT_EQ(trial.status, 200) << trial.body;
    EXPECT_EQ(trial.at("valid"), "true") << trial.body;
    EXPECT_GT(std::stod(trial.at("now.polls_per_second")), 0);
    EXPECT_NE(trial.at("then.mean_interval"), trial.at("now.mean_interval")) << trial.body;
    EXPECT_GT(std::stoi(trial.at("targets_changed")), 0) << trial.body;
    const ApiAnswer wrong =
        root.post("/api/settings/monitoring/preview", R"({"global_rate":"many","nonsense":1})");
    EXPECT_EQ(wrong.status, 200);
    EXPECT_EQ(wrong.at("valid"), "false") << wrong.body;
    EXPECT_EQ(wrong.at("errors.0.pointer"), "/global_rate");
    EXPECT_EQ(wrong.at("errors.1.pointer"), "/nonsense");
    EXPECT_EQ(root.get("/api/settings/monitoring").body, before.body) << "nothing is changed";
}

}  // namespace
}  // namespace pollux::live
