#include "schedule/policy_outlook.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using model::PolicyKind;
using namespace std::chrono_literals;

class PolicyOutlook : public testing::Test {
  protected:
    PolicyOutlook() : settings_(wide_settings({"c"})) { settings_.mode = model::AdaptiveMode::kOn; }

    void add(int count, RateBelief belief = {}) {
        for (int i = 0; i < count; ++i) {
            model::TaskSpec spec = poll(fmt::format("c::{}", tasks_.size()));
            spec.cadence = model::Cadence::adaptive(5s, 20s, 300s);
            tasks_.push_back(spec);
            LearnedTask learned;
            learned.belief = belief;
            learned_.push_back(learned);
        }
    }
    std::vector<std::uint32_t> look(std::optional<PolicyKind> policy) const {
        return outlook(
            {.settings = settings_, .tasks = tasks_, .learned = learned_, .policy = policy});
    }
    static double rate(const std::vector<std::uint32_t>& intervals) {
        double sum = 0;
        for (const std::uint32_t one : intervals) sum += one == 0 ? 0 : 1e3 / one;
        return sum;
    }
    // Believed after a hundred answers half a minute apart.
    static RateBelief taught(bool changing) {
        RateBelief belief;
        RatePrior prior;
        for (std::uint64_t i = 0; i < 100; ++i) learn(belief, prior, {30, changing, i * 77, 1e9});
        return belief;
    }

    model::CoreSettings settings_;
    std::vector<model::TaskSpec> tasks_;
    std::vector<LearnedTask> learned_;
};

TEST_F(PolicyOutlook, FixedIsTheBase) {
    add(3);
    EXPECT_EQ(look(PolicyKind::kFixed), std::vector<std::uint32_t>(3, 20'000));
    settings_.mode = model::AdaptiveMode::kOff;
    EXPECT_EQ(look(std::nullopt), std::vector<std::uint32_t>(3, 20'000));
    settings_.mode = model::AdaptiveMode::kShadow;
    EXPECT_EQ(look(std::nullopt), std::vector<std::uint32_t>(3, 20'000)) << "the base decides";
}

TEST_F(PolicyOutlook, OptimalSpendsTheSameWhereItBuysMore) {
    add(50, taught(true));
    add(50, taught(false));
    const auto chosen = look(PolicyKind::kOptimal);
    EXPECT_LT(chosen.front(), 20'000U) << "it changes often";
    EXPECT_GT(chosen.back(), 20'000U) << "it does not";
    EXPECT_LE(chosen.back(), 30'100U) << "1.5 times the base is the limit of the preset";
    EXPECT_LE(rate(chosen), 5.0 * 1.01) << "what the base would cost";
    EXPECT_GT(rate(chosen), 5.0 * 0.9);
    EXPECT_EQ(look(std::nullopt), chosen) << "it is what the class has in force";
}

TEST_F(PolicyOutlook, WhatIsIdleForHoursDrifts) {
    add(40, taught(false));
    const auto before = look(PolicyKind::kOptimal);
    for (LearnedTask& one : learned_) one.quiet = 24h;
    const auto after = look(PolicyKind::kOptimal);
    EXPECT_GT(after.front(), before.front());
    EXPECT_LT(rate(after), rate(before));
}

TEST_F(PolicyOutlook, ClassicSettlesBetweenItsLimits) {
    add(2);
    const auto chosen = look(PolicyKind::kClassic);
    EXPECT_GE(chosen[0], 5'000U);
    EXPECT_LE(chosen[0], 300'000U);
    EXPECT_NE(chosen[0], 20'000U);
    EXPECT_EQ(chosen[0], chosen[1]);
}

TEST_F(PolicyOutlook, LeavesOutWhatIsNotPolled) {
    add(4);
    tasks_[0].enabled = false;
    learned_[1].enabled = false;
    tasks_[2].key = "strange::2";
    learned_[3].slow = true;
    for (const PolicyKind policy :
         {PolicyKind::kFixed, PolicyKind::kClassic, PolicyKind::kOptimal}) {
        const auto chosen = look(policy);
        EXPECT_EQ(chosen[0], 0U);
        EXPECT_EQ(chosen[1], 0U);
        EXPECT_EQ(chosen[2], 0U);
        EXPECT_EQ(chosen[3], 300'000U) << "its parent is down: the slowest rate";
    }
}

TEST_F(PolicyOutlook, StaysUnderTheLimitOfAll) {
    add(200, taught(true));
    settings_.global_rate = 4;
    EXPECT_LE(rate(look(PolicyKind::kOptimal)), 4.0);
}

}  // namespace
}  // namespace pollux::schedule
