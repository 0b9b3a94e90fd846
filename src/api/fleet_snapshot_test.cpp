#include "api/fleet_snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/insight_test_support.hpp"

namespace pollux::api {
namespace {

using document::Node;
using runtime::TargetState;
using test::parsed;
using test::viewer_of;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::WallTime kNow{1'700'000'000'123'000};

FleetSnapshot snapshot_for(const access::Principal& principal) {
    FleetSnapshot fleet;
    fleet.frame = std::make_shared<const FleetFrame>(test::small_fleet());
    fleet.shown = fleet.frame->seen_by(principal);
    fleet.rows.resize(fleet.shown.size());
    fleet.now = kNow;
    fleet.seq = 77;
    return fleet;
}

std::vector<std::string> column(const Node& page, const std::string& name) {
    std::vector<std::string> out;
    for (const Node& one : page.find("columns")->find(name)->items()) {
        out.push_back(one.is_null() ? "null" : one.scalar());
    }
    return out;
}

TEST(FleetFrame, SortsRowsAndKnowsTheirTasks) {
    const FleetFrame frame(test::small_fleet());
    ASSERT_EQ(frame.rows().size(), 3U);
    EXPECT_EQ(frame.rows()[0].target->key, "push::c");
    EXPECT_THAT(frame.rows()[0].tasks, IsEmpty());
    EXPECT_NE(frame.rows()[0].inbound, nullptr);
    EXPECT_THAT(frame.rows()[1].tasks, ElementsAre("web::a", "web::a#slow"));
    EXPECT_EQ(frame.rows()[1].parents, nullptr);
    EXPECT_NE(frame.rows()[2].parents, nullptr);
    EXPECT_EQ(frame.label_sets().size(), 2U);
    EXPECT_TRUE(frame.hears_pushes());
    EXPECT_EQ(frame.find("web::b"), &frame.rows()[2]);
    EXPECT_EQ(frame.find("web::a#slow"), nullptr);
    EXPECT_THAT(frame.seen_by(viewer_of("")), ElementsAre(0, 1, 2));
    EXPECT_THAT(frame.seen_by(viewer_of("site=berlin")), ElementsAre(1, 2));
    EXPECT_THAT(frame.seen_by(viewer_of("site=rome")), IsEmpty());
}

TEST(FleetFrame, IsMadeOnceForAView) {
    FrameKeeper keeper;
    const auto view = test::small_fleet();
    const auto first = keeper.frame_of(view);
    EXPECT_EQ(keeper.frame_of(view), first);
    EXPECT_NE(keeper.frame_of(test::small_fleet()), first);
}

TEST(FleetPage, HasAColumnForEachFieldAndAValueForEachTarget) {
    FleetSnapshot fleet = snapshot_for(viewer_of(""));
    fleet.rows[1].state = TargetState::kUp;
    fleet.rows[1].tier = model::Tier::kHigh;
    fleet.rows[1].interval = std::chrono::milliseconds(1500);
    fleet.rows[1].since = kNow;
    fleet.rows[1].duration = std::chrono::microseconds(62'500);
    fleet.alerts.targets["web::b"] = {model::Severity::kMajor, 2, 2};
    const Node page = parsed(fleet_page(fleet));
    EXPECT_EQ(page.find("seq")->scalar(), "77");
    EXPECT_EQ(page.find("count")->scalar(), "3");
    for (const auto& entry : page.find("columns")->entries()) {
        EXPECT_EQ(entry.value.items().size(), 3U) << entry.key;
    }
    EXPECT_EQ(page.find("columns")->entries().size(), 26U);
    EXPECT_THAT(column(page, "key"), ElementsAre("push::c", "web::a", "web::b"));
    EXPECT_THAT(column(page, "region"), ElementsAre("", "eu", "eu"));
    EXPECT_THAT(column(page, "state"), ElementsAre("unknown", "up", "unknown"));
    EXPECT_THAT(column(page, "tier"), ElementsAre("null", "high", "null"));
    EXPECT_THAT(column(page, "interval"), ElementsAre("null", "1.5", "null"));
    EXPECT_THAT(column(page, "since_ms"), ElementsAre("null", "1700000000123", "null"));
    EXPECT_THAT(column(page, "duration"), ElementsAre("null", "0.0625", "null"));
    EXPECT_THAT(column(page, "severity"), ElementsAre("", "", "major"));
    EXPECT_THAT(column(page, "alerts"), ElementsAre("0", "0", "2"));
    EXPECT_THAT(column(page, "acknowledged"), ElementsAre("false", "false", "true"));
    const auto& parents = page.find("columns")->find("parents")->items();
    ASSERT_EQ(parents[2].items().size(), 2U);
    EXPECT_EQ(parents[2].items()[1].scalar(), "spare");
}

TEST(FleetPage, DictionariesHoldOnlyWhatIsSeen) {
    const std::string text = fleet_page(snapshot_for(viewer_of("site=bonn")));
    const Node page = parsed(text);
    EXPECT_EQ(page.find("count")->scalar(), "1");
    ASSERT_EQ(page.find("groups")->items().size(), 1U);
    EXPECT_EQ(page.find("groups")->items()[0].scalar(), "west");
    EXPECT_THAT(column(page, "labels"), ElementsAre("0"));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("berlin")));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("north")));
}

TEST(FleetPage, HeartbeatsSayHowATargetIsThatIsHeard) {
    FleetSnapshot fleet = snapshot_for(viewer_of(""));
    take_heard({}, fleet);
    EXPECT_EQ(fleet.rows[0].state, TargetState::kUnknown);
    runtime::PushRow row;
    row.key = "push::c";
    row.record.state = runtime::PushState::kDown;
    row.record.message = "the backup failed";
    row.record.value = 3.5;
    row.record.since = kNow;
    take_heard({row}, fleet);
    EXPECT_EQ(fleet.rows[0].state, TargetState::kDown);
    EXPECT_EQ(fleet.rows[0].problem, "the backup failed");
    EXPECT_EQ(fleet.rows[0].bound, std::chrono::seconds(90));
    const Node page = parsed(fleet_page(fleet));
    const auto& headline = page.find("columns")->find("headline")->items()[0].items();
    ASSERT_EQ(headline.size(), 1U);
    EXPECT_EQ(headline[0].find("value")->scalar(), "3.5");
}

}  // namespace
}  // namespace pollux::api
