#include "protocol/snmp/device_profile.hpp"

#include <gtest/gtest.h>

#include "protocol/snmp/profile_table.hpp"

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;

constexpr base::WallTime kNow{1'800'000'000'000'000};

TEST(Climb, DoublesWhileAnswersComeWhole) {
    Climb climb;
    EXPECT_FALSE(climb.came_whole(24, false, 128)) << "it was not the limit that bound it";
    EXPECT_EQ(climb.now, 0U);
    for (const std::uint32_t expected : {48U, 96U, 128U}) {
        EXPECT_TRUE(climb.came_whole(std::max(climb.now, 24U), true, 128));
        EXPECT_EQ(climb.now, expected);
    }
    EXPECT_FALSE(climb.came_whole(128, true, 128));
}

// Whatever the limit of the device is, few refusals find it, and then nothing fails any more.
TEST(Climb, SettlesBelowAnyLimitWithoutSwinging) {
    for (std::uint32_t limit = 1; limit <= 130; ++limit) {
        Climb climb;
        int refusals = 0;
        int refused_late = 0;
        for (int answer = 0; answer < 2000; ++answer) {
            const std::uint32_t size = climb.now == 0 ? 24 : climb.now;
            if (size <= limit) {
                climb.came_whole(size, true, 128);
            } else {
                climb.refused(size);
                ++refusals;
                refused_late += answer >= 500 ? 1 : 0;
            }
            ASSERT_GE(climb.now, 1U);
            ASSERT_TRUE(climb.ceiling == 0 || climb.now < climb.ceiling) << limit;
        }
        EXPECT_LE(refusals, 8) << limit;
        EXPECT_EQ(refused_late, 0) << limit;
        EXPECT_LE(climb.now, limit);
        EXPECT_GE(climb.now * 5 / 4 + 1, std::min(limit, 128U)) << limit;
    }
}

TEST(Climb, OneLostPacketChangesNothing) {
    Climb climb{.now = 40};
    EXPECT_FALSE(climb.silent(40));
    EXPECT_EQ(climb.now, 40U);
    EXPECT_FALSE(climb.came_whole(10, false, 128)) << "a smaller one does not clear it";
    EXPECT_TRUE(climb.came_whole(40, false, 128));
    EXPECT_FALSE(climb.silent(40)) << "it was cleared: this is the first again";
    EXPECT_TRUE(climb.silent(40));
    EXPECT_EQ(climb.now, 10U);
    EXPECT_EQ(climb.ceiling, 40U);
}

TEST(Climb, StopsGrowingWhereAnswersAreCut) {
    Climb climb{.now = 1400};
    EXPECT_TRUE(climb.cut(1400));
    EXPECT_FALSE(climb.cut(1400));
    for (int i = 0; i < 100; ++i) climb.came_whole(1400, true, 32'000);
    EXPECT_EQ(climb.now, 1400U);
}

TEST(DeviceProfile, GivesBulkUpAfterSomeDoubtsInARow) {
    DeviceProfile profile = new_profile(kNow);
    EXPECT_FALSE(doubt_bulk(profile));
    EXPECT_FALSE(doubt_bulk(profile));
    EXPECT_TRUE(profile.uses_bulk());
    EXPECT_TRUE(doubt_bulk(profile));
    EXPECT_EQ(profile.bulk, Bulk::kFails);
    EXPECT_FALSE(doubt_bulk(profile)) << "it is news once";
}

TEST(DeviceProfile, BeginsAgainWithOtherFirmware) {
    struct Case {
        std::uint64_t description;
        std::uint64_t object_id;
        bool changes;
    };
    for (const Case& one : {Case{11, 21, false}, Case{0, 0, false}, Case{11, 0, false},
                            Case{12, 21, true}, Case{0, 22, true}, Case{12, 0, true}}) {
        DeviceProfile profile = new_profile(kNow);
        EXPECT_FALSE(take_identity(profile, 11, 21, kNow)) << "the first time it is only noted";
        profile.varbinds.refused(24);
        profile.bulk = Bulk::kLies;
        EXPECT_EQ(take_identity(profile, one.description, one.object_id, kNow + 1h), one.changes);
        EXPECT_EQ(profile.uses_bulk(), one.changes);
        EXPECT_EQ(profile.varbinds.now, one.changes ? 0U : 12U);
        EXPECT_EQ(profile.relearned, one.changes ? 1U : 0U);
        EXPECT_EQ(profile.learned_at, one.changes ? kNow + 1h : kNow);
    }
}

TEST(DeviceProfile, ChecksOnceADayAtAMomentOfTheDevice) {
    int together = 0;
    for (std::uint64_t device = 0; device < 24; ++device) {
        DeviceProfile profile = new_profile(kNow);
        const std::uint64_t spread = device * 3'600'000'000;
        int checks = 0;
        for (int minute = 1; minute <= 3 * 24 * 60; ++minute) {
            const base::WallTime now = kNow + minute * 1min;
            if (!check_due(profile, now, 24h, spread)) continue;
            EXPECT_FALSE(take_check(profile, true, now));
            ++checks;
            together += minute <= 60 ? 1 : 0;
        }
        EXPECT_EQ(checks, 3) << device;
    }
    EXPECT_LE(together, 2);
}

TEST(DeviceProfile, TakesADeviceForALiarAfterTwoDifferencesInARow) {
    DeviceProfile profile = new_profile(kNow);
    EXPECT_FALSE(take_check(profile, false, kNow));
    EXPECT_TRUE(check_due(profile, kNow + 1s, 24h, 7)) << "a doubt is looked at soon";
    EXPECT_FALSE(take_check(profile, true, kNow));
    EXPECT_FALSE(take_check(profile, false, kNow));
    EXPECT_TRUE(take_check(profile, false, kNow));
    EXPECT_EQ(profile.bulk, Bulk::kLies);
    EXPECT_FALSE(take_check(profile, false, kNow)) << "it is news once";
}

TEST(DeviceProfile, LiftsCeilingsOfSilenceAfterAWeek) {
    DeviceProfile profile = new_profile(kNow);
    profile.varbinds.silent(24);
    profile.varbinds.silent(24);
    profile.repetitions.refused(25);
    take_check(profile, true, kNow + 24h);
    EXPECT_EQ(profile.varbinds.ceiling, 24U);
    take_check(profile, true, kNow + 8 * 24h);
    EXPECT_EQ(profile.varbinds.ceiling, 0U) << "it may have been an accident";
    EXPECT_EQ(profile.varbinds.now, 6U);
    EXPECT_EQ(profile.repetitions.ceiling, 25U) << "the device said so";
}

DeviceProfile rich_profile() {
    DeviceProfile profile = new_profile(kNow);
    profile.varbinds.refused(24);
    profile.repetitions.silent(25);
    profile.repetitions.silent(25);
    profile.answer_bytes.cut(2800);
    profile.bulk = Bulk::kLies;
    profile.largest_answer = 1472;
    profile.steps_back = 3;
    profile.description = ~std::uint64_t{0};
    profile.object_id = 5;
    profile.relearned = 1;
    return profile;
}

TEST(ProfileTable, SurvivesARestart) {
    ProfileTable before(10, {1, 2});
    before.add(*parse_literal("192.0.2.1", 161), "core-1.example", rich_profile());
    before.add(*parse_literal("2001:db8::7", 1161), "2001:db8::7", new_profile(kNow));
    base::ByteWriter writer;
    before.encode(writer);
    ProfileTable after(10, {3, 4});
    base::ByteReader reader(writer.view());
    ASSERT_TRUE(after.decode(reader).has_value());
    EXPECT_TRUE(reader.at_end());
    ASSERT_NE(after.find(*parse_literal("192.0.2.1", 161)), nullptr);
    EXPECT_EQ(*after.find(*parse_literal("192.0.2.1", 161)), rich_profile());
    EXPECT_EQ(after.at(after.place_of(*parse_literal("192.0.2.1", 161))).host, "core-1.example");
    EXPECT_EQ(*after.find(*parse_literal("2001:db8::7", 1161)), new_profile(kNow));
    EXPECT_EQ(after.find(*parse_literal("192.0.2.1", 162)), nullptr);
    EXPECT_EQ(after.liars(), 1U);
}

TEST(ProfileTable, TakesNothingFromDamagedBytes) {
    ProfileTable before(10, {1, 2});
    before.add(*parse_literal("192.0.2.1", 161), "a", rich_profile());
    before.add(*parse_literal("192.0.2.2", 161), "b", rich_profile());
    base::ByteWriter writer;
    before.encode(writer);
    const std::string bytes = writer.take();
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        ProfileTable after(10, {3, 4});
        base::ByteReader reader(std::string_view(bytes).substr(0, cut));
        EXPECT_FALSE(after.decode(reader).has_value()) << cut;
        EXPECT_EQ(after.size(), 0U);
    }
    for (std::size_t place = 0; place < bytes.size(); ++place) {
        std::string damaged = bytes;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x80);
        ProfileTable after(10, {3, 4});
        base::ByteReader reader(damaged);
        [[maybe_unused]] const auto status = after.decode(reader);
        after.visit([](const ProfileTable::Entry& entry) {
            EXPECT_TRUE(entry.profile.varbinds.ceiling == 0 ||
                        entry.profile.varbinds.now < entry.profile.varbinds.ceiling);
        });
    }
}

TEST(ProfileTable, KeepsThoseInUseUpToItsCapacity) {
    ProfileTable table(100, {1, 2});
    const auto device = [](std::uint32_t i) {
        return *parse_literal("127.1.0." + std::to_string(i % 256),
                              static_cast<std::uint16_t>(i / 256));
    };
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const std::uint32_t place = table.add(device(i), "", new_profile(kNow));
        if (i == 5) table.at(place).under_way = 1;
        ASSERT_NE(table.place_of(device(3 % (i + 1))), ProfileTable::kNone) << i;
        EXPECT_LE(table.size(), 100U);
    }
    EXPECT_NE(table.find(device(3)), nullptr) << "it was asked all the time";
    EXPECT_NE(table.find(device(5)), nullptr) << "it has a request under way";
    EXPECT_NE(table.find(device(999)), nullptr);
    EXPECT_EQ(table.find(device(10)), nullptr);
    EXPECT_EQ(table.size(), 100U);
}

TEST(ProfileTable, WaitsInOrder) {
    ProfileTable::Entry entry;
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < round % 7; ++i) entry.waiting.push_back(++in);
        for (int i = 0; i < round % 5 && entry.has_waiting(); ++i) {
            EXPECT_EQ(entry.pop_waiting(), ++out);
        }
    }
    while (entry.has_waiting()) EXPECT_EQ(entry.pop_waiting(), ++out);
    EXPECT_EQ(in, out);
    EXPECT_TRUE(entry.waiting.empty());
}

}  // namespace
}  // namespace pollux::protocol::snmp
