// Alerts from outside: a device that breaks is an alert for everybody who may see it, over the API,
// the live events, the command line, the metrics, and in a real Alertmanager.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "document/parse.hpp"
#include "lab/fleet_server.hpp"
#include "net/websocket_client.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/test_alertmanager.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::HasSubstr;
using testing::Not;

class AlertsApi : public ApiStage {
  protected:
    void begin(Environment environment = {}) {
        fleet_ = lab::FleetServer::start({.snmp = 0, .http = 2}).value();
        std::string text = addon_settings("interval: {min: 2s, base: 2s, max: 2s}") + "devices:\n";
        text += json_device(*fleet_, 0, "/as/json/status", "labels: {site: berlin}");
        text += json_device(*fleet_, 1, "/as/json/status", "labels: {site: hamburg}");
        ASSERT_NO_FATAL_FAILURE(start(text, std::move(environment)));
        ASSERT_TRUE(server_->everyone_answers());
    }
    void break_first(bool broken) {
        if (broken) {
            ASSERT_TRUE(fleet_->set_fault("web-00001", lab::FaultKind::kDown));
        } else {
            ASSERT_TRUE(fleet_->clear_faults("web-00001"));
        }
    }
    // The id of the open alert of the device that breaks.
    std::string wait_for_alert() {
        ApiClient root = admin();
        std::string id;
        EXPECT_TRUE(eventually([&] {
            const ApiAnswer list =
                root.get("/api/alerts?status=active&device_name=web-00001&source=health");
            id = list.at("items.0.id");
            return !id.empty();
        })) << root.get("/api/alerts").body
            << server_->log();
        return id;
    }
    CommandResult pollux(std::vector<std::string> arguments) const {
        return run_pollux(folder_, std::move(arguments),
                          {{"POLLUX_URL", "http://" + server_->api_address()},
                           {"POLLUX_TOKEN", root_token_},
                           {"NO_COLOR", "1"}});
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(AlertsApi, ADeviceThatBreaksIsAnAlertUntilItRecovers) {
    ASSERT_NO_FATAL_FAILURE(begin());
    net::WebSocketTarget target;
    target.url = "http://" + server_->api_address() + "/ws";
    target.patience = kLong;
    target.headers.emplace_back("X-API-Token", root_token_);
    auto follower = net::WebSocketClient::connect(target);
    ASSERT_TRUE(follower);
    ASSERT_TRUE((*follower)->send(
        R"({"type":"subscribe","event_types":["alert_created","alert_updated","alert_resolved",)"
        R"("incident_changed"],"targets":[]})"));
    std::vector<Node> events;
    const auto saw = [&](const std::string& type) {
        return eventually([&] {
            const auto message = (*follower)->receive(std::chrono::milliseconds(200));
            if (message && *message) {
                document::Diagnostics diagnostics;
                events.push_back(document::parse_json(**message, "event", diagnostics).root);
            }
            return std::ranges::any_of(
                events, [&](const Node& one) { return text_at(one, "type") == type; });
        });
    };
    ASSERT_NO_FATAL_FAILURE(break_first(true));
    const std::string id = wait_for_alert();
    ASSERT_FALSE(id.empty());
    EXPECT_TRUE(saw("alert_created"));
    EXPECT_TRUE(saw("incident_changed"));

    ApiClient root = admin();
    const ApiAnswer one = root.get("/api/alerts/" + id);
    EXPECT_EQ(one.status, 200) << one.body;
    EXPECT_EQ(one.at("device_name"), "web-00001");
    EXPECT_EQ(one.at("labels.site"), "berlin");
    EXPECT_FALSE(one.at("timeline.0.kind").empty()) << one.body;
    const std::string incident = one.at("incident");
    ASSERT_FALSE(incident.empty()) << one.body;
    EXPECT_EQ(root.get("/api/incidents/" + incident).at("root_alert.id"), id);
    EXPECT_EQ(root.get("/api/alerts/stats").at("total_active"), "1");
    EXPECT_EQ(server_->metrics().sum("pulse_alerts_active"), 1);

    // Another site does not see it.
    ApiClient hamburg =
        client_with(new_user("hanna", R"([{"role":"operator","selector":"site=hamburg"}])"));
    EXPECT_EQ(hamburg.get("/api/alerts/" + id).status, 404);
    EXPECT_THAT(hamburg.get("/api/alerts").body, Not(HasSubstr(id)));
    EXPECT_THAT(hamburg.get("/api/incidents").body, Not(HasSubstr(incident)));
    EXPECT_EQ(hamburg.post("/api/alerts/" + id + "/acknowledge").status, 404);
    EXPECT_EQ(hamburg.get("/api/alerts/stats").at("total_open"), "0");
    ApiClient viewer =
        client_with(new_user("berta", R"([{"role":"viewer","selector":"site=berlin"}])"));
    EXPECT_EQ(viewer.get("/api/alerts/" + id).status, 200);
    EXPECT_EQ(viewer.post("/api/alerts/" + id + "/acknowledge").status, 403);

    const ApiAnswer taken =
        root.post("/api/alerts/" + id + "/acknowledge", R"({"note":"on my way","for":"2h"})");
    EXPECT_EQ(taken.status, 200) << taken.body;
    EXPECT_EQ(taken.at("status"), "acknowledged");
    EXPECT_EQ(taken.at("acknowledged_by"), "token:root");
    EXPECT_EQ(root.post("/api/alerts/" + id + "/acknowledge").status, 409) << "twice";
    // Who was turned away stands in the trail under the same name.
    std::map<std::string, std::vector<std::string>> reasons;  // by result
    for (const auto& record : trail({"--action", "alert.acknowledge"})) {
        reasons[text_at(record, "result")].push_back(text_at(record, "reason"));
    }
    EXPECT_THAT(reasons["allowed"], testing::ElementsAre("on my way"));
    EXPECT_FALSE(reasons["refused"].empty());

    ASSERT_NO_FATAL_FAILURE(break_first(false));
    EXPECT_TRUE(eventually([&] {
        return root.get("/api/alerts/" + id).at("status") == "resolved";
    })) << root.get("/api/alerts/" + id).body;
    EXPECT_EQ(root.get("/api/alerts/" + id).at("resolved_by"), "recovery");
    EXPECT_TRUE(saw("alert_resolved"));
    EXPECT_EQ(root.post("/api/alerts/" + id + "/resolve").status, 409);
    EXPECT_EQ(root.ask("DELETE", "/api/alerts/" + id).status, 204);
    EXPECT_EQ(root.get("/api/alerts/" + id).status, 404);
}

TEST_F(AlertsApi, TheCommandsSayTheSame) {
    ASSERT_NO_FATAL_FAILURE(begin());
    EXPECT_THAT(pollux({"alerts", "ls"}).output, HasSubstr("no alerts"));
    ASSERT_NO_FATAL_FAILURE(break_first(true));
    const std::string id = wait_for_alert();
    EXPECT_THAT(pollux({"alerts", "ls"}).output, HasSubstr(id));
    EXPECT_THAT(pollux({"alerts", "ls", "-l", "site=hamburg"}).output, HasSubstr("no alerts"));
    const auto shown = pollux({"alerts", "show", id});
    EXPECT_EQ(shown.code, 0) << shown.output;
    EXPECT_THAT(shown.output, HasSubstr("TIMELINE"));
    const auto taken = pollux({"alerts", "ack", id, "--note", "mine"});
    EXPECT_EQ(taken.code, 0) << taken.output;
    EXPECT_THAT(taken.output, HasSubstr("acknowledged"));
    EXPECT_EQ(pollux({"alerts", "ack", id, "nonsense"}).code, 1) << "not all was done";
    EXPECT_EQ(pollux({"alerts", "unack", id}).code, 0);
    EXPECT_EQ(pollux({"alerts", "show", "nonsense"}).code, 1);
    ApiClient root = admin();
    const std::string incident = root.get("/api/alerts/" + id).at("incident");
    EXPECT_THAT(pollux({"incidents", "ls"}).output, HasSubstr(incident));
    EXPECT_EQ(pollux({"incidents", "note", incident, "vendor called"}).code, 0);
    const auto tree = pollux({"incidents", "show", incident});
    EXPECT_THAT(tree.output, HasSubstr("vendor called"));
    EXPECT_THAT(tree.output, HasSubstr("http-json::web-00001"));
    const auto silenced = pollux(
        {"silence", "add", "site=berlin", "--for", "2h", "--reason", "work", "--name", "s1"});
    EXPECT_EQ(silenced.code, 0) << silenced.output;
    EXPECT_THAT(pollux({"silence", "ls"}).output, HasSubstr("work"));
    EXPECT_EQ(pollux({"silence", "expire", "s1"}).code, 0);
    EXPECT_THAT(pollux({"silence", "ls"}).output, HasSubstr("no silences"));
    EXPECT_EQ(pollux({"silence", "expire", "s1"}).code, 1) << "it is over";
    const auto route = pollux({"route", "test", "site=berlin", "severity=critical"});
    EXPECT_EQ(route.code, 0) << route.output;
    EXPECT_EQ(pollux({"receiver", "test", "nobody"}).code, 1);
    EXPECT_EQ(pollux({"notifications", "ls"}).code, 0);
    EXPECT_EQ(pollux({"alerts", "resolve", id}).code, 0);
}

TEST_F(AlertsApi, ARealAlertmanagerIsKeptTold) {
    Alertmanager peer;
    ASSERT_NO_FATAL_FAILURE(
        begin({{"POLLUX_ALERTMANAGER_URLS", peer.url()}, {"POLLUX_ALERTS_REVIEW", "false"}}));
    ASSERT_NO_FATAL_FAILURE(break_first(true));
    wait_for_alert();
    const auto told = [&] { return amtool(peer.url(), {"alert", "query", "-o", "json"}).output; };
    EXPECT_TRUE(eventually([&] { return told().find("web-00001") != std::string::npos; }))
        << told() << server_->log();
    EXPECT_THAT(told(), HasSubstr(R"("site":"berlin")"));
    ASSERT_NO_FATAL_FAILURE(break_first(false));
    EXPECT_TRUE(eventually([&] { return told().find("web-00001") == std::string::npos; }))
        << told();
}

}  // namespace
}  // namespace pollux::live
