#include "schedule/core_view.hpp"

#include <gmock/gmock.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::JobPhase;
using model::JobState;
using model::Outcome;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

model::CoreSettings with_cpu(std::int64_t capacity) {
    model::CoreSettings settings = wide_settings();
    settings.resources = {{"cpu", capacity}, {"idle", 1}};
    return settings;
}

model::TaskSpec hungry(std::string key, std::int64_t cpu) {
    model::TaskSpec spec = job(std::move(key));
    spec.demand = {{"cpu", cpu}};
    return spec;
}

JobPhase phase(const CoreHarness& h, const std::string& key) { return phase_of(h.slot(key)); }

TEST(CoreView, ResourcesTellWhoHoldsAndWhoWaits) {
    CoreHarness h(with_cpu(4));
    h.add({hungry("c::a", 3), hungry("c::b", 2), hungry("c::c", 4)});
    auto usage = resource_usage(h.core(), 10);
    ASSERT_EQ(usage.size(), 2U);
    EXPECT_EQ(usage[0].name, "cpu");
    EXPECT_EQ(usage[0].capacity, 4);
    EXPECT_EQ(usage[0].used, 3);
    EXPECT_EQ(usage[0].wanted, 6);
    EXPECT_EQ(usage[0].waiting, 2U);
    ASSERT_EQ(usage[0].holders.size(), 1U);
    EXPECT_EQ(usage[0].holders[0].task, h.handle("c::a"));
    EXPECT_EQ(usage[0].holders[0].amount, 3);
    EXPECT_EQ(usage[0].holders[0].since, h.now());
    EXPECT_EQ(usage[1].used, 0);
    EXPECT_EQ(resource_usage(h.core(), 0)[0].holder_count, 1U) << "counted, though not listed";
    h.pass(1s);
    h.finish("c::a");
    usage = resource_usage(h.core(), 10);
    EXPECT_EQ(usage[0].used, 2) << "the next that fits";
    EXPECT_EQ(usage[0].wanted, 4);
}

TEST(CoreView, TheReadySetIsInOrderOfUrgency) {
    model::CoreSettings settings = with_cpu(1);
    CoreHarness h(settings);
    auto urgent = hungry("c::urgent", 1);
    urgent.tier = model::Tier::kHigh;
    auto child = hungry("c::child", 1);
    child.needs = {any_of({"c::parent"})};
    h.add({job("c::parent"), hungry("c::runs", 1)});
    h.finish("c::parent");
    h.add({hungry("c::old", 1)});
    h.pass(1s);
    h.add({child, urgent});
    const ReadySet set = ready_set(h.core(), h.now(), 10);
    EXPECT_EQ(set.size, 3U);
    ASSERT_EQ(set.first.size(), 3U);
    EXPECT_EQ(set.first[0].task, h.handle("c::urgent"));
    EXPECT_EQ(set.first[1].task, h.handle("c::old"));
    EXPECT_EQ(set.first[2].task, h.handle("c::child"));
    EXPECT_THAT(set.first[2].needs, ElementsAre("c::parent"));
    EXPECT_THAT(set.first[1].needs, IsEmpty());
    EXPECT_THAT(set.first[1].resources,
                ElementsAre(std::pair<std::string, std::int64_t>("cpu", 1)));
    EXPECT_EQ(h.now() - set.first[1].ready_since, 1s);
    EXPECT_EQ(ready_set(h.core(), h.now(), 1).first.size(), 1U);
    EXPECT_EQ(ready_set(h.core(), h.now(), 1).size, 3U) << "a limit never hides how many there are";
    // Waiting raises it.
    EXPECT_EQ(ready_set(h.core(), h.now() + 31s, 10).first[1].effective, model::Tier::kHigh);
}

TEST(CoreView, PhasesFollowAJob) {
    CoreHarness h(with_cpu(1));
    h.add({hungry("c::a", 1), hungry("c::b", 1), job("c::child", {"c::a"})});
    EXPECT_EQ(phase(h, "c::a"), JobPhase::kRunning);
    EXPECT_EQ(phase(h, "c::b"), JobPhase::kReady);
    EXPECT_EQ(phase(h, "c::child"), JobPhase::kBlocked);
    h.operate(OperatorVerb::kDisable, "c::b");
    EXPECT_EQ(phase(h, "c::b"), JobPhase::kPending) << "held";
    h.operate(OperatorVerb::kEnable, "c::b");
    EXPECT_EQ(phase(h, "c::b"), JobPhase::kReady);
    h.operate(OperatorVerb::kCancelJob, "c::b");
    EXPECT_EQ(phase(h, "c::b"), JobPhase::kCancelled);
    h.finish("c::a", Outcome::kPermanent);
    EXPECT_EQ(phase(h, "c::a"), JobPhase::kFailed);
    EXPECT_EQ(phase(h, "c::child"), JobPhase::kFailed);
}

TEST(CoreView, AFailedOrCancelledJobIsTriedAgainThroughAllGates) {
    CoreHarness h(with_cpu(1));
    h.add({job("c::a"), job("c::child", {"c::a"})});
    h.finish("c::a", Outcome::kPermanent);
    ASSERT_EQ(h.slot("c::child").job, JobState::kFailed);
    h.operate(OperatorVerb::kRetryJob, "c::child");
    EXPECT_EQ(phase(h, "c::child"), JobPhase::kFailed) << "its parent has still failed";
    h.operate(OperatorVerb::kRetryJob, "c::a");
    EXPECT_EQ(phase(h, "c::a"), JobPhase::kRunning);
    h.operate(OperatorVerb::kRetryJob, "c::child");
    EXPECT_EQ(phase(h, "c::child"), JobPhase::kBlocked);
    h.finish("c::a");
    EXPECT_EQ(phase(h, "c::a"), JobPhase::kCompleted);
    EXPECT_EQ(phase(h, "c::child"), JobPhase::kRunning);

    const std::size_t refused = h.rejections.size();
    h.operate(OperatorVerb::kRetryJob, "c::a");
    h.operate(OperatorVerb::kRetryJob, "c::child");
    EXPECT_EQ(h.rejections.size(), refused + 2) << "completed, and running";
    EXPECT_EQ(phase(h, "c::a"), JobPhase::kCompleted);

    h.operate(OperatorVerb::kCancelJob, "c::child");
    h.operate(OperatorVerb::kRetryJob, "c::child");
    EXPECT_EQ(phase(h, "c::child"), JobPhase::kRunning);
    h.finish("c::child");
    EXPECT_EQ(phase(h, "c::child"), JobPhase::kCompleted);
}

TEST(CoreView, AJobMaySayHowLongToWaitForItsNextAttempt) {
    CoreHarness h;
    auto spec = job("c::a");
    spec.max_attempts = 3;
    spec.device = "d";
    auto other = job("c::b");
    other.device = "d";
    h.add({spec});
    h.finish("c::a", {.outcome = Outcome::kTransient, .job_delay = 40s});
    EXPECT_EQ(phase(h, "c::a"), JobPhase::kPending);
    EXPECT_EQ(h.slot("c::a").next_due - h.now(), 40s);
    h.add({other});
    EXPECT_EQ(phase(h, "c::b"), JobPhase::kRunning) << "its device is not closed by that";
}

}  // namespace
}  // namespace pollux::schedule
