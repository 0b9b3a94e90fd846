#include "lab/mib_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/test_random.hpp"

namespace pollux::lab {
namespace {

model::Oid name_of(MibInstance instance) {
    if (instance.wired != nullptr) return instance.wired->name;
    model::Oid oid{instance.node->prefix};
    oid.arcs.push_back(instance.index);
    return oid;
}

class MibViewTest : public testing::Test {
  protected:
    std::vector<model::Oid> all(MibOptions options) const {
        std::vector<model::Oid> names;
        for (const MibNode& node : mib_nodes()) {
            if (options.version1 && node.counter64) continue;
            const std::uint32_t first = node.is_column() ? 1 : 0;
            const std::uint32_t last = node.is_column() ? device.interfaces() : 0;
            for (std::uint32_t i = first; i <= last; ++i) names.push_back(name_of({&node, i}));
        }
        return names;
    }
    Profile profile = find_profile("calm").value();
    Device device{DeviceKind::kSnmp, 7, 0x7F100008U, 1, profile};
};

TEST_F(MibViewTest, WalksEveryNameInOrder) {
    for (const bool version1 : {false, true}) {
        const MibOptions options{.version1 = version1};
        const auto expected = all(options);
        ASSERT_TRUE(std::is_sorted(expected.begin(), expected.end()));
        std::vector<model::Oid> walked;
        model::Oid at{{0, 0}};
        while (const auto next = next_instance(device, at, options)) {
            at = name_of(*next);
            walked.push_back(at);
            ASSERT_LE(walked.size(), expected.size());
        }
        EXPECT_EQ(walked, expected);
    }
}

// Against the plain answer: the first of all names that is greater.
TEST_F(MibViewTest, FindsWhatFollowsAnyName) {
    base::TestRandom random(1);
    for (int round = 0; round < 20'000; ++round) {
        const MibOptions options{.version1 = random.one_in(2)};
        const auto names = all(options);
        model::Oid oid = names[random.below(names.size())];
        const std::size_t keep = 2 + random.below(oid.arcs.size() - 1);
        oid.arcs.resize(keep);
        if (random.one_in(2)) oid.arcs.back() += static_cast<std::uint32_t>(random.below(4));
        while (random.one_in(2)) oid.arcs.push_back(static_cast<std::uint32_t>(random.below(30)));
        const auto expected = std::upper_bound(names.begin(), names.end(), oid);
        const auto next = next_instance(device, oid, options);
        ASSERT_EQ(next.has_value(), expected != names.end()) << model::to_string(oid);
        if (next) {
            ASSERT_EQ(name_of(*next), *expected) << model::to_string(oid);
        }
        const bool there = std::binary_search(names.begin(), names.end(), oid);
        ASSERT_EQ(find_instance(device, oid, options).has_value(), there) << model::to_string(oid);
    }
}

TEST_F(MibViewTest, StepsLikeByName) {
    auto instance = next_instance(device, model::Oid{{1, 3}}, MibOptions{});
    while (instance) {
        const auto by_name = next_instance(device, name_of(*instance), MibOptions{});
        const auto by_step = next_instance(device, *instance, MibOptions{});
        ASSERT_EQ(by_name.has_value(), by_step.has_value());
        if (by_name) {
            ASSERT_EQ(name_of(*by_name), name_of(*by_step));
        }
        instance = by_step;
    }
}

// The wiring stands between the tables, in one order with them.
TEST_F(MibViewTest, ShowsHowDevicesAreWired) {
    const Fleet fleet(60, 12, 1, find_profile("calm").value());
    Wiring wiring(fleet);
    const MibOptions options{.wiring = &wiring};
    for (const std::uint32_t number : {0U, 1U, 49U, 50U, 51U}) {
        const Device& one = fleet.snmp()[number];
        std::vector<model::Oid> walked;
        std::size_t wired = 0;
        for (auto at = next_instance(one, model::Oid{{0, 0}}, options); at;) {
            walked.push_back(name_of(*at));
            if (at->wired != nullptr) ++wired;
            const auto found = find_instance(one, walked.back(), options);
            ASSERT_TRUE(found) << model::to_string(walked.back());
            ASSERT_EQ(name_of(*found), walked.back());
            const auto by_name = next_instance(one, walked.back(), options);
            at = next_instance(one, *at, options);
            ASSERT_EQ(by_name.has_value(), at.has_value());
            if (at) {
                ASSERT_EQ(name_of(*by_name), name_of(*at));
            }
        }
        EXPECT_TRUE(std::is_sorted(walked.begin(), walked.end())) << number;
        EXPECT_EQ(wired, wiring.rows(one).size()) << number;
        EXPECT_GT(wired, 5U) << number;
    }
    EXPECT_TRUE(wiring.rows(fleet.http()[0]).empty());
}

TEST_F(MibViewTest, AWireHasTwoEnds) {
    const Fleet fleet(60, 12, 1, find_profile("calm").value());
    Wiring wiring(fleet);
    std::set<std::pair<std::string, std::string>> named;  // who names whom by LLDP
    const model::Oid lldp_name{{1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 9}};
    for (const Device& one : fleet.snmp()) {
        for (const WiredRow& row : wiring.rows(one)) {
            if (row.name.starts_with(lldp_name)) named.emplace(one.name(), row.value.bytes);
        }
    }
    EXPECT_EQ(named.size(), 2U * 58U) << "of 60 switches two are cores";
    for (const auto& [one, other] : named) EXPECT_TRUE(named.contains({other, one})) << one;
}

}  // namespace
}  // namespace pollux::lab
