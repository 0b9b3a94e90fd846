// Who gets the next start, and how fast starts may come: the promises with their figures.
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "schedule/core_test_support.hpp"

namespace pollux::schedule {
namespace {

using base::BootTime;
using model::Tier;
using namespace std::chrono_literals;

std::string key(const std::string& class_name, int i) {
    return class_name + "::" + std::to_string(i);
}

std::vector<model::TaskSpec> jobs(const std::string& class_name, int count,
                                  Tier tier = Tier::kNormal) {
    std::vector<model::TaskSpec> specs;
    for (int i = 0; i < count; ++i) {
        specs.push_back(job(key(class_name, i)));
        specs.back().tier = tier;
    }
    return specs;
}

CoreHarness one_slot(const std::vector<std::uint32_t>& weights) {
    auto settings = wide_settings({});
    for (std::size_t c = 0; c < weights.size(); ++c) {
        settings.classes.push_back(
            class_named(std::string(1, static_cast<char>('a' + c)), weights[c]));
    }
    settings.global_slots = 1;
    return CoreHarness(settings);
}

// 1000 of A are ready, then 10 of B: B is through within 22 starts.
TEST(CoreFairness, ASmallClassDoesNotWaitForALargeOne) {
    CoreHarness h = one_slot({1, 1});
    h.worker = [](const std::string&) { return WorkerReply{.after = 100ms}; };
    h.add(jobs("a", 1000));
    h.run_for(1s);
    const std::size_t before = h.starts.size();
    h.add(jobs("b", 10));
    h.run_for(10s);
    std::size_t last = 0;
    int count = 0;
    for (std::size_t i = before; i < h.starts.size(); ++i) {
        if (!h.starts[i].key.starts_with("b")) continue;
        last = i + 1 - before;
        ++count;
    }
    EXPECT_EQ(count, 10);
    EXPECT_LE(last, 22u) << "starts until the last of B";
}

// A device is closed by its rate: the first who waits sets the timer, the next stands in line. A
// run that ends long after the timer was due calls nobody past the first.
TEST(CoreFairness, WhoSetTheTimerOfADeviceIsNotPassedOver) {
    auto settings = wide_settings({"a"});
    settings.device_rate = 1;
    CoreHarness h(settings);
    h.add({poll_on("a::0", "d")});
    ASSERT_TRUE(h.runs("a::0"));
    h.add({poll_on("a::1", "d")});
    h.pass(100ms);
    h.add({poll_on("a::2", "d")});
    ASSERT_EQ(h.core().slot(h.handle("a::1")).place, Place::kDeviceRate);
    ASSERT_EQ(h.core().slot(h.handle("a::2")).place, Place::kDeviceQueue);
    h.pass(5s);
    h.finish("a::0");
    EXPECT_TRUE(h.runs("a::1"));
    EXPECT_FALSE(h.runs("a::2"));
}

TEST(CoreFairness, WeightsThreeToOne) {
    CoreHarness h = one_slot({3, 1});
    h.worker = [](const std::string&) { return WorkerReply{.after = 10ms}; };
    h.add(jobs("a", 1000));
    h.add(jobs("b", 1000));
    h.run_for(8s);
    std::map<char, int> starts;
    for (std::size_t i = 0; i < 400; ++i) ++starts[h.starts.at(i).key[0]];
    EXPECT_NEAR(starts['a'], 300, 4);
    EXPECT_NEAR(starts['b'], 100, 4);
}

TEST(CoreFairness, EqualSharesForFiveClassesWithManySlots) {
    auto settings = wide_settings({"a", "b", "c", "d", "e"});
    settings.global_slots = 16;
    settings.max_starts_per_step = 3;
    CoreHarness h(settings);
    h.worker = [](const std::string&) { return WorkerReply{.after = 200ms}; };
    for (const std::string one : {"a", "b", "c", "d", "e"}) {
        h.add(jobs(one, one == "a" ? 2000 : 200));
    }
    h.run_for(6s);
    std::map<char, int> starts;
    for (std::size_t i = 0; i < 450; ++i) ++starts[h.starts.at(i).key[0]];
    for (const char one : {'b', 'c', 'd', 'e'}) EXPECT_NEAR(starts[one], 90, 10) << one;
}

// Critical work comes without end, twice of what the slots can do.
TEST(CoreFairness, ALowTaskStartsWithinNinetySecondsOfContinuousCriticalLoad) {
    CoreHarness h = one_slot({1});
    h.worker = [](const std::string&) { return WorkerReply{.after = 1s}; };
    int next = 0;
    const auto critical = [&] {
        auto spec = job(key("a", next++));
        spec.tier = Tier::kCritical;
        return spec;
    };
    for (int i = 0; i < 5; ++i) h.add({critical()});
    auto low = job("a::low");
    low.tier = Tier::kLow;
    h.add({low});
    const BootTime ready = h.now();
    while (h.starts_of("a::low").empty() && h.now() < ready + 300s) {
        h.add({critical(), critical()});
        h.run_for(1s);
    }
    ASSERT_FALSE(h.starts_of("a::low").empty());
    const double waited = base::to_seconds(h.starts_of("a::low").front().at - ready);
    // Of the work that was there before it, five runs; then whoever runs when it has aged.
    EXPECT_LE(waited, 90 + 5 + 1);
    EXPECT_GE(waited, 60) << "but critical work did go first";
}

TEST(CoreFairness, ALowTaskOfAnotherClassAgesToo) {
    CoreHarness h = one_slot({1, 1});
    h.worker = [](const std::string&) { return WorkerReply{.after = 1s}; };
    int next = 0;
    auto low = job("b::low");
    low.tier = Tier::kLow;
    h.add(jobs("a", 3, Tier::kCritical));
    h.add({low});
    const BootTime ready = h.now();
    next = 3;
    while (h.starts_of("b::low").empty() && h.now() < ready + 300s) {
        auto spec = job(key("a", next++));
        spec.tier = Tier::kCritical;
        auto more = job(key("a", next++));
        more.tier = Tier::kCritical;
        h.add({spec, more});
        h.run_for(1s);
    }
    ASSERT_FALSE(h.starts_of("b::low").empty());
    EXPECT_LE(base::to_seconds(h.starts_of("b::low").front().at - ready), 90 + 3 + 1);
}

// --- the rate

// Whether any window of the starts holds more than rate * w + burst, by a bucket that drains.
bool keeps_to(const std::vector<CoreHarness::Start>& starts, double rate, double burst) {
    double level = 0;
    BootTime last = starts.empty() ? BootTime{} : starts.front().at;
    for (const auto& one : starts) {
        level = std::max(0.0, level - rate * base::to_seconds(one.at - last)) + 1;
        last = one.at;
        if (level > burst + 1e-3) return false;
    }
    return true;
}

class CoreRate : public testing::TestWithParam<std::uint32_t> {};

TEST_P(CoreRate, AHundredPerSecondInAnyWindow) {
    auto settings = wide_settings();
    settings.global_rate = 100;
    settings.global_slots = GetParam();
    CoreHarness h(settings);
    h.worker = [](const std::string&) { return WorkerReply{.after = 5ms}; };
    h.add(jobs("c", 1500));
    h.run_for(20s);
    ASSERT_EQ(h.starts.size(), 1500u) << "one slot and 5 ms a run are enough for 100 per second";
    EXPECT_TRUE(keeps_to(h.starts, 100, 50));
    // The same with all pairs, as it is said: any window w holds at most 100 w + 50.
    for (std::size_t i = 0; i < h.starts.size(); i += 7) {
        for (std::size_t j = i; j < h.starts.size(); ++j) {
            const double window = base::to_seconds(h.starts[j].at - h.starts[i].at);
            ASSERT_LE(static_cast<double>(j - i + 1), 100 * window + 50 + 1e-6)
                << "from start " << i << " to " << j;
        }
    }
    const double took = base::to_seconds(h.starts.back().at - h.starts.front().at);
    EXPECT_LE(took, 14.5 * 1.03) << "and the rate is used: 50 at once, 1450 at 100 per second";
    EXPECT_EQ(h.spins, 0u);
}

INSTANTIATE_TEST_SUITE_P(Slots, CoreRate, testing::Values(1U, 4U, 16U, 64U));

TEST(CoreFairness, TheRateHoldsAcrossIdleTimeAndBursts) {
    auto settings = wide_settings();
    settings.global_rate = 100;
    CoreHarness h(settings);
    h.worker = [](const std::string&) { return WorkerReply{.after = 20ms}; };
    int next = 0;
    for (int burst = 0; burst < 10; ++burst) {
        std::vector<model::TaskSpec> specs;
        for (int i = 0; i < 120; ++i) specs.push_back(job(key("c", next++)));
        h.add(specs);
        h.run_for(std::chrono::milliseconds(300 * (burst % 4 + 1)));
    }
    h.run_for(30s);
    EXPECT_EQ(h.starts.size(), 1200u);
    EXPECT_TRUE(keeps_to(h.starts, 100, 50));
}

// --- throughput

struct Throughput {
    std::uint32_t slots;
    double seconds;
};

class CoreThroughput : public testing::TestWithParam<Throughput> {};

// 2000 tasks of half a second: as fast as the slots allow.
TEST_P(CoreThroughput, SlotsAreNeverLeftIdle) {
    auto settings = wide_settings();
    settings.global_slots = GetParam().slots;
    CoreHarness h(settings);
    h.worker = [](const std::string&) { return WorkerReply{.after = 500ms}; };
    const BootTime start = h.now();
    h.add(jobs("c", 2000));
    while (h.core().stats().finished < 2000 && h.now() < start + 300s) h.run_for(250ms);
    ASSERT_EQ(h.core().stats().finished, 2000u);
    const double took = base::to_seconds(h.starts.back().at + 500ms - start);
    EXPECT_NEAR(took, GetParam().seconds, GetParam().seconds * 0.03);
    EXPECT_EQ(h.core().admission().global_pool().used, 0);
}

INSTANTIATE_TEST_SUITE_P(Slots, CoreThroughput,
                         testing::Values(Throughput{4, 250}, Throughput{8, 125},
                                         Throughput{16, 62.5}, Throughput{32, 31.25}));

TEST(CoreFairness, NeverMoreRunsThanSlots) {
    auto settings = wide_settings();
    settings.global_slots = 7;
    CoreHarness h(settings);
    std::size_t most = 0;
    h.worker = [&](const std::string&) {
        most = std::max(most, h.core().in_flight());
        return WorkerReply{.after = 300ms};
    };
    auto specs = jobs("c", 200);
    for (std::size_t i = 0; i < specs.size(); i += 3) specs[i].slots = 3;
    h.add(specs);
    while (h.core().in_flight() > 0) {
        ASSERT_LE(h.core().admission().global_pool().used, 7);
        h.run_for(50ms);
    }
    EXPECT_EQ(h.starts.size(), 200u);
    EXPECT_LE(most, 7u);
}

}  // namespace
}  // namespace pollux::schedule
