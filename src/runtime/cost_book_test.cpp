#include "runtime/cost_book.hpp"

#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;

constexpr base::WallTime kMidnight{std::int64_t{1'700'006'400} * 1'000'000};
constexpr RunCost kCost = {.requests = 2, .bytes = 100};

TEST(CostBook, AddsUpByTaskAndTogether) {
    CostBook book(kMidnight);
    book.ended(1, kMidnight + 1min, 500ms, false, kCost);
    book.ended(1, kMidnight + 2min, 1500ms, true, kCost);
    book.ended(2, kMidnight + 2min, 1s, false, kCost);
    const CostSum one = book.of(1, kMidnight + 3min);
    EXPECT_EQ(one.runs, 2U);
    EXPECT_EQ(one.failures, 1U);
    EXPECT_EQ(one.requests, 4U);
    EXPECT_EQ(one.bytes, 200U);
    EXPECT_DOUBLE_EQ(one.busy, 2.0);
    EXPECT_DOUBLE_EQ(book.total(kMidnight + 3min).busy, 3.0);
    EXPECT_EQ(book.of(0, kMidnight).runs, 0U);
    EXPECT_EQ(book.of(99, kMidnight).runs, 0U);
    EXPECT_EQ(book.since(kMidnight + 3min), kMidnight) << "since it began";
}

TEST(CostBook, ForgetsWhatWasBeforeTheLastHalfHour) {
    CostBook book(kMidnight);
    book.ended(1, kMidnight + 10min, 1s, false, kCost);
    EXPECT_EQ(book.of(1, kMidnight + 40min).runs, 1U) << "the half hour before counts";
    EXPECT_EQ(book.of(1, kMidnight + 70min).runs, 0U);
    EXPECT_EQ(book.since(kMidnight + 70min), kMidnight + 30min);
    book.ended(1, kMidnight + 40min, 1s, false, kCost);
    EXPECT_EQ(book.of(1, kMidnight + 41min).runs, 2U);
    EXPECT_EQ(book.of(1, kMidnight + 61min).runs, 1U);
    book.ended(1, kMidnight + 5h, 1s, false, kCost);
    EXPECT_EQ(book.of(1, kMidnight + 5h).runs, 1U);
    EXPECT_EQ(book.total(kMidnight + 5h).runs, 1U);
}

TEST(CostBook, CountsSoManyByThemselvesAndAllTogether) {
    CostBook book(kMidnight, 2);
    for (std::uint32_t task = 0; task < 4; ++task) book.ended(task, kMidnight, 1s, false, kCost);
    EXPECT_EQ(book.of(1, kMidnight).runs, 1U);
    EXPECT_EQ(book.of(3, kMidnight).runs, 0U);
    EXPECT_EQ(book.total(kMidnight).runs, 4U);
    book.forget(0);
    book.forget(0);
    book.ended(3, kMidnight, 1s, false, kCost);
    EXPECT_EQ(book.of(3, kMidnight).runs, 1U) << "there is room again";
    book.ended(2, kMidnight, 1s, false, kCost);
    EXPECT_EQ(book.of(2, kMidnight).runs, 0U);
}

}  // namespace
}  // namespace pollux::runtime
