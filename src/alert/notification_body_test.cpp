#include "alert/notification_body.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"

namespace pollux::alert {
namespace {

using ::testing::HasSubstr;

model::Alert alert(std::string id) {
    model::Alert result;
    result.id = std::move(id);
    result.device = "web";
    result.labels = {{"site", "berlin"}};
    result.fields = {{"rtt", "120"}};
    return result;
}

document::Node parsed(const std::string& json) {
    document::Diagnostics diagnostics;
    auto result = document::parse_json(json, "body", diagnostics);
    EXPECT_TRUE(result.ok) << diagnostics.text() << json;
    return result.root;
}

TEST(NotificationBody, HoldsWhatTemplatesSee) {
    NotificationBody body;
    body.kind = model::NotificationKind::kProblem;
    body.receiver = "ops";
    body.external_url = "https://monitor.example.org";
    body.incident.id = "i-1";
    body.incident.title = "web is down";
    body.alerts = {alert("a"), alert("b")};
    body.alerts[1].labels["site"] = "munich";
    const document::Node node = parsed(to_json(body));
    EXPECT_EQ(node.find("version")->scalar(), "1");
    EXPECT_EQ(node.find("incident")->find("url")->scalar(),
              "https://monitor.example.org/incidents/i-1");
    EXPECT_EQ(node.find("incident")->find("resolved_at"), nullptr);
    EXPECT_EQ(node.find("alerts")->items()[0].find("fields")->find("rtt")->scalar(), "120");
    EXPECT_EQ(node.find("alerts")->items()[0].find("labels")->find("site")->scalar(), "berlin");
    EXPECT_EQ(node.find("commonLabels")->find("site"), nullptr) << "they differ in it";
    EXPECT_EQ(node.find("commonLabels")->find("device")->scalar(), "web");
}

TEST(NotificationBody, IsBoundedAndCountsWhatItLeavesOut) {
    NotificationBody body;
    for (int i = 0; i < 100; ++i) body.alerts.push_back(alert(std::to_string(i)));
    body.more = 7;
    body.alerts[0].message = std::string(100'000, 'x');
    const std::string json = to_json(body);
    const document::Node node = parsed(json);
    EXPECT_EQ(node.find("alerts")->items().size(), kMostAlertsInBody);
    EXPECT_EQ(node.find("more")->scalar(), "87");
    EXPECT_LT(json.size(), 50'000U);
}

TEST(NotificationBody, HostileNamesStayJson) {
    NotificationBody body;
    body.incident.title = "\"},{\"a\":\"\r\n<b>\xff\xfe\x01";
    body.alerts = {alert("a")};
    body.alerts[0].fields = {{"\"\n", "\\"}, {"x\xff", "y"}};
    // A character that the limit would cut in two.
    body.alerts[0].message = std::string(kMostTextInBody - 1, 'x') + "\xC3\xA4";
    const document::Node node = parsed(to_json(body));
    EXPECT_THAT(node.find("incident")->find("title")->scalar(), HasSubstr("\"},{\"a\":\"\r\n<b>"));
    EXPECT_EQ(node.find("alerts")->items()[0].find("message")->scalar(),
              std::string(kMostTextInBody - 1, 'x') + "\xE2\x80\xA6");
}

}  // namespace
}  // namespace pollux::alert
