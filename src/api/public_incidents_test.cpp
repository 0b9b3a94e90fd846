#include "api/public_incidents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/alert_test_support.hpp"
#include "store/memory/memory_store.hpp"

namespace pollux::api {
namespace {

using store::alert_id;
using store::alert_row;
using store::incident_id;
using store::incident_row;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::WallTime kOpen{};
const base::WallTime kNow = base::parse_utc("2026-03-10T12:00:00Z").value();

base::WallTime ago(base::Duration duration) { return kNow - duration; }

class PublicIncidents : public testing::Test {
  protected:
    // An open one that began so long ago; with a public note if it has text.
    model::Incident incident(std::uint64_t number, base::Duration since, std::string note = {}) {
        model::Incident made = incident_row(number);
        made.opened_at = ago(since);
        if (!note.empty()) made.notes = {{made.opened_at, "user:bob", std::move(note), true}};
        return made;
    }
    model::Alert alert(std::uint64_t number, std::uint64_t of, std::string group) {
        model::Alert made = alert_row(number);
        made.incident = incident_id(of);
        made.groups = {std::move(group)};
        return made;
    }
    std::vector<PublicIncident> told() {
        EXPECT_TRUE(store::apply(*store_, std::exchange(batch_, {})));
        auto all = public_incidents(store_->alert_reader(), kNow);
        EXPECT_TRUE(all) << all.error().message;
        return all.value_or(std::vector<PublicIncident>());
    }
    static std::vector<std::string> notes(const PublicIncident& of) {
        std::vector<std::string> out;
        for (const PublicNote& note : of.notes) out.push_back(note.text);
        return out;
    }

    store::AlertBatch batch_;
    std::unique_ptr<store::Store> store_ =
        store::open_memory_store(std::make_shared<store::MemoryDisk>(), {});
};

TEST_F(PublicIncidents, AreThoseWithAPublicNoteOfTheLastTwoWeeks) {
    batch_.incidents = {incident(1, std::chrono::hours(24 * 30), "still open"),
                        incident(2, std::chrono::hours(24 * 30), "long over"),
                        incident(3, std::chrono::hours(2), "over"), incident(4, {})};
    batch_.incidents[1].resolved_at = ago(std::chrono::hours(24 * 15));
    batch_.incidents[2].resolved_at = ago(std::chrono::hours(1));
    batch_.incidents[2].notes.push_back({kNow, "user:bob", "the key is under the mat"});
    batch_.incidents[3].notes = {{kNow, "user:bob", "not for everybody"}};
    batch_.alerts = {alert(1, 1, "berlin"), alert(2, 1, "all"), alert(3, 1, "berlin")};
    const auto all = told();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(notes(all[0]), ElementsAre("over"));
    EXPECT_EQ(all[0].ended, ago(std::chrono::hours(1)));
    EXPECT_THAT(all[0].groups, IsEmpty());
    EXPECT_THAT(notes(all[1]), ElementsAre("still open"));
    EXPECT_EQ(all[1].ended, kOpen);
    EXPECT_THAT(all[1].groups, ElementsAre("all", "berlin"));
}

TEST_F(PublicIncidents, ANoteGoesOnWithTheIncidentThatItsOneWasMergedInto) {
    batch_.incidents = {incident(1, std::chrono::minutes(9), "We are on it."),
                        incident(2, std::chrono::minutes(5)), incident(3, std::chrono::minutes(3))};
    for (std::size_t i = 0; i < 2; ++i) {
        batch_.incidents[i].resolved_at = ago(std::chrono::minutes(2));
        batch_.incidents[i].merged_into = incident_id(i + 2);
    }
    batch_.alerts = {alert(1, 3, "web"), alert(2, 3, "core")};
    auto all = told();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].ended, kOpen) << "the outage goes on";
    EXPECT_EQ(all[0].started, ago(std::chrono::minutes(9)));
    EXPECT_THAT(all[0].groups, ElementsAre("core", "web"));
    EXPECT_THAT(notes(all[0]), ElementsAre("We are on it."));

    // It is over with the last one, and what is written there belongs to the same.
    batch_.incidents = {incident(3, std::chrono::minutes(3), "A switch was replaced.")};
    batch_.incidents[0].resolved_at = kNow;
    all = told();
    ASSERT_EQ(all.size(), 1U) << "one disruption, not two";
    EXPECT_EQ(all[0].ended, kNow);
    EXPECT_EQ(all[0].started, ago(std::chrono::minutes(9)));
    EXPECT_THAT(notes(all[0]), ElementsAre("We are on it.", "A switch was replaced."));
}

TEST_F(PublicIncidents, AMergeThatLeadsNowhereOrInACircleEnds) {
    batch_.incidents = {incident(1, std::chrono::minutes(9), "gone"),
                        incident(2, std::chrono::minutes(8), "circle"),
                        incident(3, std::chrono::minutes(7))};
    for (model::Incident& one : batch_.incidents) one.resolved_at = ago(std::chrono::minutes(1));
    batch_.incidents[0].merged_into = incident_id(99);
    batch_.incidents[1].merged_into = incident_id(3);
    batch_.incidents[2].merged_into = incident_id(2);
    const auto all = told();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].ended, ago(std::chrono::minutes(1)));
    EXPECT_EQ(all[1].ended, ago(std::chrono::minutes(1)));
}

TEST_F(PublicIncidents, TheGroupOfTheCauseIsToldHoweverManyFollow) {
    batch_.incidents = {incident(1, std::chrono::minutes(9), "old cause"),
                        incident(2, std::chrono::minutes(8), "late cause")};
    batch_.incidents[1].root = alert_id(3000);
    batch_.alerts = {alert(1, 1, "core"), alert(3000, 2, "edge")};
    for (std::uint64_t i = 0; i < 300; ++i) batch_.alerts.push_back(alert(2 + i, 1, "web"));
    for (std::uint64_t i = 0; i < store::kMostAlertsPerQuery; ++i) {
        batch_.alerts.push_back(alert(1000 + i, 2, "shop"));
    }
    const auto all = told();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(all[0].groups, ElementsAre("edge", "shop"));
    EXPECT_THAT(all[1].groups, ElementsAre("core", "web"));
}

TEST_F(PublicIncidents, WhatIsBehindManyOthersIsFound) {
    batch_.incidents = {incident(1, std::chrono::hours(30), "since yesterday")};
    for (std::uint64_t i = 0; i < store::kMostAlertsScanned; ++i) {
        batch_.incidents.push_back(incident(2 + i, std::chrono::hours(1)));
    }
    const auto all = told();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_THAT(notes(all[0]), ElementsAre("since yesterday"));
}

}  // namespace
}  // namespace pollux::api
