// Webhooks and pushes over real sockets, sent by curl, into a real store.
#include <gmock/gmock.h>

#include "runtime/inbound/desk_test_support.hpp"

namespace pollux::runtime {
namespace {

using test::DeskStage;
using test::image_of;
using test::inbound_target;
using test::Process;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kDoorToken = "token-of-door-0123456789";

// So many sockets of 127.0.0.1, connected to a port of it.
class Sockets {
  public:
    Sockets(int type, std::uint16_t port, std::size_t count) {
        const net::test::TestAddress address("127.0.0.1", port);
        while (all_.size() < count) {
            all_.push_back(socket(address.family(), type | SOCK_CLOEXEC, 0));
            EXPECT_EQ(connect(all_.back(), address.get(), address.length), 0);
        }
    }
    ~Sockets() { close_all(); }
    Sockets(const Sockets&) = delete;
    Sockets& operator=(const Sockets&) = delete;

    void send_first(std::string_view text) {
        EXPECT_EQ(send(all_.front(), text.data(), text.size(), 0),
                  static_cast<ssize_t>(text.size()));
    }
    void close_all() {
        for (const int fd : all_) close(fd);
        all_.clear();
    }

  private:
    std::vector<int> all_;
};

class InboundHttpLive : public testing::Test {
  protected:
    void SetUp() override {
        stage_.start(image_of({inbound_target(test::kPushAddon, "door"),
                               inbound_target(test::kHookAddon, "door"),
                               inbound_target(test::kTrapAddon, "door")}));
    }
    std::uint64_t count(InboundKind kind, InboundResult result) {
        return stage_.counts().of(kind, result);
    }
    std::string state() { return stage_.explained("alive::door", "state"); }
    /// What was stored is told after its sender was answered: the log may come a moment later.
    bool told(const std::string& words) {
        return Process::wait_until(net::test::kPatience,
                                   [&] { return stage_.log().find(words) != std::string::npos; });
    }

    // Sends traps until one is more than the rates allow.
    void traps_beyond(SourceRates rates) {
        InboundLimits limits;
        limits.rates = rates;
        stage_.desk->set_limits(limits);
        Sockets sender(SOCK_DGRAM, stage_.trap_port, 1);
        EXPECT_TRUE(Process::wait_until(net::test::kPatience, [&] {
            sender.send_first("no trap at all");
            return count(InboundKind::kTrap, InboundResult::kLimited) > 0;
        }));
    }

    DeskStage stage_;
};

TEST_F(InboundHttpLive, AWebhookIsStoredBeforeItIsAnswered) {
    const std::string path = fmt::format("/hooks/{}/from/prtg?user=anna", kDoorToken);
    const std::string answer =
        stage_.curl(path, {"-H", "Content-Type: application/json; charset=utf-8", "-d",
                           R"x({"state": "bad", "sensor": "ping"})x"});
    EXPECT_THAT(answer, HasSubstr("\"ok\":true"));
    EXPECT_THAT(answer, EndsWith(" 200"));
    const auto rows = stage_.rows();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_THAT(answer, HasSubstr(fmt::format("\"id\":{}", rows[0].id)));
    EXPECT_EQ(rows[0].key, "hook::door");
    EXPECT_EQ(rows[0].source, "127.0.0.1");
    EXPECT_THAT(rows[0].text, HasSubstr("\"sensor\": \"ping\""));
    EXPECT_THAT(rows[0].signals, HasSubstr("\"title\":\"ping is bad\""));
    EXPECT_TRUE(told("signal raised")) << stage_.log();
    EXPECT_THAT(stage_.curl(path, {"-X", "PUT", "-d", R"x({"state": "good", "sensor": "ping"})x"}),
                EndsWith(" 200"));
    EXPECT_TRUE(told("signal cleared")) << stage_.log();
    EXPECT_EQ(count(InboundKind::kWebhook, InboundResult::kStored), 2u);
}

TEST_F(InboundHttpLive, WhatIsWrongIsSaidAndCounted) {
    const std::string hook = fmt::format("/hooks/{}", kDoorToken);
    EXPECT_THAT(stage_.curl("/hooks/token-of-nobody-0123456789", {"-d", "{}"}), EndsWith(" 404"));
    EXPECT_THAT(stage_.curl("/hooks/", {"-d", "{}"}), EndsWith(" 404"));
    EXPECT_THAT(stage_.curl("/push/" + std::string(kDoorToken) + "x"), EndsWith(" 404"));
    EXPECT_THAT(stage_.curl("/elsewhere"), EndsWith(" 404"));
    EXPECT_THAT(stage_.curl(hook), EndsWith(" 405"));
    EXPECT_THAT(stage_.curl(hook, {"-i"}), HasSubstr("Allow: POST, PUT"));
    EXPECT_THAT(stage_.curl(hook, {"-d", "no json"}), EndsWith(" 400"));
    const std::string push = fmt::format("/push/{}", kDoorToken);
    EXPECT_THAT(stage_.curl(push + "?status=sideways"), EndsWith(" 400"));
    EXPECT_THAT(stage_.curl(push + "?value=much"), EndsWith(" 400"));
    EXPECT_THAT(stage_.curl(push, {"-X", "DELETE"}), EndsWith(" 405"));
    const std::string large =
        stage_.folder().write("large", std::string(stage_.options.body_bytes + 1, 'x'));
    EXPECT_THAT(stage_.curl(hook, {"--data-binary", "@" + large}), EndsWith(" 413"));
    EXPECT_EQ(count(InboundKind::kWebhook, InboundResult::kRefused), 2u);
    EXPECT_EQ(count(InboundKind::kPush, InboundResult::kRefused), 1u);
    EXPECT_EQ(count(InboundKind::kWebhook, InboundResult::kMalformed), 1u);
    EXPECT_EQ(count(InboundKind::kPush, InboundResult::kMalformed), 2u);
    EXPECT_GE(count(InboundKind::kWebhook, InboundResult::kBadRequest), 4u);
    EXPECT_TRUE(stage_.rows().empty());
    EXPECT_EQ(stage_.log().find(kDoorToken), std::string::npos);
    EXPECT_EQ(stage_.log().find("token-of-nobody"), std::string::npos);
}

TEST_F(InboundHttpLive, TheTokenMayStandInAHeader) {
    EXPECT_THAT(stage_.curl("/hooks", {"-H", fmt::format("Authorization: Bearer {}", kDoorToken),
                                       "-d", "{}"}),
                EndsWith(" 200"));
    EXPECT_THAT(
        stage_.curl("/push?status=up", {"-H", fmt::format("X-Pollux-Token: {}", kDoorToken)}),
        EndsWith(" 200"));
    EXPECT_THAT(stage_.curl("/push", {"-H", "X-Pollux-Token: wrong-but-long-enough"}),
                EndsWith(" 404"));
}

TEST_F(InboundHttpLive, AHeartbeatIsDurableAndTellsTheStateOnce) {
    EXPECT_EQ(state(), "unknown");
    EXPECT_THAT(stage_.explained("alive::door", "verdict"), HasSubstr("no heartbeat yet"));
    const std::string push = fmt::format("/push/{}", kDoorToken);
    EXPECT_THAT(stage_.curl(push + "?msg=all+fine&value=12.5"), EndsWith(" 200"));
    EXPECT_THAT(stage_.curl(push + "?status=up&ping=13"), EndsWith(" 200"));
    EXPECT_EQ(state(), "up");
    EXPECT_EQ(stage_.explained("alive::door", "value"), "13");
    ASSERT_EQ(stage_.rows().size(), 1u) << "the second said nothing new";
    EXPECT_THAT(stage_.curl(push, {"-d", "status=down&msg=disk+full"}), EndsWith(" 200"));
    EXPECT_EQ(state(), "down");
    EXPECT_EQ(stage_.explained("alive::door", "message"), "disk full");
    ASSERT_EQ(stage_.rows().size(), 2u);
    EXPECT_EQ(stage_.rows()[1].text, "down: disk full");
    EXPECT_THAT(stage_.rows()[1].signals, HasSubstr("\"type\":\"silent\""));
    EXPECT_EQ(stage_.explain("alive::door").find("raised")->items().size(), 1u);
    const InboundCounts counts = stage_.counts();
    EXPECT_EQ(counts.push_targets[static_cast<std::size_t>(PushState::kDown)], 1u);
    EXPECT_EQ(counts.of(InboundKind::kPush, InboundResult::kStored), 3u);
}

TEST_F(InboundHttpLive, WhileTheDiskIsFullSendersAreToldToRepeat) {
    store::FaultVfs::instance().set(store::DiskFault::kFull);
    const std::string hook = fmt::format("/hooks/{}", kDoorToken);
    const std::string body = R"x({"state": "bad", "sensor": "a"})x";
    const std::string answer = stage_.curl(hook, {"-i", "-d", body});
    EXPECT_THAT(answer, EndsWith(" 503"));
    EXPECT_THAT(answer, HasSubstr("Retry-After: 5"));
    EXPECT_THAT(stage_.curl(fmt::format("/push/{}", kDoorToken)), EndsWith(" 503"));
    EXPECT_TRUE(told("cannot be stored")) << stage_.log();
    EXPECT_THAT(stage_.log(), Not(HasSubstr("signal raised"))) << "told before it was stored";
    EXPECT_EQ(state(), "unknown");
    EXPECT_EQ(count(InboundKind::kWebhook, InboundResult::kStoreFailed), 1u);
    store::FaultVfs::instance().set(store::DiskFault::kNone);
    EXPECT_THAT(stage_.curl(hook, {"-d", body}), EndsWith(" 200"));
    EXPECT_EQ(stage_.rows().size(), 1u);
    EXPECT_TRUE(told("stored again")) << stage_.log();
}

TEST_F(InboundHttpLive, OneSenderCannotSayMoreThanItsMeasure) {
    InboundLimits limits;
    limits.rates = {.source = 1, .all = 100};
    stage_.desk->set_limits(limits);
    const std::string push = fmt::format("/push/{}", kDoorToken);
    std::string all;
    for (int i = 0; i < 8; ++i) all += stage_.curl(push);
    EXPECT_THAT(all, HasSubstr(" 429"));
    EXPECT_THAT(all, HasSubstr(" 200"));
    EXPECT_GE(count(InboundKind::kPush, InboundResult::kLimited), 1u);
}

// Anybody can write the address of the backup server into a datagram.
TEST_F(InboundHttpLive, TrapsInTheNameOfASenderTakeNothingFromItsPushes) {
    traps_beyond({.source = 0.01, .all = 1000});
    EXPECT_THAT(stage_.curl(fmt::format("/push/{}", kDoorToken)), EndsWith(" 200"));
}

TEST_F(InboundHttpLive, TrapsOfEverybodyTakeNothingFromPushes) {
    traps_beyond({.source = 1000, .all = 0.01});
    EXPECT_THAT(stage_.curl(fmt::format("/push/{}", kDoorToken)), EndsWith(" 200"));
}

TEST_F(InboundHttpLive, AHostThatHoldsItsConnectionsShutsNobodyElseOut) {
    const std::string push = fmt::format("/push/{}", kDoorToken);
    Sockets held(SOCK_STREAM, stage_.http_port, InboundHttp::kMostConnectionsOfOne + 20);
    EXPECT_TRUE(told("holds too many connections")) << stage_.log();
    EXPECT_THAT(stage_.log(), HasSubstr("127.0.0.1"));
    EXPECT_THAT(stage_.curl(push), Not(EndsWith(" 200")));
    EXPECT_THAT(stage_.curl(push, {"--interface", "127.0.0.2"}), EndsWith(" 200"));
    EXPECT_GE(count(InboundKind::kWebhook, InboundResult::kLimited), 20u);
    held.close_all();
    EXPECT_TRUE(Process::wait_until(net::test::kPatience,
                                    [&] { return stage_.curl(push).ends_with(" 200"); }));
}

TEST_F(InboundHttpLive, SilenceIsToldAndEndsWithTheNextHeartbeat) {
    auto quick = inbound_target(test::kPushAddon, "quick");
    quick->interval = 1s;
    quick->grace = 500ms;
    stage_.desk->set_image(image_of({quick}));
    const std::string push = "/push/token-of-quick-0123456789";
    const auto is = [&](const std::string& wanted) {
        return Process::wait_until(net::test::kPatience, [&] {
            return stage_.explained("alive::quick", "state") == wanted;
        });
    };
    EXPECT_THAT(stage_.curl(push), EndsWith(" 200"));
    EXPECT_TRUE(told("push target is up")) << stage_.log();
    ASSERT_TRUE(is("down")) << stage_.log();
    EXPECT_THAT(stage_.explained("alive::quick", "verdict"), HasSubstr("no heartbeat since"));
    EXPECT_EQ(stage_.explain("alive::quick").find("raised")->items().size(), 1u);
    EXPECT_EQ(stage_.rows().size(), 2u);
    EXPECT_EQ(stage_.rows()[1].source, "pollux");
    // It stays down over a restart, without a second alarm.
    stage_.restart(image_of({quick}));
    EXPECT_EQ(stage_.explained("alive::quick", "state"), "down");
    EXPECT_EQ(stage_.rows().size(), 2u);
    EXPECT_THAT(stage_.log(), Not(HasSubstr("signal cleared")));
    EXPECT_THAT(stage_.curl(push), EndsWith(" 200"));
    EXPECT_TRUE(told("signal cleared")) << stage_.log();
}

TEST_F(InboundHttpLive, NobodyIsDownBecauseWeDidNotListen) {
    auto quick = inbound_target(test::kPushAddon, "quick");
    stage_.desk->set_image(image_of({quick}));
    EXPECT_THAT(stage_.curl("/push/token-of-quick-0123456789"), EndsWith(" 200"));
    stage_.restart(image_of({quick}));
    EXPECT_EQ(stage_.explained("alive::quick", "state"), "up")
        << "the next heartbeat cannot have come meanwhile";
    quick = inbound_target(test::kPushAddon, "quick");
    quick->interval = 1s;
    quick->grace = 1h;
    stage_.restart(image_of({quick}));
    EXPECT_EQ(stage_.explained("alive::quick", "state"), "unknown");
    EXPECT_THAT(stage_.explained("alive::quick", "verdict"), HasSubstr("while nobody listened"));
}

}  // namespace
}  // namespace pollux::runtime
