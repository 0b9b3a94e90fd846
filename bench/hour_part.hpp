// A whole simulated hour of a large fleet: the engine with its persistence, and a world that
// changes and answers, on one thread.
#pragma once

#include <cstdint>

#include "bench/result_table.hpp"
#include "sim/world.hpp"

namespace pollux::bench {

struct HourTimes {
    double wall_s = 0;
    std::uint64_t polls = 0;
    std::uint64_t violations = 0;
};

inline HourTimes simulate(std::size_t targets, double hours, bool check_invariants) {
    constexpr double kBaseSeconds = 60;
    sim::WorldOptions options;
    options.targets = targets;
    options.budget = static_cast<double>(targets) / kBaseSeconds;
    options.hours = hours;
    options.warmup_hours = 0;
    options.policy = model::PolicyKind::kOptimal;
    options.preset = model::Preset::kBalanced;
    options.check_invariants = check_invariants;
    const auto start = Clock::now();
    sim::World world(options);
    const sim::WorldReport report = world.run();
    return {static_cast<double>(nanos_since(start)) * 1e-9, world.polls(), report.violations};
}

inline void measure_hour(ResultTable& table, std::size_t targets, double hours) {
    constexpr double kGoalSeconds = 240;  // for an hour of a million targets
    constexpr double kCheckedShare = 0.1;
    const double goal_s = kGoalSeconds * hours * static_cast<double>(targets) * 1e-6;
    const auto add = [&](const std::string& what, const HourTimes& times, double goal) {
        table.add({what,
                   fmt::format("{:.1f} s ({:.0f} ns a poll)", times.wall_s,
                               times.wall_s * 1e9 / static_cast<double>(times.polls)),
                   goal > 0 ? fmt::format("<= {:.0f} s", goal) : "",
                   goal <= 0 || times.wall_s <= goal, "", "", 0});
    };
    const HourTimes plain = simulate(targets, hours, false);
    add(fmt::format("simulator: {:g} h, {:.1f}M polls", hours,
                    static_cast<double>(plain.polls) * 1e-6),
        plain, goal_s);
    const HourTimes checked = simulate(targets, hours * kCheckedShare, true);
    table.require(checked.violations == 0, "the simulated engine broke an invariant");
    add(fmt::format("simulator: {:g} h, invariants checked", hours * kCheckedShare), checked, 0);
}

}  // namespace pollux::bench
