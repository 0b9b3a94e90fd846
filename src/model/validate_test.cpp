// What one task or one device may be. What depends on others: schedule/core_refusals_test.cpp.
#include "model/validate.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/validate_test_support.hpp"

namespace pollux::model {
namespace {

using base::Duration;
using namespace std::chrono_literals;

TaskSpec task() {
    TaskSpec spec;
    spec.key = "pve::a";
    spec.cadence = Cadence::fixed(60s);
    return spec;
}

DeviceSpec device(double rate) {
    DeviceSpec spec;
    spec.name = "box";
    spec.rate = rate;
    return spec;
}

TEST(ValidateTask, AKeyIsReadAndWrittenWhole) {
    TaskSpec spec = task();
    spec.key = kDecomposed;
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.key, "unknown::" + kComposed);
    spec.key = "pve::" + std::string(200, 'x');
    EXPECT_TRUE(validate(spec));
}

TEST(ValidateTask, BadKeys) {
    EXPECT_EQ(
        (all_refused<TaskSpec>(
            task(),
            {
                {[](auto& s) { s.key = ""; }, "task.key", {"key \"\"", "at least one character"}},
                {[](auto& s) { s.key = "Pve::a"; },
                 "task.key",
                 {"\"Pve::a\"", "class \"Pve\"", "a-z"}},
                {[](auto& s) { s.key = "pve::"; }, "task.key", {"\"pve::\"", "at least one"}},
                {[](auto& s) { s.key = "pve::\xff"; }, "task.key", {"\\xff", "valid UTF-8"}},
                {[](auto& s) { s.key = "pve::a\tb"; }, "task.key", {"\\x09", "control characters"}},
                {[](auto& s) { s.key = "pve::" + std::string(201, 'x'); },
                 "task.key",
                 {"201 characters", "at most 200"}},
            })),
        "");
}

TEST(ValidateTask, DeviceAndRegionAreNamesOrEmpty) {
    TaskSpec spec = task();
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.device, "");
    EXPECT_EQ(spec.region, "");
    spec.device = kDecomposed;
    spec.region = kDecomposed + "-2";
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.device, kComposed);
    EXPECT_EQ(spec.region, kComposed + "-2");
    EXPECT_EQ(
        (all_refused<TaskSpec>(
            task(),
            {
                {[](auto& s) { s.device = "\xff"; },
                 "task.name",
                 {"pve::a", "device \"\\xff\"", "UTF-8"}},
                {[](auto& s) { s.region = "\xff"; },
                 "task.name",
                 {"pve::a", "region \"\\xff\"", "UTF-8"}},
                {[](auto& s) { s.device = "a\x01"; }, "task.name", {"device", "\\x01", "control"}},
                {[](auto& s) { s.region = "a\n"; }, "task.name", {"region", "\\x0a", "control"}},
                {[](auto& s) { s.device = std::string(201, 'd'); }, "task.name", {"device", "201"}},
                {[](auto& s) { s.region = std::string(201, 'r'); }, "task.name", {"region", "201"}},
            })),
        "");
}

TEST(ValidateTask, IntervalsAtTheLimitsAreTaken) {
    for (const Cadence& cadence :
         {Cadence::fixed(100ms), Cadence::fixed(kMonth), Cadence::adaptive(100ms, 100ms, 100ms),
          Cadence::adaptive(kMonth, kMonth, kMonth), Cadence::adaptive(100ms, 1s, kMonth)}) {
        TaskSpec spec = task();
        spec.cadence = cadence;
        const auto status = validate(spec);
        EXPECT_TRUE(status) << status.error().message;
        EXPECT_EQ(spec.cadence, cadence);
    }
}

TEST(ValidateTask, IntervalsOutOfRange) {
    const std::vector<std::string> rule = {"pve::a", "out of range", "between 100 ms and 31 d"};
    for (const Duration bad : {Duration(100ms) - 1ns, Duration(0), Duration(-5s), kMonth + 1ns,
                               Duration::max(), Duration::min()}) {
        TaskSpec spec = task();
        spec.cadence = Cadence::fixed(bad);
        EXPECT_EQ(refused(spec, "task.base", rule), "");
        spec.cadence = Cadence::adaptive(1s, bad, 60s);
        EXPECT_EQ(refused(spec, "task.base", rule), "");
        spec.cadence = Cadence::adaptive(bad, 10s, 60s);
        EXPECT_EQ(refused(spec, "task.min", rule), "");
        spec.cadence = Cadence::adaptive(1s, 10s, bad);
        EXPECT_EQ(refused(spec, "task.max", rule), "");
    }
    TaskSpec spec = task();
    spec.cadence = Cadence::fixed(-5s);
    EXPECT_EQ(refused(spec, "task.base", {"base = -5 s"}), "");
}

TEST(ValidateTask, MinBaseAndMaxStandInOrder) {
    TaskSpec spec = task();
    spec.cadence = Cadence::adaptive(10s + 1ns, 10s, 60s);
    EXPECT_EQ(
        refused(spec, "task.min", {"pve::a", "min = 10 s", "base = 10 s", "min <= base <= max"}),
        "");
    spec.cadence = Cadence::adaptive(1s, 90s, 20s);
    EXPECT_EQ(refused(spec, "task.base", {"base = 1 min 30 s", "max = 20 s", "min <= base <= max"}),
              "");
}

TEST(ValidateTask, WhatTheCadenceDoesNotUseIsNotKept) {
    TaskSpec spec = task();
    spec.cadence = {.kind = CadenceKind::kFixed, .min = -1s, .base = 30s, .max = 1ns};
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.cadence, Cadence::fixed(30s));
    spec.cadence = {.kind = CadenceKind::kOnce, .min = -1s, .base = -2s, .max = -3s};
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.cadence, Cadence::once());
}

TEST(ValidateTask, TimeoutAndStalenessBoundHaveLimits) {
    EXPECT_EQ((all_taken<TaskSpec>(task(), {
                                               [](auto& s) { s.timeout = 1ms; },
                                               [](auto& s) { s.timeout = 24h; },
                                               [](auto& s) { s.staleness_bound = 100ms; },
                                               [](auto& s) { s.staleness_bound = kMonth; },
                                           })),
              "");
    const std::vector<std::string> rule = {"pve::a", "timeout = ", "between 1 ms and 1 d"};
    for (const Duration bad : {Duration(1ms) - 1ns, Duration(0), Duration(-1s), Duration(24h) + 1ns,
                               Duration::max(), Duration::min()}) {
        TaskSpec spec = task();
        spec.timeout = bad;
        EXPECT_EQ(refused(spec, "task.timeout", rule), "");
    }
    for (const Duration bad :
         {Duration(100ms) - 1ns, Duration(0), Duration(-1s), kMonth + 1ns, Duration::max()}) {
        TaskSpec spec = task();
        spec.staleness_bound = bad;
        EXPECT_EQ(refused(spec, "task.staleness_bound",
                          {"pve::a", "staleness_bound = ", "between 100 ms and 31 d"}),
                  "");
    }
}

TEST(ValidateTask, SlotsAndAttemptsHaveLimits) {
    EXPECT_EQ((all_taken<TaskSpec>(task(), {
                                               [](auto& s) { s.slots = 0; },
                                               [](auto& s) { s.slots = 1'000'000; },
                                               [](auto& s) { s.max_attempts = 1; },
                                               [](auto& s) { s.max_attempts = 1000; },
                                           })),
              "");
    constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
    constexpr auto kTiny = std::numeric_limits<std::int64_t>::min();
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{1'000'001}, kHuge, kTiny}) {
        TaskSpec spec = task();
        spec.slots = bad;
        EXPECT_EQ(refused(spec, "task.slots",
                          {"pve::a", "slots = " + std::to_string(bad), "between 0 and 1000000"}),
                  "");
    }
    for (const std::int64_t bad :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1001}, kHuge, kTiny}) {
        TaskSpec spec = task();
        spec.max_attempts = bad;
        EXPECT_EQ(
            refused(spec, "task.max_attempts",
                    {"pve::a", "max_attempts = " + std::to_string(bad), "between 1 and 1000"}),
            "");
    }
}

TEST(ValidateTask, ParentsAreKeysOrDeviceNames) {
    TaskSpec spec = task();
    spec.needs = {{{{ParentKind::kTask, "job::" + kDecomposed}, {ParentKind::kTask, "bare"}}},
                  {{{ParentKind::kDevice, kDecomposed}, {ParentKind::kDevice, "No::Class"}}}};
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.needs[0].any_of[0].name, "job::" + kComposed);
    EXPECT_EQ(spec.needs[0].any_of[1].name, "unknown::bare");
    EXPECT_EQ(spec.needs[1].any_of[0].name, kComposed);
    EXPECT_EQ(spec.needs[1].any_of[1].name, "No::Class");

    const auto with = [](ParentKind kind, std::string name) {
        TaskSpec bad = task();
        bad.needs = {{{{ParentKind::kTask, "job::fine"}}}, {{{kind, std::move(name)}}}};
        return bad;
    };
    EXPECT_EQ(refused(with(ParentKind::kTask, ""), "task.needs", {"pve::a: needs", "at least one"}),
              "");
    EXPECT_EQ(refused(with(ParentKind::kTask, "Job::x"), "task.needs", {"class \"Job\"", "a-z"}),
              "");
    EXPECT_EQ(refused(with(ParentKind::kTask, "job::\xfe"), "task.needs", {"\\xfe", "UTF-8"}), "");
    EXPECT_EQ(
        refused(with(ParentKind::kTask, std::string(201, 'p')), "task.needs", {"201 characters"}),
        "");
    EXPECT_EQ(refused(with(ParentKind::kDevice, ""), "task.needs", {"device \"\"", "at least one"}),
              "");
    EXPECT_EQ(
        refused(with(ParentKind::kDevice, "a\nb"), "task.needs", {"device", "\\x0a", "control"}),
        "");
}

TEST(ValidateTask, GroupsOfNeedsAreBounded) {
    const auto groups = [](std::size_t count, std::size_t parents) {
        TaskSpec spec = task();
        const NeedGroup group{std::vector<Parent>(parents, {ParentKind::kTask, "job::p"})};
        spec.needs.assign(count, group);
        return spec;
    };
    for (TaskSpec spec : {groups(0, 0), groups(64, 1), groups(1, 256)}) EXPECT_TRUE(validate(spec));
    EXPECT_EQ(refused(groups(65, 1), "task.needs", {"pve::a", "needs has 65 groups", "at most 64"}),
              "");
    EXPECT_EQ(refused(groups(1, 0), "task.needs", {"pve::a", "has 0 parents", "1 to 256"}), "");
    EXPECT_EQ(refused(groups(2, 257), "task.needs", {"pve::a", "has 257 parents", "1 to 256"}), "");
}

TEST(ValidateTask, DemandIsPositiveAndNamesEachResourceOnce) {
    const auto resources = [](std::size_t count) {
        TaskSpec spec = task();
        for (std::size_t i = 0; i < count; ++i) spec.demand.push_back({"r" + std::to_string(i), 1});
        return spec;
    };
    for (TaskSpec spec : {resources(0), resources(1), resources(16)}) EXPECT_TRUE(validate(spec));
    EXPECT_EQ(refused(resources(17), "task.demand", {"pve::a", "names 17 resources", "at most 16"}),
              "");
    EXPECT_EQ((all_refused<TaskSpec>(
                  task(),
                  {
                      {[](auto& s) { s.demand = {{"lane", 0}}; },
                       "task.demand",
                       {"pve::a", "\"lane\" = 0", "not positive"}},
                      {[](auto& s) { s.demand = {{"disk", 1}, {"lane", -7}}; },
                       "task.demand",
                       {"\"lane\" = -7", "not positive"}},
                      {[](auto& s) { s.demand = {{"lane", 1}, {"disk", 1}, {"lane", 2}}; },
                       "task.demand",
                       {"pve::a", "names \"lane\" twice"}},
                  })),
              "");
}

// The settings hold resources in their NFC form: a demand must find them.
TEST(ValidateTask, NamesInADemandFollowTheNameRule) {
    TaskSpec spec = task();
    spec.demand = {{kDecomposed, 1}};
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.demand[0].resource, kComposed);
    spec.demand = {{kDecomposed, 1}, {kComposed, 1}};
    EXPECT_EQ(refused(spec, "task.demand", {"twice"}), "");
    spec.demand = {{"", 1}};
    EXPECT_EQ(refused(spec, "task.demand", {"pve::a", "resource \"\"", "at least one character"}),
              "");
    spec.demand = {{"la\xffne", 1}};
    EXPECT_EQ(refused(spec, "task.demand", {"resource \"la\\xffne\"", "UTF-8"}), "");
}

TEST(ValidateDevice, NamesBecomeNfc) {
    DeviceSpec spec = device(0);
    spec.name = kDecomposed;
    ASSERT_TRUE(validate(spec));
    EXPECT_EQ(spec.name, kComposed);
    for (const std::string bad : {"", "\xff", "a\nb"}) {
        spec.name = bad;
        EXPECT_EQ(refused(spec, "key.name", {"device \"", "is not allowed"}), "");
    }
    spec.name = std::string(201, 'x');
    EXPECT_EQ(refused(spec, "key.name", {"device", "201 characters", "at most 200"}), "");
}

TEST(ValidateDevice, TheRateIsUsualOrInRange) {
    for (const double good : {0.0, -0.0, 0.001, 1.0, 1e7}) {
        DeviceSpec spec = device(good);
        EXPECT_TRUE(validate(spec)) << good;
    }
    for (const double bad :
         {-1.0, -1e-9, 1e-300, 0.000999, 1.00001e7, kInfinity, -kInfinity, kNan}) {
        EXPECT_EQ(refused(device(bad), "settings.rate",
                          {"device \"box\": rate = ", "out of range",
                           "between 0.001 and 10000000 per second"}),
                  "");
    }
    EXPECT_EQ(refused(device(kNan), "settings.rate", {"rate = nan"}), "");
    EXPECT_EQ(refused(device(-2.5), "settings.rate", {"rate = -2.5"}), "");
}

}  // namespace
}  // namespace pollux::model
