// Stories in which a task, a class or the whole scheduler could get stuck, spin, or be misreported.
// Each is the smallest sequence that shows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "engine/persistence_pump.hpp"
#include "tests/regression/core_driver.hpp"

namespace pollux::tests {
namespace {

using model::Outcome;
using model::Tier;
using schedule::OperatorVerb;
using schedule::Place;
using namespace std::chrono_literals;

model::TaskSpec with_demand(model::TaskSpec spec, std::int64_t amount) {
    spec.demand = {{"lane", amount}};
    return spec;
}

bool in_plan(const CoreDriver& driver, const std::string& key) {
    const auto plan = driver.core().plan(driver.now().boot, 100);
    return std::ranges::find(plan, driver.handle(key), &schedule::PlanEntry::task) != plan.end();
}

// One slot of the class is free, but its most urgent task wants two: nothing can start until a run
// ends, so nothing needs to be looked at before that.
TEST(CoreDefects, AsksToBeSteppedAtOnceWhileALargeDemandWaitsForSlots) {
    auto settings = roomy_settings({"a", "b"});
    settings.global_slots = 2;
    CoreDriver driver(settings);
    driver.add(job("b::small"));
    ASSERT_TRUE(driver.runs("b::small"));
    auto large = job("a::large");
    large.slots = 2;
    driver.add(large);
    ASSERT_FALSE(driver.runs("a::large"));
    EXPECT_GT(driver.commands().wake_at, driver.now().boot);
}

TEST(CoreDefects, AsksToBeSteppedAtOnceWhileSlotsAreReserved) {
    auto settings = roomy_settings({"a", "b"});
    settings.global_slots = 2;
    CoreDriver driver(settings);
    driver.add(job("b::small"));
    auto large = with_tier(job("a::large"), Tier::kCritical);
    large.slots = 2;
    driver.add(large);
    driver.add(job("b::other"));  // may not take what is reserved
    ASSERT_FALSE(driver.runs("b::other"));
    EXPECT_GT(driver.commands().wake_at, driver.now().boot);
}

// X was ready first, but waited for its device when Y reserved the only slot of their class. Now X
// stands before Y in line and may not take what Y reserved; Y is not looked at, because X blocks
// the class.
TEST(CoreDefects, AReservationOfClassSlotsStopsItsWholeClass) {
    auto settings = roomy_settings({"a", "b"});
    settings.device_slots = 1;
    settings.classes[0].slots = 1;
    CoreDriver driver(settings);
    driver.add(with_device(job("b::on-device"), "d"));
    driver.add(with_tier(with_device(job("a::x"), "d"), Tier::kCritical));
    ASSERT_EQ(driver.slot("a::x").place, Place::kDeviceQueue);
    driver.add(job("a::w"));  // takes the slot of the class
    ASSERT_TRUE(driver.runs("a::w"));
    driver.run_for(1);
    driver.add(with_tier(job("a::y"), Tier::kCritical));  // reserves it
    driver.finish("b::on-device");
    driver.finish("a::w");
    driver.run_for(10);
    EXPECT_TRUE(driver.runs("a::x") || driver.runs("a::y"));
}

// The task that was woken for the device cannot start, because its class is full. The other task
// that waits for the device could, but is not asked.
TEST(CoreDefects, AWokenTaskOfAFullClassKeepsItsDeviceIdle) {
    auto settings = roomy_settings({"a", "b"});
    settings.device_slots = 1;
    settings.classes[0].slots = 1;
    CoreDriver driver(settings);
    driver.add(with_device(job("b::first"), "d"));
    driver.add(with_device(job("a::waits"), "d"));
    driver.run_for(0.01);
    driver.add(with_device(job("b::waits"), "d"));
    driver.add(job("a::elsewhere"));  // fills class a
    ASSERT_TRUE(driver.runs("a::elsewhere"));
    driver.finish("b::first");
    driver.run_for(0.1);
    EXPECT_TRUE(driver.runs("b::waits"));
    driver.run_for(20);
    EXPECT_EQ(driver.core().stats().sweep_repairs, 0U);
}

// The woken task cannot use the device, because another run of its class is on it, and hands the
// wake on. Who gets it is of a class that had nothing ready when the turn began.
TEST(CoreDefects, ATaskWokenDuringATurnWaitsForTheNextSecond) {
    auto settings = roomy_settings({"a", "b", "c"});
    settings.device_slots = 2;
    CoreDriver driver(settings);
    driver.add(with_device(job("a::runs"), "d"));
    driver.add(with_device(job("b::runs"), "d"));
    driver.run_for(0.1);
    driver.add(with_device(job("a::waits"), "d"));
    driver.run_for(0.1);
    driver.add(with_device(job("c::waits"), "d"));
    ASSERT_EQ(driver.slot("a::waits").place, Place::kDeviceQueue);
    ASSERT_EQ(driver.slot("c::waits").place, Place::kDeviceQueue);
    driver.finish("b::runs");
    EXPECT_TRUE(driver.runs("c::waits") || driver.commands().wake_at <= driver.now().boot);
}

// Several tasks share a device with one slot. When a run ends, one waiting task is told; until it
// has started the device looks idle, and the sweep takes the other one for lost.
TEST(CoreDefects, TheSweepAlarmsWhenARunEndsOnABusyDevice) {
    auto settings = roomy_settings({"a"});
    settings.device_slots = 1;
    CoreDriver driver(settings);
    driver.set_worker([](const std::string&, double) {
        Reply reply;
        reply.after = 10s;
        return reply;
    });
    for (const char* key : {"a::1", "a::2", "a::3", "a::4", "a::5", "a::6", "a::7"}) {
        driver.add(with_device(fixed_task(key, 10s), "d"));
    }
    driver.run_for(600);
    EXPECT_EQ(driver.core().stats().sweep_repairs, 0U);
    EXPECT_GT(driver.starts().size(), 50U);
}

// One of two tasks holds the turn of its device and waits for the global rate. The other one waits
// behind it, as it should: nothing is lost, and nothing is to be repaired.
TEST(CoreDefects, TheSweepAlarmsWhileADeviceWaitsForTheGlobalRate) {
    auto settings = roomy_settings({"a", "b", "c"});
    settings.device_slots = 1;
    CoreDriver driver(settings);
    for (const char* key : {"a::x", "b::x", "c::x"}) {
        driver.add(with_device(job(key), "d"));
    }
    ASSERT_EQ(driver.slot("c::x").place, Place::kDeviceQueue);
    settings.global_rate = 0.01;
    driver.change_settings(settings);
    driver.add(job("a::takes-the-start"));
    driver.finish("a::x");
    ASSERT_EQ(driver.slot("b::x").place, Place::kReady);
    driver.run_for(20);
    EXPECT_EQ(driver.core().stats().sweep_repairs, 0U);
    EXPECT_EQ(driver.core().audit(0, driver.core().capacity()), 0U);
}

// X and Y each hold what the other one lacks: X the lane, Y the region.
TEST(CoreDefects, TwoReservationsBlockEachOther) {
    auto settings = roomy_settings({"a", "b"});
    settings.resources = {{"lane", 1}};
    CoreDriver driver(settings);
    driver.apply(schedule::CreditChanged{"r", 1});
    driver.add(with_demand(job("a::holds-lane"), 1));
    auto x = with_tier(with_demand(job("a::x"), 1), Tier::kCritical);
    x.region = "r";
    driver.add(x);
    auto z = job("b::holds-region");
    z.region = "r";
    driver.add(z);
    ASSERT_TRUE(driver.runs("b::holds-region"));
    auto y = x;
    y.key = "a::y";
    driver.run_for(1);
    driver.add(y);
    driver.finish("a::holds-lane");
    driver.finish("b::holds-region");
    driver.run_for(10);
    EXPECT_TRUE(driver.runs("a::x") || driver.runs("a::y"));
}

// The reservation goes with its holder, but whoever waited because of it is not told.
TEST(CoreDefects, ADroppedReservationWakesNobody) {
    auto settings = roomy_settings({"a", "b"});
    settings.resources = {{"lane", 3}};
    CoreDriver driver(settings);
    driver.add(with_demand(job("b::holds-lane"), 2));
    driver.add(with_tier(with_demand(job("a::x"), 2), Tier::kCritical));
    driver.add(with_demand(job("b::y"), 1));
    ASSERT_FALSE(driver.runs("b::y")) << "the free lane is reserved";
    driver.remove("a::x");
    driver.run_for(10);
    EXPECT_TRUE(driver.runs("b::y"));
}

TEST(CoreDefects, RaisedCapacityWakesNobody) {
    auto settings = roomy_settings({"a"});
    settings.resources = {{"lane", 2}};
    CoreDriver driver(settings);
    auto spec = with_demand(fixed_task("a::x", 10s), 2);
    spec.enabled = false;
    driver.add(spec);
    auto lowered = settings;
    lowered.resources = {{"lane", 1}};
    driver.change_settings(lowered);
    driver.operate(OperatorVerb::kEnable, "a::x");
    ASSERT_EQ(driver.slot("a::x").place, Place::kResourceQueue);
    driver.change_settings(settings);
    driver.run_for(60);
    EXPECT_FALSE(driver.starts_of("a::x").empty());
}

TEST(CoreDefects, RaisedDeviceLimitsDoNotWakeWhoWaitsBehindARun) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.add(with_device(job("a::first"), "d"));
    driver.add(with_device(job("a::second"), "d"));
    ASSERT_EQ(driver.slot("a::second").place, Place::kDeviceQueue);
    driver.apply(schedule::DeviceChanged{std::make_shared<const model::DeviceSpec>(
        model::DeviceSpec{.name = "d", .rate = 0, .slots = 4, .slots_per_class = 2})});
    driver.run_for(1);
    EXPECT_TRUE(driver.runs("a::second"));
}

TEST(CoreDefects, ARaisedDeviceRateDoesNotWakeWhoWaitsForTheOldOne) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.apply(schedule::DeviceChanged{
        std::make_shared<const model::DeviceSpec>(model::DeviceSpec{.name = "d", .rate = 0.001})});
    driver.add(with_device(job("a::first"), "d"));
    driver.finish("a::first");
    driver.add(with_device(job("a::second"), "d"));
    ASSERT_EQ(driver.slot("a::second").place, Place::kDeviceRate);
    driver.apply(schedule::DeviceChanged{
        std::make_shared<const model::DeviceSpec>(model::DeviceSpec{.name = "d", .rate = 1000})});
    driver.run_for(5);
    EXPECT_TRUE(driver.runs("a::second"));
}

// A child that is ready, or waits for a slot, when its parent goes down starts all the same.
TEST(CoreDefects, AReadyTaskStartsAfterItsParentWentDown) {
    auto settings = roomy_settings({"a"});
    settings.global_slots = 1;
    CoreDriver driver(settings);
    driver.add(job("a::holds-slot"));
    auto child = fixed_task("a::child", 10s);
    child.needs = {needs_device("switch")};
    driver.add(child);
    driver.parent("switch", true);
    driver.run_for(10);
    ASSERT_EQ(driver.slot("a::child").place, Place::kReady);
    driver.parent("switch", false);
    driver.finish("a::holds-slot");
    driver.run_for(1);
    EXPECT_FALSE(driver.runs("a::child"));
}

TEST(CoreDefects, ThePlanLeavesOutATaskThatWaitsForItsRegion) {
    CoreDriver driver(roomy_settings({"a"}));
    auto spec = fixed_task("a::remote", 10s);
    spec.region = "r";
    driver.add(spec);
    ASSERT_EQ(driver.slot("a::remote").place, Place::kRegionQueue);
    EXPECT_TRUE(in_plan(driver, "a::remote"));
}

TEST(CoreDefects, ThePlanLeavesOutATaskThatWaitsForItsDeviceRate) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.apply(schedule::DeviceChanged{
        std::make_shared<const model::DeviceSpec>(model::DeviceSpec{.name = "d", .rate = 0.1})});
    driver.add(with_device(job("a::first"), "d"));
    driver.finish("a::first");
    driver.add(with_device(job("a::second"), "d"));
    ASSERT_EQ(driver.slot("a::second").place, Place::kDeviceRate);
    EXPECT_TRUE(in_plan(driver, "a::second"));
}

// Taken from the wheel and put back for the same millisecond: its old entry looks alive again.
TEST(CoreDefects, ThePlanShowsATaskTwice) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.add(fixed_task("a::x", 10s));
    driver.finish("a::x");
    driver.operate(OperatorVerb::kDisable, "a::x");
    driver.operate(OperatorVerb::kEnable, "a::x");
    EXPECT_EQ(driver.core().plan(driver.now().boot, 100).size(), 1U);
}

// Events come before timers in a step: a poke finds a task that is due, and puts it a second after
// its last answer.
TEST(CoreDefects, APokeMovesADueTaskLater) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.set_worker([](const std::string&, double) {
        Reply reply;
        reply.after = 9500ms;
        return reply;
    });
    driver.add(fixed_task("a::x", 10s));
    driver.run_until(9.9);
    schedule::Commands commands;
    const std::vector<schedule::Event> poke = {schedule::Poked{driver.handle("a::x")}};
    driver.core().step({driver.time_at(10), driver.now().wall}, poke, commands);
    EXPECT_EQ(commands.starts.size(), 1U);
}

// What a person did must be seen and must survive a crash, also while a run is in flight.
TEST(CoreDefects, EnablingDuringARunIsNeitherShownNorWritten) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.add(fixed_task("a::x", 10s));
    ASSERT_TRUE(driver.runs("a::x"));
    driver.operate(OperatorVerb::kDisable, "a::x");
    driver.core().take_record(driver.handle("a::x"));
    driver.operate(OperatorVerb::kEnable, "a::x");
    const auto& changes = driver.commands().changes;
    EXPECT_TRUE(std::ranges::any_of(changes, [](const schedule::Change& change) {
        return change.kind == schedule::ChangeKind::kEnabled && change.to == 1;
    }));
    EXPECT_FALSE(driver.commands().persists.empty());
}

// A task edited to a lower tier must not be chosen by its old one.
TEST(CoreDefects, AnEditedTaskIsStillChosenByItsOldTier) {
    auto settings = roomy_settings({"a"});
    settings.global_slots = 1;
    settings.aging_step = 1h;
    CoreDriver driver(settings);
    driver.add(job("a::holds-slot"));
    driver.add(with_tier(job("a::edited"), Tier::kHigh));
    driver.run_for(0.01);
    driver.add(with_tier(job("a::high"), Tier::kHigh));
    driver.add(with_tier(job("a::edited"), Tier::kLow));
    driver.finish("a::holds-slot");
    EXPECT_TRUE(driver.runs("a::high"));
}

// The old entry in the ready queue comes to life again beside the new one. When the task starts,
// one of the two is left, and the next look at the class ends the process.
TEST(CoreDefects, EditingAReadyTaskEndsTheProcess) {
    auto settings = roomy_settings({"a"});
    settings.classes[0].rate = 1;
    CoreDriver driver(settings);
    driver.add(job("a::first"));
    driver.add(job("a::edited"));  // ready, waits for the rate of its class
    driver.add(job("a::edited"));
    driver.run_for(2);
    EXPECT_TRUE(driver.runs("a::edited"));
}

// Switched off and on in one moment: ready since the same time, so its first entry is alive again.
TEST(CoreDefects, ATaskThatComesBackAtOnceEndsTheProcess) {
    auto settings = roomy_settings({"a"});
    settings.classes[0].rate = 1;
    CoreDriver driver(settings);
    driver.add(job("a::first"));
    driver.add(job("a::switched"));
    driver.operate(OperatorVerb::kDisable, "a::switched");
    driver.operate(OperatorVerb::kEnable, "a::switched");
    driver.run_for(2);
    EXPECT_TRUE(driver.runs("a::switched"));
}

// The new task lives where the removed one lived, and is ready since the same moment: the entry
// that the removed one left in the queue of its class now names the new one.
TEST(CoreDefects, ANewTaskTakesTheTurnOfARemovedOne) {
    auto settings = roomy_settings({"a", "b"});
    settings.global_slots = 1;
    settings.aging_step = 1h;
    CoreDriver driver(settings);
    driver.add(job("a::holds-slot"));
    driver.run_for(1);
    driver.add(with_tier(job("a::1"), Tier::kHigh));
    driver.add(with_tier(job("a::removed"), Tier::kHigh));
    driver.add(with_tier(job("a::2"), Tier::kHigh));
    driver.remove("a::removed");
    driver.add(with_tier(job("b::low"), Tier::kLow));
    driver.finish("a::holds-slot");
    driver.finish("a::1");
    EXPECT_TRUE(driver.runs("a::2"));
}

TEST(CoreDefects, AnEditedTaskIsCountedTwiceInTheLine) {
    auto settings = roomy_settings({"a"});
    settings.global_slots = 1;
    CoreDriver driver(settings);
    driver.add(job("a::holds-slot"));
    driver.add(job("a::edited"));
    driver.run_for(0.01);
    driver.add(job("a::last"));
    driver.add(job("a::edited"));
    EXPECT_EQ(driver.core().explain("a::last")->place_in_line, 1U);
}

// A recurring parent that failed once is still good; a restart must not turn it unknown.
TEST(CoreDefects, ARestartHoldsTheChildrenOfAParentThatFailedOnce) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.add(fixed_task("a::parent", 60s));
    driver.finish("a::parent");
    auto child = fixed_task("a::child", 10s);
    child.needs = {needs_task("a::parent")};
    driver.add(child);
    driver.finish("a::child");
    driver.operate(OperatorVerb::kTriggerNow, "a::parent");
    driver.finish("a::parent", Outcome::kTransient);
    ASSERT_EQ(driver.core().needs().unmet_hold(driver.slot("a::child").node), 0U);
    driver.restart(0.1);
    EXPECT_EQ(driver.core().needs().unmet_hold(driver.slot("a::child").node), 0U);
}

// The same for a child that is added while the parent is confirmed.
TEST(CoreDefects, ANewChildDoubtsAParentThatFailedOnce) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.add(fixed_task("a::parent", 60s));
    driver.finish("a::parent");
    driver.operate(OperatorVerb::kTriggerNow, "a::parent");
    driver.finish("a::parent", Outcome::kTransient);
    auto child = fixed_task("a::child", 10s);
    child.needs = {needs_task("a::parent")};
    driver.add(child);
    EXPECT_TRUE(driver.runs("a::child"));
}

// A device that was reported before anybody needed it is forgotten; its children wait for the next
// report, which comes when it changes: perhaps never.
TEST(CoreDefects, AHealthyParentIsForgottenWhenNobodyNeedsItYet) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.parent("switch", true);
    auto child = fixed_task("a::child", 10s);
    child.needs = {needs_device("switch")};
    driver.add(child);
    driver.run_for(1);
    EXPECT_FALSE(driver.starts_of("a::child").empty());
}

// Fresh data about a parent proves it healthy, as its own poll would.
TEST(CoreDefects, AnObservedParentDoesNotReleaseItsChildren) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.add(fixed_task("a::parent", 60s));
    auto child = fixed_task("a::child", 10s);
    child.needs = {needs_task("a::parent")};
    driver.add(child);
    driver.run_for(1);
    driver.apply(schedule::Observed{driver.handle("a::parent"), driver.now().boot, true});
    driver.run_for(15);
    EXPECT_FALSE(driver.starts_of("a::child").empty());
}

// An edit must not take the urgency away that waiting children lent to a job.
TEST(CoreDefects, AnEditForgetsTheInheritedTier) {
    auto settings = roomy_settings({"a"});
    settings.global_slots = 1;
    settings.aging_step = 1h;
    CoreDriver driver(settings);
    driver.add(job("a::holds-slot"));
    driver.add(job("a::parent"));
    auto child = with_tier(job("a::child"), Tier::kHigh);
    child.needs = {needs_task("a::parent")};
    driver.add(child);
    ASSERT_EQ(driver.slot("a::parent").run_tier, Tier::kHigh);
    driver.add(job("a::parent"));
    EXPECT_EQ(driver.slot("a::parent").run_tier, Tier::kHigh);
}

// A retry of a job finds its parent down: as hopeless as if the job had been waiting.
TEST(CoreDefects, ARetriedJobWaitsForAParentThatMakesItFailOtherwise) {
    CoreDriver driver(roomy_settings({"a"}));
    auto child = job("a::child");
    child.max_attempts = 3;
    child.needs = {needs_device("switch")};
    driver.add(child);
    driver.parent("switch", true);
    ASSERT_TRUE(driver.runs("a::child"));
    driver.finish("a::child", Outcome::kTransient);
    driver.parent("switch", false);
    driver.run_for(60);
    EXPECT_EQ(driver.slot("a::child").place, Place::kEnded);
}

// The device asked everybody to wait, whoever it said that to.
TEST(CoreDefects, RetryAfterIsIgnoredWhenAJobReceivesIt) {
    CoreDriver driver(roomy_settings({"a", "b"}));
    driver.set_worker([](const std::string& key, double) {
        Reply reply;
        if (key == "a::job") {
            reply.outcome = Outcome::kTransient;
            reply.retry_after = 30s;
        }
        return reply;
    });
    driver.add(with_device(job("a::job"), "d"));
    driver.run_for(1);
    driver.add(with_device(fixed_task("b::poll", 60s), "d"));
    driver.run_for(5);
    EXPECT_TRUE(driver.starts_of("b::poll").empty());
}

// The timer of a device fires at a whole millisecond; its rate opened a moment before that.
TEST(CoreDefects, TheSweepAlarmsBetweenTheOpeningOfARateAndItsTimer) {
    auto settings = roomy_settings({"a"});
    settings.device_class_slots = 2;
    settings.device_rate = 0.9;
    CoreDriver driver(settings);
    driver.add_all({with_device(job("a::1"), "d"), with_device(job("a::2"), "d"),
                    with_device(job("a::3"), "d")});
    ASSERT_EQ(driver.slot("a::3").place, Place::kDeviceQueue);
    const base::BootTime opens =
        driver.core().devices().rate_opens_at(driver.core().devices().find("d"));
    ASSERT_NE(opens.ns % 1'000'000, 0);
    schedule::Commands commands;
    driver.core().step({opens, driver.now().wall}, {}, commands);
    EXPECT_EQ(driver.core().audit(0, driver.core().capacity()), 0U);
}

// The device asked us to wait in the same answer that made it free.
TEST(CoreDefects, RetryAfterComesTooLateForWhoWaitsBehindTheRun) {
    CoreDriver driver(roomy_settings({"a"}));
    driver.set_worker([](const std::string&, double) {
        Reply reply;
        reply.retry_after = 30s;
        return reply;
    });
    driver.add_all({with_device(job("a::1"), "d"), with_device(job("a::2"), "d")});
    driver.run_for(5);
    EXPECT_EQ(driver.starts().size(), 1U);
}

// Removed and added again before the store was asked: the removal must come before the new row,
// also when there are more rows than fit into one batch.
TEST(CoreDefects, ABatchRemovesTheRowThatAnEarlierOneWrote) {
    const base::Instant now{base::BootTime{1'000'000'000}, base::WallTime{1'700'000'000'000'000}};
    schedule::SchedulerCore core(now, 1, roomy_settings({"a"}));
    engine::PersistencePump pump(1, {.rows_per_batch = 1});
    const auto upsert = [] {
        return schedule::TasksUpserted{std::make_shared<const std::vector<model::TaskSpec>>(
            std::vector{fixed_task("a::x", 10s), fixed_task("a::y", 10s)})};
    };
    const std::vector<schedule::Event> events = {upsert(), schedule::TaskRemoved{"a::x"}, upsert()};
    schedule::Commands commands;
    core.step(now, events, commands);
    pump.absorb(now, core, commands);
    std::set<std::string> stored = {"a::x"};
    for (auto batch = pump.next_batch(now, core); batch; batch = pump.next_batch(now, core)) {
        for (const std::string& key : batch->removed) stored.erase(key);
        for (const model::TaskRecord& row : batch->rows) stored.insert(row.key);
        pump.committed(batch->sequence);
    }
    EXPECT_EQ(stored, (std::set<std::string>{"a::x", "a::y"}));
}

}  // namespace
}  // namespace pollux::tests
