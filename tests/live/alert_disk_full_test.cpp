// A device breaks while nothing can be written: people hear of it at once, marked as provisional,
// and it is written once when there is room again.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "document/parse.hpp"
#include "net/websocket_client.hpp"
#include "tests/live/alert_stage.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/small_disk.hpp"
#include "tests/live/state_copy.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::ElementsAre;

class AlertsOnAFullDisk : public ApiStage {
  protected:
    AlertsOnAFullDisk()
        : disk_(folder_.file("data")),
          fleet_(lab::FleetServer::start({.snmp = 0, .http = 2}).value()) {}
    ~AlertsOnAFullDisk() override { server_.reset(); }  // before its disk

    void begin() {
        std::string text = addon_settings("interval: {min: 2s, base: 2s, max: 2s}");
        text += fmt::format(
            "receivers:\n  ops: {{channels: [{{url: \"json://127.0.0.1:{}/hook\", per_minute: "
            "600}}]}}\nroutes:\n  all: {{receivers: [ops], group_wait: 0s, repeat: 0s}}\n"
            "devices:\n",
            receiver_.port());
        for (std::size_t i = 0; i < 2; ++i) text += json_device(*fleet_, i);
        ASSERT_NO_FATAL_FAILURE(start(text, {{"POLLUX_ALERTS_REVIEW", "false"}}));
        ASSERT_TRUE(server_->everyone_answers()) << server_->log();
        net::WebSocketTarget target;
        target.url = "http://" + server_->api_address() + "/ws";
        target.patience = kLong;
        target.headers.emplace_back("X-API-Token", root_token_);
        auto client = net::WebSocketClient::connect(target);
        ASSERT_TRUE(client) << client.error().message;
        events_ = std::move(*client);
        ASSERT_TRUE(events_->send(R"({"type":"subscribe","event_types":["alert_created"]})"));
    }
    // While it is awaited, whatever room comes free is taken.
    bool eventually_while_full(const std::function<bool()>& condition) {
        return eventually([&] {
            disk_.fill();
            return condition();
        });
    }
    std::vector<Told> told(std::size_t number) const {
        std::vector<Told> found;
        for (const net::Request& request : receiver_.requests()) {
            Told one = read_told(request);
            if (one.title.find(web(number)) != std::string::npos) found.push_back(std::move(one));
        }
        return found;
    }
    // Whether each event that said so far that an alert of the device was made is provisional.
    std::vector<bool> created(std::size_t number) {
        while (true) {
            const auto message = events_->receive(std::chrono::milliseconds(1));
            if (!message || !*message) break;
            document::Diagnostics diagnostics;
            seen_.push_back(document::parse_json(**message, "event", diagnostics).root);
        }
        std::vector<bool> found;
        for (const Node& node : seen_) {
            if (text_at(node, "type") != "alert_created") continue;
            if (text_at(node, "data.device_name") != web(number)) continue;
            found.push_back(text_at(node, "data.provisional") == "true");
        }
        return found;
    }
    // What the lists show of the device: id and whether it is provisional, of each alert and of
    // each open incident.
    std::vector<std::string> listed(const char* path, std::size_t number) const {
        ApiClient root = admin();
        const ApiAnswer page = root.get(path + std::string("?device_name=") + web(number));
        EXPECT_EQ(page.status, 200) << page.body;
        const Node body = page.json();
        std::vector<std::string> found;
        for (const Node& one : body.find("items")->items()) {
            found.push_back(text_at(one, "id") +
                            (text_at(one, "provisional") == "true" ? " provisional" : ""));
        }
        return found;
    }
    double failing() const { return server_->metrics().sum("pollux_store_failing"); }

    SmallDisk disk_;
    std::unique_ptr<lab::FleetServer> fleet_;
    net::test::HttpCatcher receiver_;
    std::unique_ptr<net::WebSocketClient> events_;
    std::vector<Node> seen_;
};

TEST_F(AlertsOnAFullDisk, AreToldProvisionallyAndWrittenOnceWhenThereIsRoom) {
    if (!disk_.mounted()) GTEST_SKIP() << "mounting is not permitted here";
    ASSERT_NO_FATAL_FAILURE(begin());
    // The other device makes the store try.
    ASSERT_TRUE(fleet_->set_fault(web(2), lab::FaultKind::kDown));
    ASSERT_TRUE(eventually_while_full([&] {
        return failing() == 1 && server_->metrics().sum("pollux_alerts_uncommitted") > 0;
    })) << server_->log();

    ASSERT_TRUE(fleet_->set_fault(web(1), lab::FaultKind::kDown));
    ASSERT_TRUE(eventually_while_full([&] { return !told(1).empty(); })) << server_->log();
    EXPECT_TRUE(eventually_while_full([&] { return !created(1).empty(); })) << server_->log();
    EXPECT_THAT(created(1), ElementsAre(true));
    ASSERT_EQ(told(1).size(), 1U);
    const Told first = told(1).front();
    EXPECT_EQ(first.kind, "problem");
    EXPECT_TRUE(first.provisional);
    EXPECT_FALSE(first.key.empty());
    EXPECT_EQ(failing(), 1) << server_->log();
    // The lists show it as well, once, and say that it is not stored.
    const std::vector<std::string> alerts = listed("/api/alerts", 1);
    ASSERT_EQ(alerts.size(), 1U);
    EXPECT_THAT(alerts[0], testing::EndsWith(" provisional"));
    const std::string alert = alerts[0].substr(0, alerts[0].find(' '));
    EXPECT_THAT(listed("/api/incidents", 1), ElementsAre(first.incident + " provisional"));
    EXPECT_EQ(admin().get("/api/incidents/" + first.incident).at("root_alert.id"), alert);
    EXPECT_EQ(admin().get("/api/alerts/" + alert).at("provisional"), "true");

    disk_.clear();
    ASSERT_TRUE(eventually([&] {
        return failing() == 0 && server_->metrics().sum("pollux_alerts_uncommitted") == 0;
    })) << server_->log();
    EXPECT_TRUE(eventually([&] { return created(1).size() > 1; })) << server_->log();
    const ApiAnswer page = admin().get("/api/notifications?incident=" + first.incident);
    EXPECT_EQ(page.at("items.0.id"), first.key) << page.body;
    EXPECT_EQ(page.at("items.1.id"), "") << page.body;
    EXPECT_THAT(listed("/api/alerts", 1), ElementsAre(alert));
    EXPECT_THAT(listed("/api/incidents", 1), ElementsAre(first.incident));

    // It ends as if nothing had been.
    ASSERT_TRUE(fleet_->clear_faults(web(1)));
    ASSERT_TRUE(eventually([&] { return told(1).size() > 1; })) << server_->log();
    EXPECT_EQ(server_->stop(), 0);
    EXPECT_THAT(created(1), ElementsAre(true, false));
    const std::vector<Told> all = told(1);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].kind, "recovery");
    EXPECT_EQ(all[1].incident, first.incident);
    EXPECT_NE(all[1].key, first.key);
    EXPECT_FALSE(all[1].provisional);

    const StateCopy state(server_->data());
    EXPECT_EQ(state.integrity(), "ok");
    const auto count = [&](const std::string& of) {
        return state.rows("SELECT count(*) FROM " + of);
    };
    EXPECT_THAT(count("alert WHERE device = '" + web(1) + "'"), ElementsAre("1"));
    EXPECT_THAT(count("incident WHERE id = '" + first.incident + "'"), ElementsAre("1"));
    EXPECT_THAT(count("notification WHERE id = '" + first.key + "'"), ElementsAre("1"));
    EXPECT_THAT(count("notification WHERE incident = '" + first.incident + "'"), ElementsAre("2"));
    // The next life tells nothing of it again.
    ASSERT_NO_FATAL_FAILURE(server_->start());
    ASSERT_TRUE(server_->everyone_answers());
    EXPECT_EQ(told(1).size(), 2U);
}

}  // namespace
}  // namespace pollux::live
