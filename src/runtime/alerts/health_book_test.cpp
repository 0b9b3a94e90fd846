#include "runtime/alerts/health_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using alert::Health;
using schedule::ChangeKind;

TaskNews news(std::string key, ChangeKind kind, std::uint8_t to, std::uint32_t failures = 1) {
    TaskNews news;
    news.key = std::move(key);
    news.kind = kind;
    news.to = to;
    news.failures = failures;
    news.at = base::WallTime{1'000'000};
    news.reason = "no answer within 5 s";
    return news;
}

TaskNews down(std::string key) { return news(std::move(key), ChangeKind::kHealth, 0); }
TaskNews up(std::string key) { return news(std::move(key), ChangeKind::kHealth, 1, 0); }
TaskNews breaker_opens(std::string key) {
    return news(std::move(key), ChangeKind::kBreaker,
                static_cast<std::uint8_t>(model::BreakerState::kOpen), 3);
}

TaskRow failing_row(std::string key, std::uint32_t consecutive) {
    TaskRow row;
    row.key = std::move(key);
    row.failure.emplace();
    row.failure->consecutive = consecutive;
    row.failure->code = "snmp.timeout";
    return row;
}

TEST(HealthBook, AFailureIsSuspectUntilTheLadderHasConfirmedIt) {
    HealthBook book;
    const auto suspect = book.take(down("ping::a"));
    ASSERT_TRUE(suspect);
    EXPECT_EQ(suspect->health, Health::kSuspect);
    EXPECT_FALSE(suspect->confirmed);
    EXPECT_EQ(suspect->message, "no answer within 5 s");
    EXPECT_THAT(book.suspects(), testing::ElementsAre("ping::a"));
    const auto confirmed = book.take(breaker_opens("ping::a"));
    ASSERT_TRUE(confirmed);
    EXPECT_EQ(confirmed->health, Health::kDown);
    EXPECT_TRUE(confirmed->confirmed);
    EXPECT_TRUE(book.suspects().empty());
    const auto well = book.take(up("ping::a"));
    ASSERT_TRUE(well);
    EXPECT_EQ(well->health, Health::kUp);
    EXPECT_EQ(book.size(), 0U);
}

TEST(HealthBook, AnErrorThatADeviceAnswersIsToldAsSuch) {
    HealthBook book;
    TaskNews error = down("http::a");
    error.answered = true;
    EXPECT_TRUE(book.take(error)->answered);
    TaskNews opens = breaker_opens("http::a");
    opens.answered = true;
    EXPECT_TRUE(book.take(opens)->answered);
    EXPECT_TRUE(book.changed_answers({"http::a"}).empty());
    // It does not even answer any more: no transition says so.
    EXPECT_THAT(book.changed_answers({}), testing::ElementsAre("http::a"));
    TaskRow row = failing_row("http::a", 7);
    row.failure->breaker = model::BreakerState::kOpen;
    const auto silent = book.take(row);
    ASSERT_TRUE(silent);
    EXPECT_FALSE(silent->answered);
    EXPECT_THAT(book.changed_answers({"http::a"}), testing::ElementsAre("http::a"));
}

TEST(HealthBook, AProbeOfAnOpenBreakerIsNoNews) {
    HealthBook book;
    book.take(down("ping::a"));
    book.take(breaker_opens("ping::a"));
    for (const auto state : {model::BreakerState::kHalfOpen, model::BreakerState::kClosed}) {
        EXPECT_FALSE(
            book.take(news("ping::a", ChangeKind::kBreaker, static_cast<std::uint8_t>(state), 4)));
    }
    EXPECT_TRUE(book.fails("ping::a"));
}

TEST(HealthBook, ATargetIsAsBadAsTheWorstOfItsTasks) {
    HealthBook book;
    book.take(down("snmp::a#slow"));
    book.take(breaker_opens("snmp::a#slow"));
    EXPECT_FALSE(book.take(down("snmp::a")));  // already known to be down
    EXPECT_FALSE(book.take(up("snmp::a")));
    EXPECT_TRUE(book.fails("snmp::a"));
    const auto well = book.take(up("snmp::a#slow"));
    ASSERT_TRUE(well);
    EXPECT_EQ(well->target, "snmp::a");
    EXPECT_EQ(well->health, Health::kUp);
}

TEST(HealthBook, NeighboursWithLikeNamesAreOthers) {
    HealthBook book;
    book.take(down("snmp::a x"));
    book.take(down("snmp::a-b"));
    book.take(down("snmp::a#slow"));
    EXPECT_TRUE(book.take(up("snmp::a#slow")));
    EXPECT_FALSE(book.fails("snmp::a"));
    EXPECT_TRUE(book.fails("snmp::a x"));
    EXPECT_TRUE(book.fails("snmp::a-b"));
}

TEST(HealthBook, APermanentDeadLetterIsConfirmedAndPermanent) {
    HealthBook book;
    book.take(down("http::a"));
    const auto told =
        book.take(news("http::a", ChangeKind::kDeadLetter,
                       static_cast<std::uint8_t>(model::DeadLetterReason::kPermanentFailure), 2));
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->confirmed);
    EXPECT_TRUE(told->permanent);
}

TEST(HealthBook, WhatIsSwitchedOffSaysNothing) {
    HealthBook book;
    book.take(down("ping::a"));
    EXPECT_FALSE(book.take(news("ping::a", ChangeKind::kEnabled, 0)));
    EXPECT_FALSE(book.fails("ping::a"));
}

TEST(HealthBook, TheLadderOfOpsconductorConfirmsAfterItsRetries) {
    HealthBook book;
    TaskRow row = failing_row("http::a", 3);
    row.profile = model::FailureProfile::kOpsconductor;
    EXPECT_EQ(book.take(row)->health, Health::kSuspect);
    row.failure->consecutive = 4;
    const auto confirmed = book.take(row);
    ASSERT_TRUE(confirmed);
    EXPECT_EQ(confirmed->health, Health::kDown);
    EXPECT_EQ(confirmed->code, "snmp.timeout");
    row.failure.reset();
    EXPECT_EQ(book.take(row)->health, Health::kUp);
}

TEST(TargetOf, LeavesTheGroupOut) {
    EXPECT_EQ(target_of("snmp::a#slow"), "snmp::a");
    EXPECT_EQ(target_of("snmp::a"), "snmp::a");
}

}  // namespace
}  // namespace pollux::runtime
