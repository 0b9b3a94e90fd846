// The table of engines and the rule by which their clocks move.
#include "protocol/snmp/engines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/snmp/codec_test_support.hpp"

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;

const base::BootTime kNow{1'000'000'000'000};
const base::WallTime kWall{1'700'000'000'000'000};
const std::vector<std::uint8_t> kEngine = from_hex("80 00 1f 88 04 61 62 63");

Endpoint device(std::uint16_t port, const std::string& host = "192.0.2.1") {
    return *parse_literal(host, port);
}

// RFC 3414 3.2.7 b.
TEST(EngineClock, MovesForwardOnlyAndHasAWindow) {
    EngineClock clock(5, 1000, kNow);
    EXPECT_EQ(clock.time(kNow + 10s), 1010U);
    EXPECT_TRUE(clock.accept(5, 1010, kNow + 10s));
    EXPECT_TRUE(clock.accept(5, 900, kNow + 10s)) << "late, but within the window";
    EXPECT_EQ(clock.time(kNow + 10s), 1010U) << "and not moved back by it";
    EXPECT_TRUE(clock.accept(5, 860, kNow + 10s));
    EXPECT_FALSE(clock.accept(5, 859, kNow + 10s));
    EXPECT_FALSE(clock.accept(4, 5000, kNow + 10s)) << "an earlier start";
    EXPECT_TRUE(clock.accept(6, 1, kNow + 10s));
    EXPECT_EQ(clock.boots(), 6U);
    EXPECT_EQ(clock.time(kNow + 15s), 6U);
    EXPECT_FALSE(clock.accept(kMaxBoots, 1, kNow + 15s)) << "an engine at its end";
}

TEST(EngineClock, TimeStopsAtItsLargestValue) {
    EXPECT_EQ(EngineClock(1, kMaxBoots - 5, kNow).time(kNow + 1h), kMaxBoots);
    EXPECT_EQ(EngineClock(1, 100, kNow).time(kNow - 1h), 100U);
}

TEST(Engines, AClockNobodyProvedIsReplacedByTheFirstProof) {
    Engines engines(10, {.k0 = 1, .k1 = 2});
    engines.learn(device(161), kEngine, 900, 5000, kNow);
    Engine* engine = engines.find(device(161));
    ASSERT_NE(engine, nullptr);
    EXPECT_TRUE(engine->accept(3, 7, kNow));
    EXPECT_EQ(engine->clock.boots(), 3U);
    EXPECT_FALSE(engine->accept(2, 7, kNow));
    EXPECT_EQ(engines.find(device(162)), nullptr);
}

TEST(Engines, IsBoundedAndForgets) {
    Engines engines(4, {.k0 = 1, .k1 = 2});
    for (std::uint16_t port = 1; port <= 100; ++port) {
        engines.learn(device(port), kEngine, port, 1, kNow);
        if (port % 3 == 0) engines.forget(device(port));
        EXPECT_LE(engines.size(), 4U);
    }
    EXPECT_NE(engines.find(device(100)), nullptr);
    EXPECT_EQ(engines.find(device(1)), nullptr);
    engines.forget(device(1));
    engines.learn(device(100), from_hex("80 00 00 00 05 01"), 1, 1, kNow);
    EXPECT_EQ(engines.find(device(100))->id_size, 6U);
}

TEST(Engines, WhatIsKeptComesBackWithItsClocks) {
    Engines before(100, {.k0 = 1, .k1 = 2});
    before.learn(device(161), kEngine, 7, 1000, kNow);
    before.learn(device(1161, "2001:db8::7"), from_hex("80 00 00 00 05 01"), 9, 50, kNow);
    base::ByteWriter writer;
    before.encode(writer, kNow + 10s, kWall);
    Engines after(100, {.k0 = 3, .k1 = 4});
    base::ByteReader reader(writer.view());
    // The process was away for a minute, and the machine was started anew.
    const base::BootTime later{5'000'000'000};
    ASSERT_TRUE(after.decode(reader, later, kWall + 60s).has_value());
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(after.size(), 2U);
    const Engine* first = after.find(device(161));
    ASSERT_NE(first, nullptr);
    EXPECT_TRUE(std::ranges::equal(first->engine_id(), kEngine));
    EXPECT_EQ(first->clock.boots(), 7U);
    EXPECT_EQ(first->clock.time(later), 1070U);
    EXPECT_FALSE(first->synced) << "a hint, until something proves it";
    ASSERT_NE(after.find(device(1161, "2001:db8::7")), nullptr);
}

TEST(Engines, DamagedBytesChangeNothing) {
    Engines before(100, {.k0 = 1, .k1 = 2});
    before.learn(device(161), kEngine, 7, 1000, kNow);
    before.learn(device(162), kEngine, 8, 1000, kNow);
    base::ByteWriter writer;
    before.encode(writer, kNow, kWall);
    const std::string good(writer.view());
    for (std::size_t size = 0; size < good.size(); ++size) {
        Engines after(100, {.k0 = 3, .k1 = 4});
        base::ByteReader reader(std::string_view(good).substr(0, size));
        EXPECT_FALSE(after.decode(reader, kNow, kWall).has_value());
        EXPECT_EQ(after.size(), 0U);
    }
    std::string newer = good;
    newer[0] = 2;
    Engines after(100, {.k0 = 3, .k1 = 4});
    base::ByteReader reader(newer);
    EXPECT_FALSE(after.decode(reader, kNow, kWall).has_value());
}

}  // namespace
}  // namespace pollux::protocol::snmp
