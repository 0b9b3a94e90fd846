// Manifests of OpsConductor, one small one for each feature: what is asked, and what the answer
// becomes. They are the corpus of dialect_fuzz as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "extract/compiled_addon.hpp"

namespace pollux::extract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace std::chrono_literals;

std::shared_ptr<const CompiledAddon> good(std::string_view text) {
    const CompileResult result = compile(text, "x.json");
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

model::Reply http(std::string body) {
    model::HttpReply answer;
    answer.status = 200;
    answer.body = std::move(body);
    model::Reply reply;
    reply.answer = std::move(answer);
    return reply;
}

model::Reply command(std::string out) {
    model::CommandReply answer;
    answer.out = std::move(out);
    model::Reply reply;
    reply.answer = std::move(answer);
    return reply;
}

model::SnmpValue number(std::int64_t value) {
    model::SnmpValue out;
    out.type = model::SnmpType::kInteger;
    out.integer = value;
    return out;
}

model::SnmpValue words(std::string text) {
    model::SnmpValue out;
    out.type = model::SnmpType::kOctetString;
    out.bytes = std::move(text);
    return out;
}

std::vector<model::Signal> poll(const CompiledAddon& addon, const model::Reply& reply) {
    const model::Reply* const replies[] = {&reply};
    return addon.signals(0, replies, {}, {"box", "192.0.2.1"}).signals;
}

std::vector<model::Signal> hook(const CompiledAddon& addon, std::string body,
                                std::string type = "application/json") {
    model::WebhookMessage content;
    content.path = "/x";
    content.content_type = std::move(type);
    content.body = std::move(body);
    return addon.signals({"192.0.2.9", {}, std::move(content)});
}

std::vector<model::Signal> trap(const CompiledAddon& addon, std::string_view oid,
                                std::vector<std::pair<std::string, model::SnmpValue>> values = {}) {
    model::TrapMessage content;
    content.trap = *model::parse_oid(oid);
    for (auto& [name, value] : values) {
        content.varbinds.emplace_back(*model::parse_oid(name), std::move(value));
    }
    return addon.signals({"192.0.2.9", {}, std::move(content)});
}

std::vector<std::string> told(const std::vector<model::Signal>& signals) {
    std::vector<std::string> out;
    for (const model::Signal& signal : signals) {
        out.push_back((signal.clear ? "clear " : "") + signal.type +
                      (signal.subject.empty() ? "" : "/" + signal.subject) +
                      (signal.message.empty() ? "" : ": " + signal.message));
    }
    return out;
}

TargetBinding binding() {
    TargetBinding out;
    out.host = "192.0.2.1";
    return out;
}

std::vector<std::string> urls(const CompiledAddon& addon, std::size_t group) {
    std::vector<std::string> out;
    const auto asks = addon.asks(group, binding());
    EXPECT_TRUE(asks.has_value()) << asks.error().message;
    if (!asks) return out;
    for (const auto& ask : *asks) out.push_back(std::get<model::HttpAsk>(ask->request).url);
    return out;
}

constexpr const char* kRegex = R"json({"id": "regex", "method": "api_poll", "auth_type": "basic",
  "base_url_template": "http://{host}", "endpoints": [{"path": "/log"}],
  "parser": {"type": "regex", "pattern": "(\\w+) says (\\w+): (.*)",
             "fields": ["device_name", "alert_type", "message"]},
  "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]}
)json";

TEST(Dialect, RegexFindsItsGroupsAnywhere) {
    const auto addon = good(kRegex);
    const auto out = poll(*addon, http("log of today\nbox says fan: stopped\nend"));
    ASSERT_THAT(told(out), ElementsAre("fan: stopped"));
    EXPECT_EQ(out[0].device_name, "box");
    EXPECT_THAT(poll(*addon, http("box says nothing")), IsEmpty());
}

constexpr const char* kGrok = R"json({"id": "grok", "method": "webhook",
  "parser": {"type": "grok", "pattern": "%{IP:device_ip}%{SPACE}%{LEVEL:alert_type} %{NOPE} %{GREEDYDATA:message}",
             "custom_patterns": {"LEVEL": "fan|disk", "SPACE": "-+"}},
  "alert_mappings": [{"alerts": [{"alert_type": "disk"}]}]}
)json";

TEST(Dialect, GrokTakesPatternsOfItsOwnAndLeavesUnknownOnes) {
    const auto addon = good(kGrok);
    const auto out = hook(*addon, "192.0.2.7--disk %{NOPE} is full", "text/plain");
    ASSERT_THAT(told(out), ElementsAre("disk: is full"));
    EXPECT_EQ(out[0].device_address, "192.0.2.7");
    EXPECT_THAT(hook(*addon, "192.0.2.7 disk %{NOPE} is full", "text/plain"), IsEmpty());
}

constexpr const char* kWalk = R"json({"id": "walk", "method": "snmp_poll",
  "snmp_poll": {"version": "v2c", "poll_groups": [{"name": "fans",
    "oids": [{"oid": "1.3.6.1.4.1.9.13.1", "type": "walk", "field": "fan"}],
    "alert_condition": {"field": "fan", "operator": "equals", "value": 3, "alert_type": "fan"}}]},
  "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]}
)json";

TEST(Dialect, AWalkIsJudgedRowByRow) {
    const auto addon = good(kWalk);
    const auto asks = addon->asks(0, binding());
    ASSERT_TRUE(asks.has_value());
    EXPECT_THAT(std::get<model::SnmpAsk>(asks->front()->request).walks,
                ElementsAre(*model::parse_oid("1.3.6.1.4.1.9.13.1")));
    model::SnmpReply answer;
    answer.walks = {{{*model::parse_oid("1.1"), number(3)},
                     {*model::parse_oid("1.2"), number(1)},
                     {*model::parse_oid("2.1"), number(3)}}};
    model::Reply reply;
    reply.answer = std::move(answer);
    EXPECT_THAT(told(poll(*addon, reply)), ElementsAre("fan/1.1", "fan/2.1"));
}

constexpr const char* kOidPairs = R"json({"id": "oid-pairs", "method": "snmp_trap",
  "enterprise_oid": "1.3.6.1.4.1.9",
  "trap_definitions": {"1.3.6.1.4.1.9.0.1": {"alert_type": "fan", "description": "stands"},
                       "1.3.6.1.4.1.9.0.2": {"alert_type": "fan_ok"}},
  "clear_events": {"method": "oid_pair", "oid_pairs": {"1.3.6.1.4.1.9.0.1": "1.3.6.1.4.1.9.0.2"}},
  "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]}
)json";

TEST(Dialect, OidPairsSayWhichTrapClears) {
    const auto addon = good(kOidPairs);
    EXPECT_THAT(told(trap(*addon, "1.3.6.1.4.1.9.0.1")), ElementsAre("fan: stands"));
    EXPECT_THAT(told(trap(*addon, "1.3.6.1.4.1.9.0.2")), ElementsAre("clear fan: stands"));
}

constexpr const char* kTrapSuffix = R"json({"id": "trap-suffix", "method": "snmp_trap",
  "trap_definitions": {"1.3.6.1.4.1.9.0.1": {"alert_type": "fan"},
                       "1.3.6.1.4.1.9.0.2": {"alert_type": "fan_clear"}},
  "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]}
)json";

TEST(Dialect, ATrapWhoseTypeHasTheSuffixClears) {
    const auto addon = good(kTrapSuffix);
    EXPECT_THAT(told(trap(*addon, "1.3.6.1.4.1.9.0.1")), ElementsAre("fan"));
    EXPECT_THAT(told(trap(*addon, "1.3.6.1.4.1.9.0.2")), ElementsAre("clear fan"));
}

constexpr const char* kTrapField = R"json({"id": "trap-field", "method": "snmp_trap",
  "trap_definitions": {"1.3.6.1.4.1.9.0.1": {"alert_type": "fan"}},
  "varbind_mappings": {"1.3.6.1.4.1.9.2": "state", "1.3.6.1.4.1.9.3": "Slot Name"},
  "transformations": {"Slot Name": "uppercase"},
  "clear_events": {"method": "field_value", "clear_field": "state", "clear_values": ["Good", "2"]},
  "severity_mappings": {"fan": "major"}}
)json";

TEST(Dialect, ATrapClearsByAFieldAmongItsVarbinds) {
    const auto addon = good(kTrapField);
    const auto with = [&](model::SnmpValue state) {
        return trap(*addon, "1.3.6.1.4.1.9.0.1",
                    {{"1.3.6.1.4.1.9.2.0", std::move(state)}, {"1.3.6.1.4.1.9.3.0", words("a1")}});
    };
    const auto raised = with(words("bad"));
    ASSERT_THAT(told(raised), ElementsAre("fan"));
    EXPECT_THAT(raised[0].fields, ElementsAre(Pair("state", "bad"), Pair("Slot Name", "A1")));
    EXPECT_THAT(told(with(words("GOOD"))), ElementsAre("clear fan"));
    EXPECT_THAT(told(with(number(2))), ElementsAre("clear fan"));
}

constexpr const char* kIntervals = R"json({"id": "intervals", "method": "api_poll",
  "auth_type": "basic", "base_url_template": "http://{host}/api/", "default_poll_interval": 120,
  "endpoints": [{"name": "fast", "path": "fast", "interval_seconds": 30},
                {"name": "usual", "path": "/usual"},
                {"name": "slow", "path": "/slow", "interval_seconds": 900}]}
)json";

constexpr const char* kOwnIntervals = R"json({"id": "own-intervals", "method": "ssh",
  "commands": [{"name": "fast", "command": "fast", "interval_seconds": 30},
               {"name": "slow", "command": "slow", "interval_seconds": 900}],
  "parser": {"type": "key_value"}}
)json";

TEST(Dialect, EachRequestKeepsItsInterval) {
    const auto addon = good(kIntervals);
    EXPECT_EQ(addon->addon().interval, 120s);
    const auto& groups = addon->addon().groups;
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_THAT(urls(*addon, 0), ElementsAre("http://192.0.2.1/api/usual"));
    EXPECT_EQ(groups[1].interval, 30s);
    EXPECT_THAT(urls(*addon, 1), ElementsAre("http://192.0.2.1/api/fast"));
    EXPECT_EQ(groups[2].interval, 900s);
    EXPECT_THAT(urls(*addon, 2), ElementsAre("http://192.0.2.1/api/slow"));
}

TEST(Dialect, WhereAllHaveAnIntervalTheFirstOnesIsTheAddons) {
    const auto addon = good(kOwnIntervals);
    EXPECT_EQ(addon->addon().interval, 30s);
    const auto& groups = addon->addon().groups;
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[1].interval, 900s);
    const auto asks = addon->asks(1, binding());
    ASSERT_TRUE(asks.has_value());
    EXPECT_EQ(std::get<model::SshAsk>(asks->front()->request).command, "slow");
}

constexpr const char* kParseRules = R"json({"id": "parse-rules", "method": "ssh",
  "commands": [{"name": "radio", "command": "status", "parser": "regex",
                "parse_rules": {"pattern": "state=(\\w+) unit=(\\w+)", "fields": ["state", "message"]},
                "alert_type_field": "state"}],
  "alert_mappings": [{"alerts": [{"alert_type": "down"}]}]}
)json";

TEST(Dialect, ParseRulesOfACommandAndTheFieldOfItsType) {
    const auto addon = good(kParseRules);
    EXPECT_THAT(told(poll(*addon, command("now state=down unit=eth0\n"))),
                ElementsAre("down: eth0"));
    EXPECT_THAT(told(poll(*addon, command("now state=down_clear unit=eth0\n"))),
                ElementsAre("clear down: eth0"));
    EXPECT_THAT(poll(*addon, command("now state=up unit=eth0\n")), IsEmpty());
}

constexpr const char* kBearer = R"json({"id": "bearer", "method": "api_poll", "auth_type": "bearer",
  "default_credentials": {"api_key": "from-the-manifest", "username": ""},
  "base_url_template": "https://{host}:8443", "endpoints": [{"path": "/"}]}
)json";

constexpr const char* kApiKey =
    R"json({"id": "api-key", "method": "api_poll", "auth_type": "api_key",
  "auth_header": "X-Auth-Key", "headers": {"Accept": "application/json"}, "verify_ssl": false,
  "base_url_template": "https://{host}:8443", "endpoints": [{"path": "/", "method": "post", "body": "{}"}]}
)json";

TEST(Dialect, TokensGoAsBearerOrInAHeaderOfTheirOwn) {
    const auto bearer = good(kBearer)->asks(0, binding());
    ASSERT_TRUE(bearer.has_value());
    const auto& first = std::get<model::HttpAsk>(bearer->front()->request);
    EXPECT_EQ(first.auth, model::HttpAuth::kBearer);
    EXPECT_EQ(first.url, "https://192.0.2.1:8443/");
    EXPECT_TRUE(first.tls.verify);
    ASSERT_NE(bearer->front()->credentials, nullptr);
    EXPECT_EQ(bearer->front()->credentials->token.reveal(), "from-the-manifest");
    EXPECT_TRUE(bearer->front()->credentials->username.empty());  // an empty one is none
    const auto keyed = good(kApiKey)->asks(0, binding());
    ASSERT_TRUE(keyed.has_value());
    const auto& second = std::get<model::HttpAsk>(keyed->front()->request);
    EXPECT_EQ(second.auth, model::HttpAuth::kApiKey);
    EXPECT_EQ(second.api_key_header, "X-Auth-Key");
    EXPECT_FALSE(second.tls.verify);
    EXPECT_EQ(second.method, model::HttpMethod::kPost);
    EXPECT_THAT(second.headers, testing::Contains(Pair("Accept", "application/json")));
}

constexpr const char* kExtractIp = R"json({"id": "extract-ip", "method": "webhook",
  "parser": {"field_mappings": {"alert_type": "type", "device_ip": "$.from.0.who", "near": "a.b"}},
  "transformations": {"device_ip": {"type": "extract_ip", "group": 2,
                                    "pattern": "([a-z(]+)@(\\d+\\.\\d+\\.\\d+\\.\\d+)"},
                      "near": [{"type": "extract_ip"}, "lowercase"]},
  "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]}
)json";

TEST(Dialect, ExtractIpTakesAPatternAndAGroupOfItsOwn) {
    const auto addon = good(kExtractIp);
    const auto out = hook(*addon, R"({"type": "fan", "a.b": "GW 192.0.2.3/24", "a": {"b": "no"},
        "from": [{"who": "box@192.0.2.44:161"}]})");
    ASSERT_THAT(told(out), ElementsAre("fan"));
    EXPECT_EQ(out[0].device_address, "192.0.2.44");
    EXPECT_THAT(out[0].fields, testing::Contains(Pair("near", "192.0.2.3")));
    // Where it does not fit, the value stays.
    const auto plain =
        hook(*addon, R"({"type": "fan", "from": [{"who": "192.0.2.5"}], "a.b": "No"})");
    ASSERT_THAT(told(plain), ElementsAre("fan"));
    EXPECT_EQ(plain[0].device_address, "192.0.2.5");
    EXPECT_THAT(plain[0].fields, testing::Contains(Pair("near", "no")));
}

constexpr const char* kGroups = R"json({"id": "groups", "method": "webhook",
  "parser": {"field_mappings": {"alert_type": "type", "named": "who", "mixed": "who", "whole": "who",
                                "chained": "who", "quoted": "text", "few": "who"}},
  "transformations": {
    "named": {"type": "extract_ip", "group": 2, "pattern": "(?P<box>[a-z]+)@(?P<ip>[0-9.]+)"},
    "mixed": {"type": "extract_ip", "group": 2, "pattern": "(?:[](]|[[:lower:](]+)(?P<at>@)([0-9.]+)(?P<value>:.*)?"},
    "whole": {"type": "extract_ip", "group": 0, "pattern": "[a-z]+@([0-9]+)"},
    "chained": ["uppercase", {"type": "extract_ip", "pattern": "BOX@([0-9.]+)"},
                {"type": "lookup", "map": {"192.0.2.44": "uplink"}}],
    "quoted": {"type": "extract_ip", "pattern": "'([^']+)'"},
    "few": {"type": "extract_ip", "group": 3, "pattern": "([a-z]+)@(?P<ip>.*)"}},
  "alert_mappings": [{"alerts": [{"alert_type": "fan"}]}]}
)json";

TEST(Dialect, ExtractIpCountsEveryGroupAndReadsTheStepBefore) {
    const CompileResult result = compile(kGroups, "x.json");
    ASSERT_NE(result.addon, nullptr) << result.diagnostics.text();
    EXPECT_THAT(result.diagnostics.text(), testing::HasSubstr("extract_ip wants group 3"));
    const auto out =
        hook(*result.addon,
             R"({"type": "fan", "who": "box@192.0.2.44:161", "text": "it's at 'gate 2' now"})");
    ASSERT_THAT(told(out), ElementsAre("fan"));
    EXPECT_THAT(out[0].fields, testing::IsSupersetOf(
                                   {Pair("named", "192.0.2.44"), Pair("mixed", "192.0.2.44"),
                                    Pair("whole", "box@192"), Pair("chained", "uplink"),
                                    Pair("quoted", "s at "), Pair("few", "box@192.0.2.44:161")}));
}

// The key is informational there: the parser reads what comes.
constexpr const char* kCalledText =
    R"json({"id": "called-text", "method": "api_poll", "auth_type": "none",
  "base_url_template": "http://{host}",
  "endpoints": [{"path": "/", "response_type": "text", "alert_on_failure": "offline"}],
  "parser": {"field_mappings": {"alert_type": "type"}},
  "alert_mappings": [{"alerts": [{"alert_type": "fan"}, {"alert_type": "offline"}]}]}
)json";

TEST(Dialect, AnAnswerIsReadWhateverItIsCalled) {
    const auto addon = good(kCalledText);
    EXPECT_THAT(told(poll(*addon, http(R"({"type": "fan"})"))), ElementsAre("fan"));
    const model::Reply plain = http("all is well");
    const model::Reply* const replies[] = {&plain};
    const model::Readings readings = addon->read(0, replies, {});
    EXPECT_EQ(readings.unreadable, 0U) << "a text where a text was announced is no failure";
    EXPECT_FALSE(readings.degraded);
    EXPECT_EQ(addon->failure(0, replies), nullptr);
    const auto signals = addon->signals(0, replies, {}, {"box", "192.0.2.1"});
    EXPECT_THAT(signals.signals, IsEmpty());
    EXPECT_THAT(signals.settled, ElementsAre("endpoint endpoint_1"))
        << "what it would have said is not over";
}

constexpr const char* kXmlHook =
    R"json({"id": "xml-hook", "method": "webhook", "request_type": "xml",
  "field_mappings": {"alert_type": "kind", "message": "/event/text", "device_name": "//device/@name"},
  "alert_mappings": [{"alerts": [{"alert_type": "fan", "title": "{alert_type} of {device_name}"}]}]}
)json";

TEST(Dialect, WebhooksInXmlAreReadByNameAndByPath) {
    const auto out =
        hook(*good(kXmlHook),
             R"(<event><device name="box"/><kind>fan</kind><text>stands</text></event>)",
             "application/xml");
    ASSERT_THAT(told(out), ElementsAre("fan: stands"));
    EXPECT_EQ(out[0].title, "fan of box");
}

constexpr const char* kLines = R"json({"id": "lines", "method": "api_poll", "auth_type": "none",
  "base_url_template": "http://{host}", "endpoints": [{"path": "/", "response_type": "text"}],
  "parser": {"type": "key_value", "delimiter": "=", "field_mappings": {"evt": "alert_type", "spin": "$.rpm"}},
  "alert_mappings": [{"alerts": [{"alert_type": "fan", "description": "{spin} turns"}]}]}
)json";

TEST(Dialect, LinesAreRenamedInEitherDirection) {
    const auto out = poll(*good(kLines), http("evt = fan\nrpm=12\ndevice_name=box\n"));
    ASSERT_THAT(told(out), ElementsAre("fan: 12 turns"));
    EXPECT_EQ(out[0].device_name, "box");
}

TEST(Dialect, TheFuzzerBeginsWithTheseManifests) {
    for (const auto& [name, manifest] : {std::pair("regex", kRegex),
                                         {"grok", kGrok},
                                         {"walk", kWalk},
                                         {"oid-pairs", kOidPairs},
                                         {"trap-suffix", kTrapSuffix},
                                         {"trap-field", kTrapField},
                                         {"intervals", kIntervals},
                                         {"own-intervals", kOwnIntervals},
                                         {"parse-rules", kParseRules},
                                         {"bearer", kBearer},
                                         {"api-key", kApiKey},
                                         {"extract-ip", kExtractIp},
                                         {"groups", kGroups},
                                         {"called-text", kCalledText},
                                         {"xml-hook", kXmlHook},
                                         {"lines", kLines}}) {
        std::ifstream in(std::string("fuzz/corpus/dialect_fuzz/") + name);
        const std::string there{std::istreambuf_iterator<char>(in), {}};
        EXPECT_EQ(there, manifest) << name;
    }
}

}  // namespace
}  // namespace pollux::extract
