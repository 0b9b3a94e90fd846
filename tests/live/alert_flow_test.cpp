// From a device that breaks to the message that somebody reads, with the whole binary: one message
// per cause, one recovery, none lost and none under another key when the process is killed.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "tests/live/alert_stage.hpp"
#include "tests/live/state_copy.hpp"

namespace pollux::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

unsigned number_from(const char* variable, unsigned otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

const unsigned kKills = number_from("POLLUX_KILLS", 10);

class AlertFlow : public AlertStage {
  protected:
    // A device breaks once: what keeps coming back is told less often.
    AlertFlow() : AlertStage(std::max<std::size_t>(6, kKills)) {}
};

TEST_F(AlertFlow, ADeviceThatBreaksIsToldOnceAndItsRecoveryOnce) {
    ASSERT_NO_FATAL_FAILURE(start(false));
    fail(2);
    ASSERT_TRUE(comes("problem", 2)) << server_->log();
    fail(2, false);
    ASSERT_TRUE(comes("recovery", 2)) << server_->log();
    const std::vector<Told> problems = told("problem");
    const std::vector<Told> recoveries = told("recovery");
    ASSERT_EQ(problems.size(), 1U);
    ASSERT_EQ(recoveries.size(), 1U);
    EXPECT_EQ(problems[0].incident, recoveries[0].incident);
    EXPECT_NE(problems[0].key, recoveries[0].key);
    EXPECT_FALSE(problems[0].key.empty());
    EXPECT_FALSE(problems[0].provisional);
    EXPECT_EQ(server_->stop(), 0);
    const StateCopy state(server_->data());
    EXPECT_EQ(state.integrity(), "ok");
    EXPECT_THAT(state.rows("SELECT count(*) FROM alert"), testing::ElementsAre("1"));
    EXPECT_THAT(state.rows("SELECT count(*) FROM incident"), testing::ElementsAre("1"));
}

TEST_F(AlertFlow, AParentAndItsChildrenAreOneMessage) {
    ASSERT_NO_FATAL_FAILURE(start(true));
    // The children are seen to fail first or last, as it happens.
    for (std::size_t i = devices_; i >= 1; --i) ASSERT_NO_FATAL_FAILURE(fail(i));
    ASSERT_TRUE(comes("problem", 1)) << server_->log();
    // Long enough for the ladders of all children and their verification.
    std::this_thread::sleep_for(seconds(20));
    EXPECT_EQ(told("problem").size(), 1U) << server_->log();
    for (std::size_t i = 1; i <= devices_; ++i) ASSERT_NO_FATAL_FAILURE(fail(i, false));
    ASSERT_TRUE(comes("recovery", 1)) << server_->log();
    std::this_thread::sleep_for(seconds(5));
    EXPECT_EQ(told("problem").size(), 1U) << server_->log();
    EXPECT_EQ(told("recovery").size(), 1U) << server_->log();
}

// Whoever was asked whether he lives is asked again: the children are not told for want of an
// answer.
TEST_F(AlertFlow, AParentAndItsChildrenAreOneMessageAlsoWhenTheProcessDiesMeanwhile) {
    ASSERT_NO_FATAL_FAILURE(start(true));
    for (std::size_t i = devices_; i >= 1; --i) ASSERT_NO_FATAL_FAILURE(fail(i));
    std::mt19937 random(number_from("POLLUX_KILL_SEED", 20261118));
    // Until a child is about to be judged.
    ASSERT_TRUE(eventually([&] { return server_->metrics().sum("pollux_alerts_held") > 0; }))
        << server_->log();
    std::this_thread::sleep_for(milliseconds(random() % 1'000));
    server_->kill();
    server_->start();
    ASSERT_TRUE(comes("problem", 1)) << server_->log();
    // Longer than a question is waited for.
    std::this_thread::sleep_for(seconds(40));
    EXPECT_EQ(told("problem").size(), 1U) << server_->log();
    for (std::size_t i = 1; i <= devices_; ++i) ASSERT_NO_FATAL_FAILURE(fail(i, false));
    ASSERT_TRUE(comes("recovery", 1)) << server_->log();
}

TEST_F(AlertFlow, AReceiverThatIsDownGetsEverythingInOrderWhenItIsBack) {
    ASSERT_NO_FATAL_FAILURE(start(false));
    set_receiver_down(true);
    fail(3);
    ASSERT_TRUE(eventually([&] {
        return server_->log().find("notification not delivered") != std::string::npos;
    })) << server_->log();
    fail(3, false);
    ASSERT_TRUE(eventually([&] {
        return server_->log().find("alert resolved") != std::string::npos;
    })) << server_->log();
    server_->kill();
    server_->start();
    set_receiver_down(false);
    ASSERT_TRUE(comes("recovery", 3)) << server_->log();
    const std::vector<Told> all = taken();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].kind, "problem");
    EXPECT_EQ(all[1].kind, "recovery");
    EXPECT_EQ(all[0].incident, all[1].incident);
}

TEST_F(AlertFlow, WhateverTheMomentOfAKillNothingIsLostAndARepeatHasTheSameKey) {
    ASSERT_NO_FATAL_FAILURE(start(false));
    std::mt19937 random(number_from("POLLUX_KILL_SEED", 20261118));
    for (unsigned round = 0; round < kKills; ++round) {
        const std::size_t device = 1 + round;
        const std::size_t problems = told("problem", device).size();
        const std::size_t recoveries = told("recovery", device).size();
        fail(device);
        std::this_thread::sleep_for(milliseconds(random() % 12'000));
        server_->kill();
        server_->start();
        ASSERT_TRUE(eventually([&] { return told("problem", device).size() > problems; }))
            << "round " << round << "\n"
            << server_->log();
        fail(device, false);
        std::this_thread::sleep_for(milliseconds(random() % 4'000));
        server_->kill();
        server_->start();
        ASSERT_TRUE(eventually([&] { return told("recovery", device).size() > recoveries; }))
            << "round " << round << "\n"
            << server_->log();
    }
    // A message that came twice came with the same key; under different keys, each incident is
    // told once.
    std::map<std::pair<std::string, std::string>, std::set<std::string>> keys;
    for (const Told& one : taken()) keys[{one.incident, one.kind}].insert(one.key);
    for (const auto& [what, of_it] : keys) {
        EXPECT_EQ(of_it.size(), 1U) << what.second << " of " << what.first;
    }
    EXPECT_EQ(StateCopy(server_->data()).integrity(), "ok");
}

}  // namespace
}  // namespace pollux::live
