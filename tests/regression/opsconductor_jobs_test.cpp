// Defects of an earlier job scheduler, whose one-shot work and dependencies Pollux has taken over
// beside the polls of OpsConductor: who is chosen, what a start costs, and what a job waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/regression/core_driver.hpp"

namespace pollux::tests {
namespace {

using model::JobState;
using model::Outcome;
using model::Tier;
using schedule::OperatorVerb;
using schedule::Place;
using namespace std::chrono_literals;

model::CoreSettings one_slot() {
    auto settings = roomy_settings({"a", "b"});
    settings.global_slots = 1;
    return settings;
}

// A hundred waiting jobs were read, and only these were sorted: the most urgent one, if it was the
// 101st, was not seen. Here a batch limits the starts of a turn, not what the turn can see.
TEST(JobSchedulerDefect, TheLimitComesBeforeTheSort) {
    auto settings = one_slot();
    CoreDriver driver(settings);
    driver.add(long_job("a::holds-slot"));
    driver.add_all(fleet("a", 300, with_tier(long_job(""), Tier::kLow)));
    driver.run_for(1);
    driver.add(with_tier(long_job("a::urgent"), Tier::kCritical));
    driver.forget_starts();
    settings.global_slots = 1000;
    driver.change_settings(settings);
    ASSERT_EQ(driver.commands().starts.size(), 100U);
    EXPECT_EQ(driver.started_keys().at(0), "a::urgent");
    driver.run_for(1);
    EXPECT_EQ(driver.starts().size(), 301U);
}

// Zero was the highest priority and the sort was descending: the least urgent went first.
TEST(JobSchedulerDefect, PrioritiesAreSortedBackwards) {
    CoreDriver driver(one_slot());
    driver.add(long_job("a::holds-slot"));
    driver.add(with_tier(job("a::low"), Tier::kLow));
    driver.add(with_tier(job("b::critical"), Tier::kCritical));
    driver.add(with_tier(job("b::normal"), Tier::kNormal));
    driver.add(with_tier(job("a::high"), Tier::kHigh));
    driver.finish("a::holds-slot");
    for (const char* key : {"b::critical", "a::high", "b::normal", "a::low"}) {
        ASSERT_TRUE(driver.runs(key)) << key;
        driver.finish(key);
    }
}

// There was no aging: a job of the lowest priority never ran while urgent ones kept coming.
TEST(JobSchedulerDefect, ALowPriorityStarves) {
    auto settings = one_slot();
    settings.aging_step = 10s;
    CoreDriver driver(settings);
    driver.set_worker(CoreDriver::always({.after = 1s}));
    driver.add(with_tier(job("a::first"), Tier::kCritical));
    driver.add(with_tier(job("a::low"), Tier::kLow));
    for (int i = 0; i < 60; ++i) {
        driver.add(with_tier(job("a::urgent-" + std::to_string(i)), Tier::kCritical));
        driver.add(with_tier(job("b::urgent-" + std::to_string(i)), Tier::kCritical));
        driver.run_for(1);
    }
    ASSERT_EQ(driver.starts_of("a::low").size(), 1U);
    EXPECT_GE(driver.start_times("a::low")[0], 20) << "urgent work does go first";
    EXPECT_LE(driver.start_times("a::low")[0], 33) << "three steps, and the run that is under way";
}

// Fairness between kinds of work was asked for and not made: a thousand of one kind were in front
// of ten of another.
TEST(JobSchedulerDefect, ALargeClassKeepsASmallOneWaiting) {
    for (const std::uint32_t slots : {1U, 24U}) {  // one start a turn, all starts in one turn
        auto settings = one_slot();
        CoreDriver driver(settings);
        driver.add(long_job("a::holds-slot"));
        driver.add_all(fleet("a", 1000, job("")));
        driver.add_all(fleet("b", 10, job("")));
        driver.set_worker(CoreDriver::always({.after = 100ms}));
        driver.forget_starts();
        settings.global_slots = slots + 1;
        driver.change_settings(settings);
        driver.run_for(2.35 / slots);
        const auto keys = driver.started_keys();
        ASSERT_GE(keys.size(), 24U);
        const auto of_b_among = [&](std::ptrdiff_t first) {
            return std::ranges::count_if(keys.begin(), keys.begin() + first,
                                         [](const auto& key) { return key.starts_with("b"); });
        };
        EXPECT_EQ(of_b_among(10), 5) << "turn by turn, with " << slots;
        EXPECT_EQ(of_b_among(24), 10) << slots;
    }
}

// How long a job had waited was counted from its creation, not from when it could have run: one
// that had waited for its parents went in front of one that had waited for its turn.
TEST(JobSchedulerDefect, WaitingTimeIsCountedFromCreation) {
    CoreDriver driver(one_slot());
    driver.add(long_job("a::holds-slot"));
    driver.add(with_needs(job("a::created-first"), needs_device("switch")));
    driver.run_for(10);
    driver.add(job("a::ready-first"));
    driver.run_for(10);
    driver.parent("switch", true);
    driver.run_for(1);
    driver.finish("a::holds-slot");
    EXPECT_TRUE(driver.runs("a::ready-first"));
}

// A waiting job that was woken had to ask again, and was refused because it was queued already.
TEST(JobSchedulerDefect, AWaiterIsRefusedWhenItsTurnComes) {
    auto settings = roomy_settings({"a"});
    settings.global_slots = 2;
    settings.device_slots = 1;
    settings.device_class_slots = 4;
    settings.resources = {{"lane", 1}};
    auto lane = job("");
    lane.demand = {{"lane", 1}};
    const auto remote = [](model::TaskSpec spec) {
        spec.region = "r";
        return spec;
    };
    for (const auto& kind : {job(""), with_device(job(""), "d"), lane, remote(job(""))}) {
        for (const std::uint32_t class_slots : {0U, 1U}) {
            settings.classes[0].slots = class_slots;
            CoreDriver driver(settings);
            driver.credit("r", 1);
            driver.add_all(fleet("a", 5, kind));
            ASSERT_LE(driver.running(), 2U);
            while (driver.running() > 0) {
                driver.finish_all();
                driver.run_for(0.1);
            }
            EXPECT_EQ(driver.core().stats().finished, 5U);
            EXPECT_EQ(driver.starts().size(), 5U);
            EXPECT_TRUE(driver.rejections().empty());
        }
    }
}

// Tokens were taken from the global limit before a limit further down refused: a class at its limit
// used up the starts of all others. Here all limits are asked before any is charged.
TEST(JobSchedulerDefect, ARefusedStartUsesUpTheGlobalRate) {
    auto settings = roomy_settings({"a", "b"});
    settings.global_rate = 10;
    settings.classes[0].rate = 0.01;
    CoreDriver driver(settings);
    driver.set_worker(CoreDriver::always({}));
    driver.add_all(fleet("a", 500, job("")));
    driver.add_all(fleet("b", 500, job("")));
    driver.run_for(20);
    const auto keys = driver.started_keys();
    const auto of_b =
        std::ranges::count_if(keys, [](const auto& key) { return key.starts_with("b"); });
    EXPECT_GE(of_b, 200);
    EXPECT_LE(keys.size(), 206U);
}

// And what leaked did not come back. Here slots and resources are given back on every way out.
TEST(JobSchedulerDefect, SlotsLeak) {
    auto settings = roomy_settings({"a"});
    settings.global_slots = 3;
    settings.resources = {{"lane", 3}};
    CoreDriver driver(settings);
    const auto ends = [&](auto end) {
        auto spec = job("a::x");
        spec.slots = 3;
        spec.demand = {{"lane", 3}};
        driver.add(spec);
        ASSERT_TRUE(driver.runs("a::x"));
        end();
        EXPECT_EQ(driver.core().admission().global_pool().used, 0);
        EXPECT_EQ(driver.core().admission().resource_pool(0).used, 0);
        EXPECT_EQ(driver.core().in_flight(), 0U);
        if (driver.core().is_live(driver.core().find("a::x"))) driver.remove("a::x");
    };
    ends([&] { driver.finish("a::x"); });
    ends([&] { driver.finish("a::x", Outcome::kTransient); });
    ends([&] { driver.finish("a::x", Outcome::kPermanent); });
    ends([&] { driver.finish("a::x", Outcome::kInterrupted); });
    ends([&] { driver.run_for(32.01); });  // nobody reports
    ends([&] { driver.operate(OperatorVerb::kCancelJob, "a::x"); });
    ends([&] { driver.remove("a::x"); });
    EXPECT_EQ(driver.core().stats().started, 7U);
}

// A refusal from outside ("ask again in 30 s") closed the window for everybody. Here it closes the
// device that said so.
TEST(JobSchedulerDefect, OneRefusalFromOutsideStopsEverybody) {
    CoreDriver driver(roomy_settings({"a", "b"}));
    driver.set_worker([](const std::string& key, double) {
        if (key != "a::refused") return Reply{};
        return Reply{.outcome = Outcome::kTransient, .retry_after = 30s};
    });
    driver.add(with_device(fixed_task("a::refused", 60s), "busy"));
    driver.run_for(0.1);
    driver.add(with_device(fixed_task("b::same-device", 10s), "busy"));
    driver.add(with_device(fixed_task("a::other-device", 10s), "idle"));
    driver.run_until(29.9);
    EXPECT_EQ(driver.starts_of("a::refused").size(), 1U);
    EXPECT_TRUE(driver.starts_of("b::same-device").empty());
    EXPECT_EQ(driver.starts_of("a::other-device").size(), 3U);
    driver.run_until(31);
    EXPECT_EQ(driver.starts_of("b::same-device").size(), 1U);
}

// A dependency that did not exist was simply never complete, and nobody was told. Here the job is
// refused, with the name of what is missing.
TEST(JobSchedulerDefect, AMissingDependencyIsWaitedForForEver) {
    CoreDriver driver(roomy_settings());
    driver.add(with_needs(job("c::child"), needs_task("c::missing")));
    ASSERT_EQ(driver.rejections().size(), 1U);
    EXPECT_NE(driver.rejections()[0].error.message.find("\"c::missing\""), std::string::npos);
    EXPECT_FALSE(driver.core().is_live(driver.core().find("c::child")));
}

// Only completed parents counted, so the children of a failed one were pending for good. Here they
// fail with it, down to the last, and each says so.
TEST(JobSchedulerDefect, ChildrenOfAFailedParentArePendingForEver) {
    CoreDriver driver(roomy_settings());
    driver.add(job("c::parent"));
    driver.add(with_needs(job("c::child"), needs_task("c::parent")));
    driver.add(with_needs(job("c::grandchild"), needs_task("c::child")));
    driver.finish("c::parent", Outcome::kPermanent);
    for (const char* key : {"c::parent", "c::child", "c::grandchild"}) {
        EXPECT_EQ(driver.slot(key).place, Place::kEnded) << key;
        EXPECT_EQ(driver.slot(key).job, JobState::kFailed) << key;
    }
    EXPECT_EQ(driver.commands().changes.size(), 3U);
    EXPECT_EQ(driver.starts().size(), 1U);
}

// The needs were checked for cycles when work was created. Here also when it is edited, and all of
// the cycle is named.
TEST(JobSchedulerDefect, CyclesAreLookedForOnlyAtCreation) {
    CoreDriver driver(roomy_settings());
    driver.set_worker(CoreDriver::always({}));
    driver.add(fixed_task("c::1", 10s));
    driver.add(with_needs(fixed_task("c::2", 10s), needs_task("c::1")));
    driver.add(with_needs(fixed_task("c::3", 10s), needs_task("c::2")));
    driver.add(with_needs(fixed_task("c::1", 10s), needs_task("c::3")));
    ASSERT_EQ(driver.rejections().size(), 1U);
    for (const char* key : {"\"c::1\"", "\"c::2\"", "\"c::3\""}) {
        EXPECT_NE(driver.rejections()[0].error.message.find(key), std::string::npos) << key;
    }
    driver.run_for(60);
    for (const char* key : {"c::1", "c::2", "c::3"}) {
        EXPECT_GE(driver.starts_of(key).size(), 4U) << key;
    }
}

// An urgent job waited behind everything that its parent, which was not urgent, waited behind.
TEST(JobSchedulerDefect, AnUrgentJobWaitsForItsUnhurriedParent) {
    CoreDriver driver(one_slot());
    driver.add(long_job("a::holds-slot"));
    driver.add_all(fleet("a", 10, with_tier(job(""), Tier::kHigh)));
    driver.add(with_tier(job("a::parent"), Tier::kLow));
    driver.add(with_tier(with_needs(job("a::urgent"), needs_task("a::parent")), Tier::kCritical));
    driver.finish("a::holds-slot");
    ASSERT_TRUE(driver.runs("a::parent"));
    driver.finish("a::parent");
    EXPECT_TRUE(driver.runs("a::urgent"));
}

// A need was met when its parent was complete, which a repeating task never is. Here a parent that
// recurs is good while it answers.
TEST(JobSchedulerDefect, ARepeatingParentIsNeverComplete) {
    CoreDriver driver(roomy_settings());
    Outcome parent = Outcome::kOk;
    driver.set_worker([&](const std::string& key, double) {
        return Reply{.outcome = key == "c::parent" ? parent : Outcome::kOk};
    });
    driver.add_all({fixed_task("c::parent", 10s),
                    with_needs(fixed_task("c::child", 10s), needs_task("c::parent"))});
    driver.run_until(100);
    EXPECT_GE(driver.starts_of("c::child").size(), 9U);
    parent = Outcome::kTransient;
    driver.run_until(150);
    driver.forget_starts();
    driver.run_until(300);
    EXPECT_TRUE(driver.starts_of("c::child").empty());
    parent = Outcome::kOk;
    driver.run_until(450);
    EXPECT_GE(driver.starts_of("c::child").size(), 5U);
}

}  // namespace
}  // namespace pollux::tests
