#include "runtime/event_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/core_loop_test_support.hpp"

namespace pollux::runtime {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TaskNews change(std::string key) {
    TaskNews news;
    news.key = std::move(key);
    return news;
}

PollNews poll(std::string key, std::uint32_t failures) {
    PollNews news;
    news.key = std::move(key);
    news.failures = failures;
    return news;
}

TEST(EventFeed, CollectsNothingWhileNobodyListens) {
    EventFeed feed;
    feed.want_polls(true);
    feed.changed(change("a"));
    feed.polled(poll("a", 1));
    EXPECT_THAT(feed.take_changes().news, IsEmpty());
    EXPECT_THAT(feed.take_polls(), IsEmpty());
    feed.listen([] {});
    feed.want_polls(false);
    feed.polled(poll("a", 1));
    EXPECT_THAT(feed.take_polls(), IsEmpty()) << "results only while they are wanted";
}

TEST(EventFeed, WakesOnceForAllThatWaits) {
    EventFeed feed;
    int woken = 0;
    feed.listen([&] { ++woken; });
    feed.changed(change("a"));
    feed.changed(change("b"));
    EXPECT_EQ(woken, 1);
    const auto taken = feed.take_changes();
    ASSERT_THAT(taken.news, SizeIs(2));
    EXPECT_EQ(taken.news[1].key, "b");
    feed.changed(change("c"));
    EXPECT_EQ(woken, 2);
    feed.listen({});
    feed.changed(change("d"));
    EXPECT_EQ(woken, 2);
}

TEST(EventFeed, NewsOfAlertsThatWereLostCountAsMissed) {
    EventFeed feed;
    feed.listen([] {});
    feed.alerted({AlertNews{}, AlertNews{NewsLost{7}, {}, false}});
    const auto taken = feed.take_changes();
    EXPECT_THAT(taken.alerts, SizeIs(1));
    EXPECT_EQ(taken.dropped, 7U);
}

TEST(EventFeed, CarriesAlertsWithinTheSameBounds) {
    EventFeed feed({.changes = 3, .polls = 3});
    const std::vector<AlertNews> two(2);
    feed.alerted(two);
    EXPECT_THAT(feed.take_changes().alerts, IsEmpty()) << "nobody listens";
    int woken = 0;
    feed.listen([&] { ++woken; });
    feed.alerted({});
    EXPECT_EQ(woken, 0);
    feed.alerted(two);
    feed.changed(change("a"));
    feed.alerted(two);
    EXPECT_EQ(woken, 1);
    const auto taken = feed.take_changes();
    EXPECT_THAT(taken.alerts, SizeIs(3));
    EXPECT_THAT(taken.news, SizeIs(1));
    EXPECT_EQ(taken.dropped, 1U);
    EXPECT_THAT(feed.take_changes().alerts, IsEmpty());
}

TEST(EventFeed, KeepsTheNewestResultOfEachTask) {
    EventFeed feed;
    feed.listen([] {});
    feed.want_polls(true);
    for (std::uint32_t i = 0; i < 100; ++i) feed.polled(poll("a", i));
    feed.polled(poll("b", 1));
    const auto polls = feed.take_polls();
    ASSERT_THAT(polls, SizeIs(2));
    EXPECT_EQ(polls[0].failures, 99U);
    EXPECT_THAT(feed.take_polls(), IsEmpty());
}

TEST(EventFeed, CountsWhatItDrops) {
    EventFeed feed({.changes = 3, .polls = 2});
    feed.listen([] {});
    feed.want_polls(true);
    for (int i = 0; i < 5; ++i) feed.changed(change(std::to_string(i)));
    for (int i = 0; i < 5; ++i) feed.polled(poll(std::to_string(i), 1));
    const auto taken = feed.take_changes();
    EXPECT_THAT(taken.news, SizeIs(3));
    EXPECT_EQ(taken.dropped, 5U);
    EXPECT_EQ(feed.take_changes().dropped, 0U) << "told once";
}

TEST(EventFeed, TheCoreTellsTransitionsAndHowPollsEnded) {
    EventFeed feed;
    test::Inbox<int> woken;
    feed.listen([&] { woken.put(1); });
    feed.want_polls(true);
    test::CoreStage stage(nullptr, {}, &feed);
    const RunOrder order = stage.add(test::lamp_plan("one"));
    stage.report(order, model::Outcome::kTransient, "no answer from the lamp");
    woken.wait_for(1);
    stage.flush();
    const auto end = std::chrono::steady_clock::now() + test::kPatience;
    std::vector<TaskNews> changes;
    std::vector<PollNews> polls;
    while (std::chrono::steady_clock::now() < end && (changes.empty() || polls.empty())) {
        std::ranges::move(feed.take_changes().news, std::back_inserter(changes));
        std::ranges::move(feed.take_polls(), std::back_inserter(polls));
    }
    ASSERT_FALSE(changes.empty());
    EXPECT_EQ(changes[0].key, "lamp::one");
    EXPECT_EQ(changes[0].kind, schedule::ChangeKind::kHealth);
    EXPECT_EQ(changes[0].reason, "no answer from the lamp");
    EXPECT_FALSE(changes[0].provisional);
    ASSERT_THAT(polls, SizeIs(1));
    EXPECT_EQ(polls[0].outcome, model::Outcome::kTransient);
    EXPECT_EQ(polls[0].code, "http.timeout");
    EXPECT_EQ(polls[0].failures, 1U);
    EXPECT_GT(polls[0].next_due, polls[0].at) << "as it was decided after the result";
}

}  // namespace
}  // namespace pollux::runtime
