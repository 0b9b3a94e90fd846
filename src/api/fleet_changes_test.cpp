#include "api/fleet_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/insight_test_support.hpp"

namespace pollux::api {
namespace {

using test::viewer_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr base::WallTime kNow{1'700'000'000'000'000};

// push::c is heard, web::a has two tasks, web::b one.
class FleetChangesTest : public testing::Test {
  protected:
    FleetSnapshot seen_by(const std::string& selector) const {
        FleetSnapshot fleet;
        fleet.frame = frame;
        fleet.shown = frame->seen_by(viewer_of(selector));
        fleet.rows.resize(fleet.shown.size());
        fleet.now = kNow;
        return fleet;
    }
    FleetMarks::Told note(std::string_view since, bool values = false) {
        return marks->note(all, since, values);
    }

    std::shared_ptr<const FleetFrame> frame =
        std::make_shared<const FleetFrame>(test::small_fleet());
    FleetChanges changes{7};
    std::shared_ptr<FleetMarks> marks = changes.of("admin");
    FleetSnapshot all = seen_by("");
};

TEST_F(FleetChangesTest, TellsTheRowsThatChangedSinceAnyVersion) {
    const std::string first = note("").version;
    EXPECT_THAT(note(first).changed, Optional(IsEmpty()));
    all.rows[2].state = runtime::TargetState::kDown;
    const auto second = note(first);
    EXPECT_THAT(second.changed, Optional(ElementsAre(2)));
    all.rows[0].problem = "silent";
    EXPECT_THAT(note(second.version).changed, Optional(ElementsAre(0)));
    EXPECT_THAT(note(first).changed, Optional(ElementsAre(0, 2)));
    all.rows[2].state = runtime::TargetState::kUnknown;
    EXPECT_THAT(note(second.version).changed, Optional(ElementsAre(0, 2))) << "back again";
    all.alerts.targets["web::a"] = {model::Severity::kMajor, 1, 0};
    const auto alerted = note(second.version);
    EXPECT_THAT(alerted.changed, Optional(ElementsAre(0, 1, 2)));
    all.alerts.targets["web::a"].acknowledged = 1;
    EXPECT_THAT(note(alerted.version).changed, Optional(ElementsAre(1)));
}

TEST_F(FleetChangesTest, WhatAResultOfAPollMovesIsAChangeOnlyWhereEventsDoNotTellIt) {
    const std::string first = note("").version;
    for (FleetRow& row : all.rows) {
        row.last_success = kNow;
        row.next_due = kNow + std::chrono::seconds(60);
        row.duration = std::chrono::milliseconds(12);
        row.lag = std::chrono::milliseconds(1);
    }
    const auto polled = note(first);
    EXPECT_THAT(polled.changed, Optional(ElementsAre(0, 1)));
    all.rows[2].next_due = kNow + std::chrono::seconds(90);
    const auto moved = note(polled.version);
    EXPECT_THAT(moved.changed, Optional(ElementsAre(2))) << "moved without a run";
    // Wall times are made anew for each snapshot.
    for (int i = 0; i < 5; ++i) {
        for (FleetRow& row : all.rows) {
            row.next_due.us += 40'000;
            row.last_success.us -= 7;
        }
        const std::size_t changed = i < 2 ? 0U : 3U;
        EXPECT_THAT(note(moved.version).changed, Optional(testing::SizeIs(changed))) << i;
    }
}

TEST_F(FleetChangesTest, SinceWhenATargetIsInItsStateIsAChange) {
    all.rows[2].since = kNow;
    const std::string first = note("").version;
    all.rows[2].since = kNow + std::chrono::milliseconds(50);
    EXPECT_THAT(note(first).changed, Optional(IsEmpty()));
    all.rows[2].since = kNow + std::chrono::seconds(5);
    EXPECT_THAT(note(first).changed, Optional(ElementsAre(2)));
}

TEST_F(FleetChangesTest, ValuesAreToldToWhoFollowsThem) {
    const std::string first = note("").version;
    all.rows[0].value = 3.5;
    EXPECT_THAT(note(first).changed, Optional(IsEmpty()));
    const auto told = note(first, true);
    EXPECT_THAT(told.changed, Optional(ElementsAre(0)));
    EXPECT_THAT(note(told.version, true).changed, Optional(IsEmpty()));
}

TEST_F(FleetChangesTest, OfAVersionThatIsNotKnownAllIsTold) {
    const std::string first = note("").version;
    for (const std::string& since : {std::string(), std::string("7.1."), first + "9", first + "x",
                                     std::string("8.1.1"), std::string("7.2.1")}) {
        EXPECT_EQ(note(since).changed, std::nullopt) << since;
    }
    EXPECT_EQ(changes.of("viewer")->note(all, first, false).changed, std::nullopt) << "of others";
    const FleetSnapshot some = seen_by("site=berlin");
    const auto fewer = marks->note(some, first, false);
    EXPECT_EQ(fewer.changed, std::nullopt) << "other targets are seen";
    EXPECT_EQ(note(first).changed, std::nullopt) << "and those from before again";
}

TEST_F(FleetChangesTest, ANewFrameOfTheSameFleetIsNoChange) {
    const std::string first = note("").version;
    frame = std::make_shared<const FleetFrame>(test::small_fleet());
    all = seen_by("");
    EXPECT_THAT(note(first).changed, Optional(IsEmpty()));
}

TEST_F(FleetChangesTest, KeepsThoseWhoAskedLately) {
    FleetChanges few(7, 2);
    const auto a = few.of("a");
    const auto b = few.of("b");
    EXPECT_EQ(few.of("a"), a);
    few.of("c");
    EXPECT_EQ(few.of("a"), a);
    EXPECT_NE(few.of("b"), b);
    const std::string version = b->note(all, "", false).version;
    EXPECT_EQ(few.of("b")->note(all, version, false).changed, std::nullopt);
}

TEST_F(FleetChangesTest, NarrowsASnapshotToSomeRows) {
    all.rows[2].failures = 4;
    const FleetSnapshot two = narrowed(all, {0, 2});
    EXPECT_THAT(two.shown, ElementsAre(0, 2));
    EXPECT_EQ(two.rows[1].failures, 4U);
    const document::Node page = test::parsed(fleet_page(two, "7.1.2", true));
    EXPECT_EQ(page.find("count")->scalar(), "2");
    EXPECT_EQ(page.find("version")->scalar(), "7.1.2");
    EXPECT_EQ(page.find("partial")->scalar(), "true");
    EXPECT_EQ(page.find("columns")->find("key")->items()[1].scalar(), "web::b");
}

}  // namespace
}  // namespace pollux::api
