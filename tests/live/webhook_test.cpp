// Webhooks by curl, in the three forms that senders use, and what is refused: nothing of that is
// stored.
#include <gmock/gmock.h>

#include "tests/live/inbound_stage.hpp"

namespace pollux::live {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kAddon = R"(schema: pollux/1
name: {}
version: 1.0.0
title: Alarms
protocol: webhook
webhook:
  format: {}
  fields: {{state: "{}", sensor: "{}"}}
signals:
  - {{type: alarm, when: state == 'bad' or state == 'good', clear_when: state == 'good', severity: critical, title: "{{sensor}} is {{state}}"}}
)";

constexpr std::string_view kFleet = R"(
devices:
  door: {address: 127.0.0.1, addons: [as-json, as-form, as-xml]}
)";

class Webhook : public InboundStage {
  protected:
    Webhook() {
        add("as-json", "json", "$.state", "$.at.sensor");
        add("as-form", "form", "state", "sensor");
        add("as-xml", "xml", "//alarm/@state", "//alarm/sensor");
    }
    void add(const std::string& name, std::string_view format, std::string_view state,
             std::string_view sensor) {
        add_addon(name, fmt::format(kAddon, name, format, state, sensor));
    }
    std::string events(const std::string& key) {
        const CommandResult shown = server_->command({"messages", "--target", key});
        EXPECT_EQ(shown.code, 0) << shown.output;
        return shown.output;
    }
    double counted(const std::string& result) {
        return server_->metrics().sum("pollux_inbound_messages_total",
                                      {{"kind", "webhook"}, {"result", result}});
    }
    std::size_t stored() {
        const CommandResult shown = server_->command({"messages", "-o", "json", "--limit", "1000"});
        EXPECT_EQ(shown.code, 0) << shown.output;
        std::size_t count = 0;
        for (std::size_t at = shown.output.find("\"id\":"); at != std::string::npos;
             at = shown.output.find("\"id\":", at + 1)) {
            ++count;
        }
        return count;
    }
};

TEST_F(Webhook, BodiesInJsonFormAndXmlAreStoredAndShown) {
    ASSERT_NO_FATAL_FAILURE(start(std::string(kFleet)));
    const std::string json = url("hook", "as-json::door");
    const std::string form = url("hook", "as-form::door");
    const std::string xml = url("hook", "as-xml::door");
    EXPECT_THAT(curl(json, {"-H", "Content-Type: application/json", "-d",
                            R"x({"state": "bad", "at": {"sensor": "lock \u00e9"}})x"}),
                EndsWith(" 200"));
    EXPECT_THAT(curl(form, {"-d", "state=bad", "--data-urlencode", "sensor=disk C: 99%"}),
                EndsWith(" 200"));
    EXPECT_THAT(curl(xml, {"-H", "Content-Type: text/xml", "-d",
                           "<?xml version=\"1.0\"?><all><alarm state='bad'><sensor>a &amp; "
                           "b</sensor></alarm></all>"}),
                EndsWith(" 200"));
    EXPECT_THAT(events("as-json::door"), HasSubstr("alarm critical: lock \xc3\xa9 is bad"));
    EXPECT_THAT(events("as-form::door"), HasSubstr("alarm critical: disk C: 99% is bad"));
    EXPECT_THAT(events("as-xml::door"), HasSubstr("alarm critical: a & b is bad"));
    EXPECT_THAT(events("as-xml::door"), HasSubstr("127.0.0.1"));
    for (const char* key : {"as-json::door", "as-form::door", "as-xml::door"}) {
        EXPECT_THAT(server_->command({"explain", key}).output, HasSubstr("raised     alarm"));
        EXPECT_EQ(lines_with(server_->lines(), "signal raised", key).size(), 1U);
    }
    EXPECT_EQ(counted("stored"), 3);
    // The token may also stand in a header, and a form may come in pieces.
    EXPECT_THAT(curl(json.substr(0, json.rfind('/')),
                     {"-H", "Authorization: Bearer " + json.substr(json.rfind('/') + 1), "-d",
                      R"x({"state": "good"})x"}),
                EndsWith(" 200"));
    EXPECT_THAT(curl(form, {"-d", "state=good", "-d", "sensor=x", "-d", "more=%zz"}),
                EndsWith(" 200"));
    EXPECT_THAT(curl(xml, {"-d", "<alarm state='good'/>"}), EndsWith(" 200"));
    EXPECT_EQ(stored(), 6U);
    for (const char* key : {"as-json::door", "as-form::door", "as-xml::door"}) {
        EXPECT_TRUE(eventually([&] {
            return lines_with(server_->lines(), "signal cleared", key).size() == 1;
        })) << server_->log();
    }
}

TEST_F(Webhook, WhatIsRefusedIsNotStored) {
    ASSERT_NO_FATAL_FAILURE(start(std::string(kFleet), {{"POLLUX_INBOUND_BODY_KB", "4"}}));
    const std::string json = url("hook", "as-json::door");
    const std::string base = json.substr(0, json.rfind('/'));
    const std::string root = base.substr(0, base.rfind('/'));
    // One letter of the token is wrong, or there is none: nobody learns whether it came close.
    std::string wrong = json;
    wrong.back() = wrong.back() == 'a' ? 'b' : 'a';
    for (const std::string& to : {wrong, json + "x", json.substr(0, json.size() - 1), base,
                                  base + "/", base + "/%00", base + "/../push"}) {
        EXPECT_THAT(curl(to, {"-d", R"x({"state": "bad"})x", "--path-as-is"}), EndsWith(" 404"))
            << to;
    }
    EXPECT_THAT(curl(base, {"-H", "Authorization: Bearer wrong", "-d", "{}"}), EndsWith(" 404"));
    // A token is good for its own kind only.
    EXPECT_THAT(curl(root + "/push/" + json.substr(json.rfind('/') + 1)), EndsWith(" 404"));
    EXPECT_THAT(curl(root + "/"), EndsWith(" 404"));
    const std::string elsewhere = curl(root + "/admin", {"-d", "{}"});
    EXPECT_THAT(elsewhere, EndsWith(" 404"));
    EXPECT_THAT(elsewhere, HasSubstr("/hooks/TOKEN")) << "it says what there is";
    EXPECT_THAT(curl(json), EndsWith(" 405"));
    EXPECT_THAT(curl(json, {"-X", "DELETE"}), EndsWith(" 405"));

    const std::string large = folder_.write(
        "large.json", R"x({"state": "bad", "text": ")x" + std::string(5000, 'x') + "\"}");
    EXPECT_THAT(curl(json, {"--data-binary", "@" + large}), EndsWith(" 413"));
    EXPECT_THAT(curl(json, {"--data-binary", "@" + large, "-H", "Transfer-Encoding: chunked"}),
                EndsWith(" 413"))
        << "a length that nobody told";
    EXPECT_THAT(curl(json, {"-d", "{\"state\": "}), EndsWith(" 400"));
    EXPECT_THAT(curl(json, {"-d", ""}), EndsWith(" 400"));
    EXPECT_THAT(curl(url("hook", "as-xml::door"), {"-d", "<alarm state='bad'>"}), EndsWith(" 400"));
    EXPECT_THAT(curl(url("hook", "as-xml::door"),
                     {"-d",
                      "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><alarm "
                      "state='bad'><sensor>&e;</sensor></alarm>"}),
                Not(HasSubstr("root:")));
    EXPECT_THAT(server_->command({"messages"}).output, Not(HasSubstr("root:")));

    const std::size_t before = stored();
    EXPECT_EQ(static_cast<double>(before), counted("stored"));
    EXPECT_LE(before, 1U) << "at most the one with the entity, as text";
    EXPECT_GE(counted("refused"), 8);
    EXPECT_TRUE(lines_with(server_->lines(), "signal raised", "as-json::door").empty());
    EXPECT_THAT(curl(json, {"-d", R"x({"state": "bad"})x"}), EndsWith(" 200"));
    EXPECT_EQ(stored(), before + 1) << "the right one is still heard";
}

}  // namespace
}  // namespace pollux::live
