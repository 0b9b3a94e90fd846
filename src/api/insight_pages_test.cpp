#include "api/insight_pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/insight_test_support.hpp"
#include "api/outlook.hpp"

namespace pollux::api {
namespace {

using document::Node;
using test::parsed;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::WallTime kNow{1'700'000'000'000'000};

TEST(InsightPages, ARunSaysWhereItsTimeWent) {
    runtime::RunRecord good;
    good.started = kNow;
    good.duration_us = 62'500;
    good.lag_ms = 3;
    good.requests = 2;
    good.phases_us[static_cast<std::size_t>(runtime::RunPhase::kConnect)] = 500;
    runtime::RunRecord bad = good;
    bad.outcome = model::Outcome::kTransient;
    bad.trigger = model::Trigger::kConfirm;
    bad.words = std::make_shared<const runtime::FailureWords>("snmp.timeout", "no answer");
    const Node page = parsed(runs_page({kNow, {{"web::a", good}, {"web::a#slow", bad}}}));
    const auto& items = page.find("items")->items();
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(items[0].find("trigger")->scalar(), "due");
    EXPECT_EQ(items[0].find("duration")->scalar(), "0.0625");
    EXPECT_EQ(items[0].find("code"), nullptr);
    ASSERT_EQ(items[0].find("phases")->items().size(), 1U);
    EXPECT_EQ(items[0].find("phases")->items()[0].find("name")->scalar(), "connect");
    EXPECT_EQ(items[1].find("task")->scalar(), "web::a#slow");
    EXPECT_EQ(items[1].find("trigger")->scalar(), "confirm");
    EXPECT_EQ(items[1].find("code")->scalar(), "snmp.timeout");
    EXPECT_EQ(items[1].find("error")->scalar(), "no answer");
}

TEST(InsightPages, TheHeatMapHasARowForEachPoint) {
    HistoryFacts facts;
    facts.span = runtime::HistorySpan::kSixHours;
    runtime::SchedulerHistory::Point point;
    point.number = kNow.us / 60'000'000;
    point.started = 4;
    point.lag[1] = 4;
    facts.points = {point, point};
    const Node page = parsed(scheduler_history_page(facts));
    EXPECT_EQ(page.find("step")->scalar(), "60");
    EXPECT_EQ(page.find("points")->items().size(), 2U);
    ASSERT_EQ(page.find("lag_counts")->items().size(), 2U);
    EXPECT_EQ(page.find("lag_counts")->items()[0].items().size(),
              page.find("lag_bounds")->items().size() + 1);
    EXPECT_EQ(page.find("lag_counts")->items()[0].items()[1].scalar(), "4");
}

TEST(InsightPages, CostsAreSharesOfWhatIsSeen) {
    const FleetFrame frame(test::small_fleet());
    CostFacts facts;
    facts.total.busy = 4;
    facts.rows = {{1, {.runs = 2, .failures = 1, .requests = 3, .bytes = 9, .busy = 1}}};
    const Node page = parsed(costs_page(facts, frame));
    const Node& item = page.find("items")->items()[0];
    EXPECT_EQ(item.find("key")->scalar(), "web::a");
    EXPECT_EQ(item.find("mean")->scalar(), "0.5");
    EXPECT_EQ(item.find("share")->scalar(), "0.25");
}

TEST(InsightPages, CostsAreAskedForByTargetTaskOrDevice) {
    const FleetFrame frame(test::small_fleet());
    const auto about = [&frame](std::string key, std::string device) {
        std::vector<std::string> found;
        const CostQuestion question{.key = std::move(key), .device = std::move(device)};
        for (const FleetFrame::Row& row : frame.rows()) {
            if (question.is_about(row)) found.push_back(row.target->key);
        }
        return found;
    };
    EXPECT_THAT(about("", ""), SizeIs(3));
    EXPECT_THAT(about("web::a", ""), ElementsAre("web::a"));
    EXPECT_THAT(about("web::a#slow", ""), ElementsAre("web::a"));
    EXPECT_THAT(about("web::a#fast", ""), IsEmpty());
    EXPECT_THAT(about("web::", ""), IsEmpty());
    EXPECT_THAT(about("push::c", ""), ElementsAre("push::c")) << "it is heard";
    EXPECT_THAT(about("", "b"), ElementsAre("web::b"));
    EXPECT_THAT(about("web::a", "b"), IsEmpty()) << "both must hold";
}

runtime::FleetImage image_with(base::Duration every, model::AdaptiveMode mode) {
    runtime::FleetImage image;
    auto settings = std::make_shared<model::CoreSettings>();
    settings->mode = mode;
    settings->classes.emplace_back().name = "web";
    image.settings = settings;
    for (const char* key : {"web::a", "web::b"}) {
        model::TaskSpec spec;
        spec.key = key;
        spec.cadence = model::Cadence::adaptive(every / 4, every, every * 10);
        image.expansion.tasks.push_back(spec);
        config::TargetPlanInput target;
        target.key = target.target = key;
        image.expansion.targets.push_back(target);
    }
    return image;
}

OutlookFacts nothing_learned() {
    OutlookFacts facts;
    facts.learned.resize(2);
    facts.in_force_ms = {20'000, 20'000};
    return facts;
}

TEST(Outlooks, PoliciesAreComparedOverWhatIsSeen) {
    const auto image = image_with(std::chrono::seconds(20), model::AdaptiveMode::kOff);
    const Node page =
        parsed(policies_page(image, nothing_learned(), {true, false}, model::PolicyKind::kOptimal));
    EXPECT_EQ(page.find("adaptive")->scalar(), "false");
    EXPECT_EQ(page.find("in_force")->scalar(), "fixed") << "adaptive polling is off";
    EXPECT_EQ(page.find("budget")->find("used")->scalar(), "0.05");
    const auto& items = page.find("items")->items();
    ASSERT_EQ(items.size(), 3U);
    EXPECT_EQ(items[0].find("policy")->scalar(), "fixed");
    EXPECT_EQ(items[0].find("mean_interval")->scalar(), "20");
    EXPECT_EQ(items[0].find("mean_age")->scalar(), "10");
    ASSERT_EQ(items[0].find("classes")->items().size(), 1U);
    EXPECT_EQ(items[0].find("classes")->items()[0].find("tasks")->scalar(), "1");
    EXPECT_EQ(items[1].find("policy")->scalar(), "classic");
    EXPECT_EQ(items[2].find("policy")->scalar(), "optimal");
}

TEST(Outlooks, APreviewCountsTargetsThatWouldChange) {
    const auto now = image_with(std::chrono::seconds(20), model::AdaptiveMode::kOff);
    auto then = image_with(std::chrono::seconds(20), model::AdaptiveMode::kOff);
    Node page = parsed(preview_page(now, nothing_learned(), then, nothing_learned()));
    EXPECT_EQ(page.find("targets_changed")->scalar(), "0");
    then.expansion.tasks[1].cadence.base = std::chrono::seconds(40);
    page = parsed(preview_page(now, nothing_learned(), then, nothing_learned()));
    EXPECT_EQ(page.find("valid")->scalar(), "true");
    EXPECT_EQ(page.find("targets_changed")->scalar(), "1");
    EXPECT_EQ(page.find("now")->find("mean_interval")->scalar(), "20");
    EXPECT_EQ(page.find("then")->find("longest_interval")->scalar(), "40");
}

TEST(Outlooks, WhatWouldBeRefusedSaysWhy) {
    const Node page = parsed(refused_preview_page({{.pointer = "/global_rate", .detail = "no"}}));
    EXPECT_EQ(page.find("valid")->scalar(), "false");
    EXPECT_EQ(page.find("errors")->items()[0].find("pointer")->scalar(), "/global_rate");
    EXPECT_TRUE(page.find("then")->is_null());
}

}  // namespace
}  // namespace pollux::api
