#include "schedule/admission.hpp"

#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using base::BootTime;
using model::kNoIndex;
using namespace std::chrono_literals;

BootTime at(double second) { return BootTime{} + base::from_seconds(second); }

class AdmissionTest : public testing::Test {
  protected:
    AdmissionTest() : admission_(tasks_, devices_, leases_) {
        settings_.global_rate = 1000;
        settings_.global_slots = 10;
        settings_.device_rate = 1000;
        settings_.classes = {class_named("a"), class_named("b")};
        settings_.resources = {{"lane", 3}, {"disk", 100}};
        configure();
    }
    void configure(BootTime now = at(1)) {
        devices_.configure(at(0), settings_);
        admission_.configure(now, settings_);
    }
    std::uint32_t task(std::uint16_t class_index = 0, const std::string& device = "") {
        const std::uint32_t index = tasks_.add("t::" + std::to_string(tasks_.capacity()));
        tasks_[index].class_index = class_index;
        tasks_[index].device = device.empty() ? kNoIndex : devices_.find_or_add(device);
        return index;
    }
    std::uint32_t demanding(std::int64_t slots, std::vector<model::ResourceDemand> demand = {}) {
        const std::uint32_t index = task();
        tasks_[index].demand = intern(slots, std::move(demand)).value();
        return index;
    }
    base::Result<std::uint16_t> intern(std::int64_t slots,
                                       std::vector<model::ResourceDemand> demand = {}) {
        model::TaskSpec spec;
        spec.key = "t::x";
        spec.slots = slots;
        spec.demand = std::move(demand);
        return admission_.intern(spec);
    }
    // Takes what the run needs; returns its lease.
    std::uint32_t take(std::uint32_t index, BootTime now = at(1)) {
        Lease lease;
        lease.task = index;
        lease.ends = now + 30s;
        admission_.take(index, now, lease);
        const std::uint32_t open = leases_.open(lease);
        if (lease.device != kNoIndex) {
            leases_[open].device_next = devices_[lease.device].first_run;
            devices_[lease.device].first_run = open;
        }
        return open;
    }
    Blocker blocker(std::uint32_t index, BootTime now = at(1)) {
        return admission_.test(index, now).blocker;
    }
    model::CoreSettings settings_;
    TaskTable tasks_;
    DeviceTable devices_;
    LeaseTable leases_;
    Admission admission_;
};

TEST_F(AdmissionTest, EverythingIsOpenAtFirst) {
    const Verdict verdict = admission_.test(task(0, "d"), at(1));
    EXPECT_EQ(verdict.blocker, Blocker::kNone);
    EXPECT_TRUE(admission_.test_all(task(), at(1)).empty());
    EXPECT_TRUE(admission_.global_open(at(1)));
}

TEST_F(AdmissionTest, GlobalRateAndItsBurst) {
    settings_.global_rate = 100;
    configure();
    const std::uint32_t one = task();
    for (int i = 0; i < 10; ++i) admission_.give_back(leases_[take(one)]);
    for (int i = 10; i < 50; ++i) {
        ASSERT_EQ(blocker(one), Blocker::kNone) << i;
        admission_.give_back(leases_[take(one)]);
    }
    const Verdict closed = admission_.test(one, at(1));
    EXPECT_EQ(closed.blocker, Blocker::kGlobalRate) << "the burst is half a second";
    EXPECT_EQ(closed.until, at(1.01));
    EXPECT_FALSE(admission_.global_open(at(1)));
    EXPECT_EQ(blocker(one, at(1.01)), Blocker::kNone);
    EXPECT_EQ(admission_.global_rate().opens_at(), at(1.01));
}

TEST_F(AdmissionTest, ARefusalAtOneLevelEatsNothingAtAnother) {
    settings_.global_rate = 2;
    settings_.classes[0].slots = 1;
    configure();
    const std::uint32_t first = task(0);
    const std::uint32_t second = task(0);
    take(first);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(blocker(second, at(2)), Blocker::kClassSlots);
    EXPECT_EQ(blocker(task(1), at(2)), Blocker::kNone) << "a hundred refusals took no token";
}

TEST_F(AdmissionTest, GlobalSlots) {
    std::vector<std::uint32_t> open;
    for (int i = 0; i < 10; ++i) open.push_back(take(task()));
    EXPECT_EQ(blocker(task()), Blocker::kGlobalSlots);
    EXPECT_EQ(admission_.test(task(), at(1)).until, BootTime::max()) << "an event opens it";
    EXPECT_EQ(admission_.global_pool().free(), 0);
    admission_.give_back(leases_[open[3]]);
    EXPECT_EQ(blocker(task()), Blocker::kNone);
}

TEST_F(AdmissionTest, ClassRateAndSlots) {
    settings_.classes[0].rate = 1;
    settings_.classes[0].slots = 2;
    configure();
    take(task(0));
    EXPECT_EQ(admission_.test(task(0), at(1.5)).blocker, Blocker::kClassRate);
    EXPECT_EQ(admission_.test(task(0), at(1.5)).until, at(2));
    EXPECT_EQ(admission_.class_rate_opens_at(0), at(2));
    EXPECT_EQ(blocker(task(1), at(1.5)), Blocker::kNone) << "another class";
    take(task(0), at(2));
    EXPECT_EQ(blocker(task(0), at(5)), Blocker::kClassSlots);
    admission_.close_class_until(1, at(100));
    EXPECT_EQ(blocker(task(1), at(99)), Blocker::kClassRate);
    EXPECT_EQ(blocker(task(1), at(100)), Blocker::kNone);
}

TEST_F(AdmissionTest, ClassLimitsCanBeTakenAway) {
    settings_.classes[0].rate = 1;
    settings_.classes[0].slots = 1;
    configure();
    take(task(0));
    EXPECT_NE(blocker(task(0)), Blocker::kNone);
    settings_.classes[0].rate = 0;
    settings_.classes[0].slots = 0;
    configure();
    EXPECT_EQ(blocker(task(0)), Blocker::kNone);
}

TEST_F(AdmissionTest, ANewRateGivesNoSecondBurst) {
    settings_.global_rate = 100;
    configure();
    const std::uint32_t one = task();
    for (int i = 0; i < 50; ++i) admission_.give_back(leases_[take(one)]);
    settings_.global_rate = 101;
    configure();
    settings_.global_rate = 100;
    configure();
    EXPECT_EQ(blocker(one), Blocker::kGlobalRate);
}

TEST_F(AdmissionTest, ARegionWithoutWorkersHasNoRoom) {
    const std::uint16_t basel = admission_.region("basel");
    EXPECT_EQ(admission_.region("basel"), basel);
    EXPECT_EQ(admission_.region(""), 0) << "the local one";
    EXPECT_EQ(admission_.region_name(basel), "basel");
    EXPECT_EQ(admission_.region_count(), 2u);
    const std::uint32_t one = task();
    tasks_[one].region = basel;
    const Verdict verdict = admission_.test(one, at(1));
    EXPECT_EQ(verdict.blocker, Blocker::kRegion);
    EXPECT_EQ(verdict.which, basel);
    EXPECT_TRUE(admission_.set_credit(basel, 1)) << "more than before";
    EXPECT_FALSE(admission_.set_credit(basel, 1));
    EXPECT_EQ(blocker(one), Blocker::kNone);
    take(one);
    EXPECT_EQ(blocker(one), Blocker::kRegion);
    EXPECT_FALSE(admission_.set_credit(basel, -5));
    EXPECT_EQ(admission_.region_pool(basel).capacity, 0) << "never unlimited by mistake";
}

TEST_F(AdmissionTest, DeviceSlots) {
    settings_.device_class_slots = 10;
    configure();
    for (int i = 0; i < 4; ++i) take(task(0, "d"));
    EXPECT_EQ(blocker(task(1, "d")), Blocker::kDeviceSlots);
    EXPECT_EQ(blocker(task(1, "e")), Blocker::kNone) << "another device";
    EXPECT_EQ(blocker(task(1)), Blocker::kNone) << "no device at all";
}

TEST_F(AdmissionTest, OneRunPerDeviceAndClass) {
    const std::uint32_t run = take(task(0, "d"));
    const Verdict verdict = admission_.test(task(0, "d"), at(1));
    EXPECT_EQ(verdict.blocker, Blocker::kDeviceClass);
    EXPECT_EQ(verdict.which, run) << "the run to wait behind";
    EXPECT_EQ(blocker(task(1, "d")), Blocker::kNone);
    devices_.set_limits(at(0), devices_.find("d"), {.name = "d", .slots_per_class = 2});
    EXPECT_EQ(blocker(task(0, "d")), Blocker::kNone);
}

// ICMP: hundreds of echoes may be under way without keeping a real poll out.
TEST_F(AdmissionTest, AnExemptClassDoesNotCountOnTheDevice) {
    settings_.classes[1].host_slots_exempt = true;
    configure();
    for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(blocker(task(1, "d")), Blocker::kNone) << i;
        const std::uint32_t lease = take(task(1, "d"));
        EXPECT_FALSE(leases_[lease].counts_on_device);
    }
    EXPECT_EQ(devices_[devices_.find("d")].running, 0u);
    EXPECT_EQ(blocker(task(0, "d")), Blocker::kNone);
    admission_.give_back(leases_[0]);
    EXPECT_EQ(devices_[devices_.find("d")].running, 0u);
}

TEST_F(AdmissionTest, DeviceRate) {
    settings_.device_rate = 1;
    settings_.device_class_slots = 10;
    configure();
    take(task(0, "d"));
    const Verdict verdict = admission_.test(task(0, "d"), at(1.25));
    EXPECT_EQ(verdict.blocker, Blocker::kDeviceRate);
    EXPECT_EQ(verdict.until, at(2));
    EXPECT_EQ(blocker(task(0, "d"), at(2)), Blocker::kNone);
}

TEST_F(AdmissionTest, NamedResources) {
    const std::uint32_t two = demanding(1, {{"lane", 2}});
    EXPECT_EQ(blocker(two), Blocker::kNone);
    const std::uint32_t run = take(two);
    EXPECT_EQ(admission_.resource_pool(0).free(), 1);
    const Verdict verdict = admission_.test(two, at(1));
    EXPECT_EQ(verdict.blocker, Blocker::kResource);
    EXPECT_EQ(admission_.resource_name(verdict.which), "lane");
    EXPECT_EQ(blocker(demanding(1, {{"lane", 1}})), Blocker::kNone);
    EXPECT_EQ(blocker(demanding(1, {{"disk", 100}})), Blocker::kNone);
    EXPECT_EQ(blocker(task()), Blocker::kNone);
    admission_.give_back(leases_[run]);
    EXPECT_EQ(admission_.resource_pool(0).free(), 3);
    EXPECT_EQ(admission_.resource_count(), 2u);
}

TEST_F(AdmissionTest, ATaskOfNoSlotsStartsWhileAllAreTaken) {
    for (int i = 0; i < 10; ++i) take(task());
    EXPECT_EQ(blocker(demanding(0, {{"lane", 1}})), Blocker::kNone);
}

TEST_F(AdmissionTest, DemandsAreStoredOnce) {
    const auto plain = intern(1);
    EXPECT_EQ(plain, 0) << "one slot, nothing else";
    const auto both = intern(2, {{"lane", 1}, {"disk", 5}});
    EXPECT_EQ(intern(2, {{"disk", 5}, {"lane", 1}}), both) << "the order means nothing";
    EXPECT_NE(intern(2, {{"disk", 6}, {"lane", 1}}), both);
    EXPECT_EQ(admission_.demand(*both).slots, 2);
    EXPECT_EQ(admission_.demand(*both).resources.size(), 2u);
}

TEST_F(AdmissionTest, WhatCanNeverBeHadIsRefused) {
    const auto slots = intern(11);
    ASSERT_FALSE(slots);
    EXPECT_EQ(slots.error().code, "task.slots");
    EXPECT_EQ(slots.error().message, "t::x: slots = 11 can never be had: global_slots is 10");
    const auto unknown = intern(1, {{"tape", 1}});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().message, "t::x: resource \"tape\" is not declared in the settings");
    const auto much = intern(1, {{"lane", 4}});
    ASSERT_FALSE(much);
    EXPECT_EQ(much.error().code, "task.demand");
    EXPECT_EQ(much.error().message,
              "t::x: demand of \"lane\" = 4 can never be had: its capacity is 3");
    settings_.resources.pop_back();
    configure();
    EXPECT_FALSE(intern(1, {{"disk", 1}})) << "it was taken out of the settings";
}

TEST_F(AdmissionTest, MoreDemandsThanCanBeCountedAreRefused) {
    settings_.resources = {{"disk", 1'000'000}};
    configure();
    base::Result<std::uint16_t> last = 0;
    for (std::int64_t i = 1; i < 70'000 && last; ++i) last = intern(1, {{"disk", i}});
    ASSERT_FALSE(last);
    EXPECT_EQ(last.error().message, "t::x: more than 65535 different demands are in use");
    EXPECT_EQ(intern(1, {{"disk", 1}}), 1) << "those that are known still work";
}

TEST_F(AdmissionTest, AllClosedLimitsAreListed) {
    settings_.classes[0].slots = 1;
    settings_.global_slots = 1;
    configure();
    take(task(0, "d"));
    std::vector<Blocker> all;
    for (const Verdict& one : admission_.test_all(task(0, "d"), at(1))) all.push_back(one.blocker);
    EXPECT_EQ(all, (std::vector<Blocker>{Blocker::kGlobalSlots, Blocker::kClassSlots,
                                         Blocker::kDeviceClass}));
}

// A large demand cannot starve behind a stream of small ones.
TEST_F(AdmissionTest, WhoReservesIsTheOnlyOneServed) {
    const std::uint32_t small = demanding(1, {{"lane", 1}});
    const std::uint32_t large = demanding(1, {{"lane", 3}});
    const std::uint32_t run = take(small);
    const Verdict verdict = admission_.test(large, at(1));
    ASSERT_EQ(verdict.blocker, Blocker::kResource);
    admission_.update_reservations(large, verdict, true);
    EXPECT_TRUE(tasks_[large].has(kFlagReserves));
    EXPECT_EQ(blocker(small), Blocker::kResource) << "two lanes are free, but not for it";
    const std::uint32_t rival = demanding(1, {{"lane", 2}});
    admission_.update_reservations(rival, verdict, true);
    EXPECT_EQ(admission_.resource_pool(0).reserved_by, large) << "the first one keeps it";
    EXPECT_FALSE(admission_.drop_reservations(rival));
    admission_.give_back(leases_[run]);
    EXPECT_EQ(blocker(large), Blocker::kNone);
    EXPECT_TRUE(admission_.drop_reservations(large));
    EXPECT_EQ(blocker(small), Blocker::kNone);
    EXPECT_FALSE(tasks_[large].has(kFlagReserves));
}

TEST_F(AdmissionTest, OnlyTheUrgentReserveAndOnlyMoreThanOneUnit) {
    const std::uint32_t one = demanding(1, {{"lane", 1}});
    const std::uint32_t large = demanding(1, {{"lane", 3}});
    admission_.update_reservations(one, {Blocker::kResource, at(5), 0}, true);
    EXPECT_FALSE(tasks_[one].has(kFlagReserves));
    admission_.update_reservations(large, {Blocker::kResource, at(5), 0}, false);
    EXPECT_FALSE(tasks_[large].has(kFlagReserves));
}

TEST_F(AdmissionTest, ReservationsAreKeptOnlyWhileWaitingForALaterPool) {
    const Verdict region{Blocker::kRegion, at(5), 0};
    const Verdict lane{Blocker::kResource, at(5), 0};
    const Verdict global{Blocker::kGlobalSlots, at(5), 0};
    const std::uint32_t large = demanding(2, {{"lane", 2}});
    EXPECT_FALSE(admission_.update_reservations(large, region, true));
    EXPECT_FALSE(admission_.update_reservations(large, lane, true));
    EXPECT_FALSE(admission_.update_reservations(large, global, true));
    EXPECT_EQ(admission_.region_pool(0).reserved_by, large);
    EXPECT_EQ(admission_.resource_pool(0).reserved_by, large);
    EXPECT_EQ(admission_.global_pool().reserved_by, large);
    EXPECT_TRUE(admission_.update_reservations(large, lane, true));
    EXPECT_EQ(admission_.global_pool().reserved_by, model::kNoIndex);
    EXPECT_EQ(admission_.resource_pool(0).reserved_by, large);
    EXPECT_TRUE(admission_.update_reservations(large, region, true));
    EXPECT_EQ(admission_.resource_pool(0).reserved_by, model::kNoIndex);
    EXPECT_TRUE(admission_.update_reservations(large, {Blocker::kDeviceSlots, at(5), 0}, true))
        << "a device may be closed for an hour";
    EXPECT_EQ(admission_.region_pool(0).reserved_by, model::kNoIndex);
    EXPECT_FALSE(tasks_[large].has(kFlagReserves));
}

TEST_F(AdmissionTest, GlobalSlotsAreReservedForAClass) {
    const std::uint32_t large = demanding(2, {});
    admission_.update_reservations(large, {Blocker::kGlobalSlots, at(5), 0}, true);
    EXPECT_EQ(blocker(task(0)), Blocker::kNone) << "whoever stands before it in its class";
    EXPECT_EQ(blocker(task(1)), Blocker::kGlobalSlots);
}

TEST_F(AdmissionTest, AReservationOfMoreThanThereIsGoes) {
    const std::uint32_t large = demanding(1, {{"lane", 3}});
    admission_.update_reservations(large, {Blocker::kResource, at(5), 0}, true);
    settings_.resources[0].capacity = 2;
    configure();
    EXPECT_EQ(admission_.resource_pool(0).reserved_by, model::kNoIndex);
    admission_.update_reservations(large, {Blocker::kResource, at(5), 0}, true);
    EXPECT_EQ(admission_.resource_pool(0).reserved_by, model::kNoIndex);
}

TEST_F(AdmissionTest, AskingForOneThingOnly) {
    const std::uint32_t one = demanding(1, {{"lane", 2}});
    tasks_[one].device = devices_.find_or_add("d");
    EXPECT_TRUE(admission_.resource_fits(0, one));
    EXPECT_TRUE(admission_.resource_fits(1, one)) << "it wants nothing of that";
    EXPECT_TRUE(admission_.region_fits(one));
    EXPECT_EQ(admission_.test_device(one, at(1)).blocker, Blocker::kNone);
    take(one);
    EXPECT_FALSE(admission_.resource_fits(0, one));
    EXPECT_EQ(admission_.test_device(one, at(1)).blocker, Blocker::kDeviceClass);
    const std::uint16_t region = admission_.region("nowhere");
    tasks_[one].region = region;
    EXPECT_FALSE(admission_.region_fits(one));
    EXPECT_TRUE(admission_.set_credit(region, 1));
    EXPECT_TRUE(admission_.region_fits(one));
    EXPECT_FALSE(admission_.set_credit(region, 0));
}

TEST_F(AdmissionTest, WhatWasTakenIsGivenBackWhateverWasEdited) {
    const std::uint32_t one = demanding(3, {{"lane", 2}});
    tasks_[one].device = devices_.find_or_add("d");
    const std::uint32_t run = take(one);
    EXPECT_EQ(devices_[devices_.find("d")].running, 1u);
    tasks_[one].demand = 0;
    tasks_[one].class_index = 1;
    tasks_[one].device = devices_.find_or_add("e");
    admission_.give_back(leases_[run]);
    EXPECT_EQ(admission_.global_pool().used, 0);
    EXPECT_EQ(admission_.resource_pool(0).used, 0);
    EXPECT_EQ(devices_[devices_.find("d")].running, 0u);
    EXPECT_EQ(devices_[devices_.find("e")].running, 0u);
}

}  // namespace
}  // namespace pollux::schedule
