#include "engine/device_health.hpp"

#include <gtest/gtest.h>

namespace pollux::engine {
namespace {

TEST(DeviceHealth, IsDownWhenAllItsTasksAre) {
    DeviceHealth health;
    EXPECT_FALSE(health.add(1, "a"));
    EXPECT_FALSE(health.add(2, "a"));
    EXPECT_FALSE(health.report(1, false));
    EXPECT_TRUE(health.healthy("a"));
    const auto down = health.report(2, false);
    ASSERT_TRUE(down);
    EXPECT_EQ(down->device, "a");
    EXPECT_FALSE(down->healthy);
    EXPECT_FALSE(health.healthy("a"));
    EXPECT_FALSE(health.report(2, false)) << "told once";
    const auto up = health.report(1, true);
    ASSERT_TRUE(up);
    EXPECT_TRUE(up->healthy);
}

TEST(DeviceHealth, ATaskThatGoesOrComesCounts) {
    DeviceHealth health;
    health.add(1, "a");
    health.add(2, "a");
    health.report(1, false);
    EXPECT_FALSE(health.remove(2)->healthy) << "what is left is down";
    EXPECT_TRUE(health.add(3, "a")->healthy) << "a new one counts as up until it fails";
    EXPECT_FALSE(health.remove(3)->healthy);
    EXPECT_TRUE(health.remove(1)->healthy) << "a device without tasks is nobody's fault";
    EXPECT_FALSE(health.remove(1));
    EXPECT_FALSE(health.remove(99));
}

TEST(DeviceHealth, ATaskCanMoveAndStartDown) {
    DeviceHealth health;
    EXPECT_FALSE(health.add(1, "a", false)->healthy);
    EXPECT_FALSE(health.healthy("a"));
    EXPECT_TRUE(health.healthy("b"));
    const auto moved = health.add(1, "b");
    ASSERT_TRUE(moved);
    EXPECT_TRUE(health.healthy("a"));
    EXPECT_TRUE(health.healthy("b"));
    EXPECT_FALSE(health.add(1, "b", false)->healthy) << "the same device: only its state changes";
    EXPECT_FALSE(health.add(7, ""));
    EXPECT_FALSE(health.report(7, false));
}

}  // namespace
}  // namespace pollux::engine
