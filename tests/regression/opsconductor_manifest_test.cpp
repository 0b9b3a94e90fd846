// Defects of OpsConductor, a predecessor, in how manifests were read and how alerts were cleared.
// Each test takes such a manifest as it is and is named after what went wrong there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "derive/signal_keeper.hpp"
#include "extract/compiled_addon.hpp"

namespace pollux::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Imported {
    std::shared_ptr<const extract::CompiledAddon> addon;
    std::string notes;
};

Imported imported(const std::string& parts) {
    const auto result = extract::compile(R"({"id": "x", "name": "X", )" + parts + "}", "x.json");
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return {result.addon, result.diagnostics.text()};
}

Imported http_addon(const std::string& more, const std::string& endpoint = R"({"path": "/"})") {
    return imported(
        R"("method": "api_poll", "base_url_template": "http://{host}", "endpoints": [)" + endpoint +
        "]" + (more.empty() ? "" : ", " + more));
}

constexpr const char* kTypes =
    R"("alert_mappings": [{"group": "g", "alerts": [{"alert_type": "fan"}, {"alert_type": "disk"}]}])";
constexpr const char* kParser =
    R"("parser": {"field_mappings": {"alert_type": "t", "slot": "slot"}}, "auth_type": null)";

extract::TargetBinding binding() {
    extract::TargetBinding out;
    out.host = "192.0.2.1";
    return out;
}

model::HttpAuth auth_of(const Imported& imported) {
    const auto asks = imported.addon->asks(0, binding());
    return std::get<model::HttpAsk>(asks.value().front()->request).auth;
}

model::Reply http(std::string body) {
    model::HttpReply answer;
    answer.status = 200;
    answer.body = std::move(body);
    model::Reply reply;
    reply.answer = std::move(answer);
    return reply;
}

model::Reply silence(std::string code) {
    model::PollFailure failure;
    failure.kind = model::FailureKind::kTimeout;
    failure.code = std::move(code);
    failure.message = "no answer";
    model::Reply reply;
    reply.answer = std::move(failure);
    return reply;
}

model::PollSignals poll(const extract::CompiledAddon& addon, const model::Reply& reply) {
    const model::Reply* const replies[] = {&reply};
    return addon.signals(0, replies, {});
}

bool fails(const extract::CompiledAddon& addon, const model::Reply& reply) {
    const model::Reply* const replies[] = {&reply};
    return addon.failure(0, replies) != nullptr;
}

std::vector<std::string> told(const std::vector<model::Signal>& signals) {
    std::vector<std::string> out;
    for (const model::Signal& signal : signals) {
        out.push_back((signal.clear ? "clear " : "") + signal.type +
                      (signal.subject.empty() ? "" : "/" + signal.subject));
    }
    return out;
}

model::Reply snmp(std::vector<std::int64_t> values) {
    model::SnmpReply answer;
    for (const std::int64_t value : values) {
        model::SnmpValue& added = answer.gets.emplace_back();
        added.type = model::SnmpType::kInteger;
        added.integer = value;
    }
    model::Reply reply;
    reply.answer = std::move(answer);
    return reply;
}

model::InboundMessage trap(std::string_view oid) {
    model::TrapMessage content;
    content.trap = *model::parse_oid(oid);
    return {"192.0.2.1", {}, std::move(content)};
}

Imported snmp_addon(const std::string& more = "") {
    return imported(R"("method": "snmp_poll", "snmp_poll": {"poll_groups": [{"name": "g",
        "oids": [{"oid": "1.3.6.1.4.1.9.1.0", "name": "fan"}],
        "alert_conditions": [{"field": "1.3.6.1.4.1.9.1.0", "value": 2, "alert_type": "fan"}]}]}, )" +
                    more + kTypes);
}

Imported trap_addon(const std::string& enterprise, const std::string& more = "") {
    return imported(R"("method": "snmp_trap", "enterprise_oid": ")" + enterprise +
                    R"(", "trap_definitions": {
        "1.3.6.1.4.1.9.0.1": {"alert_type": "fan", "clear_oid": "1.3.6.1.4.1.9.0.2"},
        "1.3.6.1.4.1.9.0.2": {"alert_type": "fan"}})" +
                    more);
}

// Ids were said to be letters, digits and underscores, while a shipped one had a hyphen.
TEST(OpsConductorDefect, AnIdWithAHyphenBreaksItsOwnRule) {
    const auto result = extract::compile(
        R"({"id": "snmp-generic", "name": "S", "method": "snmp_trap",
            "trap_definitions": {"1.3.6.1.6.3.1.1.5.1": {"alert_type": "cold_start"}}})",
        "x.json");
    ASSERT_NE(result.addon, nullptr) << result.diagnostics.text();
    EXPECT_EQ(result.addon->addon().name, "snmp-generic");
}

// No auth_type meant digest, which nobody had written down, and null meant basic as soon as there
// was a user. Here the first is told, and null is none.
TEST(OpsConductorDefect, NoAuthenticationMeansSomeAuthentication) {
    const auto missing = http_addon("");
    EXPECT_EQ(auth_of(missing), model::HttpAuth::kDigest);
    EXPECT_THAT(missing.notes, HasSubstr("auth_type: warning: is missing"));
    const auto none = http_addon(R"("auth_type": null)");
    EXPECT_EQ(auth_of(none), model::HttpAuth::kNone);
    EXPECT_THAT(none.notes, HasSubstr("auth_type: warning: is null"));
}

// {router_id} in a path went to the device as it stood.
TEST(OpsConductorDefect, PlaceholdersInPathsAreSentAsTheyStand) {
    const auto addon =
        http_addon(R"("auth_type": "basic")", R"({"path": "/routers/{router_id}/"})");
    auto target = binding();
    EXPECT_FALSE(addon.addon->asks(0, target).has_value());  // it must be given
    target.parameters["router_id"] = "42";
    const auto asks = addon.addon->asks(0, target);
    ASSERT_TRUE(asks.has_value()) << asks.error().message;
    EXPECT_EQ(std::get<model::HttpAsk>(asks->front()->request).url, "http://192.0.2.1/routers/42/");
}

// An alert for a dead device was dropped when its type stood in no mapping.
TEST(OpsConductorDefect, AFailureWhoseTypeIsNotListedIsDropped) {
    const auto addon = http_addon(std::string(R"("auth_type": null, )") + kTypes,
                                  R"({"path": "/", "alert_on_failure": "device_offline"})");
    const auto signals = poll(*addon.addon, silence("http.timeout"));
    ASSERT_THAT(told(signals.signals), ElementsAre("device_offline"));
    EXPECT_EQ(signals.signals[0].severity, "critical");
    EXPECT_THAT(addon.notes, HasSubstr("device_offline is in no mapping"));
}

// A poll that took too long or ended in an error was an alert `poll_timeout` or `poll_error`, which
// was dropped unless the manifest happened to list it. Here it fails the poll, whatever is listed;
// and a failed poll clears nothing.
TEST(OpsConductorDefect, AnErrorOfThePollItselfIsDropped) {
    const auto addon = http_addon(std::string(kParser) + ", " + kTypes);
    for (const model::FailureKind kind :
         {model::FailureKind::kTimeout, model::FailureKind::kInternal}) {
        model::Reply reply = silence("poll");
        std::get<model::PollFailure>(reply.answer).kind = kind;
        EXPECT_TRUE(fails(*addon.addon, reply));
        derive::SignalKeeper keeper;
        keeper.apply(poll(*addon.addon, http(R"({"t": "fan"})")), {1});
        ASSERT_EQ(keeper.raised().size(), 1U);
        EXPECT_THAT(keeper.apply(poll(*addon.addon, reply), {2}), IsEmpty());
        EXPECT_EQ(keeper.raised().size(), 1U);
    }
}

// Without alert_on_failure nobody learned that a device was dead.
TEST(OpsConductorDefect, ADeadDeviceIsNotNoticedWithoutAlertOnFailure) {
    const auto addon = http_addon(R"("auth_type": null)");
    EXPECT_TRUE(fails(*addon.addon, silence("http.timeout")));
}

// What a condition found went through the parser, which had no mapping for it and lost it.
TEST(OpsConductorDefect, SnmpConditionsAreLostInTheParser) {
    EXPECT_THAT(told(poll(*snmp_addon().addon, snmp({2})).signals), ElementsAre("fan"));
}

// A condition that was over cleared nothing.
TEST(OpsConductorDefect, SnmpConditionsAreNeverCleared) {
    const auto addon = snmp_addon();
    derive::SignalKeeper keeper;
    keeper.apply(poll(*addon.addon, snmp({2})), {1});
    const auto changes = keeper.apply(poll(*addon.addon, snmp({1})), {2});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].step, derive::SignalStep::kCleared);
    EXPECT_EQ(changes[0].signal.type, "fan");
}

// An agent that did not answer was passed over in silence. It fails the poll, and clears nothing.
TEST(OpsConductorDefect, AnSnmpFailureSaysNothing) {
    const auto addon = snmp_addon();
    EXPECT_TRUE(fails(*addon.addon, silence("snmp.timeout")));
    derive::SignalKeeper keeper;
    keeper.apply(poll(*addon.addon, snmp({2})), {1});
    EXPECT_THAT(keeper.apply(poll(*addon.addon, silence("snmp.timeout")), {2}), IsEmpty());
}

// Version 3 was sent as 2c.
TEST(OpsConductorDefect, Version3IsSpokenAs2c) {
    const auto addon = imported(R"("method": "snmp_poll", "snmp_poll": {"version": "v3",
        "poll_groups": [{"name": "g", "oids": [{"oid": "1.3.6.1.2.1.1.5.0", "name": "n"}]}]})");
    const auto asks = addon.addon->asks(0, binding());
    ASSERT_TRUE(asks.has_value());
    EXPECT_EQ(std::get<model::SnmpAsk>(asks->front()->request).version, model::SnmpVersion::kV3);
}

model::Reply command(std::string out) {
    model::CommandReply answer;
    answer.out = std::move(out);
    model::Reply reply;
    reply.answer = std::move(answer);
    return reply;
}

constexpr const char* kSsh = R"("method": "ssh", "default_credentials": {"username": "ubnt"},
    "commands": [{"command": "status", "parse_type": "key_value"}],
    "parser": {"type": "json", "delimiter": "=", "field_mappings": {"alert_type": "t"}}, )";

// What a command said it prints was ignored for what the manifest as a whole said.
TEST(OpsConductorDefect, TheParserOfACommandIsIgnored) {
    const auto addon = imported(std::string(kSsh) + kTypes);
    EXPECT_THAT(told(poll(*addon.addon, command("t=fan\n")).signals), ElementsAre("fan"));
}

// SSH did not look at the credentials of the manifest.
TEST(OpsConductorDefect, SshForgetsTheDefaultCredentials) {
    const auto asks = imported(std::string(kSsh) + kTypes).addon->asks(0, binding());
    ASSERT_TRUE(asks.has_value());
    ASSERT_NE(asks->front()->credentials, nullptr);
    EXPECT_EQ(asks->front()->credentials->username, "ubnt");
}

// A host that could not be reached by SSH raised nothing.
TEST(OpsConductorDefect, AnSshFailureSaysNothing) {
    EXPECT_TRUE(fails(*imported(std::string(kSsh) + kTypes).addon, silence("ssh.timeout")));
}

// `*` for the enterprise matched no trap at all.
TEST(OpsConductorDefect, AnyEnterpriseMatchesNone) {
    model::TrapMessage message;
    message.trap = *model::parse_oid("1.3.6.1.4.1.9.0.1");
    EXPECT_EQ(trap_addon("*").addon->trap_fit(message), 0U);
}

// Enterprises were compared as texts, so 1.3.6.1.4.1.9 took the traps of 1.3.6.1.4.1.99; and the
// first addon won. Here they are compared arc by arc, and the longest fits best.
TEST(OpsConductorDefect, EnterprisesAreComparedAsTexts) {
    const auto addon = trap_addon("1.3.6.1.4.1.9");
    model::TrapMessage message;
    message.trap = *model::parse_oid("1.3.6.1.4.1.99.0.1");
    EXPECT_EQ(addon.addon->trap_fit(message), std::nullopt);
    message.trap = *model::parse_oid("1.3.6.1.4.1.9.0.1");
    EXPECT_GT(*addon.addon->trap_fit(message), *trap_addon("*").addon->trap_fit(message));
}

// fan_clear cleared an alert fan_clear, which nobody had raised.
TEST(OpsConductorDefect, ASuffixClearsAnotherAlertThanItMeans) {
    const auto addon = http_addon(std::string(kParser) + ", " + kTypes);
    EXPECT_THAT(told(poll(*addon.addon, http(R"({"t": "fan"})")).signals), ElementsAre("fan"));
    EXPECT_THAT(told(poll(*addon.addon, http(R"({"t": "fan_clear"})")).signals),
                ElementsAre("clear fan"));
}

// That a trap was the clear of a pair got lost on its way, and the clear raised once more.
TEST(OpsConductorDefect, TheClearOfATrapIsLost) {
    const auto addon = trap_addon("*", R"(, "clear_events": {"method": "oid_pair"})");
    EXPECT_THAT(told(addon.addon->signals(trap("1.3.6.1.4.1.9.0.1"))), ElementsAre("fan"));
    EXPECT_THAT(told(addon.addon->signals(trap("1.3.6.1.4.1.9.0.2"))), ElementsAre("clear fan"));
}

// A type of severity `clear` was an alert of its own that ended nothing.
TEST(OpsConductorDefect, RecoveriesEndNothing) {
    const auto addon = http_addon(std::string(kParser) + R"(, "alert_mappings": [{"alerts": [
        {"alert_type": "link_down", "severity": "major"},
        {"alert_type": "link_up", "severity": "clear"},
        {"alert_type": "dry", "severity": "clear", "clears": ["wet"]}]}])");
    EXPECT_THAT(told(poll(*addon.addon, http(R"({"t": "link_up"})")).signals),
                ElementsAre("clear link_down"));
    EXPECT_THAT(told(poll(*addon.addon, http(R"({"t": "dry"})")).signals),
                ElementsAre("clear wet"));
}

// Two disks of one device were one alert. They are told apart where the manifest says by what.
TEST(OpsConductorDefect, TwoDisksShareOneAlert) {
    const auto addon =
        http_addon(std::string(kParser) + ", " + kTypes + R"(, "fingerprint_fields": ["slot"])");
    EXPECT_THAT(told(poll(*addon.addon, http(R"({"t": "disk", "slot": 1})")).signals),
                ElementsAre("disk/1"));
    EXPECT_THAT(told(poll(*addon.addon, http(R"({"t": "disk", "slot": 2})")).signals),
                ElementsAre("disk/2"));
}

// Kept on purpose: of several rows of one type the first says whether it counts, and the last that
// is enabled what it looks like; a type in no row is dropped.
TEST(OpsConductorKept, DuplicateRowsOfOneType) {
    const auto addon = http_addon(std::string(kParser) + R"(, "alert_mappings": [{"alerts": [
        {"alert_type": "fan", "severity": "minor", "title": "first"},
        {"alert_type": "disk", "enabled": false},
        {"alert_type": "fan", "enabled": false, "severity": "info"},
        {"alert_type": "disk", "enabled": true},
        {"alert_type": "fan", "severity": "critical", "title": "last", "category": "power"}]}])");
    const auto fan = poll(*addon.addon, http(R"({"t": "fan"})"));
    ASSERT_EQ(fan.signals.size(), 1U);
    EXPECT_EQ(fan.signals[0].severity, "critical");
    EXPECT_EQ(fan.signals[0].title, "last");
    EXPECT_EQ(fan.signals[0].category, "power");
    EXPECT_THAT(poll(*addon.addon, http(R"({"t": "disk"})")).signals, IsEmpty());
    EXPECT_THAT(poll(*addon.addon, http(R"({"t": "other"})")).signals, IsEmpty());
}

// Kept on purpose: without alert_mappings every type counts, `unknown` among them.
TEST(OpsConductorKept, FlatMappingsAdmitEveryType) {
    const auto addon =
        http_addon(std::string(kParser) + R"(, "severity_mappings": {"fan": "major"})");
    EXPECT_EQ(poll(*addon.addon, http(R"({"t": "fan"})")).signals.at(0).severity, "major");
    const auto other = poll(*addon.addon, http(R"({"slot": 3})"));
    ASSERT_THAT(told(other.signals), ElementsAre("unknown"));
    EXPECT_EQ(other.signals[0].severity, "warning");
    EXPECT_THAT(poll(*addon.addon, http("{}")).signals, IsEmpty());  // nothing read: no alert
}

// Kept on purpose: how values are compared.
TEST(OpsConductorKept, OperatorsOfConditions) {
    const auto raises = [](const std::string& operation, const std::string& value,
                           const std::string& seen) {
        const auto addon = imported(R"("method": "snmp_poll", "snmp_poll": {"poll_groups": [{
            "name": "g", "oids": [{"oid": "1.3.6.1.4.1.9.1.0", "name": "v"}], "alert_condition": {
            "field": "v", "operator": ")" +
                                    operation + R"(", "value": )" + value +
                                    R"(, "alert_type": "fan"}}]}, )" + kTypes);
        model::SnmpReply answer;
        model::SnmpValue& given = answer.gets.emplace_back();
        given.type = model::SnmpType::kOctetString;
        given.bytes = seen;
        model::Reply reply;
        reply.answer = std::move(answer);
        return !poll(*addon.addon, reply).signals.empty();
    };
    EXPECT_TRUE(raises("equals", "5", "5.0"));
    EXPECT_TRUE(raises("equals", "\"on\"", "on"));
    EXPECT_FALSE(raises("equals", "5", "five"));
    EXPECT_TRUE(raises("not_equals", "5", "five"));
    EXPECT_FALSE(raises("not_equals", "\"5\"", "5"));
    EXPECT_TRUE(raises("greater_than", "9", "10"));
    EXPECT_FALSE(raises("greater_than", "9", "hot"));
    EXPECT_TRUE(raises("less_than", "10", "-3"));
    EXPECT_TRUE(raises("contains", "\"attery\"", "On Battery"));
    EXPECT_FALSE(raises("between", "5", "5"));
}

}  // namespace
}  // namespace pollux::tests
