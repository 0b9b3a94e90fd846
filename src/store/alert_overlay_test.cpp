#include "store/alert_overlay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "store/memory/memory_alerts.hpp"

namespace pollux::store {
namespace {

using model::AlertState;
using testing::ElementsAre;
using testing::IsEmpty;

model::Alert alert(std::uint64_t number, AlertState state = AlertState::kActive) {
    model::Alert made;
    made.number = number;
    made.id = "a" + std::to_string(number);
    made.title = "committed";
    made.addon = "ping";
    made.state = state;
    return made;
}

// Alerts 1 to 6 are committed; 3 is over since, 5 was removed, 7 and 8 are new.
class AlertOverlayTest : public testing::Test {
  protected:
    AlertOverlayTest() {
        AlertBatch batch;
        for (std::uint64_t number = 1; number <= 6; ++number) {
            batch.alerts.push_back(alert(number));
        }
        model::Incident incident;
        incident.id = "i1";
        incident.number = 1;
        incident.title = "committed";
        batch.incidents.push_back(incident);
        model::AlertEvent event;
        event.number = 1;
        event.alert = "a3";
        batch.events.push_back(event);
        EXPECT_TRUE(apply(content_, batch));
        auto over = std::make_shared<UncommittedAlerts>();
        model::Alert changed = alert(3, AlertState::kResolved);
        changed.title = "now";
        over->alerts.emplace("a3", changed);
        over->alerts.emplace("a7", alert(7));
        over->alerts.emplace("a8", alert(8, AlertState::kPending));
        over->removed_alerts.insert("a5");
        incident.title = "now";
        over->incidents.emplace("i1", incident);
        event.number = 2;
        over->events.push_back(event);
        event.number = 3;
        event.alert = "a7";
        over->events.push_back(event);
        over_ = over;
    }

    static std::vector<std::string> ids(const base::Result<Page<model::Alert>>& page) {
        std::vector<std::string> all;
        for (const model::Alert& one : page->rows) all.push_back(one.id);
        return all;
    }

    MemoryAlerts content_;
    std::mutex mutex_;
    MemoryAlertReader under_{mutex_, content_};
    std::shared_ptr<const UncommittedAlerts> over_;
    OverlaidAlerts reader_{under_, nullptr};
};

TEST_F(AlertOverlayTest, WithoutAnythingThatWaitsItIsWhatIsCommitted) {
    EXPECT_THAT(ids(reader_.alerts({})), ElementsAre("a6", "a5", "a4", "a3", "a2", "a1"));
    EXPECT_FALSE(reader_.is_provisional(alert(3)));
}

TEST_F(AlertOverlayTest, WhatWaitsTakesThePlaceOfWhatIsCommitted) {
    OverlaidAlerts reader(under_, over_);
    EXPECT_THAT(ids(reader.alerts({})), ElementsAre("a8", "a7", "a6", "a4", "a3", "a2", "a1"));
    AlertQuery open;
    open.states = {AlertState::kActive};
    EXPECT_THAT(ids(reader.alerts(open)), ElementsAre("a7", "a6", "a4", "a2", "a1"));
    EXPECT_EQ((*reader.alert("a3"))->title, "now");
    EXPECT_TRUE(reader.is_provisional(**reader.alert("a3")));
    EXPECT_FALSE(reader.is_provisional(**reader.alert("a4")));
    EXPECT_FALSE(reader.alert("a5")->has_value());
    EXPECT_EQ((*reader.incident("i1"))->title, "now");
    EXPECT_EQ(reader.incidents({})->rows.at(0).title, "now");
}

TEST_F(AlertOverlayTest, PagesHaveEachRowOnceInBothDirections) {
    OverlaidAlerts reader(under_, over_);
    for (const bool oldest_first : {false, true}) {
        std::vector<std::string> all;
        AlertQuery query;
        query.oldest_first = oldest_first;
        query.limit = 2;
        for (int pages = 0; pages < 10; ++pages) {
            const auto page = reader.alerts(query);
            EXPECT_LE(page->rows.size(), 2U);
            for (const std::string& id : ids(page)) all.push_back(id);
            if (page->next == 0) break;
            (oldest_first ? query.after : query.before) = page->next;
        }
        if (oldest_first) std::ranges::reverse(all);
        EXPECT_THAT(all, ElementsAre("a8", "a7", "a6", "a4", "a3", "a2", "a1"));
    }
}

TEST_F(AlertOverlayTest, CountsAreThoseOfTheRowsAsTheyAreSeen) {
    OverlaidAlerts reader(under_, over_);
    std::map<AlertState, std::uint64_t> counts;
    const auto all = reader.alert_counts();
    for (const AlertCount& one : *all) counts[one.state] += one.count;
    EXPECT_EQ(counts[AlertState::kActive], 5U);  // 1, 2, 4, 6, 7
    EXPECT_EQ(counts[AlertState::kResolved], 1U);
    EXPECT_EQ(counts[AlertState::kPending], 1U);
}

TEST_F(AlertOverlayTest, ATimelineEndsWithWhatWaits) {
    OverlaidAlerts reader(under_, over_);
    AlertEventQuery query;
    query.alert = "a3";
    query.oldest_first = true;
    const auto events = reader.events(query);
    ASSERT_EQ(events->rows.size(), 2U);
    EXPECT_EQ(events->rows[1].number, 2U);
}

}  // namespace
}  // namespace pollux::store
