// The last gate seen through the core: who waits where, and what wakes them.
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::Outcome;
using model::Tier;
using namespace std::chrono_literals;

std::string name(int i) { return "c::" + std::to_string(i); }

TEST(CoreAdmission, FourRunsPerDevice) {
    auto settings = wide_settings({"a", "b", "c", "d", "e", "f"});
    settings.device_slots = 4;
    settings.device_class_slots = 1;
    CoreHarness h(settings);
    for (const std::string one : {"a", "b", "c", "d", "e", "f"})
        h.add({poll_on(one + "::x", "box")});
    EXPECT_EQ(h.running.size(), 4u);
    EXPECT_EQ(h.place("e::x"), Place::kDeviceQueue);
    EXPECT_EQ(h.place("f::x"), Place::kDeviceQueue);
    h.finish("b::x");
    EXPECT_TRUE(h.runs("e::x")) << "in the same step: first come, first served";
    EXPECT_FALSE(h.runs("f::x"));
    h.finish("a::x");
    EXPECT_TRUE(h.runs("f::x"));
}

TEST(CoreAdmission, TheMostUrgentWaiterOfADeviceGoesFirst) {
    auto settings = wide_settings({"a", "b", "c"});
    settings.device_slots = 1;
    CoreHarness h(settings);
    auto urgent = poll_on("c::x", "box");
    urgent.tier = Tier::kCritical;
    h.add({poll_on("a::x", "box")});
    h.add({poll_on("b::x", "box")});
    h.pass(1s);
    h.add({urgent});
    h.finish("a::x");
    EXPECT_TRUE(h.runs("c::x"));
    EXPECT_FALSE(h.runs("b::x"));
    h.finish("c::x");
    EXPECT_TRUE(h.runs("b::x"));
}

TEST(CoreAdmission, OneRunPerDeviceAndClass) {
    auto settings = wide_settings({"c", "d"});
    settings.device_class_slots = 1;
    CoreHarness h(settings);
    for (int i = 0; i < 3; ++i) h.add({poll_on(name(i), "box")});
    h.add({poll_on("d::x", "box")});
    EXPECT_TRUE(h.runs("c::0"));
    EXPECT_TRUE(h.runs("d::x"));
    EXPECT_EQ(h.place("c::1"), Place::kDeviceQueue);
    EXPECT_EQ(h.place("c::2"), Place::kDeviceQueue);
    h.finish("c::0");
    EXPECT_TRUE(h.runs("c::1"));
    EXPECT_EQ(h.place("c::2"), Place::kDeviceQueue);
    h.finish("c::1");
    EXPECT_TRUE(h.runs("c::2"));
}

TEST(CoreAdmission, IcmpIsExemptFromTheSlotsOfADevice) {
    auto settings = wide_settings({"icmp", "c"});
    settings.device_slots = 1;
    settings.device_class_slots = 1;
    settings.classes[0].host_slots_exempt = true;
    CoreHarness h(settings);
    for (int i = 0; i < 5; ++i) h.add({poll_on("icmp::" + std::to_string(i), "box")});
    h.add({poll_on("c::x", "box")});
    EXPECT_EQ(h.running.size(), 6u);
}

TEST(CoreAdmission, ADeviceIsAskedNoFasterThanItsRate) {
    auto settings = wide_settings();
    settings.device_rate = 2;
    CoreHarness h(settings);
    for (int i = 0; i < 10; ++i) h.add({poll_on(name(i), "box", 600s)});
    EXPECT_EQ(h.running.size(), 1u) << "a burst of one";
    EXPECT_EQ(h.place("c::1"), Place::kDeviceRate);
    h.run_for(10s);
    ASSERT_EQ(h.starts.size(), 10u);
    for (std::size_t i = 1; i < h.starts.size(); ++i) {
        EXPECT_GE(h.starts[i].at - h.starts[i - 1].at, 500ms) << i;
        EXPECT_LE(h.starts[i].at - h.starts[i - 1].at, 501ms) << i << ": and no slower";
    }
}

TEST(CoreAdmission, ADeviceOfItsOwnLimits) {
    CoreHarness h;
    h.change_device({.name = "box", .rate = 0, .slots = 2, .slots_per_class = 1});
    h.add({poll_on("c::0", "box")});
    h.add({poll_on("c::1", "box")});
    EXPECT_FALSE(h.runs("c::1"));
    h.change_device({.name = "box", .rate = -1, .slots = 0, .slots_per_class = 0});
    ASSERT_EQ(h.rejections.size(), 1u);
    EXPECT_NE(h.last_rejection().find("rate = -1"), std::string::npos) << h.last_rejection();
    EXPECT_EQ(h.core().devices().limits(h.core().devices().find("box")).slots, 2u);
}

TEST(CoreAdmission, RaisedDeviceSlotsWakeWhoWaits) {
    auto settings = wide_settings({"a", "b", "c", "d"});
    settings.device_slots = 1;
    CoreHarness h(settings);
    for (const std::string one : {"a", "b", "c", "d"}) h.add({poll_on(one + "::x", "box")});
    EXPECT_EQ(h.running.size(), 1u);
    h.change_device({.name = "box", .rate = 0, .slots = 3, .slots_per_class = 0});
    h.step();
    EXPECT_EQ(h.running.size(), 3u);
}

TEST(CoreAdmission, RetryAfterClosesTheDevice) {
    CoreHarness h(wide_settings({"c", "d"}));
    h.add({poll_on("c::a", "box", 10s), poll_on("d::b", "box", 15s),
           poll_on("c::free", "other", 10s)});
    h.finish("d::b");
    h.finish("c::free");
    h.finish("c::a", {.outcome = Outcome::kTransient, .retry_after = 120s});
    const base::BootTime asked = h.now();
    h.worker = [](const std::string&) { return WorkerReply{}; };
    h.run_for(119s);
    EXPECT_EQ(h.starts_of("c::a").size(), 1u);
    EXPECT_EQ(h.starts_of("d::b").size(), 1u) << "everybody who talks to the device waits";
    EXPECT_EQ(h.starts_of("c::free").size(), 12u) << "others do not";
    EXPECT_EQ(h.explain("d::b").wakes_at, asked + 120s);
    h.run_for(1s + 2ms);
    ASSERT_EQ(h.starts_of("c::a").size(), 2u);
    ASSERT_EQ(h.starts_of("d::b").size(), 2u);
    EXPECT_GE(h.starts_of("c::a")[1].at, asked + 120s);
    EXPECT_GE(h.starts_of("d::b")[1].at, asked + 120s);
}

TEST(CoreAdmission, RetryAfterIsBelievedForAnHourAtMost) {
    CoreHarness h;
    h.add({poll_on("c::a", "box", 10s)});
    h.finish("c::a", {.retry_after = 24h});
    h.run_for(3599s);
    EXPECT_EQ(h.starts.size(), 1u);
    h.run_for(2s);
    EXPECT_EQ(h.starts.size(), 2u);
}

TEST(CoreAdmission, RetryAfterWithoutADeviceChangesNothing) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    h.finish("c::a", {.retry_after = 1h});
    h.run_for(11s);
    EXPECT_EQ(h.starts.size(), 2u);
}

TEST(CoreAdmission, ARegionWithoutWorkersIsUnreadyNeverFailed) {
    CoreHarness h;
    auto spec = poll("c::far", 10s);
    spec.region = "basel";
    h.add({spec, poll("c::near", 10s)});
    EXPECT_EQ(h.place("c::far"), Place::kRegionQueue);
    EXPECT_TRUE(h.runs("c::near"));
    h.run_for(10min);
    EXPECT_EQ(h.failure("c::far").consecutive, 0u);
    EXPECT_EQ(h.place("c::far"), Place::kRegionQueue);
    EXPECT_EQ(h.core().stats().sweep_repairs, 0u);
    h.credit("basel", 5);
    EXPECT_TRUE(h.runs("c::far")) << "in the same step";
}

TEST(CoreAdmission, ARegionTakesNoMoreThanItsCredit) {
    CoreHarness h;
    h.credit("basel", 0);
    for (int i = 0; i < 40; ++i) {
        auto spec = job(name(i));
        spec.region = "basel";
        h.add({spec});
    }
    EXPECT_TRUE(h.running.empty());
    h.credit("basel", 3);
    EXPECT_EQ(h.running.size(), 3u);
    EXPECT_TRUE(h.runs("c::0") && h.runs("c::1") && h.runs("c::2")) << "in their order";
    h.credit("basel", 30);
    for (int i = 0; i < 5; ++i) h.step();
    EXPECT_EQ(h.running.size(), 30u) << "all of the room is used, not only a part of it";
    h.credit("basel", 2);
    h.finish("c::0");
    EXPECT_EQ(h.running.size(), 29u) << "fewer workers: nobody new until they have room again";
}

// The first sixteen who were woken cannot use the credit; the seventeenth could.
TEST(CoreAdmission, CreditReachesThoseBehindADeviceThatIsClosed) {
    CoreHarness h;
    h.credit("basel", 10);
    const auto in_basel = [](model::TaskSpec spec) {
        spec.region = "basel";
        return spec;
    };
    h.add({in_basel(poll_on("c::first", "closed", 600s))});
    h.credit("basel", 0);
    h.finish("c::first", {.retry_after = 1h});
    for (int i = 0; i < 20; ++i) {
        auto spec = job(name(i));
        spec.device = "closed";
        h.add({in_basel(spec)});
        h.pass(1ms);
    }
    auto last = job("c::last");
    last.device = "open";
    h.add({in_basel(last)});
    ASSERT_EQ(h.place("c::last"), Place::kRegionQueue);
    h.credit("basel", 10);
    h.run_for(60s);
    EXPECT_TRUE(h.runs("c::last")) << "its device is open and its region has room";
}

TEST(CoreAdmission, NamedResourcesAreHeldWhileTheRunLives) {
    auto settings = wide_settings();
    settings.resources = {{"lane", 2}};
    CoreHarness h(settings);
    for (int i = 0; i < 4; ++i) {
        auto spec = job(name(i));
        spec.demand = {{"lane", 1}};
        h.add({spec});
    }
    EXPECT_EQ(h.running.size(), 2u);
    EXPECT_EQ(h.place("c::2"), Place::kResourceQueue);
    h.finish("c::1");
    EXPECT_TRUE(h.runs("c::2"));
    h.remove("c::0");
    EXPECT_TRUE(h.runs("c::3")) << "a cancelled run gives back too";
}

TEST(CoreAdmission, ClassSlotsAndRates) {
    auto settings = wide_settings({"c", "d"});
    settings.classes[0].slots = 2;
    settings.classes[1].rate = 1;
    CoreHarness h(settings);
    for (int i = 0; i < 4; ++i) h.add({job(name(i)), job("d::" + std::to_string(i))});
    EXPECT_TRUE(h.runs("c::0") && h.runs("c::1"));
    EXPECT_EQ(h.place("c::2"), Place::kReady) << "its whole class waits, so it stays in line";
    EXPECT_EQ(h.starts.size(), 3u);
    const base::BootTime start = h.now();
    h.run_for(3s);
    std::vector<double> offsets;
    for (const auto& one : h.starts) {
        if (one.key.starts_with("d")) offsets.push_back(base::to_seconds(one.at - start));
    }
    EXPECT_EQ(offsets, (std::vector<double>{0, 1, 2, 3})) << "one a second, no burst, no slower";
    EXPECT_EQ(h.spins, 0u);
    h.finish("c::0");
    EXPECT_TRUE(h.runs("c::2"));
}

TEST(CoreAdmission, AStepStartsNoMoreThanItsBatchAndThenComesBack) {
    auto settings = wide_settings();
    settings.max_starts_per_step = 10;
    CoreHarness h(settings);
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 35; ++i) specs.push_back(job(name(i)));
    h.add(specs);
    EXPECT_EQ(h.out.starts.size(), 10u);
    EXPECT_EQ(h.out.wake_at, h.now()) << "there is more to start";
    EXPECT_EQ(h.core().ready(), 25u) << "all that is ready can be seen";
    h.step();
    h.step();
    h.step();
    EXPECT_EQ(h.starts.size(), 35u);
    EXPECT_GT(h.out.wake_at, h.now());
}

TEST(CoreAdmission, SlotsComeFirstToTheMostUrgent) {
    auto settings = wide_settings();
    settings.global_slots = 1;
    CoreHarness h(settings);
    h.add({job("c::holder")});
    auto urgent = job("c::urgent");
    urgent.tier = Tier::kHigh;
    h.add({job("c::first")});
    h.add({urgent});
    h.finish("c::holder");
    EXPECT_TRUE(h.runs("c::urgent"));
    EXPECT_FALSE(h.runs("c::first"));
}

// A demand of all lanes among a stream of small ones: after aging to critical it reserves.
TEST(CoreAdmission, ALargeDemandDoesNotStarve) {
    auto settings = wide_settings({"c", "big"});
    settings.resources = {{"lane", 4}};
    CoreHarness h(settings);
    h.worker = [](const std::string&) { return WorkerReply{.after = 5s}; };
    auto large = job("big::x");
    large.demand = {{"lane", 4}};
    const auto small = [&](int i) {
        auto spec = job(name(i));
        spec.demand = {{"lane", 1}};
        return spec;
    };
    int next = 0;
    for (; next < 8; ++next) {  // their ends are spread: the lanes are never free all at once
        h.add({small(next)});
        h.run_for(1s);
    }
    h.add({large});
    const base::BootTime asked = h.now();
    // One small job a second: 5 lanes' worth of work for 4 lanes, without end.
    while (h.starts_of("big::x").empty() && h.now() < asked + 600s) {
        h.add({small(next++)});
        h.run_for(1s);
    }
    ASSERT_FALSE(h.starts_of("big::x").empty()) << "it starved for ten minutes";
    const double waited = base::to_seconds(h.starts_of("big::x").front().at - asked);
    EXPECT_LE(waited, 60 + 5 + 1) << "normal to critical in 60 s, then the runs under way";
    h.run_for(60s);
    EXPECT_EQ(h.core().admission().resource_pool(0).reserved_by, model::kNoIndex);
}

TEST(CoreAdmission, ALargeRunDoesNotStarveInItsRegion) {
    CoreHarness h(wide_settings({"c", "big"}));
    h.step({CreditChanged{"r", 4}});
    h.worker = [](const std::string&) { return WorkerReply{.after = 5s}; };
    const auto in_region = [](std::string key, std::int64_t slots) {
        auto spec = job(std::move(key));
        spec.region = "r";
        spec.slots = slots;
        return spec;
    };
    int next = 0;
    for (; next < 8; ++next) {
        h.add({in_region(name(next), 1)});
        h.run_for(1s);
    }
    h.add({in_region("big::x", 3), in_region("big::y", 2)});
    for (int i = 0; i < 100; ++i) {
        h.add({in_region(name(next++), 1)});
        h.run_for(1s);
    }
    EXPECT_EQ(h.starts_of("big::x").size(), 1U);
    EXPECT_EQ(h.starts_of("big::y").size(), 1U) << "one reservation after the other";
    h.run_for(120s);
    EXPECT_EQ(h.core().admission().region_pool(1).reserved_by, model::kNoIndex);
    EXPECT_EQ(h.core().stats().sweep_repairs, 0U);
}

}  // namespace
}  // namespace pollux::schedule
