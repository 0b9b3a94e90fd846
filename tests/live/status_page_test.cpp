// The public status page from outside: who may read it, what is in it, and that its figures outlive
// the process.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lab/fleet_server.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::HasSubstr;
using testing::Not;

class PublicStatus : public ApiStage {
  protected:
    void begin() {
        fleet_ = lab::FleetServer::start({.snmp = 0, .http = 2}).value();
        std::string text = addon_settings("interval: {min: 1s, base: 1s, max: 1s}");
        text += "groups:\n  berlin: {match: {site: berlin}}\n  bonn: {match: {site: bonn}}\n";
        text += "devices:\n";
        text += json_device(*fleet_, 0, "/as/json/status", "labels: {site: berlin}");
        text += json_device(*fleet_, 1, "/as/json/status", "labels: {site: bonn}");
        ASSERT_NO_FATAL_FAILURE(start(text));
        ASSERT_TRUE(server_->everyone_answers());
    }
    void set(const std::string& settings) {
        const CommandResult done = run_pollux(
            folder_, {"settings", "set", settings},
            {{"POLLUX_URL", "http://" + server_->api_address()}, {"POLLUX_TOKEN", root_token_}});
        ASSERT_EQ(done.code, 0) << done.output;
    }
    // A group of the page as it is now.
    Node group(const std::string& name) {
        ApiClient nobody = stranger();
        const ApiAnswer page = nobody.get("/api/status-page");
        EXPECT_EQ(page.status, 200) << page.body;
        const Node root = page.json();
        const Node* found = entry_with(*root.find("groups"), "name", name);
        return found == nullptr ? Node::map() : *found;
    }
    bool becomes(const std::string& name, const std::string& state) {
        return eventually([&] { return text_at(group(name), "state") == state; });
    }
    static double number(const std::string& text) {
        return text.empty() || text == "null" ? -1 : std::stod(text);
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(PublicStatus, IsThereOnlyWhileItIsSwitchedOn) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ApiClient nobody = stranger();
    EXPECT_EQ(nobody.get("/api/status-page").status, 404);
    EXPECT_EQ(nobody.get("/api/status-page/badge/all").status, 404);
    EXPECT_EQ(nobody.get("/api/welcome").at("status_page"), "false");
    ASSERT_NO_FATAL_FAILURE(set("status_page=true"));
    ASSERT_NO_FATAL_FAILURE(set("status_page_title=Häuser & Co"));
    EXPECT_EQ(nobody.get("/api/welcome").at("status_page"), "true");
    ASSERT_TRUE(becomes("berlin", "up")) << nobody.get("/api/status-page").body;
    const ApiAnswer page = nobody.get("/api/status-page");
    EXPECT_EQ(page.at("title"), "Häuser & Co");
    EXPECT_EQ(page.at("groups.0.days.89.uptime"), "1") << page.body;
    EXPECT_EQ(page.at("groups.0.members"), "1");
    EXPECT_THAT(page.header("cache-control"), HasSubstr("max-age"));
    EXPECT_THAT(page.body, Not(HasSubstr("web-0000")));
    EXPECT_THAT(page.body, Not(HasSubstr("127.0.0.1")));
    const ApiAnswer badge = nobody.get("/api/status-page/badge/berlin");
    EXPECT_EQ(badge.header("content-type"), "image/svg+xml");
    EXPECT_THAT(badge.body, HasSubstr("berlin: up 100.00 %"));
    EXPECT_THAT(nobody.get("/api/status-page/badge/all").body, HasSubstr("Häuser &amp; Co"));
    EXPECT_EQ(nobody.get("/api/status-page/badge/%3Cscript%3E").status, 404);

    ASSERT_NO_FATAL_FAILURE(set("status_page_groups=bonn"));
    EXPECT_THAT(nobody.get("/api/status-page").body, Not(HasSubstr("berlin")));
    EXPECT_EQ(nobody.get("/api/status-page/badge/berlin").status, 404);
    ASSERT_NO_FATAL_FAILURE(set("status_page=false"));
    EXPECT_EQ(nobody.get("/api/status-page").status, 404);
}

TEST_F(PublicStatus, ShowsWhatBrokeAndWhatPeopleWroteAndKeepsItOverADeath) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(set("status_page=true"));
    ASSERT_TRUE(becomes("berlin", "up"));
    ASSERT_TRUE(fleet_->set_fault("web-00001", lab::FaultKind::kDown));
    ASSERT_TRUE(becomes("berlin", "down"));
    EXPECT_EQ(text_at(group("bonn"), "state"), "up");
    EXPECT_EQ(stranger().get("/api/status-page").at("state"), "degraded");

    ApiClient root = admin();
    std::string incident;
    ASSERT_TRUE(eventually([&] {
        incident = root.get("/api/incidents").at("items.0.id");
        return !incident.empty();
    }));
    const auto note = [&](const std::string& body) {
        const ApiAnswer answer = root.post("/api/incidents/" + incident + "/notes", body);
        EXPECT_EQ(answer.status, 200) << answer.body;
    };
    note(R"({"note":"the key is under the mat"})");
    EXPECT_EQ(
        root.post("/api/incidents/" + incident + "/notes", R"({"note":"x","public":1})").status,
        422);
    const CommandResult told = run_pollux(
        folder_, {"incidents", "note", incident, "We are on it.", "--public"},
        {{"POLLUX_URL", "http://" + server_->api_address()}, {"POLLUX_TOKEN", root_token_}});
    ASSERT_EQ(told.code, 0) << told.output;
    const ApiAnswer trail = root.get("/api/audit?action=incident.note");
    EXPECT_EQ(trail.at("items.0.after"), R"({"public":true})") << trail.body;
    EXPECT_EQ(trail.at("items.1.after"), "") << trail.body;
    ASSERT_TRUE(eventually(
        [&] { return !stranger().get("/api/status-page").at("incidents.0.title").empty(); }));

    // Written down now and then; what happened since is in the transitions.
    ASSERT_NO_FATAL_FAILURE(server_->kill());
    ASSERT_NO_FATAL_FAILURE(start_again());
    ASSERT_TRUE(becomes("berlin", "down"));
    const ApiAnswer page = stranger().get("/api/status-page");
    EXPECT_EQ(page.at("incidents.0.title"), "Disruption in berlin");
    EXPECT_EQ(page.at("incidents.0.state"), "open");
    EXPECT_EQ(page.at("incidents.0.notes.0.text"), "We are on it.");
    for (const char* secret : {"mat", "web-0000", "127.0.0.1", "root", "http-json"}) {
        EXPECT_THAT(page.body, Not(HasSubstr(secret)));
    }
    ASSERT_TRUE(fleet_->clear_faults("web-00001"));
    ASSERT_TRUE(becomes("berlin", "up"));
    const Node berlin = group("berlin");
    const double uptime = number(text_at(berlin, "uptime_90d"));
    EXPECT_GT(uptime, 0);
    EXPECT_LT(uptime, 1);
    EXPECT_GT(number(text_at(berlin, "days.89.down_seconds")), 0);
    EXPECT_EQ(text_at(group("bonn"), "days.89.down_seconds"), "0");

    // The same of a single target, for who may see it.
    ApiClient viewer =
        client_with(new_user("berta", R"([{"role":"viewer","selector":"site=berlin"}])"));
    const ApiAnswer of = viewer.get("/api/targets/http-json::web-00001/uptime");
    EXPECT_EQ(of.status, 200) << of.body;
    EXPECT_LT(number(of.at("uptime_24h")), 1);
    EXPECT_LT(number(of.at("uptime_90d")), 1);
    EXPECT_EQ(viewer.get("/api/targets/http-json::web-00002/uptime").status, 404);
    EXPECT_EQ(stranger().get("/api/targets/http-json::web-00001/uptime").status, 401);
}

}  // namespace
}  // namespace pollux::live
