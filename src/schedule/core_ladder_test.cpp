// The failure ladder as the core climbs it: times of attempts, labels, and what is told about them.
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::BreakerState;
using model::DeadLetterReason;
using model::FailureProfile;
using model::Outcome;
using model::Trigger;
using namespace std::chrono_literals;

std::uint8_t code(BreakerState state) { return static_cast<std::uint8_t>(state); }
std::uint8_t code(DeadLetterReason reason) { return static_cast<std::uint8_t>(reason); }

// Fails each of the next `times` attempts as soon as it starts; the waits after them.
std::vector<double> fail(CoreHarness& h, const std::string& key, int times,
                         Outcome outcome = Outcome::kTransient) {
    std::vector<double> waits;
    for (int i = 0; i < times; ++i) {
        if (!h.runs(key) && !h.run_to_start(key)) break;
        h.finish(key, outcome);
        waits.push_back(h.wait_s(key));
    }
    return waits;
}

// A class so large that one task that is down is no burden for it. They wait for a parent, so that
// they do nothing but belong to it.
void add_company(CoreHarness& h) {
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 20; ++i) {
        specs.push_back(poll("c::company" + std::to_string(i), 1s));
        specs.back().needs = {needs_device("never")};
    }
    h.add(specs);
}

void expect_waits(const std::vector<double>& waits, const std::vector<double>& wanted,
                  double share) {
    ASSERT_EQ(waits.size(), wanted.size());
    for (std::size_t i = 0; i < waits.size(); ++i) {
        EXPECT_GE(waits[i], wanted[i] * (1 - share) - 1e-6) << "after failure " << i + 1;
        EXPECT_LE(waits[i], wanted[i] * (1 + share) + 1e-6) << "after failure " << i + 1;
    }
}

TEST(CoreLadder, ConfirmsAtFiveTenTwentySeconds) {
    CoreHarness h;
    add_company(h);
    h.add({poll("c::a", 60s)});
    expect_waits(fail(h, "c::a", 7), {5, 10, 20, 40, 60, 60, 60}, 0.2);
}

TEST(CoreLadder, TheJitterDiffersBetweenTasksAndIsFixedBySeed) {
    const auto waits = [](std::uint64_t seed) {
        auto settings = wide_settings();
        settings.seed = seed;
        CoreHarness h(settings);
        std::vector<double> all;
        for (int i = 0; i < 10; ++i) {
            const std::string key = "c::" + std::to_string(i);
            h.add({poll(key)});
            h.finish(key, Outcome::kTransient);
            all.push_back(h.wait_s(key));
        }
        return all;
    };
    const auto first = waits(1);
    EXPECT_EQ(waits(1), first);
    EXPECT_NE(waits(2), first);
    const auto [low, high] = std::ranges::minmax(first);
    EXPECT_GT(high - low, 0.3) << "a fleet that fails together does not come back together";
}

TEST(CoreLadder, BreakerAtThreeDeadLetterAtFiveAndAllOfItIsTold) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    fail(h, "c::a", 2);
    EXPECT_TRUE(h.changes_of("c::a", ChangeKind::kBreaker).empty());
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kClosed);
    EXPECT_EQ(h.starts.back().command.trigger, Trigger::kConfirm);
    fail(h, "c::a", 1);
    auto breaker = h.changes_of("c::a", ChangeKind::kBreaker);
    ASSERT_EQ(breaker.size(), 1u);
    EXPECT_EQ(breaker[0].from, code(BreakerState::kClosed));
    EXPECT_EQ(breaker[0].to, code(BreakerState::kOpen));
    EXPECT_EQ(breaker[0].failures, 3u);
    EXPECT_EQ(breaker[0].next_due, h.slot("c::a").next_due) << "with the next probe";
    EXPECT_EQ(h.out.persists.back().durability, Durability::kBeforeSeen);
    fail(h, "c::a", 1);
    EXPECT_EQ(h.starts.back().command.trigger, Trigger::kProbe);
    EXPECT_TRUE(h.changes_of("c::a", ChangeKind::kDeadLetter).empty());
    fail(h, "c::a", 1);
    auto dead = h.changes_of("c::a", ChangeKind::kDeadLetter);
    ASSERT_EQ(dead.size(), 1u);
    EXPECT_EQ(dead[0].to, code(DeadLetterReason::kMaxRetryAttempts));
    EXPECT_EQ(dead[0].failures, 5u);
    fail(h, "c::a", 5);
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kDeadLetter).size(), 1u) << "told once";
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kBreaker).size(), 1u) << "probes are not news";
    EXPECT_EQ(h.failure("c::a").consecutive, 10u);
}

TEST(CoreLadder, AnOpenBreakerLetsOneProbeThroughAtATime) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    fail(h, "c::a", 3);
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kHalfOpen);
    h.run_for(20s);
    EXPECT_EQ(h.core().in_flight(), 1u);
    EXPECT_EQ(h.starts_of("c::a").size(), 4u);
}

TEST(CoreLadder, SuccessClosesEverythingAndSaysSo) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    fail(h, "c::a", 6);
    h.changes.clear();
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a");
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kClosed);
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kNone);
    const auto breaker = h.changes_of("c::a", ChangeKind::kBreaker);
    ASSERT_EQ(breaker.size(), 1u);
    EXPECT_EQ(breaker[0].to, code(BreakerState::kClosed));
    const auto dead = h.changes_of("c::a", ChangeKind::kDeadLetter);
    ASSERT_EQ(dead.size(), 1u);
    EXPECT_EQ(dead[0].from, code(DeadLetterReason::kMaxRetryAttempts));
    EXPECT_EQ(dead[0].to, code(DeadLetterReason::kNone));
    const auto health = h.changes_of("c::a", ChangeKind::kHealth);
    ASSERT_EQ(health.size(), 1u);
    EXPECT_EQ(health[0].to, 1);
    EXPECT_NEAR(h.wait_s("c::a"), 60, 0.002) << "back to its interval";
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_EQ(h.starts.back().command.trigger, Trigger::kSchedule);
    expect_waits(fail(h, "c::a", 1), {5}, 0.2);
}

TEST(CoreLadder, DegradedIsUp) {
    CoreHarness h;
    h.add({poll("c::a")});
    h.finish("c::a", Outcome::kDegraded);
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
    EXPECT_TRUE(h.slot("c::a").has(kFlagUp));
}

TEST(CoreLadder, TheFirstAnswerComesFromNowhere) {
    CoreHarness h;
    h.add({poll("c::a"), poll("c::b")});
    h.finish("c::a");
    h.finish("c::b", Outcome::kTransient);
    const auto up = h.changes_of("c::a", ChangeKind::kHealth);
    const auto down = h.changes_of("c::b", ChangeKind::kHealth);
    ASSERT_EQ(up.size(), 1u);
    ASSERT_EQ(down.size(), 1u);
    EXPECT_EQ(up[0].from, up[0].to);
    EXPECT_EQ(down[0].from, down[0].to);
    EXPECT_EQ(down[0].to, 0);
}

TEST(CoreLadder, HealthIsToldWhenItTurns) {
    CoreHarness h;
    h.add({poll("c::a", 10s)});
    h.finish("c::a");
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kHealth).size(), 1u) << "the first answer";
    fail(h, "c::a", 3);
    auto seen = h.changes_of("c::a", ChangeKind::kHealth);
    ASSERT_EQ(seen.size(), 2u) << "down is told once";
    EXPECT_EQ(seen[1].from, 1);
    EXPECT_EQ(seen[1].to, 0);
}

TEST(CoreLadder, PermanentIsConfirmedWithAFreshLoginThenADeadLetter) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    EXPECT_FALSE(h.running.at("c::a").fresh_login);
    const auto waits = fail(h, "c::a", 7, Outcome::kPermanent);
    expect_waits(waits, {30, 300, 600, 1200, 1800, 1800, 1800}, 0.05);
    const auto starts = h.starts_of("c::a");
    for (std::size_t i = 1; i < starts.size(); ++i) {
        EXPECT_TRUE(starts[i].command.fresh_login) << "attempt " << i + 1;
    }
    EXPECT_EQ(starts[1].command.trigger, Trigger::kConfirm);
    EXPECT_EQ(starts[2].command.trigger, Trigger::kProbe);
    const auto dead = h.changes_of("c::a", ChangeKind::kDeadLetter);
    ASSERT_EQ(dead.size(), 1u);
    EXPECT_EQ(dead[0].to, code(DeadLetterReason::kPermanentFailure));
    EXPECT_EQ(dead[0].failures, 2u) << "at the confirmation";
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a");
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kNone);
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_FALSE(h.running.at("c::a").fresh_login) << "it works again: sessions may be kept";
}

TEST(CoreLadder, InterruptedNeverCounts) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    h.finish("c::a");
    fail(h, "c::a", 4, Outcome::kInterrupted);
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kClosed);
    EXPECT_TRUE(h.slot("c::a").has(kFlagUp));
    EXPECT_EQ(h.changes_of("c::a", ChangeKind::kHealth).size(), 1u) << "nothing about the device";
    EXPECT_EQ(h.slot("c::a").last_error, base::BootTime::min());
    EXPECT_LE(h.wait_s("c::a"), 12);
}

TEST(CoreLadder, AnInterruptionBetweenFailuresChangesNothing) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    fail(h, "c::a", 2);
    fail(h, "c::a", 1, Outcome::kInterrupted);
    EXPECT_EQ(h.failure("c::a").consecutive, 2u);
    fail(h, "c::a", 1);
    EXPECT_EQ(h.failure("c::a").consecutive, 3u);
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kOpen);
}

TEST(CoreLadder, ATaskThatKillsItsWorkersIsSetAside) {
    CoreHarness h;
    h.add({poll("c::poison", 60s)});
    fail(h, "c::poison", 5, Outcome::kInterrupted);
    EXPECT_EQ(h.failure("c::poison").dead_letter, DeadLetterReason::kRepeatedInterruption);
    EXPECT_GE(h.wait_s("c::poison"), 240);
    ASSERT_TRUE(h.run_to_start("c::poison"));
    h.finish("c::poison");
    EXPECT_EQ(h.failure("c::poison").dead_letter, DeadLetterReason::kNone);
}

// cap: what the policy would choose, at least 20 s, at most max(60 s, the staleness bound).
TEST(CoreLadder, TheCapRule) {
    const auto last_wait = [](model::TaskSpec spec) {
        CoreHarness h;
        add_company(h);
        spec.key = "c::a";
        h.add({spec});
        return fail(h, "c::a", 10).back();
    };
    EXPECT_NEAR(last_wait(poll("", 16s)), 20, 4) << "at least 20 s";
    EXPECT_NEAR(last_wait(poll("", 45s)), 45, 9) << "its own interval";
    EXPECT_NEAR(last_wait(poll("", 300s)), 300, 60) << "the bound of a slow task is twice its base";
    auto bounded = poll("", 300s);
    bounded.staleness_bound = 30s;
    EXPECT_NEAR(last_wait(bounded), 60, 12) << "at most 60 s where the bound is shorter";
    bounded.staleness_bound = 150s;
    EXPECT_NEAR(last_wait(bounded), 150, 30);
}

TEST(CoreLadder, FastTasksLiveFaster) {
    CoreHarness h;
    add_company(h);
    h.add({adaptive("c::a", 2s, 5s, 15s)});
    expect_waits(fail(h, "c::a", 6), {0.75, 1.5, 3, 4, 4, 4}, 0.2);
}

// Probes may take a fifth of the budget of their class: what exceeds that waits longer.
TEST(CoreLadder, TheCapStretchesWhenManyAreDown) {
    const auto longest = [](int down, int fleet) {
        CoreHarness h;
        h.worker = [&](const std::string& key) {
            const bool fails = std::stoi(key.substr(3)) < down;
            return WorkerReply{.outcome = fails ? Outcome::kTransient : Outcome::kOk};
        };
        std::vector<model::TaskSpec> specs;
        for (int i = 0; i < fleet; ++i) specs.push_back(poll("c::" + std::to_string(i), 60s));
        h.add(specs);
        h.run_for(20min);
        double sum = 0;
        for (int i = 0; i < down; ++i) {
            const auto starts = h.starts_of("c::" + std::to_string(i));
            sum += base::to_seconds(starts.back().at - starts[starts.size() - 2].at);
        }
        return sum / down;
    };
    EXPECT_NEAR(longest(10, 100), 60, 7) << "a tenth is down: no stretch";
    EXPECT_NEAR(longest(20, 100), 60, 7) << "a fifth is the share";
    EXPECT_NEAR(longest(40, 100), 120, 12) << "twice the share: half as often";
    EXPECT_NEAR(longest(100, 100), 300, 30) << "all: five times, the limit";
}

// One target of its class: asking it every minute costs what it always did, and whoever mends it
// waits for the next probe.
TEST(CoreLadder, ATaskAloneInItsClassIsProbedAtItsInterval) {
    CoreHarness h;
    h.add({poll("c::a", 60s)});
    EXPECT_LE(fail(h, "c::a", 10).back(), 72);
}

TEST(CoreLadder, OtherClassesDoNotStretchTheCap) {
    CoreHarness h(wide_settings({"bad", "c"}));
    h.worker = [](const std::string&) { return WorkerReply{.outcome = Outcome::kTransient}; };
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 20; ++i) specs.push_back(poll("bad::" + std::to_string(i), 60s));
    for (int i = 0; i < 20; ++i) {
        auto idle = poll("c::idle" + std::to_string(i), 60s);
        idle.device = "d";
        specs.push_back(idle);
    }
    specs.push_back(poll("c::a", 60s));
    h.worker = [](const std::string& key) {
        const bool fails = key.starts_with("bad") || key == "c::a";
        return WorkerReply{.outcome = fails ? Outcome::kTransient : Outcome::kOk};
    };
    h.add(specs);
    h.run_for(20min);
    const auto starts = h.starts_of("c::a");
    EXPECT_NEAR(base::to_seconds(starts.back().at - starts[starts.size() - 2].at), 60, 13);
}

// Who is disabled probes nothing and takes nothing.
TEST(CoreLadder, DisabledTasksDoNotStretchTheCap) {
    CoreHarness h;
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < 20; ++i) specs.push_back(poll("c::" + std::to_string(i), 60s));
    h.worker = [](const std::string& key) {
        return WorkerReply{.outcome =
                               std::stoi(key.substr(3)) < 10 ? Outcome::kTransient : Outcome::kOk};
    };
    h.add(specs);
    h.run_for(10min);
    for (int i = 1; i < 10; ++i) h.operate(OperatorVerb::kDisable, "c::" + std::to_string(i));
    h.run_for(20min);
    const auto starts = h.starts_of("c::0");
    const double wait = base::to_seconds(starts.back().at - starts[starts.size() - 2].at);
    EXPECT_NEAR(wait, 60, 13) << "one of eleven is down";
}

TEST(CoreLadder, ProfilePulse) {
    CoreHarness h;
    auto spec = poll("c::a", 60s);
    spec.failure_profile = FailureProfile::kPulse;
    h.add({spec});
    const auto waits = fail(h, "c::a", 7);
    expect_waits({waits[0], waits[1]}, {5, 10}, 0.2);
    EXPECT_DOUBLE_EQ(waits[2], 40);
    EXPECT_DOUBLE_EQ(waits[3], 300);
    EXPECT_DOUBLE_EQ(waits[4], 1800);
    EXPECT_DOUBLE_EQ(waits[6], 1800);
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kMaxRetryAttempts);
    ASSERT_TRUE(h.run_to_start("c::a"));
    h.finish("c::a");
    expect_waits(fail(h, "c::a", 1), {5}, 0.2);
}

TEST(CoreLadder, ProfilePulsePermanent) {
    CoreHarness h;
    auto spec = poll("c::a", 60s);
    spec.failure_profile = FailureProfile::kPulse;
    h.add({spec});
    EXPECT_DOUBLE_EQ(fail(h, "c::a", 1, Outcome::kPermanent).front(), 1800);
    EXPECT_EQ(h.failure("c::a").dead_letter, DeadLetterReason::kPermanentFailure);
}

TEST(CoreLadder, ProfileOpsconductor) {
    CoreHarness h;
    auto spec = poll("c::a", 90s);
    spec.failure_profile = FailureProfile::kOpsconductor;
    h.add({spec});
    const auto waits = fail(h, "c::a", 6);
    EXPECT_EQ(waits, (std::vector<double>{30, 60, 120, 90, 90, 90}));
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kClosed);
    EXPECT_EQ(h.failure("c::a").consecutive, 6u);
}

TEST(CoreLadder, WhileItFailsTheLadderAloneDecides) {
    auto settings = wide_settings();
    settings.mode = model::AdaptiveMode::kOn;
    CoreHarness h(settings);
    h.add({adaptive("c::a", 5s, 10s, 3600s)});
    h.finish("c::a");
    const auto waits = fail(h, "c::a", 3);
    expect_waits(waits, {5, 10, 20}, 0.2);
    const double due = h.wait_s("c::a");
    h.pass(1s);
    h.step({Observed{h.handle("c::a"), h.now(), true}});
    EXPECT_NEAR(h.wait_s("c::a"), due - 1, 1e-6) << "news from elsewhere does not move it";
    EXPECT_EQ(h.failure("c::a").consecutive, 3u);
}

}  // namespace
}  // namespace pollux::schedule
