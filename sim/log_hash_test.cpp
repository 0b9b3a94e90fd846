// Short runs whose whole log is known. The log holds every start, label and cancelled run with its
// time, so the same hash must come from every compiler, machine and process, across restarts of the
// simulated one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "sim/fault_presets.hpp"
#include "sim/world.hpp"

namespace pollux::sim {
namespace {

struct PinnedRun {
    std::string_view scenario;
    std::string_view policy;
    std::string_view preset;
    std::string_view faults;
    std::uint64_t seed;
    std::uint64_t log_hash;
};

// A hash changes only with an intended change of behaviour, and the commit says which. The failing
// test prints this table anew.
constexpr std::array kPinnedRuns = {
    PinnedRun{"b", "optimal", "balanced", "none", 11, 0xb73093a85675880e},
    PinnedRun{"c", "optimal", "fresh", "none", 12, 0x67723785682c793c},
    PinnedRun{"e", "optimal", "economy", "none", 13, 0x7430e76c86fbc312},
    PinnedRun{"b", "oracle", "fresh", "none", 11, 0x30b29faca9a92b35},
    PinnedRun{"bw", "classic", "balanced", "none", 11, 0xf0a3bf7cb2352904},
    PinnedRun{"a", "fixed", "balanced", "crash", 5, 0x673d12fde658438e},
    PinnedRun{"d", "optimal", "balanced", "storm", 7, 0x9949288fa44ceb56},
};

template <class Enum, class Names>
Enum named(const Names& names, std::string_view name) {
    return static_cast<Enum>(std::ranges::find(names, name) - names.begin());
}

WorldReport run_pinned(const PinnedRun& pinned) {
    WorldOptions world;
    world.scenario = *parse_scenario(pinned.scenario);
    world.policy = named<model::PolicyKind>(model::kPolicyNames, pinned.policy);
    world.preset = named<model::Preset>(model::kPresetNames, pinned.preset);
    world.seed = pinned.seed;
    world.targets = 60;
    world.budget = 3;
    world.warmup_hours = 0;
    world.hours = 2;
    apply_fault_preset(std::string(pinned.faults), world);
    return World(world).run();
}

TEST(LogHash, IsTheSameEverywhere) {
    std::string table;
    for (const PinnedRun& pinned : kPinnedRuns) {
        const WorldReport report = run_pinned(pinned);
        EXPECT_EQ(report.log_hash, pinned.log_hash);
        EXPECT_EQ(report.restarts > 0, pinned.faults != "none") << "the faults did not happen";
        table += fmt::format(R"(    PinnedRun{{"{}", "{}", "{}", "{}", {}, {:#018x}}},)",
                             pinned.scenario, pinned.policy, pinned.preset, pinned.faults,
                             pinned.seed, report.log_hash) +
                 "\n";
    }
    if (HasFailure()) ADD_FAILURE() << "the table would be\n" << table;
}

TEST(LogHash, DependsOnTheSeedAlone) {
    for (PinnedRun pinned : {kPinnedRuns.front(), kPinnedRuns.back()}) {
        const std::uint64_t log_hash = run_pinned(pinned).log_hash;
        EXPECT_EQ(run_pinned(pinned).log_hash, log_hash) << "twice in one process";
        ++pinned.seed;
        EXPECT_NE(run_pinned(pinned).log_hash, log_hash) << "another seed";
    }
}

}  // namespace
}  // namespace pollux::sim
