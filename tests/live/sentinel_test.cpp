// Who watches the watcher: one Pollux watches another real one, which freezes or dies.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/live/alert_stage.hpp"

namespace pollux::live {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class SentinelOfAnother : public testing::Test {
  protected:
    static constexpr seconds kInterval{3};
    static constexpr std::size_t kMisses = 3;

    SentinelOfAnother() {
        const std::string fleet = fmt::format(
            "receivers:\n  ops: {{channels: [{{url: \"json://127.0.0.1:{}/hook\"}}]}}\n"
            "routes:\n  all: {{receivers: [ops], group_wait: 0s, repeat: 0s}}\ndevices: {{}}\n",
            receiver_.port());
        watched_ = std::make_unique<PolluxServer>(
            theirs_, theirs_.write("fleet.yaml", "devices: {}\n"),
            Environment{{"POLLUX_API_LISTEN", fmt::format("127.0.0.1:{}", port_)}});
        watcher_ = std::make_unique<PolluxServer>(
            ours_, ours_.write("fleet.yaml", fleet),
            Environment{
                {"POLLUX_ALERTS_REVIEW", "false"},
                // It beats as often as it looks: what comes measures its looks.
                {"POLLUX_SENTINEL_URL", receiver_.url("/beat")},
                {"POLLUX_SENTINEL_WATCH", fmt::format("http://127.0.0.1:{}/api/ready", port_)},
                {"POLLUX_SENTINEL_INTERVAL", fmt::format("{}s", kInterval.count())}});
    }

    void begin() {
        ASSERT_NO_FATAL_FAILURE(watched_->start());
        ASSERT_NO_FATAL_FAILURE(watcher_->start());
        // Long enough that it would say so if it did not see the other one.
        std::this_thread::sleep_for(4 * kInterval);
        ASSERT_TRUE(told().empty()) << watcher_->log();
    }
    std::vector<Told> told() const {
        std::vector<Told> all;
        for (const net::Request& request : receiver_.requests()) {
            if (request.path == "/hook") all.push_back(read_told(request));
        }
        return all;
    }
    // Heartbeats that came before the first message.
    std::size_t beats_before_told() const {
        std::size_t count = 0;
        for (const net::Request& request : receiver_.requests()) {
            if (request.path == "/hook") break;
            ++count;
        }
        return count;
    }
    // So many have come, and no more come after them.
    void expect_told(std::size_t count) {
        ASSERT_TRUE(eventually([&] { return told().size() >= count; })) << watcher_->log();
        std::this_thread::sleep_for(4 * kInterval);
        ASSERT_EQ(told().size(), count) << watcher_->log();
    }
    // It stops to answer now; three looks later that is told.
    void expect_loss(const std::function<void()>& happens) {
        const std::size_t before = beats_before_told();
        happens();
        ASSERT_TRUE(eventually([&] { return told().size() == 1; })) << watcher_->log();
        // Three, and a fourth while the last look waits for its answer; one may have been under way
        // when it happened.
        EXPECT_LE(beats_before_told() - before, kMisses + 2) << watcher_->log();
        ASSERT_NO_FATAL_FAILURE(expect_told(1));
        EXPECT_EQ(told()[0].kind, "problem");
        EXPECT_EQ(told()[0].severity, "critical");
        EXPECT_THAT(told()[0].title, HasSubstr("The other Pollux does not answer"));
    }
    void expect_return() {
        ASSERT_NO_FATAL_FAILURE(expect_told(2));
        EXPECT_EQ(told()[1].kind, "recovery");
        EXPECT_EQ(told()[1].incident, told()[0].incident);
        EXPECT_EQ(watcher_->stop(), 0);
        EXPECT_EQ(watched_->stop(), 0);
    }

    net::test::TempDir theirs_;
    net::test::TempDir ours_;
    std::uint16_t port_ = net::test::free_port();
    net::test::HttpCatcher receiver_;
    std::unique_ptr<PolluxServer> watched_;
    std::unique_ptr<PolluxServer> watcher_;
};

TEST_F(SentinelOfAnother, OneThatFreezesIsToldOnceAndItsReturnOnce) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(expect_loss([&] { watched_->freeze(); }));
    watched_->thaw();
    expect_return();
}

TEST_F(SentinelOfAnother, OneThatIsKilledIsToldOnceAndItsReturnOnce) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(expect_loss([&] { watched_->kill(); }));
    ASSERT_NO_FATAL_FAILURE(watched_->start());
    expect_return();
}

// What was told of the loss is stored; that the other one was lost is known to the life before
// only.
TEST_F(SentinelOfAnother, ItsReturnIsToldAlsoByAWatcherThatWasKilledMeanwhile) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(expect_loss([&] { watched_->freeze(); }));
    watcher_->kill();
    ASSERT_NO_FATAL_FAILURE(watcher_->start());
    watched_->thaw();
    expect_return();
}

}  // namespace
}  // namespace pollux::live
