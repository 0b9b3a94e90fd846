#include "config/check_fleet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"

namespace pollux::config {
namespace {

using testing::complaints;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct CheckCase {
    const char* text;
    const char* complaint;
};

TEST(CheckFleet, ComplaintsNamePlaceAndAdvice) {
    const CheckCase cases[] = {
        {"devices:\n  a:\n    addons: [x]\n    parents: [gatway]\n  gateway: {addons: [x]}",
         "a.yaml:4: devices.a.parents: there is no device \"gatway\"; did you mean gateway?"},
        {"devices:\n  a:\n    addons: [x]\n    parents: [[nowhere]]",
         "a.yaml:4: devices.a.parents: there is no device \"nowhere\"; describe it, or remove"},
        {"devices:\n  a:\n    addons: [x]\n    groups: [g]",
         "a.yaml:4: devices.a.groups: there is no group \"g\""},
        {"devices:\n  a: {addons: [x]}\ngroups:\n  g:\n    members: [a]\n    parent: h",
         "a.yaml:6: groups.g.parent: there is no group \"h\""},
        {"groups:\n  g:\n    members: [ghost]",
         "a.yaml:3: groups.g.members: there is no device \"ghost\""},
        {"devices:\n  a:\n    addons: [x]\n    credentials: kay\ncredentials: {key: {username: u}}",
         "a.yaml:4: devices.a.credentials: there is no credential \"kay\"; did you mean key?"},
        {"devices:\n  a:\n    addons:\n    - {name: x, credentials: c}",
         "a.yaml:3: devices.a.addons.x.credentials: there is no credential \"c\""},
        {"sources:\n  s:\n    file_sd: /x\n    credentials: c",
         "a.yaml:4: sources.s.credentials: there is no credential \"c\""},
        {"sources:\n  s:\n    file_sd: /x\n    groups: [c]",
         "a.yaml:4: sources.s.groups: there is no group \"c\""},
        {"devices:\n  a:\n    addons: [x]\n    resources: {r: 1}",
         "a.yaml:4: devices.a.resources: there is no resource \"r\""},
        {"resources: {r: 2}\ndevices:\n  a:\n    addons: [x]\n    resources: {r: 3}",
         "a.yaml:5: devices.a.resources: 3 of resource \"r\" are wanted, but it has only 2"},
        {"devices: {web: {addons: [x]}}\ntargets:\n  x::wep: {tier: low}",
         "a.yaml:3: targets.x::wep: there is no such target; did you mean x::web?"},
        {"devices:\n  a: {addons: [x], parents: [b]}\n  b: {addons: [x], parents: [c]}\n"
         "  c:\n    addons: [x]\n    parents: [[z, a]]\n  z: {addons: [x]}",
         "a.yaml:6: devices.c.parents: make the device its own ancestor (a -> b -> c -> a); remove "
         "one of these parents"},
        {"devices:\n  a: {addons: [x], parents: [a]}", "its own ancestor (a -> a)"},
        {"devices: {d: {groups: [a], addons: [x]}}\ngroups:\n  a: {parent: b}\n  b:\n"
         "    parent: a",
         "a.yaml:3: groups.a.parent: is its own ancestor (a -> b -> a); remove one"},
        {"groups:\n  g: {match: {role: x}}",
         "a.yaml:2: groups.g: warning: has no members: no device names it"},
        {"devices:\n  a: {address: 192.0.2.1}",
         "a.yaml:2: devices.a: warning: has no addons and is never polled; list some"},
        {"devices:\n  a: {addons: [x], behind: connection}",
         "a.yaml:2: devices.a.behind: warning: is connection, but there are no parents"},
        {"credentials:\n  c: {username: u}",
         "a.yaml:2: credentials.c: warning: is used by nothing; remove it, or name it with "
         "`credentials: c`"},
    };
    for (const CheckCase& one : cases) {
        EXPECT_THAT(complaints({one.text}), HasSubstr(one.complaint)) << one.text;
    }
}

TEST(CheckFleet, WhatSourcesMayBringLaterIsNoError) {
    const std::string sources = "sources: {s: {file_sd: /x.json, groups: [g]}}\n";
    EXPECT_THAT(complaints({sources + "groups: {g: {}, h: {match: {a: b}}}\n"}), IsEmpty());
    EXPECT_THAT(complaints({sources + "groups:\n  g: {members: [later]}\n"}),
                HasSubstr("groups.g.members: warning: there is no device \"later\""));
}

TEST(CheckFleet, AGoodFleetIsQuiet) {
    EXPECT_THAT(complaints({R"(
credentials: {c: {username: u}}
groups: {outer: {addons: [x]}, g: {parent: outer, match: {role: "*"}, credentials: c}}
devices:
  gw: {labels: {role: r}}
  a: {labels: {role: r}, parents: [gw]}
targets: {"x::a": {tier: low}}
)"}),
                IsEmpty());
}

TEST(CheckFleet, LongChainsOfParentsAreFine) {
    std::string text = "devices:\n  d0: {addons: [x]}\n";
    for (int i = 1; i < 20'000; ++i) {
        text += "  d" + std::to_string(i) + ": {addons: [x], parents: [d" + std::to_string(i - 1) +
                "]}\n";
    }
    EXPECT_THAT(complaints({text}), IsEmpty());
}

}  // namespace
}  // namespace pollux::config
