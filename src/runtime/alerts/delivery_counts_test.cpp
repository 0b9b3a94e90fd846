#include "runtime/alerts/delivery_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/alerts/alert_metrics.hpp"

namespace pollux::runtime {
namespace {

using model::DeliveryState;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr base::WallTime kMade{1'700'000'000'000'000};

model::Receiver receiver(const std::string& name) {
    model::Channel channel;
    channel.name = "hook";
    return {name, {channel}};
}

model::Notification row(const std::string& to, DeliveryState state) {
    model::Notification out;
    out.receiver = to;
    out.channel = "hook";
    out.state = state;
    out.made = kMade;
    return out;
}

std::string page(const DeliveryCounts& deliveries) {
    AlertCounts counts;
    counts.deliveries = deliveries.channels();
    std::string text;
    observe::MetricWriter writer(text);
    write_alert_metrics(writer, counts);
    return text;
}

TEST(DeliveryCounts, CountsAttemptsByTheirEndAndTheDelayOfWhatArrived) {
    DeliveryCounts counts;
    counts.set_receivers({receiver("ops"), receiver("boss")});
    counts.attempted(row("ops", DeliveryState::kWaiting), kMade + 1s);
    counts.attempted(row("ops", DeliveryState::kDelivered), kMade + 3s);
    counts.attempted(row("boss", DeliveryState::kFailed), kMade + 3s);
    const std::string text = page(counts);
    EXPECT_THAT(
        text,
        HasSubstr(
            R"(pollux_notification_attempts_total{receiver="ops",channel="hook",result="retry"} 1)"));
    EXPECT_THAT(
        text,
        HasSubstr(
            R"(pollux_notification_attempts_total{receiver="ops",channel="hook",result="delivered"} 1)"));
    EXPECT_THAT(
        text,
        HasSubstr(
            R"(pollux_notification_attempts_total{receiver="boss",channel="hook",result="failed"} 1)"));
    EXPECT_THAT(
        text,
        HasSubstr(R"(pollux_notification_delivery_seconds_sum{receiver="ops",channel="hook"} 3)"));
    EXPECT_THAT(text, HasSubstr(R"(pollux_notification_last_success_timestamp{receiver="ops",)"
                                R"(channel="hook"} 1700000003)"));
    EXPECT_THAT(text, Not(HasSubstr(R"(last_success_timestamp{receiver="boss")")));
    EXPECT_THAT(text,
                HasSubstr(R"(pollux_notification_queue_depth{receiver="boss",channel="hook"} 0)"));
}

TEST(DeliveryCounts, ForgetsReceiversThatAreGoneAndKeepsTheOthers) {
    DeliveryCounts counts;
    counts.set_receivers({receiver("ops"), receiver("boss")});
    counts.attempted(row("ops", DeliveryState::kDelivered), kMade + 1s);
    counts.set_receivers({receiver("ops")});
    counts.attempted(row("boss", DeliveryState::kDelivered), kMade + 1s);
    ASSERT_EQ(counts.channels().size(), 1U);
    EXPECT_EQ(counts.channels().begin()->second.attempts[0], 1U);
}

TEST(DeliveryCounts, AClockThatWasSetBackMakesNoNegativeDelay) {
    DeliveryCounts counts;
    counts.set_receivers({receiver("ops")});
    counts.attempted(row("ops", DeliveryState::kDelivered), kMade - 1h);
    EXPECT_EQ(counts.channels().begin()->second.delay.sum(), 0);
}

}  // namespace
}  // namespace pollux::runtime
