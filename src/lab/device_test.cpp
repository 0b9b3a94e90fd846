#include "lab/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "lab/interface_model.hpp"
#include "lab/mib_view.hpp"

namespace pollux::lab {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const Profile kCalm = find_profile("calm").value();
const Profile kDemo = find_profile("demo").value();
const Profile kStorm = find_profile("storm").value();

Device snmp(std::uint32_t number, std::uint64_t seed = 1, const Profile& profile = kCalm) {
    return {DeviceKind::kSnmp, number, 0x7F100001U + number, seed, profile};
}

// Everything a device shows at a moment, as text.
std::string shown(const Device& device, FleetTime now) {
    std::string text;
    auto instance = next_instance(device, model::Oid{{0, 0}}, MibOptions{});
    while (instance) {
        model::SnmpValue value;
        read_instance(device, *instance, now, value);
        text += std::to_string(value.integer) + "," + std::to_string(value.unsigned_value) + "," +
                value.bytes + ";";
        instance = next_instance(device, *instance, MibOptions{});
    }
    return text;
}

TEST(LabDevice, TheSameSeedGivesTheSameAnswersAtTheSameTime) {
    for (std::uint32_t number = 0; number < 20; ++number) {
        const FleetTime now = minutes(number * 7);
        EXPECT_EQ(shown(snmp(number, 5, kStorm), now), shown(snmp(number, 5, kStorm), now));
        EXPECT_NE(shown(snmp(number, 5, kStorm), now), shown(snmp(number, 6, kStorm), now));
        EXPECT_EQ(snmp(number, 5, kStorm).faults(now).kinds,
                  snmp(number, 5, kStorm).faults(now).kinds);
    }
}

TEST(LabDevice, CountersGrowAtTheirRateAndBeginAgainAtAReboot) {
    Device device = snmp(3);
    std::uint64_t last = device.counter(1, 1000, seconds(0));
    const std::uint64_t first = last;
    for (int i = 1; i <= 6000; ++i) {
        const std::uint64_t value = device.counter(1, 1000, milliseconds(i * 100));
        ASSERT_GE(value, last);
        last = value;
    }
    EXPECT_EQ(last - first, 600'000U) << "ten whole waves run at the rate exactly";
    EXPECT_EQ(device.counter(1, 1000, seconds(10)) & 0xFFFFFFFFU,
              device.counter32(1, 1000, seconds(10)));
    device.set_fault({.kind = FaultKind::kReboot}, minutes(20));
    EXPECT_EQ(device.counter(1, 1000, minutes(20)), 0U);
    EXPECT_EQ(device.uptime(minutes(21)), minutes(1));
    EXPECT_GT(device.counter(1, 1000, minutes(21)), 10'000U);
    EXPECT_GT(device.uptime(minutes(19)), hours(1)) << "the past stays as it was";
}

TEST(LabDevice, ACounterCanBeMadeToWrap) {
    Device device = snmp(4);
    device.set_fault({.kind = FaultKind::kCounterWrap}, seconds(100));
    const std::uint32_t before = device.counter32(1, 1000, seconds(101));
    EXPECT_GT(before, 0xFFFFFFFFU - 10'000U);
    EXPECT_LT(device.counter32(1, 1000, seconds(130)), 60'000U);
}

TEST(LabDevice, FaultsHoldUntilTheirEnd) {
    Device device = snmp(1);
    EXPECT_EQ(device.faults(seconds(1)).kinds, 0U);
    device.set_fault({.kind = FaultKind::kLoss, .until = seconds(10), .amount = 30}, seconds(1));
    device.set_fault({.kind = FaultKind::kLoss, .until = seconds(10), .amount = 50}, seconds(2));
    device.set_fault({.kind = FaultKind::kDown, .until = seconds(5)}, seconds(2));
    EXPECT_TRUE(device.faults(seconds(4)).has(FaultKind::kDown));
    EXPECT_FALSE(device.faults(seconds(5)).has(FaultKind::kDown));
    EXPECT_EQ(device.faults(seconds(9)).loss_percent, 50U);
    device.clear_faults();
    EXPECT_EQ(device.faults(seconds(9)).kinds, 0U);
}

TEST(LabDevice, PlannedFaultsComeAboutAsOftenAsPlanned) {
    Profile profile = kCalm;
    profile.faults = {
        {.kind = FaultKind::kDown, .share = 0.5, .every = minutes(10), .lasts = minutes(1)}};
    int down = 0;
    int devices_ever_down = 0;
    constexpr int kDevices = 200;
    constexpr int kMoments = 600;
    for (std::uint32_t number = 0; number < kDevices; ++number) {
        const Device device = snmp(number, 1, profile);
        int here = 0;
        for (int moment = 0; moment < kMoments; ++moment) {
            here += device.faults(seconds(moment * 10)).has(FaultKind::kDown) ? 1 : 0;
        }
        down += here;
        devices_ever_down += here > 0 ? 1 : 0;
    }
    EXPECT_NEAR(down / (1.0 * kDevices * kMoments), 0.5 * 0.1, 0.015);
    EXPECT_NEAR(devices_ever_down, kDevices / 2, 25);
}

TEST(LabDevice, InterfacesFlapAtTheRateOfTheirDevice) {
    Profile profile = kCalm;
    profile.slowest_change = profile.fastest_change = minutes(1);
    int changes = 0;
    constexpr int kDevices = 30;
    constexpr int kMinutes = 120;
    for (std::uint32_t number = 0; number < kDevices; ++number) {
        const Device device = snmp(number, 1, profile);
        for (std::uint32_t index = 1; index <= device.interfaces(); ++index) {
            OperStatus oper = interface_state(device, index, seconds(0)).oper;
            for (int second = 5; second <= kMinutes * 60; second += 5) {
                const InterfaceState state = interface_state(device, index, seconds(second));
                ASSERT_LE(state.changed_at, FleetTime(seconds(second)));
                if (state.oper != oper) ++changes;
                oper = state.oper;
            }
        }
    }
    EXPECT_NEAR(changes / (1.0 * kDevices * kMinutes), 1.0, 0.2) << "per device and minute";
}

TEST(LabDevice, ProfilesMixPersonalities) {
    std::map<Personality, int> seen;
    for (std::uint32_t number = 0; number < 2000; ++number) {
        ++seen[Device(DeviceKind::kHttp, number, 1, 1, kDemo).personality()];
    }
    EXPECT_EQ(seen.size(), kPersonalities) << "the demo shows every kind";
    EXPECT_GT(seen[Personality::kJson], 600);
    EXPECT_FALSE(find_profile("nonsense"));
    for (const std::string_view name : profile_names()) EXPECT_TRUE(find_profile(name));
    for (const std::string_view name : kPersonalityNames) {
        EXPECT_EQ(to_string(*parse_personality(name)), name);
    }
    for (const std::string_view name : kFaultNames) {
        EXPECT_EQ(to_string(*parse_fault_kind(name)), name);
    }
}

}  // namespace
}  // namespace pollux::lab
