// The silence of a push target over the death of the whole binary: noticed when it is due, once.
#include <gmock/gmock.h>

#include "base/time.hpp"
#include "tests/live/inbound_stage.hpp"

namespace pollux::live {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class Silence : public InboundStage {
  protected:
    Silence() { add_addon("alive", kPushAddon); }
    void start_with(const std::string& timing) {
        ASSERT_NO_FATAL_FAILURE(
            start(fmt::format("devices:\n  job: {{addons: [{{name: alive, {}}}]}}\n", timing)));
        push_ = url("push", "alive::job");
    }
    void beat() { EXPECT_THAT(curl(push_), EndsWith(" 200")); }
    void die_and_rise() {
        server_->kill();
        ASSERT_NO_FATAL_FAILURE(server_->start());
    }
    // Unix seconds of a time in `explain`; 0: it has none.
    double time_of(const std::string& name) {
        const auto time = base::parse_utc(field("alive::job", name));
        return time ? static_cast<double>(time->us) / 1e6 : 0;
    }
    std::string state() { return field("alive::job", "state"); }
    std::vector<LogLine> told() { return lines_with(server_->all_lines(), "push target is down"); }
    std::size_t signals(const std::string& what) {
        return lines_with(server_->all_lines(), "signal " + what, "alive::job").size();
    }

    std::string push_;
};

TEST_F(Silence, ADeathMovesItsTimeByNothing) {
    ASSERT_NO_FATAL_FAILURE(start_with("interval: 1h, grace: 1m"));
    beat();
    const double heard = time_of("last_heartbeat");
    EXPECT_GT(heard, 0);
    // Times are of two clocks, so they may differ a little.
    EXPECT_NEAR(time_of("down_at"), heard + 3660, 2);
    for (int life = 0; life < 3; ++life) {
        ASSERT_NO_FATAL_FAILURE(die_and_rise());
        EXPECT_EQ(state(), "up");
        EXPECT_EQ(time_of("last_heartbeat"), heard);
        EXPECT_NEAR(time_of("down_at"), heard + 3660, 2) << "neither sooner nor later";
    }
    EXPECT_TRUE(told().empty()) << server_->all_logs();
}

TEST_F(Silence, IsToldAfterADeathOnceAndNotTooEarly) {
    constexpr double kPatience = 16;
    ASSERT_NO_FATAL_FAILURE(start_with("interval: 15s, grace: 1s"));
    beat();
    const double heard = time_of("last_heartbeat");
    ASSERT_NO_FATAL_FAILURE(die_and_rise());
    ASSERT_TRUE(eventually([&] { return !told().empty(); })) << server_->all_logs();
    EXPECT_GE(told().front().seconds(), heard + kPatience - 1) << "not for the sake of the start";
    EXPECT_THAT(told().front().get("reason"), HasSubstr("no heartbeat since"));
    EXPECT_EQ(state(), "down");
    EXPECT_TRUE(eventually([&] { return signals("raised") == 1; })) << server_->log();

    // Dead again while it is down: known, and not said again.
    ASSERT_NO_FATAL_FAILURE(die_and_rise());
    EXPECT_EQ(state(), "down");
    EXPECT_EQ(time_of("down_at"), 0) << "nothing is awaited";
    EXPECT_THAT(server_->command({"explain", "alive::job"}).output, HasSubstr("raised     silent"));
    const CommandResult events =
        server_->command({"messages", "--target", "alive::job", "-o", "json"});
    EXPECT_THAT(events.output, HasSubstr("no heartbeat since")) << "what was told is stored";
    EXPECT_EQ(told().size(), 1U);
    EXPECT_EQ(signals("raised"), 1U);

    // Heard again it is up, and its next silence is a new one.
    beat();
    EXPECT_TRUE(eventually([&] { return signals("cleared") == 1; })) << server_->log();
    EXPECT_TRUE(eventually([&] { return told().size() == 2; })) << server_->all_logs();
    EXPECT_TRUE(eventually([&] { return signals("raised") == 2; })) << server_->log();
}

TEST_F(Silence, ABeatThatMayHaveBeenMissedIsNotHeldAgainstItsSender) {
    constexpr double kPatience = 15;
    ASSERT_NO_FATAL_FAILURE(start_with("interval: 1s, grace: 14s"));
    beat();
    ASSERT_NO_FATAL_FAILURE(die_and_rise());
    const auto serving = lines_with(server_->lines(), "listening");
    ASSERT_FALSE(serving.empty());
    ASSERT_TRUE(eventually([&] { return !told().empty(); })) << server_->all_logs();
    EXPECT_GE(told().front().seconds(), serving.front().seconds() + kPatience - 1)
        << "a full patience of listening";
    EXPECT_EQ(told().front().get("from"), "unknown");
    EXPECT_EQ(told().size(), 1U);
}

}  // namespace
}  // namespace pollux::live
