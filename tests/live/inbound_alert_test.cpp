// From what devices send by themselves to the message that somebody reads: traps, webhooks and
// heartbeats raise and clear, and what was answered as taken is told once, whatever happens then.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/live/alert_stage.hpp"
#include "tests/live/api_client.hpp"
#include "tests/live/inbound_stage.hpp"

namespace pollux::live {
namespace {

constexpr const char* kHookAddon = R"(schema: pollux/1
name: hook
version: 1.0.0
title: Hook
protocol: webhook
webhook:
  fields: {state: $.state}
signals:
  - {type: alarm, when: state != 'none', clear_when: state == 'good', severity: critical, title: "{device} has an alarm"}
)";
constexpr const char* kLinkDown = "1.3.6.1.6.3.1.1.5.3";
constexpr const char* kLinkUp = "1.3.6.1.6.3.1.1.5.4";
constexpr int kDoors = 6;

class InboundAlert : public InboundStage {
  protected:
    InboundAlert() {
        add_addon("alive", kPushAddon);
        add_addon("hook", kHookAddon);
        add_addon("traps", kTrapAddon);
    }
    // `channel`: where the messages go, as the receiver writes it.
    void begin(const std::string& channel = "url: \"json://127.0.0.1:{}/hook\"",
               Environment environment = {}) {
        std::string fleet = fmt::format(
            "receivers:\n  ops: {{channels: [{{{}, per_minute: 600}}]}}\n"
            "routes:\n  all: {{receivers: [ops], group_wait: 0s, repeat: 0s}}\n"
            "devices:\n  gate: {{address: 127.0.0.1, addons: [alive, traps]}}\n",
            fmt::format(fmt::runtime(channel), receiver_.port()));
        for (int i = 1; i <= kDoors; ++i)
            fleet += fmt::format("  door-{}: {{addons: [hook]}}\n", i);
        environment.emplace_back("POLLUX_ALERTS_REVIEW", "false");
        ASSERT_NO_FATAL_FAILURE(start(fleet, std::move(environment)));
    }
    // The answer comes after the message was stored.
    void say(int door, const std::string& state) {
        const std::string to = url("hook", fmt::format("hook::door-{}", door));
        ApiClient sender(fmt::format("127.0.0.1:{}", http_port_));
        const ApiAnswer answer =
            sender.post(to.substr(to.find("/hooks/")), R"({"state":")" + state + "\"}");
        ASSERT_EQ(answer.status, 200) << answer.body << answer.problem;
    }
    void send_trap(const std::string& what) {
        const CommandResult sent = run({"snmpinform", "-m", "", "-v2c", "-c", "public", "-t", "30",
                                        fmt::format("udp:127.0.0.1:{}", trap_port_), "", what});
        ASSERT_EQ(sent.code, 0) << sent.output;
    }
    void die_and_rise() {
        server_->kill();
        ASSERT_NO_FATAL_FAILURE(server_->start());
    }
    // Keys of the messages of a kind whose title says so.
    std::multiset<std::string> keys(const std::string& kind, const std::string& title) const {
        std::multiset<std::string> found;
        for (const net::Request& request : receiver_.requests()) {
            const Told one = read_told(request);
            if (one.kind == kind && one.title.find(title) != std::string::npos) {
                found.insert(one.key);
            }
        }
        return found;
    }
    void comes(const std::string& kind, const std::string& title) {
        ASSERT_TRUE(eventually([&] { return !keys(kind, title).empty(); }))
            << "no " << kind << " about " << title << "\n"
            << server_->log();
    }
    void is_told_once(const std::string& title) {
        for (const char* kind : {"problem", "recovery"}) {
            const auto found = keys(kind, title);
            const std::set<std::string> different(found.begin(), found.end());
            EXPECT_EQ(different.size(), 1U) << kind << " about " << title;
        }
    }

    net::test::HttpCatcher receiver_;
};

TEST_F(InboundAlert, ATrapAWebhookAndAHeartbeatRaiseAndClear) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const std::string push = url("push", "alive::gate");
    ASSERT_NO_FATAL_FAILURE(say(1, "bad"));
    ASSERT_NO_FATAL_FAILURE(send_trap(kLinkDown));
    EXPECT_THAT(curl(push + "?status=down&msg=disk+full"), testing::EndsWith(" 200"));
    ASSERT_NO_FATAL_FAILURE(comes("problem", "door-1 has an alarm"));
    ASSERT_NO_FATAL_FAILURE(comes("problem", "link down"));
    ASSERT_NO_FATAL_FAILURE(comes("problem", "gate is silent"));
    EXPECT_EQ(keys("recovery", "").size(), 0U);
    ASSERT_NO_FATAL_FAILURE(say(1, "good"));
    ASSERT_NO_FATAL_FAILURE(send_trap(kLinkUp));
    EXPECT_THAT(curl(push), testing::EndsWith(" 200"));
    for (const char* title : {"door-1 has an alarm", "link down", "gate is silent"}) {
        ASSERT_NO_FATAL_FAILURE(comes("recovery", title));
        is_told_once(title);
    }
}

// Nobody says it again: if the observation were lost with the process, no message would come.
TEST_F(InboundAlert, AWebhookThatWasAnsweredIsToldOnceOverAKill) {
    ASSERT_NO_FATAL_FAILURE(begin());
    for (int door = 1; door <= kDoors; ++door) {
        const std::string title = fmt::format("door-{} has an alarm", door);
        ASSERT_NO_FATAL_FAILURE(say(door, "bad"));
        ASSERT_NO_FATAL_FAILURE(die_and_rise());
        ASSERT_NO_FATAL_FAILURE(comes("problem", title));
        ASSERT_NO_FATAL_FAILURE(say(door, "good"));
        ASSERT_NO_FATAL_FAILURE(die_and_rise());
        ASSERT_NO_FATAL_FAILURE(comes("recovery", title));
    }
    // What was taken in is not taken in again by a later life.
    ASSERT_NO_FATAL_FAILURE(die_and_rise());
    ASSERT_NO_FATAL_FAILURE(send_trap(kLinkDown));
    ASSERT_NO_FATAL_FAILURE(comes("problem", "link down"));
    for (int door = 1; door <= kDoors; ++door) {
        is_told_once(fmt::format("door-{} has an alarm", door));
    }
}

// A template of the operator's own, changed and broken while the server runs.
TEST_F(InboundAlert, ATemplateOfOnesOwnIsUsedAndReadAgain) {
    const auto write = [&](const std::string& body) {
        folder_.write(
            "channels/bridge.yaml",
            "channel: bridge\ntitle: Bridge\nabout: ours\nformat: text\nbody: " + body + "\n");
    };
    const auto says = [&](const std::string& text) {
        return eventually([&] {
            const auto requests = receiver_.requests();
            return std::ranges::any_of(requests, [&](const auto& one) { return one.body == text; });
        });
    };
    const auto logs = [&](const std::string& text) {
        return eventually([&] { return server_->log().find(text) != std::string::npos; });
    };
    write("'one {{ incident.title }}'");
    ASSERT_NO_FATAL_FAILURE(begin("url: \"http://127.0.0.1:{}/x\", template: bridge",
                                  {{"POLLUX_CHANNEL_FOLDER", folder_.file("channels")}}));
    ASSERT_NO_FATAL_FAILURE(say(1, "bad"));
    EXPECT_TRUE(says("one door-1 has an alarm")) << server_->log();
    write("'two {{ incident.title }}'");
    server_->hang_up();
    ASSERT_TRUE(logs("reloaded")) << server_->log();
    ASSERT_NO_FATAL_FAILURE(say(2, "bad"));
    EXPECT_TRUE(says("two door-2 has an alarm")) << server_->log();
    write("'three {{ incdent.title }}'");
    server_->hang_up();
    ASSERT_TRUE(logs("bridge.yaml:5: body: ")) << server_->log();
    ASSERT_NO_FATAL_FAILURE(say(3, "bad"));
    EXPECT_TRUE(says("two door-3 has an alarm")) << server_->log();
}

TEST_F(InboundAlert, AnInformThatWasAnsweredIsToldOnceOverAKill) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(send_trap(kLinkDown));
    ASSERT_NO_FATAL_FAILURE(die_and_rise());
    ASSERT_NO_FATAL_FAILURE(comes("problem", "link down"));
    ASSERT_NO_FATAL_FAILURE(send_trap(kLinkUp));
    ASSERT_NO_FATAL_FAILURE(die_and_rise());
    ASSERT_NO_FATAL_FAILURE(comes("recovery", "link down"));
    is_told_once("link down");
}

}  // namespace
}  // namespace pollux::live
