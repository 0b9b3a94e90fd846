// A full disk: polling goes on, the fault is loud, nothing that was shown is lost, and everything
// mends itself when there is room again.
#include <gmock/gmock.h>

#include <set>

#include "lab/fleet_server.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"
#include "tests/live/small_disk.hpp"
#include "tests/live/state_copy.hpp"

namespace pollux::live {
namespace {

using net::test::TempDir;

class DiskFull : public testing::Test {
  protected:
    DiskFull()
        : disk_(folder_.file("data")),
          fleet_(lab::FleetServer::start({.snmp = 0, .http = kDevices}).value()) {
        std::string text = addon_settings("interval: 2s") + "devices:\n";
        for (std::size_t i = 0; i < kDevices; ++i) text += json_device(*fleet_, i);
        server_ = std::make_unique<PolluxServer>(folder_, folder_.write("fleet.yaml", text),
                                                 Environment{}, disk_.folder());
    }

    void set_all(bool failing) const {
        for (const lab::Device& device : fleet_->fleet().http()) {
            if (failing) {
                ASSERT_TRUE(fleet_->set_fault(device.name(), lab::FaultKind::kServerError));
            } else {
                ASSERT_TRUE(fleet_->clear_faults(device.name()));
            }
        }
    }
    std::optional<double> failing() const {
        return server_->metrics().value("pollux_store_failing");
    }
    double ended() const {
        return server_->metrics().sum("pollux_runs_ended_total", {{"how", "finished"}});
    }

    static constexpr std::uint32_t kDevices = 10;
    TempDir folder_;
    SmallDisk disk_;  // goes before the folder it lies in
    std::unique_ptr<lab::FleetServer> fleet_;
    std::unique_ptr<PolluxServer> server_;  // goes before the disk
};

TEST_F(DiskFull, PollingGoesOnAndWhatWasShownIsKept) {
    if (!disk_.mounted()) GTEST_SKIP() << "mounting is not permitted here";
    ASSERT_NO_FATAL_FAILURE(server_->start());
    ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    EXPECT_EQ(failing(), 0);

    set_all(true);
    EXPECT_TRUE(eventually([&] {
        disk_.fill();
        return failing() == 1;
    })) << server_->log();
    EXPECT_FALSE(lines_with(server_->lines(), "store cannot commit").empty()) << server_->log();
    const double failures = server_->metrics().sum("pollux_store_failures_total");
    EXPECT_GT(failures, 0);

    // Targets come back while nothing can be written: shown all the same, marked as provisional.
    const double before = ended();
    set_all(false);
    EXPECT_TRUE(eventually([&] {
        disk_.fill();
        const auto up = lines_with(server_->lines(), "target is up");
        return std::ranges::any_of(up, [](const LogLine& line) { return !line.committed(); });
    })) << server_->log();
    EXPECT_TRUE(eventually([&] { return ended() > before + 3 * kDevices; })) << server_->log();
    EXPECT_EQ(failing(), 1) << server_->log();
    EXPECT_GT(server_->metrics().sum("pollux_store_failures_total"), failures);

    disk_.clear();
    EXPECT_TRUE(eventually([&] { return failing() == 0; })) << server_->log();
    EXPECT_FALSE(lines_with(server_->lines(), "store commits again").empty()) << server_->log();

    // Everything that was ever shown is there, also what was shown before it was written.
    EXPECT_EQ(server_->stop(), 0);
    const StateCopy state(server_->data());
    EXPECT_EQ(state.integrity(), "ok");
    std::set<std::string> stored;
    for (const std::string& row : state.rows("SELECT number, key FROM change")) stored.insert(row);
    for (const LogLine& line : server_->lines()) {
        if (!line.is_change()) continue;
        EXPECT_TRUE(stored.contains(line.get("number") + "|" + line.get("key")))
            << line.message() << " " << line.get("key") << " " << line.get("number");
    }
    // And the next start goes on from there.
    ASSERT_NO_FATAL_FAILURE(server_->start());
    EXPECT_EQ(server_->metrics().sum("pollux_targets"), kDevices);
    EXPECT_EQ(server_->metrics().sum("pollux_targets_never_seen"), 0);
}

}  // namespace
}  // namespace pollux::live
