// Maintenance beside polling: while the store is compacted and copied again and again, no poll is
// missed, and none starts late.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lab/fleet_server.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/histogram.hpp"

namespace pollux::live {
namespace {

using document::Node;

constexpr std::size_t kDevices = 100;
constexpr std::size_t kPadding = 3000;  // devices that are stored and not polled: more to copy
constexpr double kInterval = 6;         // seconds
constexpr double kLatest = 2.5;         // generous: who is so late has waited for something
constexpr double kPolls = 3;            // of every device, while maintenance runs
constexpr const char* kPollTotal = "pulse_monitor_poll_total";
constexpr const char* kLag = "pollux_schedule_lag_seconds";

class Upkeep : public ApiStage {
  protected:
    Upkeep() : fleet_(lab::FleetServer::start({.snmp = 0, .http = kDevices}).value()) {}

    void begin() {
        std::string text = addon_settings(fmt::format(
                               "interval: {{min: {0}s, base: {0}s, max: {0}s}}", kInterval)) +
                           "devices:\n";
        for (std::size_t i = 0; i < kDevices; ++i) text += json_device(*fleet_, i);
        for (std::size_t i = 0; i < kPadding; ++i) {
            text +=
                fmt::format("  pad-{}: {{address: 192.0.2.1, labels: {{pad: \"{}\"}}}}\n", i, i);
        }
        // Each copy is written whole, and the oldest goes.
        ASSERT_NO_FATAL_FAILURE(start(text, {{"POLLUX_BACKUPS_KEEP", "2"}}));
        ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    }
    // Runs to its end; the API says how it ended.
    std::string maintain() {
        ApiClient root = admin();
        const ApiAnswer made = root.post(
            "/api/jobs",
            R"({"type":"maintenance","arguments":{"steps":["compact","backup","retention"]}})");
        EXPECT_EQ(made.status, 201) << made.body;
        const std::string path = "/api/jobs/" + made.at("ids.0");
        std::string state;
        EXPECT_TRUE(eventually([&] {
            state = root.get(path).at("state");
            return state == "completed" || state == "failed";
        }));
        return state;
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(Upkeep, DelaysNoPoll) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const auto late_before = buckets(server_->metrics(), kLag);
    const double failed_before = server_->metrics().sum(kPollTotal, {{"result", "error"}});
    const double polls_before = server_->metrics().sum(kPollTotal);
    fleet_->take_http_loads();
    std::size_t runs = 0;
    const bool polled = eventually([&] {
        EXPECT_EQ(maintain(), "completed");
        ++runs;
        return server_->metrics().sum(kPollTotal) - polls_before >=
               static_cast<double>(kDevices) * (kPolls + 1);
    });
    const auto loads = fleet_->take_http_loads();
    EXPECT_TRUE(polled) << "polling stands still";
    EXPECT_GE(runs, 5U) << "maintenance ran beside the polls";
    EXPECT_EQ(server_->metrics().sum(kPollTotal, {{"result", "error"}}), failed_before);
    EXPECT_LE(worst_between(late_before, buckets(server_->metrics(), kLag)), kLatest);
    // Whoever missed a poll was asked two intervals after the one before, if a bit late then.
    ASSERT_EQ(loads.size(), kDevices);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        EXPECT_GE(static_cast<double>(loads[i].requests), kPolls) << i;
        EXPECT_LT(base::to_seconds(loads[i].largest_gap), 2 * kInterval - kLatest) << i;
    }
}

}  // namespace
}  // namespace pollux::live
