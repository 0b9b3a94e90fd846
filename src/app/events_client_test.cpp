#include "app/events_client.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "api/api_test_support.hpp"
#include "api/event_hub.hpp"

namespace pollux::app {
namespace {

using api::EventHub;
using api::EventType;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

// A hub behind a real server; each life of it has a higher epoch.
class HubServer {
  public:
    explicit HubServer(std::uint32_t epoch) {
        api::Route route;
        route.method = "GET";
        route.path = "/ws";
        route.upgrade = true;
        route.handler = [this](api::Call call) { hub_->accept(std::move(call)); };
        stage_ = std::make_unique<api::test::Stage>(std::vector<api::Route>{route});
        on_loop([this, epoch] {
            api::EventHubPorts ports;
            ports.view = [] { return std::shared_ptr<const runtime::FleetView>(); };
            ports.wall = &net::wall_now;
            ports.login = [](const access::Principal& one) { return one.name; };
            ports.renew = [](const access::Principal& one, const std::string&) { return one; };
            hub_ = std::make_unique<EventHub>(stage_->server->loop(), std::move(ports),
                                              api::EventHubOptions{.epoch = epoch});
        });
    }
    ~HubServer() {
        stage_->server->stop();
        hub_.reset();
    }
    void on_loop(std::function<void()> work) {
        std::promise<void> done;
        stage_->server->loop().post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    void publish(const std::string& key) {
        on_loop([&] { hub_->publish(EventType::kTaskStateChanged, key, "{}"); });
    }
    void drop_everybody() {
        on_loop([&] { hub_->close_all(net::kCloseGoingAway, "again"); });
    }
    bool wait_for_follower() {
        return wait_for([this] { return hub_->wanted(EventType::kTaskStateChanged); });
    }
    bool wait_for_nobody() {
        return wait_for([this] { return hub_->clients() == 0; });
    }
    std::string url() const { return "http://" + stage_->server->addresses().at(0).to_string(); }

  private:
    bool wait_for(const std::function<bool()>& condition) {
        for (int i = 0; i < 3000; ++i) {
            bool holds = false;
            on_loop([&] { holds = condition(); });
            if (holds) return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }
    std::unique_ptr<api::test::Stage> stage_;
    std::unique_ptr<EventHub> hub_;
};

FollowOptions options_for(const HubServer& server) {
    FollowOptions options;
    options.url = server.url();
    options.token = base::Secret("viewer");
    options.look_up = 20ms;
    options.first_pause = 10ms;
    return options;
}

TEST(FollowEvents, MissesNothingWhenTheConnectionBreaks) {
    HubServer server(3);
    std::vector<std::string> keys;
    std::promise<void> first;
    auto following = std::async(std::launch::async, [&] {
        return follow_events(options_for(server), [&](std::string_view message) {
            if (message.empty()) return true;
            for (const char* key : {"a::1", "a::2", "a::3"}) {
                if (message.find(key) != std::string_view::npos) keys.emplace_back(key);
            }
            if (keys.size() == 1) first.set_value();
            return keys.size() < 3;
        });
    });
    ASSERT_TRUE(server.wait_for_follower());
    server.publish("a::1");
    ASSERT_EQ(first.get_future().wait_for(30s), std::future_status::ready);
    server.drop_everybody();
    server.publish("a::2");  // while nobody listens
    ASSERT_TRUE(server.wait_for_follower());
    server.publish("a::3");
    ASSERT_EQ(following.wait_for(60s), std::future_status::ready);
    EXPECT_TRUE(following.get());
    EXPECT_THAT(keys, ElementsAre("a::1", "a::2", "a::3"));
    EXPECT_TRUE(server.wait_for_nobody()) << "it said goodbye";
}

TEST(FollowEvents, SaysWhyItIsRefused) {
    HubServer server(1);
    FollowOptions options = options_for(server);
    const auto sink = [](std::string_view) { return true; };
    options.types = {"weather"};
    const auto wrong = follow_events(options, sink);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, "event.message");
    options.types = {};
    options.token = base::Secret("wrong");
    const auto stranger = follow_events(options, sink);
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().code, "websocket.refused");
    EXPECT_EQ(stranger.error().error_class, base::ErrorClass::kAuth);
    EXPECT_THAT(stranger.error().message, HasSubstr("access.unauthenticated"));
    options.url = "http://127.0.0.1:1";
    EXPECT_EQ(follow_events(options, sink).error().code, "websocket.unreachable");
    options.url = "ftp://127.0.0.1";
    EXPECT_EQ(follow_events(options, sink).error().code, "websocket.url");
}

TEST(LiveEventLine, TellsPeopleWhatHappened) {
    EXPECT_EQ(
        live_event_line(R"({"type":"task_state_changed","seq":1,"at":"2026-01-02T03:04:05.012Z",)"
                        R"("key":"pve::a","data":{"message":"target is down","reason":"no answer",)"
                        R"("provisional":true}})"),
        "03:04:05 task_state_changed pve::a target is down: no answer (not stored yet)");
    EXPECT_EQ(live_event_line(R"({"type":"poll_result","seq":2,"at":"2026-01-02T03:04:05.012Z",)"
                              R"("key":"pve::a","data":{"outcome":"ok","duration":0.5}})"),
              "03:04:05 poll_result        pve::a outcome=ok duration=0.5");
    EXPECT_THAT(live_event_line(R"({"type":"resync","seq":2})"), HasSubstr("missed"));
}

}  // namespace
}  // namespace pollux::app
