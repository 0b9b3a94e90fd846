// One step carries everything: the answers of the store in, what may be seen, what is to be written
// and when to come back out.
#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "schedule/core_test_support.hpp"

namespace pollux::engine {
namespace {

using base::BootTime;
using base::Duration;
using schedule::Event;
using schedule::OperatorAction;
using schedule::OperatorVerb;
using namespace std::chrono_literals;

constexpr base::Instant kStart{BootTime{7'000'000'000'000}, base::WallTime{1'760'000'000'654'321}};
constexpr std::uint64_t kFirst = 40;

class EngineStep : public testing::Test {
  protected:
    void step(const std::vector<Event>& events = {}, const std::vector<StoreAnswer>& answers = {}) {
        engine_.step(now_, events, answers, out_);
    }
    void pass(Duration duration) {
        now_.boot += duration;
        now_.wall += duration;
    }
    static Event add(const std::string& key) {
        return schedule::CoreHarness::upsert({schedule::poll(key)});
    }
    static Event disable(const std::string& key) {
        return OperatorAction{OperatorVerb::kDisable, key, 0};
    }
    static Event enable(const std::string& key) {
        return OperatorAction{OperatorVerb::kEnable, key, 0};
    }
    std::vector<std::uint64_t> seen() const {
        std::vector<std::uint64_t> all;
        for (const TaskChange& one : out_.visible) all.push_back(one.number);
        return all;
    }

    base::Instant now_ = kStart;
    Engine engine_{kStart, 1, kFirst, schedule::wide_settings()};
    Output out_;
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(EngineStep, ATaskIsStartedAtOnceAndItsRowGathered) {
    step({add("c::a")});
    EXPECT_EQ(out_.commands.starts.size(), 1U);
    EXPECT_EQ(out_.batch, nullptr);
    EXPECT_TRUE(out_.visible.empty());
    EXPECT_GT(out_.wake_at, now_.boot);
    EXPECT_LE(out_.wake_at, kStart.boot + 1s) << "the row may wait for a second";
    pass(1s);
    step();
    ASSERT_NE(out_.batch, nullptr);
    ASSERT_EQ(out_.batch->rows.size(), 1U);
    EXPECT_EQ(out_.batch->rows[0].key, "c::a");
}

TEST_F(EngineStep, AnUrgentBatchIsInTheSameStep) {
    step({add("c::a"), disable("c::a")});
    ASSERT_NE(out_.batch, nullptr);
    EXPECT_EQ(out_.batch->rows.size(), 1U);
    ASSERT_EQ(out_.batch->changes.size(), 1U);
    EXPECT_EQ(out_.batch->changes[0].number, kFirst);
    EXPECT_TRUE(out_.visible.empty()) << "nothing is committed yet";
    EXPECT_EQ(out_.wake_at, out_.commands.wake_at) << "the store's answer comes by itself";
}

TEST_F(EngineStep, ACommitIsSeenAndTheNextBatchFollowsInOneStep) {
    step({add("c::a"), disable("c::a")});
    const auto first = out_.batch;
    ASSERT_NE(first, nullptr);
    step({enable("c::a")});
    EXPECT_EQ(out_.batch, nullptr) << "one at a time";
    step({disable("c::a")}, {{first->sequence, true}});
    EXPECT_EQ(seen(), (Numbers{kFirst}));
    EXPECT_FALSE(out_.visible[0].provisional);
    ASSERT_NE(out_.batch, nullptr);
    ASSERT_EQ(out_.batch->changes.size(), 2U) << "the one that waited, and that of this step";
    EXPECT_EQ(out_.batch->changes[0].number, kFirst + 1);
    EXPECT_EQ(out_.batch->changes[1].number, kFirst + 2);
    EXPECT_FALSE(out_.batch->rows.at(0).enabled);
}

TEST_F(EngineStep, AFailedBatchComesAgainWhenTheEngineAsksToBeWoken) {
    step({add("c::a"), disable("c::a")});
    const auto first = out_.batch;
    ASSERT_NE(first, nullptr);
    pass(10ms);
    step({}, {{first->sequence, false}});
    EXPECT_TRUE(out_.visible.empty());
    EXPECT_EQ(out_.batch, nullptr);
    EXPECT_TRUE(engine_.pump().failing());
    const BootTime retry = now_.boot + 1s;
    while (now_.boot < retry) {
        ASSERT_LE(out_.wake_at, retry);
        ASSERT_GT(out_.wake_at, now_.boot);
        pass(out_.wake_at - now_.boot);
        step();
        ASSERT_EQ(out_.batch != nullptr, now_.boot == retry);
    }
    EXPECT_EQ(out_.batch->sequence, first->sequence);
    step({}, {{first->sequence, true}});
    EXPECT_EQ(seen(), (Numbers{kFirst}));
    EXPECT_FALSE(engine_.pump().failing());
}

TEST_F(EngineStep, ProvisionalChangesAreSeenWhenTheStoreKeepsFailing) {
    step({add("c::a"), disable("c::a")});
    std::vector<TaskChange> early;
    for (int i = 0; i <= 5; ++i) {
        ASSERT_NE(out_.batch, nullptr);
        step({}, {{out_.batch->sequence, false}});
        std::ranges::copy(out_.visible, std::back_inserter(early));
        pass(1s);
        step();
    }
    ASSERT_EQ(early.size(), 1U);
    EXPECT_EQ(early[0].number, kFirst);
    EXPECT_TRUE(early[0].provisional);
    ASSERT_NE(out_.batch, nullptr);
    step({}, {{out_.batch->sequence, true}});
    EXPECT_EQ(seen(), (Numbers{kFirst}));
    EXPECT_FALSE(out_.visible[0].provisional);
}

TEST_F(EngineStep, NothingOfTheLastStepStaysInTheOutput) {
    step({add("c::a"), disable("c::a"), schedule::TaskRemoved{"c::nobody", 3}});
    ASSERT_NE(out_.batch, nullptr);
    ASSERT_EQ(out_.commands.rejections.size(), 1U);
    step({}, {{out_.batch->sequence, true}});
    ASSERT_EQ(out_.visible.size(), 1U);
    step();
    EXPECT_EQ(out_.batch, nullptr);
    EXPECT_TRUE(out_.visible.empty());
    EXPECT_TRUE(out_.commands.rejections.empty());
    EXPECT_TRUE(out_.commands.changes.empty());
}

TEST_F(EngineStep, WakesAtOnceForTheRestOfASplitButNeverInThePast) {
    Engine engine(kStart, 1, kFirst, schedule::wide_settings(), {.rows_per_batch = 1});
    const auto turn = [&](const std::vector<Event>& events,
                          const std::vector<StoreAnswer>& answers) {
        engine.step(now_, events, answers, out_);
    };
    turn({add("c::a"), add("c::b"), disable("c::b")}, {});
    ASSERT_NE(out_.batch, nullptr);
    EXPECT_GT(out_.wake_at, now_.boot);
    turn({}, {{out_.batch->sequence, true}});
    ASSERT_NE(out_.batch, nullptr) << "the rest goes with the answer to the first part";
    EXPECT_EQ(seen(), (Numbers{kFirst}));
    EXPECT_GE(out_.wake_at, now_.boot);
    turn({}, {{out_.batch->sequence, true}});
    EXPECT_TRUE(out_.visible.empty());
}

TEST_F(EngineStep, ARemovedTaskIsForgottenInTheStore) {
    step({add("c::a"), disable("c::a")});
    ASSERT_NE(out_.batch, nullptr);
    step({schedule::TaskRemoved{"c::a", 0}}, {{out_.batch->sequence, true}});
    ASSERT_NE(out_.batch, nullptr);
    EXPECT_EQ(out_.batch->removed, (std::vector<std::string>{"c::a"}));
    EXPECT_TRUE(out_.batch->rows.empty());
    EXPECT_EQ(engine_.core().size(), 0U);
}

}  // namespace
}  // namespace pollux::engine
