// The fleets that policies are compared on. Synthetic on purpose: the best possible answer is
// known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/change_process.hpp"

namespace pollux::sim {

enum class Scenario : std::uint8_t {
    kA,     // homogeneous: nothing to gain, only to lose
    kB,     // Poisson, lognormal rates over four decades
    kBp,    // Poisson, Pareto rates
    kBw,    // as b, a tenth of the targets with weight 10
    kC,     // bursts
    kD,     // flapping, failing and quiet targets
    kE,     // day and night
    kIdle,  // hardly anything changes
};

std::span<const Scenario> all_scenarios();

// The name on the command line and in tables: a, b, bp, bw, c, d, e, idle.
std::string_view to_string(Scenario scenario);
std::optional<Scenario> parse_scenario(std::string_view name);

// One line for people.
std::string_view describe(Scenario scenario);

// Target i is the same device with the same future in every fleet of that scenario and seed,
// however large. Seeds are independent of each other up to a million targets.
std::vector<ChangeProcess> make_fleet(Scenario scenario, std::size_t targets, std::uint64_t seed);

}  // namespace pollux::sim
