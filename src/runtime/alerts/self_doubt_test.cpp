#include "runtime/alerts/self_doubt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/alerts/default_route.hpp"

namespace pollux::runtime {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr base::BootTime kNow{3'600'000'000'000};

// A life in which everything has been looked at and is well.
SelfDoubt settled(bool impaired = false) {
    SelfDoubt doubt(impaired);
    doubt.see_loops("");
    doubt.see_route(kNow, true, true);
    doubt.see_names({.all = 10, .failing = 0, .failing_lately = 0});
    return doubt;
}

TEST(SelfDoubt, SaysThatAllIsWellOnceEverythingWasLookedAt) {
    SelfDoubt doubt;
    doubt.see_loops("");
    EXPECT_FALSE(doubt.take());
    doubt.see_route(kNow, true, true);
    EXPECT_FALSE(doubt.take());
    doubt.see_names({.all = 10, .failing = 0, .failing_lately = 0});
    const auto said = doubt.take();
    ASSERT_TRUE(said);
    EXPECT_FALSE(said->bad);
    EXPECT_FALSE(doubt.take()) << "once";
}

TEST(SelfDoubt, WhatIsBadIsToldAtOnceAndItsEndToo) {
    SelfDoubt doubt;
    doubt.see_loops("an I/O thread has not answered for 5 s");
    auto said = doubt.take();
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->bad);
    EXPECT_EQ(said->why, "an I/O thread has not answered for 5 s");
    doubt.see_loops("");
    EXPECT_FALSE(doubt.take()) << "the rest has not been looked at";
    doubt.see_route(kNow, true, true);
    doubt.see_names({});
    said = doubt.take();
    ASSERT_TRUE(said);
    EXPECT_FALSE(said->bad);
}

TEST(SelfDoubt, ARouteThatIsGoneForSecondsIsOurTrouble) {
    SelfDoubt doubt = settled();
    doubt.take();
    doubt.see_route(kNow + 1s, true, false);
    EXPECT_FALSE(doubt.take());
    doubt.see_route(kNow + 2s, true, true);  // a new lease of its address
    doubt.see_route(kNow + 3s, true, false);
    doubt.see_route(kNow + 7s, true, false);
    EXPECT_FALSE(doubt.take());
    doubt.see_route(kNow + 8s, true, false);
    auto said = doubt.take();
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->bad);
    EXPECT_THAT(said->why, HasSubstr("default route"));
    doubt.see_route(kNow + 20s, true, true);
    EXPECT_FALSE(doubt.take());
    doubt.see_route(kNow + 25s, true, true);
    said = doubt.take();
    ASSERT_TRUE(said);
    EXPECT_FALSE(said->bad);
}

TEST(SelfDoubt, ARouteThatNeverWasOrThatNobodyNeedsIsNotMissed) {
    SelfDoubt closed;
    closed.see_loops("");
    closed.see_names({});
    closed.see_route(kNow, true, false);
    EXPECT_FALSE(closed.take()->bad);
    closed.see_route(kNow + 1min, true, false);
    EXPECT_FALSE(closed.take());
    SelfDoubt local = settled();
    local.take();
    local.see_route(kNow + 1s, false, false);
    local.see_route(kNow + 1min, false, false);
    EXPECT_FALSE(local.take());
}

TEST(SelfDoubt, AfterARestartTheTroubleGoesOnUntilItIsOver) {
    SelfDoubt doubt(true);
    doubt.see_route(kNow, true, false);
    doubt.see_loops("");
    doubt.see_names({});
    const auto said = doubt.take();
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->bad);
    SelfDoubt names(true);
    names.see_loops("");
    names.see_route(kNow, true, true);
    names.see_names({.all = 10, .failing = 9, .failing_lately = 0});
    EXPECT_TRUE(names.take()->bad);
    EXPECT_FALSE(settled(true).take()->bad);
}

TEST(SelfDoubt, NamesThatFailTogetherAreOurTroubleAndNamesThatAreGoneAreNot) {
    SelfDoubt doubt = settled();
    doubt.take();
    doubt.see_names({.all = 10, .failing = 8, .failing_lately = 2});
    EXPECT_FALSE(doubt.take()) << "gone one after the other";
    doubt.see_names({.all = 10, .failing = 5, .failing_lately = 5});
    const auto said = doubt.take();
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->bad);
    EXPECT_THAT(said->why, HasSubstr("5 of 10 names"));
    doubt.see_names({.all = 10, .failing = 3, .failing_lately = 0});
    EXPECT_FALSE(doubt.take()) << "still a quarter";
    doubt.see_names({.all = 10, .failing = 2, .failing_lately = 2});
    EXPECT_FALSE(doubt.take()->bad);
    doubt.see_names({.all = 2, .failing = 2, .failing_lately = 2});
    EXPECT_FALSE(doubt.take()) << "two names say little";
}

TEST(DefaultRoute, IsReadFromTheTablesOfTheKernel) {
    constexpr std::string_view kHead =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
    const std::string near =
        std::string(kHead) + "eth0\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";
    const std::string far = near + "eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n";
    const std::string half = near + "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n";
    const std::string zero(32, '0');
    const std::string refused6 =
        zero + " 00 " + zero + " 00 " + zero + " ffffffff 00000001 00000000 00200200       lo\n";
    const std::string far6 = zero + " 00 " + zero +
                             " 00 fe800000000000000000000000000001 00000400 "
                             "00000001 00000000 00450003     eth0\n";
    const auto carrier = [](std::string_view) { return true; };
    EXPECT_FALSE(has_default_route("", "", carrier));
    EXPECT_FALSE(has_default_route(near, refused6, carrier));
    EXPECT_FALSE(has_default_route(half, "", carrier)) << "half of the world";
    EXPECT_TRUE(has_default_route(far, "", carrier));
    EXPECT_TRUE(has_default_route(near, refused6 + far6, carrier));
    EXPECT_FALSE(has_default_route(far, far6, [](std::string_view interface) {
        EXPECT_EQ(interface, "eth0");
        return false;
    }));
    EXPECT_FALSE(has_default_route("eth0\nx y z\n\t\n", "0 0\n", carrier));
    const auto texts = [](const std::vector<net::IpAddress>& hops) {
        std::vector<std::string> all;
        for (const net::IpAddress& hop : hops) all.push_back(hop.to_string());
        return all;
    };
    EXPECT_THAT(texts(default_gateways(far + far, refused6 + far6)),
                testing::ElementsAre("192.168.2.1", "fe80::1"));
    EXPECT_THAT(texts(default_gateways(near, refused6)), testing::IsEmpty());
    EXPECT_THAT(texts(default_gateways("e 00000000 xyz 0003 0 0 0 00000000\n", "")),
                testing::IsEmpty());
}

}  // namespace
}  // namespace pollux::runtime
