#include "config/fleet_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"

namespace pollux::config {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read;

TEST(FleetReader, ReadsADeviceWithEverything) {
    const auto result = read(R"(
devices:
  web1:
    addresses: [192.0.2.1, "2001:db8::1", web1.example]
    port: 8443
    labels: {role: web, rack: 12}
    region: eu
    groups: [web, prod]
    parents: [gw1, [sw1, sw2]]
    behind: connection
    credentials: portal
    limits: {rate: 2.5, slots: 3, slots_per_class: 2}
    tier: high
    interval: {min: 10s, base: 1m, max: 5m}
    staleness_bound: 3m
    timeout: 1500ms
    resends: 2
    failure_profile: pulse
    adaptive: false
    enabled: true
    tls: {verify: false, ca_file: /etc/ca.pem, pin_sha256: "AB:CD"}
    snmp: {version: 1, community: "${COMMUNITY}"}
    params: {path: /health, depth: 3}
    resources: {report: 2}
    addons:
      - snmp-system
      - name: http-json
        interval: 30s
        group_intervals: {inventory: 2h}
)");
    // The pin above is too short on purpose: everything else must be read nevertheless.
    EXPECT_EQ(result.diagnostics.errors(), 1U) << result.diagnostics.text();
    EXPECT_THAT(result.diagnostics.text(),
                HasSubstr("a.yaml:21: devices.web1.tls.pin_sha256: must be the 64 hex"));
    const Device& device = result.fleet().devices.at("web1");
    EXPECT_EQ(device.addresses.size(), 3U);
    EXPECT_EQ(device.poll.port, 8443);
    EXPECT_EQ(device.labels, (Labels{{"rack", "12"}, {"role", "web"}}));
    EXPECT_EQ(device.device.region, "eu");
    EXPECT_EQ(device.groups, (std::vector<std::string>{"web", "prod"}));
    EXPECT_EQ(device.parents, (std::vector<std::vector<std::string>>{{"gw1"}, {"sw1", "sw2"}}));
    EXPECT_EQ(device.behind, Behind::kConnection);
    EXPECT_EQ(device.poll.credentials, "portal");
    EXPECT_EQ(device.device.rate, 2.5);
    EXPECT_EQ(device.device.slots, 3U);
    EXPECT_EQ(device.device.slots_per_class, 2U);
    EXPECT_EQ(device.poll.tier, model::Tier::kHigh);
    EXPECT_EQ(device.poll.interval, (IntervalRange{10s, 1min, 5min}));
    EXPECT_EQ(device.poll.staleness_bound, base::Duration(3min));
    EXPECT_EQ(device.poll.timeout, base::Duration(1500ms));
    EXPECT_EQ(device.poll.resends, 2U);
    EXPECT_EQ(device.poll.failure_profile, model::FailureProfile::kPulse);
    EXPECT_EQ(device.poll.adaptive, false);
    EXPECT_EQ(device.poll.enabled, true);
    EXPECT_EQ(device.poll.tls.verify, false);
    EXPECT_EQ(device.poll.snmp.version, model::SnmpVersion::kV1);
    EXPECT_EQ(device.poll.snmp.community->name, "COMMUNITY");
    EXPECT_EQ(device.poll.params, (Parameters{{"depth", "3"}, {"path", "/health"}}));
    EXPECT_EQ(device.poll.resources, (ByName<std::int64_t>{{"report", 2}}));
    EXPECT_EQ(device.addons.at("http-json").interval.base, base::Duration(30s));
    EXPECT_EQ(device.addons.at("http-json").group_intervals.at("inventory"), base::Duration(2h));
    EXPECT_EQ(device.addons.at("snmp-system"), PollSettings{});
}

TEST(FleetReader, ReadsListsWithNamesToo) {
    const auto by_list = read("devices:\n- name: a\n  address: 192.0.2.1\n- name: b\n");
    const auto by_map = read("devices:\n  a: {address: 192.0.2.1}\n  b:\n");
    EXPECT_TRUE(by_list.diagnostics.ok()) << by_list.diagnostics.text();
    EXPECT_EQ(by_list.fleet(), by_map.fleet());
}

TEST(FleetReader, TheOrderOfFilesDoesNotMatter) {
    const std::string one = "defaults: {tier: low}\ndevices: {a: {address: 192.0.2.1}}\n";
    const std::string two = "groups: {g: {members: [a]}}\ndevices: {b: {address: 192.0.2.2}}\n";
    const auto forward = read(std::vector{one, two});
    const auto backward = read(std::vector{two, one});
    EXPECT_TRUE(forward.diagnostics.ok());
    EXPECT_EQ(forward.fleet(), backward.fleet());
    EXPECT_EQ(forward.fleet().devices.size(), 2U);
}

TEST(FleetReader, NamesAreComposed) {
    const auto result = read("devices:\n  \"cafe\\u0301\": {address: 192.0.2.1}\n");
    EXPECT_TRUE(result.fleet().devices.contains("caf\xC3\xA9")) << result.diagnostics.text();
}

TEST(FleetReader, EmptyFilesAreFine) {
    const auto result = read(std::vector<std::string>{"", "# nothing\n", "devices:\n"});
    EXPECT_TRUE(result.diagnostics.ok()) << result.diagnostics.text();
    EXPECT_EQ(result.fleet(), Fleet{});
}

TEST(FleetReader, LiteralSecretsAreAWarning) {
    const auto result = read(
        "credentials:\n  lab:\n    username: u\n    password: hunter2\n    token: ${TOKEN}\n"
        "    community: public\n    client_key_password: vault:key\n");
    EXPECT_TRUE(result.diagnostics.ok()) << result.diagnostics.text();
    EXPECT_THAT(result.diagnostics.text(),
                HasSubstr("a.yaml:4: credentials.lab.password: warning: is written in the clear; "
                          "better name it: ${VARIABLE}, file:/path or vault:name"));
    EXPECT_EQ(result.diagnostics.warnings(), 1U);
    EXPECT_THAT(result.diagnostics.text(), ::testing::Not(HasSubstr("hunter2")));
    EXPECT_EQ(result.fleet().credentials.at("lab").password->literal.reveal(), "hunter2");
    EXPECT_EQ(result.fleet().credentials.at("lab").token->kind, SecretKind::kEnvironment);
}

TEST(FleetReader, ReadsUsersOfSnmpThree) {
    const auto result = read(R"(
credentials:
  core:
    username: pollux
    snmp_auth: sha256
    snmp_auth_password: ${AUTH}
    snmp_privacy: aes256c
    snmp_privacy_password: vault:core/privacy
    snmp_context: bridge
)");
    EXPECT_TRUE(result.diagnostics.ok()) << result.diagnostics.text();
    EXPECT_EQ(result.diagnostics.warnings(), 0U) << result.diagnostics.text();
    const Credential& credential = result.fleet().credentials.at("core");
    EXPECT_EQ(credential.snmp_auth, model::SnmpAuth::kSha256);
    EXPECT_EQ(credential.snmp_auth_password->name, "AUTH");
    EXPECT_EQ(credential.snmp_privacy, model::SnmpPrivacy::kAes256c);
    EXPECT_EQ(credential.snmp_privacy_password->name, "core/privacy");
    EXPECT_EQ(credential.snmp_context, "bridge");
}

TEST(FleetReader, UsersOfSnmpThreeMustBeWhole) {
    const auto complaint = [](const std::string& lines) {
        return read("credentials:\n  c:\n    username: u\n" + lines).diagnostics.text();
    };
    EXPECT_THAT(complaint("    snmp_privacy: aes128\n    snmp_privacy_password: ${P}\n"),
                HasSubstr("credentials.c.snmp_privacy: needs authentication too"));
    EXPECT_THAT(complaint("    snmp_auth: sha256\n"),
                HasSubstr("snmp_auth and snmp_auth_password go together"));
    EXPECT_THAT(complaint("    snmp_auth_password: ${P}\n"),
                HasSubstr("snmp_auth and snmp_auth_password go together"));
    const std::string text = complaint("    snmp_auth: sha1\n    snmp_auth_password: hunter2\n");
    EXPECT_THAT(text, HasSubstr("has fewer than 8 characters"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("hunter2")));
    EXPECT_THAT(complaint("    snmp_auth: sha3\n    snmp_auth_password: ${P}\n"),
                HasSubstr("credentials.c.snmp_auth"));
    EXPECT_THAT(read("credentials:\n  c:\n    snmp_auth: sha1\n    snmp_auth_password: ${P}\n")
                    .diagnostics.text(),
                HasSubstr("warning: SNMPv3 needs `username` too"));
}

TEST(FleetReader, ReadsSources) {
    const auto result = read(R"(
sources:
  racks: {file_sd: [/a/*.json, /b.yml], refresh: 30s, addons: snmp-system, groups: [g]}
  inventory:
    http_sd: https://inventory.example/sd
    label_map: {__meta_rack: rack, junk: ""}
    name_label: host
    region_label: site
)");
    EXPECT_TRUE(result.diagnostics.ok()) << result.diagnostics.text();
    const Source& racks = result.fleet().sources.at("racks");
    EXPECT_EQ(racks.kind, SourceKind::kFile);
    EXPECT_EQ(racks.paths, (std::vector<std::string>{"/a/*.json", "/b.yml"}));
    EXPECT_EQ(racks.refresh, base::Duration(30s));
    EXPECT_EQ(racks.addons, std::vector<std::string>{"snmp-system"});
    const Source& inventory = result.fleet().sources.at("inventory");
    EXPECT_EQ(inventory.kind, SourceKind::kHttp);
    EXPECT_EQ(inventory.refresh, base::Duration(5min));
    EXPECT_EQ(inventory.label_map.at("junk"), "");
    EXPECT_EQ(inventory.region_label, "site");
}

struct BadCase {
    const char* text;
    const char* complaint;  // with file and line
};

TEST(FleetReader, EveryComplaintNamesPlaceFieldAndAdvice) {
    const BadCase cases[] = {
        {"devises: {}", "a.yaml:1: devises: is no known key; did you mean devices?"},
        {"devices:\n  a:\n    adress: 192.0.2.1",
         "a.yaml:3: devices.a.adress: is no known key; did you mean address?"},
        {"devices:\n  a:\n    interval: quick",
         "a.yaml:3: devices.a.interval: \"quick\" is no duration; write it like 10s"},
        {"devices:\n  a:\n    interval: 10ms",
         "a.yaml:3: devices.a.interval: 10ms is out of range; 100ms to 31d is possible"},
        {"devices:\n  a:\n    interval:\n      min: 20s\n      base: 10s",
         "a.yaml:4: devices.a.interval.min: 20 s is greater than base = 10 s; the rule is min <= "
         "base <= max"},
        {"devices:\n  a:\n    interval: {min: 9m, max: 1m}",
         "a.yaml:3: devices.a.interval.min: 9 min is greater than max = 1 min"},
        {"devices:\n  a:\n    tier: urgent",
         "a.yaml:3: devices.a.tier: \"urgent\" is not known; possible: low, normal, high or "
         "critical"},
        {"devices:\n  a:\n    failure_profile: puls",
         "a.yaml:3: devices.a.failure_profile: \"puls\" is not known; did you mean pulse?"},
        {"devices:\n  a:\n    address: 192.0.2.1:80",
         "a.yaml:3: devices.a.address: \"192.0.2.1:80\" has a port; write the address as "
         "\"192.0.2.1\" and `port: 80` beside it"},
        {"devices:\n  a:\n    addresses:\n    - 192.0.2.1\n    - \"[::1]\"",
         "a.yaml:5: devices.a.addresses[1]: \"[::1]\" has brackets; write the address without"},
        {"devices:\n  a:\n    address: http://x/",
         "a.yaml:3: devices.a.address: \"http://x/\" is a URL; write only the host"},
        {"devices:\n  a:\n    address: 192.0.2.256",
         "a.yaml:3: devices.a.address: \"192.0.2.256\" is no IPv4 address, IPv6 address or host"},
        {"devices:\n  a: {address: x, addresses: [y]}",
         "a.yaml:2: devices.a.address: is given beside `addresses`; write one of them"},
        {"devices:\n  a:\n    port: 70000",
         "a.yaml:3: devices.a.port: \"70000\" is no whole number from 1 to 65535"},
        {"devices:\n  a:\n    enabled: maybe",
         "a.yaml:3: devices.a.enabled: \"maybe\" is no truth value; write true or false"},
        {"devices:\n  a:\n    addons: [x, x]",
         "a.yaml:3: devices.a.addons[1]: addon \"x\" is there twice"},
        {"devices:\n  a:\n    addons: [Big]",
         "a.yaml:3: devices.a.addons[0]: addon \"Big\" is not allowed: use 1 to 64 characters"},
        {"devices:\n  a:\n    addons:\n    - interval: 5s",
         "a.yaml:4: devices.a.addons[0].name: is missing; it is required"},
        {"devices:\n  a:\n    groups: [g, g]",
         "a.yaml:3: devices.a.groups[1]: \"g\" is there twice"},
        {"devices:\n  a:\n    behind: wall",
         "a.yaml:3: devices.a.behind: \"wall\" is not known; possible: network or connection"},
        {"devices:\n  a:\n    limits: {rate: 0}", "a.yaml:3: devices.a.limits.rate: 0 is out of"},
        {"devices:\n  a:\n    snmp: {community: topsecret}",
         "a.yaml:3: devices.a.snmp.community: must not be written here"},
        {"devices:\n  a:\n    snmp: {community: topsecret}",
         "put it into the section `credentials`"},
        {"devices:\n  a:\n    snmp: {version: 4}",
         "a.yaml:3: devices.a.snmp.version: \"4\" is not known; possible: 1, 2c or 3"},
        {"devices:\n  a:\n    tls: {ca_file: ca.pem}",
         "a.yaml:3: devices.a.tls.ca_file: must be an absolute path"},
        {"devices:\n  a:\n    group_intervals: {x: 5s}",
         "a.yaml:3: devices.a.group_intervals: is no known key"},
        {"devices: [{address: x}]", "a.yaml:1: devices[0]: has no name; write `- name: my-device`"},
        {"devices: 5", "a.yaml:1: devices: is a single value; a map of names is wanted"},
        {"devices:\n  a: 5",
         "a.yaml:2: devices.a: is a single value; a map of keys and values is wanted"},
        {"devices:\n  \"a\\u0001b\": {}",
         "a.yaml:2: devices.a\x01"
         "b: device \"a\\x01b\" is not allowed: it must not contain control characters"},
        {"devices:\n  a: {}\n  a: {}", "a.yaml:3"},
        {"groups:\n  g:\n    match: {role: []}",
         "a.yaml:3: groups.g.match.role: has no value; write one, a list of them, or \"*\""},
        {"targets:\n  web1: {tier: low}",
         "a.yaml:2: targets.web1: \"web1\" is no target; write "
         "addon::device"},
        {"classes:\n  pve: {weight: 0}",
         "a.yaml:2: classes.pve.weight: \"0\" is no whole number from 1 to 1000"},
        {"classes:\n  pve: {policy: oracle}", "a.yaml:2: classes.pve.policy: \"oracle\" is not"},
        {"classes:\n  pve: {preset: fesh}", "did you mean fresh?"},
        {"classes: [pve]", "a.yaml:1: classes[0]: `classes` is a map of names, not a list"},
        {"resources:\n  r: 0", "a.yaml:2: resources.r: \"0\" is no whole number from 1"},
        {"credentials:\n  c:\n    password: ${1X}",
         "a.yaml:3: credentials.c.password: is no variable: write ${NAME}"},
        {"credentials:\n  c:\n    password: file:secret",
         "a.yaml:3: credentials.c.password: must name an absolute path: file:/path"},
        {"credentials:\n  c: {client_certificate: /a.pem}",
         "a.yaml:2: credentials.c.client_key: is missing; client_certificate and client_key go "
         "together"},
        {"sources:\n  s: {refresh: 5m}",
         "a.yaml:2: sources.s: needs either `file_sd` (paths) or `http_sd` (a URL)"},
        {"sources:\n  s: {http_sd: \"https://user:pw@host/\"}",
         "a.yaml:2: sources.s.http_sd: holds a user or password; name a credential"},
        {"sources:\n  s: {http_sd: \"ftp://host/\"}", "is no http or https URL"},
        {"sources:\n  s: {file_sd: sd.json}", "\"sd.json\" must be an absolute path"},
        {"schema: pollux-fleet/2",
         "a.yaml:1: schema: \"pollux-fleet/2\" is not known; this "
         "program reads pollux-fleet/1"},
        {"- a", "a.yaml:1"},
        {"devices: {a: [", "a.yaml:1"},
    };
    for (const BadCase& one : cases) {
        const auto result = read(one.text);
        EXPECT_FALSE(result.diagnostics.ok()) << one.text;
        EXPECT_THAT(result.diagnostics.text(), HasSubstr(one.complaint)) << one.text;
    }
}

TEST(FleetReader, ANameIsDescribedOnceInAllFiles) {
    const auto result = read(std::vector<std::string>{
        "devices: {a: {}}\ndefaults: {tier: low}\ncredentials: {c: {username: x}}",
        "\ndevices: {a: {}}\ndefaults: {tier: low}\ncredentials: {c: {username: x}}"});
    const std::string text = result.diagnostics.text();
    EXPECT_THAT(text, HasSubstr("b.yaml:2: devices.a: is described at a.yaml:1 already"));
    EXPECT_THAT(text, HasSubstr("b.yaml:3: defaults: is described at a.yaml:2 already"));
    EXPECT_THAT(text, HasSubstr("b.yaml:4: credentials.c: is described at a.yaml:3 already"));
}

TEST(FleetReader, NoSecretIsEverShown) {
    const auto result = read(
        "credentials:\n  c: {password: planted-secret, tokn: planted-secret2}\n"
        "devices:\n  a: {snmp: {community: planted-secret3}}\n");
    EXPECT_THAT(result.diagnostics.text(), ::testing::Not(HasSubstr("planted-secret")));
}

}  // namespace
}  // namespace pollux::config
