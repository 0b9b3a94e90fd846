// Signals of polls and of messages, as manifests say them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract/compiled_addon.hpp"
#include "extract/time_text.hpp"

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

model::Reply http(std::string body, int status = 200) {
    model::HttpReply reply;
    reply.status = status;
    reply.body = std::move(body);
    model::Reply out;
    out.answer = std::move(reply);
    return out;
}

model::Reply failed(int status, std::string message) {
    model::PollFailure failure;
    failure.kind = status == 0 ? model::FailureKind::kTimeout : model::FailureKind::kApi;
    failure.code = "http.status";
    failure.http_status = status;
    failure.message = std::move(message);
    model::Reply out;
    out.answer = std::move(failure);
    return out;
}

model::PollSignals poll(const CompiledAddon& addon, const std::vector<model::Reply>& replies,
                        const SignalContext& context = {}) {
    std::vector<const model::Reply*> given;
    for (const model::Reply& reply : replies) given.push_back(&reply);
    return addon.signals(0, given, {}, context);
}

std::vector<std::string> told(const std::vector<model::Signal>& signals) {
    std::vector<std::string> out;
    for (const model::Signal& signal : signals) {
        out.push_back((signal.clear ? "clear " : "") + signal.type +
                      (signal.subject.empty() ? "" : "/" + signal.subject));
    }
    return out;
}

constexpr std::string_view kCamera = R"yaml(schema: pollux/1
name: camera
version: 1.0.0
title: Camera
category: video
protocol: http
http:
  endpoints:
    - name: info
      path: /info
      on_failure: camera_offline
      on_status: {401: auth_failed, 500-599: sick}
      rows:
        disks: {from: "$.disks[*]", name: $.id}
metrics:
  - {name: temperature, endpoint: info, path: $.temp, valid: {min: -50, max: 200}, optional: true}
  - {name: disk_status, type: text, rows: disks, path: $.status, optional: true}
signal_types:
  camera_offline: {severity: critical}
  auth_failed: {severity: major, title: "Login at {device} refused"}
signals:
  - {type: hot, when: temperature >= 60, severity: warning, message: "{temperature} degrees at {device}", fields: [temperature]}
  - {type: storage_failure, when: disk_status == 'failed', severity: critical, message: "disk {row} is {disk_status}"}
)yaml";

TEST(Signals, AreMadeFromValuesAndRowsOfAPoll) {
    const auto addon = good(kCamera);
    const auto out = poll(*addon, {http(R"({"temp": 61, "disks": [
        {"id": "a", "status": "failed"}, {"id": "b", "status": "OK"}, {"id": "c"}]})")},
                          {"cam1", "192.0.2.1"});
    EXPECT_THAT(told(out.signals), ElementsAre("storage_failure/a", "hot"));
    EXPECT_EQ(out.signals[0].message, "disk a is failed");
    EXPECT_EQ(out.signals[0].severity, "critical");
    EXPECT_EQ(out.signals[0].title, "Camera: Storage Failure on 192.0.2.1");
    EXPECT_EQ(out.signals[0].category, "video");
    EXPECT_EQ(out.signals[1].message, "61 degrees at cam1");
    EXPECT_THAT(out.signals[1].fields, ElementsAre(Pair("temperature", "61")));
    EXPECT_THAT(out.settled, ElementsAre("endpoint info", "hot", "storage_failure"));
    EXPECT_THAT(out.open, ElementsAre(Pair("storage_failure", "c")));
}

TEST(Signals, LeaveOpenWhatHasNoValue) {
    const auto out = poll(*good(kCamera), {http(R"({"temp": 250, "disks": []})")});
    EXPECT_THAT(out.signals, IsEmpty());
    EXPECT_THAT(out.open, ElementsAre(Pair("hot", "")));  // a sentinel is no temperature
}

TEST(Signals, OfAFailedEndpointSettleNothingElse) {
    const auto addon = good(kCamera);
    const auto out = poll(*addon, {failed(0, "no answer from http://192.0.2.1/info")});
    EXPECT_THAT(told(out.signals), ElementsAre("camera_offline"));
    EXPECT_THAT(out.signals[0].message, HasSubstr("http://192.0.2.1/info"));
    EXPECT_EQ(out.signals[0].severity, "critical");
    EXPECT_THAT(out.settled, IsEmpty());
}

TEST(Signals, OfAStatusSayThatTheDeviceIsThere) {
    const auto addon = good(kCamera);
    const auto out = poll(*addon, {failed(401, "refused")}, {"cam1", "192.0.2.1"});
    EXPECT_THAT(told(out.signals), ElementsAre("auth_failed"));
    EXPECT_EQ(out.signals[0].title, "Login at cam1 refused");
    EXPECT_THAT(out.settled, ElementsAre("endpoint info"));
    EXPECT_THAT(told(poll(*addon, {failed(503, "busy")}).signals), ElementsAre("sick"));
}

TEST(Signals, OfAnAnswerThatCannotBeReadSettleNothing) {
    const auto out = poll(*good(kCamera), {http("<html>")});
    EXPECT_THAT(out.signals, IsEmpty());
    EXPECT_THAT(out.settled, ElementsAre("endpoint info"));
}

constexpr std::string_view kAlarms = R"yaml(schema: pollux/1
name: alarms
version: 1.0.0
protocol: http
http:
  endpoints:
    - name: alarms
      rows: {alarms: {from: "$[*]"}}
metrics:
  - {name: kind, type: text, rows: alarms, path: $.severity, internal: true}
  - {name: resource, type: text, rows: alarms, path: $.resource, internal: true, optional: true}
  - {name: state, type: text, rows: alarms, path: $.state, internal: true, optional: true}
signal_types:
  CRITICAL: {severity: critical}
  MINOR: {severity: minor, enabled: false}
  RECOVERED: {severity: clear, clears: [CRITICAL, MAJOR]}
signals:
  - {name: alarms, type: "{kind}", fingerprint_fields: [resource], clear_suffix: _clear, clear_when: state == 'ok'}
)yaml";

TEST(Signals, TakeTheirTypeFromTheAnswer) {
    const auto addon = good(kAlarms);
    const auto out = poll(*addon, {http(R"([
        {"severity": "CRITICAL", "resource": "a|b"}, {"severity": "MINOR", "resource": "c"},
        {"severity": "UNKNOWN"}, {"severity": "CRITICAL_clear", "resource": "d"},
        {"severity": "CRITICAL", "resource": "e", "state": "ok"},
        {"severity": "RECOVERED", "resource": "f"}])")});
    EXPECT_THAT(told(out.signals),
                ElementsAre("CRITICAL/a\\|b", "clear CRITICAL/d", "clear CRITICAL/e",
                            "clear CRITICAL/f", "clear MAJOR/f"));
    EXPECT_THAT(out.settled, ElementsAre("alarms"));
}

constexpr std::string_view kTraps = R"yaml(schema: pollux/1
name: traps
version: 1.0.0
protocol: trap
trap:
  enterprise: [1.3.6.1.6.3.1.1.5, 1.3.6.1.4.1.9]
  varbinds: {if_index: 1.3.6.1.2.1.2.2.1.1, if_descr: 1.3.6.1.2.1.2.2.1.2}
signals:
  - type: link_down
    trap: 1.3.6.1.6.3.1.1.5.3
    clear_trap: 1.3.6.1.6.3.1.1.5.4
    severity: major
    message: "{if_descr} at {source}"
    fingerprint_fields: [if_index]
    fields: [if_index, if_descr]
  - {type: cold_start, trap: 1.3.6.1.6.3.1.1.5.1}
)yaml";

model::InboundMessage trap(std::string_view oid) {
    model::TrapMessage content;
    content.trap = *model::parse_oid(oid);
    model::SnmpValue index;
    index.type = model::SnmpType::kInteger;
    index.integer = 7;
    model::SnmpValue name;
    name.type = model::SnmpType::kOctetString;
    name.bytes = "eth7";
    content.varbinds = {{*model::parse_oid("1.3.6.1.2.1.2.2.1.2.7"), name},
                        {*model::parse_oid("1.3.6.1.2.1.2.2.1.1.7"), index}};
    return {"192.0.2.7", {}, std::move(content)};
}

TEST(Signals, OfTrapsAreRaisedAndClearedByPairsOfOids) {
    const auto addon = good(kTraps);
    const auto down = addon->signals(trap("1.3.6.1.6.3.1.1.5.3"));
    EXPECT_THAT(told(down), ElementsAre("link_down/7"));
    EXPECT_EQ(down[0].message, "eth7 at 192.0.2.7");
    EXPECT_EQ(down[0].severity, "major");
    EXPECT_THAT(down[0].fields, ElementsAre(Pair("if_index", "7"), Pair("if_descr", "eth7")));
    EXPECT_EQ(down[0].title, "traps: Link Down on 192.0.2.7");
    EXPECT_THAT(told(addon->signals(trap("1.3.6.1.6.3.1.1.5.4"))),
                ElementsAre("clear link_down/7"));
    EXPECT_THAT(addon->signals(trap("1.3.6.1.6.3.1.1.5.5")), IsEmpty());
}

TEST(Signals, TrapsFitTheLongestPrefixArcByArc) {
    const auto addon = good(kTraps);
    model::TrapMessage message;
    message.trap = *model::parse_oid("1.3.6.1.4.1.9.9.41.0.1");
    EXPECT_EQ(addon->trap_fit(message), 7U);
    message.trap = *model::parse_oid("1.3.6.1.4.1.99.1.0.1");
    EXPECT_EQ(addon->trap_fit(message), std::nullopt);
    std::string any(kTraps);
    any.replace(any.find("[1.3.6.1.6.3.1.1.5, 1.3.6.1.4.1.9]"), 34, "\"*\"");
    EXPECT_EQ(good(any)->trap_fit(message), 0U);
}

constexpr std::string_view kHook = R"yaml(schema: pollux/1
name: hook
version: 1.0.0
protocol: webhook
webhook:
  fields: {kind: $.status, sensor: $.sensor, host_ip: $.device.ip, when_at: $.time, who: query.user}
signal_types: {"Down": {severity: critical}, "Up": {severity: clear, clears: [Down]}}
signals:
  - {type: "{kind}", fingerprint_fields: [sensor], device_address: host_ip, time: when_at, fields: [who], title: "{sensor} is {kind}"}
)yaml";

model::InboundMessage hook(std::string body) {
    model::WebhookMessage content;
    content.path = "/x";
    content.query = {{"user", "anna"}};
    content.body = std::move(body);
    return {"192.0.2.9", {}, std::move(content)};
}

TEST(Signals, OfWebhooksReadTheBody) {
    const auto addon = good(kHook);
    const auto down = addon->signals(hook(
        R"({"status": "Down", "sensor": "ping", "device": {"ip": "192.0.2.5"}, "time": "2026-02-03T04:05:06Z"})"));
    ASSERT_THAT(told(down), ElementsAre("Down/ping"));
    EXPECT_EQ(down[0].device_address, "192.0.2.5");
    ASSERT_TRUE(down[0].at.has_value());
    EXPECT_EQ(iso_time(*down[0].at), "2026-02-03T04:05:06Z");
    EXPECT_THAT(down[0].fields, ElementsAre(Pair("who", "anna")));
    EXPECT_EQ(down[0].title, "ping is Down");
    EXPECT_THAT(told(addon->signals(hook(R"({"status": "Up", "sensor": "ping"})"))),
                ElementsAre("clear Down/ping"));
    EXPECT_THAT(addon->signals(hook("not json")), IsEmpty());
    EXPECT_THAT(addon->signals(trap("1.3.6.1.6.3.1.1.5.3")), IsEmpty());
}

TEST(Signals, OfFormsReadDecodedFields) {
    std::string text(kHook);
    text.replace(text.find("fields: {kind: $.status"), 23, "format: form\n  fields: {kind: status");
    for (const std::string_view path : {"$.sensor", "$.device.ip", "$.time"}) {
        text.replace(text.find(path), 2, "");
    }
    const auto out = good(text)->signals(hook("status=Down&sensor=disk+C%3A&time=1700000000"));
    ASSERT_THAT(told(out), ElementsAre("Down/disk C:"));
    EXPECT_EQ(out[0].at->us, 1'700'000'000'000'000);
}

TEST(Signals, OfPushesKnowWhatWasSaid) {
    const auto addon = good(R"yaml(schema: pollux/1
name: beat
version: 1.0.0
protocol: push
push: {interval: 1h, grace: 5m}
metrics: [{name: duration, unit: seconds, get: value, optional: true}]
signals:
  - {type: job_failed, clear_when: up == 1, severity: major, message: "{message}"}
)yaml");
    model::PushMessage content;
    content.up = false;
    content.message = "disk full";
    content.value = 12.5;
    model::InboundMessage message{"192.0.2.1", {}, content};
    const auto out = addon->signals(message);
    ASSERT_THAT(told(out), ElementsAre("job_failed"));
    EXPECT_EQ(out[0].message, "disk full");
    const model::Readings readings = addon->read(message);
    ASSERT_EQ(readings.values.size(), 1U);
    EXPECT_EQ(std::get<double>(readings.values[0].value), 12.5);
    content.up = true;
    message.content = content;
    EXPECT_THAT(told(addon->signals(message)), ElementsAre("clear job_failed"));
    EXPECT_EQ(addon->push()->interval, std::chrono::hours(1));
}

TEST(Signals, MistakesAreToldWithTheirPlace) {
    const CompileResult result = compile(R"yaml(schema: pollux/1
name: x
version: 1.0.0
protocol: webhook
webhook: {fields: {kind: $.a}}
signals:
  - {type: "{kid}", when: "kind >"}
  - {type: a, trap: 1.3.6, reconcile: true}
)yaml",
                                         "x.yaml");
    EXPECT_EQ(result.addon, nullptr);
    const std::string text = result.diagnostics.text();
    EXPECT_THAT(text,
                HasSubstr("x.yaml:7: signals[0].type: \"kid\" is not read; did you mean kind?"));
    EXPECT_THAT(text, HasSubstr("signals[0].when"));
    EXPECT_THAT(text, HasSubstr("signals[1].trap: only fits protocol: trap"));
    EXPECT_THAT(text, HasSubstr("signals[1].reconcile: does not fit messages"));
}

TEST(Signals, AreBounded) {
    std::string body = "[";
    for (int i = 0; i < 1500; ++i) {
        body += (i > 0 ? "," : "") + std::string(R"({"severity": "CRITICAL", "resource": ")") +
                std::to_string(i) + "\"}";
    }
    const auto out = poll(*good(kAlarms), {http(body + "]")});
    EXPECT_EQ(out.signals.size(), 1000U);
    EXPECT_EQ(out.dropped, 500U);
    EXPECT_THAT(out.settled, IsEmpty());  // what was not looked at is not over
}

TEST(TimeText, ReadsTheUsualForms) {
    const auto iso = [](const char* text) {
        const auto time = guess_time(std::string(text));
        return time ? iso_time(*time) : "";
    };
    EXPECT_EQ(iso("2026-02-03T04:05:06.123Z"), "2026-02-03T04:05:06Z");
    EXPECT_EQ(iso("2026-02-03T04:05:06+02:00"), "2026-02-03T02:05:06Z");
    EXPECT_EQ(iso("2026-02-03 04:05:06"), "2026-02-03T04:05:06Z");
    EXPECT_EQ(iso("2026-02-03"), "2026-02-03T00:00:00Z");
    EXPECT_EQ(iso("2026-02-30"), "");
    EXPECT_EQ(iso("yesterday"), "");
    EXPECT_EQ(guess_time(std::int64_t{1'700'000'000'000})->us, 1'700'000'000'000'000);
    EXPECT_EQ(iso_time(*parse_time("Feb  3 2026 11:05 PM", "%b %e %Y %I:%M %p")),
              "2026-02-03T23:05:00Z");
    EXPECT_FALSE(is_time_format("%Q"));
}

}  // namespace
}  // namespace pollux::extract
