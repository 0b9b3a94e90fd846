#include "sim/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numbers>
#include <set>

#include "base/siphash.hpp"

namespace pollux::sim {
namespace {

constexpr std::size_t kTargets = 20'000;
constexpr double kSlowest = 2.0 / kDaySeconds;

template <typename Value>
double median_of(const std::vector<ChangeProcess>& fleet, Value value) {
    std::vector<double> values;
    for (const ChangeProcess& process : fleet) values.push_back(value(process.parameters()));
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <typename Predicate>
double share_of(const std::vector<ChangeProcess>& fleet, Predicate predicate) {
    const auto matching = std::count_if(
        fleet.begin(), fleet.end(),
        [&](const ChangeProcess& process) { return predicate(process.parameters()); });
    return static_cast<double>(matching) / static_cast<double>(fleet.size());
}

TEST(Scenario, NamesParseAndDescribe) {
    std::set<std::string_view> names;
    for (const Scenario scenario : all_scenarios()) {
        EXPECT_EQ(parse_scenario(to_string(scenario)), scenario);
        EXPECT_FALSE(describe(scenario).empty());
        names.insert(to_string(scenario));
    }
    EXPECT_EQ(names, (std::set<std::string_view>{"a", "b", "bp", "bw", "c", "d", "e", "idle"}));
    EXPECT_EQ(parse_scenario("A"), std::nullopt);
    EXPECT_EQ(parse_scenario(""), std::nullopt);
}

TEST(Scenario, SameSeedSameFleetAndALargerOneOnlyAdds) {
    for (const Scenario scenario : all_scenarios()) {
        const auto small = make_fleet(scenario, 50, 9);
        const auto large = make_fleet(scenario, 100, 9);
        const auto other = make_fleet(scenario, 50, 10);
        ASSERT_EQ(small.size(), 50U);
        for (std::size_t i = 0; i < small.size(); ++i) {
            EXPECT_EQ(small[i].next_event_s(), large[i].next_event_s());
            EXPECT_NE(small[i].next_event_s(), other[i].next_event_s());
        }
    }
}

// Same seed, same bytes, with every compiler and on every machine. When one of these changes, all
// published figures of the simulator have to be measured again.
TEST(Scenario, EventTimesAreBitExact) {
    const std::map<Scenario, std::uint64_t> expected = {
        {Scenario::kA, 0xef6e9a0dbce793e9ULL},  {Scenario::kB, 0xf88b372608f6d5aeULL},
        {Scenario::kBp, 0xe08bb2a5548edf5dULL}, {Scenario::kBw, 0x58a735eff14237e3ULL},
        {Scenario::kC, 0xb2265be45578722aULL},  {Scenario::kD, 0x0f1aeb456e6c75f5ULL},
        {Scenario::kE, 0xae8f8c8107daae94ULL},  {Scenario::kIdle, 0x68f94fdde96c7e6fULL},
    };
    for (const Scenario scenario : all_scenarios()) {
        std::uint64_t hash = 0;
        for (ChangeProcess& process : make_fleet(scenario, 200, 3)) {
            process.consume_until(kDaySeconds, [&](const ChangeEvent& event) {
                hash = base::siphash24({hash, 0}, std::bit_cast<std::uint64_t>(event.at_s),
                                       std::uint64_t{event.went_down});
            });
        }
        EXPECT_EQ(hash, expected.at(scenario)) << to_string(scenario);
    }
}

TEST(Scenario, HomogeneousAndIdleAreEven) {
    const auto half_hour = [](const ChangeParameters& p) { return p.mean_rate() == 1.0 / 1800.0; };
    const auto day = [](const ChangeParameters& p) { return p.mean_rate() == 1.0 / 86400.0; };
    EXPECT_EQ(share_of(make_fleet(Scenario::kA, 100, 1), half_hour), 1.0);
    EXPECT_EQ(share_of(make_fleet(Scenario::kIdle, 100, 1), day), 1.0);
}

TEST(Scenario, LognormalRates) {
    const auto fleet = make_fleet(Scenario::kB, kTargets, 1);
    const auto rate = [](const ChangeParameters& p) { return p.rate_per_s; };
    EXPECT_NEAR(median_of(fleet, rate) * 1800.0, 1.0, 0.05);
    const auto within_a_sigma = [](const ChangeParameters& p) {
        const double ratio = p.rate_per_s * 1800.0;
        return ratio > 0.1353352832 && ratio < 7.389056099;  // e^-2, e^2
    };
    EXPECT_NEAR(share_of(fleet, within_a_sigma), 0.6827, 0.01);
    for (const ChangeProcess& process : fleet) {
        EXPECT_GE(process.parameters().rate_per_s, kSlowest);
        EXPECT_LE(process.parameters().rate_per_s, 0.2);
        EXPECT_EQ(process.weight(), 1.0);
    }
}

TEST(Scenario, ParetoRates) {
    const auto fleet = make_fleet(Scenario::kBp, kTargets, 1);
    // P(rate > 10 times the slowest) = 10^-0.7.
    const auto above = [](const ChangeParameters& p) { return p.rate_per_s > 10.0 * kSlowest; };
    EXPECT_NEAR(share_of(fleet, above), 0.1995, 0.01);
    for (const ChangeProcess& process : fleet) {
        EXPECT_GE(process.parameters().rate_per_s, kSlowest);
        EXPECT_LE(process.parameters().rate_per_s, 0.3);
    }
}

TEST(Scenario, OneInTenWeighsTen) {
    const auto fleet = make_fleet(Scenario::kBw, kTargets, 1);
    EXPECT_NEAR(share_of(fleet, [](const ChangeParameters& p) { return p.weight == 10.0; }), 0.1,
                0.01);
    EXPECT_NEAR(share_of(fleet, [](const ChangeParameters& p) { return p.weight == 1.0; }), 0.9,
                0.01);
}

TEST(Scenario, Bursts) {
    const auto fleet = make_fleet(Scenario::kC, kTargets, 1);
    EXPECT_NEAR(median_of(fleet, [](const auto& p) { return p.rate_per_s * 7200.0; }), 1.0, 0.03);
    EXPECT_NEAR(median_of(fleet, [](const auto& p) { return p.mean_calm_s / 3600.0; }), 1.0, 0.03);
    EXPECT_NEAR(median_of(fleet, [](const auto& p) { return p.mean_burst_s / 300.0; }), 1.0, 0.03);
    EXPECT_NEAR(median_of(fleet, [](const auto& p) { return p.burst_rate_per_s * 20.0; }), 1.0,
                0.03);
    for (const ChangeProcess& process : fleet) {
        EXPECT_EQ(process.parameters().kind, ChangeKind::kMarkovModulated);
        EXPECT_LE(process.parameters().burst_rate_per_s, 0.3);
    }
}

TEST(Scenario, FlappingFailingAndQuiet) {
    const auto fleet = make_fleet(Scenario::kD, kTargets, 1);
    const auto failing = [](const ChangeParameters& p) {
        return p.kind == ChangeKind::kUpDown && p.mean_calm_s == 6.0 * 3600.0;
    };
    const auto flapping = [](const ChangeParameters& p) {
        return p.kind == ChangeKind::kUpDown && p.mean_calm_s < 3600.0;
    };
    const auto quiet = [](const ChangeParameters& p) {
        return p.kind == ChangeKind::kPoisson && p.rate_per_s >= kSlowest / 4.0 &&
               p.rate_per_s <= 0.05;
    };
    EXPECT_NEAR(share_of(fleet, flapping), 0.05, 0.005);
    EXPECT_NEAR(share_of(fleet, failing), 0.15, 0.01);
    EXPECT_NEAR(share_of(fleet, quiet), 0.80, 0.01);
}

TEST(Scenario, NightsAlternate) {
    const auto fleet = make_fleet(Scenario::kE, 100, 1);
    const auto same_rates = make_fleet(Scenario::kB, 100, 1);
    for (std::size_t i = 0; i < fleet.size(); ++i) {
        const ChangeParameters& p = fleet[i].parameters();
        EXPECT_EQ(p.kind, ChangeKind::kDiurnal);
        EXPECT_EQ(p.rate_per_s, same_rates[i].parameters().rate_per_s);
        EXPECT_EQ(p.phase, i % 2 == 1 ? 0.0 : std::numbers::pi);
    }
}

}  // namespace
}  // namespace pollux::sim
