#include "api/status_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/parse.hpp"

namespace pollux::api {
namespace {

using runtime::GroupUptime;
using runtime::UptimeDay;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kHourUs = 3'600'000'000;
const base::WallTime kNow = base::parse_utc("2026-03-10T12:00:00Z").value();

GroupUptime group(std::string name, std::uint32_t up, std::uint32_t down, std::int64_t down_hours) {
    GroupUptime made;
    made.name = std::move(name);
    made.members = up + down;
    made.up = up;
    made.down = down;
    made.last_90d = {.up_us = (1000 - down_hours) * kHourUs, .down_us = down_hours * kHourUs};
    UptimeDay before;
    before.day = runtime::day_of(kNow) - 1;
    UptimeDay today;
    today.day = runtime::day_of(kNow);
    today.sum = {.up_us = 10 * kHourUs, .down_us = 2 * kHourUs};
    today.members = 2;
    made.days = {before, today};
    return made;
}

StatusFacts facts(std::vector<std::string> wanted = {}) {
    StatusFacts made;
    made.title = "Example & Sons";
    made.wanted = std::move(wanted);
    made.groups = {group("", 3, 1, 10), group("berlin", 2, 0, 0), group("bonn", 1, 1, 10),
                   group("cellar", 0, 1, 500), group("empty", 0, 0, 0)};
    made.groups.back().last_90d = {};
    made.now = kNow;
    return made;
}

document::Node parsed(const std::string& text) {
    document::Diagnostics diagnostics;
    document::Parsed parsed = document::parse_json(text, "page", diagnostics);
    EXPECT_TRUE(parsed.ok) << text;
    return std::move(parsed.root);
}

TEST(StatusPage, SaysHowEachGroupDoes) {
    const StatusPage page(facts());
    const document::Node root = parsed(page.json());
    EXPECT_EQ(root.find("title")->scalar(), "Example & Sons");
    EXPECT_EQ(root.find("state")->scalar(), "degraded");
    EXPECT_EQ(root.find("updated_at")->scalar(), "2026-03-10T12:00:00.000Z");
    const auto& groups = root.find("groups")->items();
    ASSERT_EQ(groups.size(), 4U);
    EXPECT_EQ(groups[0].find("name")->scalar(), "berlin");
    EXPECT_EQ(groups[0].find("state")->scalar(), "up");
    EXPECT_EQ(groups[0].find("uptime_90d")->scalar(), "1");
    EXPECT_EQ(groups[1].find("state")->scalar(), "degraded");
    EXPECT_EQ(groups[1].find("uptime_90d")->scalar(), "0.99");
    EXPECT_EQ(groups[1].find("members")->scalar(), "2");
    const auto& days = groups[1].find("days")->items();
    ASSERT_EQ(days.size(), 2U);
    EXPECT_TRUE(days[0].find("uptime")->is_null());
    EXPECT_EQ(days[1].find("day")->scalar(), "2026-03-10");
    EXPECT_EQ(days[1].find("down_seconds")->scalar(), "3600") << "of one member";
    EXPECT_EQ(groups[2].find("state")->scalar(), "down");
    EXPECT_EQ(groups[3].find("state")->scalar(), "unknown");
    EXPECT_TRUE(groups[3].find("uptime_90d")->is_null());
}

TEST(StatusPage, ShowsOnlyTheGroupsThatAreWantedAndInTheirOrder) {
    const StatusPage page(facts({"cellar", "nobody", "berlin"}));
    const std::string text = page.json();
    EXPECT_THAT(text, Not(HasSubstr("bonn")));
    const document::Node root = parsed(text);
    ASSERT_EQ(root.find("groups")->items().size(), 2U);
    EXPECT_EQ(root.find("groups")->items()[0].find("name")->scalar(), "cellar");
    EXPECT_EQ(root.find("state")->scalar(), "degraded");
    EXPECT_FALSE(page.find("bonn"));
    EXPECT_FALSE(page.find(""));
    EXPECT_DOUBLE_EQ(page.find("all")->uptime.value(), 0.75);
    EXPECT_TRUE(page.shows("berlin"));
    EXPECT_FALSE(page.shows("bonn"));
    EXPECT_EQ(StatusPage(facts({"cellar"})).find("all")->state, "down");
    EXPECT_EQ(StatusPage(facts({"nobody"})).find("all")->state, "unknown");
}

TEST(StatusPage, AGroupThatIsCalledAllHasABadgeOfItsOwn) {
    StatusFacts some = facts({"berlin", "all"});
    some.groups.push_back(group("all", 0, 2, 500));
    const StatusPage page(std::move(some));
    ASSERT_TRUE(page.find("all"));
    EXPECT_EQ(page.find("all")->name, "all");
    EXPECT_EQ(page.find("all")->state, "down");
    EXPECT_EQ(StatusPage(facts()).find("all")->name, "Example & Sons");
}

TEST(StatusPage, ListsWhatPeopleWrote) {
    StatusFacts some = facts();
    some.incidents.push_back({.started = kNow,
                              .ended = {},
                              .groups = {"berlin", "bonn"},
                              .notes = {{kNow, "We are <on> it."}}});
    some.incidents.push_back({.started = kNow, .ended = kNow, .groups = {}, .notes = {}});
    const document::Node root = parsed(StatusPage(std::move(some)).json());
    const auto& incidents = root.find("incidents")->items();
    ASSERT_EQ(incidents.size(), 2U);
    EXPECT_EQ(incidents[0].find("title")->scalar(), "Disruption in berlin, bonn");
    EXPECT_EQ(incidents[0].find("state")->scalar(), "open");
    EXPECT_EQ(incidents[0].find("ended"), nullptr);
    EXPECT_EQ(incidents[0].find("notes")->items()[0].find("text")->scalar(), "We are <on> it.");
    EXPECT_EQ(incidents[0].find("notes")->items()[0].find("by"), nullptr);
    EXPECT_EQ(incidents[1].find("title")->scalar(), "Disruption");
    EXPECT_EQ(incidents[1].find("state")->scalar(), "resolved");
}

TEST(StatusPage, NothingIsCalledWholeThatWasNot) {
    EXPECT_EQ(rounded_share(1), 1);
    EXPECT_EQ(rounded_share(0.9999999), 0.999999);
    EXPECT_EQ(rounded_share(0), 0);
    const std::string badge = status_badge("a", {"a", "up", 0.99999});
    EXPECT_THAT(badge, HasSubstr("up 99.99 %"));
}

TEST(StatusBadge, IsAPictureWithEscapedText) {
    const std::string badge =
        status_badge("<script>\"x\"&'\n", {"x", "degraded", std::optional<double>(0.5)});
    EXPECT_THAT(badge, HasSubstr("&lt;script&gt;&quot;x&quot;&amp;&#39; : degraded 50.00 %"));
    EXPECT_THAT(badge, Not(HasSubstr("<script>")));
    EXPECT_TRUE(badge.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_THAT(status_badge("x", {"x", "unknown", std::nullopt}), HasSubstr(">unknown</text>"));
    // Long names are cut between characters.
    std::string name;
    for (int i = 0; i < 200; ++i) name += "\xc3\xa4";
    const std::string cut = status_badge(name, {"x", "up", 1.0});
    EXPECT_THAT(cut, HasSubstr("\xc3\xa4: up 100.00 %"));
    EXPECT_LT(cut.size(), 1500U);
}

}  // namespace
}  // namespace pollux::api
