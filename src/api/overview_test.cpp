#include "api/overview.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "api/insight_test_support.hpp"

namespace pollux::api {
namespace {

using document::Node;
using model::Severity;
using runtime::TargetState;
using test::parsed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr base::WallTime kNow{1'700'000'000'000'000};

class Overviews : public testing::Test {
  protected:
    Overviews() {
        fleet_.frame = std::make_shared<const FleetFrame>(test::small_fleet());
        fleet_.shown = fleet_.frame->seen_by(test::viewer_of(""));
        fleet_.rows.resize(3);
        fleet_.now = kNow;
        for (FleetRow& row : fleet_.rows) {
            row.state = TargetState::kUp;
            row.bound = std::chrono::seconds(60);
            row.last_success = kNow - std::chrono::seconds(10);
        }
    }
    std::vector<std::string> kinds() const {
        std::vector<std::string> out;
        for (const Attention& one : attention_of(fleet_, facts_)) out.push_back(one.kind);
        return out;
    }

    void add(model::Incident incident) {
        facts_.incidents.push_back(&incidents_.emplace_back(std::move(incident)));
    }

    FleetSnapshot fleet_;
    OverviewFacts facts_;
    std::deque<model::Incident> incidents_;
};

TEST_F(Overviews, NothingNeedsAnybodyWhenAllIsWell) {
    EXPECT_THAT(attention_of(fleet_, facts_), IsEmpty());
    const Node page = parsed(overview_page(fleet_, facts_));
    EXPECT_EQ(page.find("counts")->find("up")->scalar(), "3");
    EXPECT_EQ(page.find("counts")->find("down")->scalar(), "0");
    EXPECT_EQ(page.find("freshness")->find("median_age")->scalar(), "10");
    EXPECT_EQ(page.find("freshness")->find("fresh_share")->scalar(), "1");
    EXPECT_TRUE(page.find("rates")->find("success_ratio")->is_null());
}

TEST_F(Overviews, FreshnessCountsWhatIsExpectedToHaveData) {
    fleet_.rows[0].state = TargetState::kDisabled;
    fleet_.rows[1].last_success = kNow - std::chrono::seconds(100);
    fleet_.rows[2].last_success = {};
    const Node page = parsed(overview_page(fleet_, facts_));
    EXPECT_EQ(page.find("freshness")->find("over_bound")->scalar(), "1");
    EXPECT_EQ(page.find("freshness")->find("fresh_share")->scalar(), "0");
    EXPECT_EQ(page.find("freshness")->find("p95_age")->scalar(), "100");
}

TEST_F(Overviews, TheWorstComesFirst) {
    facts_.review = true;
    facts_.store_well = false;
    fleet_.rows[1].state = TargetState::kStale;
    fleet_.rows[2].state = TargetState::kDown;
    fleet_.rows[2].breaker = model::BreakerState::kOpen;
    fleet_.rows[2].dead_letter = model::DeadLetterReason::kPermanentFailure;
    fleet_.rows[2].problem = "401";
    EXPECT_THAT(kinds(), ElementsAre("store", "dead_letter", "stale", "review"));
    const auto all = attention_of(fleet_, facts_);
    EXPECT_EQ(all[1].key, "web::b");
    EXPECT_EQ(all[1].title, "web::b was set aside");
    EXPECT_THAT(all[1].why, HasSubstr("401"));
}

TEST_F(Overviews, TargetsWithTheSameTroubleAreOneLine) {
    for (std::size_t i = 1; i <= 2; ++i) {
        fleet_.rows[i].state = TargetState::kDown;
        fleet_.rows[i].breaker = model::BreakerState::kOpen;
        fleet_.rows[i].breaker_since = kNow - std::chrono::minutes(static_cast<int>(i));
    }
    const auto all = attention_of(fleet_, facts_);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].count, 2U);
    EXPECT_EQ(all[0].title, "2 targets of web are only probed");
    EXPECT_EQ(all[0].since, kNow - std::chrono::minutes(2)) << "the oldest";
    fleet_.alerts.targets["web::a"] = {Severity::kCritical, 1, 0};
    EXPECT_EQ(attention_of(fleet_, facts_)[0].count, 1U) << "its incident says it";
    fleet_.rows[2].state = TargetState::kUnreachable;
    EXPECT_THAT(kinds(), IsEmpty()) << "its parent says it";
}

TEST_F(Overviews, IncidentsThatSomebodyHasAreCountedOnly) {
    for (const char* id : {"one", "two"}) {
        model::Incident incident;
        incident.id = id;
        incident.title = std::string(id) + " does not answer";
        incident.severity = Severity::kCritical;
        incident.device = "a";
        incident.affected = 4;
        add(std::move(incident));
    }
    fleet_.alerts.incidents["one"] = {.active = 0, .acknowledged = 1, .suppressed = 4};
    fleet_.alerts.incidents["two"] = {.active = 1, .acknowledged = 1, .suppressed = 4};
    const Node page = parsed(overview_page(fleet_, facts_));
    ASSERT_EQ(page.find("attention")->items().size(), 1U);
    const Node& told = page.find("attention")->items()[0];
    EXPECT_EQ(told.find("key")->scalar(), "two");
    EXPECT_EQ(told.find("count")->scalar(), "5");
    EXPECT_EQ(told.find("since"), nullptr);
    EXPECT_EQ(page.find("incidents")->find("open")->scalar(), "2");
    EXPECT_EQ(page.find("incidents")->find("acknowledged")->scalar(), "1");
}

TEST_F(Overviews, OfTheListThatAllShareEverybodyGetsTheirOwn) {
    std::vector<model::Incident> open(2);
    open[0].device = "a";
    open[1].device = "c";
    runtime::FleetView view;
    std::vector<model::ConfigObject> objects(2);
    for (model::ConfigObject& one : objects) one.kind = model::ObjectKind::kDevice;
    objects[0].name = "a";
    objects[0].body = R"({"labels":{"site":"berlin"}})";
    objects[1].name = "c";
    objects[1].body = R"({"labels":{"site":"bonn"}})";
    view.objects = std::make_shared<const std::vector<model::ConfigObject>>(std::move(objects));
    const auto devices = [&](const std::string& selector) {
        std::vector<std::string> out;
        for (const auto* one : incidents_seen_by(test::viewer_of(selector), view, open)) {
            out.push_back(one->device);
        }
        return out;
    };
    EXPECT_THAT(devices(""), ElementsAre("a", "c"));
    EXPECT_THAT(devices("site=berlin"), ElementsAre("a"));
    EXPECT_THAT(devices("site=bonn"), ElementsAre("c"));
    EXPECT_THAT(devices("site=rome"), IsEmpty());
}

TEST_F(Overviews, AttentionIsBounded) {
    for (int i = 0; i < 50; ++i) {
        model::Incident incident;
        incident.id = std::to_string(i);
        incident.severity = i == 49 ? Severity::kCritical : Severity::kMinor;
        add(std::move(incident));
    }
    const auto all = attention_of(fleet_, facts_);
    ASSERT_EQ(all.size(), kMostAttention);
    EXPECT_EQ(all[0].key, "49");
}

}  // namespace
}  // namespace pollux::api
