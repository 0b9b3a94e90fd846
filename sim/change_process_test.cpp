#include "sim/change_process.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <vector>

namespace pollux::sim {
namespace {

constexpr ChangeParameters kPoisson{.rate_per_s = 0.02, .kind = ChangeKind::kPoisson};
constexpr ChangeParameters kBursty{.rate_per_s = 1.0 / 7200.0,
                                   .burst_rate_per_s = 0.05,
                                   .mean_calm_s = 3600.0,
                                   .mean_burst_s = 300.0,
                                   .kind = ChangeKind::kMarkovModulated};
constexpr ChangeParameters kDiurnal{.rate_per_s = 0.01, .kind = ChangeKind::kDiurnal};
constexpr ChangeParameters kUpDown{
    .mean_calm_s = 120.0, .mean_burst_s = 40.0, .kind = ChangeKind::kUpDown};
constexpr ChangeParameters kAllKinds[] = {kPoisson, kBursty, kDiurnal, kUpDown};

std::vector<double> events_until(ChangeProcess process, double end_s) {
    std::vector<double> events;
    process.consume_until(end_s, [&](const ChangeEvent& event) { events.push_back(event.at_s); });
    return events;
}

TEST(ChangeProcess, LongRunRateIsTheMeanRate) {
    for (const ChangeParameters& parameters : kAllKinds) {
        double events = 0.0;
        double expected = 0.0;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            ChangeProcess process(parameters, seed);
            events += process.consume_until(10.0 * kDaySeconds).events;
            expected += parameters.mean_rate() * 10.0 * kDaySeconds;
        }
        EXPECT_NEAR(events / expected, 1.0, 0.02) << static_cast<int>(parameters.kind);
    }
}

// A process that starts in equilibrium has no preferred beginning: the first minutes of many
// devices show the rate of the long run.
TEST(ChangeProcess, StartsInEquilibrium) {
    for (const ChangeParameters& parameters : {kPoisson, kBursty, kUpDown}) {
        double events = 0.0;
        constexpr std::uint64_t kDevices = 40'000;
        for (std::uint64_t seed = 0; seed < kDevices; ++seed) {
            events += ChangeProcess(parameters, seed).consume_until(100.0).events;
        }
        const double expected = parameters.mean_rate() * 100.0 * kDevices;
        EXPECT_NEAR(events / expected, 1.0, 0.05) << static_cast<int>(parameters.kind);
    }
}

TEST(ChangeProcess, StreamDoesNotDependOnWhenItIsRead) {
    for (const ChangeParameters& parameters : kAllKinds) {
        const double end_s = 5.0 * kDaySeconds;
        const std::vector<double> at_once = events_until(ChangeProcess(parameters, 7), end_s);
        ChangeProcess process(parameters, 7);
        std::vector<double> in_steps;
        Rng steps(8);
        for (double now_s = 0.0; now_s < end_s;) {
            now_s = std::min(end_s, now_s + steps.exponential(50.0));
            process.consume_until(now_s, [&](const ChangeEvent& e) { in_steps.push_back(e.at_s); });
            EXPECT_GT(process.next_event_s(), now_s);
        }
        EXPECT_EQ(at_once, in_steps) << static_cast<int>(parameters.kind);
        EXPECT_GT(at_once.size(), 100U);
    }
}

TEST(ChangeProcess, SeedsGiveDifferentStreams) {
    for (const ChangeParameters& parameters : kAllKinds) {
        EXPECT_NE(ChangeProcess(parameters, 1).next_event_s(),
                  ChangeProcess(parameters, 2).next_event_s());
    }
}

TEST(ChangeProcess, ReportsWhatItConsumed) {
    ChangeProcess process(kPoisson, 3);
    const double first_s = process.next_event_s();
    const Consumed nothing = process.consume_until(first_s / 2.0);
    EXPECT_EQ(nothing.events, 0U);
    EXPECT_FALSE(nothing.changed);
    EXPECT_EQ(nothing.first_event_s, Consumed::kNone);
    const std::uint64_t digest = process.digest();
    const Consumed one = process.consume_until(first_s);  // up to and including
    EXPECT_EQ(one.events, 1U);
    EXPECT_TRUE(one.changed);
    EXPECT_EQ(one.first_event_s, first_s);
    EXPECT_NE(process.digest(), digest);
    EXPECT_FALSE(process.down());
}

TEST(ChangeProcess, BurstsAreOverdispersed) {
    // Counts per 300 s: a Poisson process has variance = mean, a bursty one far more.
    ChangeProcess process(kBursty, 4);
    double sum = 0.0;
    double squares = 0.0;
    constexpr int kWindows = 50'000;
    for (int i = 1; i <= kWindows; ++i) {
        const double n = process.consume_until(300.0 * i).events;
        sum += n;
        squares += n * n;
    }
    const double mean = sum / kWindows;
    EXPECT_GT((squares / kWindows - mean * mean) / mean, 4.0);
}

TEST(ChangeProcess, DayAndNightDifferAsTheSineSays) {
    double day = 0.0;
    double night = 0.0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        ChangeProcess process(kDiurnal, seed);
        for (int i = 0; i < 10; ++i) {
            day += process.consume_until((i + 0.5) * kDaySeconds).events;
            night += process.consume_until((i + 1.0) * kDaySeconds).events;
        }
    }
    // Half a period of 1 + 0.9 sin has the mean 1 +- 0.9 * 2 / pi.
    const double swing = kDiurnalSwing * 2.0 / std::numbers::pi;
    EXPECT_NEAR(day / night, (1.0 + swing) / (1.0 - swing), 0.1);
    EXPECT_NEAR(kDiurnal.diurnal_rate(kDaySeconds / 4.0), 0.019, 1e-12);
    EXPECT_NEAR(kDiurnal.diurnal_rate(kDaySeconds * 0.75), 0.001, 1e-12);
}

TEST(ChangeProcess, UpDownFlipsAtEachEvent) {
    ChangeProcess process(kUpDown, 5);
    double down_s = 0.0;
    double last_s = 0.0;
    bool down = process.down();
    const double end_s = 50.0 * kDaySeconds;
    process.consume_until(end_s, [&](const ChangeEvent& event) {
        EXPECT_EQ(event.went_down, !down);
        if (down) down_s += event.at_s - last_s;
        last_s = event.at_s;
        down = !down;
    });
    EXPECT_EQ(process.down(), down);
    EXPECT_NEAR(down_s / end_s, kUpDown.burst_share(), 0.01);
}

TEST(ChangeProcess, OutageBetweenTwoLooksIsInvisible) {
    ChangeProcess process(kUpDown, 6);
    process.consume_until(process.next_event_s());
    const bool down = process.down();
    const double first_s = process.next_event_s();
    ChangeProcess copy = process;
    copy.consume_until(first_s);
    const double second_s = copy.next_event_s();
    const Consumed both = process.consume_until(second_s);
    EXPECT_EQ(both.events, 2U);
    EXPECT_FALSE(both.changed);
    EXPECT_EQ(both.first_event_s, first_s);
    EXPECT_EQ(process.down(), down);
}

TEST(ChangeProcess, RateZeroNeverChanges) {
    ChangeProcess process(ChangeParameters{}, 1);
    EXPECT_EQ(process.consume_until(1e18).events, 0U);
    EXPECT_EQ(process.next_event_s(), Consumed::kNone);
}

}  // namespace
}  // namespace pollux::sim
