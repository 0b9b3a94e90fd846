#include "api/event_ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "net/websocket_frames.hpp"

namespace pollux::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::WallTime kNow{1'700'000'000'000'000};
using Found = EventRing::Found;

// Texts of what a follower gets that goes on from `number`.
std::vector<std::string> follow(const EventRing& ring, std::uint64_t number) {
    std::vector<std::string> texts;
    while (true) {
        const auto next = ring.after(number);
        if (next.found != Found::kEvent) return texts;
        texts.push_back(next.event->key);
        number = next.event->number;
    }
}

TEST(EventRing, NumbersRiseAndCarryTheEpoch) {
    EventRing ring(7);
    EXPECT_TRUE(ring.can_resume(ring.newest())) << "nothing was missed yet";
    const std::uint64_t first = ring.add(EventType::kTaskStateChanged, "a::b", kNow, "{}")->number;
    EXPECT_EQ(first >> 32U, 7U);
    EXPECT_EQ(ring.add(EventType::kTaskStateChanged, "a::c", kNow, "{}")->number, first + 1);
    const auto event = ring.after(first - 1).event;
    ASSERT_TRUE(event);
    EXPECT_EQ(event->text(), R"({"type":"task_state_changed","seq":)" + std::to_string(first) +
                                 R"(,"at":"2023-11-14T22:13:20.000Z","key":"a::b","data":{}})");
}

TEST(EventRing, AFollowerGetsEverythingInOrder) {
    EventRing ring(1);
    const std::uint64_t start = ring.newest();
    for (const char* key : {"a", "b", "a"}) {
        ring.add(EventType::kTaskStateChanged, key, kNow, "{}");
    }
    EXPECT_THAT(follow(ring, start), ElementsAre("a", "b", "a")) << "transitions are all told";
    EXPECT_THAT(follow(ring, start + 2), ElementsAre("a"));
    EXPECT_THAT(follow(ring, ring.newest()), IsEmpty());
}

TEST(EventRing, OfResultsAFollowerThatIsBehindGetsTheNewestOnly) {
    EventRing ring(1);
    const std::uint64_t start = ring.newest();
    for (int i = 0; i < 5; ++i) {
        ring.add(EventType::kPollResult, "a", kNow, std::to_string(i));
        ring.add(EventType::kPollResult, "b", kNow, std::to_string(i));
    }
    EXPECT_THAT(follow(ring, start), ElementsAre("a", "b"));
    EXPECT_THAT(ring.after(start).event->text(), testing::HasSubstr("\"data\":4"));
}

TEST(EventRing, WhoIsTooFarBehindIsToldSo) {
    EventRing ring(1, {.events = 3});
    const std::uint64_t start = ring.newest();
    for (int i = 0; i < 3; ++i) ring.add(EventType::kTaskStateChanged, "a", kNow, "{}");
    EXPECT_TRUE(ring.can_resume(start));
    ring.add(EventType::kTaskStateChanged, "a", kNow, "{}");
    EXPECT_EQ(ring.size(), 3U);
    EXPECT_FALSE(ring.can_resume(start));
    EXPECT_EQ(ring.after(start).found, Found::kLost);
    EXPECT_EQ(ring.after(ring.newest() + 1).found, Found::kLost) << "a number nobody gave";
    EXPECT_EQ(EventRing(2).after(ring.newest()).found, Found::kLost) << "of an earlier life";
}

TEST(EventRing, BytesAreBoundedToo) {
    EventRing ring(1, {.events = 1000, .bytes = 10'000});
    const std::string data = '"' + std::string(1000, 'x') + '"';
    for (int i = 0; i < 100; ++i) ring.add(EventType::kPollResult, std::to_string(i), kNow, data);
    EXPECT_LE(ring.bytes(), 10'000U);
    EXPECT_GE(ring.size(), 8U);
    const std::string huge = '"' + std::string(50'000, 'x') + '"';
    ring.add(EventType::kPollResult, "huge", kNow, huge);
    EXPECT_EQ(ring.size(), 1U) << "the newest is always there";
}

TEST(EventRing, WhatWasReplacedTakesNoRoom) {
    EventRing ring(1, {.events = 10, .numbers = 1000});
    const std::uint64_t start = ring.newest();
    ring.add(EventType::kTaskStateChanged, "a", kNow, "{}");
    for (int i = 0; i < 500; ++i) ring.add(EventType::kSchedulerStats, "", kNow, "{}");
    EXPECT_EQ(ring.size(), 2U);
    EXPECT_THAT(follow(ring, start), ElementsAre("a", "")) << "the transition is still there";
    for (int i = 0; i < 500; ++i) ring.add(EventType::kSchedulerStats, "", kNow, "{}");
    EXPECT_EQ(ring.after(start).found, Found::kLost) << "numbers are bounded too";
}

TEST(EventRing, AfterALossEverybodyStartsOver) {
    EventRing ring(1);
    ring.add(EventType::kPollResult, "a", kNow, "{}");
    const std::uint64_t up_to_date = ring.newest();
    ring.forget();
    EXPECT_EQ(ring.after(up_to_date).found, Found::kLost);
    EXPECT_EQ(ring.after(ring.newest()).found, Found::kNothing);
    const std::uint64_t start = ring.newest();
    ring.add(EventType::kPollResult, "a", kNow, "{}");
    EXPECT_THAT(follow(ring, start), ElementsAre("a"));
}

TEST(EventRing, TheFrameHoldsTheText) {
    EventRing ring(1);
    const auto event =
        ring.add(EventType::kJobChanged, "sweep", kNow, '"' + std::string(300, 'x') + '"');
    std::string frame;
    net::append_frame(frame, net::WebSocketOpcode::kText, event->text());
    EXPECT_EQ(event->frame, frame);
    EXPECT_EQ(parse_event_type("job_changed"), EventType::kJobChanged);
    EXPECT_EQ(parse_event_type("nothing"), std::nullopt);
}

}  // namespace
}  // namespace pollux::api
