// A poke (a trap, a webhook, a recovered parent) makes a task due, and never more than that.
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::Outcome;
using model::Trigger;
using namespace std::chrono_literals;

// One task that is polled every minute, after its first good answer.
class CorePoke : public ::testing::Test {
  protected:
    CorePoke() {
        h.add({poll("c::a")});
        h.finish("c::a");
        h.starts.clear();
    }
    // Three failures in a row: the breaker is open, and the next probe is 16 to 24 s away.
    void open_breaker() {
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE(h.run_to_start("c::a"));
            h.finish("c::a", Outcome::kTransient);
        }
        ASSERT_EQ(h.failure("c::a").breaker, BreakerState::kOpen);
        h.starts.clear();
    }

    CoreHarness h;
};

TEST_F(CorePoke, BringsTheNextPollForwardAndTheOneAfterComesAnInterval) {
    h.run_for(10s);
    EXPECT_TRUE(h.starts.empty());
    h.poke("c::a");
    ASSERT_TRUE(h.runs("c::a")) << "at once, 50 s before its time";
    EXPECT_EQ(h.starts.front().command.trigger, Trigger::kPoke);
    h.finish("c::a");
    EXPECT_GT(h.wait_s("c::a"), 30);
    EXPECT_LE(h.wait_s("c::a"), 60);
}

TEST_F(CorePoke, AStormIsOnePollASecondAtMost) {
    constexpr int kSeconds = 20;
    for (int i = 0; i < kSeconds * 100; ++i) {
        h.pass(10ms);
        h.poke("c::a");
        if (h.runs("c::a")) h.finish("c::a");
    }
    EXPECT_LE(h.starts.size(), kSeconds);
    EXPECT_GE(h.starts.size(), kSeconds - 2) << "and it is not deaf either";
    for (std::size_t i = 1; i < h.starts.size(); ++i) {
        EXPECT_GE(h.starts[i].at - h.starts[i - 1].at, 1s);
    }
}

TEST_F(CorePoke, PokesDuringARunAreOneMoreRunAfterIt) {
    h.pass(10s);
    h.poke("c::a");
    ASSERT_EQ(h.starts.size(), 1u);
    for (int i = 0; i < 50; ++i) h.poke("c::a");
    EXPECT_EQ(h.starts.size(), 1u) << "never two at once";
    h.finish("c::a");
    h.run_for(5s);
    EXPECT_EQ(h.starts.size(), 2u) << "the state may have changed behind the first one's back";
    h.finish("c::a");
    h.run_for(5s);
    EXPECT_EQ(h.starts.size(), 2u) << "fifty pokes are one reason";
}

TEST_F(CorePoke, WithAnOpenBreakerItIsOneProbeAtATime) {
    open_breaker();
    h.run_for(6s);
    EXPECT_TRUE(h.starts.empty()) << "its own probe is 16 to 24 s away";
    for (int i = 0; i < 50; ++i) h.poke("c::a");
    ASSERT_EQ(h.starts.size(), 1u) << "one probe";
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kHalfOpen);
    h.run_for(2s);
    EXPECT_EQ(h.starts.size(), 1u);
    h.finish("c::a", Outcome::kTransient);
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kOpen);
    EXPECT_EQ(h.failure("c::a").consecutive, 4u) << "a failure like any other";
}

TEST_F(CorePoke, AProbeThatAnswersClosesTheBreaker) {
    open_breaker();
    h.pass(6s);
    h.poke("c::a");
    ASSERT_TRUE(h.runs("c::a"));
    h.finish("c::a");
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kClosed);
    EXPECT_EQ(h.failure("c::a").consecutive, 0u);
}

// A dead device whose traps never stop must not be asked every second: it has its ladder.
TEST_F(CorePoke, AStormDoesNotUndoTheBreaker) {
    open_breaker();
    constexpr int kSeconds = 120;
    for (int i = 0; i < kSeconds * 10; ++i) {
        h.pass(100ms);
        h.poke("c::a");
        if (h.runs("c::a")) h.finish("c::a", Outcome::kTransient);
    }
    EXPECT_LE(h.starts.size(), kSeconds / 5);
    EXPECT_EQ(h.failure("c::a").breaker, BreakerState::kOpen);
}

TEST_F(CorePoke, WhetherItLivesIsAskedByAFreshConnection) {
    h.run_for(10s);
    h.poke("c::a", PokeReason::kVerify);
    ASSERT_EQ(h.starts.size(), 1u);
    EXPECT_TRUE(h.starts[0].command.fresh_login);
    h.finish("c::a");
    ASSERT_TRUE(h.run_to_start("c::a"));
    EXPECT_FALSE(h.starts[1].command.fresh_login) << "the next poll is a poll like any other";
}

TEST_F(CorePoke, WhetherItLivesIsNotWhatARunSaysThatWasUnderWay) {
    h.pass(10s);
    h.poke("c::a");
    ASSERT_EQ(h.starts.size(), 1u);
    EXPECT_FALSE(h.starts[0].command.fresh_login);
    h.poke("c::a", PokeReason::kVerify);
    h.poke("c::a");
    h.finish("c::a", Outcome::kTransient);
    h.run_for(5s);
    ASSERT_EQ(h.starts.size(), 2u);
    EXPECT_TRUE(h.starts[1].command.fresh_login);
}

TEST_F(CorePoke, WhatIsDisabledOrGoneStaysSo) {
    const model::TaskHandle gone = h.handle("c::a");
    h.operate(OperatorVerb::kDisable, "c::a");
    h.pass(10s);
    h.poke("c::a");
    EXPECT_TRUE(h.starts.empty());
    EXPECT_EQ(h.core().stats().pokes_ignored, 1u);
    h.remove("c::a");
    h.step({Poked{gone, PokeReason::kWebhook}});
    EXPECT_TRUE(h.starts.empty());
    EXPECT_EQ(h.core().stats().pokes_ignored, 2u);
}

}  // namespace
}  // namespace pollux::schedule
