// What the protocols of commands and checks change for tasks: time limits and slots of devices.
#include <gtest/gtest.h>

#include "config/config_test_support.hpp"

namespace pollux::config {
namespace {

using namespace std::chrono_literals;
using enum model::ProtocolKind;

Expansion expanded(const std::string& text, const std::vector<model::Addon>& addons) {
    AddonLookup lookup;
    for (const model::Addon& addon : addons) lookup[addon.name] = &addon;
    testing::Read read = testing::read(text);
    document::Diagnostics diagnostics;
    return expand(read.loaded.fleet, read.loaded.places, lookup,
                  testing::settings({{"POLLUX_COMMAND_TIMEOUT", "44s"}}), {}, diagnostics);
}

TEST(CheckProtocols, HaveTimeLimitsOfTheirOwn) {
    const Expansion all = expanded(
        "devices: {d: {addons: [a, b, c]}}\n",
        {testing::addon("a", kSsh), testing::addon("b", kIcmp), testing::addon("c", kHttp)});
    ASSERT_EQ(all.targets.size(), 3U);
    EXPECT_EQ(all.targets[0].timeout, base::Duration(44s));
    EXPECT_EQ(all.targets[1].timeout, base::Duration(10s));
    EXPECT_EQ(all.targets[2].timeout, base::Duration(30s));
}

TEST(CheckProtocols, LeavePingsOutOfTheSlotsOfADevice) {
    const std::vector<model::Addon> addons = {testing::addon("a", kIcmp),
                                              testing::addon("b", kTcp)};
    const Expansion usual = expanded("devices: {d: {addons: [a, b]}}\n", addons);
    ASSERT_EQ(usual.classes.size(), 2U);
    EXPECT_TRUE(usual.classes[0].host_slots_exempt);
    EXPECT_FALSE(usual.classes[1].host_slots_exempt);
    const Expansion told = expanded(
        "devices: {d: {addons: [a, b]}}\nclasses: {a: {host_slots_exempt: false}}\n", addons);
    EXPECT_FALSE(told.classes[0].host_slots_exempt);
}

}  // namespace
}  // namespace pollux::config
