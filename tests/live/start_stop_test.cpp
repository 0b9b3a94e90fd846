// Starting and stopping: what keeps a server from starting is said, and it stops in good order
// whatever its devices do.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "lab/fleet_server.hpp"
#include "runtime/uptime/uptime_keeper.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"
#include "tests/live/state_copy.hpp"

namespace pollux::live {
namespace {

using net::test::TempDir;
using testing::HasSubstr;

class StartStop : public testing::Test {
  protected:
    StartStop() : fleet_(lab::FleetServer::start({.snmp = 1, .http = 2}).value()) {
        folder_.write("fleet.yaml", addon_settings("interval: 5s, timeout: 60s") + "devices:\n" +
                                        json_device(*fleet_, 0) + json_device(*fleet_, 1) +
                                        snmp_device(*fleet_, 0, "snmp-system"));
    }
    std::string fleet_file() const { return folder_.file("fleet.yaml"); }

    TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(StartStop, ASecondServerOnTheSameFolderIsRefusedAndTheFirstGoesOn) {
    PolluxServer server(folder_, fleet_file());
    ASSERT_NO_FATAL_FAILURE(server.start());
    const CommandResult second = server.command({"serve"});
    EXPECT_NE(second.code, 0);
    EXPECT_THAT(second.output, HasSubstr(server.data()));
    EXPECT_TRUE(server.everyone_answers()) << server.log();
}

TEST_F(StartStop, AWrongFleetOrAPortThatIsTakenIsSaid) {
    PolluxServer server(folder_, fleet_file());
    ASSERT_NO_FATAL_FAILURE(server.start());
    const std::string port = server.address().substr(server.address().find(':') + 1);
    const CommandResult taken =
        run_pollux(folder_, {"serve", "--data", folder_.file("other")},
                   {{"POLLUX_METRICS_PORT", port}, {"POLLUX_API_LISTEN", "127.0.0.1:0"}});
    EXPECT_NE(taken.code, 0);
    EXPECT_THAT(taken.output, HasSubstr(port));

    const std::string wrong = folder_.write("wrong.yaml", "devices:\n  a: {adress: 127.0.0.1}\n");
    const CommandResult refused =
        run_pollux(folder_, {"serve", "--data", folder_.file("third"), "--fleet", wrong},
                   {{"POLLUX_METRICS_PORT", "0"}, {"POLLUX_API_LISTEN", "127.0.0.1:0"}});
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.output, HasSubstr("wrong.yaml:2"));
}

TEST_F(StartStop, StopsInGoodOrderWhileADeviceKeepsItWaiting) {
    PolluxServer server(folder_, fleet_file());
    ASSERT_NO_FATAL_FAILURE(server.start());
    ASSERT_TRUE(server.everyone_answers()) << server.log();
    ASSERT_TRUE(fleet_->set_fault("web-00002", lab::FaultKind::kBlackHole));
    ASSERT_TRUE(eventually([&] {
        return server.metrics().sum("pollux_driver_in_flight", {{"protocol", "http"}}) >= 1;
    })) << server.log();
    EXPECT_EQ(server.stop(), 0) << server.log();
    EXPECT_FALSE(lines_with(server.lines(), "stopped").empty()) << server.log();
    EXPECT_EQ(StateCopy(server.data()).integrity(), "ok");
    EXPECT_EQ(StateCopy(server.data(), "history.db").integrity(), "ok");

    // The run that was cut off is no failure of the device.
    fleet_->clear_all_faults();
    ASSERT_NO_FATAL_FAILURE(server.start());
    EXPECT_EQ(server.metrics().sum("pollux_targets_never_seen"), 0) << server.all_logs();
    const double before = server.metrics().sum("pollux_runs_ended_total", {{"how", "finished"}});
    EXPECT_TRUE(eventually([&] {
        return server.metrics().sum("pollux_runs_ended_total", {{"how", "finished"}}) >= before + 6;
    })) << server.log();
    EXPECT_TRUE(lines_with(server.lines(), "target is down").empty()) << server.log();
    EXPECT_EQ(server.task_field("http-json::web-00002", "failures"), "0");
}

// The store is for the next start: while polling goes on, nobody reads from it.
TEST_F(StartStop, PollingReadsNothingFromTheStore) {
    PolluxServer server(folder_, fleet_file());
    ASSERT_NO_FATAL_FAILURE(server.start());
    ASSERT_TRUE(server.everyone_answers()) << server.log();
    // Longer than the pause of whoever reads now and then: between two turns all is quiet.
    const auto reads_nothing = [&] {
        const double reads = server.metrics().sum("pollux_store_reads_total");
        const double ended = server.metrics().sum("pollux_runs_ended_total");
        std::this_thread::sleep_for(runtime::UptimeKeeper::kReadEvery + std::chrono::seconds(3));
        return eventually(
                   [&] { return server.metrics().sum("pollux_runs_ended_total") > ended + 6; }) &&
               server.metrics().sum("pollux_store_reads_total") == reads;
    };
    // The first transitions are read once, for the uptime; after them polls alone read nothing.
    ASSERT_TRUE(eventually(reads_nothing)) << server.log();
    EXPECT_TRUE(reads_nothing()) << server.log();
    EXPECT_GT(server.metrics().sum("pollux_history_samples_total"), 0);
    EXPECT_EQ(server.metrics().sum("pollux_history_dropped_total"), 0);
}

}  // namespace
}  // namespace pollux::live
