// Live events from outside: a real server over real simulated devices, followed over a WebSocket.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "document/parse.hpp"
#include "lab/fleet_server.hpp"
#include "net/websocket_client.hpp"
#include "tests/live/api_stage.hpp"
#include "tests/live/fleet_text.hpp"

namespace pollux::live {
namespace {

using document::Node;
using net::WebSocketClient;
using testing::HasSubstr;

constexpr const char* kFirst = "http-json::web-00001";
constexpr const char* kSecond = "http-json::web-00002";

class LiveEvents : public ApiStage {
  protected:
    void begin() {
        fleet_ = lab::FleetServer::start({.snmp = 0, .http = 2}).value();
        std::string text = addon_settings("interval: {min: 2s, base: 2s, max: 2s}") + "devices:\n";
        text += json_device(*fleet_, 0, "/as/json/status", "labels: {site: berlin}");
        text += json_device(*fleet_, 1, "/as/json/status", "labels: {site: hamburg}");
        ASSERT_NO_FATAL_FAILURE(start(text));
        ASSERT_TRUE(server_->everyone_answers());
    }
    std::unique_ptr<WebSocketClient> follow(const std::string& token, const std::string& query = "",
                                            int receive_buffer = 0) const {
        net::WebSocketTarget target;
        target.url = "http://" + server_->api_address() + "/ws" + query;
        target.patience = kLong;
        target.receive_buffer = receive_buffer;
        if (!token.empty()) target.headers.emplace_back("X-API-Token", token);
        auto client = WebSocketClient::connect(target);
        EXPECT_TRUE(client) << (client ? "" : client.error().message);
        return client ? std::move(*client) : nullptr;
    }
    static Node parsed(const std::string& text) {
        document::Diagnostics diagnostics;
        return document::parse_json(text, "event", diagnostics).root;
    }
    // The next message that `wanted` says yes to; all that came before it are in `passed`.
    static std::optional<Node> next(WebSocketClient& client,
                                    const std::function<bool(const Node&)>& wanted,
                                    std::vector<Node>* passed = nullptr) {
        const auto until = std::chrono::steady_clock::now() + kLong;
        while (std::chrono::steady_clock::now() < until) {
            const auto message = client.receive(std::chrono::seconds(1));
            if (!message) {
                ADD_FAILURE() << message.error().message;
                return std::nullopt;
            }
            if (!*message) continue;
            Node node = parsed(**message);
            if (wanted(node)) return node;
            if (passed != nullptr) passed->push_back(std::move(node));
        }
        return std::nullopt;
    }
    static std::optional<Node> next(WebSocketClient& client, const std::string& type,
                                    const std::string& key = "") {
        return next(client, [&](const Node& node) {
            return text_at(node, "type") == type && (key.empty() || text_at(node, "key") == key);
        });
    }
    void break_device(std::size_t number, bool broken) {
        const std::string name = fmt::format("web-{:05}", number);
        if (broken) {
            ASSERT_TRUE(fleet_->set_fault(name, lab::FaultKind::kDown));
        } else {
            ASSERT_TRUE(fleet_->clear_faults(name));
        }
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

TEST_F(LiveEvents, ADeviceThatBreaksIsSeenAndAfterACrashTheClientStartsOver) {
    ASSERT_NO_FATAL_FAILURE(begin());
    auto client = follow(root_token_);
    ASSERT_TRUE(client);
    const auto hello = next(*client, "connected");
    ASSERT_TRUE(hello);
    EXPECT_EQ(text_at(*hello, "status.status"), "ok");
    ASSERT_TRUE(client->send(R"({"type":"subscribe"})"));
    ASSERT_TRUE(next(*client, "subscribed"));
    const auto result = next(*client, "poll_result", kFirst);
    ASSERT_TRUE(result);
    EXPECT_EQ(text_at(*result, "data.outcome"), "ok");
    EXPECT_NE(text_at(*result, "data.next_due"), "");
    const auto stats = next(*client, "scheduler_stats");
    ASSERT_TRUE(stats);
    EXPECT_EQ(text_at(*stats, "data.tasks"), "2");
    const auto addon = next(*client, [](const Node& node) {
        return text_at(node, "type") == "addon_status" || text_at(node, "type") == "poll_result";
    });
    EXPECT_TRUE(addon);

    ASSERT_NO_FATAL_FAILURE(break_device(1, true));
    const auto down = next(*client, "task_state_changed", kFirst);
    ASSERT_TRUE(down);
    EXPECT_EQ(text_at(*down, "data.kind"), "health");
    EXPECT_EQ(text_at(*down, "data.to"), "down");
    EXPECT_EQ(text_at(*down, "data.provisional"), "false");
    EXPECT_THAT(text_at(*down, "data.reason"), HasSubstr("127."));
    const std::string seen = text_at(*down, "seq");

    // Another client goes on where this one stands.
    auto second = follow("", "?token=" + root_token_);
    ASSERT_TRUE(second);
    ASSERT_TRUE(second->send(fmt::format(R"({{"type":"resume","seq":{}}})", seen)));
    ASSERT_TRUE(next(*second, "resumed"));
    ASSERT_TRUE(second->send(R"({"type":"subscribe","event_types":["task_state_changed"]})"));
    const auto breaker =
        next(*second, [](const Node& node) { return text_at(node, "data.kind") == "breaker"; });
    ASSERT_TRUE(breaker);
    EXPECT_EQ(text_at(*breaker, "data.to"), "open");

    // The same for scripts.
    ApiClient admin = this->admin();
    const ApiAnswer list =
        admin.get("/api/events?type=task_state_changed&target=*web-00001&limit=1000");
    EXPECT_EQ(list.status, 200) << list.body;
    EXPECT_EQ(list.at("resync"), "false");
    EXPECT_THAT(list.body, HasSubstr("\"seq\":" + seen));
    EXPECT_EQ(list.at("last"), list.at("newest"));
    EXPECT_EQ(admin.get("/api/events?type=weather").status, 400);

    server_->kill();
    ASSERT_NO_FATAL_FAILURE(start_again());
    auto third = follow(root_token_);
    ASSERT_TRUE(third);
    ASSERT_TRUE(third->send(fmt::format(R"({{"type":"resume","seq":{}}})", seen)));
    const auto resync = next(*third, "resync");
    ASSERT_TRUE(resync) << "events before the crash are not there any more";
    EXPECT_GT(std::stoull(text_at(*resync, "seq")), std::stoull(seen));
    const ApiAnswer after = this->admin().get("/api/events?after=" + seen);
    EXPECT_EQ(after.at("resync"), "true") << after.body;
    EXPECT_EQ(server_->stop(), 0);
    EXPECT_EQ(third->receive(std::chrono::seconds(30)).error().code, "websocket.closed");
    EXPECT_EQ(third->close_code(), 1001);
}

TEST_F(LiveEvents, AViewerOfOnePartSeesOnlyThatPartUntilTheTokenIsRevoked) {
    ASSERT_NO_FATAL_FAILURE(begin());
    const std::string token = new_user("vera", R"([{"role":"viewer","selector":"site=berlin"}])");
    auto client = follow(token);
    auto whole = follow(root_token_);
    ASSERT_TRUE(client && whole);
    ASSERT_TRUE(client->send(R"({"type":"subscribe"})"));
    ASSERT_TRUE(whole->send(R"({"type":"subscribe","event_types":["task_state_changed"]})"));
    ASSERT_TRUE(next(*client, "subscribed"));
    ASSERT_TRUE(next(*whole, "subscribed"));
    ASSERT_NO_FATAL_FAILURE(break_device(2, true));
    ASSERT_TRUE(next(*whole, "task_state_changed", kSecond));
    ASSERT_NO_FATAL_FAILURE(break_device(1, true));
    std::vector<Node> passed;
    const auto down = next(
        *client, [](const Node& node) { return text_at(node, "type") == "task_state_changed"; },
        &passed);
    ASSERT_TRUE(down);
    EXPECT_EQ(text_at(*down, "key"), kFirst);
    for (const Node& one : passed) EXPECT_NE(text_at(one, "key"), kSecond);
    const ApiAnswer list = client_with(token).get("/api/events?limit=1000");
    EXPECT_THAT(list.body, testing::Not(HasSubstr(kSecond)));

    EXPECT_EQ(admin().ask("DELETE", "/api/tokens/vera").status, 204);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    bool closed = false;
    while (!closed && std::chrono::steady_clock::now() < until) {
        const auto message = client->receive(std::chrono::seconds(1));
        closed = !message && client->close_code() == 1008;
        if (!message && !closed) break;
    }
    EXPECT_TRUE(closed) << "a revoked token ends its connections";
    EXPECT_EQ(stranger().get("/ws").status, 401);
    EXPECT_EQ(admin().get("/ws").status, 426) << "not a WebSocket";
}

TEST_F(LiveEvents, OneUserMayHaveSoManyConnections) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n", {{"POLLUX_API_WS_CLIENTS_PER_USER", "2"}}));
    const std::string other = new_user("vera", R"([{"role":"viewer"}])");
    const auto first = follow(root_token_);
    auto second = follow(root_token_);
    ASSERT_TRUE(first && second);
    net::WebSocketTarget target;
    target.url = "http://" + server_->api_address() + "/ws";
    target.headers.emplace_back("X-API-Token", root_token_);
    const auto third = WebSocketClient::connect(target);
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().message,
                testing::AllOf(HasSubstr("429"), HasSubstr("event.clients_of_one"),
                               HasSubstr("api_ws_clients_per_user")));
    EXPECT_TRUE(follow(other)) << "others are served";
    second->close();
    second.reset();
    EXPECT_TRUE(eventually([&] { return WebSocketClient::connect(target).has_value(); }));
}

TEST_F(LiveEvents, ClientsThatDoNotReadCostABufferEach) {
    ASSERT_NO_FATAL_FAILURE(begin());
    constexpr int kClients = 4;
    std::vector<std::unique_ptr<WebSocketClient>> silent;
    for (int i = 0; i < kClients; ++i) silent.push_back(follow(root_token_, "", 4096));
    // Each asks as often as it may and reads nothing: the answers, which name all that is
    // subscribed to, are more than what the system takes in between.
    std::string message = R"({"type":"subscribe","targets":["x")";
    for (int i = 0; i < 480; ++i) message += fmt::format(R"(,"web-{:060}")", i);
    message += "]}";
    for (int round = 0; round < 190; ++round) {
        for (const auto& client : silent) {
            ASSERT_TRUE(client);
            // It may have been closed already, which is right too.
            [[maybe_unused]] const auto sent = client->send(message);
        }
    }
    ASSERT_TRUE(eventually([&] {
        return server_->metrics().sum("pollux_event_clients") <= kClients &&
               server_->metrics().sum("pollux_events_total") > 0;
    }));
    EXPECT_LE(server_->metrics().sum("pollux_event_waiting_bytes"), kClients * 112.0 * 1024);
    auto reader = follow(root_token_);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->send(R"({"type":"subscribe","event_types":["poll_result"]})"));
    EXPECT_TRUE(next(*reader, "poll_result")) << "others are served as ever";
}

}  // namespace
}  // namespace pollux::live
