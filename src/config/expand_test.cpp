#include "config/expand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/config_test_support.hpp"
#include "model/validate.hpp"

namespace pollux::config {
namespace {

using namespace std::chrono_literals;
using model::Cadence;
using testing::expand_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kDevice = "devices: {d: {address: 192.0.2.1, addons: [ADDON]}}\n";

std::string with(std::string addon, const std::string& rest = "") {
    std::string text = kDevice;
    return text.replace(text.find("ADDON"), 5, addon) + rest;
}

struct IntervalCase {
    const char* why;
    std::string text;
    Environment environment;
    const char* key;
    Cadence expected;
};

TEST(Expand, TheIntervalIsTheFirstFound) {
    const Environment on = {{"ADAPTIVE_POLLING_ENABLED", "1"},
                            {"ADAPTIVE_POLLING_BASE_INTERVAL", "20s"}};
    const Environment off = {{"ADAPTIVE_POLLING_BASE_INTERVAL", "20s"}};
    const IntervalCase cases[] = {
        {"global", with("http-status"), {}, "http-status::d", Cadence::adaptive(60s, 300s, 600s)},
        {"global setting",
         with("http-status"),
         {{"POLLUX_DEFAULT_INTERVAL", "100s"}},
         "http-status::d",
         Cadence::adaptive(20s, 100s, 200s)},
        {"defaults",
         with("http-status", "defaults: {interval: 50s}"),
         {},
         "http-status::d",
         Cadence::adaptive(10s, 50s, 100s)},
        {"class over defaults",
         with("http-status", "defaults: {interval: 50s}\nclasses: {http-status: {interval: 40s}}"),
         {},
         "http-status::d",
         Cadence::adaptive(8s, 40s, 80s)},
        {"manifest over class",
         with("http-json", "classes: {http-json: {interval: 40s}}"),
         {},
         "http-json::d",
         Cadence::adaptive(18s, 90s, 180s)},
        {"addons over manifest",
         with("http-json", "addons: {http-json: {interval: 30s}}"),
         {},
         "http-json::d",
         Cadence::adaptive(6s, 30s, 60s)},
        {"group over addons",
         with("http-json",
              "addons: {http-json: {interval: 30s}}\ngroups: {g: {members: [d], interval: 25s}}"),
         {},
         "http-json::d",
         Cadence::adaptive(5s, 25s, 50s)},
        {"addon entry of a group over the group",
         with("http-json",
              "groups: {g: {members: [d], interval: 25s, addons: [{name: http-json, "
              "interval: 20s}]}}"),
         {},
         "http-json::d",
         Cadence::adaptive(4s, 20s, 40s)},
        {"device over group",
         "devices: {d: {addons: [http-json], interval: 15s}}\n"
         "groups: {g: {members: [d], interval: 25s}}",
         {},
         "http-json::d",
         Cadence::adaptive(3s, 15s, 30s)},
        {"addon entry of the device over the device",
         "devices: {d: {addons: [{name: http-json, interval: 10s}], interval: 15s}}",
         {},
         "http-json::d",
         Cadence::adaptive(2s, 10s, 20s)},
        {"target over all",
         "devices: {d: {addons: [{name: http-json, interval: 10s}]}}\n"
         "targets: {\"http-json::d\": {interval: 5s}}",
         {},
         "http-json::d",
         Cadence::adaptive(1s, 5s, 10s)},
        {"pve", with("pve"), {}, "pve::d", Cadence::adaptive(5s, 10s, 300s)},
        {"pbs", with("pbs"), {}, "pbs::d", Cadence::adaptive(5s, 60s, 300s)},
        {"pmg",
         with("pmg"),
         {{"PMG_POLLING_INTERVAL", "2m"}},
         "pmg::d",
         Cadence::adaptive(5s, 120s, 300s)},
        {"adaptive base of pve while on", with("pve"), on, "pve::d",
         Cadence::adaptive(5s, 20s, 300s)},
        {"not of pbs", with("pbs"), on, "pbs::d", Cadence::adaptive(5s, 60s, 300s)},
        {"not while off", with("pve"), off, "pve::d", Cadence::adaptive(5s, 10s, 300s)},
        {"not for a target that is not adaptive", with("pve", "defaults: {adaptive: false}"), on,
         "pve::d", Cadence::adaptive(5s, 10s, 300s)},
        {"PVE_POLLING_INTERVAL is the base when none is given for adaptive polling",
         with("pve"),
         {{"ADAPTIVE_POLLING_ENABLED", "1"}, {"PVE_POLLING_INTERVAL", "30s"}},
         "pve::d",
         Cadence::adaptive(5s, 30s, 300s)},
        {"pve in a class over the settings",
         with("pve", "classes: {pve: {interval: 15s}}"),
         {},
         "pve::d",
         Cadence::adaptive(5s, 15s, 300s)},
        {"min and max by themselves",
         with("http-status", "defaults: {interval: {min: 30s, max: 20m}}"),
         {},
         "http-status::d",
         Cadence::adaptive(30s, 300s, 1200s)},
        {"a farther bound gives way",
         "devices: {d: {addons: [http-status], interval: 20m}}\n"
         "defaults: {interval: {min: 30s, max: 10m}}",
         {},
         "http-status::d",
         Cadence::adaptive(30s, 1200s, 1200s)},
        {"a farther bound gives way downwards",
         "devices: {d: {addons: [http-status], interval: 10s}}\n"
         "defaults: {interval: {min: 30s}}",
         {},
         "http-status::d",
         Cadence::adaptive(10s, 10s, 20s)},
        {"never below the shortest interval",
         "devices: {d: {addons: [http-status], interval: 200ms}}",
         {},
         "http-status::d",
         Cadence::adaptive(100ms, 200ms, 400ms)},
        {"never above the longest",
         "devices: {d: {addons: [http-status], interval: 20d}}",
         {},
         "http-status::d",
         Cadence::adaptive(96h, 480h, 744h)},
        {"main task of an addon with groups",
         with("snmp-interfaces"),
         {},
         "snmp-interfaces::d",
         Cadence::adaptive(24s, 120s, 240s)},
        {"own task of a group",
         with("snmp-interfaces"),
         {},
         "snmp-interfaces::d#inventory",
         Cadence::adaptive(720s, 3600s, 7200s)},
        {"the target's interval is not the group's",
         "devices: {d: {addons: [snmp-interfaces], interval: 10s}}",
         {},
         "snmp-interfaces::d#inventory",
         Cadence::adaptive(720s, 3600s, 7200s)},
        {"group interval set by the device",
         "devices: {d: {addons: [{name: snmp-interfaces, group_intervals: {inventory: 10m}}]}}",
         {},
         "snmp-interfaces::d#inventory",
         Cadence::adaptive(120s, 600s, 1200s)},
    };
    for (const IntervalCase& one : cases) {
        const auto expanded = expand_text(one.text, one.environment);
        EXPECT_THAT(expanded.diagnostics.text(), IsEmpty()) << one.why;
        const model::TaskSpec* task = expanded.task(one.key);
        ASSERT_NE(task, nullptr) << one.why;
        EXPECT_EQ(task->cadence, one.expected)
            << one.why << ": " << base::format_duration(task->cadence.min) << ", "
            << base::format_duration(task->cadence.base) << ", "
            << base::format_duration(task->cadence.max);
    }
}

TEST(Expand, ANearerBoundThatContradictsTheBaseIsAnError) {
    const auto expanded =
        expand_text("devices:\n  d:\n    addons: [http-json]\n    interval: {min: 5m}\n");
    EXPECT_THAT(expanded.diagnostics.text(),
                HasSubstr("a.yaml:4: interval: http-json::d: min = 5 min (device d) contradicts "
                          "base = 1 min 30 s (the manifest of http-json): the rule is min <= base "
                          "<= max; write the base beside it"));
    const auto above = expand_text(
        "devices: {d: {addons: [http-json]}}\ngroups:\n  g:\n    members: [d]\n"
        "    interval: {max: 1m}\n");
    EXPECT_THAT(above.diagnostics.text(), HasSubstr("a.yaml:5: interval: http-json::d: max = 1 min "
                                                    "(group g) contradicts base = 1 min 30 s"));
}

TEST(Expand, InnerGroupsAreNearerThanOuterOnes) {
    // By name alone the outer group would come first.
    const auto expanded = expand_text(R"(
devices:
  d: {labels: {role: x}, addons: [http-status]}
groups:
  a-outer: {match: {role: x}, interval: 100s, tier: low, timeout: 7s}
  z-inner: {parent: a-outer, match: {role: "*"}, interval: 200s}
  m-named: {tier: critical}
)");
    EXPECT_EQ(expanded.task("http-status::d")->cadence.base, 200s);
    EXPECT_EQ(expanded.task("http-status::d")->tier, model::Tier::kLow);
    EXPECT_EQ(expanded.target("http-status::d")->groups,
              (std::vector<std::string>{"z-inner", "a-outer"}));
    const auto named = expand_text(R"(
devices:
  d: {labels: {role: x}, groups: [m-named], addons: [http-status]}
groups:
  a-outer: {match: {role: x}, tier: low}
  m-named: {tier: critical}
)");
    EXPECT_EQ(named.task("http-status::d")->tier, model::Tier::kCritical);
}

TEST(Expand, FillsInTasksAndPlans) {
    const auto expanded = expand_text(R"(
defaults: {region: eu, params: {a: far, b: far}, snmp: {version: 1}, limits: {rate: 3}}
resources: {report: 4}
credentials: {c: {community: public}, near: {username: u}}
groups:
  g:
    match: {role: [x, y]}
    credentials: c
    tls: {verify: false}
    resends: 4
    limits: {slots: 7}
    addons: [snmp-system]
devices:
  gw: {}
  sw1: {}
  sw2: {}
  d:
    addresses: [192.0.2.1, "2001:db8::1"]
    labels: {role: y}
    parents: [gw, [sw1, sw2]]
    tier: high
    staleness_bound: 90s
    failure_profile: opsconductor
    timeout: 2s
    limits: {slots_per_class: 2}
    addons:
      - name: http-json
        credentials: near
        port: 8443
        params: {a: near}
        resources: {report: 2}
        enabled: false
)",
                                      {}, {{"http-json::d", "id-of-target"}});
    EXPECT_TRUE(expanded.diagnostics.ok()) << expanded.diagnostics.text();
    ASSERT_EQ(expanded.expansion.tasks.size(), 2U);
    const model::TaskSpec& task = *expanded.task("http-json::d");
    EXPECT_EQ(task.device, "d");
    EXPECT_EQ(task.region, "eu");
    EXPECT_EQ(task.tier, model::Tier::kHigh);
    EXPECT_EQ(task.timeout, 2s);
    EXPECT_EQ(task.staleness_bound, base::Duration(90s));
    EXPECT_EQ(task.failure_profile, model::FailureProfile::kOpsconductor);
    EXPECT_FALSE(task.enabled);
    EXPECT_TRUE(task.adaptive);
    EXPECT_EQ(task.demand, (std::vector<model::ResourceDemand>{{"report", 2}}));
    ASSERT_EQ(task.needs.size(), 2U);
    EXPECT_EQ(task.needs[0].when_unmet, model::WhenUnmet::kSlow);
    EXPECT_EQ(task.needs[1].any_of,
              (std::vector<model::Parent>{{model::ParentKind::kDevice, "sw1"},
                                          {model::ParentKind::kDevice, "sw2"}}));
    const TargetPlanInput& plan = *expanded.target("http-json::d");
    EXPECT_EQ(plan.target_id, "id-of-target");
    EXPECT_EQ(plan.addresses, (std::vector<std::string>{"192.0.2.1", "2001:db8::1"}));
    EXPECT_EQ(plan.port, 8443);
    EXPECT_EQ(plan.params, (Parameters{{"a", "near"}, {"b", "far"}}));
    EXPECT_EQ(plan.credentials, "near");
    EXPECT_EQ(plan.tls.verify, false);
    EXPECT_EQ(plan.resends, 4U);
    EXPECT_EQ(plan.timeout, 2s);
    EXPECT_EQ(plan.labels, (Labels{{"role", "y"}}));
    EXPECT_EQ(plan.groups, std::vector<std::string>{"g"});
    const TargetPlanInput& other = *expanded.target("snmp-system::d");
    EXPECT_EQ(other.credentials, "c");
    EXPECT_EQ(other.port, std::nullopt);
    EXPECT_EQ(other.snmp.version, model::SnmpVersion::kV1);
    const auto device =
        std::find_if(expanded.expansion.devices.begin(), expanded.expansion.devices.end(),
                     [](const auto& one) { return one.name == "d"; });
    EXPECT_EQ(*device, (model::DeviceSpec{"d", 3, 7, 2}));
    EXPECT_EQ(expanded.expansion.resources, (std::vector<model::ResourceSettings>{{"report", 4}}));
}

TEST(Expand, AUserOfSnmpThreeIsUsedAndMissesAreWarnings) {
    const std::string user =
        "credentials:\n  c: {username: u, snmp_auth: sha256, snmp_auth_password: \"${A}\"}\n"
        "  open: {username: u}\n";
    const auto expanded = [&](const std::string& settings) {
        return expand_text("devices: {d: {address: 192.0.2.1, addons: [snmp-system], " + settings +
                           "}}\n" + user);
    };
    const auto meant = expanded("credentials: c");
    ASSERT_EQ(meant.expansion.targets.size(), 1U) << meant.diagnostics.text();
    EXPECT_EQ(meant.expansion.targets[0].snmp.version, model::SnmpVersion::kV3);
    EXPECT_EQ(meant.diagnostics.text(), "");
    const auto open = expanded("credentials: open, snmp: {version: 3}");
    EXPECT_EQ(open.expansion.targets.at(0).snmp.version, model::SnmpVersion::kV3);
    EXPECT_EQ(open.diagnostics.text(), "");
    EXPECT_THAT(expanded("snmp: {version: 3}").diagnostics.text(),
                HasSubstr("is to be asked by SNMPv3, but has no user"));
    EXPECT_THAT(expanded("credentials: c, snmp: {version: 2c}").diagnostics.text(),
                HasSubstr("has a user of SNMPv3, but is asked by an older version"));
}

TEST(Expand, TimeoutsAndResendsHaveTheirOwnDefaults) {
    const auto expanded = expand_text(
        "devices: {d: {addons: [snmp-system, http-status, pve]}, e: {timeout: 50m, addons: "
        "[pbs]}}");
    EXPECT_EQ(expanded.target("snmp-system::d")->timeout, 10s);
    EXPECT_EQ(expanded.target("snmp-system::d")->resends, 1U);
    EXPECT_EQ(expanded.target("http-status::d")->timeout, 30s);
    EXPECT_EQ(expanded.target("http-status::d")->resends, 0U);
    EXPECT_EQ(expanded.target("pve::d")->timeout, 60s);
    EXPECT_EQ(expanded.target("pbs::e")->timeout, 180s);
    EXPECT_EQ(expanded.target("pve::d")->addresses, std::vector<std::string>{"d"});
}

TEST(Expand, AConnectionHoldsWhatIsBehindIt) {
    const auto expanded = expand_text(
        "devices: {gw: {}, d: {parents: gw, behind: connection, addons: [http-status]}}");
    EXPECT_EQ(expanded.task("http-status::d")->needs[0].when_unmet, model::WhenUnmet::kHold);
}

TEST(Expand, TheScopeDecidesWhoIsAdaptive) {
    const std::string fleet =
        "devices: {a: {addons: [pve, http-status]}, b: {addons: [pve]}}\n"
        "groups: {outer: {}, lab: {parent: outer, members: [b]}}\n";
    const struct {
        const char* scope;
        std::vector<std::string> adaptive;
    } cases[] = {
        {"all", {"http-status::a", "pve::a", "pve::b"}},
        {"percent:10", {"http-status::a", "pve::a", "pve::b"}},
        {"classes:pve", {"pve::a", "pve::b"}},
        {"groups:lab", {"pve::b"}},
        {"groups:outer", {"pve::b"}},
        {"targets:pve::a", {"pve::a"}},
    };
    for (const auto& one : cases) {
        const auto expanded = expand_text(fleet, {{"POLLUX_ADAPTIVE_SCOPE", one.scope}});
        std::vector<std::string> adaptive;
        for (const auto& task : expanded.expansion.tasks) {
            if (task.adaptive) adaptive.push_back(task.key);
        }
        EXPECT_EQ(adaptive, one.adaptive) << one.scope;
        EXPECT_THAT(expanded.diagnostics.text(), IsEmpty());
    }
    EXPECT_THAT(expand_text(fleet, {{"POLLUX_ADAPTIVE_SCOPE", "groups:labb"}}).diagnostics.text(),
                HasSubstr("POLLUX_ADAPTIVE_SCOPE: warning: names \"labb\", which the fleet does "
                          "not have"));
}

TEST(Expand, ClassesComeFromUseAndFromFiles) {
    const auto expanded = expand_text(
        "devices: {d: {addons: [http-status]}}\n"
        "classes: {sweep: {weight: 3, rate: 2.5, slots: 4, policy: classic, preset: economy, "
        "staleness_bound: 5m, host_slots_exempt: true}}\n",
        {{"POLLUX_ADAPTIVE_PRESET", "fresh"}});
    ASSERT_EQ(expanded.expansion.classes.size(), 2U);
    EXPECT_EQ(expanded.expansion.classes[0].name, "http-status");
    EXPECT_EQ(expanded.expansion.classes[0].preset, model::Preset::kFresh);
    const model::ClassSettings sweep{.name = "sweep",
                                     .weight = 3,
                                     .rate = 2.5,
                                     .slots = 4,
                                     .host_slots_exempt = true,
                                     .policy = model::PolicyKind::kClassic,
                                     .preset = model::Preset::kEconomy,
                                     .staleness_bound = 5min};
    EXPECT_EQ(expanded.expansion.classes[1], sweep);
    model::CoreSettings core =
        testing::settings().core(expanded.expansion.classes, expanded.expansion.resources);
    EXPECT_TRUE(model::validate(core));
}

TEST(Expand, TheClassIsNearerThanTheDefaultsForTheBound) {
    const std::string fleet =
        "devices: {d: {addons: [http-status, pve]}}\ndefaults: {staleness_bound: 4m}\n"
        "classes: {pve: {staleness_bound: 30s}}\n";
    const auto expanded = expand_text(fleet);
    EXPECT_EQ(expanded.task("http-status::d")->staleness_bound, base::Duration(4min));
    EXPECT_EQ(expanded.task("pve::d")->staleness_bound, std::nullopt);
}

TEST(Expand, UnknownAddonsAndGroupsAreNamed) {
    const auto expanded = expand_text(
        "devices:\n  d:\n    addons: [http-statis]\n  e:\n    addons:\n"
        "      - {name: snmp-interfaces, group_intervals: {inventry: 5m}}\n"
        "groups:\n  g:\n    members: [d, e]\n    addons: [nothing-like-it]\n"
        "addons:\n  http-jason: {tier: low}\nclasses:\n  http-jsn: {weight: 2}\n"
        "sources:\n  s:\n    file_sd: /x.json\n    addons: [snmp-sys]\n");
    const std::string text = expanded.diagnostics.text();
    EXPECT_THAT(text, HasSubstr("a.yaml:3: addons: there is no addon \"http-statis\"; did you mean "
                                "http-status?"));
    EXPECT_THAT(text, HasSubstr("a.yaml:10: addons: there is no addon \"nothing-like-it\"; "
                                "`pollux addon ls` lists them"));
    EXPECT_THAT(text, HasSubstr("a.yaml:12: addons.http-jason: there is no addon"));
    EXPECT_THAT(text, HasSubstr("a.yaml:14: classes.http-jsn: warning: no addon has this name; did "
                                "you mean http-json?"));
    EXPECT_THAT(text, HasSubstr("a.yaml:18: sources.s.addons: there is no addon \"snmp-sys\""));
    EXPECT_THAT(text, HasSubstr("addon \"snmp-interfaces\" has no poll group \"inventry\"; it has "
                                "inventory"));
    // Said once, although two devices get it from the group.
    EXPECT_EQ(text.find("nothing-like-it"), text.rfind("nothing-like-it"));
}

TEST(Expand, TwoTasksOfOneKeyAreAnError) {
    const auto expanded = expand_text(
        "devices:\n  x: {addons: [snmp-interfaces]}\n  x#inventory: {addons: [snmp-interfaces]}\n");
    EXPECT_EQ(expanded.diagnostics.errors(), 1U);
    EXPECT_THAT(expanded.diagnostics.text(),
                HasSubstr("the task \"snmp-interfaces::x#inventory\" of device"));
    EXPECT_EQ(expanded.expansion.tasks.size(), 3U);
    EXPECT_EQ(expanded.expansion.targets.size(), 3U);
}

TEST(Expand, TheVersionChangesWithTheTaskAndOnlyThen) {
    const std::string fleet = "devices: {d: {address: 192.0.2.1, addons: [http-status]}";
    const auto version = [](const std::string& text) {
        return expand_text(text).expansion.tasks.at(0).version;
    };
    const std::uint64_t first = version(fleet + "}");
    EXPECT_NE(first, 0U);
    EXPECT_EQ(version(fleet + ", other: {}}"), first);
    EXPECT_NE(version("devices: {d: {address: 192.0.2.2, addons: [http-status]}}"), first);
    EXPECT_NE(version(fleet + "}\ndefaults: {tier: low}"), first);
    EXPECT_NE(version(fleet + "}\ndefaults: {params: {a: b}}"), first);
}

TEST(Expand, ManyDevicesKeepTheirOrder) {
    std::string fleet = "devices:\n";
    for (int i = 0; i < 500; ++i) {
        fleet += "  d" + std::to_string(i) + ": {addons: [pve, http-status]}\n";
    }
    const auto expanded = expand_text(fleet);
    ASSERT_EQ(expanded.expansion.tasks.size(), 1000U);
    for (std::size_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(expanded.expansion.tasks[i].key, expanded.expansion.targets[i].key);
        if (i > 0) {
            EXPECT_LT(expanded.expansion.tasks[i - 1].key, expanded.expansion.tasks[i].key);
        }
    }
}

TEST(Expand, WhatSpeaksFirstIsNoTask) {
    const testing::Expanded expanded = testing::expand_text(R"(
defaults: {interval: 5m, grace: 7s}
devices:
  door:
    address: 192.0.2.7
    addons:
      - snmp-system
      - {name: alive, interval: 30s, credentials: key}
      - traps
targets:
  "traps::door": {confirm: true, enabled: false, snmp: {community: "${TRAPS}"}}
credentials:
  key: {token: "${TOKEN}"}
)",
                                                            {}, {{"alive::door", "id-1"}});
    EXPECT_TRUE(expanded.diagnostics.ok()) << expanded.diagnostics.text();
    ASSERT_EQ(expanded.expansion.tasks.size(), 1u);
    EXPECT_EQ(expanded.expansion.tasks[0].key, "snmp-system::door");
    EXPECT_EQ(expanded.expansion.classes.size(), 1u) << "nothing is scheduled for the others";
    ASSERT_EQ(expanded.expansion.inbound.size(), 2u);
    const InboundInput& alive = expanded.expansion.inbound[0];
    EXPECT_EQ(alive.key, "alive::door");
    EXPECT_EQ(alive.target_id, "id-1");
    EXPECT_EQ(alive.device, "door");
    EXPECT_EQ(alive.addresses, std::vector<std::string>{"192.0.2.7"});
    EXPECT_EQ(alive.credentials, "key");
    EXPECT_EQ(alive.interval, std::chrono::seconds(30));
    EXPECT_EQ(alive.grace, std::chrono::seconds(7));
    EXPECT_FALSE(alive.confirm);
    EXPECT_TRUE(alive.enabled);
    const InboundInput& traps = expanded.expansion.inbound[1];
    EXPECT_EQ(traps.key, "traps::door");
    EXPECT_FALSE(traps.interval) << "defaults are farther than the manifest";
    EXPECT_TRUE(traps.confirm);
    EXPECT_FALSE(traps.enabled);
    ASSERT_TRUE(traps.community);
    EXPECT_EQ(traps.community->name, "TRAPS");
}

}  // namespace
}  // namespace pollux::config
