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
        table_.configure(settings_);
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
        ASSERT_TRUE(table_.set_limits(device_, {.name = "switch-1", .rate = rate}));
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
    ASSERT_TRUE(table_.set_limits(device_, {.name = "switch-1", .slots = 9}));
    EXPECT_EQ(table_.limits(device_).slots, 9u);
    EXPECT_EQ(table_.limits(device_).slots_per_class, 1u);
    EXPECT_EQ(table_.limits(device_).gap_ns, 100'000'000);

    settings_.device_slots = 6;
    settings_.device_class_slots = 3;
    settings_.device_rate = 2;
    table_.configure(settings_);
    EXPECT_EQ(table_.limits(device_).slots, 9u) << "its own stays";
    EXPECT_EQ(table_.limits(device_).slots_per_class, 3u) << "the default follows the settings";
    EXPECT_EQ(table_.limits(device_).gap_ns, 500'000'000);

    ASSERT_TRUE(table_.set_limits(device_, {.name = "switch-1"}));
    EXPECT_EQ(table_.limits(device_).slots, 6u) << "zeros mean the default";
    const std::uint32_t other = table_.find_or_add("switch-2");
    ASSERT_TRUE(
        table_.set_limits(other, {.name = "x", .rate = 1, .slots = 2, .slots_per_class = 2}));
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

TEST_F(DeviceTableTest, QueuesExistOnlyWhileSomebodyWaits) {
    EXPECT_FALSE(table_.has_waiters(device_));
    table_.drop_empty_queue(device_);
    table_.queue(device_).push({1, at(1), 7});
    EXPECT_TRUE(table_.has_waiters(device_));
    table_.drop_empty_queue(device_);
    EXPECT_TRUE(table_.has_waiters(device_)) << "it was not empty";
    EXPECT_EQ(table_.queue(device_).pop().task, 7u);
    EXPECT_FALSE(table_.has_waiters(device_));
    table_.drop_empty_queue(device_);
    EXPECT_EQ(table_[device_].queue, model::kNoIndex);
}

}  // namespace
}  // namespace pollux::schedule
