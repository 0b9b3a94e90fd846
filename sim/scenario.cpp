#include "sim/scenario.hpp"

#include <algorithm>
#include <array>
#include <numbers>

#include "base/math.hpp"

namespace pollux::sim {
namespace {

struct Entry {
    std::string_view name;
    std::string_view description;
};

constexpr std::array kAll = {Scenario::kA, Scenario::kB, Scenario::kBp, Scenario::kBw,
                             Scenario::kC, Scenario::kD, Scenario::kE,  Scenario::kIdle};

// In the order of the enumeration.
constexpr std::array<Entry, kAll.size()> kEntries = {{
    {"a", "homogeneous: every target changes once in 30 minutes"},
    {"b", "Poisson, lognormal rates (sigma 2, about four decades)"},
    {"bp", "Poisson, Pareto rates (exponent 0.7)"},
    {"bw", "as b, one target in ten has weight 10"},
    {"c", "bursts: calm for an hour, then five minutes of a change every 20 seconds"},
    {"d", "5 % flapping, 15 % failing now and then, the rest quiet with lognormal rates"},
    {"e", "day and night: as b, two groups with opposite phases"},
    {"idle", "every target changes once a day"},
}};

const Entry& entry_of(Scenario scenario) { return kEntries[static_cast<std::size_t>(scenario)]; }

// The median times e^(sigma * standard normal).
double lognormal(Rng& rng, double median, double sigma) {
    return median * base::fixed_exp(sigma * rng.normal());
}

// Sigma 2 spans about four decades; the clamp keeps the tails between twice a day and every 5 s.
double lognormal_rate(Rng& rng) {
    return std::clamp(lognormal(rng, 1.0 / 1800.0, 2.0), 2.0 / kDaySeconds, 0.2);
}

double pareto_rate(Rng& rng) {
    constexpr double kLowest = 2.0 / kDaySeconds;
    return std::min(kLowest * base::fixed_pow(rng.uniform(), -1.0 / 0.7), 0.3);
}

ChangeParameters poisson(double rate_per_s) {
    return {.rate_per_s = rate_per_s, .kind = ChangeKind::kPoisson};
}

ChangeParameters bursty(Rng& rng) {
    ChangeParameters p{.kind = ChangeKind::kMarkovModulated};
    p.rate_per_s = lognormal(rng, 1.0 / 7200.0, 0.7);
    p.mean_calm_s = lognormal(rng, 3600.0, 0.7);
    p.mean_burst_s = lognormal(rng, 300.0, 0.5);
    p.burst_rate_per_s = std::min(lognormal(rng, 0.05, 0.7), 0.3);
    return p;
}

ChangeParameters flapping_failing_or_quiet(Rng& rng, double rate_per_s) {
    const double lot = rng.uniform();
    if (lot >= 0.20) return poisson(rate_per_s / 4.0);
    const bool flapping = lot < 0.05;
    ChangeParameters p{.kind = ChangeKind::kUpDown};
    p.mean_calm_s = flapping ? lognormal(rng, 120.0, 0.5) : 6.0 * 3600.0;
    p.mean_burst_s = flapping ? lognormal(rng, 40.0, 0.5) : lognormal(rng, 1200.0, 0.7);
    return p;
}

ChangeParameters draw(Scenario scenario, std::size_t index, Rng& rng) {
    // Drawn in every scenario, so that b, bw and e give a target the same rate.
    const double lognormal_draw = lognormal_rate(rng);
    const double pareto_draw = pareto_rate(rng);
    switch (scenario) {
        case Scenario::kA: return poisson(1.0 / 1800.0);
        case Scenario::kB: return poisson(lognormal_draw);
        case Scenario::kBp: return poisson(pareto_draw);
        case Scenario::kBw: {
            ChangeParameters p = poisson(lognormal_draw);
            p.weight = rng.uniform() < 0.1 ? 10.0 : 1.0;
            return p;
        }
        case Scenario::kC: return bursty(rng);
        case Scenario::kD: return flapping_failing_or_quiet(rng, lognormal_draw);
        case Scenario::kE:
            return {.rate_per_s = lognormal_draw,
                    .phase = index % 2 == 1 ? 0.0 : std::numbers::pi,
                    .kind = ChangeKind::kDiurnal};
        case Scenario::kIdle: return poisson(1.0 / kDaySeconds);
    }
    return {};
}

}  // namespace

std::span<const Scenario> all_scenarios() { return kAll; }

std::string_view to_string(Scenario scenario) { return entry_of(scenario).name; }

std::optional<Scenario> parse_scenario(std::string_view name) {
    for (const Scenario scenario : kAll) {
        if (to_string(scenario) == name) return scenario;
    }
    return std::nullopt;
}

std::string_view describe(Scenario scenario) { return entry_of(scenario).description; }

std::vector<ChangeProcess> make_fleet(Scenario scenario, std::size_t targets, std::uint64_t seed) {
    constexpr std::uint64_t kSeedStride = 1000003;  // more than targets, so no two seeds overlap
    Rng rng(seed * 7 + 5);
    std::vector<ChangeProcess> fleet;
    fleet.reserve(targets);
    for (std::size_t i = 0; i < targets; ++i) {
        fleet.emplace_back(draw(scenario, i, rng), seed * kSeedStride + i);
    }
    return fleet;
}

}  // namespace pollux::sim
