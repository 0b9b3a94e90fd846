// Receivers, routes and silences in fleet files: what is read, what is refused and with which
// words.
#include "config/notify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/channel_url.hpp"
#include "config/config_test_support.hpp"
#include "config/fleet_export.hpp"
#include "config/objects.hpp"

namespace pollux::config {
namespace {

using ::testing::AllOf;
using testing::complaints;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read;
using namespace std::chrono_literals;

constexpr const char* kGood = R"(
credentials:
  ntfy: {token: "${NTFY_TOKEN}"}
receivers:
  ops:
    channels:
      - name: mail
        to: [ops@example.org, lead@example.org]
      - url: ntfys://{secret}@ntfy.example.org/pollux
        credentials: ntfy
        per_minute: 5
      - argv: [/usr/local/bin/page, --loud]
        send_resolved: false
  phone: "ntfy://my-topic"
routes:
  critical:
    order: 1
    match: ['site=~"ber.*"', '{category="power", addon!="test"}']
    at_least: major
    receivers: [ops]
    escalation: [{after: 15m, receivers: [phone]}]
    quiet: [{cron: "0 22 * * *", duration: 9h, zone: Europe/Berlin}]
    group_by: [site]
    go_on: true
  rest:
    order: 2
    match: {site: berlin}
    receivers: [ops, "label:owner"]
    repeat: 0s
silences:
  backup:
    match: ['device="nas"']
    cron: "0 2 * * *"
    duration: 2h
    zone: Europe/Berlin
    owner: storage
    reason: nightly backup
  move:
    match: 'site="munich"'
    from: 2026-12-01T08:00:00+01:00
    until: 2026-12-01T18:00:00+01:00
    duration: 3h
    owner: anna
    reason: new racks
)";

TEST(NotifyConfig, IsReadWhole) {
    const auto result = read(kGood);
    ASSERT_TRUE(result.diagnostics.ok()) << result.diagnostics.text();
    EXPECT_EQ(complaints({kGood}), "");
    const auto receivers = receivers_of(result.fleet());
    ASSERT_EQ(receivers.size(), 2U);
    EXPECT_EQ(receivers[0].name, "ops");
    ASSERT_EQ(receivers[0].channels.size(), 3U);
    EXPECT_EQ(receivers[0].channels[0].kind, model::ChannelKind::kEmail);
    EXPECT_EQ(receivers[0].channels[1].name, "ntfys");
    EXPECT_EQ(receivers[0].channels[1].per_minute, 5U);
    EXPECT_EQ(receivers[0].channels[2].kind, model::ChannelKind::kExec);
    const auto routes = routes_of(result.fleet());
    ASSERT_EQ(routes.size(), 2U);
    ASSERT_EQ(routes[0].matchers.size(), 3U);
    EXPECT_EQ(routes[0].matchers[2],
              (model::LabelMatcher{"addon", model::MatchOperator::kNotEqual, "test"}));
    EXPECT_EQ(routes[0].quiet[0].duration, 9h);
    EXPECT_EQ(routes[1].repeat, 0s);
    const auto silences = silences_of(result.fleet(), {{"backup", "id-1"}});
    EXPECT_EQ(silences[0].id, "id-1");
    EXPECT_EQ(silences[0].kind, model::SilenceKind::kRecurring);
    EXPECT_EQ(silences[1].kind, model::SilenceKind::kFlexible);
    EXPECT_EQ(silences[1].from, *base::parse_utc("2026-12-01T07:00:00Z"));
}

TEST(NotifyConfig, IsExportedAndStoredWithoutLoss) {
    const auto result = read(kGood);
    const std::string text = export_fleet(result.fleet());
    const auto back = read(text);
    ASSERT_TRUE(back.diagnostics.ok()) << back.diagnostics.text() << text;
    EXPECT_EQ(back.fleet(), result.fleet());
    const auto objects = to_objects(result.fleet());
    const auto stored = from_objects(objects);
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(*stored, result.fleet());
}

TEST(NotifyConfig, MistakesAreToldWithFileLineAndAdvice) {
    const std::string text =
        complaints({"receivers:\n"
                    "  ops:\n"
                    "    channels:\n"
                    "      - to: [not-an-address]\n"
                    "      - to: [b@example.org]\n"
                    "      - argv: [relative]\n"
                    "      - kind: webhook\n"
                    "routes:\n"
                    "  a:\n"
                    "    match: ['site=~\"(\"']\n"
                    "    receivers: [ops]\n"
                    "    quiet: [{cron: '0 25 * * *', duration: 1h}]\n"
                    "    escalation: [{after: 5m, receivers: [ops]}, "
                    "{after: 5m, receivers: [ops]}]\n"
                    "  b: {repeat: 5s}\n"
                    "silences:\n"
                    "  s: {match: ['a=~\".*\"'], owner: me, reason: why}\n"});
    for (const char* part :
         {"a.yaml:4: receivers.ops.channels[0].to: \"not-an-address\" is no mail address",
          "a.yaml:5: receivers.ops.channels[1]: there is a channel \"email\" before it",
          "a.yaml:6: receivers.ops.channels[2].argv: \"relative\" must be an absolute path",
          "a.yaml:7: receivers.ops.channels[3].url: is missing",
          "a.yaml:10: routes.a.match[0]: \"(\" is no regular expression",
          "a.yaml:12: routes.a.quiet[0].cron: \"25\" is no hour",
          "a.yaml:13: routes.a.escalation[1].after: must be later",
          "routes.b.receivers: is missing", "routes.b.repeat: is 0 for no reminders",
          "a.yaml:16: silences.s.match: must say what is to be silent",
          "silences.s.until: is missing"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(NotifyConfig, ReferencesMustExist) {
    const std::string text =
        complaints({"receivers:\n"
                    "  ops: {channels: [{to: a@example.org, credentials: mial}]}\n"
                    "  idle: 'ntfy://topic'\n"
                    "credentials: {mail: {username: me}}\n"
                    "routes:\n"
                    "  a: {receivers: [opps]}\n"
                    "  b: {receivers: [ops]}\n"});
    EXPECT_THAT(text, HasSubstr("there is no receiver \"opps\"; did you mean ops?"));
    EXPECT_THAT(text, HasSubstr("there is no credential \"mial\"; did you mean mail?"));
    EXPECT_THAT(text, HasSubstr("receivers.idle: warning: is told by no route"));
}

TEST(ChannelUrl, SecretsHaveNoPlaceInIt) {
    for (const char* url :
         {"slack://T1234/B5678/abcdef", "discord://1234/abcdef", "tgram://123:abc/42",
          "gotifys://push.example.org/Abcdef", "pover://user@abcdef", "pagerduty://abcdef",
          "mmosts://chat.example.org/abcdef", "ntfys://abcdef@ntfy.example.org/topic",
          "https://user:abcdef@example.org/hook", "https://example.org/hook?token=abcdef",
          "mailtos://me:abcdef@mail.example.org?to=a@example.org"}) {
        const std::string fault = channel_url_fault(url);
        EXPECT_THAT(fault, AllOf(HasSubstr("{secret}"), Not(HasSubstr("abcdef")))) << url;
    }
    const std::string text =
        complaints({"receivers: {ops: {channels: [{url: 'slack://T1/B2/hunter2'}]}}\n"
                    "routes: {a: {receivers: [ops]}}\n"});
    EXPECT_THAT(text, AllOf(HasSubstr("holds a secret"), Not(HasSubstr("hunter2"))));
}

TEST(ChannelUrl, GoodOnesAreTaken) {
    for (const char* url :
         {"slack://{secret}", "https://example.org/hook?x=y", "ntfy://topic",
          "ntfys://user:{secret}@ntfy.example.org/topic",
          "gotifys://push.example.org:8443/{secret}", "https://example.org/hook?token={secret}",
          "msteams://host/workflow/{secret}",
          "mailtos://me:{secret}@mail.example.org?to=a@example.org",
          "smtp://mail.example.org:587"}) {
        EXPECT_EQ(channel_url_fault(url), "") << url;
    }
    for (const char* url : {"", "ftp://x", "https://", "https://exa mple", "https:///path"}) {
        EXPECT_NE(channel_url_fault(url), "") << url;
    }
}

TEST(ChannelUrl, ASecretNeedsACredential) {
    EXPECT_THAT(complaints({"receivers: {ops: 'slack://{secret}'}\n"
                            "routes: {a: {receivers: [ops]}}\n"}),
                HasSubstr("there are no `credentials` to take it from"));
}

}  // namespace
}  // namespace pollux::config
