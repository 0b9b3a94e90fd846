#include "extract/compiled_addon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "extract/shipped_addons.hpp"

namespace pollux::extract {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kApi = R"yaml(schema: pollux/1
name: api
version: 1.2.3
protocol: http
interval: 10s
parameters:
  site: {required: true, example: x, description: name of the site}
  query: {type: path, default: "/status?a=b c"}
http:
  base: "https://{host}:{port}/v1"
  auth: {type: api_key, header: X-Token}
  headers: {Accept: application/json, X-Site: "{site}"}
  endpoints:
    - name: main
      path: "/sites/{site}{query}"
      rows:
        disks: {from: "$.disks", name: key, exclude: "^loop", where: {$.kind: {include: ssd}}}
    - {name: extra, path: /extra, optional: true, format: key_value, separator: ":"}
    - {name: slow, path: /slow, method: POST, body: '{"site": "{site}"}', interval: 5m, expect: [200, 404]}
metrics:
  - {name: load, endpoint: main, path: $.load, valid: {min: 0, max: 100}}
  - {name: total, endpoint: main, path: $.total, internal: true}
  - {name: used, endpoint: main, path: $.used, internal: true}
  - {name: used_share, unit: percent, value: used / total * 100}
  - {name: health, type: state, endpoint: main, path: $.health, map: {green: ok, red: bad, "*": other}}
  - {name: disk_used, rows: disks, path: $.used, scale: 1024}
  - {name: disk_share, rows: disks, value: disk_used / 1024 / total}
  - {name: fans, endpoint: extra, key: fans}
  - {name: firmware, type: text, endpoint: extra, key: version, pattern: "v([0-9.]+)"}
  - {name: jobs, endpoint: slow, path: "$.jobs[*]", optional: true}
  - {name: code, type: state, endpoint: slow, fact: status}
conditions:
  - {name: full, metric: used_share, trigger: "> 90", clear: "<= 80", severity: critical}
  - {name: unhealthy, metric: health, trigger: "!= ok"}
change:
  - {metric: used_share, tolerance: 10%}
)yaml";

std::shared_ptr<const CompiledAddon> good(std::string_view text) {
    const CompileResult result = compile(text, "a.yaml");
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// The complaints about the example with one part replaced.
std::string faults(std::string_view from, std::string_view to) {
    const CompileResult result = compile(replaced(std::string(kApi), from, to), "a.yaml");
    EXPECT_EQ(result.addon, nullptr);
    return result.diagnostics.text();
}

TargetBinding binding() {
    TargetBinding out;
    out.host = "192.0.2.7";
    out.parameters["site"] = "north & south";
    return out;
}

model::Reply http_reply(std::string body, int status = 200) {
    model::HttpReply http;
    http.status = status;
    http.body = std::move(body);
    model::Reply reply;
    reply.answer = std::move(http);
    return reply;
}

const model::Value* find(const CompiledAddon& addon, const model::Readings& readings,
                         std::string_view metric, std::string_view row = "") {
    for (const model::Reading& reading : readings.values) {
        if (addon.addon().metrics[reading.metric].name == metric &&
            readings.rows[reading.row] == row) {
            return &reading.value;
        }
    }
    return nullptr;
}

TEST(CompiledAddon, ShippedAddonsCompile) {
    EXPECT_GE(shipped_addons().size(), 9U);
    for (const ShippedAddon& shipped : shipped_addons()) {
        const CompileResult result = compile(shipped.manifest, std::string(shipped.file));
        ASSERT_NE(result.addon, nullptr) << result.diagnostics.text();
        EXPECT_EQ(result.addon->addon().name, shipped.name);
        EXPECT_EQ(result.diagnostics.warnings(), 0U);
    }
}

TEST(CompiledAddon, KnowsItsTasksMetricsAndConditions) {
    const auto compiled = good(kApi);
    const model::Addon& addon = compiled->addon();
    ASSERT_EQ(addon.groups.size(), 2U);
    EXPECT_EQ(addon.groups[0].interval, 10s);
    EXPECT_EQ(addon.groups[1].name, "slow");
    EXPECT_EQ(addon.groups[1].interval, 5min);
    ASSERT_EQ(addon.metrics.size(), 9U) << "two are internal";
    EXPECT_TRUE(addon.metrics[3].per_row);
    EXPECT_EQ(addon.metrics[8].group, 1);
    EXPECT_THAT(addon.metrics[2].states, ElementsAre("ok", "bad", "other"));
    ASSERT_EQ(addon.conditions.size(), 2U);
    EXPECT_EQ(addon.conditions[0].clear, 80);
    EXPECT_EQ(addon.conditions[0].clear_comparison, model::Comparison::kAtMost);
    EXPECT_EQ(addon.conditions[1].word, "ok");
    ASSERT_EQ(addon.change.size(), 1U);
    EXPECT_EQ(addon.change[0].share, 0.1);
    EXPECT_THAT(addon.metrics[1].conditions, ElementsAre(0));
}

TEST(CompiledAddon, MakesRequestsWithEscapedParameters) {
    const auto asks = good(kApi)->asks(0, binding());
    ASSERT_TRUE(asks.has_value()) << asks.error().message;
    ASSERT_EQ(asks->size(), 2U);
    const auto& http = std::get<model::HttpAsk>((*asks)[0]->request);
    EXPECT_EQ(http.url, "https://192.0.2.7:443/v1/sites/north%20%26%20south/status?a=b%20c");
    EXPECT_EQ(http.auth, model::HttpAuth::kApiKey);
    EXPECT_EQ(http.api_key_header, "X-Token");
    EXPECT_EQ(http.headers[1].second, "north & south");
    EXPECT_EQ((*asks)[0]->port, 443);
    EXPECT_EQ((*asks)[0]->timeout, 30s);
    TargetBinding other = binding();
    other.host = "fe80::1%eth0";
    other.port = 8443;
    other.timeout = 3s;
    other.parameters["site"] = "a\"b";
    const auto slow = good(kApi)->asks(1, other);
    ASSERT_TRUE(slow.has_value());
    const auto& post = std::get<model::HttpAsk>((*slow)[0]->request);
    EXPECT_EQ(post.url, "https://[fe80::1%25eth0]:8443/v1/slow");
    EXPECT_EQ(post.body, R"({"site": "a\"b"})");
    EXPECT_THAT(post.good_status, ElementsAre(std::pair(200, 200), std::pair(404, 404)));
    EXPECT_EQ((*slow)[0]->timeout, 3s);
}

TEST(CompiledAddon, RefusesBadBindings) {
    const auto addon = good(kApi);
    TargetBinding bad = binding();
    bad.parameters.clear();
    EXPECT_THAT(addon->asks(0, bad).error().message,
                HasSubstr("needs the parameter site (name of the site)"));
    bad.parameters = {{"site", "x"}, {"siet", "y"}};
    EXPECT_THAT(addon->asks(0, bad).error().message, HasSubstr("did you mean site?"));
    bad.parameters = {{"site", "x"}, {"query", "no slash"}};
    EXPECT_THAT(addon->asks(0, bad).error().message, HasSubstr("begins with /"));
    bad.parameters = {{"site", "x\r\nEvil: 1"}};
    EXPECT_FALSE(addon->asks(0, bad).has_value());
    bad = binding();
    bad.host = "good.example@evil.example";
    EXPECT_THAT(addon->asks(0, bad).error().message, HasSubstr("no host name"));
    EXPECT_FALSE(addon->asks(7, binding()).has_value());
}

TEST(CompiledAddon, ReadsSeveralRepliesIntoReadings) {
    const auto addon = good(kApi);
    const model::Reply main = http_reply(
        R"({"load": 7, "total": 200, "used": 150, "health": "red", "disks": {
            "sda": {"used": 2, "kind": "ssd"}, "loop0": {"used": 9, "kind": "ssd"},
            "sdb": {"used": 3, "kind": "hdd"}}})");
    const model::Reply extra = http_reply("# info\nfans: 4\nversion: \"v2.1.0-rc\"\n");
    const model::Reply* replies[] = {&main, &extra};
    Trace trace;
    const model::Readings readings = addon->read(0, replies, {}, &trace);
    EXPECT_EQ(*find(*addon, readings, "load"), model::Value(std::int64_t{7}));
    EXPECT_EQ(*find(*addon, readings, "used_share"), model::Value(75.0));
    EXPECT_EQ(*find(*addon, readings, "health"), model::Value(std::int64_t{1}));
    EXPECT_THAT(readings.rows, ElementsAre("", "sda"));
    EXPECT_EQ(*find(*addon, readings, "disk_used", "sda"), model::Value(2048.0));
    EXPECT_EQ(*find(*addon, readings, "disk_share", "sda"), model::Value(0.01));
    EXPECT_EQ(*find(*addon, readings, "fans"), model::Value(std::int64_t{4}));
    EXPECT_EQ(*find(*addon, readings, "firmware"), model::Value(std::string("2.1.0")));
    EXPECT_EQ(readings.missing, 0U);
    EXPECT_FALSE(readings.degraded);
    EXPECT_THAT(trace, ::testing::Contains("used_share: value used / total * 100 -> 75 percent"));
    EXPECT_THAT(trace, ::testing::Contains(
                           "firmware: key version by pattern v([0-9.]+) of endpoint extra found "
                           "\"2.1.0\" -> \"2.1.0\""));
    EXPECT_THAT(trace,
                ::testing::Contains("health: $.health of endpoint main found \"red\" -> 1 bad"));
}

TEST(CompiledAddon, AFailedOptionalEndpointIsDegradedNotFailed) {
    const auto addon = good(kApi);
    const model::Reply main = http_reply(R"({"load": 400, "total": 0, "used": 1, "health": "?"})");
    model::Reply broken;
    broken.answer = model::PollFailure{
        model::FailureKind::kTimeout, "http.timeout", "no answer within 30 s", 0, {}};
    const model::Reply* replies[] = {&main, &broken};
    EXPECT_EQ(addon->failure(0, replies), nullptr);
    const model::Readings readings = addon->read(0, replies, {});
    EXPECT_TRUE(readings.degraded);
    EXPECT_EQ(readings.dropped, 1U) << "load is outside of its range";
    EXPECT_EQ(*find(*addon, readings, "health"), model::Value(std::int64_t{2}));
    EXPECT_EQ(readings.missing, 1U) << "a share of nothing";
    EXPECT_THAT(readings.problems,
                ::testing::Contains("endpoint extra (optional): no answer within 30 s"));
    const model::Reply* swapped[] = {&broken, &main};
    EXPECT_NE(addon->failure(0, swapped), nullptr);
}

TEST(CompiledAddon, SpecialisesOnlyWhatDependsOnParameters) {
    const auto api = good(kApi);
    EXPECT_EQ(*specialise(api, {{"site", "x"}}), api);
    const auto shipped = std::ranges::find(shipped_addons(), "http-json", &ShippedAddon::name);
    ASSERT_NE(shipped, shipped_addons().end());
    const auto json = good(shipped->manifest);
    const auto special = specialise(json, {{"value_path", "$.x"}, {"warn_above", "5"}});
    ASSERT_TRUE(special.has_value());
    EXPECT_NE(*special, json);
    EXPECT_EQ((*special)->addon().conditions.size(), 1U);
    const auto wrong = specialise(json, {{"value_path", "x["}});
    ASSERT_FALSE(wrong.has_value());
    EXPECT_THAT(wrong.error().message, HasSubstr("begins with $"));
}

TEST(CompiledAddon, MistakesAreToldWithLineFieldAndAdvice) {
    EXPECT_THAT(faults("interval: 10s", "intervall: 10s"),
                HasSubstr("a.yaml:5: intervall: is no known key; did you mean interval?"));
    EXPECT_THAT(faults("pollux/1", "pollux/9"), HasSubstr("a.yaml:1: schema:"));
    EXPECT_THAT(faults("1.2.3", "1.2"), HasSubstr("write it like 1.0.0"));
    EXPECT_THAT(faults("path: /extra,", "path: \"/extra/{siet}\","),
                HasSubstr("http.endpoints[1].path: the placeholder {siet} is not known; did you "
                          "mean {site}?"));
    EXPECT_THAT(faults("path: $.load", "path: load"), HasSubstr("metrics[0].path: a path begins"));
    EXPECT_THAT(faults("value: used / total * 100", "value: used / totla"),
                HasSubstr("metrics[3].value: \"totla\" is no name"));
    EXPECT_THAT(faults("v([0-9.]+)", "v([0-9"), HasSubstr("metrics[8].pattern: "));
    EXPECT_THAT(faults("endpoint: main, path: $.load", "endpoint: mian, path: $.load"),
                HasSubstr("metrics[0].endpoint: \"mian\" is not known; there are main, extra or"));
    EXPECT_THAT(faults("\"<= 80\"", "\"> 80\""), HasSubstr("conditions[0].clear: does not fit"));
    EXPECT_THAT(faults("\"!= ok\"", "\"!= fine\""),
                HasSubstr("conditions[1].trigger: \"fine\" is no state of health; there are ok, "));
    EXPECT_THAT(faults("metric: health,", "metric: helth,"), HasSubstr("did you mean health?"));
    EXPECT_THAT(faults("tolerance: 10%", "tolerance: some"), HasSubstr("write it like 5 or 10%"));
    EXPECT_THAT(faults("key: fans", "path: $.fans"), HasSubstr("needs format: json"));
    EXPECT_THAT(faults("expect: [200, 404]", "expect: [ok]"), HasSubstr("write 200, 200-299 or"));
    EXPECT_THAT(faults("protocol: http", "protocol: snmp"), HasSubstr("does not fit protocol"));
    EXPECT_THAT(faults("{name: code, type: state, endpoint: slow, fact: status}",
                       "{name: code, value: load + jobs}"),
                HasSubstr("which another task reads"));
    EXPECT_THAT(faults("name: code,", "name: load,"), HasSubstr("is taken by a metric above"));
    EXPECT_THAT(compile("", "e.yaml").diagnostics.text(), HasSubstr("the manifest is empty"));
    EXPECT_THAT(compile("[]", "e.yaml").diagnostics.text(), HasSubstr("e.yaml:1: is a list"));
}

TEST(CompiledAddon, AllMistakesAreToldAtOnce) {
    const CompileResult result =
        compile("schema: pollux/1\nname: A b\nversion: x\nprotocol: htp\nmetrics: []\n", "a.yaml");
    EXPECT_GE(result.diagnostics.errors(), 4U) << result.diagnostics.text();
    EXPECT_THAT(result.diagnostics.text(), HasSubstr("did you mean http?"));
}

}  // namespace
}  // namespace pollux::extract
