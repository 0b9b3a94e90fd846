#include "runtime/signal_journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_test_support.hpp"
#include "runtime/runtime_test_support.hpp"
#include "store/memory/memory_store.hpp"

namespace pollux::runtime {
namespace {

using net::test::turn_until;
using testing::HasSubstr;
using testing::Not;

class SignalJournalTest : public testing::Test {
  protected:
    SignalJournalTest() { open(); }
    ~SignalJournalTest() override {
        journal_.reset();
        store_->close();
    }

    // As a process that starts with what the one before left.
    void open() {
        journal_.reset();
        if (store_) {
            ASSERT_TRUE(store_->close());
        }
        store_ = store::open_memory_store(disk_, [](engine::StoreAnswer, const base::Error*) {});
        journal_ = std::make_unique<SignalJournal>(*loop_, *store_, log_.log());
        store::LoadVisitor visitor;
        visitor.memory = [this](store::MemoryRow&& row) { journal_->recall(row.key, row.bytes); };
        ASSERT_TRUE(store_->load(visitor));
    }

    // One poll that raises these types.
    void poll(std::vector<std::string> types, std::shared_ptr<const PollPlan> plan = nullptr) {
        PolledSignals polled;
        polled.plan = plan ? plan : plan_;
        polled.at = base::WallTime{++clock_};
        for (std::string& type : types) {
            model::Signal signal;
            signal.type = std::move(type);
            signal.rule = "lamp rule";
            signal.message = "it is dark";
            polled.signals.signals.push_back(std::move(signal));
        }
        polled.signals.settled = {"lamp rule"};
        std::vector<PolledSignals> polls;
        polls.push_back(std::move(polled));
        journal_->take(std::move(polls));
        EXPECT_TRUE(turn_until(*loop_, [&] { return journal_->counts().waiting == 0; }));
    }
    std::vector<store::Observation> rows() { return store_->observations({}).value(); }
    std::uint64_t steps(derive::SignalStep step) {
        return journal_->counts().steps[static_cast<std::size_t>(step)];
    }

    std::shared_ptr<store::MemoryDisk> disk_ = std::make_shared<store::MemoryDisk>();
    test::LogLines log_;
    std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<SignalJournal> journal_;
    std::shared_ptr<PollPlan> plan_ = test::lamp_plan("hall");
    std::int64_t clock_ = net::wall_now().us;  // old rows are not kept
};

TEST_F(SignalJournalTest, StoresAndTellsWhatChangesAndNothingElse) {
    poll({});
    EXPECT_TRUE(rows().empty());
    poll({"dark"});
    poll({"dark"});
    ASSERT_EQ(rows().size(), 1U);
    EXPECT_EQ(rows()[0].key, "lamp::hall");
    EXPECT_EQ(rows()[0].target_id, "id-hall");
    EXPECT_EQ(rows()[0].source, "poll");
    EXPECT_THAT(rows()[0].text, HasSubstr("signal raised dark: it is dark"));
    EXPECT_EQ(journal_->counts().raised, 1U);
    poll({});
    ASSERT_EQ(rows().size(), 2U);
    EXPECT_THAT(rows()[1].text, HasSubstr("signal cleared dark"));
    EXPECT_EQ(steps(derive::SignalStep::kRaised), 1U);
    EXPECT_EQ(steps(derive::SignalStep::kCleared), 1U);
    EXPECT_THAT(log_.text(), HasSubstr("signal cleared"));
}

TEST_F(SignalJournalTest, ARestartKnowsWhatIsRaised) {
    poll({"dark"});
    open();
    EXPECT_EQ(journal_->counts().raised, 1U);
    poll({"dark"});
    EXPECT_EQ(rows().size(), 1U) << "not raised again";
    poll({});
    EXPECT_EQ(rows().size(), 2U) << "and cleared";
}

TEST_F(SignalJournalTest, AnEditedAddonLeavesConditionsToThePollThatReadsThem) {
    const std::string conditions = R"yaml(
conditions:
  - {name: dim, metric: level, trigger: "< 20"}
)yaml";
    const auto with = [&](const std::string& more) {
        auto plan = test::lamp_plan("hall");
        plan->addon = test::compiled(std::string(test::kLampManifest) + conditions + more);
        return plan;
    };
    poll({"dim"}, with(""));
    ASSERT_EQ(journal_->counts().raised, 1U);
    // A poll that failed: its signals decide nothing about conditions.
    PolledSignals failed;
    failed.plan = with("  - {name: dark, metric: level, trigger: \"< 1\"}\n");
    failed.at = base::WallTime{++clock_};
    std::vector<PolledSignals> polls{failed};
    journal_->take(std::move(polls));
    EXPECT_TRUE(turn_until(*loop_, [&] { return journal_->counts().waiting == 0; }));
    EXPECT_EQ(journal_->counts().raised, 1U) << "no data never means OK";
    failed.signals.settled_types = {"dark", "dim"};
    polls = {failed};
    journal_->take(std::move(polls));
    EXPECT_TRUE(turn_until(*loop_, [&] { return journal_->counts().waiting == 0; }));
    EXPECT_EQ(journal_->counts().raised, 0U);
}

TEST_F(SignalJournalTest, AnEditedAddonEndsWhatItsOldRulesRaised) {
    poll({"dark"});
    std::string manifest(test::kLampManifest);
    manifest.replace(manifest.find("1.0.0"), 5, "1.0.1");
    auto edited = test::lamp_plan("hall");
    edited->addon = test::compiled(manifest);
    PolledSignals next;
    next.plan = edited;
    next.at = base::WallTime{++clock_};
    next.signals.settled = {"a new rule"};
    std::vector<PolledSignals> polls;
    polls.push_back(std::move(next));
    journal_->take(std::move(polls));
    ASSERT_TRUE(turn_until(*loop_, [&] { return journal_->counts().waiting == 0; }));
    EXPECT_EQ(journal_->counts().raised, 0U);
}

TEST_F(SignalJournalTest, ATargetOfTheSameNameStartsAnew) {
    poll({"dark"});
    auto other = test::lamp_plan("hall");
    other->target_id = "another";
    poll({"dark"}, other);
    EXPECT_EQ(steps(derive::SignalStep::kRaised), 2U);
}

TEST_F(SignalJournalTest, WhatATaskRaisedGoesWithIt) {
    poll({"dark"});
    journal_->keep_only(std::map<std::string, int>{{"lamp::roof", 1}});
    EXPECT_EQ(journal_->counts().raised, 0U);
    store_->flush();
    open();
    EXPECT_EQ(journal_->counts().raised, 0U);
}

TEST_F(SignalJournalTest, WhileTheStoreRefusesNothingIsToldAndPollsWait) {
    ASSERT_TRUE(store_->close());
    std::vector<PolledSignals> polls(1);
    polls[0].plan = plan_;
    polls[0].signals.signals.emplace_back().type = "dark";
    journal_->take(std::move(polls));
    EXPECT_EQ(journal_->counts().waiting, 1U);
    EXPECT_EQ(steps(derive::SignalStep::kRaised), 0U);
    EXPECT_THAT(log_.text(), HasSubstr("signals of polls cannot be stored"));
    EXPECT_THAT(log_.text(), Not(HasSubstr("signal raised")));
}

TEST_F(SignalJournalTest, TooManyWaitingPollsAreDroppedAndCounted) {
    ASSERT_TRUE(store_->close());
    std::vector<PolledSignals> polls(SignalJournal::kMostWaiting + 5);
    for (std::size_t i = 0; i < polls.size(); ++i) {
        polls[i].plan = plan_;
        // Each says something new; what repeats the one before would not be kept.
        model::Signal& said = polls[i].signals.signals.emplace_back();
        said.type = "dark";
        said.message = std::to_string(i);
    }
    journal_->take(std::move(polls));
    EXPECT_EQ(journal_->counts().dropped, 5U);
    EXPECT_EQ(journal_->counts().waiting, SignalJournal::kMostWaiting);
}

TEST_F(SignalJournalTest, WhileTheStoreRefusesPollsThatRepeatWhatIsKnownAreNotKept) {
    ASSERT_TRUE(store_->close());
    std::vector<PolledSignals> polls(3);
    for (PolledSignals& one : polls) {
        one.plan = plan_;
        one.signals.signals.emplace_back().type = "dark";
    }
    journal_->take(std::move(polls));
    EXPECT_EQ(journal_->counts().waiting, 1U);
    EXPECT_EQ(journal_->counts().dropped, 0U);
}

TEST_F(SignalJournalTest, DamagedMemoryIsLearnedAgain) {
    journal_->recall("signals/lamp::hall", "\x01\xff\xff\xff");
    journal_->recall("signals/lamp::hall", "");
    journal_->recall("signals/lamp::hall", "\x07");
    EXPECT_EQ(journal_->counts().raised, 0U);
}

}  // namespace
}  // namespace pollux::runtime
