#include "store/audit/refusal_counter.hpp"

#include <gtest/gtest.h>

#include "base/test_random.hpp"

namespace pollux::store {
namespace {

using namespace std::chrono_literals;

constexpr base::WallTime kStart{1'790'000'000'000'000};

TEST(RefusalCounter, ManyOfOneKindAreOneEntryPerMinute) {
    RefusalCounter counter;
    EXPECT_TRUE(counter.drain(kStart).empty());
    for (int i = 0; i < 1000; ++i) {
        counter.count(kStart + i * 1ms, "login", "192.0.2." + std::to_string(i % 250), "no token");
    }
    EXPECT_TRUE(counter.drain(kStart + 59s).empty());
    const auto entries = counter.drain(kStart + 60s);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].principal, "anonymous");
    EXPECT_EQ(entries[0].action, "login");
    EXPECT_EQ(entries[0].address, "192.0.2.0/24");
    EXPECT_EQ(entries[0].result, model::AuditResult::kRefused);
    EXPECT_EQ(entries[0].after, R"({"count":1000})");
    EXPECT_EQ(entries[0].reason, "no token");
    EXPECT_TRUE(counter.drain(kStart + 120s).empty());
}

TEST(RefusalCounter, HoweverManyAddressesTryTheEntriesAreBounded) {
    RefusalCounter counter;
    base::TestRandom random(3);
    std::size_t counted = 0;
    for (int i = 0; i < 100'000; ++i) {
        counter.count(
            kStart, "route" + std::to_string(random.below(50)),
            std::to_string(random.below(256)) + "." + std::to_string(random.below(256)) + ".0.1",
            "");
    }
    const auto entries = counter.drain(kStart + 1min);
    ASSERT_EQ(entries.size(), 21u);
    EXPECT_EQ(entries.back().address, "*");
    for (const auto& entry : entries) {
        counted += std::stoul(entry.after.substr(std::string(R"({"count":)").size()));
    }
    EXPECT_EQ(counted, 100'000u) << "none is forgotten";
}

TEST(RefusalCounter, WhatIsLeftAtTheStopIsTold) {
    RefusalCounter counter;
    counter.count(kStart, "login", "::1", "wrong password");
    EXPECT_EQ(counter.due(), kStart + 1min);
    EXPECT_EQ(counter.drain(kStart, true).size(), 1u);
    EXPECT_EQ(counter.due(), base::WallTime{INT64_MAX});
}

TEST(RefusalCounter, AClockThatWasSetBackKeepsNothingForEver) {
    RefusalCounter counter;
    counter.count(kStart, "login", "::1", "");
    EXPECT_EQ(counter.drain(kStart - 1h).size(), 1u);
}

TEST(RefusalCounter, GroupsAddressesByNetwork) {
    EXPECT_EQ(address_group("192.0.2.77"), "192.0.2.0/24");
    EXPECT_EQ(address_group("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(address_group(""), "");
    EXPECT_EQ(address_group("unix"), "unix");
    EXPECT_LE(address_group(std::string(10'000, 'x')).size(), 64u);
}

}  // namespace
}  // namespace pollux::store
