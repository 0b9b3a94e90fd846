// The way down and up again of a target: attempts at the ladder's times, breaker, dead letter, and
// the first success that ends it all; also over a restart.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lab/fleet_server.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"

namespace pollux::live {
namespace {

using net::test::TempDir;
using testing::HasSubstr;

constexpr const char* kTired = "http-json::web-00001";    // answers 500 for a while
constexpr const char* kLocked = "http-json::web-00002";   // answers 500, then 401
constexpr const char* kHealthy = "http-json::web-00003";  // is never touched

// The last word of a ladder in a log: what a person who reads it must find.
void expect_told(const LogLine& line, const std::string& key, const std::string& from,
                 const std::string& to, const std::string& failures) {
    EXPECT_EQ(line.get("key"), key);
    EXPECT_EQ(line.get("from"), from);
    EXPECT_EQ(line.get("to"), to);
    EXPECT_EQ(line.get("failures"), failures);
    EXPECT_EQ(line.get("provisional"), "false");
}

class Ladder : public testing::Test {
  protected:
    Ladder() : fleet_(lab::FleetServer::start({.snmp = 0, .http = 3}).value()) {
        // 20 s is the shortest interval that lives at the usual pace, and the least cap.
        std::string text =
            addon_settings("interval: {min: 20s, base: 20s, max: 20s}") + "devices:\n";
        for (std::size_t i = 0; i < 3; ++i) text += json_device(*fleet_, i);
        server_ = std::make_unique<PolluxServer>(folder_, folder_.write("fleet.yaml", text),
                                                 Environment{{"POLLUX_LOG_LEVEL", "debug"}});
    }

    std::vector<LogLine> lines(const std::string& message, const std::string& key) const {
        return lines_with(server_->all_lines(), message, key);
    }
    std::vector<LogLine> failures(const std::string& key) const {
        return lines("poll failed", key);
    }
    bool wait_for(const std::string& message, const std::string& key, std::size_t count = 1) const {
        return eventually([&] { return lines(message, key).size() >= count; });
    }
    // Whether attempt `number` (from 2) came `seconds` ± share after the one before.
    void expect_gap(const std::string& key, std::size_t number, double seconds,
                    double share) const {
        // A busy machine is late, never early.
        constexpr double kLate = 6;
        const auto attempts = failures(key);
        ASSERT_GE(attempts.size(), number);
        const double gap = attempts[number - 1].seconds() - attempts[number - 2].seconds();
        EXPECT_GE(gap, seconds * (1 - share) - 0.1) << key << " attempt " << number;
        EXPECT_LE(gap, seconds * (1 + share) + kLate) << key << " attempt " << number;
    }
    std::optional<double> breaker(const std::string& key) const {
        return server_->metrics().value("pulse_scheduler_breaker_state", target_labels(key));
    }

    TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
    std::unique_ptr<PolluxServer> server_;
};

TEST_F(Ladder, DownToTheDeadLetterOverARestartAndUpWithTheFirstSuccess) {
    ASSERT_NO_FATAL_FAILURE(server_->start());
    ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    ASSERT_TRUE(fleet_->set_fault("web-00001", lab::FaultKind::kServerError));
    ASSERT_TRUE(fleet_->set_fault("web-00002", lab::FaultKind::kServerError));

    // Three failures open the breaker.
    ASSERT_TRUE(wait_for("circuit breaker opened", kTired)) << server_->log();
    ASSERT_TRUE(wait_for("circuit breaker opened", kLocked)) << server_->log();
    for (const char* key : {kTired, kLocked}) {
        expect_gap(key, 2, 5, 0.2);
        expect_gap(key, 3, 10, 0.2);
        EXPECT_EQ(failures(key).size(), 3U);
        const LogLine opened = lines("circuit breaker opened", key).at(0);
        expect_told(opened, key, "closed", "open", "3");
        EXPECT_THAT(opened.get("reason"), HasSubstr("500"));
    }
    EXPECT_EQ(breaker(kTired), 2);

    // From now on one of them says that the password is wrong; then the server stops and starts.
    ASSERT_TRUE(fleet_->clear_faults("web-00002"));
    ASSERT_TRUE(fleet_->set_fault("web-00002", lab::FaultKind::kAuthFailure));
    EXPECT_EQ(server_->stop(), 0);
    ASSERT_NO_FATAL_FAILURE(server_->start());
    EXPECT_EQ(breaker(kTired), 2) << server_->log();
    EXPECT_EQ(breaker(kLocked), 2) << server_->log();
    EXPECT_EQ(server_->task_field(kTired, "failures"), "3");

    // The count goes on where it was: the fifth failure in a row makes a dead letter.
    ASSERT_TRUE(wait_for("dead-letter: needs attention", kTired)) << server_->all_logs();
    expect_gap(kTired, 4, 20, 0.2);
    expect_gap(kTired, 5, 20, 0.2);
    EXPECT_EQ(failures(kTired).size(), 5U);
    const LogLine dead = lines("dead-letter: needs attention", kTired).at(0);
    expect_told(dead, kTired, "none", "max_retry_attempts", "5");
    EXPECT_THAT(dead.get("reason"), HasSubstr("500"));
    EXPECT_NE(dead.get("retry_at"), "");
    EXPECT_GT(dead.get("retry_at"), dead.get("time"));

    // A permanent failure is confirmed once after 30 s, and is a dead letter then.
    ASSERT_TRUE(wait_for("dead-letter: needs attention", kLocked)) << server_->all_logs();
    expect_gap(kLocked, 4, 20, 0.2);
    expect_gap(kLocked, 5, 30, 0.05);
    const LogLine locked = lines("dead-letter: needs attention", kLocked).back();
    EXPECT_EQ(locked.get("to"), "permanent_failure");
    EXPECT_EQ(locked.get("failures"), "5");
    EXPECT_THAT(locked.get("reason"), HasSubstr("401"));
    EXPECT_EQ(server_->task_field(kLocked, "code"), "http.auth");
    EXPECT_EQ(server_->metrics().sum("pulse_scheduler_dead_letter_depth"), 2);

    // The first success ends it all. One comes with the next probe, the other is asked for: the
    // next probe after a permanent failure is minutes away.
    fleet_->clear_all_faults();
    EXPECT_EQ(
        server_->ask_control("POST", fmt::format("/operate?verb=retry-dead-letter&key={}", kLocked))
            .status,
        200);
    for (const char* key : {kTired, kLocked}) {
        EXPECT_TRUE(wait_for("circuit breaker closed", key)) << server_->all_logs();
        EXPECT_TRUE(wait_for("dead-letter cleared", key)) << server_->all_logs();
        EXPECT_TRUE(wait_for("target is up", key, 2)) << server_->all_logs();
        EXPECT_EQ(server_->task_field(key, "failures"), "0");
        EXPECT_EQ(server_->task_field(key, "breaker"), "closed");
        EXPECT_EQ(server_->task_field(key, "dead_letter"), "none");
    }
    EXPECT_EQ(server_->metrics().sum("pulse_scheduler_dead_letter_depth"), 0);
    EXPECT_EQ(server_->metrics().sum("pulse_scheduler_breaker_state"), 0);
    EXPECT_TRUE(failures(kHealthy).empty());
}

}  // namespace
}  // namespace pollux::live
