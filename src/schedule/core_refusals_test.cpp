// What may not enter the core: the refusal names the field, the value and the rule, and nothing
// changes. The rules for one task alone are in model/validate_test.cpp.
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::Tier;
using namespace std::chrono_literals;

class CoreRefusals : public testing::Test {
  protected:
    CoreRefusals() : h_(settings()) {
        h_.add({poll_on("pve::a", "box"), job("job::p"), job("job::q", {"job::p"})});
    }
    static model::CoreSettings settings() {
        auto all = wide_settings({"pve", "job"});
        all.resources = {{"lane", 2}};
        return all;
    }
    // The batch is refused with this code and all of these words, and has changed nothing.
    void refused(std::vector<model::TaskSpec> specs, const std::string& code,
                 const std::vector<std::string>& words) {
        const auto before = h_.picture();
        const std::size_t count = h_.core().size();
        h_.add(std::move(specs), 99);
        ASSERT_EQ(h_.out.rejections.size(), 1u) << "expected a refusal: " << code;
        const Rejection& seen = h_.out.rejections.front();
        EXPECT_EQ(seen.correlation, 99u);
        EXPECT_EQ(seen.error.code, code);
        EXPECT_EQ(seen.error.error_class, base::ErrorClass::kConfig);
        for (const auto& word : words) {
            EXPECT_NE(seen.error.message.find(word), std::string::npos)
                << "'" << word << "' is missing in: " << seen.error.message;
        }
        EXPECT_EQ(h_.core().size(), count);
        EXPECT_EQ(h_.picture(), before) << "a refused edit changed something";
        EXPECT_TRUE(h_.out.starts.empty());
        EXPECT_TRUE(h_.out.persists.empty());
    }
    CoreHarness h_;
};

TEST_F(CoreRefusals, UnknownClassWithASuggestion) {
    refused({poll("pvee::x")}, "task.class",
            {"pvee::x", "class \"pvee\"", "did you mean \"pve\"?"});
    refused({poll("snmp::x")}, "task.class", {"class \"snmp\" is unknown", "declare it"});
    refused({poll("no-class")}, "task.class", {"class \"unknown\""});
}

TEST_F(CoreRefusals, OneBadTaskRefusesTheWholeBatch) {
    refused({poll("pve::fine"), poll("pve::also-fine"), poll("nope::x")}, "task.class",
            {"nope::x"});
    EXPECT_EQ(h_.core().find("pve::fine"), model::TaskHandle{});
}

TEST_F(CoreRefusals, AKeyTwiceInOneBatch) {
    refused({poll("pve::x"), poll("pve::y"), poll("pve::x")}, "task.key",
            {"\"pve::x\"", "twice in one batch"});
    refused({poll("pve::caf\xc3\xa9"), poll("pve::cafe\xcc\x81")}, "task.key", {"twice"});
}

TEST_F(CoreRefusals, MoreSlotsThanTheClassHas) {
    auto settings = h_.core().settings();
    settings.classes[1].slots = 2;
    h_.change_settings(settings);
    auto large = job("job::large");
    large.slots = 3;
    refused({large}, "task.slots", {"job::large", "slots = 3", "its class has 2"});
}

TEST_F(CoreRefusals, SettingsThatLeaveATaskWithoutRoom) {
    auto large = job("job::large", {"job::p"});
    large.slots = 3;
    h_.add({large});
    for (const bool of_class : {true, false}) {
        auto settings = h_.core().settings();
        (of_class ? settings.classes[1].slots : settings.global_slots) = 2;
        h_.change_settings(settings);
        ASSERT_EQ(h_.out.rejections.size(), 1U);
        EXPECT_EQ(h_.out.rejections.front().error.code, "settings.slots");
        EXPECT_NE(h_.out.rejections.front().error.message.find("\"job::large\" needs 3 slots"),
                  std::string::npos);
    }
}

TEST_F(CoreRefusals, UnknownParent) {
    refused({job("job::x", {"job::nobody"})}, "task.needs",
            {"\"job::x\"", "\"job::nobody\"", "does not exist"});
}

TEST_F(CoreRefusals, DurationsOutOfRange) {
    refused({adaptive("pve::x", 20s, 10s, 60s)}, "task.min",
            {"pve::x", "min = 20 s", "base = 10 s", "min <= base <= max"});
    refused({adaptive("pve::x", 5s, 90s, 60s)}, "task.base", {"base = 1 min 30 s", "max = 1 min"});
    refused({poll("pve::x", -5s)}, "task.base", {"base = -5 s", "between 100 ms and"});
    refused({poll("pve::x", 0s)}, "task.base", {"base = 0 s"});
    refused({poll("pve::x", 24h * 400)}, "task.base", {"out of range"});
    refused({poll("pve::x", base::Duration::max())}, "task.base", {"out of range"});
    auto slow = poll("pve::x");
    slow.timeout = 25h;
    refused({slow}, "task.timeout", {"timeout = 1 d 1 h"});
}

TEST_F(CoreRefusals, NamesThatAreNotText) {
    refused({poll("pve::\xff\xfe")}, "task.key", {"valid UTF-8", "\\xff\\xfe"});
    refused({poll("pve::a\nb")}, "task.key", {"control characters", "\\x0a"});
    refused({poll_on("pve::x", "bo\x01x")}, "task.name", {"pve::x", "device", "control"});
    refused({poll("pve::" + std::string(201, 'x'))}, "task.key", {"201 characters"});
}

TEST_F(CoreRefusals, CyclesAreNamedWhole) {
    refused({job("job::x", {"job::y"}), job("job::y", {"job::z"}), job("job::z", {"job::x"})},
            "task.needs",
            {"\"job::x\" needs \"job::y\" needs \"job::z\" needs \"job::x\"", "ever start"});
    refused({job("job::self", {"job::self"})}, "task.needs", {"\"job::self\" needs \"job::self\""});
}

TEST_F(CoreRefusals, CyclesThroughWhatIsThereAlready) {
    h_.add({job("job::r", {"job::q"})});
    refused({job("job::p", {"job::r"})}, "task.needs",
            {"\"job::p\" needs \"job::r\" needs \"job::q\" needs \"job::p\""});
    refused({job("job::new", {"job::r"}), job("job::p", {"job::new"})}, "task.needs",
            {"\"job::new\"", "\"job::r\"", "\"job::q\"", "\"job::p\""});
}

TEST_F(CoreRefusals, ACycleInAnAnyOfGroupIsOneToo) {
    auto x = job("job::x");
    x.needs = {any_of({"job::p", "job::y"})};
    refused({x, job("job::y", {"job::x"})}, "task.needs", {"\"job::x\"", "\"job::y\"", "cycle"});
}

TEST_F(CoreRefusals, ADiamondIsNoCycle) {
    h_.add({job("job::a"), job("job::b", {"job::a"}), job("job::c", {"job::a"}),
            job("job::d", {"job::b", "job::c"})});
    EXPECT_TRUE(h_.out.rejections.empty()) << h_.last_rejection();
}

TEST_F(CoreRefusals, ACycleThatTheBatchBreaksElsewhereIsFine) {
    // q needs p; turning the edge round in one batch closes no cycle.
    h_.add({job("job::q"), job("job::p", {"job::q"})});
    EXPECT_TRUE(h_.out.rejections.empty()) << h_.last_rejection();
}

TEST_F(CoreRefusals, DemandsThatCanNeverBeHad) {
    auto spec = job("job::x");
    spec.demand = {{"lane", 3}};
    refused({spec}, "task.demand", {"\"lane\" = 3", "capacity is 2"});
    spec.demand = {{"tape", 1}};
    refused({spec}, "task.demand", {"\"tape\"", "not declared"});
    spec.demand = {{"lane", 0}};
    refused({spec}, "task.demand", {"\"lane\" = 0 is not positive"});
    spec.demand = {};
    spec.slots = 2'000'000;
    refused({spec}, "task.slots", {"slots = 2000000"});
}

TEST_F(CoreRefusals, ATaskDoesNotChangeItsNature) {
    refused({job("pve::a")}, "task.cadence", {"\"pve::a\"", "remove it and add it again"});
    refused({poll("job::p")}, "task.cadence", {"\"job::p\""});
}

TEST_F(CoreRefusals, AJobThatHasEndedIsHistory) {
    h_.finish("job::p");
    refused({job("job::p")}, "task.key", {"\"job::p\"", "ended already (completed)", "new key"});
}

TEST_F(CoreRefusals, WhatIsNeededCannotBeRemoved) {
    h_.add({job("job::r", {"job::p"})});
    const auto before = h_.picture();
    h_.step({TaskRemoved{"job::p", 7}});
    ASSERT_EQ(h_.out.rejections.size(), 1u);
    EXPECT_EQ(h_.out.rejections[0].correlation, 7u);
    EXPECT_EQ(h_.out.rejections[0].error.code, "task.needed");
    EXPECT_EQ(h_.last_rejection(),
              "\"job::p\" cannot be removed: \"job::q\" needs it and 1 more: change or remove that "
              "first");
    EXPECT_EQ(h_.picture(), before);
    h_.remove("job::r");
    h_.remove("job::q");
    h_.remove("job::p");
    EXPECT_EQ(h_.rejections.size(), 1u) << h_.last_rejection();
}

TEST_F(CoreRefusals, RemovingWhatIsNotThere) {
    h_.remove("pve::nobody");
    ASSERT_EQ(h_.out.rejections.size(), 1u);
    EXPECT_EQ(h_.out.rejections[0].error.code, "task.unknown");
    EXPECT_EQ(h_.last_rejection(), "task \"pve::nobody\" does not exist");
}

TEST_F(CoreRefusals, BadSettingsChangeNothing) {
    const auto before = h_.picture();
    auto wanted = h_.core().settings();
    wanted.global_rate = -1;
    h_.change_settings(wanted);
    ASSERT_EQ(h_.out.rejections.size(), 1u);
    EXPECT_NE(h_.last_rejection().find("global_rate = -1"), std::string::npos);
    wanted = h_.core().settings();
    wanted.classes.erase(wanted.classes.begin());
    h_.change_settings(wanted);
    ASSERT_EQ(h_.out.rejections.size(), 1u);
    EXPECT_EQ(h_.last_rejection(), "class \"pve\" cannot go: 1 tasks belong to it");
    EXPECT_EQ(h_.picture(), before);
}

TEST_F(CoreRefusals, BadDevicesChangeNothing) {
    const auto before = h_.core().devices().size();
    h_.change_device({.name = "", .rate = 1, .slots = 1, .slots_per_class = 1});
    EXPECT_EQ(h_.out.rejections.size(), 1u);
    EXPECT_EQ(h_.core().devices().size(), before);
}

TEST_F(CoreRefusals, RefusedEventsAreCounted) {
    h_.add({poll("nope::x")});
    h_.remove("pve::nobody");
    EXPECT_EQ(h_.core().stats().rejected_events, 2u);
}

}  // namespace
}  // namespace pollux::schedule
