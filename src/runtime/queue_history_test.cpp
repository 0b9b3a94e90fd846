#include "runtime/queue_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr base::WallTime kStart{1'700'000'100'000'000};  // begins a bucket

std::string class_name(std::size_t number) { return "class-" + std::to_string(number); }

TEST(QueueHistory, SumsUpADayAndForgetsWhatIsOlder) {
    QueueHistory history{QueueHistory::kClasses};
    history.set_time(kStart);
    for (int i = 0; i < 95; ++i) history.ended(0, "snmp", true, 100ms);
    for (int i = 0; i < 5; ++i) history.ended(0, "snmp", false, 10s);
    history.started(0, "snmp");
    QueueSummary sum = history.summary("snmp", kStart + 1min);
    EXPECT_EQ(sum.started, 1U);
    EXPECT_EQ(sum.ok, 95U);
    EXPECT_EQ(sum.failed, 5U);
    EXPECT_NEAR(sum.mean, (95 * 0.1 + 5 * 10) / 100, 1e-9);
    EXPECT_GT(sum.p95, 0.09);
    EXPECT_LT(sum.p95, 0.14) << "the 95th of 100 took 0.1 s";
    EXPECT_EQ(history.summary("other", kStart).finished(), 0U);

    EXPECT_TRUE(history.set_time(kStart + 23h + 55min));
    history.ended(0, "snmp", true, 1s);
    EXPECT_EQ(history.summary("snmp", kStart + 23h + 56min).finished(), 101U);
    EXPECT_EQ(history.summary("snmp", kStart + 24h).finished(), 1U);
    history.set_time(kStart + 24h);
    history.started(0, "snmp");
    EXPECT_EQ(history.summary("snmp", kStart + 24h).started, 1U) << "in the place of the oldest";
}

TEST(QueueHistory, RatesAreThoseOfTheLastMinutes) {
    QueueHistory history{QueueHistory::kClasses};
    history.set_time(kStart);
    for (int i = 0; i < 600; ++i) history.started(0, "snmp");
    EXPECT_DOUBLE_EQ(history.summary("snmp", kStart + 5min).start_rate, 2.0);
    EXPECT_DOUBLE_EQ(history.summary("snmp", kStart + 5min + 5min - 1s).start_rate, 600.0 / 599);
    EXPECT_DOUBLE_EQ(history.summary("snmp", kStart + 10min).start_rate, 0.0);
}

TEST(QueueHistory, TheP95IsWithinItsStepForEveryDuration) {
    for (const auto duration : {2ms, 15ms, 180ms, 1'700ms, 42'000ms, 600'000ms}) {
        QueueHistory history{QueueHistory::kClasses};
        history.set_time(kStart);
        for (int i = 0; i < 100; ++i) history.ended(0, "x", true, duration);
        const double seconds = base::to_seconds(duration);
        const double p95 = history.summary("x", kStart).p95;
        EXPECT_GT(p95, seconds * 0.66);
        EXPECT_LT(p95, seconds * 1.51);
    }
    QueueHistory history{QueueHistory::kClasses};
    history.set_time(kStart);
    history.ended(0, "x", true, -1s);
    history.ended(0, "x", true, 1000h);
    EXPECT_GT(history.summary("x", kStart).p95, 3600) << "in the last step";
}

TEST(QueueHistory, SurvivesARestartAndKeepsWhatWasCountedMeanwhile) {
    QueueHistory before{QueueHistory::kClasses};
    before.set_time(kStart);
    before.started(0, "snmp");
    before.ended(0, "snmp", true, 1s);
    before.set_time(kStart + 10min);
    before.ended(0, "snmp", false, 3s);
    const store::MemoryBatch saved = before.save();
    ASSERT_THAT(saved.rows, SizeIs(1));
    EXPECT_EQ(saved.rows[0].key, "queue/snmp");

    QueueHistory after{QueueHistory::kClasses};
    after.set_time(kStart + 15min);
    after.ended(3, "snmp", true, 2s);
    after.recall("snmp", saved.rows[0].bytes);
    const QueueSummary sum = after.summary("snmp", kStart + 15min);
    EXPECT_EQ(sum.started, 1U);
    EXPECT_EQ(sum.ok, 2U);
    EXPECT_EQ(sum.failed, 1U);
    EXPECT_DOUBLE_EQ(sum.mean, 2.0);
    after.ended(3, "snmp", true, 2s);
    EXPECT_EQ(after.summary("snmp", kStart + 15min).ok, 3U);

    // A day later there is nothing to keep, and counting begins anew.
    after.set_time(kStart + 40h);
    const store::MemoryBatch later = after.save();
    EXPECT_THAT(later.rows, IsEmpty());
    EXPECT_THAT(later.removed, ElementsAre("queue/snmp"));
    after.started(3, "snmp");
    EXPECT_EQ(after.summary("snmp", kStart + 40h).started, 1U);
}

TEST(QueueHistory, PointsAreTheFiveMinutesThatAreOver) {
    QueueHistory history{QueueHistory::kRegions};
    history.set_time(kStart);
    history.started(0, "");
    history.ended(0, "", true, 1s);
    history.ended(0, "", false, 3s);
    history.set_time(kStart + 10min);
    history.started(0, "");
    history.set_time(kStart + 15min);
    history.ended(0, "", true, 9s);
    const auto points = history.points("", kStart + 16min);
    ASSERT_THAT(points, SizeIs(2)) << "nothing happened in one, and one is under way";
    EXPECT_EQ(points[0].at, kStart);
    EXPECT_EQ(points[0].started, 1U);
    EXPECT_EQ(points[0].ok, 1U);
    EXPECT_EQ(points[0].failed, 1U);
    EXPECT_DOUBLE_EQ(points[0].mean, 2.0);
    EXPECT_GT(points[0].p95, 2.0);
    EXPECT_EQ(points[1].at, kStart + 10min);
    EXPECT_EQ(points[1].finished(), 0U);
    EXPECT_THAT(history.points("", kStart + 24h + 6min), SizeIs(2)) << "that and the last one";
    EXPECT_THAT(history.points("other", kStart), IsEmpty());
    EXPECT_EQ(history.save().rows.at(0).key, "region/");
}

TEST(QueueHistory, IgnoresDamagedRows) {
    QueueHistory before{QueueHistory::kClasses};
    before.set_time(kStart);
    before.ended(0, "snmp", true, 1s);
    const std::string good = before.save().rows.at(0).bytes;
    for (std::size_t length = 0; length < good.size(); ++length) {
        QueueHistory after{QueueHistory::kClasses};
        after.set_time(kStart);
        after.recall("snmp", good.substr(0, length));
        EXPECT_EQ(after.summary("snmp", kStart).finished(), 0U) << length;
    }
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 0x80);
        QueueHistory after{QueueHistory::kClasses};
        after.set_time(kStart);
        after.recall("snmp", bad);
        after.started(0, "snmp");
        EXPECT_LE(after.summary("snmp", kStart).started, 1U + 0xFFFF'FFFFULL) << "no crash";
    }
}

TEST(QueueHistory, TheNumberOfQueuesIsBounded) {
    QueueHistory history{QueueHistory::kClasses};
    history.set_time(kStart);
    for (std::size_t i = 0; i < QueueHistory::kMostQueues + 10; ++i) {
        history.started(static_cast<std::uint16_t>(i), class_name(i));
    }
    EXPECT_THAT(history.save().rows, SizeIs(QueueHistory::kMostQueues));
    EXPECT_EQ(history.summary(class_name(QueueHistory::kMostQueues), kStart).started, 0U);
}

}  // namespace
}  // namespace pollux::runtime
