#include "protocol/snmp/sender_clocks.hpp"

#include <gmock/gmock.h>

#include <map>

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::BootTime kStart{1'000'000'000'000};
constexpr base::WallTime kWall{1'700'000'000'000'000};
const std::string kSender = "\x80sender";

SenderClocks clocks(std::size_t capacity = 8) { return {capacity, {.k0 = 1, .k1 = 2}}; }

// What a store would hold.
using Stored = std::map<std::string, std::string>;
void save(SenderClocks& from, Stored& into, base::BootTime now = kStart,
          base::WallTime wall = kWall) {
    for (SenderClocks::Row& row : from.unsaved(1000, now, wall)) {
        if (row.bytes.empty()) {
            into.erase(row.engine_id);
        } else {
            into[row.engine_id] = std::move(row.bytes);
        }
    }
}

// A process started `later`, whose boot clock has nothing to do with the one before.
SenderClocks restarted(const Stored& stored, base::Duration later, std::size_t capacity = 8) {
    SenderClocks again = clocks(capacity);
    for (const auto& [id, bytes] : stored) {
        EXPECT_TRUE(again.recall(id, bytes, base::BootTime{5}, kWall + later));
    }
    return again;
}

TEST(SenderClocks, WhatWasHeardBeforeARestartIsARepetitionAfterIt) {
    SenderClocks first = clocks();
    ASSERT_TRUE(first.accept(kSender, 6, 10'000, kStart));
    Stored stored;
    save(first, stored);
    constexpr base::BootTime kAgain{5};
    // Ten minutes later its clock stands at about 10,600.
    EXPECT_FALSE(restarted(stored, 10min).accept(kSender, 6, 10'000, kAgain));
    EXPECT_FALSE(restarted(stored, 10min).accept(kSender, 6, 10'449, kAgain));
    EXPECT_TRUE(restarted(stored, 10min).accept(kSender, 6, 10'450, kAgain));
    EXPECT_TRUE(restarted(stored, 10min).accept(kSender, 6, 10'600, kAgain));
    EXPECT_FALSE(restarted(stored, 10min).accept(kSender, 5, 99'999, kAgain));
    EXPECT_TRUE(restarted(stored, 10min).accept(kSender, 7, 3, kAgain)) << "it was started anew";
    // Our clock was set back meanwhile: nobody knows how much time passed.
    EXPECT_TRUE(restarted(stored, -1h).accept(kSender, 6, 9'850, kAgain));
    EXPECT_FALSE(restarted(stored, -1h).accept(kSender, 6, 9'849, kAgain));
}

TEST(SenderClocks, OnlyWhatIsWorthItIsWritten) {
    SenderClocks some = clocks();
    ASSERT_TRUE(some.accept(kSender, 6, 1000, kStart));
    EXPECT_THAT(some.unsaved(10, kStart, kWall), SizeIs(1));
    EXPECT_THAT(some.unsaved(10, kStart, kWall), IsEmpty());
    ASSERT_TRUE(some.accept(kSender, 6, 1009, kStart + 9s));
    EXPECT_THAT(some.unsaved(10, kStart, kWall), IsEmpty());
    ASSERT_TRUE(some.accept(kSender, 6, 1010, kStart + 10s));
    EXPECT_THAT(some.unsaved(10, kStart, kWall), SizeIs(1));
    ASSERT_TRUE(some.accept(kSender, 7, 1, kStart + 11s));
    EXPECT_THAT(some.unsaved(10, kStart, kWall), SizeIs(1));
    some.prove(kSender, EngineClock(2, 1, kStart));
    EXPECT_THAT(some.unsaved(10, kStart, kWall), SizeIs(1));
    EXPECT_FALSE(some.accept(kSender, 1, 1, kStart));
    EXPECT_THAT(some.unsaved(10, kStart, kWall), IsEmpty()) << "what is refused changes nothing";
}

TEST(SenderClocks, WhatCouldNotBeStoredIsOfferedAgain) {
    SenderClocks some = clocks();
    for (const char* id : {"engine-1", "engine-2", "engine-3"}) {
        ASSERT_TRUE(some.accept(id, 1, 1, kStart));
    }
    EXPECT_THAT(some.unsaved(2, kStart, kWall), SizeIs(2)) << "a bounded number at a time";
    EXPECT_THAT(some.unsaved(2, kStart, kWall), SizeIs(1));
    some.not_saved({"engine-2"});
    const auto again = some.unsaved(10, kStart, kWall);
    ASSERT_THAT(again, SizeIs(1));
    EXPECT_EQ(again[0].engine_id, "engine-2");
    EXPECT_FALSE(again[0].bytes.empty());
}

TEST(SenderClocks, WhoIsForgottenIsBelieved) {
    SenderClocks some = clocks();
    Stored stored;
    for (const char* id : {"engine-1", "engine-2", "engine-3"}) {
        ASSERT_TRUE(some.accept(id, 6, 1000, kStart));
    }
    save(some, stored);
    EXPECT_FALSE(some.forget("engine-4"));
    EXPECT_TRUE(some.forget("engine-1"));
    save(some, stored);
    EXPECT_THAT(stored, SizeIs(2));
    EXPECT_TRUE(some.accept("engine-1", 1, 5, kStart));
    EXPECT_FALSE(some.accept("engine-2", 1, 5, kStart));
    EXPECT_FALSE(some.accept("engine-3", 1, 5, kStart)) << "who took its place is found";
}

TEST(SenderClocks, TheyAreBoundedAlsoInTheStore) {
    SenderClocks some = clocks(2);
    Stored stored;
    for (const char* id : {"engine-1", "engine-2", "engine-3"}) {
        ASSERT_TRUE(some.accept(id, 6, 1000, kStart));
        save(some, stored);
    }
    EXPECT_EQ(some.size(), 2u);
    EXPECT_THAT(stored, SizeIs(2));
    EXPECT_FALSE(stored.contains("engine-1"));
    some.prove("engine-4", EngineClock(1, 1, kStart));
    EXPECT_EQ(some.size(), 2u) << "who has not sent a trap takes nobody's place";
    // A start with less room than before.
    SenderClocks small = restarted(stored, 1s, 1);
    EXPECT_EQ(small.size(), 1u);
    save(small, stored);
    EXPECT_THAT(stored, SizeIs(1));
    // Nothing can be stored for long: what is to be told to the store is bounded too.
    SenderClocks stuck = clocks(2);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(stuck.accept("engine-" + std::to_string(i), 1, 1, kStart));
    }
    EXPECT_LE(stuck.unsaved(1000, kStart, kWall).size(), 6u);
}

TEST(SenderClocks, DamagedRowsAreLeftOut) {
    SenderClocks some = clocks();
    ASSERT_TRUE(some.accept(kSender, 6, 1000, kStart));
    Stored stored;
    save(some, stored);
    const std::string good = stored[kSender];
    SenderClocks other = clocks();
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(other.recall(kSender, good.substr(0, size), kStart, kWall)) << size;
    }
    std::string newer = good;
    newer[0] = 2;
    EXPECT_FALSE(other.recall(kSender, newer, kStart, kWall));
    EXPECT_FALSE(other.recall(kSender, good + "x", kStart, kWall));
    EXPECT_FALSE(other.recall("tiny", good, kStart, kWall)) << "no engine id";
    EXPECT_EQ(other.size(), 0u);
    EXPECT_TRUE(other.recall(kSender, good, kStart, kWall));
    EXPECT_EQ(other.size(), 1u);
}

}  // namespace
}  // namespace pollux::protocol::snmp
