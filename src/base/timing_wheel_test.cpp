#include "base/timing_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/test_random.hpp"

namespace pollux::base {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;

constexpr BootTime at_ms(std::int64_t ms) { return BootTime{ms * 1'000'000}; }

struct Fired {
    std::uint32_t id;
    std::uint32_t tick_low;
    bool operator==(const Fired&) const = default;
};

std::vector<Fired> advance(TimingWheel& wheel, BootTime now) {
    std::vector<Fired> fired;
    wheel.advance(
        now, [&](std::uint32_t id, std::uint32_t tick_low) { fired.push_back({id, tick_low}); });
    return fired;
}

std::vector<Fired> in_order(const TimingWheel& wheel) {
    std::vector<Fired> entries;
    wheel.visit_in_order([&](std::uint32_t id, std::uint32_t tick_low) {
        entries.push_back({id, tick_low});
        return true;
    });
    return entries;
}

// The same rules in the plainest form: a multimap keeps insertion order among equal ticks.
class NaiveWheel {
  public:
    explicit NaiveWheel(std::uint64_t now) : now_(now) {}

    std::uint32_t arm(std::uint32_t id, BootTime due) {
        const std::uint64_t tick =
            std::clamp(TimingWheel::tick_at_or_after(due), now_, now_ + kTurn - 1);
        entries_.emplace(tick, id);
        return static_cast<std::uint32_t>(tick);
    }

    std::deque<Fired> begin_advance(std::uint64_t now) {
        now_ = std::max(now_, now);
        std::deque<Fired> due;
        while (!entries_.empty() && entries_.begin()->first <= now_) {
            due.push_back(
                {entries_.begin()->second, static_cast<std::uint32_t>(entries_.begin()->first)});
            entries_.erase(entries_.begin());
        }
        return due;
    }

    std::vector<Fired> in_order() const {
        std::vector<Fired> all;
        for (const auto& [tick, id] : entries_)
            all.push_back({id, static_cast<std::uint32_t>(tick)});
        return all;
    }

    template <class IsLive>
    void compact(const IsLive& is_live) {
        std::erase_if(entries_, [&](const auto& entry) {
            return !is_live(entry.second, static_cast<std::uint32_t>(entry.first));
        });
    }

    std::size_t size() const { return entries_.size(); }
    std::uint64_t first_tick() const { return entries_.begin()->first; }

  private:
    std::uint64_t now_;
    std::multimap<std::uint64_t, std::uint32_t> entries_;
};

TEST(TimingWheel, RoundsTicksUp) {
    EXPECT_EQ(TimingWheel::tick_at_or_after(BootTime{0}), 0u);
    EXPECT_EQ(TimingWheel::tick_at_or_after(BootTime{1}), 1u);
    EXPECT_EQ(TimingWheel::tick_at_or_after(BootTime{1'000'000}), 1u);
    EXPECT_EQ(TimingWheel::tick_at_or_after(BootTime{1'000'001}), 2u);
    EXPECT_EQ(TimingWheel::tick_at_or_after(BootTime{-7'000'000}), 0u);
    EXPECT_EQ(TimingWheel::tick_at_or_after(BootTime::min()), 0u);
    EXPECT_EQ(TimingWheel::tick_at_or_after(BootTime::max()), 9'223'372'036'855u);
}

TEST(TimingWheel, NeverFiresEarly) {
    TimingWheel wheel(at_ms(100));
    EXPECT_EQ(wheel.arm(1, at_ms(105) + 1ns), 106u);
    EXPECT_TRUE(advance(wheel, at_ms(106) - 1ns).empty());
    EXPECT_EQ(advance(wheel, at_ms(106)), (std::vector<Fired>{{1, 106}}));
    EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, FiresInTickOrderThenInOrderOfArming) {
    TimingWheel wheel(at_ms(0));
    wheel.arm(1, at_ms(70'000));
    wheel.arm(2, at_ms(5));
    wheel.arm(3, at_ms(300));
    wheel.arm(4, at_ms(5));
    wheel.arm(5, at_ms(20'000'000));
    EXPECT_EQ(wheel.size(), 5u);
    EXPECT_EQ(advance(wheel, at_ms(30'000'000)),
              (std::vector<Fired>{{2, 5}, {4, 5}, {3, 300}, {1, 70'000}, {5, 20'000'000}}));
}

TEST(TimingWheel, OrderWithinATickHoldsAcrossLevels) {
    TimingWheel wheel(at_ms(0));
    wheel.arm(1, at_ms(70'003));
    advance(wheel, at_ms(65'000));
    wheel.arm(2, at_ms(70'003));
    advance(wheel, at_ms(69'900));
    wheel.arm(3, at_ms(70'003));
    EXPECT_EQ(advance(wheel, at_ms(70'003)),
              (std::vector<Fired>{{1, 70'003}, {2, 70'003}, {3, 70'003}}));
}

TEST(TimingWheel, WhatIsAlreadyDueFiresAtTheNextAdvance) {
    TimingWheel wheel(at_ms(1'000));
    EXPECT_EQ(wheel.arm(1, at_ms(1'000)), 1'000u);
    EXPECT_EQ(wheel.arm(2, at_ms(3)), 1'000u);
    EXPECT_EQ(wheel.arm(3, BootTime::min()), 1'000u);
    EXPECT_EQ(wheel.next_event(), at_ms(1'000));
    EXPECT_EQ(advance(wheel, at_ms(1'000)),
              (std::vector<Fired>{{1, 1'000}, {2, 1'000}, {3, 1'000}}));
}

TEST(TimingWheel, ArmingFromFireWaitsForTheNextAdvance) {
    TimingWheel wheel(at_ms(0));
    wheel.arm(1, at_ms(10));
    int fired = 0;
    const auto rearm = [&](std::uint32_t id, std::uint32_t) {
        ++fired;
        wheel.arm(id, at_ms(5));
        wheel.arm(id + 1, at_ms(21));
    };
    wheel.advance(at_ms(20), rearm);
    EXPECT_EQ(fired, 1);
    EXPECT_EQ(wheel.size(), 2u);
    EXPECT_EQ(advance(wheel, at_ms(20)), (std::vector<Fired>{{1, 20}}));
    EXPECT_EQ(advance(wheel, at_ms(21)), (std::vector<Fired>{{2, 21}}));
}

TEST(TimingWheel, TimeThatGoesBackIsIgnored) {
    TimingWheel wheel(at_ms(500));
    wheel.arm(1, at_ms(600));
    EXPECT_TRUE(advance(wheel, at_ms(400)).empty());
    EXPECT_TRUE(advance(wheel, BootTime::min()).empty());
    EXPECT_EQ(wheel.arm(2, at_ms(450)), 500u);
    EXPECT_EQ(advance(wheel, at_ms(400)), (std::vector<Fired>{{2, 500}}));
    EXPECT_EQ(advance(wheel, at_ms(600)), (std::vector<Fired>{{1, 600}}));
}

TEST(TimingWheel, FarFutureIsArmedAtTheHorizon) {
    TimingWheel wheel(at_ms(5));
    EXPECT_EQ(wheel.arm(1, BootTime::max()), 4u);  // 5 + 2^32 - 1, low 32 bits
    EXPECT_TRUE(advance(wheel, at_ms(static_cast<std::int64_t>(kTurn) + 3)).empty());
    EXPECT_EQ(advance(wheel, at_ms(static_cast<std::int64_t>(kTurn) + 4)),
              (std::vector<Fired>{{1, 4}}));
}

TEST(TimingWheel, EndOfTimeIsReachable) {
    TimingWheel wheel(BootTime::max());
    wheel.arm(1, BootTime::max());
    EXPECT_EQ(wheel.next_event(), BootTime::max());
    EXPECT_EQ(wheel.size(), 1u);
}

TEST(TimingWheel, NextEventIsExactAtLevelZeroAndASlotStartAbove) {
    TimingWheel wheel(at_ms(1'000));  // 0x3e8
    EXPECT_EQ(wheel.next_event(), BootTime::max());
    wheel.arm(1, at_ms(0x12345));
    EXPECT_EQ(wheel.next_event(), at_ms(0x10000));
    wheel.arm(2, at_ms(0x589));
    EXPECT_EQ(wheel.next_event(), at_ms(0x500));
    wheel.arm(3, at_ms(0x3f0));
    EXPECT_EQ(wheel.next_event(), at_ms(0x3f0));
}

TEST(TimingWheel, FollowingNextEventFiresEverythingOnTime) {
    TestRandom random(11);
    TimingWheel wheel(at_ms(123'456'789));
    std::multiset<std::uint32_t> expected;
    for (std::uint32_t id = 0; id < 500; ++id) {
        const auto delay = static_cast<std::int64_t>(random.next() >> (32 + random.below(31)));
        expected.insert(wheel.arm(id, at_ms(123'456'789 + delay)));
    }
    int steps = 0;
    while (!wheel.empty()) {
        const BootTime now = wheel.next_event();
        ASSERT_NE(now, BootTime::max());
        ASSERT_LT(++steps, 500 * 4);
        wheel.advance(now, [&](std::uint32_t, std::uint32_t tick_low) {
            EXPECT_EQ(tick_low, static_cast<std::uint32_t>(TimingWheel::tick_at_or_after(now)));
            expected.erase(expected.find(tick_low));
        });
    }
    EXPECT_TRUE(expected.empty());
}

// Delays of all sizes, so that every level and the horizon are used.
Duration random_delay(TestRandom& random) {
    switch (random.below(8)) {
        case 0: return Duration::zero();
        case 1: return -1h;
        case 2: return from_seconds(random.between(0.0, 1e7));  // past the horizon
        case 3:
            return from_seconds(random.between(4'294'960.0, 4'294'975.0));  // around the horizon
        default:
            return from_seconds(random.between(0.0, 1.0) *
                                static_cast<double>(std::uint64_t{1} << random.below(20)));
    }
}

Duration random_step(TestRandom& random) {
    switch (random.below(12)) {
        case 0: return Duration::zero();
        case 1: return from_seconds(random.between(0.0, 20'000.0));  // hours
        case 2:
            return random.one_in(10) ? from_seconds(random.between(0.0, 2e7)) : 1h;  // > 2^32 ticks
        case 3: return from_seconds(random.between(0.0, 5e-4));
        default: return from_seconds(random.between(0.0, 2.0));
    }
}

// Runs both wheels through one random history.
class Comparison {
  public:
    explicit Comparison(std::uint64_t seed)
        : random_(seed),
          now_(seed % 3 == 0 ? at_ms(static_cast<std::int64_t>(kTurn) - 50) : BootTime{}),
          wheel_(now_),
          naive_(static_cast<std::uint64_t>(now_.ns) / 1'000'000) {}

    void step() {
        for (std::uint64_t i = random_.below(8); i > 0; --i) arm();
        if (random_.one_in(20)) compact();
        now_ += random_step(random_);
        std::deque<Fired> due =
            naive_.begin_advance(static_cast<std::uint64_t>(now_.ns) / 1'000'000);
        wheel_.advance(now_, [&](std::uint32_t id, std::uint32_t tick_low) {
            ASSERT_FALSE(due.empty());
            ASSERT_EQ((Fired{id, tick_low}), due.front());
            due.pop_front();
            if (random_.one_in(3)) arm();
        });
        ASSERT_TRUE(due.empty());
        check();
    }

  private:
    void arm() {
        const BootTime due = now_ + random_delay(random_);
        const std::uint32_t id = next_id_++;
        ASSERT_EQ(wheel_.arm(id, due), naive_.arm(id, due));
    }

    void compact() {
        const std::uint64_t salt = random_.next();
        const auto is_live = [&](std::uint32_t id, std::uint32_t tick_low) {
            return siphash24({salt, 0}, id, tick_low) % 4 != 0;
        };
        wheel_.compact(is_live);
        naive_.compact(is_live);
    }

    void check() {
        ASSERT_EQ(wheel_.size(), naive_.size());
        if (wheel_.empty()) {
            ASSERT_EQ(wheel_.next_event(), BootTime::max());
        } else {
            ASSERT_LE(wheel_.next_event(), at_ms(static_cast<std::int64_t>(naive_.first_tick())));
        }
        if (random_.one_in(10)) {
            ASSERT_EQ(in_order(wheel_), naive_.in_order());
        }
    }

    TestRandom random_;
    BootTime now_;
    TimingWheel wheel_;
    NaiveWheel naive_;
    std::uint32_t next_id_ = 0;
};

TEST(TimingWheel, AgreesWithANaiveOne) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Comparison comparison(seed);
        for (int i = 0; i < 400 && !testing::Test::HasFatalFailure(); ++i) comparison.step();
        if (HasFatalFailure()) return;
    }
}

TEST(TimingWheel, VisitStopsWhenTold) {
    TimingWheel wheel(at_ms(0));
    for (std::uint32_t id = 0; id < 10; ++id) wheel.arm(id, at_ms(1'000 - id));
    wheel.arm(10, at_ms(0));
    wheel.arm(11, at_ms(0));
    for (std::size_t limit : {1u, 2u, 3u, 7u}) {
        std::vector<std::uint32_t> seen;
        wheel.visit_in_order([&](std::uint32_t id, std::uint32_t) {
            seen.push_back(id);
            return seen.size() < limit;
        });
        EXPECT_EQ(seen.size(), limit);
    }
}

TEST(TimingWheel, CompactionIsWantedWhenDeadOutnumberLive) {
    TimingWheel wheel(at_ms(0));
    for (std::uint32_t id = 0; id < 10'000; ++id) wheel.arm(id, at_ms(1'000 + id));
    for (int i = 0; i < 7'000; ++i) wheel.note_stale();
    EXPECT_FALSE(wheel.wants_compaction());
    for (int i = 0; i < 100; ++i) wheel.note_stale();
    EXPECT_TRUE(wheel.wants_compaction());

    const std::size_t before = wheel.memory_bytes();
    wheel.compact([](std::uint32_t id, std::uint32_t) { return id >= 7'100; });
    EXPECT_EQ(wheel.size(), 2'900u);
    EXPECT_FALSE(wheel.wants_compaction());
    EXPECT_LT(wheel.memory_bytes(), before);
    EXPECT_EQ(in_order(wheel).front(), (Fired{7'100, 8'100}));
}

TEST(TimingWheel, FiringADeadEntryTakesItsNoteBack) {
    TimingWheel wheel(at_ms(0));
    for (std::uint32_t id = 0; id < 5'000; ++id) {
        wheel.arm(id, at_ms(1));
        wheel.note_stale();
    }
    EXPECT_TRUE(wheel.wants_compaction());
    wheel.advance(at_ms(1), [](std::uint32_t, std::uint32_t) { return false; });
    for (std::uint32_t id = 0; id < 5'000; ++id) wheel.arm(id, at_ms(100));
    EXPECT_FALSE(wheel.wants_compaction());
    wheel.advance(at_ms(100), [](std::uint32_t, std::uint32_t) { return true; });
    EXPECT_TRUE(wheel.empty());
}

TEST(TimingWheel, MemoryStaysNearEightToSixteenBytesPerEntry) {
    constexpr std::uint32_t kEntries = 200'000;
    TestRandom random(12);
    BootTime now = at_ms(1'000);
    TimingWheel wheel(now);
    const auto rearm = [&](std::uint32_t id, std::uint32_t) {
        wheel.arm(id, now + from_seconds(random.between(1.0, 120.0)));
    };
    for (std::uint32_t id = 0; id < kEntries; ++id) rearm(id, 0);
    std::size_t most = 0;
    for (int i = 0; i < 6'000; ++i) {
        now += 50ms;
        wheel.advance(now, rearm);
        if (i % 10 == 0) most = std::max(most, wheel.memory_bytes());
    }
    EXPECT_EQ(wheel.size(), kEntries);
    EXPECT_LT(static_cast<double>(most) / kEntries, 20.0);

    now += 1h;
    wheel.advance(now, [](std::uint32_t, std::uint32_t) {});
    EXPECT_LT(wheel.memory_bytes(), std::size_t{2} << 20);
}

TEST(TimingWheelDeathTest, AdvanceDoesNotNest) {
    TimingWheel wheel(at_ms(0));
    wheel.arm(1, at_ms(1));
    const auto nothing = [](std::uint32_t, std::uint32_t) {};
    EXPECT_DEATH(wheel.advance(at_ms(1), [&](std::uint32_t,
                                             std::uint32_t) { wheel.advance(at_ms(2), nothing); }),
                 "called from fire");
}

}  // namespace
}  // namespace pollux::base
