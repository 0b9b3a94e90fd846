#include "schedule/device_table.hpp"

#include <gtest/gtest.h>

namespace pollux::schedule {
namespace {

using base::BootTime;
using namespace std::chrono_literals;

BootTime at(double second) { return BootTime{} + base::from_seconds(second); }

class DeviceTableTest : public testing::Test {
  protected:
    DeviceTableTest() {
        settings_.device_rate = 10;
        settings_.device_slots = 4;
        settings_.device_class_slots = 1;
        table_.configure(at(0), settings_);
        device_ = table_.find_or_add("switch-1");
    }
    // Starts as often as the rate lets, until `end`.
    std::vector<BootTime> greedy(BootTime from, BootTime end) {
        std::vector<BootTime> taken;
        for (BootTime now = from; now <= end;) {
            if (table_.rate_open(device_, now)) {
                table_.take_rate(device_, now);
                taken.push_back(now);
            } else {
                now = table_.rate_opens_at(device_);
            }
        }
        return taken;
    }
    model::CoreSettings settings_;
    DeviceTable table_;
    std::uint32_t device_ = 0;
};

TEST_F(DeviceTableTest, FindsByName) {
    EXPECT_EQ(table_.find("switch-1"), device_);
    EXPECT_EQ(table_.find("switch-2"), base::FlatIndex::kNone);
    EXPECT_EQ(table_.find_or_add("switch-1"), device_);
    const std::uint32_t other = table_.find_or_add("switch-2");
    EXPECT_NE(other, device_);
    EXPECT_EQ(table_.name(other), "switch-2");
    EXPECT_EQ(table_.size(), 2u);
    EXPECT_GT(table_.memory_bytes(), 2 * sizeof(Device));
}

TEST_F(DeviceTableTest, ANewDeviceHasTheDefaultsAndIsOpen) {
    EXPECT_EQ(table_.limits(device_).slots, 4u);
    EXPECT_EQ(table_.limits(device_).slots_per_class, 1u);
    EXPECT_EQ(table_.limits(device_).gap_ns, 100'000'000);
    EXPECT_TRUE(table_.rate_open(device_, BootTime{}));
    EXPECT_EQ(table_[device_].running, 0u);
}

// burst = max(1, 0.5 s * rate): 10 per second give 5 at once.
TEST_F(DeviceTableTest, ABurstThenTheSteadyRate) {
    const auto taken = greedy(at(1), at(11));
    ASSERT_GE(taken.size(), 6u);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)], at(1)) << i;
    EXPECT_EQ(taken[5], at(1.1));
    EXPECT_EQ(taken.size(), 105u) << "10 per second for 10 s, and the burst";
}

TEST_F(DeviceTableTest, AnyWindowHoldsAtMostRateTimesWindowPlusBurst) {
    for (const double rate : {0.3, 1.0, 3.0, 7.0, 10.0}) {
        ASSERT_TRUE(table_.set_limits(at(0), device_, {.name = "switch-1", .rate = rate}));
        table_[device_].next_slot = BootTime::min();
        const auto taken = greedy(at(1), at(60));
        const double burst = std::max(1.0, 0.5 * rate);
        for (std::size_t i = 0; i < taken.size(); ++i) {
            for (std::size_t j = i; j < taken.size(); ++j) {
                const double window = base::to_seconds(taken[j] - taken[i]);
                ASSERT_LE(static_cast<double>(j - i + 1), rate * window + burst + 1e-6)
                    << "rate " << rate << " from start " << i << " to " << j;
            }
        }
        EXPECT_GE(static_cast<double>(taken.size()), rate * 59 - 1) << "the rate can be used";
    }
}

TEST_F(DeviceTableTest, OwnLimitsReplaceTheDefaultsFieldByField) {
    ASSERT_TRUE(table_.set_limits(at(0), device_, {.name = "switch-1", .slots = 9}));
    EXPECT_EQ(table_.limits(device_).slots, 9u);
    EXPECT_EQ(table_.limits(device_).slots_per_class, 1u);
    EXPECT_EQ(table_.limits(device_).gap_ns, 100'000'000);

    settings_.device_slots = 6;
    settings_.device_class_slots = 3;
    settings_.device_rate = 2;
    table_.configure(at(0), settings_);
    EXPECT_EQ(table_.limits(device_).slots, 9u) << "its own stays";
    EXPECT_EQ(table_.limits(device_).slots_per_class, 3u) << "the default follows the settings";
    EXPECT_EQ(table_.limits(device_).gap_ns, 500'000'000);

    ASSERT_TRUE(table_.set_limits(at(0), device_, {.name = "switch-1"}));
    EXPECT_EQ(table_.limits(device_).slots, 6u) << "zeros mean the default";
    const std::uint32_t other = table_.find_or_add("switch-2");
    ASSERT_TRUE(table_.set_limits(at(0), other,
                                  {.name = "x", .rate = 1, .slots = 2, .slots_per_class = 2}));
    EXPECT_EQ(table_.limits(other).gap_ns, 1'000'000'000);
    EXPECT_EQ(table_.limits(other).tolerance_ns, 0) << "below 2 per second there is no burst";
}

TEST_F(DeviceTableTest, CloseUntilKeepsEverybodyOut) {
    table_.close_until(device_, at(100));
    EXPECT_FALSE(table_.rate_open(device_, at(99.999)));
    EXPECT_TRUE(table_.rate_open(device_, at(100)));
    EXPECT_EQ(table_.rate_opens_at(device_), at(100));
    table_.close_until(device_, at(50));
    EXPECT_EQ(table_.rate_opens_at(device_), at(100)) << "the later time wins";
}

TEST_F(DeviceTableTest, AFasterRateShortensTheWaitOfTheSlowerOne) {
    ASSERT_TRUE(table_.set_limits(at(0), device_, {.name = "switch-1", .rate = 0.001}));
    table_.take_rate(device_, at(0));
    EXPECT_NEAR(base::to_seconds(table_.rate_opens_at(device_) - at(0)), 1000, 1e-6);
    ASSERT_TRUE(table_.set_limits(at(500), device_, {.name = "switch-1", .rate = 1}));
    EXPECT_NEAR(base::to_seconds(table_.rate_opens_at(device_) - at(500)), 0.5, 1e-6);
}

TEST_F(DeviceTableTest, AFasterRateDoesNotOverruleADeviceThatAskedUsToWait) {
    table_.close_until(device_, at(100));
    ASSERT_TRUE(table_.set_limits(at(0), device_, {.name = "switch-1", .rate = 1}));
    EXPECT_GE(table_.rate_opens_at(device_), at(100));
    settings_.device_rate = 1000;
    table_.configure(at(0), settings_);
    EXPECT_GE(table_.rate_opens_at(device_), at(100));
}

TEST_F(DeviceTableTest, LinesExistOnlyWhileSomebodyWaits) {
    const auto live = [](const Waiter&) { return true; };
    EXPECT_FALSE(table_.has_line(device_));
    table_.drop_empty_line(device_);
    WaitLine& line = table_.line(device_).waiters;
    line.push(line.group(0, 0), {1, 7, 1}, live);
    table_.drop_empty_line(device_);
    ASSERT_TRUE(table_.has_line(device_)) << "it was not empty";
    EXPECT_EQ(line.first(line.group(0, 0), live).task, 7u);
    line.take_first(line.group(0, 0));
    table_.line(device_).on_wheel = 7;
    table_.drop_empty_line(device_);
    ASSERT_TRUE(table_.has_line(device_)) << "somebody waits for its rate";
    table_.line(device_).on_wheel = model::kNoIndex;
    table_.drop_empty_line(device_);
    EXPECT_FALSE(table_.has_line(device_));
}

}  // namespace
}  // namespace pollux::schedule
