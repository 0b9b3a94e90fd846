// Debian's amtool against our own server: what operators of Alertmanager type works here.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/live/api_stage.hpp"
#include "tests/live/test_alertmanager.hpp"

namespace pollux::live {
namespace {

using testing::HasSubstr;
using testing::Not;

class Amtool : public ApiStage {
  protected:
    std::string url() const { return "http://" + server_->api_address(); }
    static std::string bearer(const std::string& token) {
        return fmt::format("authorization: {{type: Bearer, credentials: {}}}\n", token);
    }
    AmtoolAnswer ask(std::vector<std::string> words) const {
        words.insert(words.begin(), "--no-version-check");
        return amtool(url(), std::move(words), bearer(root_token_));
    }
};

TEST_F(Amtool, AddsAndFindsAlerts) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    const auto added = ask({"alert", "add", "alertname=Backup", "device=nas", "severity=critical",
                            "site=berlin", "--annotation=summary=no backup"});
    ASSERT_EQ(added.exit_code, 0) << added.output;
    AmtoolAnswer found;
    ASSERT_TRUE(eventually([&] {
        found = ask({"alert", "query", "-o", "json", "alertname=Backup"});
        return found.output.find("Backup") != std::string::npos;
    })) << found.output;
    EXPECT_EQ(found.exit_code, 0);
    EXPECT_THAT(found.output, HasSubstr(R"("severity":"critical")"));
    EXPECT_THAT(found.output, HasSubstr(R"("summary":"no backup")"));
    EXPECT_THAT(ask({"alert", "query", "site=~ber.*", "severity=critical"}).output,
                HasSubstr("Backup"));
    EXPECT_THAT(ask({"alert", "query", "site!=berlin"}).output, Not(HasSubstr("Backup")));
    // The same one over our own API, as an alert of another system.
    ApiClient root = admin();
    const ApiAnswer list = root.get("/api/alerts?source=external");
    EXPECT_EQ(list.at("items.0.alert_type"), "Backup") << list.body;
    EXPECT_EQ(list.at("items.0.severity"), "critical");
    // Who posts it again with an end ends it.
    const auto ended =
        ask({"alert", "add", "alertname=Backup", "device=nas", "severity=critical", "site=berlin",
             "--end=2020-01-02T03:04:05Z", "--start=2020-01-01T03:04:05Z"});
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    EXPECT_TRUE(eventually([&] {
        return root.get("/api/alerts?source=external").at("items.0.status") == "resolved";
    })) << root.get("/api/alerts").body;
    EXPECT_THAT(ask({"alert", "query"}).output, Not(HasSubstr("Backup")));
}

TEST_F(Amtool, MakesFindsAndEndsSilences) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ASSERT_EQ(ask({"alert", "add", "alertname=Disk", "device=nas"}).exit_code, 0);
    const auto made = ask({"silence", "add", "device=nas", "alertname=~D.*", "--author=eve",
                           "--comment=new disks", "--duration=2h"});
    ASSERT_EQ(made.exit_code, 0) << made.output;
    const std::string id = made.output.substr(0, made.output.find('\n'));
    const auto listed = ask({"silence", "query", "-o", "json"});
    EXPECT_EQ(listed.exit_code, 0) << listed.output;
    EXPECT_THAT(listed.output, HasSubstr(id));
    EXPECT_THAT(listed.output, HasSubstr("new disks"));
    EXPECT_THAT(listed.output, HasSubstr(R"("state":"active")"));
    EXPECT_THAT(ask({"silence", "query", "device=other"}).output, Not(HasSubstr(id)));
    // A silenced alert is shown with the silence, and not among those that need somebody.
    EXPECT_TRUE(eventually([&] {
        return ask({"alert", "query", "--silenced", "-o", "json"}).output.find(id) !=
               std::string::npos;
    })) << ask({"alert", "query", "--silenced", "-o", "json"}).output;
    EXPECT_THAT(ask({"alert", "query"}).output, Not(HasSubstr("Disk")));
    const auto ended = ask({"silence", "expire", id});
    EXPECT_EQ(ended.exit_code, 0) << ended.output;
    EXPECT_THAT(ask({"silence", "query"}).output, Not(HasSubstr("new disks")));
    EXPECT_THAT(ask({"alert", "query"}).output, HasSubstr("Disk"));
    EXPECT_NE(ask({"silence", "expire", "nonsense"}).exit_code, 0);
    // Both are in the trail, with who and why.
    const auto records = trail({"--action", "silence.create"});
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(text_at(records[0], "reason"), "new disks");
    EXPECT_EQ(trail({"--action", "silence.expire"}).size(), 1U);
}

TEST_F(Amtool, IsKnownByTokenOrByNameAndToken) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    const auto with = [&](const std::string& configuration) {
        return amtool(url(), {"--no-version-check", "alert", "query"}, configuration);
    };
    EXPECT_EQ(with(bearer(root_token_)).exit_code, 0);
    const auto basic = [](const std::string& name, const std::string& password) {
        return fmt::format("basic_auth: {{username: {}, password: {}}}\n", name, password);
    };
    EXPECT_EQ(with(basic("root", root_token_)).exit_code, 0)
        << with(basic("root", root_token_)).output;
    EXPECT_NE(with(basic("eve", root_token_)).exit_code, 0);
    EXPECT_NE(with(basic("root", kAdminPassword)).exit_code, 0);
    EXPECT_NE(with("").exit_code, 0);
    // A viewer sees, and adds nothing.
    const std::string viewer = new_user("vera", R"([{"role":"viewer"}])");
    EXPECT_EQ(with(bearer(viewer)).exit_code, 0);
    EXPECT_NE(amtool(url(), {"--no-version-check", "alert", "add", "alertname=X"}, bearer(viewer))
                  .exit_code,
              0);
    const std::string part = new_user("otto", R"([{"role":"operator","selector":"site=berlin"}])");
    const auto add = [&](const std::string& site) {
        return amtool(url(), {"--no-version-check", "alert", "add", "alertname=X", "site=" + site},
                      bearer(part))
            .exit_code;
    };
    EXPECT_EQ(add("berlin"), 0);
    EXPECT_NE(add("rome"), 0);
    const auto silence = [&](const std::string& matcher) {
        return amtool(url(),
                      {"--no-version-check", "silence", "add", matcher, "--comment=work",
                       "--author=otto"},
                      bearer(part))
            .exit_code;
    };
    EXPECT_EQ(silence("site=berlin"), 0);
    EXPECT_NE(silence("alertname=X"), 0) << "it would reach further than he does";
}

}  // namespace
}  // namespace pollux::live
