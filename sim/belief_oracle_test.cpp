#include "sim/belief_oracle.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numbers>
#include <vector>

namespace pollux::sim {
namespace {

constexpr ChangeParameters kBursty{.rate_per_s = 1.0 / 7200.0,
                                   .burst_rate_per_s = 0.05,
                                   .mean_calm_s = 3600.0,
                                   .mean_burst_s = 300.0,
                                   .kind = ChangeKind::kMarkovModulated};

struct Poll {
    double tau_s;
    bool changed;
};

// The same filter by brute force: small steps in which at most one thing happens.
class NumericFilter {
  public:
    explicit NumericFilter(const ChangeParameters& parameters)
        : p_(parameters), in_burst_(parameters.burst_share()) {}

    double rate_after(const Poll& poll) {
        constexpr int kSteps = 200'000;
        const double dt = poll.tau_s / kSteps;
        std::array<double, 2> quiet = {1.0 - in_burst_, in_burst_};  // nothing changed so far
        std::array<double, 2> any = quiet;
        for (int i = 0; i < kSteps; ++i) {
            quiet = step(quiet, dt, p_.rate_per_s, p_.burst_rate_per_s);
            any = step(any, dt, 0.0, 0.0);
        }
        const double calm = poll.changed ? any[0] - quiet[0] : quiet[0];
        const double burst = poll.changed ? any[1] - quiet[1] : quiet[1];
        in_burst_ = burst / (calm + burst);
        return p_.rate_per_s * (1.0 - in_burst_) + p_.burst_rate_per_s * in_burst_;
    }

  private:
    std::array<double, 2> step(const std::array<double, 2>& p, double dt, double leak0,
                               double leak1) const {
        const double up = p[0] * dt / p_.mean_calm_s;
        const double back = p[1] * dt / p_.mean_burst_s;
        return {p[0] - up + back - p[0] * leak0 * dt, p[1] + up - back - p[1] * leak1 * dt};
    }

    ChangeParameters p_;
    double in_burst_;
};

BeliefOracle oracle_of(const ChangeParameters& parameters) {
    const std::vector<ChangeProcess> fleet(1, ChangeProcess(parameters, 1));
    return BeliefOracle(fleet);
}

TEST(BeliefOracle, AgreesWithBruteForce) {
    constexpr std::array<Poll, 10> kPolls = {{{20.0, false},
                                              {55.0, true},
                                              {5.0, true},
                                              {5.0, false},
                                              {5.0, true},
                                              {30.0, false},
                                              {300.0, true},
                                              {5.0, false},
                                              {1800.0, false},
                                              {60.0, true}}};
    ChangeParameters fast = kBursty;
    fast.burst_rate_per_s = 0.3;
    fast.rate_per_s = 0.002;
    for (const ChangeParameters& parameters : {kBursty, fast}) {
        BeliefOracle oracle = oracle_of(parameters);
        NumericFilter numeric(parameters);
        double now_s = 0.0;
        for (const Poll& poll : kPolls) {
            now_s += poll.tau_s;
            const double exact = oracle.rate_after(0, now_s, poll.tau_s, poll.changed, true);
            const double expected = numeric.rate_after(poll);
            EXPECT_NEAR(exact / expected, 1.0, 2e-3) << "poll at " << now_s;
        }
    }
}

TEST(BeliefOracle, EqualStatesAreAPoissonProcess) {
    ChangeParameters equal = kBursty;
    equal.rate_per_s = equal.burst_rate_per_s;
    equal.mean_burst_s = equal.mean_calm_s;
    BeliefOracle oracle = oracle_of(equal);
    EXPECT_NEAR(oracle.rate_after(0, 10.0, 10.0, true, true), equal.rate_per_s, 1e-15);
    EXPECT_NEAR(oracle.rate_after(0, 30.0, 20.0, false, true), equal.rate_per_s, 1e-15);
}

TEST(BeliefOracle, NoTimeNoNewsAndAgesForgetEverything) {
    BeliefOracle oracle = oracle_of(kBursty);
    const double initial = oracle.initial_rate(0);
    EXPECT_NEAR(oracle.rate_after(0, 0.0, 0.0, false, true), initial, 1e-15);
    EXPECT_NEAR(oracle.rate_after(0, 0.0, 0.0, true, true), initial, 1e-15);
    // Of a change somewhere in ten years nothing can be concluded about now.
    EXPECT_NEAR(oracle.rate_after(0, 3e8, 3e8, true, true), initial, 1e-9);
    const double after_silence = oracle.rate_after(0, 6e8, 3e8, false, true);
    EXPECT_GT(after_silence, 0.0);
    EXPECT_LT(after_silence, kBursty.burst_rate_per_s);
}

// The estimate is calibrated: the rates it gives, times the time they hold, sum up to the events.
TEST(BeliefOracle, PredictsAsManyEventsAsHappen) {
    const std::vector<ChangeProcess> fleet(1, ChangeProcess(kBursty, 11));
    ChangeProcess process = fleet[0];
    BeliefOracle oracle(fleet);
    double predicted = 0.0;
    double happened = 0.0;
    double rate = oracle.initial_rate(0);
    constexpr double kTau = 2.0;  // short against a burst, so the rate hardly moves in between
    for (int i = 1; i <= 1'000'000; ++i) {
        const Consumed consumed = process.consume_until(kTau * i);
        predicted += rate * kTau;
        happened += consumed.events;
        rate = oracle.rate_after(0, kTau * i, kTau, consumed.changed, true);
    }
    EXPECT_NEAR(predicted / happened, 1.0, 0.02);
}

TEST(BeliefOracle, KnowsTheCurrentRateOfTheOtherKinds) {
    const std::vector<ChangeProcess> fleet = {
        ChangeProcess({.rate_per_s = 0.01, .kind = ChangeKind::kPoisson}, 1),
        ChangeProcess({.rate_per_s = 0.01, .phase = std::numbers::pi, .kind = ChangeKind::kDiurnal},
                      2),
        ChangeProcess({.mean_calm_s = 120.0, .mean_burst_s = 40.0, .kind = ChangeKind::kUpDown}, 3),
    };
    BeliefOracle oracle(fleet);
    EXPECT_EQ(oracle.initial_rate(0), 0.01);
    EXPECT_EQ(oracle.initial_rate(1), 0.01);
    EXPECT_EQ(oracle.initial_rate(2), 2.0 / 160.0);
    EXPECT_EQ(oracle.rate_after(0, 50.0, 50.0, true, true), 0.01);
    EXPECT_NEAR(oracle.rate_after(1, kDaySeconds / 4.0, 9.0, false, true), 0.001, 1e-12);
    EXPECT_EQ(oracle.rate_after(2, 50.0, 50.0, false, true), 1.0 / 120.0);
    EXPECT_EQ(oracle.rate_after(2, 60.0, 10.0, true, false), 1.0 / 40.0);
}

}  // namespace
}  // namespace pollux::sim
