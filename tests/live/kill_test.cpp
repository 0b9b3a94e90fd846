// Killed again and again without warning, under load and with breakers and dead letters open. What
// was shown as committed is never lost, and no restart floods the devices.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "lab/fleet_server.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"
#include "tests/live/state_copy.hpp"

namespace pollux::live {
namespace {

using net::test::TempDir;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kDevices = 40;
constexpr std::uint32_t kDead = 5;      // the first ones never answer well again
constexpr std::uint32_t kFlapping = 8;  // the next ones change all the time
// `./dev soak --kill` asks for more of them, and for other moments.
unsigned number_from(const char* variable, unsigned otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}
const unsigned kKills = number_from("POLLUX_KILLS", 10);
const unsigned kSeed = number_from("POLLUX_KILL_SEED", 20240607);

// A label of a task: "breaker" or "dead-letter", and its key.
using Label = std::pair<std::string, std::string>;

class Killed : public testing::Test {
  protected:
    Killed() : fleet_(lab::FleetServer::start({.snmp = kDevices / 2, .http = kDevices}).value()) {
        // Intervals this short live at the fast pace: a dead letter after ten seconds.
        std::string text = addon_settings("interval: {min: 4s, base: 4s, max: 4s}") + "devices:\n";
        for (std::size_t i = 0; i < kDevices; ++i) text += json_device(*fleet_, i);
        for (std::size_t i = 0; i < kDevices / 2; ++i) {
            text += snmp_device(*fleet_, i, "snmp-system");
        }
        server_ = std::make_unique<PolluxServer>(folder_, folder_.write("fleet.yaml", text));
        for (std::uint32_t i = 0; i < kDead; ++i) set_failing(i, true);
    }

    void set_failing(std::uint32_t number, bool failing) const {
        const std::string& name = fleet_->fleet().http()[number].name();
        ASSERT_TRUE(failing ? fleet_->set_fault(name, lab::FaultKind::kServerError)
                            : fleet_->clear_faults(name));
    }

    // Devices come and go until the time is over.
    void live_for(milliseconds time) {
        const auto until = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < until) {
            set_failing(kDead + random_() % kFlapping, random_() % 2 == 0);
            std::this_thread::sleep_for(milliseconds(50));
        }
    }

    // After a death: the store is sound and has all that was shown.
    void check_store() {
        const StateCopy state(server_->data());
        ASSERT_EQ(state.integrity(), "ok");
        ASSERT_EQ(StateCopy(server_->data(), "history.db").integrity(), "ok");
        EXPECT_EQ(state.rows("SELECT count(*) FROM task_state").at(0),
                  std::to_string(kDevices + kDevices / 2));
        std::map<std::string, std::string> stored;
        for (const std::string& row : state.rows("SELECT number, key FROM change")) {
            const std::size_t bar = row.find('|');
            stored[row.substr(0, bar)] = row.substr(bar + 1);
        }
        for (const LogLine& line : server_->all_lines()) {
            if (!line.is_change() || !line.committed()) continue;
            const auto found = stored.find(line.get("number"));
            ASSERT_NE(found, stored.end())
                << "shown and lost: " << line.message() << " " << line.get("number");
            EXPECT_EQ(found->second, line.get("key")) << line.get("number");
        }
        check_labels(state);
        owed_ = std::stod(
            state.rows("SELECT count(*) FROM task_state WHERE failures > 0 AND dead_letter = 0")
                .at(0));
        // A row that was there after an earlier death is still the same one.
        for (const auto& [number, key] : seen_) EXPECT_EQ(stored[number], key) << number;
        seen_ = stored;
    }

    // Every transition that was ever shown has a number of its own.
    void check_numbers() const {
        std::set<std::string> numbers;
        for (const LogLine& line : server_->all_lines()) {
            if (!line.is_change() || !line.committed()) continue;
            EXPECT_TRUE(numbers.insert(line.get("number")).second)
                << line.get("number") << " was used twice, now by " << line.get("key");
        }
    }

    // State and transitions are written together: the last transition says what the state is.
    void check_labels(const StateCopy& state) {
        open_.clear();
        for (const auto& [name, column, kind] :
             {std::tuple{"breaker", "breaker", 0}, std::tuple{"dead-letter", "dead_letter", 1}}) {
            const auto keys = [&](const std::string& sql) {
                const auto rows = state.rows(fmt::format(fmt::runtime(sql), column, kind));
                return std::set<std::string>(rows.begin(), rows.end());
            };
            const auto labelled = keys("SELECT key FROM task_state WHERE {0} <> 0");
            const auto told = keys(
                "SELECT key FROM change AS one WHERE kind = {1} AND to_state <> 0 AND number = "
                "(SELECT max(number) FROM change WHERE kind = {1} AND key = one.key)");
            EXPECT_EQ(labelled, told) << name;
            for (const std::string& key : labelled) open_.insert({name, key});
        }
    }

    // What was open is open after the start, unless a newer transition says otherwise.
    void check_open() const {
        const MetricsPage page = server_->metrics();
        for (const auto& [name, key] : open_) {
            const bool breaker = name == "breaker";
            const auto value = page.value(
                breaker ? "pulse_scheduler_breaker_state" : "pulse_scheduler_dead_letter_depth",
                target_labels(key));
            if (value.value_or(0) >= 1) continue;
            const char* closed = breaker ? "circuit breaker closed" : "dead-letter cleared";
            EXPECT_TRUE(eventually(
                [&] { return !lines_with(server_->lines(), closed, key).empty(); }, seconds(20)))
                << name << " of " << key << " was lost";
        }
    }

    // Starts since the process began, against what the intervals add up to. Within the first
    // seconds the retries that the ladder owes to failed polls weigh too much to go unnoticed: each
    // failure brings at most one start forward.
    void check_start_rate() const {
        const MetricsPage page = server_->metrics();
        const std::chrono::duration<double> lived =
            std::chrono::steady_clock::now() - server_->started_at();
        const double rate = page.sum("pollux_planned_polls_per_second");
        const double burst = std::max(1.0, rate / 2);
        const double retries =
            lived < seconds(10) ? page.sum("pulse_monitor_poll_errors_total") + owed_ : 0.0;
        EXPECT_LE(page.sum("pollux_runs_started_total"),
                  1.2 * rate * lived.count() + burst + retries)
            << "rate " << rate << ", " << lived.count() << " s, " << retries << " retries";
    }

    TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
    std::unique_ptr<PolluxServer> server_;
    std::mt19937 random_{kSeed};
    std::map<std::string, std::string> seen_;  // change -> key
    std::set<Label> open_;                     // at the last death
    double owed_ = 0;                          // retries, then
};

TEST_F(Killed, TenTimesAndNothingThatWasShownIsLost) {
    ASSERT_NO_FATAL_FAILURE(server_->start());
    // Under load means: there is something to lose.
    ASSERT_TRUE(eventually([&] {
        live_for(milliseconds(200));
        return lines_with(server_->lines(), "dead-letter: needs attention").size() >= kDead;
    })) << server_->log();
    for (unsigned round = 0; round < kKills; ++round) {
        SCOPED_TRACE(fmt::format("kill {}, seed {}", round, kSeed));
        live_for(milliseconds(random_() % 5000));
        check_start_rate();
        server_->kill();
        ASSERT_NO_FATAL_FAILURE(check_store());
        ASSERT_GE(open_.size(), 2 * kDead) << "nothing to lose";
        ASSERT_NO_FATAL_FAILURE(server_->start());
        EXPECT_EQ(server_->metrics().sum("pollux_targets", {{"enabled", "true"}}),
                  kDevices + kDevices / 2);
        check_open();
        if (round % 4 == 3) {
            std::this_thread::sleep_until(server_->started_at() + seconds(10));
            check_start_rate();
        }
        if (HasFailure()) break;
    }
    // Whoever lived through all this comes back whole.
    fleet_->clear_all_faults();
    EXPECT_TRUE(eventually([&] {
        const MetricsPage page = server_->metrics();
        return page.sum("pulse_scheduler_dead_letter_depth") == 0 &&
               page.sum("pulse_scheduler_breaker_state") == 0 &&
               page.sum("pollux_targets_never_seen") == 0;
    })) << server_->log();
    EXPECT_EQ(server_->metrics().sum("pollux_sweep_repairs_total"), 0);
    EXPECT_EQ(server_->stop(), 0);
    check_store();
    check_numbers();
}

}  // namespace
}  // namespace pollux::live
