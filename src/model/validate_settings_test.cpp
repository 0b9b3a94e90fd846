// What the settings of the core may be.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/validate.hpp"
#include "model/validate_test_support.hpp"

namespace pollux::model {
namespace {

using base::Duration;
using namespace std::chrono_literals;

ClassSettings class_named(std::string name) {
    ClassSettings one;
    one.name = std::move(name);
    return one;
}

CoreSettings settings() {
    CoreSettings all;
    all.classes = {class_named("pve"), class_named("job")};
    all.resources = {{"lane", 2}};
    return all;
}

TEST(ValidateSettings, TheDefaultsAreTaken) {
    CoreSettings defaults;
    EXPECT_TRUE(validate(defaults));
    EXPECT_EQ(defaults, CoreSettings{});
    CoreSettings usual = settings();
    EXPECT_TRUE(validate(usual));
}

TEST(ValidateSettings, RatesHaveLimits) {
    for (const bool global : {true, false}) {
        const std::string field = global ? "global_rate" : "device_rate";
        const auto with = [&](double rate) {
            CoreSettings all = settings();
            (global ? all.global_rate : all.device_rate) = rate;
            return all;
        };
        for (CoreSettings good : {with(0.001), with(1e7)}) EXPECT_TRUE(validate(good)) << field;
        for (const double bad : {0.0, -1.0, 0.000999, 1.00001e7, kInfinity, -kInfinity, kNan}) {
            EXPECT_EQ(
                refused(with(bad), "settings." + field,
                        {field + " = ", "out of range", "between 0.001 and 10000000 per second"}),
                "");
        }
        EXPECT_EQ(refused(with(kNan), "settings." + field, {field + " = nan"}), "");
    }
}

TEST(ValidateSettings, SharesHaveLimits) {
    EXPECT_EQ((all_taken<CoreSettings>(settings(), {
                                                       [](auto& s) { s.adaptive_percent = 0; },
                                                       [](auto& s) { s.adaptive_percent = 100; },
                                                       [](auto& s) { s.budget_headroom = 1e-9; },
                                                       [](auto& s) { s.budget_headroom = 1; },
                                                   })),
              "");
    for (const double bad : {-0.001, 100.001, kInfinity, kNan}) {
        CoreSettings all = settings();
        all.adaptive_percent = bad;
        EXPECT_EQ(
            refused(all, "settings.adaptive_percent", {"adaptive_percent = ", "between 0 and 100"}),
            "");
    }
    for (const double bad : {0.0, -0.5, 1.001, kInfinity, kNan}) {
        CoreSettings all = settings();
        all.budget_headroom = bad;
        EXPECT_EQ(refused(all, "settings.budget_headroom",
                          {"budget_headroom = ", "above 0 and at most 1"}),
                  "");
    }
}

TEST(ValidateSettings, CountsAreAtLeastOne) {
    const std::string code = "settings.slots";
    EXPECT_EQ(
        (all_refused<CoreSettings>(
            settings(),
            {
                {[](auto& s) { s.global_slots = 0; }, code, {"global_slots = 0", "at least 1"}},
                {[](auto& s) { s.device_slots = 0; }, code, {"device_slots = 0", "at least 1"}},
                {[](auto& s) { s.device_class_slots = 0; }, code, {"device_class_slots = 0"}},
                {[](auto& s) { s.max_starts_per_step = 0; }, code, {"max_starts_per_step = 0"}},
            })),
        "");
    CoreSettings least = settings();
    least.global_slots = least.device_slots = 1;
    least.device_class_slots = least.max_starts_per_step = 1;
    EXPECT_TRUE(validate(least));
}

TEST(ValidateSettings, DurationsHaveLimits) {
    EXPECT_EQ((all_taken<CoreSettings>(settings(), {
                                                       [](auto& s) { s.aging_step = 1ms; },
                                                       [](auto& s) { s.aging_step = kMonth; },
                                                       [](auto& s) { s.staleness_bound = 100ms; },
                                                       [](auto& s) { s.staleness_bound = kMonth; },
                                                   })),
              "");
    for (const Duration bad : {Duration(0), Duration(-1s), kMonth + 1ns, Duration::max()}) {
        CoreSettings all = settings();
        all.aging_step = bad;
        EXPECT_EQ(refused(all, "settings.aging_step", {"aging_step = ", "between 1 ms and 31 d"}),
                  "");
        all = settings();
        all.staleness_bound = bad;
        EXPECT_EQ(refused(all, "settings.staleness_bound",
                          {"staleness_bound = ", "between 100 ms and 31 d"}),
                  "");
    }
    CoreSettings all = settings();
    all.staleness_bound = Duration(100ms) - 1ns;
    EXPECT_EQ(refused(all, "settings.staleness_bound", {"staleness_bound"}), "");
}

TEST(ValidateSettings, ClassesHaveGoodNamesOnceEach) {
    EXPECT_EQ(
        (all_refused<CoreSettings>(
            settings(),
            {
                {[](auto& s) { s.classes[1].name = "pve"; },
                 "settings.classes",
                 {"class \"pve\"", "listed twice"}},
                {[](auto& s) { s.classes[1].name = ""; }, "key.class", {"class \"\"", "1 to 64"}},
                {[](auto& s) { s.classes[0].name = "Pve"; }, "key.class", {"class \"Pve\"", "a-z"}},
                {[](auto& s) { s.classes[0].name = "\xff"; }, "key.class", {"class \"\\xff\""}},
                {[](auto& s) { s.classes[0].name.assign(65, 'x'); }, "key.class", {"1 to 64"}},
            })),
        "");
    CoreSettings longest = settings();
    longest.classes[0].name.assign(64, 'x');
    EXPECT_TRUE(validate(longest));
}

TEST(ValidateSettings, AtMostTenThousandClasses) {
    CoreSettings all;
    for (int i = 0; i < 10'000; ++i) all.classes.push_back(class_named("c" + std::to_string(i)));
    EXPECT_TRUE(validate(all));
    all.classes.push_back(class_named("one-more"));
    EXPECT_EQ(refused(all, "settings.classes", {"10001 classes", "at most 10000"}), "");
}

TEST(ValidateSettings, ClassesHaveTheirLimits) {
    EXPECT_EQ((all_taken<CoreSettings>(settings(),
                                       {
                                           [](auto& s) { s.classes[1].weight = 1; },
                                           [](auto& s) { s.classes[1].weight = 1000; },
                                           [](auto& s) { s.classes[1].rate = 0; },
                                           [](auto& s) { s.classes[1].rate = 0.001; },
                                           [](auto& s) { s.classes[1].rate = 1e7; },
                                           [](auto& s) { s.classes[1].staleness_bound = 100ms; },
                                           [](auto& s) { s.classes[1].staleness_bound = kMonth; },
                                       })),
              "");
    for (const std::uint32_t bad : {0U, 1001U, 0xFFFFFFFFU}) {
        CoreSettings all = settings();
        all.classes[1].weight = bad;
        EXPECT_EQ(refused(all, "settings.weight",
                          {"class \"job\": weight = " + std::to_string(bad), "between 1 and 1000"}),
                  "");
    }
    for (const double bad : {-1.0, 0.000999, 1.00001e7, kInfinity, kNan}) {
        CoreSettings all = settings();
        all.classes[1].rate = bad;
        EXPECT_EQ(
            refused(all, "settings.rate", {"class \"job\": rate = ", "between 0.001 and 10000000"}),
            "");
    }
    for (const Duration bad : {Duration(0), Duration(-1s), Duration(100ms) - 1ns, kMonth + 1ns}) {
        CoreSettings all = settings();
        all.classes[1].staleness_bound = bad;
        EXPECT_EQ(refused(all, "settings.staleness_bound",
                          {"class \"job\": staleness_bound = ", "between 100 ms and 31 d"}),
                  "");
    }
}

TEST(ValidateSettings, ResourcesHaveGoodNamesOnceEachAndRoom) {
    CoreSettings all = settings();
    all.resources = {{kDecomposed, 1}, {"disk", std::numeric_limits<std::int64_t>::max()}};
    ASSERT_TRUE(validate(all));
    EXPECT_EQ(all.resources[0].name, kComposed);
    const std::string code = "settings.resources";
    EXPECT_EQ(
        (all_refused<CoreSettings>(
            settings(),
            {
                {[](auto& s) { s.resources[0].name = ""; },
                 "key.name",
                 {"resource \"\"", "at least"}},
                {[](auto& s) { s.resources[0].name = "\xff"; }, "key.name", {"resource \"\\xff\""}},
                {[](auto& s) { s.resources[0].name.assign(201, 'x'); }, "key.name", {"201"}},
                {[](auto& s) { s.resources[0].capacity = 0; },
                 code,
                 {"\"lane\": capacity = 0", "positive"}},
                {[](auto& s) { s.resources[0].capacity = -3; },
                 code,
                 {"capacity = -3 is not positive"}},
                {[](auto& s) { s.resources.push_back({"lane", 1}); },
                 code,
                 {"\"lane\"", "listed twice"}},
                {[](auto& s) { s.resources = {{kDecomposed, 1}, {kComposed, 1}}; },
                 code,
                 {"listed twice"}},
            })),
        "");
}

}  // namespace
}  // namespace pollux::model
