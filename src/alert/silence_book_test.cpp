#include "alert/silence_book.hpp"

#include <gtest/gtest.h>

#include "alert/planner_test_support.hpp"

namespace pollux::alert {
namespace {

using model::MatchOperator;
using model::Silence;
using model::SilenceKind;
using testing::hours;
using testing::kStart;
using testing::minutes;

Silence silence(std::string id, std::string device) {
    Silence result;
    result.id = std::move(id);
    result.matchers = {{"device", MatchOperator::kEqual, std::move(device)}};
    result.from = kStart;
    result.until = kStart + hours(2);
    return result;
}

MatchLabels labels(const std::string& device) {
    model::Alert alert;
    alert.device = device;
    return labels_of(alert);
}

TEST(SilenceBook, HoldsWhatMatchesWhileItLasts) {
    SilenceBook book(testing::utc_only);
    ASSERT_TRUE(book.put(silence("a", "web")));
    EXPECT_FALSE(book.holding(labels("web"), kStart - minutes(1)));
    ASSERT_TRUE(book.holding(labels("web"), kStart));
    EXPECT_EQ(book.holding(labels("web"), kStart)->until, kStart + hours(2));
    EXPECT_FALSE(book.holding(labels("db"), kStart));
    EXPECT_FALSE(book.holding(labels("web"), kStart + hours(2)));
}

TEST(SilenceBook, ThoseInForceHoldWhatHoldingWouldHold) {
    SilenceBook book(testing::utc_only);
    Silence later = silence("b", "db");
    later.from = kStart + hours(1);
    ASSERT_TRUE(book.put(silence("a", "web")));
    ASSERT_TRUE(book.put(later));
    EXPECT_TRUE(book.in_force(kStart - minutes(1)).empty());
    for (const auto& now : {kStart, kStart + hours(1), kStart + hours(2)}) {
        const auto in_force = book.in_force(now);
        for (const std::string device : {"web", "db", "other"}) {
            EXPECT_EQ(in_force.hold(labels(device)), book.holding(labels(device), now).has_value())
                << device;
        }
    }
    EXPECT_TRUE(book.in_force(kStart + hours(1)).hold(labels("db")));
}

TEST(SilenceBook, OfSeveralTheLastEndCounts) {
    SilenceBook book(testing::utc_only);
    Silence longer = silence("b", "web");
    longer.until = kStart + hours(5);
    ASSERT_TRUE(book.put(silence("a", "web")));
    ASSERT_TRUE(book.put(longer));
    const auto hold = book.holding(labels("web"), kStart);
    ASSERT_TRUE(hold);
    EXPECT_EQ(hold->until, kStart + hours(5));
    EXPECT_EQ(hold->ids, (std::vector<std::string>{"a", "b"}));
}

TEST(SilenceBook, RecurringOnesComeBackUntilTheyEnd) {
    SilenceBook book(testing::utc_only);
    Silence nightly = silence("n", "web");
    nightly.kind = SilenceKind::kRecurring;
    nightly.window = {"0 2 * * *", hours(1), "UTC"};
    nightly.until = kStart + hours(24 * 2);
    ASSERT_TRUE(book.put(nightly));
    EXPECT_EQ(book.state(nightly, kStart), SilenceState::kPending);
    const base::WallTime night = *base::parse_utc("2026-11-19T02:30:00Z");
    EXPECT_EQ(book.state(nightly, night), SilenceState::kActive);
    EXPECT_EQ(book.holding(labels("web"), night)->until, *base::parse_utc("2026-11-19T03:00:00Z"));
    EXPECT_FALSE(book.holding(labels("web"), night + hours(2 * 24)));
    EXPECT_EQ(book.state(nightly, night + hours(2 * 24)), SilenceState::kExpired);
}

TEST(SilenceBook, AFlexibleOneBeginsOnceWithAnAlert) {
    SilenceBook book(testing::utc_only);
    Silence flexible = silence("f", "web");
    flexible.kind = SilenceKind::kFlexible;
    flexible.duration = hours(1);
    ASSERT_TRUE(book.put(flexible));
    EXPECT_FALSE(book.holding(labels("web"), kStart));
    EXPECT_TRUE(book.begin(labels("db"), kStart).empty());
    const base::WallTime late = kStart + hours(1) + minutes(59);
    ASSERT_EQ(book.begin(labels("web"), late).size(), 1U);
    EXPECT_TRUE(book.begin(labels("web"), late).empty());
    EXPECT_TRUE(book.holding(labels("web"), late + minutes(59))) << "past `until`";
    EXPECT_FALSE(book.holding(labels("web"), late + minutes(60)));
    EXPECT_TRUE(book.begin(labels("web"), late + minutes(60)).empty());
}

TEST(SilenceBook, EndedByHandItIsOverAndStaysInTheHistory) {
    SilenceBook book(testing::utc_only);
    Silence flexible = silence("f", "web");
    flexible.kind = SilenceKind::kFlexible;
    flexible.duration = hours(1);
    ASSERT_TRUE(book.put(silence("a", "web")));
    ASSERT_TRUE(book.put(flexible));
    Silence later = silence("later", "web");
    later.from = kStart + hours(1);
    ASSERT_TRUE(book.put(later));
    book.begin(labels("web"), kStart);
    const base::WallTime now = kStart + minutes(10);
    for (const char* id : {"a", "f", "later"}) {
        EXPECT_TRUE(book.end(id, now)) << id;
        EXPECT_FALSE(book.end(id, now)) << id;
        EXPECT_EQ(book.state(*book.find(id), now), SilenceState::kExpired);
        EXPECT_TRUE(book.put(*book.find(id))) << "as it is stored, it can be read again";
    }
    EXPECT_FALSE(book.holding(labels("web"), now));
    EXPECT_TRUE(book.forget(now + hours(1), hours(24)).empty());
    EXPECT_EQ(book.forget(now + hours(25), hours(24)).size(), 3U);
    EXPECT_EQ(book.size(), 0U);
}

TEST(SilenceBook, RefusesWhatWouldSilenceEverythingOrNothing) {
    SilenceBook book(testing::utc_only);
    Silence all = silence("a", "web");
    all.matchers.clear();
    EXPECT_EQ(book.put(all).error().code, "silence.invalid");
    all.matchers = {{"device", MatchOperator::kMatches, ".*"}};
    EXPECT_EQ(book.put(all).error().code, "silence.invalid");
    Silence never = silence("a", "web");
    never.until = never.from;
    EXPECT_EQ(book.put(never).error().code, "silence.invalid");
    Silence endless = silence("a", "web");
    endless.until = {};
    EXPECT_EQ(book.put(endless).error().code, "silence.invalid");
    Silence wrong = silence("a", "web");
    wrong.matchers[0] = {"device", MatchOperator::kMatches, "("};
    EXPECT_EQ(book.put(wrong).error().code, "matcher.invalid");
    EXPECT_EQ(book.size(), 0U);
}

}  // namespace
}  // namespace pollux::alert
