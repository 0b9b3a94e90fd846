#include "api/alert_pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"

namespace pollux::api {
namespace {

using document::Node;
using testing::HasSubstr;
using testing::Not;

constexpr base::WallTime kNow{1'700'000'000'000'000};

model::Alert alert() {
    model::Alert one;
    one.id = "a1";
    one.type = "unreachable";
    one.device = "core-1";
    one.address = "192.0.2.1";
    one.title = "say \"no\"\n";
    one.rule = "three failures";
    one.fields = {{"rtt", "12"}};
    one.labels = {{"site", "berlin"}};
    one.state = model::AlertState::kAcknowledged;
    one.incident = "i1";
    one.acknowledged = model::Acknowledgement{"user:eve", "on it", kNow, {}, false};
    one.first_seen = one.last_seen = kNow;
    one.memory = "secret of the engine";
    return one;
}

Node parsed(const std::string& text) {
    document::Diagnostics diagnostics;
    const auto result = document::parse_json(text, "page", diagnostics);
    EXPECT_TRUE(result.ok) << text;
    return result.root;
}

TEST(AlertPages, AnAlertHasTheNamesPeopleKnow) {
    std::string text;
    document::JsonWriter json(text);
    write_alert(json, alert(), true);
    const Node node = parsed(text);
    EXPECT_EQ(node.find("alert_type")->scalar(), "unreachable");
    EXPECT_EQ(node.find("device_name")->scalar(), "core-1");
    EXPECT_EQ(node.find("device_ip")->scalar(), "192.0.2.1");
    EXPECT_EQ(node.find("status")->scalar(), "acknowledged");
    EXPECT_EQ(node.find("title")->scalar(), "say \"no\"\n");
    EXPECT_EQ(node.find("acknowledged_by")->scalar(), "user:eve");
    EXPECT_EQ(node.find("acknowledged_until"), nullptr);
    EXPECT_EQ(node.find("acknowledged_sticky")->scalar(), "false");
    EXPECT_EQ(node.find("provisional")->scalar(), "true");
    EXPECT_EQ(node.find("resolved_at"), nullptr);
    EXPECT_THAT(text, Not(HasSubstr("secret of the engine")));
}

TEST(AlertPages, OneAlertComesWithItsStory) {
    AlertStory story;
    story.incident = model::Incident{};
    story.incident->id = "i1";
    model::AlertEvent step;
    step.number = 7;
    step.alert = "a1";
    step.by = "user:eve";
    story.timeline = {step};
    model::Notification told;
    told.receiver = "ops";
    told.body = R"({"x":1})";
    story.notifications = {told};
    EXPECT_EQ(parsed(alert_page(alert(), story)).find("flap_percent"), nullptr);
    story.standing = {.flap_percent = 14.25, .silenced_by = {"s1"}};
    const Node node = parsed(alert_page(alert(), story));
    EXPECT_EQ(node.find("flap_percent")->scalar(), "14.25");
    EXPECT_EQ(node.find("silenced_by")->items().at(0).scalar(), "s1");
    EXPECT_EQ(node.find("evidence")->find("rule")->scalar(), "three failures");
    EXPECT_EQ(node.find("evidence")->find("fields")->find("rtt")->scalar(), "12");
    EXPECT_EQ(node.find("incident_summary")->find("id")->scalar(), "i1");
    EXPECT_EQ(node.find("timeline")->items().at(0).find("by")->scalar(), "user:eve");
    const Node& notification = node.find("notifications")->items().at(0);
    EXPECT_EQ(notification.find("receiver")->scalar(), "ops");
    EXPECT_EQ(notification.find("body"), nullptr) << "what was said is in its own page";
}

TEST(AlertPages, AnIncidentIsATree) {
    model::Incident incident;
    incident.id = "i1";
    incident.root = "a1";
    IncidentStory story;
    story.alerts = {alert(), alert()};
    story.alerts[1].id = "a2";
    const Node node = parsed(incident_page(incident, story));
    EXPECT_EQ(node.find("root_alert")->find("id")->scalar(), "a1");
    ASSERT_EQ(node.find("affected_alerts")->items().size(), 1U);
    EXPECT_EQ(node.find("affected_alerts")->items()[0].find("id")->scalar(), "a2");
    EXPECT_EQ(node.find("status")->scalar(), "open");
    incident.root.clear();
    EXPECT_EQ(parsed(incident_page(incident, story)).find("root_alert"), nullptr);
}

TEST(AlertPages, StatsCountWhatIsOpenAndEverythingByStatus) {
    using enum model::AlertState;
    using enum model::Severity;
    const Node node = parsed(alert_stats_page({{kActive, kCritical, "ping", 2},
                                               {kAcknowledged, kCritical, "http", 1},
                                               {kSuppressed, kWarning, "ping", 4},
                                               {kResolved, kInfo, "ping", 100}},
                                              false, true));
    EXPECT_EQ(node.find("review")->scalar(), "true");
    EXPECT_EQ(node.find("total_active")->scalar(), "2");
    EXPECT_EQ(node.find("total_open")->scalar(), "7");
    EXPECT_EQ(node.find("by_severity")->find("critical")->scalar(), "3");
    EXPECT_EQ(node.find("by_severity")->find("info"), nullptr);
    EXPECT_EQ(node.find("by_status")->find("resolved")->scalar(), "100");
    EXPECT_EQ(node.find("by_addon")->find("ping")->scalar(), "6");
}

TEST(AlertPages, AChannelWorksUnlessItFailedSince) {
    const auto works = [](base::WallTime worked, base::WallTime failed) {
        std::string text;
        document::JsonWriter json(text);
        write_channel(json, {"ops", "mail", worked, failed, "no route"});
        return parsed(text).find("works")->scalar();
    };
    EXPECT_EQ(works({}, {}), "false") << "never tried";
    EXPECT_EQ(works(kNow, {}), "true");
    EXPECT_EQ(works(kNow, kNow + std::chrono::seconds(1)), "false");
    EXPECT_EQ(works(kNow + std::chrono::seconds(1), kNow), "true");
}

}  // namespace
}  // namespace pollux::api
