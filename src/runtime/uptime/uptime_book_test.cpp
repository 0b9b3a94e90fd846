#include "runtime/uptime/uptime_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/uptime/uptime_keeper.hpp"

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;
using schedule::ChangeKind;

const base::WallTime kStart = base::parse_utc("2026-03-10T00:00:00Z").value();
constexpr std::int64_t kSecond = 1'000'000;

// Devices with one target `ping::<device>` each, in the group of the same test.
class UptimeBookTest : public testing::Test {
  protected:
    struct Place {
        std::string device;
        std::vector<std::string> parents = {};
        bool enabled = true;
        std::vector<std::string> groups = {"berlin"};
    };

    void fleet(const std::vector<Place>& places) {
        auto facts = std::make_shared<alert::AlertFleet>();
        auto tasks = std::make_shared<DeviceTasks>();
        for (const Place& place : places) {
            alert::TargetFacts target;
            target.key = "ping::" + place.device;
            target.device = place.device;
            target.groups = place.groups;
            target.enabled = place.enabled;
            facts->targets.push_back(target);
            alert::ParentGroups parents;
            for (const std::string& parent : place.parents) parents.push_back({parent});
            facts->devices.push_back({place.device, parents});
            (*tasks)[place.device] = {"ping::" + place.device, "ping::" + place.device + "#slow"};
        }
        book_.set_fleet({facts, tasks});
    }
    void change(const std::string& device, base::Duration at, bool up,
                ChangeKind kind = ChangeKind::kHealth, const std::string& suffix = "") {
        store::StoredChange one;
        one.number = ++number_;
        one.key = "ping::" + device + suffix;
        one.kind = kind;
        one.to = up ? 1 : 0;
        one.at = kStart + at;
        book_.take(one);
    }
    TargetUptime of(const std::string& device, base::Duration now) {
        book_.settle(kStart + now);
        return book_.target("ping::" + device, kStart + now).value();
    }
    // Up and down of a day, in seconds, counted from the day of kStart.
    static std::pair<std::int64_t, std::int64_t> day(const TargetUptime& uptime,
                                                     std::int64_t number) {
        for (const UptimeDay& one : uptime.days) {
            if (one.day == day_of(kStart) + number) {
                return {one.sum.up_us / kSecond, one.sum.down_us / kSecond};
            }
        }
        return {-1, -1};
    }
    // What the keeper does every few seconds: wall time as given, boot time as it went.
    void look(base::Duration boot, base::Duration wall) {
        book_.look({.boot = base::BootTime{} + 100h + boot, .wall = kStart + wall});
        book_.settle(kStart + wall);
    }
    // What a new process knows of what was saved.
    void restart(base::Duration saved, base::Duration started) {
        UptimeBook next;
        for (store::MemoryRow& row : book_.save(kStart + saved).rows) {
            disk_[row.key] = std::move(row.bytes);
        }
        for (const auto& [key, bytes] : disk_) {
            if (key == UptimeKeeper::kHeadKey) {
                next.recall_head(bytes);
            } else {
                next.recall_target(key.substr(UptimeKeeper::kPrefix.size()), bytes);
            }
        }
        next.begin(kStart + started);
        book_ = std::move(next);
    }

    UptimeBook book_;
    std::map<std::string, std::string> disk_;
    std::uint64_t number_ = 0;
};

TEST_F(UptimeBookTest, CountsByDayFromTheFirstAnswer) {
    book_.begin(kStart);
    fleet({{"a"}});
    EXPECT_EQ(of("a", 1h).last_90d.share(), std::nullopt);
    change("a", 2h, true);
    change("a", 23h, false);
    change("a", 25h, true);
    const TargetUptime uptime = of("a", 48h);
    EXPECT_EQ(uptime.state, UptimeState::kUp);
    EXPECT_EQ(uptime.days.size(), 90U);
    EXPECT_EQ(day(uptime, 0), std::pair(std::int64_t{21 * 3600}, std::int64_t{3600}));
    EXPECT_EQ(day(uptime, 1), std::pair(std::int64_t{23 * 3600}, std::int64_t{3600}));
    EXPECT_EQ(day(uptime, -1), std::pair(std::int64_t{0}, std::int64_t{0}));
    EXPECT_DOUBLE_EQ(uptime.last_90d.share().value(), 44.0 / 46);
    EXPECT_DOUBLE_EQ(uptime.last_24h.share().value(), 23.0 / 24);
    EXPECT_EQ(day_text(uptime.days.back().day), "2026-03-12");
}

TEST_F(UptimeBookTest, ATargetIsDownWhileOneOfItsTasksIs) {
    book_.begin(kStart);
    fleet({{"a"}});
    change("a", 0h, true);
    change("a", 1h, true, ChangeKind::kHealth, "#slow");
    change("a", 2h, false, ChangeKind::kHealth, "#slow");
    change("a", 3h, false);
    change("a", 4h, true);
    EXPECT_EQ(of("a", 5h).state, UptimeState::kDown);
    change("a", 6h, true, ChangeKind::kHealth, "#slow");
    EXPECT_EQ(day(of("a", 8h), 0), std::pair(std::int64_t{4 * 3600}, std::int64_t{4 * 3600}));
}

TEST_F(UptimeBookTest, DisabledOrGoneCountsNeitherWay) {
    book_.begin(kStart);
    fleet({{"a"}, {"b"}});
    change("a", 0h, true);
    change("b", 0h, false);
    change("a", 1h, false, ChangeKind::kEnabled);
    EXPECT_EQ(of("a", 2h).state, UptimeState::kUnknown);
    change("a", 3h, true, ChangeKind::kEnabled);
    EXPECT_EQ(day(of("a", 4h), 0), std::pair(std::int64_t{2 * 3600}, std::int64_t{0}));
    fleet({{"a", {}, false}});
    book_.settle(kStart + 4h);
    EXPECT_FALSE(book_.target("ping::b", kStart + 9h));
    EXPECT_EQ(day(of("a", 9h), 0), std::pair(std::int64_t{2 * 3600}, std::int64_t{0}));
    fleet({{"a"}, {"b"}});
    book_.settle(kStart + 10h);
    EXPECT_EQ(day(of("b", 11h), 0), std::pair(std::int64_t{0}, std::int64_t{5 * 3600}))
        << "it came back, with what was known of it";
}

TEST_F(UptimeBookTest, BehindADeadParentNothingIsKnown) {
    book_.begin(kStart);
    fleet({{"core"}, {"access", {"core"}}, {"leaf", {"access"}}});
    for (const char* device : {"core", "access", "leaf"}) change(device, 0h, true);
    // The leaf is seen first; the parent a moment later, and then nobody asks the children.
    change("leaf", 60min, false);
    change("core", 61min, false);
    EXPECT_EQ(of("leaf", 90min).state, UptimeState::kUnknown);
    EXPECT_EQ(of("access", 90min).state, UptimeState::kUnknown);
    EXPECT_EQ(of("core", 90min).state, UptimeState::kDown);
    change("core", 120min, true);
    change("leaf", 121min, true);
    EXPECT_EQ(day(of("leaf", 180min), 0), std::pair(std::int64_t{60 + 59} * 60, std::int64_t{0}));
    EXPECT_EQ(day(of("access", 180min), 0), std::pair(std::int64_t{61 + 60} * 60, std::int64_t{0}));
    EXPECT_EQ(day(of("core", 180min), 0), std::pair(std::int64_t{121} * 60, std::int64_t{59} * 60));
}

TEST_F(UptimeBookTest, WhatStaysDownAfterItsParentCameBackIsDown) {
    book_.begin(kStart);
    fleet({{"core"}, {"leaf", {"core"}}});
    change("core", 0h, true);
    change("leaf", 0h, true);
    change("leaf", 60min, false);
    change("core", 61min, false);
    change("core", 120min, true);
    EXPECT_EQ(day(of("leaf", 180min), 0), std::pair(std::int64_t{60} * 60, std::int64_t{60} * 60));
    // Down for long before the parent: that was its own.
    change("leaf", 180min, true);
    change("leaf", 200min, false);
    change("core", 220min, false);
    EXPECT_EQ(day(of("leaf", 300min), 0),
              std::pair(std::int64_t{60 + 20} * 60, std::int64_t{60 + 20} * 60));
}

TEST_F(UptimeBookTest, ARedundantParentHoldsTheWayOpen) {
    book_.begin(kStart);
    auto facts = std::make_shared<alert::AlertFleet>();
    auto tasks = std::make_shared<DeviceTasks>();
    for (const char* device : {"left", "right", "leaf"}) {
        alert::TargetFacts target;
        target.key = std::string("ping::") + device;
        target.device = device;
        facts->targets.push_back(target);
        (*tasks)[device] = {target.key};
    }
    facts->devices.push_back({"leaf", {{"left", "right"}}});
    facts->devices.push_back({"left", {{"leaf"}}});  // a loop
    book_.set_fleet({facts, tasks});
    for (const char* device : {"left", "right", "leaf"}) change(device, 0h, true);
    change("left", 1h, false);
    EXPECT_EQ(of("leaf", 2h).state, UptimeState::kUp);
    change("right", 2h, false);
    EXPECT_EQ(of("leaf", 3h).state, UptimeState::kUnknown);
}

// A log of many flips must not cost the whole fleet for each.
TEST_F(UptimeBookTest, AFlipOfAParentCostsOnlyWhatStandsBehindIt) {
    book_.begin(kStart);
    std::vector<Place> places = {{"core"}, {"access", {"core"}}, {"leaf", {"access"}}, {"other"}};
    for (int i = 0; i < 300; ++i) places.push_back({"far" + std::to_string(i), {"other"}});
    fleet(places);
    for (const Place& place : places) change(place.device, 0h, true);
    const std::uint64_t before = book_.looked_at();
    for (int i = 1; i <= 100; ++i) change("core", 10min * i, i % 2 == 0);
    EXPECT_LE(book_.looked_at() - before, 100U * 6);
    EXPECT_EQ(of("leaf", 1000min).state, UptimeState::kUp);
    change("core", 1001min, false);
    EXPECT_EQ(of("leaf", 1002min).state, UptimeState::kUnknown);
    EXPECT_EQ(of("far7", 1002min).state, UptimeState::kUp);
}

// Topologies of all kinds, loops too: what flips led to is what the whole fleet says at once.
TEST_F(UptimeBookTest, FlipByFlipIsAsAllAtOnce) {
    constexpr std::size_t kDevices = 14;
    std::uint32_t random = 12345;
    const auto below = [&](std::size_t limit) {
        random = random * 1664525U + 1013904223U;
        return (random >> 8U) % limit;
    };
    for (int world = 0; world < 60; ++world) {
        auto facts = std::make_shared<alert::AlertFleet>();
        auto tasks = std::make_shared<DeviceTasks>();
        for (std::size_t i = 0; i < kDevices; ++i) {
            const std::string device(1, static_cast<char>('a' + i));
            alert::TargetFacts target;
            target.key = "ping::" + device;
            target.device = device;
            facts->targets.push_back(target);
            (*tasks)[device] = {target.key};
            alert::ParentGroups parents(below(3));
            for (auto& group : parents) {
                for (std::size_t left = below(3); left > 0; --left) {
                    group.emplace_back(1, static_cast<char>('a' + below(kDevices)));
                }
            }
            facts->devices.push_back({device, parents});
        }
        book_ = UptimeBook();
        book_.begin(kStart);
        book_.set_fleet({facts, tasks});
        std::vector<store::StoredChange> story;
        for (int step = 1; step < 60; ++step) {
            store::StoredChange one;
            one.number = ++number_;
            one.key = facts->targets[below(kDevices)].key;
            one.kind = ChangeKind::kHealth;
            one.to = static_cast<std::uint8_t>(below(2));
            one.at = kStart + 1min * step;
            story.push_back(one);
            book_.take(one);
            UptimeBook whole;
            whole.begin(kStart);
            for (const store::StoredChange& told : story) whole.take(told);
            whole.set_fleet({facts, tasks});
            whole.settle(one.at);
            for (const alert::TargetFacts& target : facts->targets) {
                ASSERT_EQ(book_.target(target.key, one.at)->state,
                          whole.target(target.key, one.at)->state)
                    << "world " << world << " step " << step << " " << target.key;
            }
        }
    }
}

TEST_F(UptimeBookTest, BehindADeadParentNothingIsKnownAlsoInTheNextLife) {
    book_.begin(kStart);
    fleet({{"core"}, {"leaf", {"core"}}});
    change("core", 0h, true);
    change("leaf", 0h, true);
    change("core", 1h, false);
    book_.settle(kStart + 2h);
    restart(2h, 2h);
    fleet({{"core"}, {"leaf", {"core"}}});
    change("leaf", 2h, false);
    book_.settle(kStart + 3h);
    EXPECT_EQ(day(of("leaf", 4h), 0), std::pair(std::int64_t{3600}, std::int64_t{0}));
}

TEST_F(UptimeBookTest, WhileNoServerRanNothingIsKnown) {
    book_.begin(kStart);
    // The first life ever takes in what is in the log, whenever that was.
    fleet({{"a"}});
    change("a", 0h, true);
    book_.settle(kStart + 2h);
    restart(2h, 5h);
    fleet({{"a"}});
    EXPECT_EQ(book_.cursor(), number_);
    EXPECT_EQ(day(of("a", 6h), 0), std::pair(std::int64_t{3 * 3600}, std::int64_t{0}));
    // Died at once, with a change that was committed and not saved here: it is read again.
    const std::uint64_t saved = book_.cursor();
    restart(6h, 6h);
    fleet({{"a"}});
    EXPECT_EQ(book_.cursor(), saved);
    change("a", 6h + 30min, false);
    EXPECT_EQ(day(of("a", 7h), 0), std::pair(std::int64_t{3 * 3600 + 1800}, std::int64_t{1800}));
}

TEST_F(UptimeBookTest, ATransitionProvesThatTheServerLivedUntilThen) {
    book_.begin(kStart);
    fleet({{"a"}});
    change("a", 0h, true);
    // Saved after an hour; it died later, and its last transition was committed.
    restart(1h, 5h);
    fleet({{"a"}});
    change("a", 3h, false);
    EXPECT_EQ(day(of("a", 6h), 0), std::pair(std::int64_t{3 * 3600}, std::int64_t{3600}));
}

TEST_F(UptimeBookTest, ARowIsWrittenOnlyWhenItsTargetChanged) {
    book_.begin(kStart);
    fleet({{"a"}, {"b"}});
    change("a", 0h, true);
    change("b", 0h, true);
    EXPECT_EQ(book_.save(kStart + 1h).rows.size(), 3U);
    EXPECT_EQ(book_.save(kStart + 24h * 30).rows.size(), 1U);
    change("b", 24h * 40, false);
    const store::MemoryBatch batch = book_.save(kStart + 24h * 40);
    EXPECT_EQ(batch.rows.size(), 2U);
    EXPECT_LT(batch.rows[0].bytes.size(), 600U);
    book_.save_failed({batch.rows[0].key});
    EXPECT_EQ(book_.save(kStart + 24h * 40).rows.size(), 2U);
}

TEST_F(UptimeBookTest, KeepsNinetyDays) {
    book_.begin(kStart);
    fleet({{"a"}});
    change("a", 0h, true);
    for (int i = 1; i < 200; ++i) {
        change("a", 24h * i, false);
        change("a", 24h * i + 6h, true);
    }
    const TargetUptime uptime = of("a", 24h * 200 - 1s);
    EXPECT_EQ(uptime.days.size(), 90U);
    EXPECT_NEAR(uptime.last_90d.share().value(), 0.75, 1e-4);
    EXPECT_NEAR(uptime.last_30d.share().value(), 0.75, 1e-4);
    for (const UptimeDay& one : uptime.days) EXPECT_EQ(one.sum.down_us, 6 * 3600 * kSecond);
}

TEST_F(UptimeBookTest, TheLastDayOfAFlappingTargetIsTheWholeDay) {
    book_.begin(kStart);
    fleet({{"a"}});
    change("a", 0h, true);
    for (int i = 0; i < 50; ++i) {
        change("a", 23h + 1min * i, false);
        change("a", 23h + 1min * i + 30s, true);
    }
    const TargetUptime uptime = of("a", 23h + 50min);
    EXPECT_EQ(uptime.last_24h.up_us, (23 * 60 + 25) * 60 * kSecond);
    EXPECT_EQ(uptime.last_24h.down_us, 25 * 60 * kSecond);
    restart(23h + 50min, 23h + 50min);
    fleet({{"a"}});
    EXPECT_EQ(of("a", 23h + 50min).last_24h, uptime.last_24h) << "what was packed is stored";
}

// Fifty seconds up and ten down, for three days: the short ones must not be lost. Then it rests,
// and the flapping leaves the last day bit by bit.
TEST_F(UptimeBookTest, TheLastDayOfATargetThatNeverRestsIsNearlyRight) {
    book_.begin(kStart);
    fleet({{"a"}});
    constexpr int kMinutes = 3 * 24 * 60;
    for (int i = 0; i < kMinutes; ++i) {
        change("a", 1min * i, true);
        change("a", 1min * i + 50s, false);
        if (i % 97 != 0 || i < 24 * 60) continue;
        EXPECT_NEAR(of("a", 1min * i + 50s).last_24h.share().value(), 5.0 / 6, 0.01) << i;
    }
    change("a", 1min * kMinutes, true);
    for (int i = 0; i <= 24; ++i) {
        const TargetUptime uptime = of("a", 1min * kMinutes + 1h * i);
        EXPECT_NEAR(uptime.last_24h.share().value(), 1 - (24.0 - i) / 24 / 6, 0.01) << i;
    }
}

// A target that is switched, or stands behind somebody who flaps: one state, and gaps.
TEST_F(UptimeBookTest, ManyGapsOfTheLastDayDoNotCount) {
    book_.begin(kStart);
    fleet({{"core"}, {"leaf", {"core"}}});
    change("leaf", 0h, true);
    for (int i = 0; i < 300; ++i) {
        change("core", 2min * i, true);
        change("core", 2min * i + 1min, false);
    }
    const TargetUptime uptime = of("leaf", 20h);
    EXPECT_EQ(uptime.last_24h.up_us, std::int64_t{300} * 60 * kSecond);
    EXPECT_EQ(uptime.last_24h.down_us, 0);
}

TEST_F(UptimeBookTest, GoneTargetsAreForgottenAfterTheirDays) {
    book_.begin(kStart);
    fleet({{"a"}, {"b"}});
    change("a", 0h, true);
    change("b", 0h, true);
    fleet({{"a"}});
    book_.settle(kStart + 1h);
    EXPECT_THAT(book_.save(kStart + 24h * 80).removed, testing::IsEmpty());
    EXPECT_THAT(book_.save(kStart + 24h * 92).removed, testing::ElementsAre("uptime/ping::b"));
    EXPECT_EQ(book_.size(), 1U);
}

TEST_F(UptimeBookTest, GroupsAreTheSumOfTheirMembers) {
    book_.begin(kStart);
    fleet({{"a"}, {"b"}, {"c", {}, true, {"bonn", "germany"}}});
    for (const char* device : {"a", "b", "c"}) change(device, 0h, true);
    change("a", 12h, false);
    book_.settle(kStart + 24h - 1s);
    const auto groups = book_.groups(kStart + 24h - 1s);
    ASSERT_EQ(groups.size(), 4U);
    EXPECT_EQ(groups[0].name, "");
    EXPECT_EQ(groups[0].members, 3U);
    EXPECT_EQ(groups[1].name, "berlin");
    EXPECT_EQ(groups[1].members, 2U);
    EXPECT_EQ(groups[1].up, 1U);
    EXPECT_EQ(groups[1].down, 1U);
    EXPECT_EQ(groups[1].days.back().members, 2U);
    EXPECT_NEAR(groups[1].last_90d.share().value(), 0.75, 1e-4);
    EXPECT_EQ(groups[2].name, "bonn");
    EXPECT_EQ(groups[2].last_90d.share(), 1.0);
}

TEST_F(UptimeBookTest, ADamagedRowIsLearnedAnew) {
    book_.begin(kStart);
    fleet({{"a"}});
    change("a", 0h, true);
    change("a", 1h, false);
    const auto batch = book_.save(kStart + 2h);
    const std::string& bytes = batch.rows[0].bytes;
    EXPECT_TRUE(decode_uptime(bytes));
    EXPECT_EQ(encode_uptime(*decode_uptime(bytes)), bytes);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        EXPECT_FALSE(decode_uptime(std::string_view(bytes).substr(0, length)));
    }
    EXPECT_FALSE(decode_uptime(bytes + "x"));
    EXPECT_FALSE(decode_uptime_head("\x07"));
    UptimeBook other;
    other.recall_target("ping::a", "nonsense");
    EXPECT_EQ(other.size(), 0U);
}

constexpr base::Duration kYear = 24h * 365;

// A board without a clock of its own starts where it was switched off, and learns the time then.
TEST_F(UptimeBookTest, WhatAClockJumpedOverWasSeenByNobody) {
    book_.begin(kStart);
    fleet({{"a"}, {"b"}});
    change("a", 0h, true);
    change("b", 0h, true);
    look(0h, 1h);
    restart(1h, 1h);
    fleet({{"a"}, {"b"}});
    look(0s, 1h);
    look(15s, 1h + 15s);
    // Set between two looks; the transition is read with the second.
    book_.look({.boot = base::BootTime{} + 100h + 30s, .wall = kStart + 9h + 30s});
    change("b", 9h + 20s, false);
    look(30s, 9h + 30s);
    EXPECT_EQ(day(of("a", 9h + 30s), 0), std::pair(std::int64_t{3600 + 30}, std::int64_t{0}));
    EXPECT_EQ(day(of("b", 9h + 30s), 0), std::pair(std::int64_t{3600 + 20}, std::int64_t{10}));
    look(1h + 30s, 10h + 31s);
    EXPECT_EQ(day(of("a", 10h + 31s), 0), std::pair(std::int64_t{7200 + 31}, std::int64_t{0}))
        << "a second is no step";
}

TEST_F(UptimeBookTest, AClockThatIsAYearAheadForMinutesCostsMinutes) {
    book_.begin(kStart);
    fleet({{"quiet"}, {"a"}, {"gone"}});
    for (const char* device : {"quiet", "a", "gone"}) change(device, 0h, true);
    change("a", 24h * 40, false);
    change("a", 24h * 40 + 12h, true);
    fleet({{"quiet"}, {"a"}});
    const base::Duration before = 24h * 80;
    look(before, before);
    restart(before, before);
    fleet({{"quiet"}, {"a"}});
    look(before, before);
    look(before + 1min, kYear + before + 1min);
    change("a", kYear + before + 2min, false);
    change("a", kYear + before + 3min, true);
    look(before + 5min, kYear + before + 5min);
    EXPECT_THAT(book_.save(kStart + kYear + before + 5min).removed, testing::IsEmpty());
    // One more that is read when the clock is right again.
    look(before + 6min, before + 6min);
    change("a", kYear + before + 5min, false);
    look(before + 30min, before + 30min);
    change("a", before + 30min, true);
    look(before + 24h, before + 24h);
    for (const bool restarted : {false, true}) {
        if (restarted) {
            restart(before + 24h, before + 24h);
            fleet({{"quiet"}, {"a"}});
        }
        const TargetUptime quiet = of("quiet", before + 24h);
        EXPECT_NEAR(static_cast<double>(quiet.last_90d.up_us) / 3.6e9, 81 * 24, 0.2);
        EXPECT_EQ(quiet.last_90d.down_us, 0);
        const TargetUptime uptime = of("a", before + 24h);
        EXPECT_EQ(uptime.state, UptimeState::kUp);
        EXPECT_EQ(uptime.since, kStart + before + 30min);
        EXPECT_NEAR(static_cast<double>(uptime.last_90d.up_us) / 3.6e9, 81 * 24 - 12.5, 0.2);
        EXPECT_NEAR(static_cast<double>(uptime.last_90d.down_us) / 3.6e9, 12.5, 0.2);
        EXPECT_NEAR(static_cast<double>(uptime.last_24h.down_us) / 6e7, 24, 1.5);
    }
}

// The clock was ahead when the life before ended; this one never saw that.
TEST_F(UptimeBookTest, AStartBeforeTheEndOfTheLastLifeTakesBackTheFuture) {
    book_.begin(kStart);
    fleet({{"a"}});
    change("a", 0h, true);
    look(0h, 48h);
    restart(48h, kYear);
    fleet({{"a"}});
    change("a", kYear + 1min, false);
    look(0min, kYear + 2min);
    restart(kYear + 2min, 49h);
    fleet({{"a"}});
    look(0h, 49h);
    EXPECT_EQ(of("a", 50h).state, UptimeState::kDown);
    EXPECT_EQ(day(of("a", 50h), 1).first, 24 * 3600);
    EXPECT_EQ(day(of("a", 50h), 2), std::pair(std::int64_t{0}, std::int64_t{3600}));
}

// Nothing that lies months ahead of a clock is thrown away: rather the clock is wrong.
TEST_F(UptimeBookTest, AClockThatStartsInThePastErasesNothing) {
    book_.begin(kStart);
    fleet({{"a"}, {"quiet"}});
    change("a", 0h, true);
    change("quiet", 0h, true);
    look(0h, 24h * 60);
    restart(24h * 60, -kYear);
    fleet({{"a"}, {"quiet"}});
    look(0min, -kYear);
    change("a", -kYear + 30s, false);
    change("a", -kYear + 40s, true);
    look(1min, -kYear + 1min);
    look(2min, 24h * 61);
    look(2min + 1h, 24h * 61 + 1h);
    for (const char* device : {"a", "quiet"}) {
        const TargetUptime uptime = of(device, 24h * 61 + 1h);
        EXPECT_NEAR(static_cast<double>(uptime.last_90d.up_us) / 3.6e9, 60 * 24 + 1, 0.1);
        EXPECT_EQ(uptime.last_90d.down_us, 0);
    }
}

}  // namespace
}  // namespace pollux::runtime
