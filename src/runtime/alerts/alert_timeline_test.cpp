#include "runtime/alerts/alert_timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using model::AlertEventKind;
using model::AlertState;

constexpr base::WallTime kNow{1'000'000};

class AlertTimelineTest : public testing::Test {
  protected:
    std::vector<AlertEventKind> change(alert::ChangeKind kind = alert::ChangeKind::kUpdated,
                                       const std::string& by = {}) {
        events_ = timeline_.of(alert::AlertChange{kind, "because", alert_}, by, kNow);
        std::vector<AlertEventKind> kinds;
        for (const model::AlertEvent& event : events_) kinds.push_back(event.kind);
        return kinds;
    }

    AlertTimeline timeline_{100};
    model::Alert alert_ = [] {
        model::Alert alert;
        alert.id = "a";
        alert.message = "it is dark";
        return alert;
    }();
    std::vector<model::AlertEvent> events_;
};

TEST_F(AlertTimelineTest, TellsTheLifeOfAnAlertStepByStep) {
    using testing::ElementsAre;
    EXPECT_THAT(change(alert::ChangeKind::kCreated), ElementsAre(AlertEventKind::kRaised));
    EXPECT_EQ(events_[0].number, 100U);
    EXPECT_EQ(events_[0].cause, "it is dark");
    alert_.state = AlertState::kActive;
    alert_.incident = "i";
    EXPECT_THAT(change(), ElementsAre(AlertEventKind::kIncidentJoined, AlertEventKind::kActivated));
    alert_.occurrences = 7;
    EXPECT_THAT(change(), ElementsAre());  // a repetition is no step
    alert_.severity = model::Severity::kCritical;
    EXPECT_THAT(change(), ElementsAre(AlertEventKind::kSeverity));
    alert_.state = AlertState::kAcknowledged;
    alert_.acknowledged =
        model::Acknowledgement{.by = "ada", .note = "mine", .at = kNow, .until = {}};
    EXPECT_THAT(change(alert::ChangeKind::kUpdated, "user:ada"),
                ElementsAre(AlertEventKind::kAcknowledged));
    EXPECT_EQ(events_[0].by, "user:ada");
    EXPECT_EQ(events_[0].cause, "mine");
    alert_.stale = true;
    EXPECT_THAT(change(), ElementsAre(AlertEventKind::kStale));
    alert_.state = AlertState::kResolved;
    alert_.resolved_by = model::ResolvedBy::kRecovery;
    EXPECT_THAT(change(alert::ChangeKind::kResolved), ElementsAre(AlertEventKind::kResolved));
    EXPECT_EQ(events_[0].cause, "recovery");
    EXPECT_EQ(events_[0].from, AlertState::kAcknowledged);
}

TEST_F(AlertTimelineTest, WhatWasLoadedIsNotToldAgain) {
    alert_.state = AlertState::kActive;
    timeline_.know(alert_);
    EXPECT_TRUE(change().empty());
    alert_.state = AlertState::kSuppressed;
    alert_.suppressed_by = model::SuppressedBy::kParent;
    EXPECT_THAT(change(), testing::ElementsAre(AlertEventKind::kSuppressed));
    EXPECT_EQ(events_[0].cause, "parent");
    alert_.state = AlertState::kActive;
    EXPECT_THAT(change(), testing::ElementsAre(AlertEventKind::kReleased));
}

TEST_F(AlertTimelineTest, AnIncidentOpensChangesAndEnds) {
    model::Incident incident;
    incident.id = "i";
    incident.title = "core-1 is down";
    const auto kinds = [&] {
        std::vector<AlertEventKind> all;
        for (const auto& event : timeline_.of(
                 alert::IncidentChange{.cause = "because", .incident = incident}, "", kNow)) {
            all.push_back(event.kind);
        }
        return all;
    };
    EXPECT_THAT(kinds(), testing::ElementsAre(AlertEventKind::kIncidentOpened));
    incident.affected = 3;
    EXPECT_TRUE(kinds().empty());
    incident.notes.push_back({kNow, "user:ada", "on my way"});
    EXPECT_THAT(kinds(), testing::ElementsAre(AlertEventKind::kNote));
    incident.severity = model::Severity::kCritical;
    EXPECT_THAT(kinds(), testing::ElementsAre(AlertEventKind::kIncidentChanged));
    incident.resolved_at = kNow;
    EXPECT_THAT(kinds(), testing::ElementsAre(AlertEventKind::kIncidentResolved));
}

}  // namespace
}  // namespace pollux::runtime
