// What `pollux addon import` says of a manifest: one row per note, and manifests of which there is
// nothing to say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "app/addon_import.hpp"

namespace pollux::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Row {
    std::string parts;  // of the manifest
    const char* note;
};

constexpr const char* kFan = R"("alert_mappings": [{"group": "g", "alerts": [
    {"alert_type": "fan", "severity": "major"}]}])";
constexpr const char* kReconciled = R"("clear_events": {"method": "reconciliation"})";

ImportedAddon imported(const std::string& parts) {
    return import_addon("{\"id\": \"x\", \"name\": \"X\",\n" + parts + "}", "x.json");
}

// Manifests of which nothing has to be said, with places for more.
std::string http(const std::string& section = "", const std::string& more = "",
                 const std::string& endpoint = "") {
    return std::string(
               R"("method": "api_poll", "api_poll": {"base_url_template": "http://{host}", )") +
           (section.find("auth_type") == std::string::npos ? R"("auth_type": "basic", )" : "") +
           R"("endpoints": [{"path": "/", "alert_on_failure": "fan")" + endpoint + "}]" + section +
           R"(}, "parser": {"type": "json", "field_mappings": {"alert_type": "t"}}, )" +
           kReconciled + ", " + kFan + more;
}
std::string snmp(const std::string& section = "", const std::string& more = "") {
    return R"("method": "snmp_poll", "snmp_poll": {"poll_groups": [{"name": "g",
        "oids": [{"oid": "1.3.6.1.4.1.9.1.0", "name": "fan"}]}])" +
           section + "}, " + kFan + more;
}
std::string ssh(const std::string& command = "", const std::string& more = "") {
    return R"("method": "ssh", "ssh": {"commands": [{"command": "status")" + command +
           R"(}]}, "parser": {"type": "key_value", "field_mappings": {"alert_type": "t"}}, )" +
           kReconciled + ", " + kFan + more;
}
std::string trap(const std::string& section = "", const std::string& more = "") {
    return R"("method": "snmp_trap", "snmp_trap": {"trap_definitions": {
        "1.3.6.1.4.1.9.0.1": {"alert_type": "fan"}}, "varbind_mappings": {"1.3.6.1.4.1.9.2": "slot"})" +
           section + "}, " + kFan + more;
}
std::string webhook(const std::string& section = "", const std::string& more = "") {
    return R"("method": "webhook", "webhook": {"content_type": "application/json")" + section +
           R"(}, "parser": {"type": "json", "field_mappings": {"alert_type": "t", "name": "n"}}, )" +
           kReconciled + ", " + kFan + more;
}

void expect_told(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        EXPECT_THAT(imported(row.parts).notes.text(), HasSubstr(row.note)) << row.parts;
    }
}

TEST(AddonImportNotes, NothingIsSaidOfWhatStaysAsItWas) {
    for (const std::string& parts : {http(), snmp(), ssh(), trap(), webhook()}) {
        const ImportedAddon addon = imported(parts);
        EXPECT_TRUE(addon.good);
        EXPECT_EQ(addon.notes.text(), "") << parts;
    }
}

TEST(AddonImportNotes, UnknownKeysAreToldWhereverTheyStand) {
    expect_told({
        {http("", R"(, "colour": 1)"), "x.json:3: colour: warning: is not known: ignored"},
        {http(R"(, "verify_tls": false)"), "api_poll.verify_tls: warning: is not known"},
        {http("", "", R"(, "retries": 3)"), "endpoints[0].retries: warning: is not known"},
        {http("", R"(, "poll_groups": [])"), "poll_groups: warning: is not known"},
        {snmp(R"(, "max_oids": 3)"), "snmp_poll.max_oids: warning: is not known"},
        {snmp(R"(, "version": "2c", "comunity": "x")"), "snmp_poll.comunity: warning: is not"},
        {ssh("", R"(, "command": "uptime")"), "command: warning: is not known"},
        {trap(R"(, "port": 162)"), "snmp_trap.port: warning: is not known"},
        {webhook(R"(, "secret": "x")"), "webhook.secret: warning: is not known"},
        {R"("method": "webhook", "parser": {"field_mapings": {}, "field_mappings": {"alert_type": "t"}})",
         "parser.field_mapings: warning: is not known"},
        {ssh(R"(, "parse_rules": {"type": "regex", "patern": "x", "pattern": "x", "fields": []})"),
         "commands[0].parse_rules.patern: warning: is not known"},
        {http("", R"(, "transformations": {"alert_type": {"type": "lookup", "map": {"1": "fan"},
            "default": "fan"}})"),
         "transformations.alert_type.default: warning: is not known"},
        {http("", R"(, "transformations": {"alert_type": "rot13"})"),
         "transformations.alert_type: warning: \"rot13\" is not known"},
        {http("", R"(, "target_config_fields": [{"name": "site", "placeholder": "HQ"}])"),
         "target_config_fields[0].placeholder: warning: is not known"},
        {webhook("", R"(, "device_identification": {"mac_field": "mac"})"),
         "device_identification.mac_field: warning: is not known"},
        {R"("method": "webhook", "parser": {"field_mappings": {"alert_type": "t"}},
            "clear_events": {"clear_words": ["ok"]})",
         "clear_events.clear_words: warning: is not known"},
    });
}

TEST(AddonImportNotes, WhatIsKnownAndNotTakenOverIsToldToo) {
    expect_told({
        {http("", R"(, "credential_fields": [{"name": "username"}])"),
         "credential_fields: warning: are hints for a form: not taken over"},
        {http("", R"(, "target_config_fields": [{"name": "port", "default": 8080}])"),
         "target_config_fields[0].default: warning: is not taken over: \"port\" belongs"},
        {http("",
              R"(, "target_config_fields": [{"name": "pin", "type": "password", "default": "1"}])"),
         "target_config_fields[0].type: warning: is password, but becomes a parameter"},
        {http("", R"(, "severity_mappings": {"fan": "minor"})"),
         "severity_mappings: warning: is not read beside alert_mappings"},
        {http("", R"(, "transformations": {"fan_name": "lowercase"})"),
         "transformations.fan_name: warning: is of a field that is not read"},
        {http("", R"(, "transformations": {"alert_type": {"type": "datetime", "format": "%Q"}})"),
         "transformations.alert_type.format: warning: \"%Q\" holds what is not known"},
        {http("", R"(, "transformations": {"alert_type": "lookup"})"),
         "transformations.alert_type.map: warning: is missing"},
        {http("", R"(, "device_identification": {"name_field": "n"})"),
         "device_identification.name_field: warning: only counts for webhooks"},
        {http("", R"(, "verify_ssl": true, "endpoints": [])"),
         "endpoints: warning: stands in api_poll too, which counts"},
        {http(R"(, "auth_header": "X-Key")"), "auth_header: warning: only counts with api_key"},
        {webhook(
             "",
             R"(, "device_identification": {"identifier_oids": [], "identifier_patterns": []})"),
         "device_identification.identifier_patterns: warning: is not taken over"},
        {webhook("", R"(, "device_identification": {"ip_field": "address"})"),
         "device_identification.ip_field: warning: \"address\" is no field that is read"},
        {webhook(R"(, "auth_type": "header")"),
         "auth_type: warning: is header, which is not taken"},
        {webhook(R"(, "auth_key": "X-Key")"), "auth_key: warning: is not taken over"},
        {webhook("", R"(, "default_poll_interval": 60)"),
         "default_poll_interval: warning: means nothing where devices speak first"},
        {R"("method": "webhook", "parser": {"type": "key_value", "trim": false,
            "field_mappings": {"alert_type": "t"}})",
         "parser.trim: warning: is false, but blanks around keys and values are cut off"},
        {R"("method": "api_poll", "endpoints": [{"path": "/", "alerts_path": "$.a"}],
            "parser": {"type": "key_value", "field_mappings": {"alert_type": "t"}})",
         "alerts_path: warning: fits JSON only, and the parser is key_value"},
        {trap("", R"(, "parser": {"type": "json", "field_mappings": {}})"),
         "parser.type: warning: is json, which does not fit traps"},
        {trap("", R"(, "parser": {"type": "snmp", "field_mappings": {}})"),
         "parser.field_mappings: warning: is not known"},
        {snmp("", R"(, "parser": {"field_mappings": {}})"), "parser: warning: is not used"},
        {snmp("", R"(, "clear_events": {"method": "suffix"})"),
         "clear_events.method: warning: is not used: a condition clears when it is over"},
    });
}

// The list in docs/import.md, in its order.
TEST(AddonImportNotes, EveryChangeOfMeaningIsToldAtItsLine) {
    expect_told({
        {R"("method": "api_poll", "endpoints": [{"path": "/routers/{router_id}/"}])",
         "x.json:2: {router_id}: warning: is filled in from the target's params"},
        {http(R"(, "auth_type": null)"), "auth_type: warning: is null, which means no"},
        {R"("method": "api_poll", "endpoints": [{"path": "/"}])",
         "x.json:1: auth_type: warning: is missing: digest is taken"},
        {R"("method": "api_poll", "endpoints": [{"path": "/", "alert_on_failure": "gone"}], )" +
             std::string(kFan),
         "x.json:2: alert_on_failure: warning: gone is in no mapping"},
        {R"("method": "api_poll", "endpoints": [{"path": "/"}])",
         "endpoints[0]: warning: must answer, because no endpoint has alert_on_failure"},
        {R"("method": "snmp_poll", "poll_groups": [{"oids": [{"oid": "1.3.6.1.4.1.9.1.0"}],
            "alert_condition": {"field": "1.3.6.1.4.1.9.1.0", "value": 1, "alert_type": "fan"}}], )" +
             std::string(kFan),
         "x.json:3: alert_conditions: warning: raises fan by itself and clears it"},
        {snmp(R"(, "version": "3")"), "version: warning: 3 is spoken as such"},
        {ssh(R"(, "parse_type": "json")"),
         "x.json:2: parse_type: warning: counts for this command; before it was ignored"},
        {ssh("", R"(, "default_credentials": {"username": "u"})"),
         "default_credentials: warning: are used; before, SSH did not look"},
        {R"("method": "webhook", "clear_events": {"method": "suffix"},
            "parser": {"field_mappings": {"alert_type": "t"}})",
         "x.json:2: clear_events.method: warning: a type with \"_clear\" clears the alert"},
        {R"("method": "webhook", "parser": {"field_mappings": {"alert_type": "t"}})",
         "clear_events: warning: is missing: a type with \"_clear\" clears the alert"},
        {R"("method": "snmp_trap", "trap_definitions": {
            "1.3.6.1.4.1.9.0.1": {"alert_type": "fan"},
            "1.3.6.1.4.1.9.0.2": {"alert_type": "fan_clear"}}, )" +
             std::string(kFan),
         "x.json:4: trap_definitions.1.3.6.1.4.1.9.0.2: warning: clears fan, which fan_clear"},
        {R"("method": "snmp_trap", "trap_definitions": {
            "1.3.6.1.4.1.9.0.1": {"alert_type": "fan", "clear_oid": "1.3.6.1.4.1.9.0.2"},
            "1.3.6.1.4.1.9.0.2": {"alert_type": "fan"}}, )" +
             std::string(kFan),
         "x.json:4: trap_definitions.1.3.6.1.4.1.9.0.2: warning: clears what the other trap"},
        {R"("method": "webhook", "parser": {"field_mappings": {"alert_type": "t"}},
            "alert_mappings": [{"alerts": [{"alert_type": "link_down"},
            {"alert_type": "link_up", "severity": "clear"}]}])",
         "x.json:4: link_up: warning: is a recovery: it ends link_down"},
        {trap(R"(, "enterprise_oid": "*")"), "enterprise_oid: warning: is *: every trap"},
        {webhook(R"(, "endpoint_path": "/webhooks/x")"), "endpoint_path: warning: changes"},
        {webhook(R"(, "auth_token": "t")"), "auth_token: warning: is not taken over"},
        {R"("method": "webhook",
            "parser": {"type": "grok", "pattern": "%{NOPE} %{WORD:alert_type}"})",
         "x.json:3: parser.pattern: warning: %{NOPE} is no pattern that is known"},
    });
}

TEST(AddonImportNotes, APatternThatRe2DoesNotKnowIsRefused) {
    const ImportedAddon addon = imported(
        R"json("method": "webhook", "parser": {"type": "regex", "pattern": "(?=x)(.*)", "fields": ["t"]})json");
    EXPECT_FALSE(addon.good);
    EXPECT_THAT(addon.notes.text(), HasSubstr("(?="));
}

TEST(AddonImportNotes, OneFieldTooManyIsTold) {
    std::string mappings;
    for (int i = 0; i < 61; ++i) {
        mappings += (i == 0 ? "\"" : ", \"") + ("f" + std::to_string(i)) + "\": \"k\"";
    }
    const std::string notes =
        imported(R"("method": "webhook", "parser": {"field_mappings": {)" + mappings + "}}")
            .notes.text();
    EXPECT_THAT(notes, HasSubstr("field_mappings.f60: warning: is one more than 60 fields"));
    EXPECT_THAT(notes, Not(HasSubstr("field_mappings.f59")));
}

}  // namespace
}  // namespace pollux::app
