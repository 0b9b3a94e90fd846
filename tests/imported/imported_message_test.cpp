// Manifests of what devices send by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract/time_text.hpp"
#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::shared_ptr<const extract::CompiledAddon> addon_of(const std::string& name) {
    const extract::CompileResult result = load_imported(name);
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

std::vector<std::string> told(const std::vector<model::Signal>& signals) {
    ImportedDevice::Poll poll;
    poll.signals.signals = signals;
    return poll.told();
}

model::InboundMessage trap(std::string_view oid) {
    model::TrapMessage content;
    content.trap = *model::parse_oid(oid);
    model::SnmpValue index;
    index.type = model::SnmpType::kInteger;
    index.integer = 3;
    content.varbinds = {{*model::parse_oid("1.3.6.1.2.1.2.2.1.1.3"), index}};
    return {"192.0.2.7", {}, std::move(content)};
}

TEST(ImportedSnmpGeneric, ReadsTrapsAndPairsThem) {
    const auto addon = addon_of("snmp-generic");
    const auto down = addon->signals(trap("1.3.6.1.6.3.1.1.5.3"));
    ASSERT_THAT(told(down), ElementsAre("link_down major"));
    EXPECT_EQ(down[0].title, "Link down on 192.0.2.7");
    EXPECT_EQ(down[0].message, "A link went down");
    EXPECT_THAT(down[0].fields, ElementsAre(Pair("ifIndex", "3")));
    EXPECT_THAT(told(addon->signals(trap("1.3.6.1.6.3.1.1.5.4"))),
                ElementsAre("clear link_down major"));
    const auto cold = addon->signals(trap("1.3.6.1.6.3.1.1.5.1"));
    ASSERT_THAT(told(cold), ElementsAre("cold_start warning"));
    EXPECT_EQ(cold[0].title, "Generic SNMP traps: Cold Start on 192.0.2.7");
    EXPECT_THAT(told(addon->signals(trap("1.3.6.1.6.3.1.1.5.2"))), ElementsAre("warm_start info"));
    EXPECT_THAT(addon->signals(trap("1.3.6.1.6.3.1.1.5.9")), IsEmpty());
}

model::InboundMessage hook(std::string body, std::string type = "application/json") {
    model::WebhookMessage content;
    content.path = "/x";
    content.content_type = std::move(type);
    content.body = std::move(body);
    return {"192.0.2.9", {}, std::move(content)};
}

TEST(ImportedPrtg, ReadsItsSensors) {
    const auto addon = addon_of("prtg");
    const auto down = addon->signals(hook(R"json({"statusid": 5, "host": "srv1 (192.0.2.33)",
        "device": "srv1", "datetime": "2026-02-03 04:05:06",
        "sensor": {"name": "Ping", "message": "timeout"}})json"));
    ASSERT_THAT(told(down), ElementsAre("sensor_down/Ping critical"));
    EXPECT_EQ(down[0].title, "Ping of srv1 is down");
    EXPECT_EQ(down[0].message, "timeout");
    EXPECT_EQ(down[0].device_address, "192.0.2.33");
    EXPECT_EQ(down[0].device_name, "srv1");
    ASSERT_TRUE(down[0].at.has_value());
    EXPECT_EQ(extract::iso_time(*down[0].at), "2026-02-03T04:05:06Z");
    EXPECT_THAT(down[0].fields, Contains(Pair("relay", "192.0.2.9")));
    EXPECT_THAT(told(addon->signals(hook(R"({"statusid": 3, "sensor": {"name": "Ping"}})"))),
                ElementsAre("clear sensor_down/Ping clear", "clear sensor_warning/Ping clear"));
    EXPECT_THAT(addon->signals(hook(R"({"statusid": 12})")), IsEmpty());  // not in its mappings
    EXPECT_THAT(addon->signals(hook("[]")), IsEmpty());
}

TEST(ImportedPrtg, ReadsAFormWhereJsonIsExpected) {
    const auto addon = addon_of("prtg");
    const auto out = addon->signals(
        hook("statusid=4&host=192.0.2.34&device=srv2", "application/x-www-form-urlencoded"));
    ASSERT_THAT(told(out), ElementsAre("sensor_warning warning"));
    EXPECT_EQ(out[0].device_address, "192.0.2.34");
}

TEST(ImportedMilestone, ReadsFormsAndTheEndsOfEvents) {
    const auto addon = addon_of("milestone");
    const auto out = addon->signals(hook(
        "EventType=communication_error&Message=no+video&SourceName=Gate&SourceAddress=192.0.2.40",
        "application/x-www-form-urlencoded"));
    ASSERT_THAT(told(out), ElementsAre("communication_error major"));
    EXPECT_EQ(out[0].message, "no video");
    EXPECT_EQ(out[0].device_address, "192.0.2.40");
    EXPECT_EQ(out[0].device_name, "Gate");
    EXPECT_THAT(told(addon->signals(hook("EventType=communication_error_ended"))),
                ElementsAre("clear communication_error major"));
    EXPECT_THAT(load_imported("milestone").diagnostics.text(),
                HasSubstr("colour: warning: is not known: ignored"));
}

}  // namespace
}  // namespace pollux::tests
