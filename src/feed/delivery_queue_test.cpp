#include "feed/delivery_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <numeric>
#include <random>

#include "feed/feed_test_support.hpp"

namespace pollux::feed {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

AttemptOutcome delivered() {
    return {.result = AttemptResult::kDelivered, .code = {}, .message = {}};
}
AttemptOutcome transient(base::Duration retry_after = {}) {
    return {.result = AttemptResult::kTransient,
            .code = "http.status",
            .message = "503",
            .retry_after = retry_after};
}
AttemptOutcome permanent() {
    return {.result = AttemptResult::kPermanent, .code = "http.status", .message = "400"};
}

// Virtual time, and a receiver that answers as it is told after 100 ms.
class World {
  public:
    explicit World(DeliveryLimits limits = {}, std::uint32_t per_minute = 0) : queue(limits) {
        set_endpoints(per_minute);
    }

    void set_endpoints(std::uint32_t per_minute) {
        Endpoints endpoints;
        for (const char* name : {"main", "other"}) {
            model::Channel channel;
            channel.name = name;
            channel.url = "http://127.0.0.1/";
            channel.per_minute = per_minute;
            endpoints[{"ops", name}] = make_endpoint(channel, nullptr, ChannelLibrary::shipped());
        }
        queue.set_endpoints(std::move(endpoints), now.boot);
    }

    base::Instant now{base::BootTime{1'000'000'000}, base::WallTime{1'763'427'723'000'000}};
    DeliveryQueue queue;
    std::function<AttemptOutcome(const Attempt&)> answer = [](const Attempt&) {
        return delivered();
    };
    std::vector<Attempt> attempts;
    std::vector<DeliveryReport> reports;

    void advance(base::BootTime to) {
        now.wall += to - now.boot;
        now.boot = to;
    }

    // Lives until nothing waits, or the time is over.
    void run_for(base::Duration time) {
        const base::BootTime until = now.boot + time;
        while (true) {
            for (Attempt& attempt : queue.start_due(now)) {
                under_way_.emplace_back(now.boot + 100ms, attempt);
                attempts.push_back(std::move(attempt));
            }
            base::BootTime next = queue.next_due();
            if (!under_way_.empty()) next = std::min(next, under_way_.front().first);
            if (next > until) return advance(until);
            ASSERT_TRUE(next > now.boot || !under_way_.empty()) << "it wakes in vain";
            advance(std::max(next, now.boot));
            while (!under_way_.empty() && under_way_.front().first <= now.boot) {
                const Attempt attempt = under_way_.front().second;
                under_way_.pop_front();
                if (auto report = queue.finished(attempt.id, answer(attempt), now))
                    reports.push_back(*report);
            }
        }
    }

    std::vector<std::uint64_t> delivered_numbers() const {
        std::vector<std::uint64_t> out;
        for (const DeliveryReport& report : reports) {
            if (report.notification->state == model::DeliveryState::kDelivered)
                out.push_back(report.notification->number);
        }
        return out;
    }

  private:
    std::deque<std::pair<base::BootTime, Attempt>> under_way_;
};

model::Notification of_incident(std::uint64_t number, int incident, std::string channel = "main") {
    auto out = test::notification(number, {.incident = fmt::format("incident-{}", incident)});
    out.channel = std::move(channel);
    return out;
}

model::Notification digest_about(std::uint64_t number, const std::set<int>& incidents) {
    auto out = test::notification(number);
    out.incident.clear();
    out.kind = model::NotificationKind::kDigest;
    std::string about;
    for (const int incident : incidents) {
        about += fmt::format("{}\"incident-{}\"", about.empty() ? "" : ",", incident);
    }
    out.body = fmt::format(R"({{"kind":"digest","about":[{}]}})", about);
    return out;
}

TEST(RetryDelay, DoublesThenWaitsFiveMinutes) {
    base::Duration sum{};
    for (std::uint32_t failures = 1; failures < kMaxAttempts; ++failures) {
        const base::Duration delay = retry_delay(failures, "x");
        const base::Duration plain = failures <= 6
                                         ? base::Duration(std::chrono::seconds(1 << (failures - 1)))
                                     : failures == 7 ? base::Duration(60s)
                                                     : base::Duration(5min);
        EXPECT_GE(delay, plain);
        EXPECT_LE(delay, plain + plain / 10);
        sum += plain;
    }
    EXPECT_GT(sum, 2h) << "all attempts together take at least two hours";
    EXPECT_NE(retry_delay(9, "a"), retry_delay(9, "b"));
}

TEST(DeliveryQueue, ReceiverDownForTwoHoursLosesNothingAndKeepsTheOrder) {
    World world;
    const base::BootTime up = world.now.boot + 2h;
    world.answer = [&](const Attempt&) { return world.now.boot < up ? transient() : delivered(); };
    // 50 incidents of which each says something 20 times during the two hours.
    std::uint64_t number = 0;
    for (int minute = 0; minute < 120; minute += 6) {
        for (int incident = 0; incident < 50; ++incident) {
            ASSERT_TRUE(world.queue.add(of_incident(++number, incident), world.now));
        }
        world.run_for(6min);
    }
    EXPECT_LT(world.attempts.size(), 60U)
        << "a dead receiver is asked now and then, not by everybody";
    world.run_for(1h);
    EXPECT_EQ(world.queue.waiting(), 0U);
    std::map<std::string, std::uint64_t> last;
    std::set<std::uint64_t> seen;
    for (const DeliveryReport& report : world.reports) {
        if (report.notification->state != model::DeliveryState::kDelivered) continue;
        EXPECT_LT(last[report.notification->incident], report.notification->number)
            << "out of order";
        last[report.notification->incident] = report.notification->number;
        EXPECT_TRUE(seen.insert(report.notification->number).second) << "delivered twice";
    }
    EXPECT_EQ(seen.size(), number) << "lost";
    for (const Attempt& attempt : world.attempts) {
        EXPECT_EQ(attempt.notification->id, fmt::format("{:032x}", attempt.notification->number))
            << "another key";
    }
}

TEST(DeliveryQueue, ALaterOneWaitsForTheEarlier) {
    World world;
    for (const std::uint64_t number : {3U, 1U, 2U})
        ASSERT_TRUE(world.queue.add(of_incident(number, 1), world.now));
    ASSERT_TRUE(world.queue.add(of_incident(9, 2), world.now));
    const auto started = world.queue.start_due(world.now);
    ASSERT_EQ(started.size(), 2U);
    EXPECT_EQ(started[0].notification->number, 1U);
    EXPECT_EQ(started[1].notification->number, 9U);
    EXPECT_TRUE(world.queue.start_due(world.now).empty());
    world.queue.finished(started[0].id, delivered(), world.now);
    EXPECT_EQ(world.queue.start_due(world.now).at(0).notification->number, 2U);
}

TEST(DeliveryQueue, OneThatComesLateButIsEarlierDoesNotOvertakeWhatIsUnderWay) {
    World world;
    ASSERT_TRUE(world.queue.add(of_incident(5, 1), world.now));
    const auto started = world.queue.start_due(world.now);
    ASSERT_TRUE(world.queue.add(of_incident(4, 1), world.now));
    EXPECT_TRUE(world.queue.start_due(world.now).empty());
    world.queue.finished(started.at(0).id, delivered(), world.now);
    EXPECT_EQ(world.queue.start_due(world.now).at(0).notification->number, 4U);
}

// What says that it is over must not arrive before what says that it began.
TEST(DeliveryQueue, ADigestWaitsForWhatWasSaidOfItsIncidentsAndTheyForIt) {
    World world;
    bool up = false;
    world.answer = [&](const Attempt& attempt) {
        return up || attempt.notification->number == 4 ? delivered() : transient();
    };
    ASSERT_TRUE(world.queue.add(of_incident(1, 1), world.now));
    ASSERT_TRUE(world.queue.add(digest_about(2, {1, 2}), world.now));
    ASSERT_TRUE(world.queue.add(of_incident(3, 2), world.now));
    ASSERT_TRUE(world.queue.add(of_incident(4, 3), world.now));
    world.run_for(5min);
    EXPECT_EQ(world.delivered_numbers(), std::vector<std::uint64_t>{4})
        << "an incident that is not in it does not wait";
    up = true;
    world.run_for(10min);
    EXPECT_EQ(world.delivered_numbers(), (std::vector<std::uint64_t>{4, 1, 2, 3}));
    EXPECT_EQ(world.queue.waiting(), 0U);
}

TEST(DeliveryQueue, ADigestThatIsGoneHoldsNobody) {
    World world;
    ASSERT_TRUE(world.queue.add(digest_about(2, {1, 2}), world.now));
    ASSERT_TRUE(world.queue.add(of_incident(3, 1), world.now));
    ASSERT_TRUE(world.queue.add(of_incident(4, 2), world.now));
    const auto started = world.queue.start_due(world.now);
    ASSERT_EQ(started.size(), 1U);
    world.queue.taken_back(started[0].id);
    world.queue.cancel(started[0].notification->id);
    world.run_for(1min);
    EXPECT_EQ(world.delivered_numbers(), (std::vector<std::uint64_t>{3, 4}));
}

TEST(DeliveryQueue, DigestsKeepTheOrderOfEveryIncidentWhateverFails) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        World world;
        world.answer = [&](const Attempt&) {
            return random() % 3 == 0 ? transient() : delivered();
        };
        std::map<std::uint64_t, std::set<int>> about;
        std::vector<std::uint64_t> numbers(40);
        std::iota(numbers.begin(), numbers.end(), 1);
        for (const std::uint64_t number : numbers) {
            about[number].insert(static_cast<int>(random() % 6));
            if (number % 4 != 0) continue;
            for (int i = 0; i < 3; ++i) about[number].insert(static_cast<int>(random() % 6));
        }
        // As they are offered again after a restart: in any order.
        std::shuffle(numbers.begin(), numbers.end(), random);
        for (const std::uint64_t number : numbers) {
            ASSERT_TRUE(world.queue.add(number % 4 == 0
                                            ? digest_about(number, about[number])
                                            : of_incident(number, *about[number].begin()),
                                        world.now));
        }
        world.run_for(6h);
        ASSERT_EQ(world.delivered_numbers().size(), 40U);
        std::map<int, std::uint64_t> last;
        for (const std::uint64_t number : world.delivered_numbers()) {
            for (const int incident : about[number]) {
                EXPECT_LT(last[incident], number) << "round " << round;
                last[incident] = number;
            }
        }
    }
}

TEST(DeliveryQueue, GivesUpAfterManyAttemptsAndShowsIt) {
    World world;
    world.answer = [](const Attempt&) { return transient(); };
    ASSERT_TRUE(world.queue.add(of_incident(1, 1), world.now));
    ASSERT_TRUE(world.queue.add(of_incident(2, 1), world.now));
    const base::BootTime began = world.now.boot;
    while (world.reports.empty() ||
           world.reports.back().notification->state == model::DeliveryState::kWaiting) {
        world.run_for(1min);
        ASSERT_LT(world.now.boot - began, 12h);
    }
    EXPECT_GT(world.now.boot - began, 2h);
    const model::Notification& row = *world.reports.back().notification;
    EXPECT_EQ(row.state, model::DeliveryState::kFailed);
    EXPECT_EQ(row.attempts, kMaxAttempts);
    EXPECT_EQ(row.last_error, "http.status: 503");
    EXPECT_EQ(world.queue.waiting(), 1U) << "the next one has its turn";
    world.answer = [](const Attempt&) { return delivered(); };
    world.run_for(10min);
    EXPECT_THAT(world.delivered_numbers(), testing::ElementsAre(2U));
}

TEST(DeliveryQueue, APermanentRefusalEndsOneMessageNotTheChannel) {
    World world;
    world.answer = [](const Attempt& attempt) {
        return attempt.notification->number == 1 ? permanent() : delivered();
    };
    for (const std::uint64_t number : {1U, 2U, 3U})
        ASSERT_TRUE(world.queue.add(of_incident(number, 1), world.now));
    world.run_for(1s);
    ASSERT_EQ(world.reports.size(), 3U);
    EXPECT_EQ(world.reports[0].notification->state, model::DeliveryState::kFailed);
    EXPECT_THAT(world.delivered_numbers(), testing::ElementsAre(2U, 3U));
}

TEST(DeliveryQueue, AMessageThatIsNeverTakenDoesNotStopOtherIncidents) {
    World world;
    world.answer = [](const Attempt& attempt) {
        return attempt.notification->number == 1 ? transient() : delivered();
    };
    for (std::uint64_t number = 1; number <= 20; ++number) {
        ASSERT_TRUE(world.queue.add(of_incident(number, static_cast<int>(number)), world.now));
    }
    world.run_for(5min);
    EXPECT_EQ(world.delivered_numbers().size(), 19U);
    EXPECT_EQ(world.queue.waiting(), 1U);
}

TEST(DeliveryQueue, AnotherChannelIsNotHeldUp) {
    World world;
    world.answer = [](const Attempt& attempt) {
        return attempt.notification->channel == "main" ? transient() : delivered();
    };
    ASSERT_TRUE(world.queue.add(of_incident(1, 1), world.now));
    ASSERT_TRUE(world.queue.add(of_incident(2, 1, "other"), world.now));
    world.run_for(1s);
    EXPECT_THAT(world.delivered_numbers(), testing::ElementsAre(2U));
    const auto status = world.queue.status(world.now);
    EXPECT_GT(status.at({"ops", "main"}).failures, 0U);
    EXPECT_EQ(status.at({"ops", "main"}).last_worked, base::WallTime{});
    EXPECT_EQ(status.at({"ops", "main"}).last_error, "http.status: 503");
    EXPECT_GT(status.at({"ops", "main"}).next_attempt, world.now.wall);
    EXPECT_GT(status.at({"ops", "other"}).last_worked, base::WallTime{});
}

TEST(DeliveryQueue, HonoursRetryAfterForTheWholeChannel) {
    World world;
    bool first = true;
    world.answer = [&](const Attempt&) {
        return std::exchange(first, false) ? transient(90s) : delivered();
    };
    ASSERT_TRUE(world.queue.add(of_incident(1, 1), world.now));
    world.run_for(200ms);
    ASSERT_TRUE(world.queue.add(of_incident(2, 2), world.now));
    world.run_for(89s);
    EXPECT_EQ(world.attempts.size(), 1U);
    world.run_for(10s);
    EXPECT_EQ(world.delivered_numbers().size(), 2U);
}

TEST(DeliveryQueue, KeepsItsLimits) {
    World world({.max_waiting = 100, .max_in_flight = 5, .max_in_flight_per_channel = 3});
    for (std::uint64_t number = 1; number <= 50; ++number) {
        ASSERT_TRUE(world.queue.add(of_incident(number, static_cast<int>(number)), world.now));
        ASSERT_TRUE(world.queue.add(of_incident(number + 100, static_cast<int>(number), "other"),
                                    world.now));
    }
    const auto refused = world.queue.add(of_incident(999, 999), world.now);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "feed.queue_full");
    EXPECT_TRUE(world.queue.add(of_incident(1, 1), world.now)) << "known already: nothing to do";
    const auto started = world.queue.start_due(world.now);
    EXPECT_EQ(started.size(), 5U);
    EXPECT_EQ(std::ranges::count_if(
                  started, [](const Attempt& one) { return one.notification->channel == "main"; }),
              3);
}

TEST(DeliveryQueue, KeepsTheRateOfAChannel) {
    World world({}, 6);
    for (std::uint64_t number = 1; number <= 30; ++number) {
        ASSERT_TRUE(world.queue.add(of_incident(number, static_cast<int>(number)), world.now));
    }
    world.run_for(1s);
    EXPECT_EQ(world.attempts.size(), 6U);
    world.run_for(59s);
    EXPECT_LE(world.attempts.size(), 12U);
    world.run_for(5min);
    EXPECT_EQ(world.delivered_numbers().size(), 30U);
}

TEST(DeliveryQueue, WaitsUntilNotBeforeAlsoInTheNextLife) {
    World world;
    auto row = of_incident(1, 1);
    row.attempts = 8;
    row.not_before = world.now.wall + 3min;
    ASSERT_TRUE(world.queue.add(row, world.now));
    world.run_for(179s);
    EXPECT_TRUE(world.attempts.empty());
    world.run_for(2s);
    ASSERT_EQ(world.attempts.size(), 1U);
    EXPECT_EQ(world.attempts[0].number, 9U);
    EXPECT_EQ(world.reports.at(0).notification->attempts, 9U);
}

TEST(DeliveryQueue, CancelTakesOutWhatWasNotSent) {
    World world;
    for (const std::uint64_t number : {1U, 2U})
        ASSERT_TRUE(world.queue.add(of_incident(number, 1), world.now));
    const auto started = world.queue.start_due(world.now);
    world.queue.cancel(started.at(0).notification->id);
    world.queue.cancel(of_incident(2, 1).id);
    world.queue.cancel("unknown");
    EXPECT_EQ(world.queue.waiting(), 1U);
    const auto report = world.queue.finished(started[0].id, transient(), world.now);
    EXPECT_EQ(report->notification->state, model::DeliveryState::kCancelled);
    EXPECT_EQ(world.queue.waiting(), 0U);
    EXPECT_EQ(world.queue.finished(started[0].id, transient(), world.now), nullptr);
}

TEST(DeliveryQueue, WhatIsTakenBackWaitsAsBefore) {
    World world;
    ASSERT_TRUE(world.queue.add(of_incident(1, 1), world.now));
    const auto started = world.queue.start_due(world.now);
    world.queue.taken_back(started.at(0).id);
    EXPECT_EQ(world.queue.in_flight(), 0U);
    const auto again = world.queue.start_due(world.now);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].number, 1U);
    EXPECT_EQ(again[0].notification->id, started[0].notification->id);
}

TEST(DeliveryQueue, AChannelThatIsGoneKeepsWhatWaits) {
    World world;
    ASSERT_TRUE(world.queue.add(of_incident(1, 1), world.now));
    world.queue.set_endpoints({}, world.now.boot);
    const auto started = world.queue.start_due(world.now);
    ASSERT_EQ(started.size(), 1U);
    EXPECT_EQ(started[0].endpoint, nullptr);
    world.queue.finished(started[0].id, transient(), world.now);
    world.set_endpoints(0);
    world.run_for(10s);
    EXPECT_THAT(world.delivered_numbers(), testing::ElementsAre(1U));
}

}  // namespace
}  // namespace pollux::feed
