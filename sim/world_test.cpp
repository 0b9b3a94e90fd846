// Whole worlds by seed: the production engine under faults, checked from outside after every event.
#include "sim/world.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "sim/fault_presets.hpp"

namespace pollux::sim {
namespace {

constexpr std::uint64_t kSeeds = 200;
constexpr std::uint64_t kSeedsAtOnce = 20;

// Small, so that many fit into a test run, and different in every respect that matters.
WorldOptions faulty_world(std::uint64_t seed) {
    constexpr std::array<Scenario, 4> kScenarios = {Scenario::kD, Scenario::kB, Scenario::kC,
                                                    Scenario::kBw};
    constexpr std::array<model::PolicyKind, 4> kPolicies = {
        model::PolicyKind::kOptimal, model::PolicyKind::kFixed, model::PolicyKind::kClassic,
        model::PolicyKind::kAimd};
    WorldOptions world;
    world.seed = seed;
    world.scenario = kScenarios[seed % kScenarios.size()];
    world.policy = kPolicies[seed / 4 % kPolicies.size()];
    world.preset = static_cast<model::Preset>(seed % 3);
    world.targets = 20 + seed % 23;
    world.budget = static_cast<double>(world.targets) / 20;
    world.warmup_hours = 0;
    world.hours = 2;
    apply_fault_preset(seed % 5 == 0 ? "crash" : "storm", world);
    world.faults.until_s = 1800;
    world.faults.crash_every_s = 300;
    world.groups = 7;
    return world;
}

std::string describe(const WorldReport& report, std::uint64_t seed) {
    std::string text = fmt::format("seed {}: {} violations", seed, report.violations);
    for (const auto& line : report.violation_texts) text += "\n  " + line;
    return text;
}

// Two hundred seeds, twenty at a time.
class FaultyWorlds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FaultyWorlds, ViolateNothing) {
    std::uint64_t restarts = 0;
    for (std::uint64_t seed = GetParam(); seed < GetParam() + kSeedsAtOnce; ++seed) {
        const WorldReport report = World(faulty_world(seed)).run();
        ASSERT_EQ(report.violations, 0U) << describe(report, seed);
        restarts += report.restarts;
    }
    EXPECT_GT(restarts, kSeedsAtOnce / 2) << "the faults did not happen";
}

INSTANTIATE_TEST_SUITE_P(World, FaultyWorlds,
                         testing::Range<std::uint64_t>(1, kSeeds + 1, kSeedsAtOnce));

TEST(World, TheSameSeedGivesTheSameLog) {
    for (const std::uint64_t seed : {3U, 8U, 21U}) {
        const WorldReport first = World(faulty_world(seed)).run();
        const WorldReport second = World(faulty_world(seed)).run();
        EXPECT_EQ(first.log_hash, second.log_hash) << "seed " << seed;
        EXPECT_EQ(first.starts, second.starts);
        EXPECT_NE(first.log_hash, World(faulty_world(seed + 1)).run().log_hash);
    }
}

// Scenario d has both kinds side by side with one base: targets that change state about every 80
// seconds (up for 2 minutes, down for 40 seconds), and targets that stay up for hours.
WorldReport run_flappers(model::PolicyKind policy, model::Preset preset) {
    WorldOptions world;
    world.scenario = Scenario::kD;
    world.policy = policy;
    world.preset = preset;
    world.targets = 400;
    world.budget = 19.6;
    world.warmup_hours = 1;
    world.hours = 2;
    return World(world).run();
}

TEST(World, AFlappingTargetIsPolledAtLeastAsOftenAsAQuietOne) {
    const auto ratio = [](model::Preset preset) {
        const WorldReport report = run_flappers(model::PolicyKind::kOptimal, preset);
        EXPECT_EQ(report.violations, 0U) << describe(report, 1);
        EXPECT_GT(report.quiet_polls_per_s, 0.0);
        return report.flapper_polls_per_s / report.quiet_polls_per_s;
    };
    EXPECT_GE(ratio(model::Preset::kBalanced), 1.0);
    EXPECT_GE(ratio(model::Preset::kFresh), 2.0);
}

// Rates are per target: at a fixed interval a quiet one shows just that interval.
TEST(World, PollRatesAreCountedPerTargetAfterTheWarmUp) {
    const WorldReport report = run_flappers(model::PolicyKind::kFixed, model::Preset::kBalanced);
    EXPECT_NEAR(report.quiet_polls_per_s, 1 / report.base_s, 0.05 / report.base_s);
    WorldOptions no_flappers;
    no_flappers.scenario = Scenario::kA;
    no_flappers.targets = 20;
    no_flappers.budget = 1;
    no_flappers.warmup_hours = 0;
    no_flappers.hours = 0.1;
    const WorldReport calm = World(no_flappers).run();
    EXPECT_EQ(calm.flapper_polls_per_s, 0.0);
    EXPECT_EQ(calm.quiet_polls_per_s, 0.0);
}

// In a world without faults nobody who is healthy is ever older than the bound.
TEST(World, WithoutFaultsNothingIsOlderThanItsBound) {
    for (const auto preset :
         {model::Preset::kBalanced, model::Preset::kFresh, model::Preset::kEconomy}) {
        WorldOptions world;
        world.scenario = Scenario::kB;
        world.preset = preset;
        world.targets = 200;
        world.budget = 9.8;
        world.warmup_hours = 0.2;
        world.hours = 0.8;
        const WorldReport report = World(world).run();
        EXPECT_EQ(report.violations, 0U) << describe(report, world.seed);
        EXPECT_EQ(report.metrics.over_bound_share, 0.0) << to_string(preset);
        EXPECT_LE(report.metrics.polls_per_s, 9.8 * 1.02) << to_string(preset);
        EXPECT_LT(report.metrics.max_gap_s, 60.0);
    }
}

// Overdue work after a crash is spread: no more starts than 1.2 times the usual in any ten seconds.
TEST(World, ARestartIsNotABurst) {
    for (const double base_s : {10.0, 60.0, 300.0}) {
        WorldOptions world;
        world.policy = model::PolicyKind::kFixed;
        world.scenario = Scenario::kA;
        world.targets = 1500;
        world.budget = 1500 / base_s;
        world.warmup_hours = 0;
        world.hours = base_s * 12 / 3600;
        world.persist = true;
        world.faults.crash_every_s = base_s * 3;
        world.faults.crash_down_s = base_s * 0.7;
        const WorldReport report = World(world).run();
        EXPECT_EQ(report.violations, 0U) << describe(report, world.seed);
        EXPECT_GT(report.restarts, 0U);
        EXPECT_LE(report.largest_10s_ratio, 1.2 + 1.0 / (world.budget * 10)) << base_s;
    }
}

}  // namespace
}  // namespace pollux::sim
