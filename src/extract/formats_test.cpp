// Answers that are no JSON: XML, tables, patterns; and requests that stand in for others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract/compiled_addon.hpp"
#include "extract/grok.hpp"
#include "extract/text_table.hpp"
#include "extract/value_math.hpp"
#include "extract/xml_document.hpp"

namespace pollux::extract {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::shared_ptr<const CompiledAddon> good(std::string_view text) {
    const CompileResult result = compile(text, "a.yaml");
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

model::Reply answer(std::string body) {
    model::HttpReply http;
    http.status = 200;
    http.body = std::move(body);
    model::Reply reply;
    reply.answer = std::move(http);
    return reply;
}

model::Reply failed(int status) {
    model::PollFailure failure;
    failure.kind = model::FailureKind::kApi;
    failure.code = "http.status";
    failure.http_status = status;
    failure.message = "failed";
    model::Reply reply;
    reply.answer = std::move(failure);
    return reply;
}

std::vector<std::string> read(const CompiledAddon& addon,
                              std::vector<const model::Reply*> replies) {
    const model::Readings readings = addon.read(0, replies, {});
    std::vector<std::string> out;
    for (const model::Reading& reading : readings.values) {
        const std::string& row = readings.rows[reading.row];
        out.push_back(addon.addon().metrics[reading.metric].name +
                      (row.empty() ? "" : "[" + row + "]") + "=" + to_text(reading.value));
    }
    return out;
}

TEST(XmlFormat, ReadsAttributesAndElementsByPath) {
    const auto addon = good(R"yaml(schema: pollux/1
name: disks
version: 1.0.0
protocol: http
http:
  endpoints:
    - name: list
      format: xml
      rows:
        disks: {from: //disk, name: "@diskid", where: {"@present": {include: "1"}}}
metrics:
  - {name: count, path: "root/disks/@numberofdisks"}
  - {name: version, type: text, path: root/about/version}
  - {name: second, type: text, path: "//disk[2]/@diskid"}
  - {name: named, type: text, path: "root/disks/disk[@diskid='SD']/@status"}
  - {name: status, type: text, rows: disks, path: "@status"}
  - {name: size, rows: disks, path: size}
)yaml");
    const model::Reply reply = answer(R"xml(<?xml version="1.0"?>
<!DOCTYPE root SYSTEM "http://192.0.2.1/x.dtd">
<x:root xmlns:x="urn:x"><about><version> 7 </version></about><disks numberofdisks="2">
<disk diskid="SD" status="failed" present="1"><size>10</size></disk>
<disk diskid="NAS" status="OK" present="1"><size>20</size></disk>
<disk diskid="gone" present="0"/></disks></x:root>)xml");
    EXPECT_THAT(read(*addon, {&reply}),
                ElementsAre("count=2", "version=7", "second=NAS", "named=failed",
                            "status[SD]=failed", "size[SD]=10", "status[NAS]=OK", "size[NAS]=20"));
}

TEST(XmlFormat, TellsWhatIsNoXml) {
    const auto addon = good(R"yaml(schema: pollux/1
name: x
version: 1.0.0
protocol: http
http: {endpoints: [{name: a, format: xml}]}
metrics: [{name: v, path: a/b}]
)yaml");
    const model::Reply reply = answer("<a><b></a>");
    const model::Reply* const replies[] = {&reply};
    const model::Readings readings = addon->read(0, replies, {});
    EXPECT_EQ(readings.unreadable, 1U);
    EXPECT_THAT(readings.problems.front(), HasSubstr("not XML"));
}

TEST(XmlFormat, KnowsNoEntitiesAndNoDepthWithoutEnd) {
    const auto bomb = xml_to_json(
        "<!DOCTYPE a [<!ENTITY x \"xxxxxxxx\"><!ENTITY y \"&x;&x;\">]><a>&y; &amp; &#65;</a>");
    ASSERT_TRUE(bomb.has_value()) << bomb.error().message;
    EXPECT_EQ(*bomb, R"({"a":[{"#text":"&y; & A"}]})");
    std::string deep;
    for (int i = 0; i < 5000; ++i) deep += "<a>";
    for (int i = 0; i < 5000; ++i) deep += "</a>";
    const auto refused = xml_to_json(deep);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, "xml.too_large");
    EXPECT_FALSE(xml_to_json("<a/>", {.max_bytes = 3}).has_value());
    EXPECT_FALSE(xml_to_json("").has_value());
}

TEST(XmlPath, SaysWhatItDoesNotUnderstand) {
    for (const char* path : {"", "a//", "a[", "a[x]", "a[0]", "@a/b", "a[@b='it's']", "a b"}) {
        const auto result = xml_path_to_json_path(path, true);
        EXPECT_FALSE(result.has_value()) << path;
    }
    EXPECT_EQ(xml_path_to_json_path("a/b", false).value(), "$['a'][*]['b'][*]");
    EXPECT_EQ(xml_path_to_json_path(".", true).value(), "$['#text']");
}

TEST(TableFormat, SplitsAtBlanksWithAHeader) {
    TextTable table;
    EXPECT_EQ(table.to_json("NAME  SIZE NOTE\nsda   10   the first disk\n\nsdb   20\n", 1000),
              R"([{"NAME":"sda","SIZE":"10","NOTE":"the first disk"},{"NAME":"sdb","SIZE":"20"}])");
}

TEST(TableFormat, SplitsAtSeparatorsAndPositions) {
    TextTable table;
    table.separator = "|";
    table.columns = {"a", "b", "c"};
    table.skip = 1;
    EXPECT_EQ(table.to_json("title\n1 | | 3\r\n", 1000), R"([{"a":"1","b":"","c":"3"}])");
    TextTable fixed;
    fixed.fixed = {{"name", {1, 4}}, {"rest", {6, 0}}};
    EXPECT_EQ(fixed.to_json("eth0 up and running\nx\n", 1000),
              R"([{"name":"eth0","rest":"up and running"},{"name":"x","rest":""}])");
    EXPECT_EQ(fixed.to_json("eth0 up and running\n", 20), "[]");
}

TEST(TableFormat, GivesRowsToMetrics) {
    const auto addon = good(R"yaml(schema: pollux/1
name: df
version: 1.0.0
protocol: http
http:
  endpoints:
    - {name: df, format: table, rows: {mounts: {from: "$[*]", name: $.Mounted}}}
metrics: [{name: used, rows: mounts, path: $.Used}]
)yaml");
    const model::Reply reply =
        answer("Filesystem Used Mounted\n/dev/sda 10 /\n/dev/sdb 20 /home\n");
    EXPECT_THAT(read(*addon, {&reply}), ElementsAre("used[/]=10", "used[/home]=20"));
}

std::vector<std::pair<std::string, std::string>> fields(const Grok& grok, std::string_view text) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto found = grok.match(text);
    if (!found) return out;
    for (const auto& [name, value] : *found) out.emplace_back(name, std::string(value));
    return out;
}

TEST(Grok, KnowsItsThirteenNames) {
    const std::pair<const char*, const char*> samples[] = {
        {"INT", "-12"},
        {"NUMBER", "12.5"},
        {"WORD", "eth0"},
        {"NOTSPACE", "a/b"},
        {"SPACE", "  "},
        {"DATA", ""},
        {"GREEDYDATA", "all of it"},
        {"IP", "192.0.2.255"},
        {"IPV6", "2001:db8::1"},
        {"MAC", "00:11:22:aa:bb:cc"},
        {"HOSTNAME", "core-1.example.org"},
        {"SYSLOGTIMESTAMP", "Feb  3 04:05:06"},
        {"TIMESTAMP_ISO8601", "2026-02-03T04:05:06.5Z"}};
    for (const auto& [name, text] : samples) {
        const auto grok = Grok::compile(std::string("^%{") + name + ":value}$");
        ASSERT_TRUE(grok.has_value()) << grok.error().message;
        EXPECT_THAT(fields(*grok, text), ElementsAre(Pair("value", text))) << name;
    }
    EXPECT_THAT(fields(Grok::compile("^%{IP:ip}$").value(), "192.0.2.256"), IsEmpty());
}

TEST(Grok, TakesNamesOfItsOwnAndNamedGroups) {
    GrokOptions options;
    options.patterns = {{"PORT", "(?:%{INT})"}, {"WORD", "[a-z]+"}};
    const auto grok = Grok::compile(
        R"(%{WORD:if.name}/%{PORT:port} (?P<state>up|down)(?: %{INT:code})?)", options);
    ASSERT_TRUE(grok.has_value()) << grok.error().message;
    EXPECT_THAT(fields(*grok, "link eth/7 down"),
                ElementsAre(Pair("if.name", "eth"), Pair("port", "7"), Pair("state", "down")));
    EXPECT_THAT(grok->fields(), ElementsAre("if.name", "port", "state", "code"));
}

TEST(Grok, NamesGroupsByPosition) {
    GrokOptions options;
    options.fields = {"a", "", "c", "more"};
    EXPECT_THAT(fields(Grok::compile(R"((\d)(\d)(\d))", options).value(), "x123"),
                ElementsAre(Pair("a", "1"), Pair("c", "3")));
}

TEST(Grok, RefusesWhatIsUnknownCircularOrTooLarge) {
    EXPECT_THAT(Grok::compile("%{NOPE:x}").error().message, HasSubstr("\"NOPE\" is no pattern"));
    GrokOptions circle;
    circle.patterns = {{"A", "%{B}"}, {"B", "%{A}"}};
    EXPECT_THAT(Grok::compile("%{A}", circle).error().message, HasSubstr("deep"));
    GrokOptions bomb;
    bomb.patterns = {{"A", std::string(1000, 'a')}};
    std::string many;
    for (int i = 0; i < 100; ++i) many += "%{A}";
    EXPECT_THAT(Grok::compile(many, bomb).error().message, HasSubstr("grows past"));
    EXPECT_FALSE(Grok::compile("%{WORD:x}(?=y)").has_value());
    GrokOptions lenient;
    std::vector<std::string> unknown;
    lenient.unknown_is_text = true;
    lenient.unknown = &unknown;
    const auto text = Grok::compile("%{NOPE} %{INT:n}", lenient);
    ASSERT_TRUE(text.has_value());
    EXPECT_THAT(fields(*text, "%{NOPE} 7"), ElementsAre(Pair("n", "7")));
    EXPECT_THAT(unknown, ElementsAre("NOPE"));
}

TEST(GrokFormat, GivesOneRecordPerLineThatMatches) {
    const auto addon = good(R"yaml(schema: pollux/1
name: log
version: 1.0.0
protocol: http
http:
  endpoints:
    - name: log
      format: grok
      grok: {pattern: "^%{WORD:name}: %{NUMBER:value}", patterns: {WORD: "[a-z]+"}}
      rows: {lines: {from: "$[*]", name: $.name}}
metrics: [{name: value, rows: lines, path: $.value}, {name: first, path: "$[0].value"}]
)yaml");
    const model::Reply reply = answer("fan: 7\r\nnoise\ntemp: 21.5 C\n");
    EXPECT_THAT(read(*addon, {&reply}), ElementsAre("first=7", "value[fan]=7", "value[temp]=21.5"));
}

constexpr std::string_view kFallback = R"yaml(schema: pollux/1
name: cam
version: 1.0.0
protocol: http
http:
  endpoints:
    - {name: info, path: /new, on_failure: offline, on_status: {401: auth_failed}}
    - {name: brand, path: /old, instead_of: info, when_status: [404, 410], format: key_value}
    - {name: extra, path: /extra, optional: true}
metrics:
  - {name: model_new, type: text, endpoint: info, path: $.model, internal: true}
  - {name: model_old, type: text, endpoint: brand, key: model, internal: true}
  - {name: model, type: text, value: "coalesce(model_new, model_old)"}
signals:
  - {type: odd, when: model == 'odd'}
)yaml";

TEST(Fallback, IsAskedOnlyAfterItsStatus) {
    const auto addon = good(kFallback);
    const model::Reply ok = answer(R"({"model": "n"})");
    const model::Reply gone = failed(404);
    const model::Reply down = failed(0);
    EXPECT_EQ(addon->next_ask(0, {}), 0U);
    const model::Reply* first[] = {&ok};
    EXPECT_EQ(addon->next_ask(0, first), 2U);
    first[0] = &gone;
    EXPECT_EQ(addon->next_ask(0, first), 1U);
    const model::Reply* second[] = {&gone, &ok};
    EXPECT_EQ(addon->next_ask(0, second), 2U);
    first[0] = &down;
    EXPECT_EQ(addon->next_ask(0, first), std::nullopt);
    const model::Reply* all[] = {&ok, nullptr, &down};
    EXPECT_EQ(addon->next_ask(0, all), std::nullopt);
}

TEST(Fallback, AnswersForTheOneItStandsInFor) {
    const auto addon = good(kFallback);
    const model::Reply gone = failed(404);
    const model::Reply old = answer("model = odd");
    const model::Reply extra = answer("{}");
    const model::Reply* const replies[] = {&gone, &old, &extra};
    EXPECT_EQ(addon->failure(0, replies), nullptr);
    const model::Readings readings = addon->read(0, replies, {});
    EXPECT_EQ(readings.missing, 0U);
    EXPECT_FALSE(readings.degraded);
    const model::PollSignals signals = addon->signals(0, replies, {});
    ASSERT_EQ(signals.signals.size(), 1U);
    EXPECT_EQ(signals.signals[0].type, "odd");
    EXPECT_THAT(signals.settled, ElementsAre("endpoint info", "odd"));
}

TEST(Fallback, FailsThePollWhenItFailsToo) {
    const auto addon = good(kFallback);
    const model::Reply gone = failed(404);
    const model::Reply down = failed(500);
    const model::Reply* const replies[] = {&gone, &down};
    ASSERT_NE(addon->failure(0, replies), nullptr);
    EXPECT_EQ(addon->failure(0, replies)->http_status, 500);
    const model::PollSignals signals = addon->signals(0, replies, {});
    ASSERT_EQ(signals.signals.size(), 1U);
    EXPECT_EQ(signals.signals[0].type, "offline");
}

TEST(Fallback, AStatusThatIsASignalIsAnAnswer) {
    const auto addon = good(kFallback);
    const model::Reply refused = failed(401);
    const model::Reply* const replies[] = {&refused};
    EXPECT_EQ(addon->next_ask(0, replies), std::nullopt);
    EXPECT_EQ(addon->failure(0, replies), nullptr);
    const model::Readings readings = addon->read(0, replies, {});
    EXPECT_TRUE(readings.degraded);
    EXPECT_EQ(readings.unreadable, 0U);
}

}  // namespace
}  // namespace pollux::extract
